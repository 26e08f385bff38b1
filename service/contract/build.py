"""Build openapi.yaml from the hand-written files of this folder and the marshmallow schemas.

The schemas of requests and query strings are generated from marshmallow; their prose is written by hand, in
general.yaml, common.yaml and one file for each tag. The words of an operation are expanded into parameters, headers and
error answers.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema, fields

from service.schemas import base, benchmarks, queries, submissions, teams
from service.schemas.base import Strict

Tree = dict[str, object]


class ContractError(Exception):
    """A hand-written file is wrong; the message names the place and the fault."""


def mapping(value: object, place: str) -> Tree:
    """Return the value if it is a mapping.

    Raises:
        ContractError: it is something else.
    """
    if not isinstance(value, dict):
        raise ContractError(f"{place} must be a mapping, not {type(value).__name__}.")
    return value


def strings(value: object, place: str) -> list[str]:
    """Return the value if it is a list of strings.

    Raises:
        ContractError: it is something else.
    """
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ContractError(f"{place} must be a list of strings.")
    return value


def text(value: object, place: str) -> str:
    """Return the value if it is a string.

    Raises:
        ContractError: it is something else.
    """
    if not isinstance(value, str):
        raise ContractError(f"{place} must be a string.")
    return value


def known(names: Iterable[str], allowed: Iterable[str], place: str) -> None:
    """Check that all names are allowed.

    Raises:
        ContractError: one is not.
    """
    unknown = sorted(set(names) - set(allowed))
    if unknown:
        raise ContractError(f"{place} has unknown names: {', '.join(unknown)}.")


def reference(kind: str, name: str) -> Tree:
    """Return a reference to a component."""
    return {"$ref": f"#/components/{kind}/{name}"}


FOLDER = Path(__file__).parent
SECTIONS = ("paths", "prose", "pages", "schemas", "examples")


@dataclass(frozen=True, slots=True)
class Word:
    """What a word under `x-answers` stands for.

    Attributes:
        parameters: names of common parameters.
        headers: status -> names of common headers.
        responses: names of common responses.
    """

    parameters: tuple[str, ...]
    headers: Mapping[str, tuple[str, ...]]
    responses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Common:
    """The parts that all resources share."""

    words: Mapping[str, Word]
    parameters: Tree
    headers: Tree
    responses: Tree
    statuses: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Parts:
    """All hand-written parts.

    Attributes:
        paths: tag -> path -> path item.
        prose: schema class -> member -> description; the description of the class itself stands under "".
        pages: name of a page's schema -> name of its items' schema.
        shared: names of the schemas that generated requests refer to where they are equal.
    """

    general: Tree
    common: Common
    paths: Mapping[str, Tree]
    prose: Mapping[str, Mapping[str, str]]
    pages: Mapping[str, str]
    schemas: Tree
    shared: Sequence[str]
    examples: Tree


def read_parts(folder: Path = FOLDER) -> Parts:
    """Read and merge the files of a folder.

    Raises:
        ContractError: a part has the wrong shape, an unknown name, or two owners.
    """
    general = _load(folder / "general.yaml")
    tags = general["tags"]
    if not isinstance(tags, list):
        raise ContractError("general.yaml: tags must be a list.")
    paths: dict[str, Tree] = {}
    merged: dict[str, Tree] = {section: {} for section in SECTIONS}
    for tag in (text(mapping(each, "a tag")["name"], "the name of a tag") for each in tags):
        resource = _load(folder / f"{tag}.yaml")
        known(resource, SECTIONS, f"{tag}.yaml")
        paths[tag] = mapping(resource["paths"], f"{tag}.yaml: paths")
        for section in SECTIONS[1:]:
            members = mapping(resource.get(section, {}), f"{tag}.yaml: {section}")
            twice = set(members) & set(merged[section])
            if twice:
                raise ContractError(f"{tag}.yaml: {section} repeats {', '.join(sorted(twice))}.")
            merged[section].update(members)
    common = _load(folder / "common.yaml")
    for section in ("prose", "schemas"):
        merged[section].update(mapping(common.get(section, {}), f"common.yaml: {section}"))
    return Parts(
        general=general,
        common=_common(common),
        paths=paths,
        prose={name: _descriptions(members, name) for name, members in merged["prose"].items()},
        pages={name: text(items, f"pages: {name}") for name, items in merged["pages"].items()},
        schemas=merged["schemas"],
        shared=strings(common["shared"], "common.yaml: shared"),
        examples=merged["examples"],
    )


def _load(path: Path) -> Tree:
    """Read a file; `{$ref: Name}` becomes a reference to that schema."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return mapping(_with_references(yaml.load(path.read_bytes(), loader)), path.name)  # noqa: S506 - a safe loader


