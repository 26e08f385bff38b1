"""Render a comparison as Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from treescore.render.crosstable import CrossTable, cross_table, dagger_line, headline, notes, system_table
from treescore.render.sentences import sentences
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
    blocks.append("\n".join(f"- {escaped(line)}" for line in (*sentences(table), *notes(document))))
    return "\n\n".join(block for block in blocks if block) + "\n"


def escaped(words: str) -> str:
    """Return text with Markdown's special characters escaped."""
    return _SPECIAL.sub(r"\\\1", words)


def _systems(table: CrossTable) -> str:
    heads, rows = system_table(table)
    lines = []
    for system, row in zip(table.systems, rows, strict=True):
        cluster = system.get("cluster")
        lines.append([*map(escaped, row), "-" if cluster is None else str(cluster)])
    return pipe_table([*heads, "cluster"], lines)


def _pairs(table: CrossTable) -> str:
    size = len(table.systems)
    names = [escaped(name) for name in table.names]
    rows = []
    for row in range(size - 1):
        line = [names[row]]
        for column in range(1, size):
            cell = table.cells.get((row, column))
            words = "" if cell is None else escaped(cell_text(cell))
            line.append(f"**{words}**" if cell is not None and cell.significant else words)
        rows.append(line)
    return pipe_table(["", *names[1:]], rows)


def pipe_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of cells that are escaped already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
