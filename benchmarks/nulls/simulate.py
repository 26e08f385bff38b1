"""Repeat the experiments of all tables on many data sets, in several processes."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from nulls import families, intervals, margins, parts, picking, runs, units
from nulls.tables import Table, cell, header

TABLES: dict[str, Table] = {
    table.key: table
    for module in (units, runs, picking, parts, families, margins, intervals)
    for table in module.TABLES
}
BLOCK = 25
"""Data sets that one process does at once."""


@dataclass(frozen=True, slots=True)
class Block:
    """Data sets `start` to `stop` of one row of a table."""

    key: str
    row: int
    seed: int
    start: int
    stop: int


def counted(block: Block) -> dict[str, int]:
    """Count for each column the data sets of which the event is true.

    Each data set has a generator of its own, so the counts depend neither on the blocks nor on the processes.
    """
    row = TABLES[block.key].rows[block.row]
    place = zlib.crc32(f"{block.key}/{row.name}".encode())
    counts: dict[str, int] = {}
    for dataset in range(block.start, block.stop):
        for column, event in row.experiment(np.random.default_rng([block.seed, place, dataset])).items():
            counts[column] = counts.get(column, 0) + bool(event)
    return counts


def simulated(table: Table, datasets: int, seed: int, pool: ProcessPoolExecutor) -> Iterator[str]:
    """Simulate a table and yield its lines in Markdown, each as soon as it is known."""
    yield from header(table)
    sizes = [max(1, datasets // row.share) for row in table.rows]
    starts = [range(0, size, BLOCK) for size in sizes]
    blocks = [
        Block(table.key, row, seed, start, min(start + BLOCK, sizes[row]))
        for row in range(len(table.rows))
        for start in starts[row]
    ]
    found = pool.map(counted, blocks)
    for row, size, of_row in zip(table.rows, sizes, starts, strict=True):
        counts: Counter[str] = Counter()
        for _ in of_row:
            counts.update(next(found))
        cells = [cell(counts[name], size, row.goal) if name in counts else "" for name in table.columns]
        yield f"| {row.name} | {' | '.join(cells)} |"
