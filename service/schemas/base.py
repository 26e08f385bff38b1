"""Strict schemas, and how their faults become problems with a code and a JSON pointer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Generic, Self, TypeVar

from marshmallow import RAISE, Schema, ValidationError, fields, post_load

from service.errors import Unprocessable, counted
from treescore.core.params import escape
from treescore.errors import Problem, ProblemList

Loaded = TypeVar("Loaded")
"""What a schema loads: a request of service.requests, or a dictionary of JSON that the library checks."""

_CODES = {
    fields.Field.default_error_messages["required"]: "missing-field",
    fields.Field.default_error_messages["null"]: "null-field",
}


class Fault(str):
    """A message with an error code; marshmallow carries it to where the pointer is known."""

    __slots__ = ("code",)
    code: str

    def __new__(cls, code: str, detail: str) -> Self:
        """Make a message with its code."""
        fault = super().__new__(cls, detail)
        fault.code = code
        return fault


class Strict(Schema, Generic[Loaded]):
    """A schema that refuses unknown fields and names the known ones.

    Attributes:
        into: the class of what it loads.
    """

    into: type[Loaded]

    class Meta:
        """Unknown fields are errors: a misspelt option must not be a silent default."""

        unknown = RAISE

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        names = ", ".join(sorted(field.data_key or name for name, field in self.fields.items())) or "none"
        self.error_messages["unknown"] = Fault("unknown-field", f"Unknown field. Known fields: {names}.")
        self.error_messages["type"] = Fault("wrong-type", "This must be an object.")

    @post_load
    def build(self, members: dict[str, object], **_options: object) -> Loaded:
        """Make the request of its checked members."""
        return self.into(**members)


def load(schema: Strict[Loaded], value: object, cap: int) -> Loaded:
    """Return the request that a value stands for.

    Raises:
        Unprocessable: with every fault and its pointer, the first `cap` of them in full.
    """
    try:
        loaded: Loaded = schema.load(value)  # type: ignore[arg-type]
    except ValidationError as error:
        problems = ProblemList(cap)
        problems.extend(_problems(error.messages, ""))
        raise Unprocessable(counted(problems.total), problems=problems.problems, total=problems.total) from error
    return loaded


def _problems(messages: object, pointer: str) -> Iterator[Problem]:
    if isinstance(messages, Mapping):
        for key, below in messages.items():
            yield from _problems(below, pointer if key == "_schema" else f"{pointer}/{escape(str(key))}")
    elif isinstance(messages, list):
        for message in messages:
            yield from _problems(message, pointer)
    else:
        code = messages.code if isinstance(messages, Fault) else _CODES.get(str(messages), "bad-value")
        yield Problem(code=code, pointer=pointer, detail=str(messages))


def wrong_type(expected: str) -> ValidationError:
    """Return the error of a value that has another JSON type."""
    return ValidationError([Fault("wrong-type", f"This must be {expected}.")])
