"""Render a comparison as LaTeX tables (booktabs), with rules between clusters."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from treescore.core.wording import Figures, one_line
from treescore.render import crosstable

LATEX_LEGEND = (
    "(row - column) and adjusted p; $\\leftarrow$ the row's system is better, $\\uparrow$ the column's; "
    "bold: significant"
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
    for said in (*crosstable.sentences(table), *crosstable.notes(document), *crosstable.signature_lines(document)):
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
    return f"% cells: {crosstable.difference_words(table.document)} {LATEX_LEGEND}"


def _cell(cell: crosstable.Cell | None, figures: Figures) -> str:
    if cell is None:
        return ""
    side = {"row": r"$\leftarrow$", "column": r"$\uparrow$", None: "$=$"}[cell.winner]
    words = f"{figures.signed(cell.difference)} ({crosstable.evidence(cell, figures)})"
    return f"{chr(92)}textbf{{{words}}} {side}" if cell.significant else f"{words} {side}"
