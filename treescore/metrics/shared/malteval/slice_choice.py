"""Check the groupings and MaltEval metrics that a request names for its slices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from treescore.core.params import Json, Param
from treescore.errors import InputError, Problem, ProblemList
from treescore.metrics.shared.groupings import GROUPINGS
from treescore.metrics.shared.malteval.complex_groupings import Attributes, ComplexGrouping
from treescore.metrics.shared.malteval.error_groupings import ERROR_GROUPINGS
from treescore.metrics.shared.malteval.right_words import METRICS

MAX_GROUPINGS = 8
"""The most complex groupings of one request; each may have as many rows as are shown of a grouping."""

MAX_ATTRIBUTES = 8
MAX_OFFSET = 100

_MAX_NAME = 200
_MAX_NAMES = 64
_OFFSET = re.compile(r"[+-]?[0-9]{1,3}")
_NAMES = {
    "type": ["array", "string"],
    "items": {"type": "string", "maxLength": _MAX_NAME},
    "maxItems": _MAX_NAMES,
    "maxLength": _MAX_NAMES * _MAX_NAME,
}

SLICE_PARAMS: Mapping[str, Param] = {
    "groupings": Param(
        _NAMES,
        default=[],
        doc="Slices by several attributes together, beside all simple ones, which are always included: names joined by "
        "`#`, each with `@` and the position of the word it applies to, relative to the word (`Cpostag@-1#Wordform@0`;"
        " without `@`, the word itself); names at one position are joined by `,`. A list, or a text with `;` between "
        f"groupings. Names: {', '.join(GROUPINGS)}.",
    ),
    "slice_metrics": Param(
        _NAMES,
        default=[],
        doc="Further metrics in rows of slices, by MaltEval's names; PreAndPost, Clustering and Clustering2 use the "
        "first as their definition of an error, LAS where none is named. A list, or a text with `;`."
        f" Names: {', '.join(METRICS)}.",
    ),
}


@dataclass(frozen=True, slots=True)
class SliceChoice:
    """What a request wants in its slices beside the defaults.

    Attributes:
        groupings: complex groupings by the name in the request.
        metrics: names of right_words.METRICS, each once.
    """

    groupings: Mapping[str, ComplexGrouping] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()


def slice_choice(values: Mapping[str, Json]) -> SliceChoice:
    """Parse the values of SLICE_PARAMS.

    Raises:
        InputError: `unknown-grouping`, `bad-grouping`, `too-many-groupings`, `unknown-slice-metric`, each with its
            pointer.
    """
    problems = ProblemList()
    groupings: dict[str, ComplexGrouping] = {}
    for pointer, name in _names("groupings", values):
        try:
            grouping = complex_grouping(name, pointer)
        except InputError as error:
            problems.extend(error.problems)
            continue
        if grouping is not None:
            groupings[name] = grouping
    if len(groupings) > MAX_GROUPINGS:
        detail = f"{len(groupings)} complex groupings exceed {MAX_GROUPINGS}. Split them over several jobs."
        problems.add(Problem("too-many-groupings", detail, pointer="/groupings"))
    metrics: dict[str, None] = {}
    for pointer, name in _names("slice_metrics", values):
        metrics[name] = None
        if name not in METRICS:
            detail = f"Unknown slice metric {_short(name)}. Choose from: {', '.join(METRICS)}."
            problems.add(Problem("unknown-slice-metric", detail, pointer=pointer))
    problems.raise_if_any()
    return SliceChoice(groupings, tuple(metrics))


def complex_grouping(name: str, pointer: str = "") -> ComplexGrouping | None:
    """Parse a name such as `Cpostag@-1#Wordform@0`; None for the name of a simple grouping.

    Raises:
        InputError: `unknown-grouping`, `bad-grouping`.
    """
    if name in GROUPINGS or name in ERROR_GROUPINGS:
        return None
    parts = tuple(_part(part, name, pointer) for part in name.split("#"))
    attributes = sum(len(part.names) for part in parts)
    if attributes > MAX_ATTRIBUTES:
        detail = f"The grouping {_short(name)} joins {attributes} attributes, which exceeds {MAX_ATTRIBUTES}."
        raise InputError(Problem("bad-grouping", detail, pointer=pointer))
    return ComplexGrouping(parts)


def _part(text: str, grouping: str, pointer: str) -> Attributes:
    joined, at, offset = text.partition("@")
    if at and (not _OFFSET.fullmatch(offset) or abs(int(offset)) > MAX_OFFSET):
        detail = (
            f"Invalid offset {_short(offset)} in the grouping {_short(grouping)}. Write a number from -{MAX_OFFSET} to "
            f"{MAX_OFFSET} after `@`, as in Cpostag@-1#Wordform@0."
        )
        raise InputError(Problem("bad-grouping", detail, pointer=pointer))
    names = tuple(joined.split(","))
    for name in names:
        if name in ERROR_GROUPINGS:
            detail = f"{name} groups by errors nearby and cannot be joined with others, as in {_short(grouping)}."
            raise InputError(Problem("bad-grouping", detail, pointer=pointer))
        if name not in GROUPINGS:
            choices = ", ".join((*GROUPINGS, *ERROR_GROUPINGS))
            where = "" if name == grouping else f" (in {_short(grouping)})"
            detail = (
                f"Unknown grouping {_short(name)}{where}. Choose from: {choices}; or join several, as in "
                "Cpostag@-1#Wordform@0."
            )
            raise InputError(Problem("unknown-grouping", detail, pointer=pointer))
    return Attributes(names, int(offset) if at else 0)


def _names(parameter: str, values: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield each name with its pointer; texts are split at `;`."""
    option = values[parameter]
    texts = [(f"/{parameter}", option)] if isinstance(option, str) else _pointed(parameter, option)
    for pointer, text in texts:
        for name in text.split(";"):
            yield pointer, name.strip()


def _pointed(parameter: str, names: list[str]) -> list[tuple[str, str]]:
    return [(f"/{parameter}/{number}", name) for number, name in enumerate(names)]


def _short(name: str) -> str:
    return repr(name if len(name) <= 80 else name[:77] + "...")
