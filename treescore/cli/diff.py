"""`treescore diff`: sentences that one output has right and another one wrong, from files."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from treescore.cli.arguments import files, input_options, paths_of
from treescore.cli.exits import epilog
from treescore.cli.filters import AskedErrors, filter_options, filters_of, limit_of
from treescore.cli.forms import VIEWS, chosen_form, form_options, unit_option


@click.command(
    epilog=epilog(
        "treescore diff gold.conllu mine.conllu theirs.conllu --deprel obl",
        "treescore diff gold.conllu A=a/out.conllu B=b/out.conllu --both",
        "treescore diff gold.mrg mine.mrg theirs.mrg --length 40- --markdown",
        status_69="",
    )
)
@files
@input_options
@filter_options
@click.option("--both", is_flag=True, help="Then list those that B has right and A has wrong.")
@form_options(*VIEWS)
@unit_option
def diff(*, both: bool, output: Path | None, unit: str, limit: int | None, **asked: Unpack[AskedErrors]) -> None:
    """List the sentences that output A has right and output B has wrong.

    The two OUTPUTs are A and B, as in `treescore score`. With a filter, a sentence is right where it has no error that
    the filter leaves: with --deprel obl, where every obl is right.
    """
    if len(asked["outputs"]) != 2:
        raise click.UsageError("Name two outputs after gold, as in: gold.conllu mine.conllu theirs.conllu")
    form = chosen_form(output, VIEWS, paths_of(asked))
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
