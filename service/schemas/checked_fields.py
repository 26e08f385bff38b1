"""Fields of requests, each of which checks one JSON value and states its JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar, TypedDict, Unpack

from marshmallow import Schema, ValidationError, fields

from service.schemas.base import Strict
from service.schemas.faults import Fault, messages, wrong_type
from service.schemas.plain_fields import String
from treescore.core.one_line import MAX_NAME, NAME_RULE, is_name

ID_FORM = "An id has 1 to 60 letters, digits, `_`, `-` and `.`, and begins with a letter or digit."
MAX_MARGIN = 1_000_000
"""Largest margin: above any difference of scores, also of those without a range (crossing brackets)."""
Shape = Mapping[str, object]


class FieldOptions(TypedDict, total=False):
    """The options that the fields of requests have."""

    required: bool
    allow_none: bool


class Checked(fields.Field[object]):
    """A field whose value one function checks.

    Attributes:
        shape: the JSON Schema of what `check` accepts, null aside, unless it depends on the field's options.
    """

    default_error_messages = messages()
    shape: ClassVar[Shape]

    def _deserialize(self, value: object, attr: object, data: object, **options: object) -> object:  # noqa: ARG002 - marshmallow's
        return self.check(value)

    def check(self, value: object) -> object:
        """Return the value if it is valid.

        Raises:
            ValidationError: it is not.
        """
        raise NotImplementedError

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return dict(self.shape)


def component(name: str) -> dict[str, object]:
    """Return a reference to a schema of openapi.yaml."""
    return {"$ref": f"#/components/schemas/{name}"}


def field_schema(field: Checked) -> dict[str, object]:
    """Return the JSON Schema of a field, with null where the field takes it."""
    schema = field.json_schema()
    if not field.allow_none:
        return schema
    if "type" in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"oneOf": [schema, {"type": "null"}]}


class Name(Checked):
    """A name that people read: no control characters, not empty, of bounded length."""

    shape: ClassVar[Shape] = {"type": "string", "minLength": 1, "maxLength": MAX_NAME}

    def check(self, value: object) -> object:
        """A string that can be printed in one line."""
        if not isinstance(value, str):
            raise wrong_type("a string")
        if not is_name(value):
            raise ValidationError([Fault("bad-name", NAME_RULE)])
        return value


class Slug(Checked):
    """An id that is part of a URL."""

    pattern = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}", re.ASCII)

    def check(self, value: object) -> object:
        """Letters, digits, `_`, `-` and `.`."""
        if not isinstance(value, str):
            raise wrong_type("a string")
        if not self.pattern.fullmatch(value):
            raise ValidationError([Fault("bad-id", ID_FORM)])
        return value

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return {"type": "string", "pattern": f"^{self.pattern.pattern}$"}


class Flag(Checked):
    """true or false; no number or string is taken for one."""

    shape: ClassVar[Shape] = {"type": "boolean"}

    def check(self, value: object) -> object:
        """A boolean."""
        if type(value) is not bool:
            raise wrong_type("true or false")
        return value


class Whole(Checked):
    """A whole number within bounds."""

    def __init__(self, least: int, most: int, code: str = "bad-value", **options: Unpack[FieldOptions]) -> None:
        super().__init__(**options)
        self.least, self.most, self.code = least, most, code

    def check(self, value: object) -> object:
        """A number without a fraction; 5.0 is one, as in JSON Schema."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is not int or not self.least <= value <= self.most:
            detail = f"This must be a whole number from {self.least} to {self.most}."
            raise ValidationError([Fault(self.code, detail)])
        return value

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


class Step(Checked):
    """The step to which scores are rounded."""

    shape: ClassVar[Shape] = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}

    def check(self, value: object) -> object:
        """A number above 0, at most 1."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            raise ValidationError([Fault("bad-value", "This must be a number above 0 and at most 1, as 0.01.")])
        return value


class Margin(Checked):
    """A margin of non-inferiority, in units of the score."""

    shape: ClassVar[Shape] = {"type": "number", "exclusiveMinimum": 0, "maximum": MAX_MARGIN}

    def check(self, value: object) -> object:
        """A number above 0, at most MAX_MARGIN."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MAX_MARGIN:
            detail = f"This must be a number above 0 and at most {MAX_MARGIN}, in units of the score, as 0.01."
            raise ValidationError([Fault("bad-value", detail)])
        return float(value)


class Fraction(Checked):
    """A share of a whole, which leaves some of it."""

    shape: ClassVar[Shape] = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}

    def check(self, value: object) -> object:
        """A number above 0 and below 1."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
            raise ValidationError([Fault("bad-value", "This must be a number above 0 and below 1, as 0.5.")])
        return value


class Mapped(Checked):
    """An object of values of one field, by name; the use-case checks the names."""

    def __init__(self, inner: Checked, **options: Unpack[FieldOptions]) -> None:
        super().__init__(**options)
        self.inner = inner

    def check(self, value: object) -> object:
        """An object of what the field takes."""
        if not isinstance(value, dict):
            raise wrong_type("an object")
        loaded: dict[str, object] = {}
        faults: dict[str, object] = {}
        for name, member in value.items():
            try:
                loaded[name] = self.inner.deserialize(member)
            except ValidationError as error:
                faults[name] = error.messages
        if faults:
            raise ValidationError(faults)
        return loaded

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return {"type": "object", "additionalProperties": field_schema(self.inner)}


def check_year(moment: datetime) -> None:
    """Refuse a time so near the ends of the calendar that an offset from UTC could leave it.

    Raises:
        ValidationError: the year is outside 1970 to 8999.
    """
    if not 1970 <= moment.year < 9000:
        raise ValidationError([Fault("bad-moment", "This must be a time in the years 1970 to 8999.")])


class Texts(Strict[dict[str, str]]):
    """The texts of a parallel treebank."""

    into = dict[str, str]

    source = String(required=True)
    target = String(required=True)
    alignment = String(required=True)


class Text(Checked):
    """A text as a string, or an object of strings for the format made of several texts."""

    shape: ClassVar[Shape] = {"oneOf": [{"type": "string"}, component("Texts")]}

    texts = Texts()

    def check(self, value: object) -> object:
        """One text or several."""
        if isinstance(value, str | bytes):
            return value
        if not isinstance(value, dict):
            raise wrong_type("a string, or an object of strings for a format of several texts")
        return self.texts.load(value)


class Named(Checked):
    """A component: its name, or an object with the name and options."""

    def __init__(self, schema: Schema, **options: Unpack[FieldOptions]) -> None:
        super().__init__(**options)
        self.schema = schema

    def check(self, value: object) -> object:
        """A name, or what the schema takes."""
        if isinstance(value, str):
            return Name().deserialize(value)
        if not isinstance(value, dict):
            raise wrong_type("a name, or an object with a name")
        return self.schema.load(value)

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return {"oneOf": [Name().json_schema(), component(type(self.schema).__name__)]}


class Parameters(Checked):
    """Parameters of a format, transform or metric: an object that its own JSON Schema checks later."""

    shape: ClassVar[Shape] = {"type": "object", "additionalProperties": True}

    def check(self, value: object) -> object:
        """An object."""
        if not isinstance(value, dict):
            raise wrong_type("an object of parameters")
        return value
