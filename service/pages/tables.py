"""The table of a page as a file: CSV, TSV, Markdown or LaTeX, with the cells that the page shows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from flask import Response

from service.pages.answers import EXPORT_NAMES, export
from service.render import LEADERBOARD_FORMATS
from service.usecases.runs import body_view
from treescore.render.drawing import MINUS
from treescore.render.forms import safe_value, separated
from treescore.render.text import latex_escaped, markdown_escaped, pipe_table, preamble, tabular

TABLES = ("csv", "tsv", "markdown", "latex")
"""Formats in which the table is exported as the page shows it; the others are the API's."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table as a page shows it, without its pictures.

    Attributes:
        heads, lines: its cells.
        said: what stands with it, the caption first; in files for people.
        ruled: tells whether a rule stands above a line.
        ruled_caption: what takes the place of the caption where rules are drawn.
        words: columns of words; the others hold figures.
        strong: line and column of each cell that stands out.
    """

    heads: Sequence[str]
    lines: Sequence[Sequence[str]]
    said: Sequence[str]
    words: Collection[int]
    ruled: Callable[[int], bool] = lambda _: False
    ruled_caption: str | None = None
    strong: Collection[tuple[int, int]] = ()


def table_links(address: str, query: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return names and addresses of the files of a table.

    Args:
        address: that answers with them.
        query: of the page, whose state they have.
    """
    members = {name: value for name, value in query.items() if name not in ("version", "format") and value}
    return [(EXPORT_NAMES[form], f"{address}?{urlencode({**members, 'format': form})}") for form in TABLES]


def table_file(table: Table, form: str, name: str) -> Response:
    """Return a table in one of TABLES, as a file of this name."""
    return export(body_view(_WRITERS[form](table), LEADERBOARD_FORMATS[form]), name)


def _rows(table: Table) -> list[list[object]]:
    """Return the cells for programs: no spreadsheet takes words for a formula, and figures are numbers as shown."""
    return [
        [safe_value(head) for head in table.heads],
        *(
            [safe_value(cell) if at in table.words else cell.replace(MINUS, "-") for at, cell in enumerate(line)]
            for line in table.lines
        ),
    ]


def _marked(table: Table, escaped: Callable[[str], str], strong: Callable[[str], str]) -> list[list[str]]:
    return [
        [strong(escaped(cell)) if (row, at) in table.strong else escaped(cell) for at, cell in enumerate(line)]
        for row, line in enumerate(table.lines)
    ]


def _markdown(table: Table) -> bytes:
    lines = _marked(table, markdown_escaped, lambda words: f"**{words}**")
    numeric = [at not in table.words for at in range(len(table.heads))]
    grid = pipe_table([markdown_escaped(head) for head in table.heads], lines, numeric)
    return ("\n\n".join([grid, *map(markdown_escaped, table.said)]) + "\n").encode()


def _latex(table: Table) -> bytes:
    lines = _marked(table, _latex_cell, lambda words: f"\\textbf{{{words}}}")
    align = "".join("l" if at in table.words else "r" for at in range(len(table.heads)))
    grid = tabular(align, [_latex_cell(head) for head in table.heads], lines, table.ruled)
    caption, *others = table.said
    head = preamble(caption if table.ruled_caption is None else table.ruled_caption)
    return ("\n".join([*head, *grid, *(line for said in others for line in ("", _latex_cell(said)))]) + "\n").encode()


def _latex_cell(words: str) -> str:
    return latex_escaped(words).replace("–", "--").replace(MINUS, "$-$")


_WRITERS: Mapping[str, Callable[[Table], bytes]] = {
    "csv": lambda table: separated(_rows(table)),
    "tsv": lambda table: separated(_rows(table), "\t", "\n"),
    "markdown": _markdown,
    "latex": _latex,
}