def _with_references(value: object) -> object:
    if isinstance(value, list):
        return [_with_references(member) for member in value]
    if not isinstance(value, dict):
        return value
    expanded = {key: _with_references(member) for key, member in value.items()}
    name = expanded.get("$ref")
    return {**expanded, **reference("schemas", name)} if isinstance(name, str) and "/" not in name else expanded


def _common(part: Tree) -> Common:
    known(part, ("shared", "words", "parameters", "headers", "responses", "prose", "schemas"), "common.yaml")
    responses: Tree = {}
    statuses: dict[str, str] = {}
    for name, member in mapping(part["responses"], "responses").items():
        response = dict(mapping(member, f"responses: {name}"))
        known(response, ("x-status", "description", "headers", "x-headers", "x-problem", "x-examples"), name)
        statuses[name] = text(response.pop("x-status", None), f"responses: {name}: x-status")
        responses[name] = response
    return Common(
        words={name: _word(name, mapping(word, name)) for name, word in mapping(part["words"], "words").items()},
        parameters=mapping(part["parameters"], "parameters"),
        headers=mapping(part["headers"], "headers"),
        responses=responses,
        statuses=statuses,
    )


def _word(name: str, part: Tree) -> Word:
    place = f"words: {name}"
    known(part, ("parameters", "headers", "responses"), place)
    return Word(
        parameters=tuple(strings(part.get("parameters", []), place)),
        headers={
            status: tuple(strings(names, place)) for status, names in mapping(part.get("headers", {}), place).items()
        },
        responses=tuple(strings(part.get("responses", []), place)),
    )


def _descriptions(members: object, name: str) -> dict[str, str]:
    place = f"prose: {name}"
    return {member: text(description, place) for member, description in mapping(members, place).items()}


MODULES = (base, benchmarks, submissions, submissions, submissions, submissions, teams, teams, teams)
PROSE = ("description", "examples")
ORDER = ("type", "additionalProperties", "required", "description", "properties")

Prose = Mapping[str, Mapping[str, str]]


def request_classes() -> dict[str, type[Schema]]:
    """Return the classes of request bodies and of the objects in them, by name."""
    names = {module.__name__ for module in MODULES}
    return {each.__name__: each for each in _subclasses(Strict) if each.__module__ in names}


def query_classes() -> dict[str, type[Schema]]:
    """Return the classes of query strings, by name."""
    return {each.__name__: each for each in _subclasses(Strict) if each.__module__ == queries.__name__}


def _subclasses(kind: type[Schema]) -> Iterator[type[Schema]]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)


