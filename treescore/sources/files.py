"""The bytes of files: plain, compressed, in archives and in folders, all bounded.

Errors of texts and their names are of one problem each.
"""

import gzip
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from io import BytesIO
from itertools import islice, pairwise
from pathlib import Path, PurePosixPath
from typing import NamedTuple, Protocol

from treescore.core.text import actually
from treescore.core.wording import closest
from treescore.errors import InputError, Problem, missing_extra

LONGEST_SHOWN = 80
"""Characters of a path that an error quotes."""
MOST_LISTED = 5
"""Names that an error lists; further ones are only counted."""


def wrong(code: str, detail: str, pointer: str) -> InputError:
    """Return the error of one problem."""
    return InputError(Problem(code, detail, pointer=pointer))


def shown(path: object) -> str:
    """Quote a path, shortened in its middle: it may be a text, and paths differ at the end."""
    text, half = str(path), LONGEST_SHOWN // 2
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[:half]}...{text[-half:]}")


def listed(names: list[str]) -> str:
    """List names, the first of many."""
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


MAX_BYTES = 1 << 30
"""Bytes of one text, unpacked."""
MAX_FILES = 10_000
"""Files of one folder or archive."""
COMPRESSED = (".gz", ".zst")
ARCHIVE = ".zip"
TOO_LARGE = "text-too-large"
PACKED = (*COMPRESSED, ARCHIVE)
_PIECE = 1 << 20
_ZST_PIECE = 1 << 10
"""Bytes that are unpacked at a time: each can become thirty thousand."""
_SKIPPED = "__MACOSX"


class File(NamedTuple):
    """A file of a text.

    Attributes:
        name: its path in the folder or archive, without suffixes of compression; the file's own name elsewhere.
        path: where it is, for messages.
        text: what it holds, unpacked.
    """

    name: str
    path: str
    text: bytes


class Files(NamedTuple):
    """The files of one text; `several` where they come from a folder or an archive."""

    files: Sequence[File]
    several: bool


def read_files(path: Path, pointer: str, advice: str = "") -> Files:
    """Read a file; of a folder or a zip archive each file, in the order of their names.

    Hidden files are left out, and what macOS adds to archives.

    Args:
        path: the file, folder or archive.
        pointer: its place in problems.
        advice: what else could have been meant, where it cannot be read.

    Raises:
        InputError: `unreadable-file`, `damaged-archive`, `unsafe-archive`, `empty-archive`, `text-too-large`.
    """
    try:
        if is_folder(path):
            return Files(_of_folder(path, pointer), several=True)
        if path.suffix.lower() == ARCHIVE:
            return Files(_of_zip(path, path, _Budget(path, pointer)), several=True)
        return Files(
            [File(unpacked_name(path.name), str(path), _unpacked(path, _Budget(path, pointer)))], several=False
        )
    except (OSError, ValueError) as error:
        raise wrong("unreadable-file", unreadable(error, path) + advice, pointer) from error


def unreadable(error: OSError | ValueError, path: Path) -> str:
    """Say which file cannot be read, and why."""
    named = shown(getattr(error, "filename", None) or path)
    if isinstance(error, FileNotFoundError):
        return f"No such file {named}.{instead_of(Path(error.filename or path))}"
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return f"{named}: {reason}."


def instead_of(path: Path) -> str:
    """Return what could be meant by a path where nothing is: the name in its folder that is most like it, if any."""
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry in islice(entries, MAX_FILES)]
    except (OSError, ValueError):
        return f" Folder {shown(path.parent)} not found."
    near = closest(path.name, names)
    return "" if near is None else f" Did you mean {shown(path.parent / near)}?"


def is_folder(path: Path) -> bool:
    """Tell whether a path is a folder; False for what cannot be a path."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def unpacked_name(name: str) -> str:
    """Return a file's name without the suffix of a compression."""
    return PurePosixPath(name).stem if name.lower().endswith(PACKED) else name


MOST_SUFFIXES = 10
_JOINTS = ("/", ".", "_", "-")
"""What may stand between the name of a part and that of one of its texts, as in `en.source.conllu`."""


def targets_by_name(targets: Iterable[str]) -> dict[str, str]:
    """Return parts, or texts of parts (`en/source`), by the names of files without suffix that stand for them."""
    return {
        target.replace("/", joint): target
        for target in targets
        for joint in (_JOINTS if "/" in target else _JOINTS[:1])
    }


def stems_of(name: str) -> Iterator[str]:
    """Yield a file's name without the suffix of a compression, then without more and more of its other suffixes.

    Of a file in a folder come first its names with the folder, then those without it.
    """
    folder, slash, own = unpacked_name(name).rpartition("/")
    for before in dict.fromkeys((folder + slash, "")):
        stem = own
        for _ in range(MOST_SUFFIXES):
            yield before + stem
            stem = stem.rpartition(".")[0]


