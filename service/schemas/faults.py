"""Messages of invalid members, with their problem codes."""

from __future__ import annotations

from typing import Any, Self

from marshmallow import ValidationError

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
