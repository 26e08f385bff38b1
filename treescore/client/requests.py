"""What is asked of the service, and the texts that are sent.

Each operation is a row, as in the published contract. Files are streamed, and what has been sent is reported on the
way.
"""

import io
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from treescore.client.answers import RequestError, UnreadableUpload
from treescore.client.operations import ROWS
from treescore.core.params import Json
from treescore.errors import InputError

JSON = "application/json"
KEY = "Idempotency-Key"
AGAIN = ("cancel_job", "cancel_submission", "ask_comparison")
"""Operations that make nothing: a comparison is found by its question, and asked twice it is answered once."""
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Operation:
    """A call of the service.

    Attributes:
        id: its `operationId`.
        method: of HTTP.
        path: with places for parameters, `/v1/jobs/{job_id}`.
        headers: that change what the call does, beside the ETag of an answer that is known already.
    """

    id: str
    method: str
    path: str
    headers: tuple[str, ...] = ()

    @cached_property
    def places(self) -> tuple[str, ...]:
        """The parameters of the path."""
        return tuple(_PLACE.findall(self.path))

    @property
    def repeatable(self) -> bool:
        """Whether the same call sent twice does what it does when sent once, without a key too."""
        return self.method != "POST" or self.id in AGAIN

    def address(self, values: Mapping[str, str]) -> str:
        """Return the path with these values, each quoted."""
        return _PLACE.sub(lambda match: quote(values[match[1]], safe=""), self.path)


OPERATIONS: Mapping[str, Operation] = {row[0]: Operation(*row[:3], tuple(row[3].split())) for row in ROWS}
"""Operations by their ids."""


Text = str | bytes | os.PathLike[str] | IO[str] | IO[bytes]
"""A text: a path (a `str` without a line break is one), a string, bytes, an open file."""
Texts = Text | Mapping[str, Text]
"""A text; a mapping for formats of several texts (`source`, `target`, `alignment`)."""
SENDING = "sending"
PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PK\x05\x06")
"""First bytes of packed files (gzip, zstd, zip), which the service does not read in forms."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a call is.

    Attributes:
        stage: `sending`, then the state of the work: `queued`, `running`, ….
        done: bytes sent, or units of the work done; 0 where it is not known.
        total: of them; None where it is not known.
        step: what is being done, as `scoring A`; empty where it is not known.
        ahead: pieces of work before this one in the queue; None where it is not queued or not known.
        eta_seconds: seconds until it is likely to be finished; None where it is not known.
        document: the work as the service tells it; empty while it is sent.
    """

    stage: str
    done: int = 0
    total: int | None = None
    step: str = ""
    ahead: int | None = None
    eta_seconds: float | None = None
    document: Mapping[str, Json] | None = None


Watch = Callable[[Progress], None]


def progress_of(document: Mapping[str, Any]) -> Progress:
    """Return how far the work is that a document of the service shows: of another version, it may tell anything."""
    shown: dict[str, Any] = {}
    for member in (document.get("progress"), document.get("queue")):
        shown |= member if isinstance(member, dict) else {}
    done, total, ahead, eta = (
        shown[name] if isinstance(shown.get(name), (int, float)) else None
        for name in ("done", "total", "ahead", "eta_seconds")
    )
    step = shown["step"] if isinstance(shown.get("step"), str) else ""
    return Progress(str(document["state"]), done or 0, total, step, ahead, eta, document)


@dataclass(frozen=True, slots=True)
class Upload:
    """One text of a form, which can be read again for each attempt.

    Attributes:
        name: its field in the form.
        path: of its file; None for a text that is held.
        content: the text that is held.
        size: bytes.
    """

    name: str
    path: Path | None
    content: bytes
    size: int


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Say which file cannot be read."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        shown = str(path) if len(str(path)) <= 80 else f"{str(path)[:80]}..."
        raise UnreadableUpload(
            f"{shown}: {reason}. Give the path of a file; a text as bytes, or as a string with a line break."
        ) from error


