"""Tables on a terminal: long cells are shortened so that lines do not break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len, set_cell_size

from treescore.render.tables import Table

LEAST = 12
"""Columns of the terminal that a shortened cell keeps."""
GAP = 2
MARK = "…"
SPARED = "sent id"
"""Head of the column that is left out where nothing else helps: the number of the sentence stands beside it."""


def fitted(table: Table, width: int) -> Table:
    """Return a table whose lines fit the terminal, as far as shortening cells of text can do it; else as it is.

    Args:
        table: the table.
        width: columns of the terminal.
    """
    lines = [table.heads, *table.cells]
    widths = [max(cell_len(cell) for cell in column) for column in zip(*lines, strict=True)]
    excess = sum(widths) + GAP * (len(widths) - 1) - width
    while excess > 0:
        column = _widest(widths, table)
        if column is None:
            return fitted(_without(table, SPARED), width) if SPARED in table.heads else table
        widths[column] -= 1
        excess -= 1
    rows = [
        [
            _cut_inside(cell, size) if head == SPARED else _cut_cell(cell, size)
            for head, cell, size in zip(table.heads, row, widths, strict=True)
        ]
        for row in table.cells
    ]
    return replace(table, rows=rows)


def _widest(widths: Sequence[int], table: Table) -> int | None:
    """Return the widest column that can be shortened."""
    least = [max(LEAST, cell_len(head)) for head in table.heads]
    found = [at for at, size in enumerate(widths) if size > least[at] and not table.columns[at].numeric]
    return max(found, key=widths.__getitem__, default=None)


def _without(table: Table, head: str) -> Table:
    left = [at for at, each in enumerate(table.heads) if each != head]
    rows = [[row[at] for at in left] for row in table.rows]
    return replace(table, columns=[table.columns[at] for at in left], rows=rows)


def _cut_cell(cell: str, size: int) -> str:
    return cell if cell_len(cell) <= size else set_cell_size(cell, size - 1).rstrip() + MARK


def _cut_inside(cell: str, size: int) -> str:
    """Return a cell shortened in its middle: names of sentences differ at the end."""
    if cell_len(cell) <= size:
        return cell
    end = (size - 1) * 2 // 3
    return set_cell_size(cell, size - 1 - end).rstrip() + MARK + set_cell_size(cell[::-1], end).rstrip()[::-1]
