"""A table for people, in any form: the one writer of scores, errors, slices and differences."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from treescore.core.one_line import clean
from treescore.render import latex, markdown
from treescore.render.text import aligned, text_warning


@dataclass(frozen=True, slots=True)
class Column:
    """A column by its head; numbers are aligned to the right."""

    head: str
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Cells of text with what must be read beside them.

    Attributes:
        caption: what the table shows, in one line.
        columns: heads, with their alignment.
        rows: cells, the first one names its row.
        warnings: shown above the table, so that the figures are not read without them.
        notes: shown below it.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()

    @property
    def heads(self) -> list[str]:
        """The heads, each on one line."""
        return [clean(column.head) for column in self.columns]

    @property
    def cells(self) -> list[list[str]]:
        """The rows, each cell on one line."""
        return [[clean(cell) for cell in row] for row in self.rows]


def text_table(table: Table) -> str:
    """Return plain text."""
    lines = [*([clean(table.caption)] if table.caption else []), *map(text_warning, table.warnings)]
    numeric = [column.numeric for column in table.columns]
    grid = aligned([table.heads, *table.cells], numeric) if table.rows else []
    blocks = [lines, grid, list(map(clean, table.notes))]
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks if block) + "\n"


def markdown_table(table: Table) -> str:
    """Return a Markdown table between paragraphs."""
    blocks = [f"**{markdown.markdown_escaped(clean(table.caption))}**"] if table.caption else []
    blocks += [markdown.markdown_warning(words) for words in table.warnings]
    if table.rows:
        cells = [[markdown.markdown_escaped(cell) for cell in row] for row in table.cells]
        heads = [markdown.markdown_escaped(head) for head in table.heads]
        blocks.append(markdown.pipe_table(heads, cells, [column.numeric for column in table.columns]))
    blocks.append("\n".join(f"- {markdown.markdown_escaped(clean(note))}" for note in table.notes))
    return "\n\n".join(block for block in blocks if block) + "\n"


def latex_table(table: Table) -> str:
    """Return a table for a paper; it needs the packages booktabs and textcomp (T1 encoding)."""
    lines = latex.preamble(clean(table.caption))
    for words in table.warnings:
        lines += [latex.latex_warning(words), ""]
    if table.rows:
        alignment = "".join("r" if column.numeric else "l" for column in table.columns)
        rows = [[latex.latex_escaped(cell) for cell in row] for row in table.cells]
        lines += latex.tabular(alignment, [latex.latex_escaped(head) for head in table.heads], rows, lambda _row: False)
    for note in table.notes:
        lines += ["", latex.latex_escaped(clean(note))]
    return "\n".join(lines) + "\n"


def html_table(table: Table) -> str:
    """Return a fragment of HTML without colours of its own, readable on light and dark pages."""
    parts = [f"<p><strong>Warning:</strong> {html_escaped(words)}</p>" for words in table.warnings]
    parts.append(_html_grid(table) if table.rows else f"<p>{html_escaped(table.caption)}</p>")
    parts += [f"<p>{html_escaped(note)}</p>" for note in table.notes]
    return '<div class="treescore">\n' + "\n".join(parts) + "\n</div>\n"


def html_escaped(words: str) -> str:
    """Return text on one line with HTML's special characters escaped."""
    return html.escape(clean(words))


def _html_grid(table: Table) -> str:
    aligned = ("right" if column.numeric else "left" for column in table.columns)
    styles = [f' style="text-align:{side};padding:.2em .6em;white-space:nowrap"' for side in aligned]
    heads = "".join(
        f'<th scope="col"{style}>{html_escaped(head)}</th>' for head, style in zip(table.heads, styles, strict=True)
    )
    lines = [
        '<div style="overflow-x:auto">',  # a wide table scrolls by itself, on the page it would hide what follows
        "<table>",
        f'<caption style="text-align:left">{html_escaped(table.caption)}</caption>',
        f"<thead><tr>{heads}</tr></thead>",
        "<tbody>",
    ]
    for first, *rest in table.cells:
        cells = "".join(f"<td{style}>{html_escaped(cell)}</td>" for cell, style in zip(rest, styles[1:], strict=True))
        lines.append(f'<tr><th scope="row"{styles[0]}>{html_escaped(first)}</th>{cells}</tr>')
    return "\n".join([*lines, "</tbody>", "</table>", "</div>"])


TABLE_FORMS: Mapping[str, Callable[[Table], str]] = {
    "text": text_table,
    "markdown": markdown_table,
    "latex": latex_table,
    "html": html_table,
}
"""Form of a table -> its writer."""
