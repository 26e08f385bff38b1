"""Write files that appear whole or not at all, for their owner only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service.files import SQLITE_FILES

OWNER_ONLY = 0o600


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Yield an empty file beside `path` to be filled; at the end it is on the disk under that name.

    Raises:
        FileExistsError: `path` exists. It stays as it is.
    """
    if path.exists():
        raise FileExistsError(f"{path} exists")
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
    try:
        yield partial
        partial.chmod(OWNER_ONLY)
        sync(partial)
        # unlike a rename, a link replaces nothing
        os.link(partial, path)
        sync(path.parent)
    finally:
        for ending in SQLITE_FILES:
            partial.with_name(partial.name + ending).unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until a file or a directory is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
