"""Files of this machine with gold as it was read: a copy that may be missing, and that only its owner can use.

A file is believed only if it names the key that is asked for and the digest of what follows, so that one that is cut
off, changed, of another version or of another text counts as missing.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from service.logs import Log
from service.store import database, packing
from treescore.core.text import digest_of

SUFFIX = ".gold"
PRIVATE, OTHERS = 0o700, 0o077

log = Log("gold")

_refused: set[Path] = set()
"""Folders that this process could not use: logged once, and left alone from then on."""


@dataclass(frozen=True, slots=True)
class GoldFiles:
    """A file for each part, in a folder for each revision.

    Attributes:
        folder: of all of them, in one that services may share; made when the first file is written.
        limit: bytes of all files together, beyond which the oldest are deleted; 0 keeps none.
    """

    folder: Path
    limit: int

    def usable(self) -> bool:
        """Return whether files are kept, and may be."""
        if self.limit and self.folder not in _refused:
            self._make()
        return bool(self.limit) and self.folder not in _refused

    def read(self, revision_id: str, position: int, key: str) -> bytes | None:
        """Return what `write` was given for a part under this key, or None. The file counts as new again."""
        if not self.usable():
            return None
        path = self._path(revision_id, position)
        try:
            body = path.read_bytes()
            os.utime(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._refuse(error.strerror)
            return None
        head, _, packed = body.partition(b"\n")
        return packing.unpack(packed) if head == _head(key, packed) else None

    def write(self, revision_id: str, position: int, key: str, body: bytes) -> None:
        """Keep bytes of a part in place of those that are there, unless the disk is nearly full."""
        if not self.usable():
            return
        path = self._path(revision_id, position)
        packed = packing.pack(body)
        try:
            path.parent.mkdir(mode=PRIVATE, exist_ok=True)
            if shutil.disk_usage(self.folder).free < database.LOW_BELOW:
                self._refuse("The disk is nearly full")
                return
            _replace(path, b"\n".join([_head(key, packed), packed]))
            self._drop_oldest()
        except (FileNotFoundError, FileExistsError):
            return  # another process has just deleted the files of the revision
        except OSError as error:
            self._refuse(error.strerror)

    def revisions(self) -> list[str]:
        """List the revisions that have files: none where the folder is not this user's alone."""
        with suppress(OSError):
            if not self._is_private():
                return []
            return sorted(path.name for path in self.folder.iterdir())
        return []

    def drop(self, revision_ids: Iterable[str]) -> None:
        """Delete the files of revisions; none where another user may have filled the folder."""
        for revision_id in revision_ids:
            folder = self.folder / revision_id
            with suppress(OSError):
                if not self._is_private():
                    return
                for path in folder.glob(f"*{SUFFIX}"):
                    path.unlink(missing_ok=True)
                folder.rmdir()

    def _path(self, revision_id: str, position: int) -> Path:
        return self.folder / revision_id / f"{position}{SUFFIX}"

    def _make(self) -> None:
        """Make the folder, unless it is there; refuse one that others can use."""
        try:
            self.folder.parent.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            self.folder.mkdir(mode=PRIVATE, exist_ok=True)
            private = self._is_private()
        except OSError as error:
            self._refuse(error.strerror)
            return
        if not private:
            self._refuse("It is not a folder for this user only")

    def _is_private(self) -> bool:
        found = self.folder.lstat()
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & OTHERS

    def _refuse(self, why: str | None) -> None:
        _refused.add(self.folder)
        log.warning("gold-not-kept", folder=str(self.folder), detail=f"{why}. Gold is read again for each process.")

    def _drop_oldest(self) -> None:
        found = []
        for path in self.folder.glob(f"*/*{SUFFIX}"):
            with suppress(FileNotFoundError):  # another process has renamed or deleted it
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
        excess = sum(size for _, size, _ in found) - self.limit
        for _, size, path in sorted(found):
            if excess <= 0:
                return
            path.unlink(missing_ok=True)
            excess -= size


def _head(key: str, packed: bytes) -> bytes:
    return f"{key} {digest_of(packed)}".encode()


def _replace(path: Path, body: bytes) -> None:
    """Write a file that is there whole or not at all; of two writers the last stays."""
    descriptor, partial = tempfile.mkstemp(SUFFIX, ".", path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
        os.replace(partial, path)  # noqa: PTH105 - mkstemp names the file by a string
    except OSError:
        Path(partial).unlink(missing_ok=True)
        raise
