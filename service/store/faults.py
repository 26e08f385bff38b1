"""Say what is wrong with a store that raises an error: one word for programs, one line for people."""

from __future__ import annotations

import sqlite3
from enum import StrEnum

from sqlalchemy.exc import DBAPIError, OperationalError


class Fault(StrEnum):
    """What is wrong with a store."""

    AWAY = "away"
    FULL = "full"
    DAMAGED = "damaged"
    READ_ONLY = "read-only"


WORDS = {
    Fault.AWAY: "does not answer",
    Fault.FULL: "cannot be written: its disk is full. Free some space",
    Fault.DAMAGED: "is damaged: its file cannot be read as a database. Restore a backup",
    Fault.READ_ONLY: "cannot be written: it is read-only. Check the owner and mode of its file and directory",
}
_SQLITE = {
    sqlite3.SQLITE_FULL: Fault.FULL,
    sqlite3.SQLITE_IOERR_SHMSIZE: Fault.FULL,  # opening needs a new page beside the file
    sqlite3.SQLITE_CORRUPT: Fault.DAMAGED,
    sqlite3.SQLITE_NOTADB: Fault.DAMAGED,
    sqlite3.SQLITE_READONLY: Fault.READ_ONLY,
}
_POSTGRES = {"53100": Fault.FULL, "XX001": Fault.DAMAGED, "XX002": Fault.DAMAGED, "25006": Fault.READ_ONLY}
_PRIMARY = 0xFF
"""The bits of a code of SQLite that name its kind; the others name the place."""


def fault_of(error: DBAPIError) -> Fault | None:
    """Return what is wrong with the store; None where the error is of the statement (a conflict, a mistake)."""
    origin = error.orig
    code = getattr(origin, "sqlite_errorcode", 0)
    known = _SQLITE.get(code) or _SQLITE.get(code & _PRIMARY) or _POSTGRES.get(getattr(origin, "sqlstate", None) or "")
    if known is not None:
        return known
    return Fault.AWAY if isinstance(error, OperationalError) else None


def line_of(error: DBAPIError) -> str:
    """Return the first line of what the database said; it quotes no parameter."""
    said = str(error.orig).strip().splitlines()
    return said[0] if said else type(error).__name__
