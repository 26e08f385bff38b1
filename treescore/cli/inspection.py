"""`treescore errors`, `slices` and `diff`: what outputs have wrong, from files.

`slices` shows scores by groups of sentences, words or brackets, `diff` the sentences that one output has right and
another one wrong. Options choose errors: `--deprel`, `--upos`, `--label`, `--length`, `--sentence`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

import click
import orjson

from treescore.cli import options
from treescore.cli.exits import epilog, write

if TYPE_CHECKING:
    from treescore.results.views import Filters


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
    from treescore.cli.views import Named, write_views  # noqa: PLC0415 - as above

    result = evaluated(asked).result
    entries = result.report.spec.entries
    if by is None:
        known = {entry.key: result.groupings(next(iter(result)), entry.key) for entry in entries}
        write(_listed(known, form).encode(), output)
        return
    named = [
        Named({"system": name, "metric": entry.key}, result.slices(name, by, entry.key))
        for entry in entries
        for name in result
    ]
    write_views(result, named, form, unit, output)


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


def filters_of(asked: AskedFilters) -> Filters:
    """Return the filters that were asked for."""
    given: Filters = {}
    for name in ("deprel", "upos", "label", "sentence"):
        if asked[name]:
            given[name] = list(asked[name])
    if asked["length"] is not None:
        given["length"] = asked["length"]
    return given


def limit_of(limit: int | None, form: str, output: Path | None) -> int:
    """Return how many rows are shown; 0 for all."""
    if limit is not None:
        return limit
    return ON_A_TERMINAL if form == options.TEXT and output is None and options.is_terminal() else 0


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
    form = options.chosen_form(output, options.VIEWS, options.paths_of(asked))
    from treescore.cli.files import evaluated  # noqa: PLC0415 - the help needs no arrays
    from treescore.cli.views import Named, write_views  # noqa: PLC0415 - as above

    result = evaluated(asked).result
    filters = filters_of(asked)
    named = [
        Named({"system": name, "metric": entry.key}, result.errors(name, entry.key, **filters))
        for entry in result.report.spec.entries
        for name in result
    ]
    write_views(result, named, form, unit, output, limit_of(limit, form, output))


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
    form = options.chosen_form(output, options.VIEWS, options.paths_of(asked))
    from treescore.cli.files import evaluated  # noqa: PLC0415 - the help needs no arrays
    from treescore.cli.views import Named, write_views  # noqa: PLC0415 - as above

    result = evaluated(asked).result
    first, second = result
    filters = filters_of(asked)
    named = [
        Named({"right": right, "wrong": wrong, "metric": entry.key}, result.diff(right, wrong, entry.key, **filters))
        for entry in result.report.spec.entries
        for right, wrong in [(first, second), *([(second, first)] if both else [])]
    ]
    write_views(result, named, form, unit, output, limit_of(limit, form, output))
