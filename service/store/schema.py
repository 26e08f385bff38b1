"""Versions of the store's tables: the one that a store has, and the one that this code reads."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, inspect, text

from service.store.database import Store, file_of_url
from service.store.tables import metadata

VERSIONS = Path(__file__).parent / "migrations" / "versions"
VERSION_TABLE = "alembic_version"
OF_CHECKOUTS = tuple(f"{number:04}" for number in range(1, 21))
"""Versions that development checkouts had before 0.1.0. Only the first is used again; the second is 0021."""
_NAMED = re.compile(r'^(down_)?revision(?:: [^=]+)? = "([^"]+)"', re.MULTILINE)


class State(StrEnum):
    """How the tables of a store compare with this code."""

    CURRENT = "current"
    NEEDED = "needed"
    NEWER = "newer"
    UNRELEASED = "unreleased"
    """Of a development checkout before 0.1.0, or not of Treescore."""


class SchemaError(RuntimeError):
    """The store's tables are not those that this code reads. The message names both versions."""


class Schema(NamedTuple):
    """Versions of the tables.

    Attributes:
        stored: of the store; None where it has none yet.
        wanted: the newest that this code knows.
        state: how they compare.
        place: the file of the store, or the name of the database.
    """

    stored: str | None
    wanted: str
    state: State
    place: str

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
        if self.state is State.UNRELEASED:
            named = "its tables have no version" if self.stored is None else f"schema {self.stored}"
            return (
                f"{self.place} was made by a development checkout before 0.1.0 ({named}) and cannot be read. Move the "
                "data directory away, or set TREESCORE_DATA_DIR (of a database server TREESCORE_DATABASE_URL) to an "
                "empty one, and start again."
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
    there = frozenset(inspect(db).get_table_names())
    stored: str | None = None
    if VERSION_TABLE in there:
        stored = db.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one_or_none()  # noqa: S608
    place = file_of_url(db.engine.url) or f"The database {db.engine.url.database}"
    return Schema(stored, versions()[-1], _state(stored, there), str(place))


def _state(stored: str | None, there: frozenset[str]) -> State:
    if stored is None:
        return State.UNRELEASED if there.intersection(metadata.tables) else State.NEEDED
    if not is_released(stored, there):
        return State.UNRELEASED
    if stored not in versions():
        return State.NEWER
    return State.CURRENT if stored == versions()[-1] else State.NEEDED


def is_released(version: str, there: Collection[str]) -> bool:
    """Return whether tables of a version are those of a release, this one or a newer one.

    Args:
        version: of the tables.
        there: their names. Those of the first version of checkouts did not have benchmarks.
    """
    return "benchmarks" in there if version == OF_CHECKOUTS[0] else version not in OF_CHECKOUTS


def require_current(store: Store) -> None:
    """Refuse a store whose tables this code does not read.

    Raises:
        SchemaError: they are older or newer, or of no release.
    """
    with store.read() as db:
        found = schema_of(db)
    if found.state is not State.CURRENT:
        raise SchemaError(found.words)
