"""Slices as columns: counts as integers, scores as the quotients of counts that they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

import numpy as np

from service.store.packed_columns import pack_columns, unpack_columns
from treescore.core.arrays import IntArray
from treescore.core.columns import Anything, Column, Lists, Numbers, Quotients, Records, Some, Strings
from treescore.core.params import Json

Rows = Sequence[Mapping[str, Json]]

MANY_ROWS = 16
"""From how many rows on the quotients among scores are worth looking for."""


class Slices(Mapping[str, Sequence[dict[str, object]]]):
    """Grouping name -> its rows, made when asked."""

    def __init__(self, names: Sequence[str], rows_of: Callable[[str], Sequence[dict[str, object]]]) -> None:
        self._names, self._rows_of = names, rows_of

    def __getitem__(self, name: str) -> Sequence[dict[str, object]]:
        if name not in self._names:
            raise KeyError(name)
        return self._rows_of(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def pack_slices(slices: Mapping[str, Rows]) -> bytes:
    """Pack the rows of all groupings."""
    tables = {name: _table(list(rows)) for name, rows in slices.items()}
    return pack_columns(Records({name: Lists(np.array([0, len(table)]), table) for name, table in tables.items()}))


def unpack_slices(body: bytes) -> Slices:
    """Unpack what `pack_slices` has packed."""
    columns = unpack_columns(body).members

    def rows_of(name: str) -> list[dict[str, object]]:
        [rows] = columns[name].documents(0, 1)
        return cast("list[dict[str, object]]", rows)

    return Slices(list(columns), rows_of)


def _table(rows: Rows) -> Column:
    """Turn the rows of one grouping into columns."""
    column = _column(rows)
    if not isinstance(column, Records) or len(rows) < MANY_ROWS:
        return column
    members = column.members
    counts, scores = members.get("counts"), members.get("scores")
    if isinstance(counts, Records) and isinstance(scores, Records):
        numbers = [each.values for each in counts.members.values() if isinstance(each, Numbers)]
        integers = [cast("IntArray", each) for each in numbers if each.dtype.kind == "i"]
        found = {name: _quotient(each, integers) for name, each in scores.members.items()}
        return Records({**members, "scores": Records(found)})
    return column


def _quotient(score: Column, counts: Sequence[IntArray]) -> Column:
    """Return a score as the quotient of two counts if it is one in each row, bit for bit; else as it is."""
    known, values = (score.known, score.of) if isinstance(score, Some) else (np.ones(len(score), np.bool_), score)
    if not isinstance(values, Numbers) or values.values.dtype.kind != "f" or not counts:
        return score
    # a row whose value few pairs of counts share: most pairs are ruled out by it alone
    rare = int(np.argmin(np.abs(values.values - 0.6)))
    row = np.array([count[np.flatnonzero(known)[rare]] for count in counts])
    with np.errstate(divide="ignore", invalid="ignore"):
        pairs = np.argwhere(row[:, None] / row == values.values[rare])
    for above, below in pairs.tolist():
        divisors = counts[below]
        if np.array_equal(divisors != 0, known):
            quotients = counts[above][known] / divisors[known]
            if np.array_equal(quotients.view(np.int64), values.values.view(np.int64)):
                return Quotients(counts[above], divisors)
    return score


def _column(values: Sequence[Json]) -> Column:
    """Turn JSON values of one kind, some of which may be null, into a column; others stay as they are."""
    kinds = set(map(type, values))
    if type(None) in kinds and len(kinds) > 1:
        known = np.array([value is not None for value in values], np.bool_)
        return Some(known, _column([value for value in values if value is not None]))
    if kinds == {int}:
        return Numbers(np.array(values)) if all(-(2**63) <= value < 2**63 for value in values) else Anything(values)
    if kinds == {float}:
        return Numbers(np.array(values))
    if kinds == {str}:
        numbers: dict[str, int] = {}
        return Strings(np.array([numbers.setdefault(value, len(numbers)) for value in values]), list(numbers))
    if kinds == {dict} and len({tuple(value) for value in values}) == 1:
        return Records({name: _column([value[name] for value in values]) for name in values[0]})
    return Anything(values)
