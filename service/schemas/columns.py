"""Fields of requests that are lists parallel to the sentences of gold."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Unpack

from marshmallow import ValidationError

from service.schemas.checked_fields import Checked, FieldOptions, Name, Shape
from service.schemas.faults import Fault, wrong_type


class Column(Checked):
    """A list parallel to gold's sentences, checked in one pass: it may have a million entries."""

    def __init__(self, expected: str, accepts: Callable[[object], bool], **options: Unpack[FieldOptions]) -> None:
        super().__init__(**options)
        self.expected = expected
        self.accepts = accepts

    def check(self, value: object) -> object:
        """A list of accepted entries; the error names the first other one."""
        if not isinstance(value, list):
            raise wrong_type("a list, one entry for each sentence of gold")
        for index, entry in enumerate(value):
            if not self.accepts(entry):
                raise ValidationError({index: [Fault("wrong-type", f"This must be {self.expected}.")]})
        return value


class Strings(Column):
    """Strings."""

    shape: ClassVar[Shape] = {"type": "array", "items": {"type": "string"}}

    def __init__(self, **options: Unpack[FieldOptions]) -> None:
        super().__init__("a string", lambda entry: isinstance(entry, str), **options)


class Seconds(Column):
    """Times, 0 or more."""

    shape: ClassVar[Shape] = {"type": "array", "items": {"type": "number", "minimum": 0}}

    def __init__(self, **options: Unpack[FieldOptions]) -> None:
        super().__init__("a number of seconds, 0 or more", _is_seconds, **options)


_WORDS: dict[str, object] = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}


class Lengths(Column):
    """Pairs of word numbers: source and target."""

    shape: ClassVar[Shape] = {
        "type": "array",
        "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": _WORDS},
    }

    def __init__(self, **options: Unpack[FieldOptions]) -> None:
        super().__init__("two whole numbers: words of the source and of the target sentence", _is_lengths, **options)


class Words(Column):
    """Pairs of sentences: source and target."""

    shape: ClassVar[Shape] = {
        "type": "array",
        "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "string"}},
    }

    def __init__(self, **options: Unpack[FieldOptions]) -> None:
        super().__init__("two strings: the source and the target sentence", _is_words, **options)


def _is_seconds(entry: object) -> bool:
    return isinstance(entry, int | float) and not isinstance(entry, bool) and entry >= 0


def _is_lengths(entry: object) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and all(type(n) is int and 0 <= n < 2**31 for n in entry)


def _is_words(entry: object) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and all(isinstance(side, str) for side in entry)


class Columns(Checked):
    """Columns by name."""

    def __init__(self, column: Column, **options: Unpack[FieldOptions]) -> None:
        super().__init__(**options)
        self.column = column

    def check(self, value: object) -> object:
        """An object of columns."""
        if not isinstance(value, dict):
            raise wrong_type("an object of lists")
        faults: dict[str, object] = {}
        for name, entries in value.items():
            try:
                Name().deserialize(name)
                self.column.deserialize(entries)
            except ValidationError as error:
                faults[name] = error.messages
        if faults:
            raise ValidationError(faults)
        return value

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return {
            "type": "object",
            "propertyNames": Name().json_schema(),
            "additionalProperties": self.column.json_schema(),
        }
