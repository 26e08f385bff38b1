"""The commands that keep a store in order: migrate, backup, restore, check, purge and doctor.

`treescore backup FILE` writes everything into one file, while the service runs; `treescore restore FILE` puts it into
an empty place. `treescore check` says whether everything that is stored is whole, `treescore doctor` has one line on
each part of the service.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
from sqlalchemy import make_url

from service.commands.exits import FINE, UNKNOWN, WRONG, CouldNotTell, Refused
from service.commands.operating import config_of, existing_store, operating_options, owner, show_document, size
from service.commands.processes import prepared
from service.commands.serve import locked
from service.config import Config
from service.context import open_context, utc_now
from service.errors import ServiceError
from service.store.database import SchemaState, Store, file_of_url, schema_of
from service.store.migrate import migrate as run_migrations
from service.store.tokens import Token
from service.usecases.operations import backup as backups
from service.usecases.operations import check as checking
from service.usecases.operations import doctor as diagnosis
from service.usecases.operations import purge as purging
from service.usecases.operations.backup import back_up, back_up_first
from service.usecases.operations.doctor import Level, worst
from service.usecases.operations.purge import Scope
from service.usecases.runs.views import moment
from treescore.core.wording import counted


@click.command()
@click.option("--check", "only_check", is_flag=True, help="Change nothing; say whether a migration is needed.")
@operating_options
@click.pass_context
def migrate(ctx: click.Context, data_dir: Path | None, *, only_check: bool, as_json: bool) -> None:
    """Bring the store's tables up to date. A SQLite store is backed up beside its file first.

    With --check the exit status is 0 for a current schema, 1 for one that is older or newer than this program.
    """
    config = config_of(data_dir)
    ctx.exit(_check(config, as_json=as_json) if only_check else _migrate(config, as_json=as_json))


def _check(config: Config, *, as_json: bool) -> int:
    with existing_store(config, current=False) as context, context.store.read() as db:
        found = schema_of(db)
    show_document(
        {"schema": found.state, "stored": found.stored, "wanted": found.wanted}, [found.words], as_json=as_json
    )
    return FINE if found.state is SchemaState.CURRENT else WRONG


def _migrate(config: Config, *, as_json: bool) -> int:
    store = Store(prepared(config).database_url)
    try:
        with store.read() as db:
            before = schema_of(db)
        made = back_up_first(config, store, utc_now())
        run_migrations(store)
    finally:
        store.close()
    document = {
        "from": before.stored,
        "to": before.wanted,
        "backup": None if made is None else str(made.file.absolute()),
    }
    lines = [] if made is None else [f"Backed the store up to {made.file} before its migration."]
    if before.state is SchemaState.NEEDED and before.stored is not None:
        lines.append(f"Migrated the store from schema {before.stored} to {before.wanted}.")
    if as_json:
        show_document(document, lines, as_json=True)
    else:  # standard output of `treescore serve`, which runs this, is for the line that says when it is ready
        for line in lines:
            click.echo(line, err=True)
    return FINE


SHOWN = ("benchmarks", "submissions", "jobs", "texts")
"""Tables whose rows are counted for people; JSON has all."""


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@operating_options
def backup(file: Path, data_dir: Path | None, *, as_json: bool) -> None:
    """Write store, keys and organise token to a new FILE that only its owner can read.

    It holds everything that was accepted before the command began. The service may run.
    """
    config = config_of(data_dir)
    with existing_store(config, current=False) as context:
        made = back_up(config, context.store, file)
    rows = {name: content.rows for name, content in made.manifest.tables.items()}
    document = {
        "file": str(made.file.absolute()),
        "bytes": made.size,
        "digest": made.manifest.digest,
        "created_at": made.manifest.created_at,
        "treescore": made.manifest.treescore,
        "schema": made.manifest.schema,
        "source": made.manifest.source,
        "files": sorted(made.manifest.files),
        "rows": rows,
    }
    counted = ", ".join(f"{rows[name]} {name}" for name in SHOWN if name in rows)
    lines = [
        f"Backed up to {made.file} ({size(made.size)}): {counted}.",
        f"Digest {made.manifest.digest}; schema {made.manifest.schema}; begun {made.manifest.created_at}.",
        "It holds gold, outputs and keys: store it where only operators can read it.",
    ]
    show_document(document, lines, as_json=as_json)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@operating_options
def restore(file: Path, data_dir: Path | None, *, as_json: bool) -> None:
    """Verify the backup FILE, then restore it into an empty data directory or database.

    Unfinished work is done after the start of the service. Tokens that were revoked after the backup are valid again.
    """
    config = config_of(data_dir)
    with locked(config.data_dir):
        restored = backups.restore(config, file)
    manifest = restored.manifest
    document = {
        "file": str(file.absolute()),
        "digest": manifest.digest,
        "created_at": manifest.created_at,
        "schema": restored.migrated_to or manifest.schema,
        "migrated_from": manifest.schema if restored.migrated_to else None,
        "rows": {name: content.rows for name, content in manifest.tables.items()},
        "unfinished": restored.unfinished,
        "kept_files": list(restored.kept),
        "valid_tokens": [
            {"id": each.id, "name": each.name, "scopes": each.scopes.split(), "benchmark": each.benchmark_id,
             "team": each.team_id, "created_at": moment(each.created_at)}
            for each in restored.valid_tokens
        ],
    }  # fmt: skip
    lines = [
        f"Restored {file} of {manifest.created_at}: every row is as it was written (digest {manifest.digest}).",
        f"{restored.unfinished} unfinished runs are done after the start of the service.",
    ]
    if restored.migrated_to:
        lines.append(f"The schema was migrated from {manifest.schema} to {restored.migrated_to}.")
    lines += [f"{name} was there already and was kept." for name in restored.kept]
    lines += token_lines(restored.valid_tokens, manifest.created_at)
    show_document(document, lines, as_json=as_json)


def token_lines(tokens: Sequence[Token], created_at: str) -> list[str]:
    """List the tokens that are valid now, and say why that matters."""
    if not tokens:
        return ["No token is valid but the organise token of the configuration."]
    return [
        f"{counted(len(tokens), 'valid token')}. The backup does not know which were revoked after {created_at}:",
        *(f"  {each.id}  {each.scopes}  {owner(each)}" for each in tokens),
        "Revoke those again: treescore token revoke ID",
    ]


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
