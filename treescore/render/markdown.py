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
    blocks = [f"**{markdown_escaped(headline(table))}**", *map(markdown_warning, document["warnings"])]
    if table.systems:
        blocks.append(_markdown_systems(table))
    if len(table.systems) == 2:
        blocks.append(markdown_escaped(dagger_line(table)))
    elif table.cells:
        blocks += [_markdown_pairs(table), markdown_escaped(legend(table))]
    blocks.append(
        "\n".join(
            f"- {markdown_escaped(line)}" for line in (*sentences(table), *notes(document), *signature_lines(document))
        )
    )
    return "\n\n".join(block for block in blocks if block) + "\n"


def markdown_escaped(words: str) -> str:
    """Return text with Markdown's special characters escaped."""
    return _SPECIAL.sub(r"\\\1", words)


def markdown_warning(words: str) -> str:
    """Return a warning as a paragraph of its own."""
    return f"**Warning:** {markdown_escaped(clean(words))}"


def _markdown_systems(table: CrossTable) -> str:
    heads, rows = system_table(table)
    lines = []
    for system, row in zip(table.systems, rows, strict=True):
        cluster = system.get("cluster")
        lines.append([*map(markdown_escaped, row), "-" if cluster is None else str(cluster)])
    return pipe_table([*heads, "cluster"], lines)


def _markdown_pairs(table: CrossTable) -> str:
    size = len(table.systems)
    names = [markdown_escaped(name) for name in table.names]
    rows = []
    for row in range(size - 1):
        line = [names[row]]
        for column in range(1, size):
            cell = table.cells.get((row, column))
            words = "" if cell is None else markdown_escaped(cell_text(cell, table.figures))
            line.append(f"**{words}**" if cell is not None and cell.significant else words)
        rows.append(line)
    return pipe_table(["", *names[1:]], rows)


def pipe_table(head: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool] = ()) -> str:
    """Return a table of cells that are escaped already; columns that are `numeric` are aligned to the right."""
    rules = ["---:" if each else "---" for each in numeric] or ["---"] * len(head)
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rules, *rows))
