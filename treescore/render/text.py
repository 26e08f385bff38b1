"""Render a comparison as plain text, and as Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import Any

from treescore.core.wording import Figures, one_line
from treescore.render import crosstable

TEXT_LEGEND = "adjusted p; < the row's system is better, ^ the column's; * significant."
LEGEND_INTERVALS = "its interval; < the row's system is better, ^ the column's."


def text(document: Mapping[str, Any], shares: Container[str] = ()) -> str:
    """Return ranks with lines between clusters, then the cross-table (for two systems, the dagger's line)."""
    table = crosstable.cross_table(document, shares)
    warnings = [text_warning(words) for words in document["warnings"]]
    lines = [crosstable.headline(table), *warnings, *(["", *_text_systems(table)] if table.systems else [])]
    if len(table.systems) == 2:
        lines += ["", crosstable.dagger_line(table)]
    elif table.cells:
        lines += ["", *_text_pairs(table)]
    for said in (crosstable.sentences(table), crosstable.notes(document), crosstable.signature_lines(document)):
        lines += ["", *said] if said else []
    return "\n".join(line.rstrip() for line in lines) + "\n"


def mark(cell: crosstable.Cell) -> str:
    """Return who is better and whether significantly: `<*`, `^`, ..."""
    side = {"row": "<", "column": "^", None: "="}[cell.winner]
    return side + ("*" if cell.significant else "")


def cell_text(cell: crosstable.Cell, figures: Figures) -> str:
    """Return the cell of a pair on one line."""
    return f"{figures.signed(cell.difference)} {crosstable.evidence(cell, figures)} {mark(cell)}"


def text_warning(words: str) -> str:
    """Return a warning as one line that says it is one."""
    return f"Warning: {one_line(words)}"


def legend(table: crosstable.CrossTable) -> str:
    """Return the meaning of the cells."""
    rest = LEGEND_INTERVALS if all(cell.p is None for cell in table.cells.values()) else TEXT_LEGEND
    return f"Each cell: {crosstable.difference_words(table.document)} (row - column) and {rest}"


def _text_systems(table: crosstable.CrossTable) -> list[str]:
    heads, rows = crosstable.system_table(table)
    first, *lines = aligned([heads, *rows])
    result = [first]
    for index, line in enumerate(lines):
        if table.boundary_above(index):
            result.append("-" * width_of(first))
        result.append(line)
    return result


def _text_pairs(table: crosstable.CrossTable) -> list[str]:
    names = [f"({number}) {name}" for number, name in enumerate(table.names, 1)]
    return [*aligned([["", *names[1:]], *pair_rows(table, names)]), legend(table)]


def pair_rows(table: crosstable.CrossTable, names: Sequence[str]) -> list[list[str]]:
    """Return a row for each system but the last: its name, and its cells with the systems after the first."""
    columns = range(1, len(names))
    return [
        [
            name,
            *(
                cell_text(table.cells[at], table.figures) if (at := (row, column)) in table.cells else ""
                for column in columns
            ),
        ]
        for row, name in enumerate(names[:-1])
    ]


def aligned(rows: Sequence[Sequence[str]], numeric: Sequence[bool] = ()) -> list[str]:
    """Return rows of cells as lines, with columns two spaces apart.

    Args:
        rows: of equally many cells.
        numeric: for each column whether its cells stand at its right edge; none of them unless given.
    """
    columns = range(len(rows[0]))
    right = [bool(numeric and numeric[column]) for column in columns]
    widths = [max(width_of(row[column]) for row in rows) for column in columns]
    lines = []
    for row in rows:
        gaps = [" " * (width - width_of(cell)) for cell, width in zip(row, widths, strict=True)]
        sides = zip(row, gaps, right, strict=True)
        lines.append("  ".join(gap + cell if at_right else cell + gap for cell, gap, at_right in sides))
    return lines


def width_of(cell: str) -> int:
    """Return how many columns of a terminal a cell takes: two for an East Asian character, none for an accent."""
    if cell.isascii():
        return len(cell)
    from rich.cells import cell_len  # noqa: PLC0415 - most tables are ASCII, and need no table of widths

    return cell_len(cell)


_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")


def markdown(document: Mapping[str, Any], shares: Container[str] = ()) -> str:
    """Return ranks (with the cluster's number), then the cross-table, then notes."""
    table = crosstable.cross_table(document, shares)
    blocks = [f"**{markdown_escaped(crosstable.headline(table))}**", *map(markdown_warning, document["warnings"])]
    if table.systems:
        blocks.append(_markdown_systems(table))
    if len(table.systems) == 2:
        blocks.append(markdown_escaped(crosstable.dagger_line(table)))
    elif table.cells:
        blocks += [_markdown_pairs(table), markdown_escaped(legend(table))]
    blocks.append(
        "\n".join(
            f"- {markdown_escaped(line)}"
            for line in (
                *crosstable.sentences(table),
                *crosstable.notes(document),
                *crosstable.signature_lines(document),
            )
        )
    )
    return "\n\n".join(block for block in blocks if block) + "\n"


def markdown_escaped(words: str) -> str:
    """Return text with Markdown's special characters escaped."""
    return _SPECIAL.sub(r"\\\1", words)


def markdown_warning(words: str) -> str:
    """Return a warning as a paragraph of its own."""
    return f"**Warning:** {markdown_escaped(one_line(words))}"


def _markdown_systems(table: crosstable.CrossTable) -> str:
    heads, rows = crosstable.system_table(table)
    lines = []
    for system, row in zip(table.systems, rows, strict=True):
        cluster = system.get("cluster")
        lines.append([*map(markdown_escaped, row), "-" if cluster is None else str(cluster)])
    return pipe_table([*heads, "cluster"], lines)


def _markdown_pairs(table: crosstable.CrossTable) -> str:
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
