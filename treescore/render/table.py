"""One kind of table, and one writer for each form: plain text, Markdown, LaTeX, HTML, a terminal, CSV and TSV."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from treescore.core.wording import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType


class Column(NamedTuple):
    """A column by its head.

    Attributes:
        head: for people.
        numeric: its cells are aligned to the right.
        paper: its alignment in LaTeX, where that is another one.
    """

    head: str
    numeric: bool = False
    paper: str = ""

    @property
    def in_paper(self) -> str:
        """Its alignment in LaTeX."""
        return self.paper or ("r" if self.numeric else "l")


class Marked(str):
    """A cell in the marks of the form that it is written for: it is not escaped."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Table:
    """Cells of text with what must be read beside them.

    Attributes:
        caption: what the table shows, in one line; empty below another table.
        columns: heads, with their alignment; none where only something is said.
        rows: cells, the first one names its row.
        warnings: shown above the table, so that the figures are not read without them.
        notes: shown below it.
        rules: rows above which text and LaTeX draw a line.
        slanted: rows whose words are slanted in LaTeX.
        strong: row and column of each cell that stands out.
        legend: what the cells mean, right below them; of LaTeX a comment, of HTML the caption where there is none.
        claim: paragraphs between the rows and the notes.
        commented: in LaTeX the notes are comments.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()
    rules: Collection[int] = ()
    slanted: Collection[int] = ()
    strong: Collection[tuple[int, int]] = ()
    legend: str = ""
    claim: Sequence[str] = ()
    commented: bool = False

    @property
    def heads(self) -> list[str]:
        """The heads, each on one line."""
        return [one_line(column.head) for column in self.columns]

    @property
    def cells(self) -> list[list[str]]:
        """The rows, each cell on one line."""
        return [[one_line(cell) for cell in row] for row in self.rows]

    @property
    def widths(self) -> list[int]:
        """Columns of a terminal that each column of plain text takes, without the gap before the next."""
        return [max(map(width_of, column)) for column in zip(self.heads, *self.cells, strict=True)]

    @property
    def width(self) -> int:
        """Columns of a terminal that the lines of plain text take."""
        widths = self.widths
        return sum(widths) + len(GAP) * (len(widths) - 1)

    @property
    def said(self) -> list[str]:
        """The notes that are no blank lines of plain text."""
        return [one_line(note) for note in self.notes if note]

    def marked(self, escaped: Callable[[str], str], strong: str) -> list[list[str]]:
        """Return the rows in the marks of a form.

        Args:
            escaped: escapes text on one line.
            strong: how a cell is written that stands out, with `{}` for its words.
        """
        return [
            [
                strong.format(escaped(cell)) if (at, column) in self.strong else escaped(cell)
                for column, cell in enumerate(row)
            ]
            for at, row in enumerate(self.rows)
        ]


def text_table(table: Table, width: int = 0) -> str:
    """Return plain text; what stands beside the grid breaks at a width of so many columns, 0 for none."""
    lines = [*([one_line(table.caption)] if table.caption else []), *map(text_warning, table.warnings)]
    grid = [*_text_grid(table), *_broken([table.legend] if table.legend else [], width)] if table.columns else []
    claim = [_broken([paragraph], width) for paragraph in table.claim]
    blocks = [_broken(lines, width), grid, *claim, _broken(map(one_line, table.notes), width)]
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks if block) + "\n"


def _broken(lines: Iterable[str], width: int) -> list[str]:
    """Return lines, each as several where it is longer than the width; no word is broken, nor `95 %`."""
    if not width:
        return list(lines)
    kept = (line.replace(" %", "\N{NO-BREAK SPACE}%") for line in lines)
    broken = (wrap(line, width, break_long_words=False, break_on_hyphens=False) or [line] for line in kept)
    return [part.replace("\N{NO-BREAK SPACE}%", " %") for parts in broken for part in parts]


def text_warning(words: str) -> str:
    """Return a warning as one line that says it is one."""
    return f"Warning: {one_line(words)}"


def _text_grid(table: Table) -> list[str]:
    head, *lines = aligned([table.heads, *table.cells], [column.numeric for column in table.columns])
    rule = "-" * width_of(head)
    return [head, *(each for at, line in enumerate(lines) for each in ([rule, line] if at in table.rules else [line]))]


GAP = "  "
"""Between columns of plain text."""


def aligned(rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> list[str]:
    """Return rows of cells as lines, with a gap between columns.

    Args:
        rows: of equally many cells.
        numeric: for each column whether its cells stand at its right edge.
    """
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        gaps = [" " * (width - width_of(cell)) for cell, width in zip(row, widths, strict=True)]
        sides = zip(row, gaps, numeric, strict=True)
        lines.append(GAP.join(gap + cell if at_right else cell + gap for cell, gap, at_right in sides))
    return lines


def width_of(cell: str) -> int:
    """Return how many columns of a terminal a cell takes: two for an East Asian character, none for an accent."""
    if cell.isascii():
        return len(cell)
    from rich.cells import cell_len  # noqa: PLC0415 - most tables are ASCII, and need no table of widths

    return cell_len(cell)


_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")


def markdown_table(table: Table) -> str:
    """Return a Markdown table between paragraphs."""
    blocks = [f"**{_in_markdown(table.caption)}**"] if table.caption else []
    blocks += [f"**Warning:** {_in_markdown(words)}" for words in table.warnings]
    if table.columns:
        heads = [_in_markdown(column.head) for column in table.columns]
        sides = ["---:" if column.numeric else "---" for column in table.columns]
        lines = (heads, sides, *table.marked(_in_markdown, "**{}**"))
        blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    blocks += map(_in_markdown, (table.legend, *table.claim))
    blocks.append("\n".join(f"- {_in_markdown(note)}" for note in table.said))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _in_markdown(words: str) -> str:
    """Return text on one line with Markdown's special characters escaped."""
    return _SPECIAL.sub(r"\\\1", one_line(words))


