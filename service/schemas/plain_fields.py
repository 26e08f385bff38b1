"""Fields of requests that marshmallow checks, with messages that say what to write instead.

Each message is a Fault: the text has its problem code with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from marshmallow import ValidationError, fields, validate

from service.errors import LONGEST_SHOWN
from service.schemas.faults import Fault, messages
from treescore.core.suggestions import did_you_mean

Member = TypeVar("Member")
_A_TIME = "Write date, time and zone, as in 2026-10-01T00:00:00Z."


class String(fields.String):
    """A string."""

    default_error_messages = messages(
        invalid=Fault("wrong-type", "This must be a string."),
        invalid_utf8=Fault("wrong-type", "This must be a string in UTF-8."),
    )


class Moment(fields.AwareDateTime):
    """A time with its zone, in ISO 8601."""

    default_error_messages = messages(
        invalid=Fault("bad-moment", f"This is not a time in ISO 8601. {_A_TIME}"),
        invalid_awareness=Fault("bad-moment", f"The time has no zone. {_A_TIME}"),
    )

    def __init__(self, **options: Any) -> None:
        super().__init__(format="iso", **options)


class Nested(fields.Nested):
    """An object, which its own schema checks."""

    default_error_messages = messages(
        type=Fault("wrong-type", "This must be an object."),
    )


class Listed(fields.List[Member]):
    """A list."""

    default_error_messages = messages(
        invalid=Fault("wrong-type", "This must be a list."),
    )


class Setting(fields.Raw):
    """A value that its own JSON Schema checks."""

    default_error_messages = messages()


class OneOf(validate.OneOf):
    """One of some names; another one that is like one of them gets a suggestion."""

    def __init__(self, choices: Sequence[str]) -> None:
        super().__init__(choices)

    def __call__(self, value: object) -> object:
        """Return the value if it is one of the names.

        Raises:
            ValidationError: it is not.
        """
        if value in self.choices:
            return value
        shown = str(value)[:LONGEST_SHOWN]
        detail = f"Unknown value {shown!r}. Use one of: {self.choices_text}.{did_you_mean(shown, self.choices)}"
        raise ValidationError([Fault("bad-value", detail)])


def choice(choices: Sequence[str], **options: Any) -> String:
    """Return the field of one of some names."""
    return String(validate=OneOf(choices), **options)


def whole_number(least: int, most: int, **options: Any) -> fields.Integer:
    """Return the field of a whole number in a query string."""
    fault = Fault("bad-value", f"This must be a whole number from {least} to {most}.")
    shown = messages(invalid=fault, too_large=fault)
    return fields.Integer(validate=validate.Range(least, most, error=fault), error_messages=shown, **options)


def length(least: int | None, most: int | None, what: str) -> validate.Length:
    """Return the check that there are so many of something, of which `what` is the plural."""
    if least == most:
        return validate.Length(equal=least, error=Fault("bad-value", f"Give {least} {what}."))
    bounds = f"{least} or more" if most is None else f"at most {most}" if least is None else f"{least} to {most}"
    return validate.Length(min=least, max=most, error=Fault("bad-value", f"Give {bounds} {what}."))


def pattern(expression: str, code: str, detail: str) -> validate.Regexp:
    """Return the check that a string has a form, which `detail` describes."""
    return validate.Regexp(expression, error=Fault(code, detail))
