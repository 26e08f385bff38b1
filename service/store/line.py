"""The line in which writers on SQLite wait for each other: a lock on a file beside the database.

SQLite's own writers sleep and look again, up to 100 ms apart, and a newcomer goes first. Here the kernel wakes who
waits. Threads and processes stand in the same line: a lock belongs to an open file, and each opens its own.

The line makes writing fair, and nothing else: SQLite alone keeps writers apart. So a line that does not move, because
the process at its head was stopped or hangs, is passed by.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread

ENDING = "-line"
"""What the name of the file adds to that of the database. The file stays empty and may be deleted at any time."""
PATIENCE = 30.0
"""Seconds after which a writer leaves a line that does not move, as long as `busy_timeout` then is."""


@contextmanager
def writing_turn(database: Path | None) -> Iterator[None]:
    """Wait for a turn among the writers of a database, and keep it. Without a file to lock, do not wait.

    A writer that is killed leaves the line. `busy_timeout` stays behind it, for programs that do not stand in it, and
    for those that have left it.

    Args:
        database: its file; None where there is none.
    """
    place = None if database is None else _locked(database)
    try:
        yield
    finally:
        if place is not None:
            _leave(place)


def _locked(database: Path) -> int | None:
    """Return the descriptor of the locked file; None where it cannot be opened or locked, or the line does not move."""
    try:
        place = os.open(f"{database}{ENDING}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:  # a folder that is read-only or full: the write itself says so, in its own words
        return None
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _Wait(database, place).locked()
    except OSError:  # a file system without locks
        os.close(place)
        return None
    return place


def _leave(place: int) -> None:
    # closing alone would not do: a child forked during the turn has the file open too
    with suppress(OSError):
        fcntl.flock(place, fcntl.LOCK_UN)
    os.close(place)


class _Wait:
    """A wait for a lock that can be given up: it has a thread of its own, as nothing else ends the kernel's wait."""

    def __init__(self, database: Path, place: int) -> None:
        self.of = database, os.getpid()
        self._place = place
        self._done = Event()
        self._decided = Lock()

    def locked(self) -> int | None:
        """Return the descriptor once it is locked; None if that takes too long, or did for another writer until now."""
        if any(other.of == self.of for other in tuple(_given_up)):
            os.close(self._place)
            return None
        Thread(target=self._wait, daemon=True, name="line").start()
        if not self._done.wait(PATIENCE):
            with self._decided:
                if not self._done.is_set():
                    _given_up.add(self)
                    return None
        return self._place

    def _wait(self) -> None:
        with suppress(OSError):
            fcntl.flock(self._place, fcntl.LOCK_EX)
        with self._decided:
            self._done.set()
            if self in _given_up:
                _leave(self._place)
                _given_up.discard(self)


_given_up: set[_Wait] = set()
"""Waits that no writer waits for any more, and that still last."""