_ESCAPES = str.maketrans({
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "†": r"\textdagger{}", "±": r"\textpm{}",
    **{character: f"\\{character}" for character in "{}$&#%_"},
})  # fmt: skip


def latex_table(table: Table) -> str:
    """Return a table for a paper; it needs the packages booktabs and textcomp (T1 encoding)."""
    lines = ["% needs \\usepackage[T1]{fontenc} and \\usepackage{booktabs}", _comment(table.caption)]
    lines = lines if table.caption else []
    for words in table.warnings:  # paragraphs, as a comment would be lost in the paper
        lines += [f"\\noindent\\textbf{{Warning:}} {_in_latex(words)}", ""]
    lines += _latex_grid(table) if table.columns else []
    lines += [_comment(table.legend)] if table.legend else []
    for paragraph in table.claim:
        lines += ["", paragraph.translate(_ESCAPES)]
    for note in table.said:
        lines += [_comment(note)] if table.commented else ["", _in_latex(note)]
    return "\n".join(lines) + "\n"


def _latex_grid(table: Table) -> list[str]:
    sides = [column.in_paper for column in table.columns]
    lines = [f"\\begin{{tabular}}{{{''.join(sides)}}}", "\\toprule"]
    lines += [" & ".join(_in_latex(column.head) for column in table.columns) + r" \\", "\\midrule"]
    for at, cells in enumerate(table.marked(_in_latex, r"\textbf{{{}}}")):
        lines += ["\\midrule"] if at in table.rules else []
        words = (
            f"\\textit{{{cell}}}" if cell and side == "l" and at in table.slanted else cell
            for cell, side in zip(cells, sides, strict=True)
        )
        lines.append(" & ".join(words) + r" \\")
    return [*lines, "\\bottomrule", "\\end{tabular}"]


def _in_latex(words: str) -> str:
    """Return text on one line with LaTeX's special characters escaped."""
    return words if isinstance(words, Marked) else one_line(words).translate(_ESCAPES)


def _comment(words: str) -> str:
    return f"% {' '.join(words.split())}"


