"""Make the schemas of openapi.yaml from the types of service.contract, whose docstrings are the prose."""

import dataclasses
import inspect
import re
from collections.abc import Iterable, Iterator
from copy import copy
from typing import Any, get_args, get_origin

from apispec import APISpec
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from typing_extensions import is_typeddict

from service.contract import access, benchmarks, common, comparisons, derive, jobs, leaderboards, service, submissions
from service.contract.fields import Checked, Either, Mapped, Nested
from service.requests import Query, Request

Tree = dict[str, Any]


class ContractError(Exception):
    """A type or a record is wrong; the message names the place and the fault."""


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


NOUNS = (
    common, jobs, benchmarks, access, submissions, leaderboards, comparisons, service,
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


def is_document(kind: type) -> bool:
    """Return whether openapi.yaml has a name for a type: no query, no object that stands where it is used."""
    if is_typeddict(kind):
        return not derive.mark_of(kind, "inline")
    return issubclass(kind, Request) and not issubclass(kind, Query)


def name_of(kind: Any) -> str:
    """Return the name that openapi.yaml has for a type."""
    if get_origin(kind) is derive.Page:
        return f"{get_args(kind)[0].__name__.removesuffix('Summary')}Page"
    named = [note.name for note in getattr(kind, "__metadata__", ()) if isinstance(note, derive.Named)]
    return named[0] if named else str(kind.__name__)


def words_of(kind: type) -> tuple[str, dict[str, str]]:
    """Return what the docstring of a type and of its bases says of it, and of its members.

    Raises:
        ContractError: it describes a member that the type does not have.
    """
    members: dict[str, str] = dict(derive.mark_of(kind, "words") or {})
    whole = ""
    for each in reversed(list(_with_bases(get_origin(kind) or kind))):
        whole, _, listed = inspect.cleandoc(each.__doc__ or "").partition("Attributes:")
        entries = re.split(r"\n(?=\S)", inspect.cleandoc(listed)) if listed else []
        members.update(map(_member, entries))
    known(members, derive.schema_class(kind)().fields, f"the docstring of {kind.__name__}")
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
    """Return the words of a docstring, each paragraph in one line, but for commands, which are indented."""
    paragraphs = words.strip("\n ").split("\n\n")
    return "\n\n".join(each if each.startswith("    ") else " ".join(each.split()) for each in paragraphs)


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
                if any(isinstance(note, derive.Named) for note in getattr(kind, "__metadata__", ())):
                    self.field2property(derive.field_of(kind))

    def component(self, kind: type) -> Tree:
        """Return the schema of a request, an answer, or an object in one."""
        schema = derive.schema_class(kind)()
        words, described = words_of(kind)
        whole: Tree = {"type": "object", "description": words}
        if derive.mark_of(kind, "more") or derive.mark_of(kind, "closed") or dataclasses.is_dataclass(kind):
            whole["additionalProperties"] = bool(derive.mark_of(kind, "more"))
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
        fields = derive.schema_class(kind)().fields
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

    def field2property(self, field: derive.Field) -> Tree:
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

    def _plain(self, field: derive.Field) -> Tree:
        if isinstance(field, Nested):
            kind = vars(type(field.schema))["kind"]
            return self.component(kind) if derive.mark_of(kind, "inline") else reference("schemas", kind.__name__)
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


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]
