"""Derive the marshmallow schema of a request or an answer from its type.

A frozen dataclass is a request, a TypedDict an object of JSON. What a type alone cannot say stands in `Annotated`: the
class of a field or what makes one, checks of marshmallow, a name (`Named`), more words of JSON Schema (`Says`). A
member of a dataclass whose default is None may be left out; that null says the same, `Null` among its types says. In a
TypedDict, and beside MISSING, None is null.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Generic, NotRequired, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from marshmallow import fields, validate
from typing_extensions import TypedDict, is_typeddict

from service.contract.fields import Either, Flag, Listed, Mapped, Moment, Nested, Open, Setting, Strict, String
from service.requests import Missing, Query

Kind = TypeVar("Kind")
Item = TypeVar("Item")
Null: TypeAlias = Annotated[None, "null"]
"""Beside a default of None: null may be given, and says the same."""
Field: TypeAlias = fields.Field[Any]


@dataclass(frozen=True, slots=True)
class Named:
    """A type that openapi.yaml has under a name, with its description."""

    name: str
    words: str = ""


class Says:
    """Words of JSON Schema that openapi.yaml adds to a member of an answer."""

    def __init__(self, **words: object) -> None:
        self.words = words


Next: TypeAlias = Annotated[str, Named("Next", "Cursor of the next page; null on the last page.")]
OVERLAPPING = "anyOf"
"""Among the notes of a union: a value may be of several of its types."""
APART: Mapping[str, bool] = {"apart": True}
"""Metadata of a member of a request that its document does not have."""


class Page(TypedDict, Generic[Item]):
    """A page of a list."""

    items: Sequence[Item]
    next: Next | None


def inline(kind: type[Kind]) -> type[Kind]:
    """Mark an object that stands where it is used: openapi.yaml has no name for it."""
    return _marked(kind, "inline")


def closed(kind: type[Kind]) -> type[Kind]:
    """Mark an object of a request: it has only the members that it declares. Dataclasses need no mark."""
    return _marked(kind, "closed")


def more(kind: type[Kind]) -> type[Kind]:
    """Mark an object that may have members beside those that it declares."""
    return _marked(kind, "more")


def checked_by(schema: type[Strict[Any]]) -> Callable[[type[Kind]], type[Kind]]:
    """Mark a request that a schema with checks of several members loads."""

    def mark(kind: type[Kind]) -> type[Kind]:
        return _marked(kind, "base", schema)

    return mark


def described_by(words: Mapping[str, str]) -> Callable[[type[Kind]], type[Kind]]:
    """Mark a type whose members, by name, are described elsewhere than in its docstring."""

    def mark(kind: type[Kind]) -> type[Kind]:
        return _marked(kind, "words", words)

    return mark


def _marked(kind: type[Kind], mark: str, value: object = True) -> type[Kind]:  # noqa: FBT002 - the value of a mark
    setattr(kind, f"_contract_{mark}", value)
    return kind


def mark_of(kind: type, mark: str) -> Any:
    """Return what `inline`, `more` or `checked_by` said of a type itself; None for nothing."""
    return vars(get_origin(kind) or kind).get(f"_contract_{mark}")


def schema_of(kind: type[Kind]) -> Strict[Kind]:
    """Return the schema that loads a type; making it takes longer than using it."""
    named: Any = kind
    made: Strict[Kind] = _schema(named)
    return made


@cache
def _schema(kind: Any) -> Strict[Any]:
    return schema_class(kind)()


@cache
def schema_class(kind: Any) -> type[Strict[Any]]:
    """Return the class of the schema that loads a type."""
    base = mark_of(kind, "base") or (Open if mark_of(kind, "more") else Strict)
    meta = type("Meta", (base.Meta,), {"include": dict(_fields(kind))})  # there a member may be called as a method is
    into = dict if is_typeddict(get_origin(kind) or kind) else kind
    return type(kind.__name__, (base,), {"Meta": meta, "into": into, "kind": kind, "__doc__": kind.__doc__})


def _fields(kind: type) -> Iterator[tuple[str, Field]]:
    origin: Any = get_origin(kind) or kind
    hints = get_type_hints(origin, include_extras=True)
    if not is_typeddict(origin):
        for member in dataclasses.fields(origin):
            if "apart" not in member.metadata:
                yield member.name, _of_request(hints[member.name], member.default, query=issubclass(kind, Query))
        return
    bound = dict(zip(getattr(origin, "__parameters__", ()), get_args(kind), strict=True))
    for name, hint in hints.items():
        optional = get_origin(hint) is NotRequired
        given = get_args(hint)[0] if optional else hint
        yield name, field_of(_bound(given, bound), required=name in origin.__required_keys__ and not optional)


def _bound(hint: Any, bound: Mapping[Any, Any]) -> Any:
    return hint[tuple(bound[each] for each in hint.__parameters__)] if getattr(hint, "__parameters__", ()) else hint


def _of_request(hint: Any, default: object, *, query: bool) -> Field:
    options: dict[str, Any] = {"required": default is dataclasses.MISSING}
    kinds = _union(hint)
    if default is None:
        options["allow_none"] = any(each == Null for each in kinds)
        kinds = [each for each in kinds if each not in (Null, NoneType)]
    if query and default not in (None, dataclasses.MISSING):
        options["load_default"] = default
    return field_of(Union[tuple(each for each in kinds if each is not Missing)], **options)  # noqa: UP007 - made here


def _union(hint: Any) -> list[Any]:
    return list(get_args(hint)) if get_origin(hint) in (Union, UnionType) else [hint]


def field_of(hint: Any, **options: Any) -> Field:
    """Return the field of an annotation."""
    kinds = _union(hint)
    if NoneType in kinds or Null in kinds:
        options["allow_none"] = True
        kinds = [each for each in kinds if each not in (Null, NoneType)]
    return _plain(kinds[0], options) if len(kinds) == 1 else Either([field_of(each) for each in kinds], **options)


def _plain(hint: Any, options: dict[str, Any]) -> Field:
    origin = get_origin(hint)
    if origin is Annotated:
        return _annotated(hint, options)
    if origin is Sequence:
        return Listed(field_of(get_args(hint)[0]), **options)
    if origin is Mapping:
        return Mapped(field_of(get_args(hint)[1]), **options)
    if is_typeddict(origin or hint) or dataclasses.is_dataclass(hint):
        return Nested(schema_class(hint), **options)
    return _SCALARS[hint](**options)


_SCALARS: Mapping[Any, Callable[..., Field]] = {
    str: String, bool: Flag, int: fields.Integer, float: fields.Float, datetime: Moment, object: Setting,
}  # fmt: skip


def _annotated(hint: Any, options: dict[str, Any]) -> Field:
    kind, *notes = get_args(hint)
    says: dict[str, object] = {}
    checks: list[validate.Validator] = []
    make: Callable[..., Field] | None = None
    for note in notes:
        if isinstance(note, Named):
            says["named"] = note
        elif isinstance(note, Says):
            says["says"] = note.words
        elif isinstance(note, validate.Validator):
            checks.append(note)
        elif note is OVERLAPPING:
            says["word"] = note
        else:
            make = note
    if checks:
        options["validate"] = checks
    made = field_of(kind, **options) if make is None else make(**options)
    made.metadata = {**made.metadata, **says}
    return made