class Generator:
    """Generates schemas, with references to hand-written ones of the same meaning.

    Args:
        named: hand-written schemas that a generated schema may refer to.
        prose: schema class -> member -> description; a class inherits the descriptions of its bases.
    """

    def __init__(self, named: Tree, prose: Prose) -> None:
        self._named = [(name, bare(schema)) for name, schema in named.items()]
        self._prose = prose
        self._converter = _converter()

    def component(self, kind: type[Schema]) -> Tree:
        """Return the schema of a request body, or of an object in one."""
        schema = self._schema(kind)
        described = self._descriptions(kind)
        members = mapping(schema.get("properties", {}), kind.__name__)
        known(set(described) - {""}, members, f"prose: {kind.__name__}")
        schema["properties"] = {name: _described(member, described.get(name)) for name, member in members.items()}
        whole = _described(schema, described.get(""))
        return {name: whole[name] for name in ORDER if name in whole}

    def parameters(self, kind: type[Schema]) -> list[Tree]:
        """Return the query parameters of a class."""
        schema = self._schema(kind)
        required = schema.get("required", [])
        described = self._descriptions(kind)
        members = mapping(schema.get("properties", {}), kind.__name__)
        missing = set(members) ^ set(described)
        if missing:
            raise ContractError(f"prose: {kind.__name__}: describe these parameters: {', '.join(sorted(missing))}.")
        return [
            {
                "name": name,
                "in": "query",
                **({"required": True} if isinstance(required, list) and name in required else {}),
                "description": described[name],
                "schema": member,
            }
            for name, member in members.items()
        ]

    def _schema(self, kind: type[Schema]) -> Tree:
        generated = mapping(self._converter.schema2jsonschema(kind()), kind.__name__)  # type: ignore[no-untyped-call]
        folded = {name: member if name == "properties" else self._folded(member) for name, member in generated.items()}
        members = mapping(generated.get("properties", {}), kind.__name__)
        return {**folded, "properties": {name: self._folded(member) for name, member in members.items()}}

    def _folded(self, value: object) -> object:
        """Return a schema in which each part that equals a hand-written schema is a reference to it."""
        if isinstance(value, list | tuple):
            return [self._folded(member) for member in value]
        if isinstance(value, str):
            return value.replace(r"\A", "^").replace(r"\Z", "$")
        if not isinstance(value, dict):
            return value
        folded = {name: self._folded(member) for name, member in value.items()}
        shared = self._shared(folded)
        if shared is not None:
            return shared
        without_null = _without_null(folded)
        shared = None if without_null is None else self._shared(without_null)
        return folded if shared is None else {"oneOf": [shared, {"type": "null"}]}

    def _shared(self, schema: Tree) -> Tree | None:
        return next((reference("schemas", name) for name, each in self._named if each == schema), None)

    def _descriptions(self, kind: type[Schema]) -> dict[str, str]:
        described: dict[str, str] = {}
        for each in reversed(kind.__mro__):
            described.pop("", None)
            described.update(self._prose.get(each.__name__, {}))
        return described


def _without_null(schema: Tree) -> Tree | None:
    """Return a nullable schema without null; None for other schemas."""
    kinds = schema.get("type")
    if not isinstance(kinds, list) or len(kinds) != 2 or kinds[1] != "null":
        return None
    enum = schema.get("enum")
    rest = {"enum": [each for each in enum if each is not None]} if isinstance(enum, list) else {}
    return {**schema, "type": kinds[0], **rest}


def bare(value: object) -> object:
    """Return a schema without what only people read."""
    if isinstance(value, list):
        return [bare(member) for member in value]
    if not isinstance(value, dict):
        return value
    return {name: bare(member) for name, member in value.items() if name not in PROSE}


def _described(schema: object, description: str | None) -> Tree:
    found = mapping(schema, "a generated schema")
    return found if description is None else {**found, "description": description}


def _converter() -> OpenAPIConverter:
    plugin = MarshmallowPlugin(
        schema_name_resolver=lambda schema: type(schema).__name__ if isinstance(schema, Schema) else schema.__name__
    )
    APISpec(title="Treescore", version="0", openapi_version="3.1.0", plugins=[plugin])
    if plugin.converter is None:
        raise ContractError("apispec made no converter.")
    plugin.converter.add_attribute_function(_custom)  # type: ignore[no-untyped-call]
    return plugin.converter


def _custom(_converter: OpenAPIConverter, field: fields.Field[object], **_options: object) -> Tree:
    """Return the schema of a field class of the service; apispec knows marshmallow's own."""
    return base.field_schema(field) if isinstance(field, base.Checked) else {}


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


PUBLISHED = Path(__file__).parents[2] / "openapi.yaml"
HEADING = """\
# Built by `python -m service.contract` from service/contract/*.yaml and service/schemas/. Do not edit.
"""
MOST_LINES = 40


