"""The line in which writers on SQLite wait for each other: a lock on a file beside the database.

SQLite's own writers sleep and look again, up to 100 ms apart, and a newcomer goes first. Here the kernel wakes who
waits. Threads and processes stand in the same line: a lock belongs to an open file, and each opens its own.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENDING = "-line"
"""What the name of the file adds to that of the database. The file stays empty and may be deleted at any time."""


@contextmanager
def turn(database: Path | None) -> Iterator[None]:
    """Wait for a turn among the writers of a database, and keep it. Without a file to lock, do not wait.

    A writer that is killed leaves the line. `busy_timeout` stays behind it, for programs that do not stand in it.

    Args:
        database: its file; None where there is none.
    """
    place = None if database is None else _locked(database)
    try:
        yield
    finally:
        if place is not None:
            # closing alone would not do: a child forked during the turn has the file open too
            fcntl.flock(place, fcntl.LOCK_UN)
            os.close(place)


def _locked(database: Path) -> int | None:
    """Return the descriptor of the locked file; None where it cannot be opened or locked."""
    try:
        place = os.open(f"{database}{ENDING}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:  # a folder that is read-only or full: the write itself says so, in its own words
        return None
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
    except OSError:  # a file system without locks
        os.close(place)
        return None
    return place
