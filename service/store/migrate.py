"""Bring the store's tables up to date; runs before anything else starts."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config as AlembicConfig

from service.store.database import Store

MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(store: Store) -> None:
    """Run every migration that the store has not seen, in one transaction."""
    settings = AlembicConfig()
    settings.set_main_option("script_location", str(MIGRATIONS))
    with store.write() as connection:
        settings.attributes["connection"] = connection
        command.upgrade(settings, "head")
