"""The free space of the disk that holds the store."""

from __future__ import annotations

import shutil
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from service.store.database import Store, file_of_url

FULL_BELOW = 64 * 2**20
"""Bytes. With less, a large upload may fail half-way, so no more work is accepted."""
LOW_BELOW = 2**30


class DiskState(StrEnum):
    """Whether there is room for more."""

    OK = "ok"
    LOW = "low"
    FULL = "full"
    UNKNOWN = "unknown"


class Disk(NamedTuple):
    """Free space in bytes, None where it cannot be seen from here, as with a database server."""

    state: DiskState
    free: int | None = None


def disk_of(store: Store) -> Disk:
    """Return the free space of the disk of a store."""
    path = file_of(store)
    if path is None:
        return Disk(DiskState.UNKNOWN)
    try:
        free = shutil.disk_usage(path.parent).free
    except OSError:
        return Disk(DiskState.UNKNOWN)
    if free < FULL_BELOW:
        return Disk(DiskState.FULL, free)
    return Disk(DiskState.LOW if free < LOW_BELOW else DiskState.OK, free)


def file_of(store: Store) -> Path | None:
    """Return the file of a store; None for a database server and for a database in memory."""
    return file_of_url(store.url)
