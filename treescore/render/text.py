"""Render a comparison as plain text, as Markdown and as LaTeX tables (booktabs), with rules between clusters."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from treescore.core.wording import Figures, one_line
from treescore.render import crosstable

TEXT_LEGEND = "< the row's system is better, ^ the column's; * significant."


def text(document: Mapping[str, Any], shares: Container[str] = ()) -> str:
    """Return ranks with lines between clusters, then the cross-table (for two systems, the dagger's line)."""
    table = crosstable.cross_table(document, shares)
    warnings = [text_warning(words) for words in document["warnings"]]
    lines = [crosstable.headline(table), *warnings, *(["", *_text_systems(table)] if table.systems else [])]
    if len(table.systems) == 2:
        lines += ["", crosstable.dagger_line(table)]
    elif table.cells:
        lines += ["", *_text_pairs(table)]
    for said in (crosstable.notes(document), crosstable.signature_lines(document)):
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
    shown = crosstable.evidence_words(table)
    return f"Each cell: {crosstable.difference_words(table.document)} (row - column) and {shown}; {TEXT_LEGEND}"


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
            for line in (*crosstable.notes(document), *crosstable.signature_lines(document))
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


LATEX_LEGEND = "$\\leftarrow$ the row's system is better, $\\uparrow$ the column's; bold: significant"
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "†": r"\textdagger{}",
    "±": r"\textpm{}",
}


def latex(document: Mapping[str, Any], shares: Container[str] = ()) -> str:
    """Return two tables for a paper; they need the packages booktabs and textcomp (T1 encoding)."""
    table = crosstable.cross_table(document, shares)
    lines = preamble(crosstable.headline(table))
    for words in document["warnings"]:
        lines += [latex_warning(words), ""]
    lines += _latex_systems(table) if table.systems else []
    if len(table.systems) == 2:
        lines += ["", latex_escaped(crosstable.dagger_line(table))]
    elif table.cells:
        lines += ["", *_latex_pairs(table)]
    for said in (*crosstable.notes(document), *crosstable.signature_lines(document)):
        lines += ["", latex_escaped(said)]
    return "\n".join(lines) + "\n"


def preamble(headline: str) -> list[str]:
    """Return the comments above the tables: the packages that they need, and what they show."""
    return ["% needs \\usepackage[T1]{fontenc} and \\usepackage{booktabs}", comment(headline)]


def comment(words: str) -> str:
    """Return words as a comment of one line."""
    return f"% {' '.join(words.split())}"


def latex_warning(words: str) -> str:
    """Return a warning as a paragraph of its own, as a comment would be lost in the paper."""
    return f"\\noindent\\textbf{{Warning:}} {latex_escaped(one_line(words))}"


def tabular(
    alignment: str, heads: Sequence[str], rows: Sequence[Sequence[str]], ruled: Callable[[int], bool]
) -> list[str]:
    """Return a table of cells that are escaped already, with a rule above each row whose index is `ruled`."""
    lines = [f"\\begin{{tabular}}{{{alignment}}}", "\\toprule", " & ".join(heads) + r" \\", "\\midrule"]
    for index, row in enumerate(rows):
        if ruled(index):
            lines.append("\\midrule")
        lines.append(" & ".join(row) + r" \\")
    return [*lines, "\\bottomrule", "\\end{tabular}"]


def latex_escaped(words: str) -> str:
    """Return text with LaTeX's special characters escaped."""
    return "".join(_ESCAPES.get(character, character) for character in words)


def _latex_systems(table: crosstable.CrossTable) -> list[str]:
    heads, rows = crosstable.system_table(table)
    alignment = "".join("l" if head in ("system", "runs") else "r" for head in heads)
    return tabular(
        alignment,
        [latex_escaped(head) for head in heads],
        [[latex_escaped(cell) for cell in row] for row in rows],
        table.boundary_above,
    )


def _latex_pairs(table: crosstable.CrossTable) -> list[str]:
    size = len(table.systems)
    names = [latex_escaped(name) for name in table.names]
    rows = [
        [names[row], *(_cell(table.cells.get((row, column)), table.figures) for column in range(1, size))]
        for row in range(size - 1)
    ]
    return [*tabular("l" + "r" * (size - 1), ["", *names[1:]], rows, table.boundary_above), _latex_legend(table)]


def _latex_legend(table: crosstable.CrossTable) -> str:
    shown = crosstable.evidence_words(table)
    return f"% cells: {crosstable.difference_words(table.document)} (row - column) and {shown}; {LATEX_LEGEND}"


def _cell(cell: crosstable.Cell | None, figures: Figures) -> str:
    if cell is None:
        return ""
    side = {"row": r"$\leftarrow$", "column": r"$\uparrow$", None: "$=$"}[cell.winner]
    words = f"{figures.signed(cell.difference)} ({crosstable.evidence(cell, figures)})"
    return f"{chr(92)}textbf{{{words}}} {side}" if cell.significant else f"{words} {side}"
