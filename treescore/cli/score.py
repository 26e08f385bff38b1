"""`treescore score` and `treescore compare`: the same numbers as the service's, from files, without it."""

from __future__ import annotations

from typing import Any

import click
import orjson

from treescore.cli.files import evaluate_files, named_value
from treescore.cli.tables import comparison_text, scores_table
from treescore.render import FORMATS


def request_options(function: Any) -> Any:
    """The options that say what is asked."""
    for option in (
        click.argument("outputs", nargs=-1, required=True),
        click.argument("gold"),
        click.option("--items", help="JSON object with blocks, attributes, seconds, lengths."),
        click.option("--significance", help="JSON object with scores, test, seed, ..., as in the API."),
        click.option("--metric", "metrics", multiple=True, required=True, help="Name, or JSON with params."),
        click.option("--transform", "transforms", multiple=True, help="Name, or JSON with params and on."),
        click.option("--system-format", help="Format of the outputs where it differs from gold's."),
        click.option("--format", "text_format", required=True, help="Name, or JSON with options."),
    ):
        function = option(function)
    return function


def as_request(**given: Any) -> dict[str, Any]:
    """The command line's options as a job request without texts."""
    request: dict[str, Any] = {
        "format": named_value(given["text_format"]),
        "transforms": [named_value(value) for value in given["transforms"]],
        "metrics": [named_value(value) for value in given["metrics"]],
    }
    if len(given["outputs"]) > 1:
        request["significance"] = named_value(given["significance"] or "{}")
    if given["items"]:
        request["items"] = named_value(given["items"])
    return request


def _report(**given: Any) -> Any:
    system_format = None if given["system_format"] is None else named_value(given["system_format"])
    return evaluate_files(as_request(**given), given["gold"], given["outputs"], system_format)


@click.command()
@request_options
@click.option("--style", help="Print the original program's layout instead (evalb, eval07, conll18, wa_eval).")
@click.option("--table", is_flag=True, help="Print a table for people instead of JSON.")
def score(style: str | None, *, table: bool, **given: Any) -> None:
    """Score OUTPUTS (each PATH or NAME=PATH) against GOLD and print the document that a job would hold."""
    report = _report(**given)
    if style is not None:
        entry = report.spec.entries[0]
        if style not in entry.metric.styles:
            raise click.BadParameter(f"{entry.name} has no style {style!r}; it has: {', '.join(entry.metric.styles)}.")
        for outcomes in report.outcomes:
            click.echo(entry.metric.report(style, outcomes[entry.key]), nl=False)
    elif table:
        click.echo(scores_table(report.document))
    else:
        document = {"results": report.document, "warnings": report.warnings}
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS))


@click.command()
@request_options
@click.option(
    "--as", "form", default="text", show_default=True, type=click.Choice(list(FORMATS)), help="How to print it.",
)  # fmt: skip
def compare(form: str, **given: Any) -> None:
    """Compare two or more OUTPUTS (each PATH or NAME=PATH) and print which differences are real."""
    if len(given["outputs"]) < 2:
        raise click.UsageError("Name at least two outputs.")
    comparisons = _report(**given).document["comparisons"]
    click.echo(comparison_text(comparisons, form), nl=False)
