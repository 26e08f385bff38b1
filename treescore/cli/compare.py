"""`treescore compare`: which differences between outputs are real, from files, as the service says it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from treescore.cli.arguments import Asked, files, input_options, paths_of, run_options
from treescore.cli.exits import MISSED, epilog
from treescore.cli.forms import CSV, JSON, SVG, TEXT, VIEWS, chosen_form, form_option, form_options, unit_option
from treescore.cli.margins import claims, margin_settings
from treescore.cli.output import write
from treescore.cli.settings import AskedSettings, setting_options, settings_of
from treescore.cli.values import Margin

if TYPE_CHECKING:
    from treescore.results import Comparison

FORMS = (*VIEWS, SVG)


class _Given(Asked, AskedSettings):
    """All options of the command but those of its form and of the margin."""


@click.command(
    epilog=epilog(
        "treescore compare gold.conllu mine.conllu theirs.conllu",
        "treescore compare gold.conllu A=a/out.conllu B=b/out.conllu --latex",
        "treescore compare gold.conllu --runs 'A=a/*.conllu' --runs 'B=b/*.conllu'",
        "treescore compare gold.conllu a.conllu b.conllu --scores ud.las_f1,ud.uas_f1",
        "treescore compare gold.mrg old.mrg b.mrg --not-worse-than old --margin 0.002",
        status_1="an output is not shown to be not worse (--not-worse-than)",
        status_69="",
    )
)
@files
@input_options
@run_options
@setting_options
@click.option(
    "--not-worse-than", "reference", metavar="NAME",
    help="End with status 1 unless every other output is shown not to be worse than this one by more than --margin, "
    "on every compared score.",
)  # fmt: skip
@click.option("--margin", type=Margin(), help="The margin of --not-worse-than, in units of the score, as 0.005.")
@form_options(*FORMS)
@form_option(*FORMS)
@unit_option
def compare(
    output: Path | None, unit: str, reference: str | None, margin: float | None, **asked: Unpack[_Given]
) -> None:
    """Tell which differences between two or more outputs are real.

    GOLD and each OUTPUT are as in `treescore score`. Several outputs of one system, of other seeds, are one system
    only where --run or --runs says so.
    """
    form = chosen_form(output, FORMS, paths_of(asked))
    if len(asked["outputs"]) + len(asked["runs"]) < 2:
        raise click.UsageError("Name at least two outputs, as in: gold.conllu mine.conllu theirs.conllu")
    settings = settings_of(asked)
    from treescore.cli.files import evaluated  # noqa: PLC0415 - the help needs no arrays
    from treescore.cli.outputs import given_outputs  # noqa: PLC0415 - as above
    from treescore.cli.problems import warn_of  # noqa: PLC0415 - as above
    from treescore.results import Comparison  # noqa: PLC0415 - as above

    names = [given.name for given in given_outputs(asked) if given.run_of is None]
    scored = evaluated(asked, margin_settings(reference, margin, names, settings))
    result = scored.result
    comparison = Comparison(result)
    text = comparison.render(form, unit)  # type: ignore[arg-type]  # click has checked the unit
    if form == TEXT and scored.taken:
        text = f"{text}\n{scored.taken}\n"
    if form in (JSON, CSV, SVG):
        warn_of(result)
    write(text.encode(), output)
    if reference is not None and margin is not None:
        _claim(comparison, reference, margin, form)


def _claim(comparison: Comparison, reference: str, margin: float, form: str) -> None:
    """Print which outputs are shown not to be worse, and end the command where one is not."""
    found = list(claims(comparison.comparisons, reference, margin))
    for claim in found:
        if form == TEXT or not claim.established:
            click.echo(claim.line, err=form != TEXT)
    if not all(claim.established for claim in found):
        raise SystemExit(MISSED)
