"""Results and their views in the form that a command prints.

On a terminal long cells are shortened, so that lines do not break.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, NamedTuple

import orjson
from rich.cells import cell_len, set_cell_size

from treescore.cli.exits import write
from treescore.cli.files import warn_of
from treescore.cli.options import CSV, JSON, TEXT, is_terminal
from treescore.render.table import Table, text_table
from treescore.results import Result, View
from treescore.results.views import csv_text, json_text


class Named(NamedTuple):
    """A view with what it is of: members that tell its rows from those of other views (`system`, `metric`)."""

    members: Mapping[str, str]
    view: View


def write_views(
    result: Result, named: Sequence[Named], form: str, unit: str, output: Path | None, limit: int = 0
) -> None:
    """Write views of one kind in a form; of JSON and CSV the warnings are on standard error too.

    Args:
        result: that they are of.
        named: the views.
        form: in JSON each view is an object; in CSV all of them are one table, in which columns say whose a row is.
        unit: of scores.
        output: the file that is written; None for standard output, where a terminal's lines do not break.
        limit: rows of each view that are shown; 0 for all.
    """
    if form in (JSON, CSV):
        warn_of(result)
    write(_rendered_views(named, form, unit, output, limit).encode(), output)


def _rendered_views(named: Sequence[Named], form: str, unit: str, output: Path | None, limit: int) -> str:
    shown = [Named(members, _cut_view(view, limit)) for members, view in named]
    if form == JSON:
        return json_text([{**members, **orjson.loads(view.to_json())} for members, view in shown])
    if form == CSV:
        return _csv(shown)
    if form == TEXT and is_terminal() and output is None:
        return "\n".join(map(_on_a_terminal, (table for _, view in shown for table in view.tables(unit))))  # type: ignore[arg-type]  # as above
    return "\n".join(view.render(form, unit) for _, view in shown)  # type: ignore[arg-type]  # as above


def _on_a_terminal(table: Table) -> str:

    return text_table(fitted(table, get_terminal_size().columns))


def _csv(named: Sequence[Named]) -> str:
    columns = _once([*named[0].members, *(name for _, view in named for name in view.columns), "warnings"])
    rows: list[dict[str, Any]] = []
    for members, view in named:
        said = " ".join(view.warnings)
        rows += [{**members, **row, "warnings": said} for row in view.rows]
    return csv_text(columns, rows)


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _cut_view(view: View, limit: int) -> View:
    more = len(view) - limit
    if limit == 0 or more <= 0:
        return view
    note = f"... and {more} more. --limit 0 shows all."
    return replace(view, rows=view.rows[:limit], notes=(note, *view.notes))


LEAST = 12
"""Columns of the terminal that a shortened cell keeps."""
GAP = 2
CUT_MARK = "…"
SPARED = "sent id"
"""Head of the column that is left out where nothing else helps: the number of the sentence stands beside it."""


def fitted(table: Table, width: int) -> Table:
    """Return a table whose lines fit the terminal, as far as shortening cells of text can do it; else as it is.

    Args:
        table: the table.
        width: columns of the terminal.
    """
    lines = [table.heads, *table.cells]
    widths = [max(cell_len(cell) for cell in column) for column in zip(*lines, strict=True)]
    excess = sum(widths) + GAP * (len(widths) - 1) - width
    while excess > 0:
        column = _widest(widths, table)
        if column is None:
            return fitted(_without(table, SPARED), width) if SPARED in table.heads else table
        widths[column] -= 1
        excess -= 1
    rows = [
        [
            _cut_inside_cell(cell, size) if head == SPARED else _cut_cell(cell, size)
            for head, cell, size in zip(table.heads, row, widths, strict=True)
        ]
        for row in table.cells
    ]
    return replace(table, rows=rows)


def _widest(widths: Sequence[int], table: Table) -> int | None:
    """Return the widest column that can be shortened."""
    least = [max(LEAST, cell_len(head)) for head in table.heads]
    found = [at for at, size in enumerate(widths) if size > least[at] and not table.columns[at].numeric]
    return max(found, key=widths.__getitem__, default=None)


def _without(table: Table, head: str) -> Table:
    left = [at for at, each in enumerate(table.heads) if each != head]
    rows = [[row[at] for at in left] for row in table.rows]
    return replace(table, columns=[table.columns[at] for at in left], rows=rows)


def _cut_cell(cell: str, size: int) -> str:
    return cell if cell_len(cell) <= size else set_cell_size(cell, size - 1).rstrip() + CUT_MARK


def _cut_inside_cell(cell: str, size: int) -> str:
    """Return a cell shortened in its middle: names of sentences differ at the end."""
    if cell_len(cell) <= size:
        return cell
    end = (size - 1) * 2 // 3
    return set_cell_size(cell, size - 1 - end).rstrip() + CUT_MARK + set_cell_size(cell[::-1], end).rstrip()[::-1]
