"""`treescore errors`, `slices` and `diff`: what outputs have wrong, from files.

`slices` shows scores by groups of sentences, words or brackets, `diff` the sentences that one output has right and
another one wrong. Options choose errors: `--deprel`, `--upos`, `--label`, `--length`, `--sentence`. Long cells are
shortened on a terminal, so that lines do not break.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

import click
import orjson

from treescore.cli import options
from treescore.cli.exits import epilog, write
from treescore.render.table import Table, text_table, width_of

if TYPE_CHECKING:
    from treescore.cli.files import Scored
    from treescore.results import Result, View
    from treescore.results.views import Filters

    Named = tuple[Mapping[str, str], View]
    """A view with members that tell its rows from those of other views (`system`, `metric`)."""


@click.command(
    epilog=epilog(
        "treescore slices gold.conllu mine.conllu",
        "treescore slices gold.conllu mine.conllu --by deprel",
        "treescore slices gold.conllu a.conllu b.conllu --by sentence_length --csv",
        status_69="",
    )
)
@options.files
@options.input_options
@click.option("--by", metavar="NAME", help="The grouping. Without it the groupings are listed.")
@options.form_options(*options.VIEWS)
@options.unit_option
def slices(by: str | None, output: Path | None, unit: str, **asked: Unpack[options.Asked]) -> None:
    """Show the scores of outputs by relation, tag, length, ...

    GOLD and each OUTPUT are as in `treescore score`.
    """
    form = options.chosen_form(output, options.VIEWS, options.paths_of(asked))
    from treescore.cli.files import evaluated  # noqa: PLC0415 - the help needs no arrays

    scored = evaluated(asked)
    result = scored.result
    entries = result.report.spec.entries
    if by is None:
        known = {entry.key: result.groupings(next(iter(result)), entry.key) for entry in entries}
        write(_listed(known, form).encode(), output)
        return
    views = [
        ({"system": name, "metric": entry.key}, result.slices(name, by, entry.key))
        for entry in entries
        for name in result
    ]
    _write_views(scored, views, form, unit, output, 0)


def _listed(known: dict[str, list[str]], form: str) -> str:
    """Return the groupings of each metric, in a form that a program or a person reads."""
    if form == options.JSON:
        return orjson.dumps(known, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    return "".join(f"{key}: {', '.join(names) or 'no groupings'}\n" for key, names in known.items())


_Function = TypeVar("_Function", bound=Callable[..., object])
ON_A_TERMINAL = 50
"""Rows of a view that a terminal shows unless `--limit` says otherwise."""


class AskedFilters(TypedDict):
    """The values of these options, as click hands them over."""

    deprel: Sequence[str]
    upos: Sequence[str]
    label: Sequence[str]
    length: str | None
    sentence: Sequence[str]


class AskedErrors(options.Asked, AskedFilters):
    """All options of a command that lists errors but those of its form."""


def filter_options(function: _Function) -> _Function:
    """Add the options."""
    for option in (
        click.option(
            "--limit", type=options.WholeNumber(0, 10), metavar="N",
            help=f"Rows of each report; 0 for all. {ON_A_TERMINAL} on a terminal, else all.",
        ),
        click.option(
            "--sentence", multiple=True, metavar="N|SENT_ID",
            help="Only in these sentences, by number from 1 or by name. Repeatable.",
        ),
        click.option(
            "--length", type=options.Lengths(), help="Only in sentences of so many words, as 12, 10-20 or 40-."
        ),
        click.option(
            "--label", multiple=True, metavar="LABEL",
            help="Only brackets of this label; NP stands for NP-SBJ too. Repeatable.",
        ),
        click.option("--upos", multiple=True, metavar="TAG", help="Only words of this part of speech. Repeatable."),
        click.option(
            "--deprel", multiple=True, metavar="RELATION",
            help="Only this relation, of gold or of the output; obl stands for obl:tmod too. Repeatable.",
        ),
    ):  # fmt: skip
        function = option(function)
    return function


def _write(
    views: Callable[[Result, Filters], Iterator[Named]],
    asked: AskedErrors,
    output: Path | None,
    unit: str,
    limit: int | None,
) -> None:
    """Score the files and write views of the result under the filters that were asked for."""
    form = options.chosen_form(output, options.VIEWS, options.paths_of(asked))
    from treescore.cli.files import evaluated  # noqa: PLC0415 - the help needs no arrays

    filters: Filters = {}
    for name in ("deprel", "upos", "label", "sentence"):
        if asked[name]:
            filters[name] = list(asked[name])
    if asked["length"] is not None:
        filters["length"] = asked["length"]
    if limit is None:
        limit = ON_A_TERMINAL if form == options.TEXT and output is None and options.is_terminal() else 0
    scored = evaluated(asked)
    _write_views(scored, views(scored.result, filters), form, unit, output, limit)


@click.command(
    epilog=epilog(
        "treescore errors gold.conllu mine.conllu --deprel obl",
        "treescore errors gold.conllu mine.conllu --length 10-20 --limit 5",
        "treescore errors gold.mrg mine.mrg --label NP --output errors.csv",
        status_69="",
    )
)
@options.files
@options.input_options
@filter_options
@options.form_options(*options.VIEWS)
@options.unit_option
def errors(output: Path | None, unit: str, limit: int | None, **asked: Unpack[AskedErrors]) -> None:
    """List the errors of outputs, sentence by sentence.

    GOLD and each OUTPUT are as in `treescore score`. An error is what costs the metric's main score. Where several
    filters are given, all of them must hold; of one filter that is repeated, one.
    """

    def views(result: Result, filters: Filters) -> Iterator[Named]:
        for entry in result.report.spec.entries:
            for name in result:
                yield {"system": name, "metric": entry.key}, result.errors(name, entry.key, **filters)

    _write(views, asked, output, unit, limit)


@click.command(
    epilog=epilog(
        "treescore diff gold.conllu mine.conllu theirs.conllu --deprel obl",
        "treescore diff gold.conllu A=a/out.conllu B=b/out.conllu --both",
        "treescore diff gold.mrg mine.mrg theirs.mrg --length 40- --markdown",
        status_69="",
    )
)
@options.files
@options.input_options
@filter_options
@click.option("--both", is_flag=True, help="Then list those that B has right and A has wrong.")
@options.form_options(*options.VIEWS)
@options.unit_option
def diff(*, both: bool, output: Path | None, unit: str, limit: int | None, **asked: Unpack[AskedErrors]) -> None:
    """List the sentences that output A has right and output B has wrong.

    The two OUTPUTs are A and B, as in `treescore score`. With a filter, a sentence is right where it has no error that
    the filter leaves: with --deprel obl, where every obl is right.
    """
    if len(asked["outputs"]) != 2:
        raise click.UsageError("Name two outputs after gold, as in: gold.conllu mine.conllu theirs.conllu")

    def views(result: Result, filters: Filters) -> Iterator[Named]:
        first, second = result
        for entry in result.report.spec.entries:
            for right, wrong in [(first, second), *([(second, first)] if both else [])]:
                about = {"right": right, "wrong": wrong, "metric": entry.key}
                yield about, result.diff(right, wrong, entry.key, **filters)

    _write(views, asked, output, unit, limit)


def _write_views(scored: Scored, named: Iterable[Named], form: str, unit: str, output: Path | None, limit: int) -> None:
    """Write views of one kind in a form; of JSON and CSV the warnings are on standard error too.

    Args:
        scored: that they are of.
        named: the views.
        form: in JSON each view is an object; in CSV all of them are one table, in which columns say whose a row is.
        unit: of scores.
        output: the file that is written; None for standard output, where a terminal's lines do not break.
        limit: rows of each view that are shown; 0 for all.
    """
    shown = [(members, view.first(limit, " --limit 0 shows all.")) for members, view in named]
    if form in (options.JSON, options.CSV):
        scored.warn()
    write(_rendered_views(shown, form, unit, output).encode(), output)


def _rendered_views(shown: Sequence[Named], form: str, unit: str, output: Path | None) -> str:
    from treescore.results.views import csv_text, json_text  # noqa: PLC0415 - the help needs no arrays

    if form == options.JSON:
        return json_text([{**members, **orjson.loads(view.to_json())} for members, view in shown])
    if form == options.CSV:
        columns = dict.fromkeys([*shown[0][0], *(name for _, view in shown for name in view.columns), "warnings"])
        rows: list[dict[str, Any]] = []
        for members, view in shown:
            rows += [{**members, **row, "warnings": " ".join(view.warnings)} for row in view.rows]
        return csv_text(list(columns), rows)
    if form == options.TEXT and options.is_terminal() and output is None:
        width = get_terminal_size().columns
        tables = [table for _, view in shown for table in view.tables(unit)]  # type: ignore[arg-type]  # click has checked it
        return "\n".join(text_table(fitted(table, width), width) for table in tables)
    return "\n".join(view.render(form, unit) for _, view in shown)  # type: ignore[arg-type]  # as above


LEAST = 12
"""Columns of the terminal that a shortened cell keeps."""
CUT_MARK = "…"
SPARED = "sent id"
"""Head of the column that is left out where nothing else helps: the number of the sentence stands beside it."""


def fitted(table: Table, width: int) -> Table:
    """Return a table whose lines fit the terminal, as far as shortening cells of text can do it; else as it is.

    Args:
        table: the table.
        width: columns of the terminal.
    """
    widths = table.widths
    excess = table.width - width
    while excess > 0:
        column = _widest(widths, table)
        if column is None:
            return fitted(_without(table, SPARED), width) if SPARED in table.heads else table
        widths[column] -= 1
        excess -= 1
    cuts = [_cut_inside_cell if head == SPARED else _cut_cell for head in table.heads]
    rows = [[cut(cell, size) for cut, cell, size in zip(cuts, row, widths, strict=True)] for row in table.cells]
    return replace(table, rows=rows)


def _widest(widths: Sequence[int], table: Table) -> int | None:
    """Return the widest column that can be shortened."""
    least = [max(LEAST, width_of(head)) for head in table.heads]
    found = [at for at, size in enumerate(widths) if size > least[at] and not table.columns[at].numeric]
    return max(found, key=widths.__getitem__, default=None)


def _without(table: Table, head: str) -> Table:
    left = [at for at, each in enumerate(table.heads) if each != head]
    rows = [[row[at] for at in left] for row in table.rows]
    return replace(table, columns=[table.columns[at] for at in left], rows=rows)


def _cut_cell(cell: str, size: int) -> str:
    return cell if width_of(cell) <= size else _beginning(cell, size - 1).rstrip() + CUT_MARK


def _cut_inside_cell(cell: str, size: int) -> str:
    """Return a cell shortened in its middle: names of sentences differ at the end."""
    if width_of(cell) <= size:
        return cell
    end = (size - 1) * 2 // 3
    return _beginning(cell, size - 1 - end).rstrip() + CUT_MARK + _beginning(cell[::-1], end).rstrip()[::-1]


def _beginning(cell: str, size: int) -> str:
    """Return as much of a cell as has this width."""
    from rich.cells import set_cell_size  # noqa: PLC0415 - most tables fit

    return set_cell_size(cell, size)
