"""Rows of slices as columns: a value, counts, and scores, most of which are quotients of the counts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from treescore.core.arrays import Counts, FloatArray
from treescore.core.columns import (
    Anything,
    Column,
    Documents,
    Numbers,
    Quotients,
    Records,
    Shared,
    Some,
    Strings,
    nullable,
)
from treescore.core.params import Json
from treescore.core.scores import ScoreTable
from treescore.core.values import whole

_Name = TypeVar("_Name", bound=Hashable)

_EXACT = 2**53
"""Below this limit float64 holds every whole number."""


def rows_of(value: Column, counts: Mapping[str, Column], scores: Mapping[str, Column], **more: Column) -> Documents:
    """Return one row per value from columns of counts and of scores, dots in their names nested, and further members.

    Arrays that stand in several columns are stored once where they are the same object.
    """
    return Documents(Records({"value": value, "counts": nested(counts), "scores": nested(scores), **more}))


def stacked_rows(
    values: Mapping[_Name, Column], counts: Mapping[str, Column], scores: Mapping[str, Column], **more: Column
) -> dict[_Name, Documents]:
    """Return the rows of several groupings, by name.

    Args:
        values: grouping -> the values of its rows.
        counts: columns of the rows of all groupings, one grouping after another, as `rows_of` takes them.
        scores: likewise.
        more: further members, likewise.
    """
    columns = {"counts": nested(counts), "scores": nested(scores), **more}
    rows: dict[_Name, Documents] = {}
    start = 0
    for name, of_rows in values.items():
        stop = start + len(of_rows)
        shared = {member: Shared(start, stop, column) for member, column in columns.items()}
        rows[name] = Documents(Records({"value": of_rows, **shared}))
        start = stop
    return rows


def counts_and_scores(table: ScoreTable, totals: Counts) -> tuple[dict[str, Column], dict[str, Column]]:
    """Return the counts (rows, k) and the scores of a table by name; scores are null where undefined."""
    columns: Counts = np.ascontiguousarray(totals.T)  # type: ignore[assignment]
    equal: dict[bytes, Counts] = {}
    arrays: list[Any] = [equal.setdefault(column.tobytes(), column) for column in columns]
    counts = {name: whole_numbers(array) for name, array in zip(table.count_names, arrays, strict=True)}
    quotients = table.quotients if totals.dtype.kind == "i" else {}
    scores: dict[str, Column] = {}
    values: FloatArray | None = None
    for place, score in enumerate(table.scores):
        if score.name in quotients:
            above, below = quotients[score.name]
            scores[score.name] = Quotients([arrays[column] for column in above], [arrays[column] for column in below])
        else:
            values = table.of_columns(columns) if values is None else values
            scores[score.name] = real_numbers(values[place])
    return counts, scores


def nested(columns: Mapping[str, Column]) -> Records:
    """Nest columns by name: one with dots becomes a member of objects in objects."""
    inner: dict[str, dict[str, Column]] = {}
    for name, column in columns.items():
        head, _, rest = name.partition(".")
        inner.setdefault(head, {})[rest] = column
    return Records({head: below[""] if "" in below else nested(below) for head, below in inner.items()})


def real_numbers(values: FloatArray) -> Column:
    """Return scores, float64 (n,), as a column; NaN is null."""
    known = ~np.isnan(values)
    return nullable(known, Numbers(values if known.all() else values[known]))


def whole_numbers(values: Counts) -> Column:
    """Return counts (n,) as a column; those that are whole numbers are integers."""
    if values.dtype.kind == "i":
        return Numbers(values)
    is_whole = values == np.rint(values)
    if is_whole.all() and np.abs(values).max(initial=0) < _EXACT:
        return Numbers(values.astype(np.int64))
    return Anything(list(map(whole, values.tolist()))) if is_whole.any() else Numbers(values)


def column_of(values: Sequence[Json]) -> Column:
    """Turn JSON values of one kind, some of which may be null, into a column; others stay as they are."""
    kinds = set(map(type, values))
    if type(None) in kinds and len(kinds) > 1:
        known = np.array([value is not None for value in values], np.bool_)
        return Some(known, column_of([value for value in values if value is not None]))
    if kinds == {int}:
        return Numbers(np.array(values)) if all(-(2**63) <= value < 2**63 for value in values) else Anything(values)
    if kinds == {float}:
        return Numbers(np.array(values))
    if kinds == {str}:
        numbers: dict[str, int] = {}
        return Strings(np.array([numbers.setdefault(value, len(numbers)) for value in values]), list(numbers))
    if kinds == {dict} and values[0] and len({tuple(value) for value in values}) == 1:
        return Records({name: column_of([value[name] for value in values]) for name in values[0]})
    return Anything(values)
