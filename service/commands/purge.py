"""`treescore purge`: delete what is kept no longer, for good."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from service.commands.exits import FINE, WRONG, Refused
from service.commands.operating import config_of, existing_store, operating_options, show_document
from service.errors import ServiceError
from service.usecases.operations import purge as purging
from service.usecases.operations.purge import Scope


@click.command()
@click.option("--benchmark", metavar="ID", help="Everything of a benchmark; its id answers 410 afterwards.")
@click.option("--team", metavar="BENCHMARK/TEAM", help="Name, outputs, items, comparisons and tokens of a team.")
@click.option("--before", type=click.DateTime(["%Y-%m-%d"]), help="Jobs, comparisons, outputs and items older than it.")
@click.option("--yes", is_flag=True, help="Delete. Without it, the command only lists what would be deleted.")
@operating_options
@click.pass_context
def purge(
    ctx: click.Context,
    benchmark: str | None,
    team: str | None,
    before: datetime | None,
    data_dir: Path | None,
    *,
    yes: bool,
    as_json: bool,
) -> None:
    """List, and with --yes delete, what is kept no longer. Scores on boards stay unless a benchmark is purged.

    Freed space is overwritten. Backups keep what was deleted: delete those too.
    """
    scope = _scope(benchmark, team, before)
    with existing_store(config_of(data_dir)) as context:
        try:
            numbers, clean = purging.purge(context, scope) if yes else (purging.listed(context, scope), True)
        except ServiceError as error:
            raise Refused(error.detail) from error
    counted = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in numbers.items())
    lines = [f"{'Deleted' if yes else 'Would delete'}: {counted}."]
    if not yes:
        lines.append("Nothing was deleted. Repeat the command with --yes.")
    else:
        lines.append("Backups made before still hold it: delete them, or let them expire.")
    if not clean:
        lines.append("The file was not written again: another process uses it, or its disk is full. Do it later with")
        lines.append("treescore purge --before 1970-01-01 --yes")
    show_document({"deleted": yes, "counts": numbers, "overwritten": yes and clean}, lines, as_json=as_json)
    ctx.exit(FINE if clean else WRONG)


def _scope(benchmark: str | None, team: str | None, before: datetime | None) -> Scope:
    if sum(each is not None for each in (benchmark, team, before)) != 1:
        raise click.UsageError("Set one of --benchmark, --team and --before.")
    if team is None:
        return Scope(benchmark=benchmark, before=None if before is None else before.replace(tzinfo=UTC))
    slug, _, team_id = team.partition("/")
    if not slug or not team_id:
        raise click.UsageError(f"--team is {team!r}; write BENCHMARK/TEAM.")
    return Scope(team=(slug, team_id))