def html_table(table: Table) -> str:
    """Return a fragment of HTML without colours of its own, readable on light and dark pages."""
    parts = [f"<p><strong>Warning:</strong> {_in_html(words)}</p>" for words in table.warnings]
    parts.append(_html_grid(table) if table.columns else f"<p>{_in_html(table.caption)}</p>")
    parts += [f"<p>{_in_html(words)}</p>" for words in (*table.claim, *table.said) if words]
    return '<div class="treescore">\n' + "\n".join(parts) + "\n</div>\n"


def _in_html(words: str) -> str:
    """Return text on one line with HTML's special characters escaped."""
    return html.escape(one_line(words))


def _html_grid(table: Table) -> str:
    aligned = ("right" if column.numeric else "left" for column in table.columns)
    styles = [f' style="text-align:{side};padding:.2em .6em;white-space:nowrap"' for side in aligned]
    heads = "".join(
        f'<th scope="col"{style}>{_in_html(column.head)}</th>'
        for column, style in zip(table.columns, styles, strict=True)
    )
    lines = [
        '<div style="overflow-x:auto">',  # a wide table scrolls by itself, on the page it would hide what follows
        "<table>",
        f'<caption style="text-align:left">{_in_html(table.caption or table.legend)}</caption>',
        f"<thead><tr>{heads}</tr></thead>",
        "<tbody>",
    ]
    for first, *rest in table.rows:
        cells = "".join(f"<td{style}>{_in_html(cell)}</td>" for cell, style in zip(rest, styles[1:], strict=True))
        lines.append(f'<tr><th scope="row"{styles[0]}>{_in_html(first)}</th>{cells}</tr>')
    return "\n".join([*lines, "</tbody>", "</table>", "</div>"])


TEXT, MARKDOWN, LATEX, HTML = "text", "markdown", "latex", "html"
TABLE_FORMS: Mapping[str, Callable[[Table], str]] = {
    TEXT: text_table, MARKDOWN: markdown_table, LATEX: latex_table, HTML: html_table,
}  # fmt: skip
"""Form of a table -> its writer."""


def written(table: Table, form: str, width: int) -> str:
    """Return a table in a form; the prose of plain text breaks at a width, as in `text_table`."""
    return text_table(table, width) if form == TEXT else TABLE_FORMS[form](table)


def renderable(tables: Sequence[Table]) -> RenderableType:
    """Return tables with their warnings above and their notes below; names are never taken for markup."""
    from rich.console import Group  # noqa: PLC0415 - only a terminal needs rich, here and below

    return Group(*(part for table in tables for part in _rich_parts(table)))


def _rich_parts(table: Table) -> list[RenderableType]:
    from rich.table import Table as RichTable  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    parts: list[RenderableType] = [Text(text_warning(words), "bold yellow") for words in table.warnings]
    if table.caption or table.legend:
        parts.append(Text(one_line(table.caption or table.legend), "bold"))
    grid = RichTable(box=None, pad_edge=False)
    for column, head in zip(table.columns, table.heads, strict=True):
        grid.add_column(Text(head), justify="right" if column.numeric else "left")
    for row in table.cells:
        grid.add_row(*map(Text, row))
    if table.columns:
        parts.append(grid)
    return [*parts, *(Text(words, "dim") for words in (*table.claim, *table.said) if words)]


CSV, TSV = "csv", "tsv"
_SEPARATORS: Mapping[str, tuple[str, str]] = {CSV: (",", "\r\n"), TSV: ("\t", "\n")}


def separated(rows: Iterable[Sequence[Any]], form: str = CSV) -> bytes:
    """Return rows of values as CSV or TSV; no spreadsheet takes text in them for a formula."""
    delimiter, end = _SEPARATORS[form]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerows(map(_safe, row) for row in rows)
    return out.getvalue().encode()


def _safe(value: Any) -> Any:
    """Return a number as it is, and text so that no spreadsheet takes it for a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return value if isinstance(value, Marked) else f"'{value}"
    return value
