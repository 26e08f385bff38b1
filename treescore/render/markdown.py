"""Render a comparison as Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from treescore.render.crosstable import (
    SYSTEM_HEADS,
    CrossTable,
    cross_table,
    dagger,
    dagger_line,
    headline,
    shown_columns,
    system_cells,
    untested_lines,
)
from treescore.render.text import cell_text, legend

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")


def markdown(document: Mapping[str, Any]) -> str:
    """Return ranks (with the cluster's number), then the cross-table, then notes."""
    table = cross_table(document)
    blocks = [f"**{escaped(headline(document))}**", _systems(table)]
    if len(table.systems) == 2:
        blocks.append(escaped(dagger_line(table)))
    elif table.cells:
        blocks += [_pairs(table), escaped(legend(table))]
    notes = [*untested_lines(document), *document["warnings"], *document["notes"]]
    if notes:
        blocks.append("\n".join(f"- {escaped(note)}" for note in notes))
    return "\n\n".join(block for block in blocks if block) + "\n"


def escaped(words: str) -> str:
    """Return text with Markdown's special characters escaped."""
    return _SPECIAL.sub(r"\\\1", words)


def _systems(table: CrossTable) -> str:
    rows = [system_cells(system) for system in table.systems]
    kept = shown_columns(rows)
    heads = [SYSTEM_HEADS[column] for column in kept]
    lines = []
    for index, row in enumerate(rows):
        row[2] += dagger(table, index)
        cluster = table.systems[index].get("cluster")
        lines.append([*(escaped(row[column]) for column in kept), "-" if cluster is None else str(cluster)])
    return _table([*heads, "cluster"], lines)


def _pairs(table: CrossTable) -> str:
    size = len(table.systems)
    names = [escaped(system_cells(system)[1]) for system in table.systems]
    rows = []
    for row in range(size - 1):
        line = [names[row]]
        for column in range(1, size):
            cell = table.cells.get((row, column))
            words = "" if cell is None else escaped(cell_text(cell))
            line.append(f"**{words}**" if cell is not None and cell.significant else words)
        rows.append(line)
    return _table(["", *names[1:]], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
