"""Read operations, schemas and examples out of the contract, describe schemas, and find where each is documented.

Schemas are described by their types in a few words, and their members, however deep, one a row.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import orjson
from markupsafe import Markup, escape

from service.api import status as contract
from service.errors import CODES, TYPES
from treescore.core.params import Json

Document = Mapping[str, Any]
METHODS = ("get", "post", "put", "patch", "delete")
_SCHEMA = "#/components/schemas/"


class Operation(NamedTuple):
    """An operation of the contract.

    Attributes:
        document: as the contract has it.
        id: its operationId.
        method: in capitals.
        path: with names in braces.
        tag: under which it stands.
        parameters: of path and query, resolved.
        headers: names of the request headers that it reads.
    """

    document: Document
    id: str
    method: str
    path: str
    tag: str
    parameters: tuple[Document, ...]
    headers: tuple[str, ...]

    @property
    def address(self) -> str:
        """Where the operation is shown."""
        return f"/docs/{self.tag}#{self.id}"

    @property
    def title(self) -> str:
        """Method and path."""
        return f"{self.method} {self.path}"

    @property
    def scopes(self) -> tuple[str, ...]:
        """Scopes of which a token needs one; none where any valid token does."""
        listed = [scope for each in self.document["security"] for scope in each.get("bearer", ())]
        return tuple(dict.fromkeys(listed))

    @property
    def token(self) -> str:
        """Who may call it, in words."""
        alternatives = self.document["security"]
        if not alternatives:
            return "Needs no token."
        scopes = " or ".join(f"`{scope}`" for scope in self.scopes)
        wanted = f"a token with the scope {scopes}" if scopes else "a valid token"
        return f"Takes {wanted}, or none." if {} in alternatives else f"Needs {wanted}."

    def matches(self, path: str) -> bool:
        """Return whether a path is one of this operation."""
        return _pattern(self.path).fullmatch(path) is not None


@cache
def operations() -> tuple[Operation, ...]:
    """Return all operations, in the order of the contract."""
    found = []
    for path, item in contract.document()["paths"].items():
        for method in METHODS:
            if method not in item:
                continue
            document = item[method]
            given = [resolve(each) for each in (*item.get("parameters", ()), *document.get("parameters", ()))]
            found.append(Operation(
                document, document["operationId"], method.upper(), path, document["tags"][0],
                tuple(each for each in given if each["in"] != "header"),
                tuple(each["name"] for each in given if each["in"] == "header"),
            ))  # fmt: skip
    return tuple(found)


def tags() -> list[Document]:
    """Return name and description of each tag."""
    listed: list[Document] = contract.document()["tags"]
    return listed


def of_tag(tag: str) -> list[Operation]:
    """Return the operations of a tag."""
    return [operation for operation in operations() if operation.tag == tag]


def components(kind: str) -> Mapping[str, Document]:
    """Return the components of a kind, as `schemas`."""
    found: Mapping[str, Document] = contract.document()["components"][kind]
    return found


def resolve(value: Document) -> Document:
    """Return what a local reference stands for, with the members beside it; any other value unchanged."""
    if "$ref" not in value:
        return value
    target: Any = contract.document()
    for step in value["$ref"].removeprefix("#/").split("/"):
        target = target[step]
    return {**resolve(target), **{key: member for key, member in value.items() if key != "$ref"}}


@cache
def answer_headers() -> Mapping[str, list[str]]:
    """Return the headers of answers, each with what the contract says of it."""
    found: dict[str, dict[str, None]] = {}
    for operation in operations():
        for answer in operation.document["responses"].values():
            for name, header in resolve(answer).get("headers", {}).items():
                found.setdefault(name, {})[resolve(header)["description"]] = None
    return {name: list(found[name]) for name in sorted(found)}


def request_headers() -> list[Document]:
    """Return the headers of requests that several operations read."""
    listed = [each for each in components("parameters").values() if each["in"] == "header"]
    return sorted(listed, key=lambda each: str(each["name"]))


def problem_types(status: str) -> list[str]:
    """Return the names of the types of problems with a status."""
    return [name for name, kind in TYPES.items() if str(kind.status) == status]


def schema_names(value: object) -> Iterator[str]:
    """Yield the names of the schemas that a part of the contract refers to."""
    if isinstance(value, Mapping):
        reference = value.get("$ref")
        if isinstance(reference, str):
            if reference.startswith(_SCHEMA):
                yield reference.removeprefix(_SCHEMA)
            else:
                yield from schema_names(resolve(value))
        for member in value.values():
            yield from schema_names(member)
    elif isinstance(value, list):
        for member in value:
            yield from schema_names(member)


@cache
def homes() -> Mapping[str, str]:
    """Return the tag on whose page each schema stands; empty for a schema of several tags."""
    users: dict[str, set[str]] = {name: set() for name in components("schemas")}
    for operation in operations():
        for name in _reached(operation.document, operation.parameters):
            users[name].add(operation.tag)
    return {name: next(iter(found)) if len(found) == 1 else "" for name, found in users.items()}


def schema_address(name: str) -> str:
    """Return where a schema is shown."""
    return f"/docs/{homes()[name] or 'schemas'}#schema-{name}"


def _reached(*values: object) -> set[str]:
    reached: set[str] = set()
    new = {name for value in values for name in schema_names(list(value) if isinstance(value, tuple) else value)}
    while new:
        reached |= new
        new = {below for name in new for below in schema_names(components("schemas")[name])} - reached
    return reached


@cache
def _pattern(path: str) -> re.Pattern[str]:
    steps = (r"[^/?\s]+" if step.startswith("{") else re.escape(step) for step in re.split(r"(\{\w+\})", path))
    return re.compile("".join(steps))


CALL = re.compile(rf"(?:({'|'.join(METHODS).upper()}) )?(/[^\s?`]+)(?:\?\S*)?")


def of_code(quoted: str) -> str | None:
    """Return the address of what a piece of code names; None where it names nothing that has a page.

    Names of problems are followed only if they have a hyphen: `closed` is a word of other things too.
    """
    if quoted in ("openapi.yaml", "/openapi.yaml", "/openapi.json"):
        return f"/{quoted.removeprefix('/')}"
    if "-" in quoted and (quoted in TYPES or quoted in CODES):
        return f"/problems/{quoted}"
    named = operation_of(quoted)
    return None if named is None else named.address


def operation_of(quoted: str) -> Operation | None:
    """Return the operation that a piece of code names, by its id, or by a path, with a method or that of reading.

    An id is followed only if it is of several words: `submit` is a scope too.
    """
    for operation in operations():
        if operation.id == quoted and "_" in quoted:
            return operation
    call = CALL.fullmatch(quoted)
    return None if call is None else called(call[1] or "GET", call[2])


def called(method: str, path: str) -> Operation | None:
    """Return the operation that a call of a path is; where several fit, that with the fewest names in braces.

    Args:
        method: in capitals.
        path: whole, or its end after `…`.
    """
    if path.startswith("…"):
        ends = [each for each in operations() if each.method == method and each.path.endswith(path[1:])]
        return ends[0] if len(ends) == 1 else None
    fitting = [each for each in operations() if each.method == method and each.matches(path)]
    return min(fitting, key=lambda each: each.path.count("{"), default=None)


def in_reference(page: str, anchor: str) -> str:
    """Return the address of a part of the reference that Sphinx has on one page and the service on several."""
    if page == "/problems" and anchor:
        return f"/problems/{anchor}" if anchor in TYPES or anchor in CODES else page
    named = operation_of(anchor) if anchor else None
    return page if named is None else named.address


_BOUNDS = (
    *(("minimum", "at least"), ("maximum", "at most"), ("exclusiveMinimum", "more than"), ("default", "default")),
    *(("minLength", "length at least"), ("maxLength", "length at most")),
)
_CHOICES = (("oneOf", Markup(" or ")), ("anyOf", Markup(" or ")), ("allOf", Markup(" with ")))


class Member(NamedTuple):
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
