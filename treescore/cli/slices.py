"""`treescore slices`: scores by groups of sentences, words or brackets, from files."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click
import orjson

from treescore.cli.arguments import Asked, files, input_options, paths_of
from treescore.cli.exits import epilog
from treescore.cli.forms import JSON, VIEWS, chosen_form, form_options, unit_option
from treescore.cli.output import write


@click.command(
    epilog=epilog(
        "treescore slices gold.conllu mine.conllu",
        "treescore slices gold.conllu mine.conllu --by deprel",
        "treescore slices gold.conllu a.conllu b.conllu --by sentence_length --csv",
        status_69="",
    )
)
@files
@input_options
@click.option("--by", metavar="NAME", help="The grouping. Without it the groupings are listed.")
@form_options(*VIEWS)
@unit_option
def slices(by: str | None, output: Path | None, unit: str, **asked: Unpack[Asked]) -> None:
    """Show the scores of outputs by relation, tag, length, ...

    GOLD and each OUTPUT are as in `treescore score`.
    """
    form = chosen_form(output, VIEWS, paths_of(asked))
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
    if form == JSON:
        return orjson.dumps(known, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    return "".join(f"{key}: {', '.join(names) or 'no groupings'}\n" for key, names in known.items())