def upload_of(name: str, text: Text) -> Upload:
    """Return a text as a field of a form.

    Raises:
        RequestError: it is not a text, or its file cannot be read.
    """
    if isinstance(text, os.PathLike) or (isinstance(text, str) and not any(sign in text for sign in "\r\n")):
        path = Path(text)
        with _reading(path):
            if not (stat.S_ISREG(path.stat().st_mode) or path.is_dir()):
                # a pipe is read once, and a device may never end: both are for the caller to open
                raise UnreadableUpload(f"{path} is a pipe or a device. Give it as an open file, or its text as bytes.")
            with path.open("rb") as file:
                if not file.read(max(map(len, PACKED))).startswith(PACKED):
                    return Upload(name, path, b"", path.stat().st_size)
        content: Any = _unpacked(path)
    else:
        try:
            content = text.read() if hasattr(text, "read") else text
        except (OSError, ValueError) as error:
            raise UnreadableUpload(
                f"{name}: the open file cannot be read: {error}. Open it again, as bytes."
            ) from error
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")  # the service reports what is not UTF-8, with its place
    if not isinstance(content, bytes):
        raise RequestError(
            f"{name}: a text is a path, a string with line breaks, bytes or an open file, not {type(text).__name__}."
        )
    return Upload(name, None, content, len(content))


def _unpacked(path: Path) -> bytes:
    """Return the text of a packed file, within the bounds of the library's own reader."""
    from treescore.sources.files import read_files  # noqa: PLC0415 - only packed files need it

    try:
        files = read_files(path, str(path)).files
    except InputError as error:
        raise UnreadableUpload(str(error)) from error
    if len(files) != 1:
        raise UnreadableUpload(f"{path} has {len(files)} files. Give one text for each part.")
    if files[0].text.startswith(PACKED):
        raise UnreadableUpload(
            f"{path} is packed, but its name does not end in .gz, .zst or .zip. Rename it, or unpack it first."
        )
    return files[0].text


def is_sendable(text: str) -> bool:
    """Return whether a text can be written as UTF-8."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


def uploads_of(texts: Mapping[str, Texts]) -> list[Upload]:
    """Return texts by the names of their fields; those of a format of several texts as `en/source`."""
    found = []
    for name, text in texts.items():
        inner = text if isinstance(text, Mapping) else {}
        if not all(isinstance(each, str) and is_sendable(each) for each in (name, *inner)):
            raise RequestError(f"Invalid name {name!r} of a text: names are texts without half surrogate pairs.")
        field = name if name != "meta" else "parts/meta"  # the form's own field has this name
        fields = {f"{field}/{each}": one for each, one in text.items()} if isinstance(text, Mapping) else {field: text}
        found += [upload_of(each, one) for each, one in fields.items()]
    return found


class _Sent(io.BufferedReader):
    """A text on its way, which tells how much was read of it; as much of a file as the HTTP library asks for."""

    def __init__(self, raw: io.BytesIO | io.FileIO, upload: Upload, tell: Callable[[int], None]) -> None:
        super().__init__(raw)
        self._upload, self._tell = upload, tell
        self._left = self.seek(0, os.SEEK_END)
        self.seek(0)

    def read(self, size: int | None = -1, /) -> bytes:
        with _reading(Path(self._upload.path or self._upload.name)):
            data = super().read(size)
        self._left -= len(data)
        if self._left < 0 or (not data and self._left):
            raise UnreadableUpload(f"{self._upload.path} changed while it was sent. Nothing was stored: send it again.")
        self._tell(len(data))
        return data


def open_form(
    uploads: Sequence[Upload], opened: ExitStack, watch: Watch | None, check: Callable[[], None]
) -> dict[str, tuple[str, Any, str]]:
    """Return the files of a form as the HTTP library takes them; `opened` closes them.

    Args:
        uploads: the texts.
        opened: that owns the files.
        watch: called with each piece that is sent.
        check: called with each piece; raises where the time is over.
    """
    total = sum(upload.size for upload in uploads)
    sent = 0

    def count(read: int) -> None:
        nonlocal sent
        check()
        sent += read
        if watch is not None and read:
            watch(Progress(SENDING, sent, total))

    files = {}
    for upload in uploads:
        with _reading(Path(upload.path or upload.name)):
            raw = io.BytesIO(upload.content) if upload.path is None else io.FileIO(upload.path)
            text = opened.enter_context(_Sent(raw, upload, count))
        files[upload.name] = ("text", text, "application/octet-stream")  # the local name of a file is not sent
    return files
