"""`treescore score`: the numbers of the service, from files, without it."""

from __future__ import annotations

from typing import Unpack

import click
import orjson

from treescore.cli.arguments import Asked, request_of, request_options


@click.command()
@request_options
@click.option("--style", help="Print the original program's layout instead (evalb, eval07, conll18, wa_eval).")
@click.option("--table", is_flag=True, help="Print a table for people instead of JSON.")
def score(style: str | None, *, table: bool, **asked: Unpack[Asked]) -> None:
    """Score OUTPUTS (each PATH or NAME=PATH) against GOLD and print the document that a job would hold."""
    from treescore.cli.files import evaluated  # noqa: PLC0415 - the help needs no arrays

    result = evaluated(asked, request_of(asked))
    report = result.report
    if style is not None:
        entry = report.spec.entries[0]
        if style not in entry.metric.styles:
            known = ", ".join(entry.metric.styles) or "none"
            raise click.BadParameter(f"Unknown style {style!r} of {entry.name}. Styles: {known}.")
        for outcomes in report.outcomes:
            click.echo(entry.metric.report(style, outcomes[entry.key]), nl=False)
    elif table:
        from treescore.cli.tables import scores_table  # noqa: PLC0415 - the other forms need no rich

        click.echo(scores_table(result.document))
    else:
        document = {"results": result.document, "warnings": result.warnings}
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS))
