"""The commands that operate a store: migrate, backup, restore, check, purge, and its tokens.

`treescore backup FILE` writes everything into one file, while the service runs; `treescore restore FILE` puts it into
an empty place. `treescore check` says whether everything that is stored is whole. `treescore token` makes, lists and
revokes tokens, also while the service is down.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import orjson
from sqlalchemy import make_url

from service.commands import processes, serve
from service.config import Config, load_config
from service.context import Context, open_context, utc_now
from service.contract.access import TokenRequest
from service.errors import ServiceError
from service.process import wait_for_store
from service.requests import SCOPES
from service.store.archive import migrate as run_migrations
from service.store.database import Schema, SchemaState, Store, file_of_url, require_current_schema, schema_of
from service.store.tokens import Token
from service.usecases import checks, retention, runs
from service.usecases import tokens as token_work
from service.usecases.checks import Level, worst
from treescore.cli.options import EndTime
from treescore.core.wording import counted, did_you_mean

Command = Callable[..., Any]


def operating_options(command: Command) -> Command:
    """Add `--data-dir` and `--json`."""
    command = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)
    directory = click.Path(path_type=Path)
    return click.option("--data-dir", type=directory, help="Where the state lives.  [default: .treescore]")(command)


def config_of(data_dir: Path | None) -> Config:
    """Return the configuration of the environment, with another data directory if one is given."""
    given = {} if data_dir is None else {"TREESCORE_DATA_DIR": str(data_dir)}
    return load_config({**os.environ, **given})


@contextmanager
def existing_store(config: Config, *, current: bool = True) -> Iterator[Context]:
    """Open a store that is there, and close it at the end; nothing is created.

    Args:
        config: names it.
        current: whether its schema must be that of this program.

    Raises:
        CouldNotTell: no store is there.
        SchemaError: its schema is older or newer, or of no release.
    """
    file = file_of_url(make_url(config.database_url))
    if file is not None and not file.exists():
        raise processes.CouldNotTell(f"No store at {file}. Set --data-dir or TREESCORE_DATABASE_URL.")
    context = open_context(config)
    try:
        if current:
            require_current_schema(context.store)
        yield context
    finally:
        context.store.close()
        context.queue.redis.close()


def show_document(document: Mapping[str, object], lines: Sequence[str], *, as_json: bool) -> None:
    """Print a document as JSON, or the lines that say the same to people."""
    if as_json:
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
        return
    for line in lines:
        click.echo(line)


def owner(token: Token) -> str:
    """Return the team or the name of a token, for people."""
    if token.team_id is not None:
        return f"team {token.benchmark_id}/{token.team_id}"
    return token.name or "(no name)"


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
    return processes.FINE if found.state is SchemaState.CURRENT else processes.WRONG


def _stored_schema(store: Store) -> Schema:
    with store.read() as db:
        return schema_of(db)


def _migrate(config: Config, *, as_json: bool) -> int:
    store = Store(processes.prepared(config).database_url)
    try:
        before = wait_for_store(config, store, _stored_schema)
        made = retention.back_up_first(config, store, utc_now())
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
            processes.tell(config, line)
    return processes.FINE


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
        made = retention.back_up(config, context.store, file)
    rows = {name: content.rows for name, content in made.manifest.tables.items()}
    shown = {name: getattr(made.manifest, name) for name in ("digest", "created_at", "treescore", "schema", "source")}
    document = {"file": str(made.file.absolute()), "bytes": made.size, **shown}
    document |= {"files": sorted(made.manifest.files), "rows": rows}
    counted = ", ".join(f"{rows[name]} {name}" for name in SHOWN if name in rows)
    lines = [
        f"Backed up to {made.file} ({made.size / 2**20:,.1f} MiB): {counted}.",
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
    with serve.locked(config.data_dir):
        restored = retention.restore(config, file)
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
             "team": each.team_id, "created_at": runs.moment(each.created_at)}
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
        findings = list(checks.check(context, every=every))
    wrong = sum(finding.level is Level.WRONG for finding in findings)
    summary = f"{wrong} things are wrong." if wrong else "Nothing is wrong."
    level = worst(findings)
    document = {"state": level, "findings": [finding._asdict() for finding in findings]}
    show_document(document, [*(finding.line for finding in findings), summary], as_json=as_json)
    ctx.exit({Level.WRONG: processes.WRONG, Level.UNKNOWN: processes.UNKNOWN}.get(level, processes.FINE))


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
            numbers, clean = retention.purge(context, scope) if yes else (retention.listed(context, scope), True)
        except ServiceError as error:
            raise processes.Refused(error.detail) from error
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
    ctx.exit(processes.FINE if clean else processes.WRONG)


def _scope(benchmark: str | None, team: str | None, before: datetime | None) -> retention.Scope:
    if sum(each is not None for each in (benchmark, team, before)) != 1:
        raise click.UsageError("Set one of --benchmark, --team and --before.")
    if team is None:
        return retention.Scope(benchmark=benchmark, before=None if before is None else before.replace(tzinfo=UTC))
    slug, _, team_id = team.partition("/")
    if not slug or not team_id:
        raise click.UsageError(f"--team is {team!r}; write BENCHMARK/TEAM.")
    return retention.Scope(team=(slug, team_id))


@click.group()
def token() -> None:
    """Make, list, revoke and replace tokens. The service may run or be down; changes hold at once."""


@token.command("list")
@click.option("--valid", "only_valid", is_flag=True, help="Leave out revoked and expired tokens.")
@operating_options
def list_tokens(data_dir: Path | None, *, only_valid: bool, as_json: bool) -> None:
    """List all tokens, newest first. Secrets are not stored and cannot be shown."""
    with _store(data_dir) as context:
        now = context.now()
        rows = [each for each in token_work.list_every_token(context) if not only_valid or _state(each, now) == "valid"]
    documents = [{**token_work.token_document(each), "state": _state(each, now)} for each in rows]
    lines = [f"{each.id}  {_state(each, now):<8} {each.scopes:<12} {owner(each)}" for each in rows]
    show_document({"tokens": documents}, lines or ["The store has no tokens."], as_json=as_json)


@token.command()
@click.option("--scopes", help=f"Separated by commas: {', '.join(SCOPES)}. A team's token has read and submit.")
@click.option("--name", help="What the token is for.")
@click.option("--benchmark", help="Benchmark of the team.")
@click.option("--team", help="Team that the token belongs to.")
@click.option(
    "--expires", "expires_at", type=EndTime(), help="Time in UTC after which it is not valid; of a date its end."
)
@operating_options
def create(
    scopes: str | None,
    name: str | None,
    benchmark: str | None,
    team: str | None,
    expires_at: datetime | None,
    data_dir: Path | None,
    *,
    as_json: bool,
) -> None:
    """Create a token and print its secret, once."""
    if (team is None) is not (benchmark is None):
        raise click.UsageError("Set --benchmark and --team together.")
    if (team is None) is (scopes is None):
        raise click.UsageError("Set either --scopes, or --benchmark and --team, whose tokens may read and submit.")
    if name is not None and not name.isprintable():
        raise click.UsageError("--name must be one line of printable text.")
    with _store(data_dir) as context:
        if benchmark is not None and team is not None:
            if expires_at is not None and expires_at <= context.now():
                raise click.UsageError("--expires must be a time in the future.")
            made = token_work.create_team_token(context, benchmark, team, name, expires_at)
        else:
            asked = TokenRequest(scopes=_scopes(scopes or ""), expires_at=expires_at, name=name)
            created = token_work.create_token(context, token_work.OPERATOR, asked)
            made = str(created["id"]), str(created["token"])
    _show_secret(made, as_json=as_json)


@token.command()
@click.argument("token_id", metavar="ID")
@operating_options
def revoke(token_id: str, data_dir: Path | None, *, as_json: bool) -> None:
    """Revoke the token with this ID: the next request with it is refused."""
    with _store(data_dir) as context:
        token_work.revoke_token(context, token_work.OPERATOR, token_id)
    show_document({"id": token_id, "revoked": True}, [f"Revoked {token_id}."], as_json=as_json)


@token.command()
@click.argument("token_id", metavar="ID")
@operating_options
def rotate(token_id: str, data_dir: Path | None, *, as_json: bool) -> None:
    """Revoke the token with this ID, and create one with the same rights; print its secret, once."""
    with _store(data_dir) as context:
        made = token_work.rotate_as_operator(context, token_id)
    _show_secret(made, as_json=as_json)


@contextmanager
def _store(data_dir: Path | None) -> Iterator[Context]:
    with existing_store(config_of(data_dir)) as context:
        try:
            yield context
        except ServiceError as error:
            details = " ".join(each.detail for each in error.problems) or error.detail
            raise processes.Refused(details) from error


def _scopes(given: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in given.split(","))
    unknown = [name for name in names if name not in SCOPES]
    if unknown:
        known = f"Use one or more of: {', '.join(SCOPES)}.{did_you_mean(unknown[0], SCOPES)}"
        raise click.UsageError(f"Unknown scope {unknown[0]!r}. {known}")
    return names


def _show_secret(made: tuple[str, str], *, as_json: bool) -> None:
    token_id, secret = made
    lines = [f"{token_id} {secret}", "This is the only time that the secret is shown."]
    show_document({"id": token_id, "token": secret}, lines, as_json=as_json)


def _state(row: Token, now: datetime) -> str:
    if row.revoked_at is not None:
        return "revoked"
    return "expired" if row.expires_at is not None and row.expires_at <= now else "valid"
