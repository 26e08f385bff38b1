"""Slices as columns: counts as integers, scores as the quotients of counts that they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, cast

import numpy as np

from service.store.packed_columns import pack_columns, unpack_columns
from treescore.core.arrays import FloatArray, IntArray
from treescore.core.columns import Anything, Column, Lists, Numbers, Quotients, Records, Some, Strings
from treescore.core.params import Json

Rows = Sequence[Mapping[str, Json]]

MANY_ROWS = 16
"""From how many rows on the quotients among scores are worth looking for."""
MOST_PAIRED = 8
"""Counts of one object whose pairs are tried as divisors."""
MOST_TRIED = 50
"""Quotients that are compared with a score in all rows."""


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
        terms = _Terms(counts)
        return Records(
            {**members, "scores": Records({name: terms.quotient(of) for name, of in scores.members.items()})}
        )
    return column


class _Terms:
    """What scores are quotients of: a count, or twice that, over a count, or over two that stand in one object."""

    def __init__(self, counts: Records) -> None:
        inner = [each for each in counts.members.values() if isinstance(each, Records)]
        groups = [_integers(each) for each in (counts, *inner)]
        self._above = [[count] * times for group in groups for count in group for times in (1, 2)]
        self._below = [[count] for group in groups for count in group]
        self._below += [[one, other] for group in groups for one, other in combinations(group[:MOST_PAIRED], 2)]
        self._dividends, self._divisors = (
            np.array([np.sum(terms, axis=0) for terms in side]) for side in (self._above, self._below)
        )

    def quotient(self, score: Column) -> Column:
        """Return a score as the quotient that it is in each row, bit for bit; else as it is."""
        known, values = (score.known, score.of) if isinstance(score, Some) else (np.ones(len(score), np.bool_), score)
        if not isinstance(values, Numbers) or values.values.dtype.kind != "f" or not len(values) or not self._below:
            return score
        # a row whose value few quotients share rules most of them out
        rare = int(np.argmin(np.abs(values.values - 0.6)))
        row = int(np.flatnonzero(known)[rare])
        with np.errstate(divide="ignore", invalid="ignore"):
            pairs = np.argwhere(self._dividends[:, row, None] / self._divisors[:, row] == values.values[rare])
        for above, below in pairs[:MOST_TRIED].tolist():
            divisors = self._divisors[below]
            if np.array_equal(divisors != 0, known):
                quotients = self._dividends[above][known] / divisors[known]
                if np.array_equal(quotients.view(np.int64), values.values.view(np.int64)):
                    return Quotients(self._above[above], self._below[below])
        return score


def _integers(counts: Records) -> list[IntArray]:
    numbers = [each.values for each in counts.members.values() if isinstance(each, Numbers)]
    return [cast("IntArray", each) for each in numbers if each.dtype.kind == "i"]


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
    if kinds == {dict} and values[0] and len({tuple(value) for value in values}) == 1:
        names = tuple(values[0])
        return Records(_figures(names, values) or {name: _column([value[name] for value in values]) for name in names})
    return Anything(values)


def _figures(names: Sequence[str], values: Sequence[Mapping[str, Json]]) -> dict[str, Column] | None:
    """Turn objects all of whose members are integers, or all real numbers or null, into columns; else None."""
    figures = [figure for value in values for figure in value.values()]
    kinds = set(map(type, figures))
    if kinds != {int} and not kinds <= {float, type(None)}:
        return None
    try:
        table: Any = np.array(figures, np.int64 if kinds == {int} else np.float64).reshape(len(values), len(names))
    except OverflowError:
        return None
    return {name: _known_alone(np.ascontiguousarray(column)) for name, column in zip(names, table.T, strict=True)}


def _known_alone(values: IntArray | FloatArray) -> Column:
    if values.dtype.kind == "i" or not np.isnan(values).any():
        return Numbers(values)
    known = ~np.isnan(values)
    return Some(known, Numbers(values[known]))
