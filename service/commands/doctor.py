"""`treescore doctor`: one line on each part of the service, and what to do."""

from __future__ import annotations

from pathlib import Path

import click
from sqlalchemy import make_url

from service.commands.exits import FINE, UNKNOWN, WRONG, CouldNotTell
from service.commands.operating import config_of, operating_options, show_document
from service.context import open_context
from service.store.database import file_of_url
from service.usecases.operations import doctor as diagnosis
from service.usecases.operations.findings import Level, worst


@click.command()
@operating_options
@click.pass_context
def doctor(ctx: click.Context, data_dir: Path | None, *, as_json: bool) -> None:
    """Look at configuration, files, disk, clocks, versions, store, queue and workers. Changes nothing.

    The exit status is 0 if nothing is wrong, 1 if something is, 2 if it could not be found out.
    """
    config = config_of(data_dir)
    file = file_of_url(make_url(config.database_url))
    if file is not None and not file.parent.is_dir():
        raise CouldNotTell(f"{file.parent} does not exist. Set --data-dir or TREESCORE_DATABASE_URL.")
    context = open_context(config)
    try:
        findings = list(diagnosis.diagnose(context))
    finally:
        context.store.close()
        context.queue.redis.close()
    level = worst(findings)
    document = {
        "state": level,
        "configuration": diagnosis.shown(config),
        "findings": [finding._asdict() for finding in findings],
    }
    show_document(document, [finding.line for finding in findings], as_json=as_json)
    ctx.exit({Level.WRONG: WRONG, Level.UNKNOWN: UNKNOWN}.get(level, FINE))
