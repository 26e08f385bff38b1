"""`treescore score` and `treescore compare`: the numbers of the service, from files, without it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict, TypeVar, Unpack

import click
import orjson

from treescore.api import Result
from treescore.cli.exits import MISSED
from treescore.cli.files import evaluate_files, named_value, split_name
from treescore.cli.margins import claims, margin_settings
from treescore.cli.tables import comparison_text, scores_table
from treescore.core.params import Json
from treescore.render import FORMATS

_Function = TypeVar("_Function", bound=Callable[..., object])


class Asked(TypedDict):
    """The values of the shared options, as click hands them over."""

    gold: str
    outputs: Sequence[str]
    text_format: str
    system_format: str | None
    transforms: Sequence[str]
    metrics: Sequence[str]
    significance: str | None
    items: str | None
    runs: Sequence[str]
    output_formats: Sequence[str]


def request_options(function: _Function) -> _Function:
    """Add the options that both commands take."""
    for option in (
        click.argument("outputs", nargs=-1, required=True),
        click.argument("gold"),
        click.option(
            "--run", "runs", multiple=True, metavar="NAME=PATH", help="Further training run of the output NAME."
        ),
        click.option(
            "--output-format",
            "output_formats",
            multiple=True,
            metavar="NAME=FORMAT",
            help="Format of the output NAME where it differs from the others.",
        ),
        click.option("--items", help="JSON object with blocks, attributes, seconds, lengths, or @PATH of one."),
        click.option("--significance", help="JSON object with scores, test, seed, ..., as in the API."),
        click.option("--metric", "metrics", multiple=True, required=True, help="Name, or JSON with params."),
        click.option("--transform", "transforms", multiple=True, help="Name, or JSON with params and on."),
        click.option("--system-format", help="Format of the outputs where it differs from gold's."),
        click.option("--format", "text_format", required=True, help="Name, or JSON with options."),
    ):
        function = option(function)
    return function


def _request(asked: Asked) -> dict[str, Json]:
    """Return the options as a job request without texts."""
    request: dict[str, Json] = {
        "format": named_value(asked["text_format"]),
        "transforms": [named_value(value) for value in asked["transforms"]],
        "metrics": [named_value(value) for value in asked["metrics"]],
    }
    if len(asked["outputs"]) > 1:
        request["significance"] = named_value(asked["significance"] or "{}")
    if asked["items"]:
        request["items"] = named_value(asked["items"])
    return request


def _evaluated(asked: Asked, request: Mapping[str, Json]) -> Result:
    system_format = None if asked["system_format"] is None else named_value(asked["system_format"])
    return evaluate_files(
        request, asked["gold"], asked["outputs"], system_format, asked["runs"], asked["output_formats"]
    )


@click.command()
@request_options
@click.option("--style", help="Print the original program's layout instead (evalb, eval07, conll18, wa_eval).")
@click.option("--table", is_flag=True, help="Print a table for people instead of JSON.")
def score(style: str | None, *, table: bool, **asked: Unpack[Asked]) -> None:
    """Score OUTPUTS (each PATH or NAME=PATH) against GOLD and print the document that a job would hold."""
    result = _evaluated(asked, _request(asked))
    report = result.report
    if style is not None:
        entry = report.spec.entries[0]
        if style not in entry.metric.styles:
            known = ", ".join(entry.metric.styles) or "none"
            raise click.BadParameter(f"Unknown style {style!r} of {entry.name}. Styles: {known}.")
        for outcomes in report.outcomes:
            click.echo(entry.metric.report(style, outcomes[entry.key]), nl=False)
    elif table:
        click.echo(scores_table(result.document))
    else:
        document = {"results": result.document, "warnings": result.warnings}
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS))


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
    request = _request(asked)
    names = [split_name(argument)[0] for argument in asked["outputs"]]
    request["significance"] = margin_settings(reference, margin, names, request["significance"])
    result = _evaluated(asked, request)
    click.echo(comparison_text(result.comparisons, form, result.across), nl=False)
    if reference is None or margin is None:
        return
    found = list(claims(result.comparisons, reference, margin))
    for claim in found:
        if form == "text" or not claim.established:
            click.echo(claim.line, err=form != "text")
    if not all(claim.established for claim in found):
        raise SystemExit(MISSED)
