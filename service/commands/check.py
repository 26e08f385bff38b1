"""`treescore check`: is everything that is stored whole?"""

from __future__ import annotations

from pathlib import Path

import click

from service.commands.exits import FINE, UNKNOWN, WRONG
from service.commands.operating import config_of, existing_store, operating_options, show_document
from service.usecases.operations import check as checking
from service.usecases.operations.findings import Level, worst


@click.command()
@click.option("--all", "every", is_flag=True, help="Compute every score record again from its counts, not a sample.")
@operating_options
@click.pass_context
def check(ctx: click.Context, data_dir: Path | None, *, every: bool, as_json: bool) -> None:
    """Check texts, artifacts, scores, references, files, schema, queue and disk. Changes nothing.

    The exit status is 0 if all is well, 1 if something is wrong, 2 if it could not be found out.
    """
    config = config_of(data_dir)
    with existing_store(config, current=False) as context:
        findings = list(checking.check(context, every=every))
    level = worst(findings)
    document = {"state": level, "findings": [finding._asdict() for finding in findings]}
    wrong = sum(finding.level is Level.WRONG for finding in findings)
    summary = f"{wrong} things are wrong." if wrong else "Nothing is wrong."
    show_document(document, [*(finding.line for finding in findings), summary], as_json=as_json)
    ctx.exit({Level.WRONG: WRONG, Level.UNKNOWN: UNKNOWN}.get(level, FINE))
