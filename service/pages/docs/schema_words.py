"""Describe schemas: their types in a few words, and their members, however deep, one a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import orjson
from markupsafe import Markup, escape

from service.pages.docs.contract_reading import Document, components, schema_address
from treescore.core.params import Json

_BOUNDS = (
    *(("minimum", "at least"), ("maximum", "at most"), ("exclusiveMinimum", "more than"), ("default", "default")),
    *(("minLength", "length at least"), ("maxLength", "length at most")),
)
_CHOICES = (("oneOf", Markup(" or ")), ("anyOf", Markup(" or ")), ("allOf", Markup(" with ")))


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a schema.

    Attributes:
        path: from the schema down, as `scores.main.value`; `[]` is each entry of a list, `*` each member.
        anchor: its id on the page.
        schema: of its value.
        required: whether it is always there.
    """

    path: str
    anchor: str
    schema: Document
    required: bool


def members(name: str) -> list[Member]:
    """Return the members of a named schema; those of schemas that it refers to stand there."""
    found: dict[str, Member] = {}
    for path, schema, required in _below(components("schemas")[name], ""):
        anchor = f"{name}.{path.replace('[]', '').replace('*', 'each')}"
        if path not in found:
            taken = sum(each.anchor.partition("~")[0] == anchor for each in found.values())
            found[path] = Member(path, f"{anchor}~{taken}" if taken else anchor, schema, required)
    return list(found.values())


def kind(schema: Document) -> Markup:
    """Describe a schema in a few words, with links to the named ones."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return Markup('<a href="{}">{}</a>').format(schema_address(name), name)
    for word, between in _CHOICES:
        if word in schema:
            return between.join(kind(choice) for choice in schema[word])
    if "enum" in schema:
        return Markup(", ").join(_value(value) for value in schema["enum"])
    if "const" in schema:
        return _value(schema["const"])
    types = schema.get("type", "any value")
    if types == "array":
        return Markup("list of {}").format(kind(schema.get("items", {})))
    if types == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return Markup("object of {}").format(kind(schema["additionalProperties"]))
    words = " or ".join(types) if isinstance(types, list) else types
    bounds = [f"{sign} {_plain(schema[name])}" for name, sign in _BOUNDS if name in schema]
    bounds += [schema["format"]] if "format" in schema else []
    return escape(words + (f" ({', '.join(bounds)})" if bounds else ""))


def pretty(value: Json) -> str:
    """Return a value as indented JSON."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def _below(schema: Document, prefix: str) -> Iterator[tuple[str, Document, bool]]:
    required = schema.get("required", ())
    for name, member in schema.get("properties", {}).items():
        path = f"{prefix}.{name}" if prefix else name
        yield path, member, name in required
        yield from _below(member, path)
    for word, _ in _CHOICES:
        for choice in schema.get(word, ()):
            yield from _below(choice, prefix)
    for word, mark in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(word), Mapping):
            yield from _below(schema[word], (prefix + mark).removeprefix("."))


def _value(value: Json) -> Markup:
    return Markup("<code>{}</code>").format(_plain(value))


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
