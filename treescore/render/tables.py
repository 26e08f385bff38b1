"""Tables for people, in any form: the one writer of scores, comparisons, errors, slices and differences.

A comparison is two tables: the systems by rank, and the cross-table of their pairs. Comparisons of several scores or
benchmarks as one family are lines. Scores are a table for each metric: those that the field reports, one row a system.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treescore.core.scores import Score, value_at
from treescore.core.wording import PERCENT, Unit, figures_of, one_line
from treescore.evaluation.document import warning_lines, warnings_of_metric
from treescore.render import crosstable, text
from treescore.render.text import aligned, legend, pair_rows, text_warning

if TYPE_CHECKING:
    from rich.console import RenderableType

    from treescore.evaluation.spec import Entry, Spec


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
        return [one_line(column.head) for column in self.columns]

    @property
    def cells(self) -> list[list[str]]:
        """The rows, each cell on one line."""
        return [[one_line(cell) for cell in row] for row in self.rows]


def text_table(table: Table) -> str:
    """Return plain text."""
    lines = [*([one_line(table.caption)] if table.caption else []), *map(text_warning, table.warnings)]
    numeric = [column.numeric for column in table.columns]
    grid = aligned([table.heads, *table.cells], numeric) if table.rows else []
    blocks = [lines, grid, list(map(one_line, table.notes))]
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks if block) + "\n"


def markdown_table(table: Table) -> str:
    """Return a Markdown table between paragraphs."""
    blocks = [f"**{text.markdown_escaped(one_line(table.caption))}**"] if table.caption else []
    blocks += [text.markdown_warning(words) for words in table.warnings]
    if table.rows:
        cells = [[text.markdown_escaped(cell) for cell in row] for row in table.cells]
        heads = [text.markdown_escaped(head) for head in table.heads]
        blocks.append(text.pipe_table(heads, cells, [column.numeric for column in table.columns]))
    blocks.append("\n".join(f"- {text.markdown_escaped(one_line(note))}" for note in table.notes))
    return "\n\n".join(block for block in blocks if block) + "\n"


def latex_table(table: Table) -> str:
    """Return a table for a paper; it needs the packages booktabs and textcomp (T1 encoding)."""
    lines = text.preamble(one_line(table.caption))
    for words in table.warnings:
        lines += [text.latex_warning(words), ""]
    if table.rows:
        alignment = "".join("r" if column.numeric else "l" for column in table.columns)
        rows = [[text.latex_escaped(cell) for cell in row] for row in table.cells]
        lines += text.tabular(alignment, [text.latex_escaped(head) for head in table.heads], rows, lambda _row: False)
    for note in table.notes:
        lines += ["", text.latex_escaped(one_line(note))]
    return "\n".join(lines) + "\n"


def html_table(table: Table) -> str:
    """Return a fragment of HTML without colours of its own, readable on light and dark pages."""
    parts = [f"<p><strong>Warning:</strong> {html_escaped(words)}</p>" for words in table.warnings]
    parts.append(_html_grid(table) if table.rows else f"<p>{html_escaped(table.caption)}</p>")
    parts += [f"<p>{html_escaped(note)}</p>" for note in table.notes]
    return '<div class="treescore">\n' + "\n".join(parts) + "\n</div>\n"


def html_escaped(words: str) -> str:
    """Return text on one line with HTML's special characters escaped."""
    return html.escape(one_line(words))


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


Document = Mapping[str, Any]
LISTED_ACROSS = 50
"""Lines of pairs that are shown."""


def across_lines(document: Document) -> list[str]:
    """Return what was corrected together, a line for each system that is better than another, and what is assumed."""
    size, correction = document["family"]["size"], document["correction"]
    head = f"{size} tests as one family, {correction}, alpha {document['alpha']:g}:"
    found = [line for pair in document["pairs"] for line in _pair_lines(pair)]
    more = [f"and {len(found) - LISTED_ACROSS} more; JSON holds all"] if len(found) > LISTED_ACROSS else []
    lines = [*found[:LISTED_ACROSS], *more] or ["no system is shown to be better than another."]
    return [head, *lines, document["assumed"]]


def _pair_lines(pair: Document) -> Iterator[str]:
    for side, other in (("a", "b"), ("b", "a")):
        better = pair[f"{side}_better"]
        significant = [_name(test) for test in pair["tests"] if test["significant"] and test["better"] == side]
        if not better["k_bonferroni"] and not better["k_fisher"] and not significant:
            continue
        count = f"at least {better['k_bonferroni']} of {len(pair['tests'])}"
        if better["k_fisher"] is not None:
            count += f" ({better['k_fisher']} if they are independent)"
        named = f"; significant: {', '.join(significant)}" if significant else ""
        yield f"{one_line(pair[side])} is better than {one_line(pair[other])} on {count}{named}"


def _name(test: Document) -> str:
    return str(test.get("benchmark", test["score"]))


