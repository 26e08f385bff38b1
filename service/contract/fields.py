"""Strict schemas and the fields of requests and answers, with messages that say what to write instead.

Each message is a Fault: the text has its problem code with it, and becomes a problem with that code and a JSON pointer.
Plain fields are checked by marshmallow; others check one JSON value and state its JSON Schema, among them lists
parallel to the sentences of gold, and texts and addresses that people read: nothing in these hides, turns or runs
anything.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import islice
from math import inf
from typing import Any, ClassVar, Generic, Self, TypeVar

from marshmallow import INCLUDE, RAISE, Schema, ValidationError, fields, post_load, validate

from service import errors, requests
from service.store.packing import PackedText, packed_text
from treescore.core import params, wording
from treescore.errors import Problem, ProblemList
from treescore.shapes import BY_NAME, ITEMS, Entries

Messages = dict[str, str | list[Any] | dict[Any, Any]]
"""Messages of a field by the name of the fault, as marshmallow declares them."""


class Fault(str):
    """A message with an error code; marshmallow carries it to where the pointer is known.

    Attributes:
        code: of the problem.
        known: names of which one may have been meant. The one that is like it is looked for where the fault is shown.
        given: the name given instead; None for the pointer's last step.
    """

    __slots__ = ("code", "given", "known")
    code: str
    known: Iterable[str]
    given: str | None

    def __new__(cls, code: str, detail: str, known: Iterable[str] = (), given: str | None = None) -> Self:
        """Make a message with its code."""
        fault = super().__new__(cls, detail)
        fault.code = code
        fault.known = known
        fault.given = given
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
"""What a schema loads: a request, or a dictionary of JSON that the library checks."""


class Strict(Schema, Generic[Loaded]):
    """A schema that refuses unknown fields and names the known ones.

    Attributes:
        kind: the type that it is derived from.
        into: the class of what it loads.
    """

    kind: ClassVar[type]
    into: ClassVar[type[Any]]

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
        made: Loaded = self.into(**members)
        return made


class Open(Strict[Loaded]):
    """A schema that takes unknown members too."""

    class Meta:
        """They are beside the known ones."""

        unknown = INCLUDE

    @post_load(pass_original=True)
    def build(self, members: dict[str, object], original: dict[str, object], **_options: object) -> Loaded:
        """Keep the order of the request: marshmallow takes unknown members in an order that varies by process."""
        made: Loaded = self.into({name: members[name] for name in original})
        return made


class Changes(Strict[Loaded]):
    """A schema of changes, which says of other members how they are changed.

    Attributes:
        of: what is changed.
        further: how to change the rest.
    """

    of: ClassVar[str] = ""
    further: ClassVar[str] = ""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        detail = f"PATCH changes only {', '.join(self.members())}{self.of}.{self.further}"
        self.error_messages["unknown"] = Fault("not-changeable", detail, self.members())


def load(schema: Strict[Loaded], value: object, cap: int) -> Loaded:
    """Return the request that a value stands for.

    Raises:
        Unprocessable: with every fault and its pointer, the first `cap` of them in full.
    """
    try:
        loaded: Loaded = schema.load(value)  # type: ignore[arg-type]
    except ValidationError as error:
        problems = ProblemList(cap)
        problems.extend(islice(_problems(error.messages, ""), cap))
        problems.total += max(0, _count(error.messages) - cap)
        raise errors.Unprocessable(
            errors.problems_counted(problems.total), problems=problems.problems, total=problems.total
        ) from error
    return loaded


def _count(messages: object) -> int:
    """Return how many problems there are; only those that are shown are put in words."""
    if isinstance(messages, Mapping):
        return sum(map(_count, messages.values()))
    return sum(map(_count, messages)) if isinstance(messages, list) else 1


def _problems(messages: object, pointer: str, name: str = "") -> Iterator[Problem]:
    """Return the problems of a member of this name, and of those below it."""
    if isinstance(messages, Mapping):
        for key, below in messages.items():
            if key == "_schema":
                yield from _problems(below, pointer, name)
            else:
                yield from _problems(below, f"{pointer}/{params.escape(str(key))}", str(key))
    elif isinstance(messages, list):
        for message in messages:
            yield from _problems(message, pointer, name)
    else:
        fault = messages if isinstance(messages, Fault) else Fault("bad-value", str(messages))
        suggestion = wording.did_you_mean(name if fault.given is None else fault.given, fault.known)
        yield Problem(code=fault.code, pointer=pointer, detail=f"{fault}{suggestion}")


Member = TypeVar("Member")
_A_TIME = "Write date, time and zone, as in 2026-10-01T00:00:00Z."


class String(fields.String):
    """A string."""

    default_error_messages = messages(
        invalid=Fault("wrong-type", "This must be a string."),
        invalid_utf8=Fault("wrong-type", "This must be a string in UTF-8."),
    )


def check_year(moment: datetime) -> None:
    """Refuse a time so near the ends of the calendar that an offset from UTC could leave it.

    Raises:
        ValidationError: the year is outside 1970 to 8999.
    """
    if not 1970 <= moment.year < 9000:
        raise ValidationError([Fault("bad-moment", "This must be a time in the years 1970 to 8999.")])


class Moment(fields.AwareDateTime):
    """A time with its zone, in ISO 8601."""

    default_error_messages = messages(
        invalid=Fault("bad-moment", f"This is not a time in ISO 8601. {_A_TIME}"),
        invalid_awareness=Fault("bad-moment", f"The time has no zone. {_A_TIME}"),
    )

    def __init__(self, **options: Any) -> None:
        super().__init__(format="iso", validate=check_year, **options)


class Nested(fields.Nested):
    """An object, which its own schema checks."""

    default_error_messages = messages(type=Fault("wrong-type", "This must be an object."))


class Listed(fields.List[Member]):
    """A list, whose length is checked before its entries: a million faulty ones need no look."""

    default_error_messages = messages(invalid=Fault("wrong-type", "This must be a list."))

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> list[Any]:
        if isinstance(value, list):
            self._validate(value)
        return super()._deserialize(value, attr, data, **options)


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
        shown = str(value)[: errors.LONGEST_SHOWN]
        detail = f"Unknown value {shown!r}. Use one of: {self.choices_text}."
        raise ValidationError([Fault("bad-value", detail, self.choices, shown)])


def whole(least: int, most: int) -> Callable[..., fields.Integer]:
    """Return what makes the field of a whole number in a query string."""
    fault = Fault("bad-value", f"This must be a whole number from {least} to {most}.")
    shown = messages(invalid=fault, too_large=fault)
    return partial(fields.Integer, validate=validate.Range(least, most, error=fault), error_messages=shown)


def length(least: int | None, most: int | None, what: str) -> validate.Length:
    """Return the check that there are so many of something, of which `what` is the plural."""
    if least == most:
        return validate.Length(equal=least, error=Fault("bad-value", f"Give {least} {what}."))
    bounds = f"{least} or more" if most is None else f"at most {most}" if least is None else f"{least} to {most}"
    return validate.Length(min=least, max=most, error=Fault("bad-value", f"Give {bounds} {what}."))


def pattern(expression: str, code: str, detail: str) -> validate.Regexp:
    """Return the check that a string has a form, which `detail` describes."""
    return validate.Regexp(expression, error=Fault(code, detail))


ID_FORM = "An id has 1 to 60 letters, digits, `_`, `-` and `.`, and begins with a letter or digit."
MAX_MARGIN = 1_000_000
"""Largest margin: above any difference of scores, also of those without a range (crossing brackets)."""
Shape = Mapping[str, object]


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


class Fits(validate.Length):
    """A check of the characters and the length of a string."""

    def __init__(self, fits: Callable[[str], bool], fault: Fault, least: int | None, most: int) -> None:
        super().__init__(least, most, error=fault)
        self.fits = fits

    def __call__(self, value: Any) -> Any:
        """Return the string if it fits.

        Raises:
            ValidationError: it does not.
        """
        if not self.fits(value):
            raise ValidationError([self.error])
        return value


NAME = Fits(wording.is_name, Fault("bad-name", wording.NAME_RULE), 1, wording.MAX_NAME)
"""A name that people read: no control characters, not empty, of bounded length."""
SLUG = pattern(r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,59}\Z", "bad-id", ID_FORM)
"""An id that is part of a URL."""


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

    def __init__(self, least: int, most: int, code: str, **options: Any) -> None:
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


def bounded(least: int, most: int, code: str = "bad-value") -> Callable[..., Whole]:
    """Return what makes the field of a whole number in a body."""
    return partial(Whole, least, most, code)


class Positive(Checked):
    """A number above 0, of which `words` say the upper bound, as `bound` does in JSON Schema."""

    def __init__(self, bound: Mapping[str, int], words: str, **options: Any) -> None:
        super().__init__(**options)
        self.bound, self.words = bound, words

    def check(self, value: object) -> object:
        """A number, not a boolean, as a float."""
        most, above = (self.bound.get(name, inf) for name in ("maximum", "exclusiveMaximum"))
        if isinstance(value, bool) or not isinstance(value, int | float) or not (0 < value <= most and value < above):
            raise ValidationError([Fault("bad-value", f"This must be a number above 0 and {self.words}.")])
        return float(value)

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return {"type": "number", "exclusiveMinimum": 0, **self.bound}


Step = partial(Positive, {"maximum": 1}, "at most 1, as 0.01")
"""Makes the field of a step to which scores are rounded."""
Margin = partial(Positive, {"maximum": MAX_MARGIN}, f"at most {MAX_MARGIN}, in units of the score, as 0.01")
"""The same of a margin of non-inferiority, in units of the score."""
Fraction = partial(Positive, {"exclusiveMaximum": 1}, "below 1, as 0.5")
"""The same of a share of a whole, which leaves some of it."""


class Mapped(Checked):
    """An object of values of one field, by name; the use-case checks the names, unless `named`."""

    shape: ClassVar[Shape] = {"type": "object"}
    expected: ClassVar[str] = "an object"
    named: ClassVar[bool] = False

    def __init__(self, inner: fields.Field[Any], **options: Any) -> None:
        super().__init__(**options)
        self.inner = inner

    def check(self, value: object) -> object:
        """An object of what the field takes."""
        if not isinstance(value, dict):
            raise wrong_type(self.expected)
        loaded: dict[str, object] = {}
        faults: dict[str, object] = {}
        for name, member in value.items():
            try:
                if self.named:
                    NAME(name)
                loaded[name] = self.inner.deserialize(member)
            except ValidationError as error:
                faults[name] = error.messages
        if faults:
            raise ValidationError(faults)
        return loaded


class Either(Checked):
    """A value that one of several fields takes."""

    shape: ClassVar[Shape] = {}

    def __init__(self, kinds: Sequence[fields.Field[Any]], **options: Any) -> None:
        super().__init__(**options)
        self.kinds = kinds

    def check(self, value: object) -> object:
        """What the first of them takes."""
        for kind in self.kinds:
            with suppress(ValidationError):
                return kind.deserialize(value)
        raise wrong_type("one of several")


class OneText(String):
    """A text as a string, or one that was packed when it was received; as it is stored."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> Any:
        if isinstance(value, PackedText):
            return value
        return packed_text(super()._deserialize(value, attr, data, **options).encode())


