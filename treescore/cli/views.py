"""Results and their views in the form that a command prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, NamedTuple

import orjson

from treescore.cli.forms import CSV, JSON, TEXT, is_terminal
from treescore.cli.output import write
from treescore.cli.problems import warn_of
from treescore.render.tables import Table, text_table
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
    from treescore.cli.fitting import fitted  # noqa: PLC0415 - pipes need no rich

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
