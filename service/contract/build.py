"""Build openapi.yaml from the types and the hand-written files of this folder.

Requests and answers are types, whose docstrings are the prose. What no type says is written by hand, in general.yaml,
common.yaml and one file for each tag. The words of an operation are expanded into parameters, headers and
error answers.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_origin

import yaml
from apispec import APISpec
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from typing_extensions import is_typeddict

from service.contract import (
    benchmarks,
    common,
    comparisons,
    events,
    jobs,
    leaderboards,
    scorers,
    service,
    submissions,
    teams,
    tokens,
)
from service.contract.derive import Field, Named, Page, field_of, mark_of, schema_class
from service.contract.fields import Checked, Either, Mapped, Nested
from service.requests import Query, Request

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
SECTIONS = ("paths", "pages", "schemas", "examples")


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
        pages: name of a page's schema -> name of its items' schema.
    """

    general: Tree
    common: Common
    paths: Mapping[str, Tree]
    pages: Mapping[str, str]
    schemas: Tree
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
    shared = _load(folder / "common.yaml")
    merged["schemas"].update(mapping(shared.get("schemas", {}), "common.yaml: schemas"))
    return Parts(
        general=general,
        common=_common(shared),
        paths=paths,
        pages={name: text(items, f"pages: {name}") for name, items in merged["pages"].items()},
        schemas=merged["schemas"],
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
    known(part, ("words", "parameters", "headers", "responses", "schemas"), "common.yaml")
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


NOUNS = (
    common, jobs, benchmarks, teams, submissions, leaderboards, comparisons, events, scorers, tokens, service,
)  # fmt: skip
ORDER = ("type", "additionalProperties", "required", "description", "properties")


def noun_types() -> dict[str, type]:
    """Return the requests and answers of all nouns that openapi.yaml has names for, by these names."""
    return {
        name: kind
        for noun in NOUNS
        for name, kind in vars(noun).items()
        if isinstance(kind, type) and kind.__module__ == noun.__name__ and is_document(kind)
    }


def query_types() -> dict[str, type]:
    """Return the query strings of all nouns, by name."""
    found = [kind for noun in NOUNS for kind in vars(noun).values() if isinstance(kind, type)]
    return {kind.__name__: kind for kind in found if issubclass(kind, Query)}


def is_document(kind: type) -> bool:
    """Return whether openapi.yaml has a name for a type: no query, no object that stands where it is used."""
    if is_typeddict(kind):
        return not mark_of(kind, "inline")
    return issubclass(kind, Request) and not issubclass(kind, Query)


def page_of(kind: Any) -> Any:
    """Return the type of a page of things of a type."""
    return Page[kind]


def words_of(kind: type) -> tuple[str, dict[str, str]]:
    """Return what the docstring of a type and of its bases says of it, and of its members.

    Raises:
        ContractError: it describes a member that the type does not have.
    """
    members: dict[str, str] = {}
    whole = ""
    for each in reversed(list(_with_bases(get_origin(kind) or kind))):
        whole, _, listed = inspect.cleandoc(each.__doc__ or "").partition("Attributes:")
        entries = re.split(r"\n(?=\S)", inspect.cleandoc(listed)) if listed else []
        members.update(map(_member, entries))
    known(members, schema_class(kind)().fields, f"the docstring of {kind.__name__}")
    return prose(whole), members


def _member(entry: str) -> tuple[str, str]:
    name, _, words = prose(entry).partition(": ")
    return name, words


def _with_bases(kind: type) -> Iterator[type]:
    """Yield a type and its bases, of which a TypedDict remembers only those that its class statement names."""
    if not is_typeddict(kind):
        yield from (each for each in kind.__mro__ if dataclasses.is_dataclass(each))
        return
    yield kind
    for base in vars(kind)["__orig_bases__"]:
        if is_typeddict(base):
            yield from _with_bases(base)


def prose(words: str) -> str:
    """Return the words of a docstring, each paragraph in one line."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in words.strip().split("\n\n"))


class Generator(OpenAPIConverter):
    """Makes the schemas of openapi.yaml from those that are derived from the types of nouns.

    Attributes:
        named: the schemas of named scalars that were met.
    """

    def __init__(self) -> None:
        spec = APISpec(title="Treescore", version="0", openapi_version="3.1.0")
        super().__init__(spec.openapi_version, lambda schema: type(schema).__name__, spec)
        self.named: dict[str, Tree] = {}

    def name_scalars(self) -> None:
        """Meet the named types of all nouns, also those that no member has."""
        for noun in NOUNS:
            for kind in vars(noun).values():
                if any(isinstance(note, Named) for note in getattr(kind, "__metadata__", ())):
                    self.field2property(field_of(kind))

    def component(self, kind: type) -> Tree:
        """Return the schema of a request, an answer, or an object in one."""
        schema = schema_class(kind)()
        words, described = words_of(kind)
        whole: Tree = {"type": "object", "description": words}
        if mark_of(kind, "more") or mark_of(kind, "closed") or dataclasses.is_dataclass(kind):
            whole["additionalProperties"] = bool(mark_of(kind, "more"))
        required = [name for name, field in schema.fields.items() if field.required]
        if required:
            whole["required"] = required
        whole["properties"] = {
            name: {**self.field2property(field), **({"description": described[name]} if name in described else {})}
            for name, field in schema.fields.items()
        }
        return {name: whole[name] for name in ORDER if name in whole}

    def parameters(self, kind: type) -> list[Tree]:
        """Return the query parameters of a class."""
        fields = schema_class(kind)().fields
        _, described = words_of(kind)
        missing = set(fields) - set(described)
        if missing:
            raise ContractError(f"{kind.__name__}: describe these parameters: {', '.join(sorted(missing))}.")
        return [
            {
                "name": name,
                "in": "query",
                **({"required": True} if field.required else {}),
                "description": described[name],
                "schema": self.field2property(field),
            }
            for name, field in fields.items()
        ]

    def field2property(self, field: Field) -> Tree:
        """Return the schema of a field in OpenAPI 3.1: a named one is a component."""
        plain = copy(field)
        plain.allow_none = False
        schema = {**self._plain(plain), **field.metadata.get("says", {})}
        named = field.metadata.get("named")
        if named is not None:
            component = {**schema, "description": named.words} if named.words else schema
            if self.named.setdefault(named.name, component) != component:
                raise ContractError(f"{named.name} is the name of two types.")
            schema = reference("schemas", named.name)
        return _or_null(schema) if field.allow_none else schema

    def _plain(self, field: Field) -> Tree:
        if isinstance(field, Nested):
            kind = vars(type(field.schema))["kind"]
            return self.component(kind) if mark_of(kind, "inline") else reference("schemas", kind.__name__)
        if isinstance(field, Either):
            return _either(field.metadata.get("word", "oneOf"), [self.field2property(kind) for kind in field.kinds])
        schema: Tree = super().field2property(field)
        if isinstance(field, Checked):
            schema.update(field.json_schema())
        if isinstance(field, Mapped):
            schema["additionalProperties"] = self.field2property(field.inner) or True
        if "pattern" in schema:
            schema["pattern"] = str(schema["pattern"]).replace(r"\A", "^").replace(r"\Z", "$")
        return schema


def _or_null(schema: Tree) -> Tree:
    if isinstance(schema.get("type"), str | list):
        enum = schema.get("enum")
        more = {"enum": [*enum, None]} if isinstance(enum, list) else {}
        return {**schema, "type": [*_listed(schema["type"]), "null"], **more}
    word = "anyOf" if "anyOf" in schema else "oneOf"
    return {word: [*_listed(schema.get(word, schema)), {"type": "null"}]} if schema else schema


def _either(word: str, kinds: list[Tree]) -> Tree:
    """Return the schema of what one of several describes; scalars by their types."""
    if all(list(kind) == ["type"] and isinstance(kind["type"], str) for kind in kinds):
        return {"type": [kind["type"] for kind in kinds]}
    return {word: kinds}


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
            parameters = [*generator.parameters(query_types()[name]), *parameters]
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
# Built by `python -m service.contract` from service/contract/. Do not edit.
"""
MOST_LINES = 40


def contract_document(parts: Parts) -> Tree:
    """Return the published document."""
    made = Generator()
    general = dict(parts.general)
    security = general.pop("securitySchemes")
    types = noun_types()
    schemas: Tree = {name: made.component(kind) for name, kind in types.items()}
    schemas.update({name: made.component(page_of(types[items])) for name, items in parts.pages.items()})
    paths = expanded_paths(parts, made)
    made.name_scalars()
    schemas.update(made.named)
    twice = set(schemas) & set(parts.schemas)
    if twice:
        raise ContractError(
            f"schemas: {', '.join(sorted(twice))} stands in both notations. Remove the hand-written one."
        )
    schemas.update(parts.schemas)
    return {
        **general,
        "paths": paths,
        "components": {
            "securitySchemes": security,
            "parameters": parts.common.parameters,
            "headers": parts.common.headers,
            "responses": {name: _response(mapping(each, name)) for name, each in parts.common.responses.items()},
            "schemas": dict(sorted(schemas.items())),
            "examples": parts.examples,
        },
    }


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _response(short: Tree) -> Tree:
    """Return a common response; an error has a problem document."""
    response: Tree = {"description": short["description"]}
    names = short.get("x-headers", [])
    own = mapping(short.get("headers", {}), "headers")
    response["headers"] = {
        **own,
        **{
            header_name(str(name)): reference("headers", str(name))
            for name in (*strings(names, "x-headers"), "RequestId")
        },
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
