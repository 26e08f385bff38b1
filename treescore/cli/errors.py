"""`treescore errors`: what outputs have wrong, from files."""

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
        "treescore errors gold.conllu mine.conllu --deprel obl",
        "treescore errors gold.conllu mine.conllu --length 10-20 --limit 5",
        "treescore errors gold.mrg mine.mrg --label NP --output errors.csv",
        status_69="",
    )
)
@files
@input_options
@filter_options
@form_options(*VIEWS)
@unit_option
def errors(output: Path | None, unit: str, limit: int | None, **asked: Unpack[AskedErrors]) -> None:
    """List the errors of outputs, sentence by sentence.

    GOLD and each OUTPUT are as in `treescore score`. An error is what costs the metric's main score. Where several
    filters are given, all of them must hold; of one filter that is repeated, one.
    """
    form = chosen_form(output, VIEWS, paths_of(asked))
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
