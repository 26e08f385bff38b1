"""Render a comparison as LaTeX tables (booktabs), with rules between clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treescore.render.crosstable import (
    SYSTEM_HEADS,
    Cell,
    CrossTable,
    cross_table,
    dagger,
    dagger_line,
    headline,
    interval_text,
    p_text,
    shown_columns,
    signed,
    system_cells,
    untested_lines,
)

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
}


def latex(document: Mapping[str, Any]) -> str:
    """Return two tables for a paper; they need the packages booktabs and textcomp (T1 encoding)."""
    table = cross_table(document)
    lines = ["% needs \\usepackage[T1]{fontenc} and \\usepackage{booktabs}", f"% {_comment(headline(document))}"]
    lines += _systems(table)
    if len(table.systems) == 2:
        lines += ["", escaped(dagger_line(table))]
    elif table.cells:
        lines += ["", *_pairs(table)]
    lines += [f"% {_comment(note)}" for note in (*untested_lines(document), *document["warnings"], *document["notes"])]
    return "\n".join(lines) + "\n"


def escaped(words: str) -> str:
    """Return text with LaTeX's special characters escaped."""
    return "".join(_ESCAPES.get(character, character) for character in words)


def _comment(words: str) -> str:
    return " ".join(words.split())


def _systems(table: CrossTable) -> list[str]:
    rows = [system_cells(system) for system in table.systems]
    kept = shown_columns(rows)
    alignment = "".join("l" if column in (1, 5) else "r" for column in kept)
    lines = [f"\\begin{{tabular}}{{{alignment}}}", "\\toprule"]
    lines += [" & ".join(SYSTEM_HEADS[column] for column in kept) + r" \\", "\\midrule"]
    for index, row in enumerate(rows):
        if table.boundary_above(index):
            lines.append("\\midrule")
        row[2] += dagger(table, index)
        lines.append(" & ".join(escaped(row[column]) for column in kept) + r" \\")
    return [*lines, "\\bottomrule", "\\end{tabular}"]


def _pairs(table: CrossTable) -> list[str]:
    size = len(table.systems)
    names = [escaped(system_cells(system)[1]) for system in table.systems]
    lines = [f"\\begin{{tabular}}{{l{'r' * (size - 1)}}}", "\\toprule"]
    lines += [" & ".join(["", *names[1:]]) + r" \\", "\\midrule"]
    for row in range(size - 1):
        if table.boundary_above(row):
            lines.append("\\midrule")
        cells = [_cell(table.cells.get((row, column))) for column in range(1, size)]
        lines.append(" & ".join([names[row], *cells]) + r" \\")
    lines += ["\\bottomrule", "\\end{tabular}"]
    lines.append(
        "% cells: difference (row - column) and adjusted p; $\\leftarrow$ the row's system is better, "
        "$\\uparrow$ the column's; bold: significant"
    )
    return lines


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    side = {"row": r"$\leftarrow$", "column": r"$\uparrow$", None: "$=$"}[cell.winner]
    second = interval_text(cell.low, cell.high) if cell.p is None else p_text(cell.p)
    words = f"{signed(cell.difference)} ({second})"
    return f"{chr(92)}textbf{{{words}}} {side}" if cell.significant else f"{words} {side}"
