"""Render a comparison as Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import Any

from treescore.core.one_line import clean
from treescore.render.crosstable import (
    CrossTable,
    cross_table,
    dagger_line,
    headline,
    notes,
    signature_lines,
    system_table,
)
from treescore.render.sentences import sentences
from treescore.render.text import cell_text, legend

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")


def markdown(document: Mapping[str, Any], shares: Container[str] = ()) -> str:
    """Return ranks (with the cluster's number), then the cross-table, then notes."""
    table = cross_table(document, shares)
    blocks = [f"**{escaped(headline(table))}**", *map(warned, document["warnings"])]
    if table.systems:
        blocks.append(_systems(table))
    if len(table.systems) == 2:
        blocks.append(escaped(dagger_line(table)))
    elif table.cells:
        blocks += [_pairs(table), escaped(legend(table))]
    blocks.append(
        "\n".join(f"- {escaped(line)}" for line in (*sentences(table), *notes(document), *signature_lines(document)))
    )
    return "\n\n".join(block for block in blocks if block) + "\n"


def escaped(words: str) -> str:
    """Return text with Markdown's special characters escaped."""
    return _SPECIAL.sub(r"\\\1", words)


def warned(words: str) -> str:
    """Return a warning as a paragraph of its own."""
    return f"**Warning:** {escaped(clean(words))}"


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
            words = "" if cell is None else escaped(cell_text(cell, table.figures))
            line.append(f"**{words}**" if cell is not None and cell.significant else words)
        rows.append(line)
    return pipe_table(["", *names[1:]], rows)


def pipe_table(head: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool] = ()) -> str:
    """Return a table of cells that are escaped already; columns that are `numeric` are aligned to the right."""
    rules = ["---:" if each else "---" for each in numeric] or ["---"] * len(head)
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rules, *rows))
