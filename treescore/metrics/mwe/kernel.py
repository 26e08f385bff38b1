"""Exact pairing of greatest weight, compiled: shortest augmenting paths over the edges that there are."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.jit import compiled

ALONE = -1
"""Partner of a row or column that has none."""
_FAR = 1 << 30
"""More than any distance, which is at most the sum of all weights."""


class _Search(NamedTuple):
    """What the search knows, for r rows and c columns.

    Attributes:
        row_prices, column_prices: of the dual problem; no edge costs less than the sum at its ends. int64 (r,), (c,).
        column_of, row_of: partners so far, int64 (r,), (c,).
        distances: from the row that is being placed, _FAR where not reached, int64 (c,).
        paths: the row from which each column was reached, int64 (c,).
        done: whether the distance of a column is final, bool (c,).
        reached: the columns reached, in order, int64 (c,).
        visited: the rows visited, in order, int64 (r,).
    """

    row_prices: IntArray
    column_prices: IntArray
    column_of: IntArray
    row_of: IntArray
    distances: IntArray
    paths: IntArray
    done: BoolArray
    reached: IntArray
    visited: IntArray


@compiled
def paired(starts: IntArray, columns: IntArray, weights: IntArray, size: int, steps: int) -> tuple[IntArray, int]:
    """Pair rows with columns one to one so that the sum of weights is greatest; some may stay alone.

    The Hungarian method in the form of Jonker & Volgenant 1987 on sparse edges: one row after the other takes the
    cheapest path of edges outside and inside the pairing, to a free column or to a row that is better left alone.

    Args:
        starts: row i has the edges `starts[i]:starts[i + 1]`, int64 (r + 1,).
        columns: where each edge leads, int64 (e,).
        weights: positive, int64 (e,).
        size: how many columns there are.
        steps: edges that may be looked at.

    Returns:
        The column of each row, ALONE for none, int64 (r,); and -1, or the row at which the steps were used up, then the
        columns are of no use.
    """
    rows = len(starts) - 1
    search = _Search(
        np.zeros(rows, np.int64),
        np.zeros(size, np.int64),
        np.full(rows, ALONE, np.int64),
        np.full(size, ALONE, np.int64),
        np.full(size, _FAR, np.int64),
        np.full(size, ALONE, np.int64),
        np.zeros(size, np.bool_),
        np.zeros(size, np.int64),
        np.zeros(rows, np.int64),
    )
    for row in range(rows):
        steps = _place(row, starts, columns, weights, search, steps)
        if steps < 0:
            return search.column_of, row
    return search.column_of, -1


@compiled
def _place(row: int, starts: IntArray, columns: IntArray, weights: IntArray, search: _Search, steps: int) -> int:
    """Find the cheapest path from a row, and pair along it; return the steps that are left."""
    size = len(search.row_of)
    heap = [np.int64(0) for _ in range(0)]
    low, current, sink = 0, row, ALONE
    alone, least = row, _FAR
    visited, reached = 0, 0
    while True:
        search.visited[visited] = current
        visited += 1
        if low - search.row_prices[current] < least:
            alone, least = current, int(low - search.row_prices[current])
        for edge in range(starts[current], starts[current + 1]):
            column = columns[edge]
            distance = int(low - weights[edge] - search.row_prices[current] - search.column_prices[column])
            if search.done[column] or distance >= search.distances[column]:
                continue
            if search.distances[column] == _FAR:
                search.reached[reached] = column
                reached += 1
            search.distances[column] = distance
            search.paths[column] = current
            taken = search.row_of[column] != ALONE  # of the nearest columns a free one ends the search
            heappush(heap, ((distance + _FAR) * 2 + taken) * size + column)
        steps -= int(starts[current + 1] - starts[current]) + 1
        nearest = ALONE
        while heap and nearest == ALONE:
            column = int(heappop(heap)) % size
            if not search.done[column]:
                nearest = column
        if nearest == ALONE or least <= search.distances[nearest]:
            low = least
            break
        low = int(search.distances[nearest])
        search.done[nearest] = True
        if search.row_of[nearest] == ALONE:
            sink = nearest
            break
        current = int(search.row_of[nearest])
        if steps < 0:
            return steps
    _reprice(row, low, visited, reached, search)
    _exchange(row, sink, alone, search)
    return steps


@compiled
def _reprice(row: int, low: int, visited: int, reached: int, search: _Search) -> None:
    """Bring the prices up to the length of the path, and forget the distances."""
    for place in range(visited):
        each = search.visited[place]
        search.row_prices[each] += low if each == row else low - search.distances[search.column_of[each]]
    for place in range(reached):
        column = search.reached[place]
        if search.done[column]:
            search.column_prices[column] -= low - search.distances[column]
        search.distances[column] = _FAR
        search.done[column] = False


@compiled
def _exchange(row: int, sink: int, alone: int, search: _Search) -> None:
    """Pair along the path to a column, or to a row that is left alone."""
    column = sink
    if sink == ALONE:
        if alone == row:
            return
        column = search.column_of[alone]
        search.column_of[alone] = ALONE
    while True:
        owner = search.paths[column]
        before = search.column_of[owner]
        search.column_of[owner] = column
        search.row_of[column] = owner
        if owner == row:
            return
        column = before
