"""The schemas of requests and query strings, generated from marshmallow; their prose is written by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema, fields

from service.contract.tree import ContractError, Tree, known, mapping, reference
from service.schemas import (
    benchmarks,
    checked_fields,
    comparisons,
    jobs,
    queries,
    submissions,
    suggestions,
    teams,
    tokens,
    webhooks,
)
from service.schemas.base import Strict

MODULES = (checked_fields, benchmarks, comparisons, jobs, submissions, suggestions, teams, tokens, webhooks)
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
    return checked_fields.field_schema(field) if isinstance(field, checked_fields.Checked) else {}
