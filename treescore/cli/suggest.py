"""`treescore suggest`: the format of a file, by its first lines, and what it can be scored with."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from treescore.cli.exits import epilog

if TYPE_CHECKING:
    from treescore.core.params import Json
    from treescore.evaluation.suggest import Suggestion


@click.command(epilog=epilog("treescore suggest gold.txt", "treescore suggest gold.txt --json"))
@click.argument("file", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print what the service's POST /v1/scorers/suggestions answers.")
def suggest(file: str, *, as_json: bool) -> None:
    """Tell the format of a file by its first lines, with the metrics that fit it, and say why.

    FILE is a path, or - for standard input.
    """
    import orjson  # noqa: PLC0415 - the help needs none

    from treescore.api import suggest as suggested  # noqa: PLC0415 - the help needs no registry
    from treescore.cli.files import one_source  # noqa: PLC0415 - as above

    found = suggested(one_source(file))
    if as_json:
        click.echo(orjson.dumps({"suggestions": [each.document() for each in found]}, option=orjson.OPT_INDENT_2))
        return
    formatter = click.get_current_context().make_formatter()
    if not found:
        formatter.write_text(f"The first lines of {file} fit no format. `treescore formats` lists all.")
    for number, suggestion in enumerate(found):
        _write(formatter, suggestion, file, best=number == 0)
    click.echo(formatter.getvalue(), nl=False)


def _write(formatter: click.HelpFormatter, suggestion: Suggestion, file: str, *, best: bool) -> None:
    formatter.write_text(f"{suggestion.certainty.capitalize()}: format {_json_words(suggestion.format)}")
    with formatter.indentation():
        formatter.write_dl([("why", " ".join(suggestion.why))])
        formatter.write_dl([(_json_words(scored.metric), scored.why) for scored in suggestion.metrics])
        if best and suggestion.metrics:
            command = ["treescore", "score", "--format", _json_words(suggestion.format)]
            command += ["--metric", _json_words(suggestion.metrics[0].metric), file, "OUTPUT"]
            formatter.write(f"{' ' * formatter.current_indent}{shlex.join(command)}\n")
    formatter.write("\n")


def _json_words(value: Json) -> str:
    import orjson  # noqa: PLC0415 - the help needs none

    return value if isinstance(value, str) else orjson.dumps(value).decode()
