"""Strict schemas, messages of invalid members, and how faults become problems with a code and a JSON pointer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Generic, Self, TypeVar

from marshmallow import RAISE, Schema, ValidationError, post_load

from service.errors import Unprocessable, problems_counted
from treescore.core.params import escape
from treescore.core.wording import did_you_mean
from treescore.errors import Problem, ProblemList

Messages = dict[str, str | list[Any] | dict[Any, Any]]
"""Messages of a field by the name of the fault, as marshmallow declares them."""


class Fault(str):
    """A message with an error code; marshmallow carries it to where the pointer is known.

    Attributes:
        code: of the problem.
        known: names of which the member should have had one; the pointer's last step was another.
    """

    __slots__ = ("code", "known")
    code: str
    known: tuple[str, ...]

    def __new__(cls, code: str, detail: str, known: tuple[str, ...] = ()) -> Self:
        """Make a message with its code."""
        fault = super().__new__(cls, detail)
        fault.code = code
        fault.known = known
        return fault

    def format(self, *_values: Any, **_named: Any) -> Self:
        """Return the message, which is complete: marshmallow fills in its own."""
        return self


def messages(**faults: Fault) -> Messages:
    """Return the messages of a field: of a missing value, of null, and of the faults given by marshmallow's names."""
    missing = Fault("missing-field", "This is required. Add it.")
    null = Fault("null-field", "This must not be null. Give a value, or leave it out.")
    return {"required": missing, "null": null, **faults}


def wrong_type(expected: str) -> ValidationError:
    """Return the error of a value that has another JSON type."""
    return ValidationError([Fault("wrong-type", f"This must be {expected}.")])


Loaded = TypeVar("Loaded")
"""What a schema loads: a request of service.requests, or a dictionary of JSON that the library checks."""


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
        known = self.members()
        detail = f"Unknown field. Known fields: {', '.join(known) or 'none'}."
        self.error_messages["unknown"] = Fault("unknown-field", detail, known)
        self.error_messages["type"] = Fault("wrong-type", "This must be an object.")

    def members(self) -> tuple[str, ...]:
        """Return the names of the known members."""
        return tuple(sorted(field.data_key or name for name, field in self.fields.items()))

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
        raise Unprocessable(
            problems_counted(problems.total), problems=problems.problems, total=problems.total
        ) from error
    return loaded


def _problems(messages: object, pointer: str, name: str = "") -> Iterator[Problem]:
    """Return the problems of a member of this name, and of those below it."""
    if isinstance(messages, Mapping):
        for key, below in messages.items():
            if key == "_schema":
                yield from _problems(below, pointer, name)
            else:
                yield from _problems(below, f"{pointer}/{escape(str(key))}", str(key))
    elif isinstance(messages, list):
        for message in messages:
            yield from _problems(message, pointer, name)
    else:
        code, known = (messages.code, messages.known) if isinstance(messages, Fault) else ("bad-value", ())
        suggestion = did_you_mean(name, known) if known else ""
        yield Problem(code=code, pointer=pointer, detail=f"{messages}{suggestion}")