class Text(Checked):
    """One text, or an object of texts for the format made of several."""

    shape: ClassVar[Shape] = {"oneOf": [{"type": "string"}, component("Texts")]}

    def __init__(self, texts: Schema, **options: Any) -> None:
        super().__init__(**options)
        self.texts = texts

    def check(self, value: object) -> object:
        """One text or several."""
        if isinstance(value, str | PackedText):
            return OneText().deserialize(value)
        if not isinstance(value, dict):
            raise wrong_type("a string, or an object of strings for a format of several texts")
        return self.texts.load(value)


class NameOr(Checked):
    """A component: its name, or an object with the name and options."""

    def __init__(self, schema: Schema, **options: Any) -> None:
        super().__init__(**options)
        self.schema = schema

    def check(self, value: object) -> object:
        """A name, or what the schema takes."""
        if isinstance(value, str):
            return NAME(value)
        if not isinstance(value, dict):
            raise wrong_type("a name, or an object with a name")
        return self.schema.load(value)

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return {"oneOf": [component("Name"), component(type(self.schema).__name__)]}


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

    def __init__(self, entries: Entries, **options: Any) -> None:
        super().__init__(**options)
        self.entries = entries

    def check(self, value: object) -> object:
        """A list of accepted entries; the error names the first other one."""
        if not isinstance(value, list):
            raise wrong_type("a list, one entry for each sentence of gold")
        wrong = self.entries.first_wrong(value)
        if wrong is not None:
            raise ValidationError({wrong: [Fault("wrong-type", f"This must be {self.entries.expected}.")]})
        return value

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of what `check` accepts."""
        return {"type": "array", "items": dict(self.entries.shape)}


class Columns(Mapped):
    """Columns by name."""

    shape: ClassVar[Shape] = {"type": "object", "propertyNames": component("Name")}
    expected = "an object of lists"
    named = True


def item_column(name: str) -> Callable[..., Checked]:
    """Return what makes the field of a member of `items`."""
    column = partial(Column, ITEMS[name])
    return (lambda **options: Columns(column(), **options)) if name in BY_NAME else column


_LINES = re.compile(r"[\t\r\n]")


def lines(most: int) -> Fits:
    """Return the check of lines that people read: so many printable characters, tabs and line ends at most."""
    fault = Fault("bad-value", f"This must be a text of at most {most} printable characters.")
    return Fits(lambda text: len(text) <= most and all(map(str.isprintable, _LINES.split(text))), fault, None, most)


NOTES = lines(requests.MAX_NOTES)
ADDRESS_FORM = r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?([/?#][A-Za-z0-9!#$%&'()*+,./:;=?@_~-]*)?"
ADDRESS = pattern(
    rf"\A(?=.{{0,{requests.MAX_ADDRESS}}}\Z){ADDRESS_FORM}\Z",
    "bad-address",
    f"This must be an address of at most {requests.MAX_ADDRESS} characters that begins with https://, in ASCII, as "
    "https://example.org/paper.pdf. Write other characters as %C3%A9.",
)
"""The address of a page that others follow: https, in ASCII, without a name and password."""
