"""Versions of the store's tables: the one that a store has, and the one that this code reads."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, inspect, text

from service.store.database import Store

VERSIONS = Path(__file__).parent / "migrations" / "versions"
_NAMED = re.compile(r'^(down_)?revision(?:: [^=]+)? = "([^"]+)"', re.MULTILINE)


class State(StrEnum):
    """How the tables of a store compare with this code."""

    CURRENT = "current"
    NEEDED = "needed"
    NEWER = "newer"


class SchemaError(RuntimeError):
    """The store's tables are not those that this code reads. The message names both versions."""


class Schema(NamedTuple):
    """Versions of the tables.

    Attributes:
        stored: of the store; None where it has no tables yet.
        wanted: the newest that this code knows.
        state: how they compare.
    """

    stored: str | None
    wanted: str
    state: State

    @property
    def words(self) -> str:
        """Return one sentence on it, and what to do."""
        if self.state is State.CURRENT:
            return f"The store's schema is current: version {self.stored}."
        if self.state is State.NEWER:
            return (
                f"The store's schema has version {self.stored}, which is newer than this program's {self.wanted}. "
                "Use the version of Treescore that wrote it, or a newer one."
            )
        have = "The store has no tables yet" if self.stored is None else f"The store's schema has version {self.stored}"
        return f"{have}; this program needs {self.wanted}. Run `treescore migrate`."


@lru_cache(maxsize=1)
def versions() -> tuple[str, ...]:
    """Return all versions that this code knows, oldest first. Reads the migrations without loading their library."""
    before: dict[str, str] = {}
    for path in VERSIONS.glob("[0-9]*.py"):
        named = dict(_NAMED.findall(path.read_text(encoding="utf-8")))
        before[named[""]] = named.get("down_", "")
    ordered: list[str] = []
    following = {earlier: name for name, earlier in before.items()}
    while (ordered[-1] if ordered else "") in following:
        ordered.append(following[ordered[-1] if ordered else ""])
    return tuple(ordered)


def schema_of(db: Connection) -> Schema:
    """Return the versions of an open store. Reads only."""
    wanted = versions()[-1]
    stored: str | None = None
    if inspect(db).has_table("alembic_version"):
        stored = db.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    if stored == wanted:
        return Schema(stored, wanted, State.CURRENT)
    return Schema(stored, wanted, State.NEEDED if stored is None or stored in versions() else State.NEWER)


def require_current(store: Store) -> None:
    """Refuse a store whose tables this code does not read.

    Raises:
        SchemaError: they are older or newer.
    """
    with store.read() as db:
        found = schema_of(db)
    if found.state is not State.CURRENT:
        raise SchemaError(found.words)
