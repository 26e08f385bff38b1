"""Filters of errors: which relation, part of speech, label, length of sentence, sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

from treescore.core.params import Json
from treescore.errors import InputError, Problem

Values = str | Sequence[str]
SentenceName = int | str


class Filters(TypedDict, total=False):
    """Which errors are shown; where several are given, all must hold.

    Attributes:
        deprel: relation, of gold or of the output; `obl` stands for its subtypes too, `obl:tmod` for itself.
        upos: part of speech of gold's word.
        label: of a bracket or in a lineage; `NP` stands for `NP-SBJ` too.
        length: words of gold's sentence: a number or a range (`"10-20"`, `"10-"`, `"-20"`).
        sentence: numbers from 1, or names (`sent_id`), of sentences.
    """

    deprel: Values
    upos: Values
    label: Values
    length: int | str
    sentence: SentenceName | Sequence[SentenceName]


def _is_relation(value: str, asked: str) -> bool:
    return value == asked or value.startswith(f"{asked}:")


def _is_label(value: str, asked: str) -> bool:
    from treescore.transforms.strip_functions import base_label  # noqa: PLC0415 - for labels alone

    return asked in (value, base_label(value))


def _is_same(value: str, asked: str) -> bool:
    return value == asked


MATCHES: Mapping[str, Callable[[str, str], bool]] = {"deprel": _is_relation, "label": _is_label, "upos": _is_same}
"""Filter of a metric -> whether a value of an error is what was asked."""
OF_SENTENCES = ("length", "sentence")
"""Filters of every metric."""


def values_of(name: str, value: Json) -> tuple[str, ...]:
    """Return the values that a filter of a metric asks for. Raises InputError."""
    values = (value,) if isinstance(value, str) else value
    if not isinstance(values, (list, tuple, set, frozenset)) or not values or not all(map(_is_text, values)):
        detail = f"Invalid {name} {value!r}. Give a string, or a list of strings."
        raise InputError(Problem("bad-parameter", detail, pointer=f"/{name}"))
    return tuple(values)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


_RANGE = re.compile(r"(\d{0,9})-(\d{0,9})", re.ASCII)
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)


def bounds_of(length: int | str) -> tuple[float, float]:
    """Return the bounds of a filter by length. Raises InputError."""
    words = str(length).strip()
    if not isinstance(length, bool) and _NUMBER.fullmatch(words):
        return int(words), int(words)
    found = _RANGE.fullmatch(words)
    if found is None or found.group() == "-":
        detail = f'Invalid length {length!r}. Give a number of words, or a range as in "10-20", "10-" or "-20".'
        raise InputError(Problem("bad-parameter", detail, pointer="/length"))
    low, high = found.groups()
    return int(low or 0), int(high) if high else float("inf")
