"""`treescore repeat`: a benchmark's comparison again, from files."""

from __future__ import annotations

from pathlib import Path

import click
import orjson

from treescore.cli.exits import MISSED, epilog
from treescore.cli.limits import read_limits


@click.command(
    epilog=epilog(
        "treescore repeat comparison.json gold.conllu outputs/",
        status_1="the printed answer differs from that of COMPARISON",
    )
)
@click.argument("comparison", type=click.Path(path_type=Path))
@click.argument("gold", type=click.Path(path_type=Path))
@click.argument("outputs", type=click.Path(path_type=Path))
def repeat(comparison: Path, gold: Path, outputs: Path) -> None:
    """Score files again and print the answer of COMPARISON, a comparison of submissions as JSON.

    GOLD is a folder with a text for each part, OUTPUTS one with a folder for each submission, named by its id, with a
    text for each part. Texts are named as their parts (PART.FIELD each for formats of several texts, PART.items.json
    for the attributes of gold's sentences). With a single part GOLD may be the text itself, and so may each submission.
    """
    from treescore.cli.repeated import repeated  # noqa: PLC0415 - the help needs no compiler

    shown, document = repeated(comparison, gold, outputs, read_limits())
    click.echo(orjson.dumps(document), nl=False)
    other = [name for name in shown if document[name] != shown[name]] + [name for name in document if name not in shown]
    if other:
        versions = [str(each.get("signature", {}).get("version")) for each in (shown, document)]
        why = "" if versions[0] == versions[1] else f" It was made by version {versions[0]}, this is {versions[1]}."
        click.echo(f"The answer differs from {comparison} in: {', '.join(other)}.{why}", err=True)
        raise SystemExit(MISSED)