def part_of(name: str, fields: Sequence[str]) -> str:
    """Return the part that a file is named after, and its text if it has several: `en.source.conllu` is `en/source`."""
    whole = unpacked_name(name)
    found = re.fullmatch(rf"(?:.*/)?([^/]+?)[/._-]({'|'.join(fields)})(?:\..*)?", whole) if fields else None
    return f"{found[1]}/{found[2]}" if found else PurePosixPath(whole).name.partition(".")[0]


def names_inside(path: Path) -> Iterator[str]:
    """Yield the names of the files in a folder or archive, as far as it can be read."""
    try:
        if is_folder(path):
            yield from (file.name for file in _below(path))
        else:
            with zipfile.ZipFile(path) as archive:
                entries = archive.infolist()
            yield from (entry.filename for entry in entries if not entry.is_dir() and not _is_hidden(entry.filename))
    except (OSError, zipfile.BadZipFile):
        return


class _Stream(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, none at the end."""


class _Budget:
    """How much may still be unpacked for one text, and what is said of its file where that is not enough."""

    def __init__(self, path: Path, pointer: str, most: int | None = None) -> None:
        self.path = path
        self.pointer = pointer
        self._most = self._left = MAX_BYTES if most is None else most

    def read(self, stream: _Stream) -> bytes:
        """Read a stream to its end. Raises InputError once it exceeds the bound."""
        return self.joined(iter(lambda: stream.read(_PIECE), b""))

    def joined(self, pieces: Iterator[bytes]) -> bytes:
        """Join pieces. Raises InputError once they exceed the bound."""
        kept = bytearray()
        for piece in pieces:
            self._left -= len(piece)
            if self._left < 0:
                detail = f"{shown(self.path)} holds more than {self._most} bytes (unpacked). Split it."
                raise wrong(TOO_LARGE, detail, self.pointer)
            kept += piece
        return bytes(kept)

    def damaged(self, what: str) -> Exception:
        """Return the error of a compressed file or archive that cannot be unpacked."""
        return wrong("damaged-archive", f"{shown(self.path)} {what}", self.pointer)


def _unpacked(path: Path, budget: _Budget) -> bytes:
    unpack = {".gz": _gunzipped, ".zst": _unzstd}.get(path.suffix.lower(), _plain)
    return unpack(path, budget)


def _plain(path: Path, budget: _Budget) -> bytes:
    with path.open("rb") as stream:
        return budget.read(stream)


def _gunzipped(path: Path, budget: _Budget) -> bytes:
    try:
        with gzip.open(path, "rb") as stream:
            return budget.read(stream)
    except gzip.BadGzipFile as error:
        what = f"is named .gz but is not a whole gzip file.{_actually(path, 'gzip')} Compress it again, or rename it."
        raise budget.damaged(what) from error
    except EOFError as error:
        raise budget.damaged("is a truncated gzip file. Copy or compress it again.") from error
    except zlib.error as error:
        raise budget.damaged(f"is a damaged gzip file ({error}). Copy or compress it again.") from error


def _unzstd(path: Path, budget: _Budget) -> bytes:
    path.stat()  # a missing file is reported before a missing package
    try:
        import zstandard  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise wrong("missing-extra", missing_extra(f"Reading {shown(path)}", "zstd"), budget.pointer) from error

    def pieces(stream: _Stream) -> Iterator[bytes]:
        frame = zstandard.ZstdDecompressor().decompressobj()
        begun = False
        while piece := stream.read(_ZST_PIECE):
            while piece:
                if frame.eof:
                    frame = zstandard.ZstdDecompressor().decompressobj()
                yield frame.decompress(piece)
                begun = True
                piece = frame.unused_data if frame.eof else b""
        if begun and not frame.eof:
            raise budget.damaged("is a truncated zstd file. Copy or compress it again.")

    try:
        with path.open("rb") as stream:
            return budget.joined(pieces(stream))
    except zstandard.ZstdError as error:
        what = f"is not a zstd file, or is damaged ({error}).{_actually(path, 'zstd')} Copy or compress it again."
        raise budget.damaged(what) from error


def _actually(source: Path | BytesIO, name: str) -> str:
    with source.open("rb") if isinstance(source, Path) else BytesIO(source.getvalue()) as stream:
        return actually(stream.read(_PIECE), name)


def _of_folder(folder: Path, pointer: str) -> list[File]:
    root = folder.resolve()
    budget = _Budget(folder, pointer)
    found: list[tuple[str, Path]] = []
    for path in _below(folder):
        if path.suffix.lower() == ARCHIVE:
            raise wrong("unsafe-archive", f"{shown(path)} is an archive in a folder. Unpack it first.", pointer)
        if not path.resolve().is_relative_to(root):
            detail = f"{shown(path)} is a link to a file outside the folder. Put the file itself there."
            raise wrong("unsafe-archive", detail, pointer)
        found.append((path.relative_to(folder).as_posix(), path))
        _check_count(len(found), folder, pointer)
    if not found:
        raise wrong("empty-archive", f"{shown(folder)} is a folder without files. Name one that has some.", pointer)
    return _in_order([(name, str(path), partial(_unpacked, path, budget)) for name, path in found], pointer)


def _below(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder that are not hidden; folders that are links are not entered."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == _SKIPPED:
            continue
        if path.is_dir():
            if not path.is_symlink():
                yield from _below(path)
        else:
            yield path


def files_of_zip(data: bytes, name: str, pointer: str, most: int) -> list[File]:
    """Return the files of a zip archive in memory, in the order of their names; hidden ones are left out.

    Args:
        data: the archive.
        name: of its file, for messages.
        pointer: where it is.
        most: bytes that all of it may have, unpacked.

    Raises:
        InputError: as `read_files` for an archive.
    """
    return _of_zip(BytesIO(data), Path(name), _Budget(Path(name), pointer, most))


def _of_zip(source: Path | BytesIO, path: Path, budget: _Budget) -> list[File]:
    pointer = budget.pointer
    try:
        with zipfile.ZipFile(source) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            for entry in entries:
                _check_entry(entry, path, pointer)
            wanted = [entry for entry in entries if not _is_hidden(entry.filename)]
            _check_count(len(wanted), path, pointer)
            if not wanted:
                raise wrong("empty-archive", f"{shown(path)} is an archive without files. Add the text.", pointer)

            def read(entry: zipfile.ZipInfo) -> bytes:
                with archive.open(entry) as stream:
                    return budget.read(stream)

            named = [(entry.filename, f"{path}/{entry.filename}", partial(read, entry)) for entry in wanted]
            return _in_order(named, pointer)
    except zipfile.BadZipFile as error:
        what = f"is not a whole zip archive ({error}).{_actually(source, 'zip')} Copy or pack it again."
        raise budget.damaged(what) from error
    except (zlib.error, EOFError, ValueError, IndexError) as error:  # the latter two of names and places
        raise budget.damaged(f"is a damaged zip archive ({error}). Copy or pack it again.") from error
    except NotImplementedError as error:
        raise budget.damaged(f"is packed in a way that cannot be read ({error}). Pack it with deflate.") from error


def _check_entry(entry: zipfile.ZipInfo, path: Path, pointer: str) -> None:
    """Refuse entries that no archive of texts has.

    Raises:
        InputError: the entry is encrypted, packed in another way, a link or an archive, or its path leads out of it.
    """
    name = entry.filename
    steps = PurePosixPath(name.replace("\\", "/"))
    if steps.is_absolute() or ".." in steps.parts or (steps.parts and steps.parts[0].endswith(":")):
        detail = f"{shown(path)} holds the path {shown(name)}, which leads out of the archive. Pack relative paths."
    elif stat.S_ISLNK(entry.external_attr >> 16):
        detail = f"{shown(path)} holds the link {shown(name)}. Pack the file itself."
    elif entry.flag_bits & 1:  # before its packing, which is 99 where it is encrypted by AES
        detail = f"{shown(path)} is encrypted. Pack it without a password."
    elif entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        detail = f"{shown(path)} is packed in a way that is not read. Pack it with deflate."
    elif name.lower().endswith(PACKED) and not _is_hidden(name):
        detail = f"{shown(path)} holds the archive {shown(name)}. Pack the file that is in it."
    else:
        return
    raise wrong("unsafe-archive", detail, pointer)


def _is_hidden(name: str) -> bool:
    return any(step.startswith(".") or step == _SKIPPED for step in PurePosixPath(name).parts)


def _check_count(count: int, path: Path, pointer: str) -> None:
    if count > MAX_FILES:
        raise wrong("too-many-files", f"{shown(path)} holds more than {MAX_FILES} files. Join or split them.", pointer)


def _in_order(named: Sequence[tuple[str, str, Callable[[], bytes]]], pointer: str) -> list[File]:
    """Read files in the order of their names, without the folders that all of them are in.

    Raises:
        InputError: two files have one name.
    """
    steps = [PurePosixPath(unpacked_name(name)).parts for name, _, _ in named]
    shared = 0
    while all(len(parts) > shared + 1 and parts[shared] == steps[0][shared] for parts in steps):
        shared += 1
    files = [("/".join(parts[shared:]), path, read) for parts, (_, path, read) in zip(steps, named, strict=True)]
    ordered = sorted(files, key=lambda file: file[:2])
    for (name, first, _), (other, second, _) in pairwise(ordered):
        if name == other:
            detail = f"{shown(first)} and {shown(second)} have one name. Leave out one of them."
            raise wrong("unsafe-archive", detail, pointer)
    return [File(name, path, read()) for name, path, read in ordered]
