"""Share strictness, fields of requests, and faults with a code and a JSON pointer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar, Generic, Self, TypedDict, TypeVar, Unpack

from marshmallow import RAISE, Schema, ValidationError, fields, post_load

from service.errors import Unprocessable, counted
from treescore.core.params import escape
from treescore.errors import Problem, ProblemList

MAX_NAME = 200
Shape = Mapping[str, object]
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
        known = ", ".join(sorted(field.data_key or name for name, field in self.fields.items())) or "none"
        self.error_messages["unknown"] = Fault("unknown-field", f"Unknown field. Known fields: {known}.")
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


def wrong_type(wanted: str) -> ValidationError:
    """Return the error of a value that has another JSON type."""
    return ValidationError([Fault("wrong-type", f"This must be {wanted}.")])


class FieldOptions(TypedDict, total=False):
    """The options that the fields of requests have."""

    required: bool
    allow_none: bool


class Checked(fields.Field[object]):
    """A field that is one function of the value.

    Attributes:
        shape: the JSON Schema of what `check` accepts, null aside, unless it depends on the field's options.
    """

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
        if not value.strip() or len(value) > MAX_NAME or not value.isprintable():
            detail = f"A name has 1 to {MAX_NAME} printable characters, not all of them spaces."
            raise ValidationError([Fault("bad-name", detail)])
        return value


class Slug(Checked):
    """An id that stands in addresses."""

    pattern = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}", re.ASCII)

    def check(self, value: object) -> object:
        """Letters, digits, `_`, `-` and `.`."""
        if not isinstance(value, str):
            raise wrong_type("a string")
        if not self.pattern.fullmatch(value):
            detail = "An id has 1 to 60 letters, digits, `_`, `-` and `.`, and begins with a letter or digit."
            raise ValidationError([Fault("bad-id", detail)])
        return value

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return {"type": "string", "pattern": f"^{self.pattern.pattern}$"}


class Flag(Checked):
    """true or false, and nothing that looks like it."""

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
    """To which scores are rounded."""

    shape: ClassVar[Shape] = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}

    def check(self, value: object) -> object:
        """A number above 0, at most 1."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            raise ValidationError([Fault("bad-value", "This must be a number above 0 and at most 1, as 0.01.")])
        return value


class Mapped(Checked):
    """An object of values of one field, by name; what the names may be is asked where they are known."""

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


def sensible(moment: datetime) -> None:
    """Refuse a time so near the ends of the calendar that an offset from UTC could leave it.

    Raises:
        ValidationError: the year is outside 1970 to 8999.
    """
    if not 1970 <= moment.year < 9000:
        raise ValidationError([Fault("bad-moment", "This must be a time between the years 1970 and 9000.")])


class Texts(Strict[dict[str, str]]):
    """The texts of a parallel treebank."""

    into = dict[str, str]

    source = fields.String(required=True)
    target = fields.String(required=True)
    alignment = fields.String(required=True)


class Text(Checked):
    """A text as a string, or an object of strings for the format made of several texts."""

    shape: ClassVar[Shape] = {"oneOf": [{"type": "string"}, component("Texts")]}

    texts = Texts()

    def check(self, value: object) -> object:
        """One text or several."""
        if isinstance(value, str):
            return value
        if not isinstance(value, dict):
            raise wrong_type("a string, or an object of strings for a format of several texts")
        return self.texts.load(value)


class Named(Checked):
    """Something named: its name, or an object with the name and more."""

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


class Column(Checked):
    """A list parallel to gold's sentences, checked in one pass: it may have a million entries."""

    def __init__(self, wanted: str, fits: Callable[[object], bool], **options: Unpack[FieldOptions]) -> None:
        super().__init__(**options)
        self.wanted = wanted
        self.fits = fits

    def check(self, value: object) -> object:
        """A list of what fits; the first entry that does not is shown."""
        if not isinstance(value, list):
            raise wrong_type("a list, one entry for each sentence of gold")
        for index, entry in enumerate(value):
            if not self.fits(entry):
                raise ValidationError({index: [Fault("wrong-type", f"This must be {self.wanted}.")]})
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


def _is_seconds(entry: object) -> bool:
    return isinstance(entry, int | float) and not isinstance(entry, bool) and entry >= 0


def _is_lengths(entry: object) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and all(type(n) is int and 0 <= n < 2**31 for n in entry)


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