def comparison_tables(document: Mapping[str, Any], shares: Container[str] = ()) -> list[Table]:
    """Return the tables of a comparison; warnings stand above the first, what is said below the last.

    Args:
        document: the comparison.
        shares: scores whose figures are written in percent.
    """
    table = crosstable.cross_table(document, shares)
    heads, rows = crosstable.system_table(table)
    columns = [
        Column(head, numeric=head not in ("system", "runs") and not head.endswith(crosstable.INTERVAL))
        for head in heads
    ]
    cluster = [system.get("cluster") for system in table.systems]
    if any(each is not None for each in cluster):
        columns.append(Column("cluster", numeric=True))
        rows = [[*row, str(each)] for row, each in zip(rows, cluster, strict=True)]
    said = [*crosstable.notes(document), *crosstable.signature_lines(document)]
    warnings = document["warnings"]
    if len(table.systems) <= 2 or not table.cells:
        found = crosstable.dagger_line(table)
        return [Table(crosstable.headline(table), columns, rows, warnings, [*([found] if found else []), *said])]
    return [Table(crosstable.headline(table), columns, rows, warnings), _pairs_table(table, said)]


def _pairs_table(table: crosstable.CrossTable, said: list[str]) -> Table:
    columns = [Column(""), *map(Column, table.names[1:])]
    return Table(legend(table), columns, pair_rows(table, table.names), notes=said)


def across_table(document: Mapping[str, Any]) -> Table:
    """Return the comparisons of several scores as one family: lines below a head, no cells."""
    head, *lines = across_lines(document)
    return Table(head, [], [], notes=lines)


def score_tables(
    spec: Spec, systems: Sequence[Document], warnings: Sequence[Document] = (), unit: Unit = PERCENT
) -> list[Table]:
    """Return a table for each metric.

    Args:
        spec: the metrics.
        systems: as `systems` of results.
        warnings: of the results.
        unit: in which shares are shown.
    """
    return [_scores_table(entry, systems, warnings, unit) for entry in spec.entries]


def headline_scores(entry: Entry, systems: Sequence[Document]) -> dict[str, Score]:
    """Return the scores that a table shows, by the heads of their columns."""
    metric, known = entry.metric, entry.metric.table.by_name
    shown = {head: known[name] for name, head in metric.headline.items() if name in known}
    for name, head in metric.headline_below_best.items():
        values = [value_at(system["metrics"][entry.key]["scores"], name) for system in systems]
        if any(value is not None and value != known[name].best for value in values):
            shown[head] = known[name]
    return shown or {entry.metric.table.scores[0].name: entry.metric.table.scores[0]}


def _scores_table(entry: Entry, systems: Sequence[Document], warnings: Sequence[Document], unit: Unit) -> Table:
    shown = headline_scores(entry, systems)
    rows = []
    for system in systems:
        scores = system["metrics"][entry.key]["scores"]
        values = [
            figures_of(unit, share=score.is_share).value(value_at(scores, score.name)) for score in shown.values()
        ]
        rows.append([one_line(system["name"]), *values])
    named = entry.key if entry.key == entry.name else f"{entry.key} ({entry.name})"
    signatures = {system["name"]: system["metrics"][entry.key]["signature"] for system in systems}
    return Table(
        caption=f"{named}, scores in percent" if unit == PERCENT and any(s.is_share for s in shown.values()) else named,
        columns=[Column("system"), *(Column(head, numeric=True) for head in shown)],
        rows=rows,
        warnings=warning_lines(warnings_of_metric(warnings, entry.key)),
        notes=[
            *_undefined(entry, shown, systems),
            *crosstable.unscored_lines((each["name"], each["metrics"][entry.key]["sentences"]) for each in systems),
            *extra_notes(entry, [system["metrics"][entry.key] for system in systems]),
            crosstable.signature_of_scores(entry, signatures) if signatures else "",
        ],
    )


def _undefined(entry: Entry, shown: Mapping[str, Score], systems: Sequence[Document]) -> Iterator[str]:
    """Yield why each undefined score has no value, once for all systems."""
    for head, score in shown.items():
        names = [
            one_line(system["name"])
            for system in systems
            if value_at(system["metrics"][entry.key]["scores"], score.name) is None
        ]
        if names:
            yield f"{head} of {', '.join(names)} is undefined: {score.undefined}."


def extra_notes(entry: Entry, found: Iterable[Document]) -> list[str]:
    """Return what is said of members of `extra` that documents of the metric have."""
    members = {member for document in found for member in document.get("extra", ())}
    return [note for member, note in entry.metric.extra_notes.items() if member in members]


def renderable(tables: Sequence[Table]) -> RenderableType:
    """Return tables with their warnings above and their notes below; names are never taken for markup."""
    from rich.console import Group  # noqa: PLC0415 - only a terminal needs rich, here and below

    return Group(*(part for table in tables for part in _rich_parts(table)))


def _rich_parts(table: Table) -> list[RenderableType]:
    from rich.table import Table as RichTable  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    parts: list[RenderableType] = [Text(text_warning(words), "bold yellow") for words in table.warnings]
    if table.caption:
        parts.append(Text(one_line(table.caption), "bold"))
    grid = RichTable(box=None, pad_edge=False)
    for column, head in zip(table.columns, table.heads, strict=True):
        grid.add_column(Text(head), justify="right" if column.numeric else "left")
    for row in table.cells:
        grid.add_row(*map(Text, row))
    if table.rows:
        parts.append(grid)
    return [*parts, *(Text(one_line(note), "dim") for note in table.notes)]
