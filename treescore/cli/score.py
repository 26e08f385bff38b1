"""`treescore score`: the numbers of the service, from files, without it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from treescore.cli.arguments import Asked, files, input_options, paths_of, run_options
from treescore.cli.exits import epilog
from treescore.cli.forms import CSV, JSON, TEXT, VIEWS, chosen_form, explicit_form, form_options, unit_option
from treescore.cli.output import write
from treescore.cli.settings import significance_option
from treescore.core.params import Json

if TYPE_CHECKING:
    from treescore.cli.files import Scored


@click.command(
    epilog=epilog(
        "treescore score gold.conllu mine.conllu",
        "treescore score gold.conllu A=a/out.conllu B=b/out.conllu --latex",
        "treescore score gold.mrg mine.mrg --style evalb",
        "treescore score --format pharaoh gold.txt mine.txt --output scores.csv",
        status_69="",
    )
)
@files
@input_options
@run_options
@significance_option
@form_options(*VIEWS, names={TEXT: ["--table"]})
@unit_option
@click.option(
    "--style", metavar="NAME", help="Print the original program's layout: evalb, eval07, conll18, parseme, wa_eval."
)
def score(
    significance: Mapping[str, Json] | None, output: Path | None, unit: str, style: str | None, **asked: Unpack[Asked]
) -> None:
    """Score outputs against gold.

    GOLD and each OUTPUT are a file, a folder, a .zip, .gz or .zst of one, or - for standard input. An OUTPUT can be
    named, as NAME=PATH; else its name is what tells its path from the others.

    On a terminal the command prints a table of the scores that the field reports. In a pipe it prints JSON: the
    document that a job of the service would hold, with all scores, counts and comparisons.
    """
    form = chosen_form(output, VIEWS, paths_of(asked), otherwise=JSON)
    if style is not None and explicit_form():
        raise click.UsageError(f"--style and {explicit_form()} are two forms. Choose one of them.")
    if significance is not None and (form != JSON or style is not None):
        advice = "Add --json, or use `treescore compare`, which prints every form."
        raise click.UsageError(f"--significance: this command prints comparisons as JSON alone. {advice}")
    compared = significance
    if compared is None and form == JSON and style is None and _several(asked):
        compared = {}
    from treescore.cli.files import evaluated  # noqa: PLC0415 - the help needs no arrays

    scored = evaluated(asked, compared)
    text = _styled(scored, style) if style is not None else _rendered_scores(scored, form, unit)
    write(text.encode(), output)


def _several(asked: Asked) -> bool:
    """Return whether several outputs are named, which are then compared."""
    return len(asked["outputs"]) + len(asked["runs"]) > 1


def _rendered_scores(scored: Scored, form: str, unit: str) -> str:
    """Return the scores in a form; JSON and CSV warn on standard error too."""
    from treescore.cli.problems import warn_of  # noqa: PLC0415 - as the scoring

    if form in (JSON, CSV):
        warn_of(scored.result)
    text: str = scored.result.render(form, unit)  # type: ignore[arg-type]  # click has checked the unit
    return f"{text}\n{scored.taken}\n" if form == TEXT and scored.taken else text


def _styled(scored: Scored, style: str) -> str:
    """Return the reports of all systems in the layout of the original program, each named where there are several.

    Raises:
        click.UsageError: the metric does not print this style.
    """
    from treescore.cli.problems import warn_of  # noqa: PLC0415 - as the scoring
    from treescore.core.suggestions import did_you_mean  # noqa: PLC0415 - as the scoring

    report = scored.result.report
    entry = report.spec.entries[0]
    known = entry.metric.own_styles
    if style not in known:
        meant = did_you_mean(style, known)
        raise click.UsageError(f"Unknown style {style!r} of {entry.name}.{meant} Styles: {', '.join(known) or 'none'}.")
    warn_of(scored.result)
    parts = [entry.metric.report(style, outcomes[entry.key]) for outcomes in report.outcomes]
    if len(parts) == 1:
        return parts[0]
    return "".join(f"{name}:\n{part}" for name, part in zip(scored.result, parts, strict=True))
