"""Upgrade the store's tables. This runs before any other process starts."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config as AlembicConfig

from service.store.database import Store

MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(store: Store) -> None:
    """Run the migrations that are missing, in one transaction."""
    settings = AlembicConfig()
    settings.set_main_option("script_location", str(MIGRATIONS))
    with store.write() as connection:
        settings.attributes["connection"] = connection
        command.upgrade(settings, "head")
