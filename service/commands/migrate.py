"""`treescore migrate`: bring the store's tables up to date, or say whether that is needed."""

from __future__ import annotations

from pathlib import Path

import click

from service.commands.exits import FINE, WRONG
from service.commands.operating import config_of, existing_store, operating_options, show_document
from service.commands.processes import prepared
from service.config import Config
from service.context import utc_now
from service.store.database import Store
from service.store.migrate import migrate as run_migrations
from service.store.schema import State, schema_of
from service.usecases.operations.backup import back_up_first


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
    return FINE if found.state is State.CURRENT else WRONG


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
    if before.state is State.NEEDED and before.stored is not None:
        lines.append(f"Migrated the store from schema {before.stored} to {before.wanted}.")
    if as_json:
        show_document(document, lines, as_json=True)
    else:  # standard output of `treescore serve`, which runs this, is for the line that says when it is ready
        for line in lines:
            click.echo(line, err=True)
    return FINE
