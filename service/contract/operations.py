"""Expand the words of an operation into parameters, headers and error answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.contract.generated import Generator, query_classes
from service.contract.parts import Common, Parts, Word
from service.contract.tree import ContractError, Tree, known, mapping, reference, strings, text

METHODS = ("get", "post", "put", "patch", "delete")
HAND_WRITTEN = ("operationId", "summary", "description", "responses")
SHORT = ("x-answers", "x-scopes", "x-query", "x-body")
SHORT_RESPONSE = ("x-json", "x-text", "x-headers", "x-examples")
ANYONE = "anyone"
ANY_SCOPE = "any"


def expanded_paths(parts: Parts, generator: Generator) -> Tree:
    """Return the paths of the published document."""
    return {
        path: _path_item(parts.common, generator, tag, path, mapping(item, path))
        for tag, paths in parts.paths.items()
        for path, item in paths.items()
    }


def _path_item(common: Common, generator: Generator, tag: str, path: str, item: Tree) -> Tree:
    known(item, METHODS, path)
    by_name = {mapping(each, name)["name"]: name for name, each in common.parameters.items()}
    parameters = [reference("parameters", by_name[name]) for name in re.findall(r"\{(\w+)\}", path)]
    expanded: Tree = {"parameters": parameters} if parameters else {}
    for method, operation in item.items():
        place = f"{method.upper()} {path}"
        expanded[method] = _Operation(common, place, mapping(operation, place)).expanded(tag, generator)
    return expanded


class _Operation:
    """One operation with its words."""

    def __init__(self, common: Common, place: str, source: Tree) -> None:
        known(source, (*HAND_WRITTEN, *SHORT), place)
        self.common = common
        self.place = place
        self.source = source
        self.scopes = strings(source.get("x-scopes", [ANY_SCOPE, ANYONE]), place)
        self.words = list(self._words())

    def _words(self) -> Iterator[Word]:
        method, _, path = self.place.partition(" ")
        names = strings(self.source.get("x-answers", []), self.place)
        implied = {
            "v1": path.startswith("/v1/"),
            "token": bool(self.scopes),
            "read": method == "GET",
            "body": "x-body" in self.source,
        }
        known(names, set(self.common.words) - set(implied), self.place)
        for name in (*(name for name, holds in implied.items() if holds), *names):
            yield self.common.words[name]

    def expanded(self, tag: str, generator: Generator) -> Tree:
        """Return the operation of the published document."""
        source = self.source
        parameters = [reference("parameters", name) for word in self.words for name in word.parameters]
        if "x-query" in source:
            name = text(source["x-query"], self.place)
            parameters = [*generator.parameters(query_classes()[name]), *parameters]
        expanded: Tree = {
            "operationId": text(source.get("operationId"), f"{self.place}: operationId"),
            "tags": [tag],
            "summary": text(source.get("summary"), f"{self.place}: summary"),
            "description": text(source.get("description"), f"{self.place}: description"),
        }
        expanded["security"] = [_security(scope) for scope in self.scopes]
        if parameters:
            expanded["parameters"] = parameters
        if "x-body" in source:
            expanded["requestBody"] = self._body(mapping(source["x-body"], self.place))
        expanded["responses"] = self._responses()
        return expanded

    def _body(self, short: Tree) -> Tree:
        known(short, ("json", "form", "text", "examples"), self.place)
        content: Tree = {"application/json": {"schema": reference("schemas", text(short["json"], self.place))}}
        content["application/json"] = {
            **mapping(content["application/json"], self.place),
            "examples": _examples(mapping(short["examples"], self.place)),
        }
        if "form" in short:
            content["multipart/form-data"] = {"schema": reference("schemas", text(short["form"], self.place))}
        for media in strings(short.get("text", []), self.place):
            content[media] = {"schema": {"type": "string"}}
        return {"required": True, "content": content}

    def _responses(self) -> Tree:
        responses: dict[str, object] = {
            status: self._response(status, mapping(response, self.place))
            for status, response in mapping(self.source.get("responses", {}), self.place).items()
        }
        for name in (name for word in self.words for name in word.responses):
            status = self.common.statuses[name]
            if status in responses and responses[status] != reference("responses", name):
                raise ContractError(f"{self.place}: two answers {status}.")
            responses[status] = reference("responses", name)
        return dict(sorted(responses.items()))

    def _response(self, status: str, short: Tree) -> Tree:
        place = f"{self.place}: {status}"
        known(short, ("description", "content", *SHORT_RESPONSE), place)
        wanted = {name for word in self.words for name in word.headers.get(status, ())}
        wanted.update(strings(short.get("x-headers", []), place))
        known(wanted, self.common.headers, place)
        response: Tree = {"description": text(short.get("description"), place)}
        if wanted:
            names = [name for name in self.common.headers if name in wanted]
            response["headers"] = {header_name(name): reference("headers", name) for name in names}
        content = self._content(short, place)
        if content:
            response["content"] = content
        return response

    @staticmethod
    def _content(short: Tree, place: str) -> Tree:
        """Return the media types in the order in which they are written: the first one is the default."""
        content = dict(mapping(short.get("content", {}), place))
        for word in short:
            if word == "x-json":
                json: Tree = {"schema": reference("schemas", text(short["x-json"], place))}
                if "x-examples" in short:
                    json["examples"] = _examples(mapping(short["x-examples"], place))
                content["application/json"] = json
            elif word == "x-text":
                types = strings(short["x-text"], place)
                content.update({media: {"schema": {"type": "string"}} for media in types})
        return content


def header_name(component: str) -> str:
    """Return the HTTP name of a header component; `RetryAfterUnfinished` is an optional `Retry-After`."""
    if component == "ETag":
        return component
    return "-".join(re.findall("RateLimit|[A-Z][a-z]+", component.removesuffix("Unfinished")))


def _security(scope: str) -> Tree:
    if scope == ANYONE:
        return {}
    return {"bearer": [] if scope == ANY_SCOPE else [scope]}


def _examples(names: Tree) -> Tree:
    return {name: reference("examples", text(example, name)) for name, example in names.items()}
