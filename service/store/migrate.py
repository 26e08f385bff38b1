"""Upgrade the store's tables. This runs before any other process starts."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config as AlembicConfig

from service.store.database import SchemaError, SchemaState, Store, schema_of

MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(store: Store, version: str = "head") -> None:
    """Run the migrations that are missing up to a version, in one transaction.

    Raises:
        SchemaError: the store is newer than this code, or of no release.
    """
    settings = AlembicConfig()
    settings.set_main_option("script_location", str(MIGRATIONS))
    with store.write() as connection:
        found = schema_of(connection)
        if found.state in (SchemaState.NEWER, SchemaState.UNRELEASED):
            raise SchemaError(found.words)
        settings.attributes["connection"] = connection
        command.upgrade(settings, version)
