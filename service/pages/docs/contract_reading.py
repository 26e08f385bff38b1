"""Read operations, schemas and examples out of the contract."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from service.api import contract
from service.problem_catalogue import TYPES

Document = Mapping[str, Any]
METHODS = ("get", "post", "put", "patch", "delete")
_SCHEMA = "#/components/schemas/"


@dataclass(frozen=True, slots=True)
class Operation:
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
    return tuple(_contract_operations())


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


def _contract_operations() -> Iterator[Operation]:
    for path, item in contract.document()["paths"].items():
        for method in METHODS:
            if method not in item:
                continue
            document = item[method]
            given = [resolve(each) for each in (*item.get("parameters", ()), *document.get("parameters", ()))]
            yield Operation(
                document, document["operationId"], method.upper(), path, document["tags"][0],
                tuple(each for each in given if each["in"] != "header"),
                tuple(each["name"] for each in given if each["in"] == "header"),
            )  # fmt: skip


@cache
def _pattern(path: str) -> re.Pattern[str]:
    steps = (r"[^/?\s]+" if step.startswith("{") else re.escape(step) for step in re.split(r"(\{\w+\})", path))
    return re.compile("".join(steps))