def contract_document(parts: Parts) -> Tree:
    """Return the published document."""
    generator = Generator({name: parts.schemas[name] for name in parts.shared}, parts.prose)
    general = dict(parts.general)
    security = general.pop("securitySchemes")
    schemas: Tree = {name: generator.component(kind) for name, kind in request_classes().items()}
    schemas.update({name: _page(items) for name, items in parts.pages.items()})
    for name, schema in parts.schemas.items():
        if name in schemas:
            raise ContractError(f"schemas: {name} is generated. Remove the hand-written one.")
        schemas[name] = _extended(parts.schemas, mapping(schema, name))
    return {
        **general,
        "paths": expanded_paths(parts, generator),
        "components": {
            "securitySchemes": security,
            "parameters": parts.common.parameters,
            "headers": parts.common.headers,
            "responses": {name: _response(mapping(each, name)) for name, each in parts.common.responses.items()},
            "schemas": dict(sorted(schemas.items())),
            "examples": parts.examples,
        },
    }


def _page(items: str) -> Tree:
    return {
        "type": "object",
        "required": ["items", "next"],
        "properties": {
            "items": {"type": "array", "items": reference("schemas", items)},
            "next": reference("schemas", "Next"),
        },
    }


def _extended(schemas: Tree, schema: Tree) -> Tree:
    """Return a schema with the members of the one that it extends put first."""
    if "x-extends" not in schema:
        return schema
    name = str(schema["x-extends"])
    whole = _extended(schemas, mapping(schemas[name], name))
    own = {key: value for key, value in schema.items() if key != "x-extends"}
    required = [*_listed(whole.get("required")), *_listed(own.get("required"))]
    members = {**mapping(whole["properties"], name), **mapping(own["properties"], name)}
    inherited = {key: value for key, value in whole.items() if key != "description"}
    return {**inherited, **own, "required": required, "properties": members}


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _response(short: Tree) -> Tree:
    """Return a common response; an error has a problem document."""
    response: Tree = {"description": short["description"]}
    names = short.get("x-headers", [])
    own = mapping(short.get("headers", {}), "headers")
    response["headers"] = {
        **own,
        **{header_name(str(name)): reference("headers", str(name)) for name in (*_listed(names), "RequestId")},
    }
    if short.get("x-problem", True):
        content: Tree = {"schema": reference("schemas", "Problem")}
        examples = mapping(short.get("x-examples", {}), "examples")
        if examples:
            content["examples"] = {name: reference("examples", str(example)) for name, example in examples.items()}
        response["content"] = {"application/problem+json": content}
    return response


class _Dumper(yaml.SafeDumper):
    """Writes multi-line strings as blocks, lists of scalars on one line, and no aliases."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        super().increase_indent(flow, False)


def _string(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value and "\t" not in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _list(dumper: _Dumper, value: list[object]) -> yaml.SequenceNode:
    flow = all(isinstance(each, str | int | float | None) for each in value)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=flow)


_Dumper.add_representer(str, _string)
_Dumper.add_representer(list, _list)


def built(folder: Path = FOLDER) -> str:
    """Return the text of the document that the files of a folder describe."""
    whole = contract_document(read_parts(folder))
    _check_expanded(whole, "")
    return HEADING + yaml.dump(whole, Dumper=_Dumper, sort_keys=False, width=118, allow_unicode=True)


def _check_expanded(value: object, place: str) -> None:
    """Refuse words that nothing has expanded."""
    if isinstance(value, dict):
        for name, member in value.items():
            if name.startswith("x-"):
                raise ContractError(f"{place}: unknown word {name}.")
            _check_expanded(member, f"{place}/{name}")
    elif isinstance(value, list):
        for member in value:
            _check_expanded(member, place)


def difference(published: str, wanted: str) -> str:
    """Return the first lines of the difference; an empty string where there is none."""
    lines = difflib.unified_diff(published.splitlines(), wanted.splitlines(), "openapi.yaml", "built", n=1, lineterm="")
    shown = [line for _, line in zip(range(MOST_LINES), lines, strict=False)]
    return "\n".join(shown)
