"""`treescore compare`: which differences between outputs are real, from files, as the service says it."""

from __future__ import annotations

import importlib.util
from typing import Unpack

import click

from treescore.cli.arguments import Asked, request_of, request_options, split_name
from treescore.cli.exits import MISSED
from treescore.cli.margins import claims, margin_settings
from treescore.render import FORMATS, render_comparisons


@click.command()
@request_options
@click.option(
    "--as", "form", default="text", show_default=True, type=click.Choice(list(FORMATS)), help="How to print it.",
)  # fmt: skip
@click.option(
    "--not-worse-than", "reference", metavar="NAME",
    help="End with status 1 unless every other output is shown not to be worse than this one by more than --margin, "
    "on every compared score.",
)  # fmt: skip
@click.option("--margin", type=float, metavar="X", help="The margin of --not-worse-than, in units of the score.")
def compare(form: str, reference: str | None, margin: float | None, **asked: Unpack[Asked]) -> None:
    """Compare two or more OUTPUTS (each PATH or NAME=PATH) and print which differences are real."""
    if len(asked["outputs"]) < 2:
        raise click.UsageError("Name at least two outputs.")
    if form == "svg" and importlib.util.find_spec("matplotlib") is None:
        raise click.ClickException("Drawing needs matplotlib. Install it with: pip install 'treescore[plot]'")
    from treescore.cli.files import evaluated  # noqa: PLC0415 - the help needs no arrays

    request = request_of(asked)
    names = [split_name(argument)[0] for argument in asked["outputs"]]
    request["significance"] = margin_settings(reference, margin, names, request["significance"])
    result = evaluated(asked, request)
    click.echo(render_comparisons(result.comparisons, form, result.across).content, nl=False)
    if reference is None or margin is None:
        return
    found = list(claims(result.comparisons, reference, margin))
    for claim in found:
        if form == "text" or not claim.established:
            click.echo(claim.line, err=form != "text")
    if not all(claim.established for claim in found):
        raise SystemExit(MISSED)
