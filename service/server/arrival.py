"""Collect one request until it is whole: its head in memory, its body in memory or in a temporary file."""

from __future__ import annotations

import io
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Any

from gunicorn.http.body import ChunkedReader  # type: ignore[import-untyped]
from gunicorn.http.errors import LimitRequestHeaders, NoMoreData  # type: ignore[import-untyped]
from gunicorn.http.message import Request  # type: ignore[import-untyped]
from gunicorn.http.unreader import Unreader  # type: ignore[import-untyped]

from service.errors import PayloadTooLarge
from service.server.chunked import Chunks

HEAD_BYTES = 65_536
MEMORY_BYTES = 262_144
"""Size of a body above which it goes to a file: a file that has no name and that only this process can read."""
FORM = "multipart/form-data"
END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Sizes of bodies in bytes, as sent, and the folder of their files (None: the system's)."""

    body: int
    upload: int
    folder: str | None


class Arrival:
    """One request of a connection.

    Attributes:
        request: gunicorn's request once the head is parsed. Once all is there, its `body` can be read without waiting.
        received: bytes of the body so far, decoded.
        rest: what the client sent after this request.
        wants_continue: whether the client waits for `100 Continue` before it sends the body.
    """

    def __init__(self, cfg: Any, client: Any, number: int, bounds: Bounds) -> None:
        self.request: Any = None
        self.received = 0
        self.rest = b""
        self.wants_continue = False
        self._cfg = cfg
        self._client = client
        self._number = number
        self._bounds = bounds
        self._head = bytearray()
        self._limit = 0
        self._length: int | None = None
        self._chunks: Chunks | None = None
        self._file: SpooledTemporaryFile[bytes] | None = None

    @property
    def silent(self) -> bool:
        """Whether nothing has come yet."""
        return self.request is None and not self._head

    def feed(self, data: bytes) -> bool:
        """Take received bytes; return whether the request is whole.

        Raises:
            ParseException: the HTTP is invalid, or a line or the head is too long.
            PayloadTooLarge: the body exceeds its limit.
            OSError: the temporary file cannot be written.
        """
        if self.request is None:
            after = self._feed_head(data)
            if after is None:
                return False
            self._expect_body()
            data = after
        whole = self._feed_chunks(data) if self._chunks is not None else self._feed_length(data)
        if whole and self._file is not None:
            self._file.seek(0)
            self.request.body = self._file
        self.wants_continue = self.wants_continue and not whole
        return whole

    def close(self) -> None:
        """Drop the body."""
        if self._file is not None:
            self._file.close()

    def _feed_head(self, data: bytes) -> bytes | None:
        """Return what follows the head; None while its end is missing."""
        old = len(self._head)
        self._head += data
        end = self._head.find(END, max(0, old + 1 - len(END)))
        whole = end >= 0 and end + len(END) <= HEAD_BYTES
        if not whole and len(self._head) <= HEAD_BYTES and not self._hopeless(old):
            return None
        head = bytes(self._head[: end + len(END)] if whole else self._head)
        try:
            self.request = _Request(self._cfg, _Bytes(head), self._client, self._number)
        except NoMoreData as error:
            raise LimitRequestHeaders(f"The head exceeds {HEAD_BYTES} bytes.") from error
        if not whole:
            raise LimitRequestHeaders(f"The head exceeds {HEAD_BYTES} bytes.")
        return bytes(self._head[len(head) :])

    def _hopeless(self, old: int) -> bool:
        """Whether the bytes from `old` on cannot belong to a valid head, so that its end need not be awaited."""
        new = self._head[old - 1 if self._head[old - 1 : old] == b"\r" else old :]
        if new.count(b"\n") != new.count(b"\r\n"):
            return True
        return len(self._head) > self._cfg.limit_request_line + len(END) and self._head.find(b"\n", 2) < 0

    def _expect_body(self) -> None:
        request = self.request
        if isinstance(request.body.reader, ChunkedReader):
            self._chunks = Chunks()
        else:
            self._length = int(request.body.reader.length)
        media = next((value for name, value in request.headers if name == "CONTENT-TYPE"), "")
        self._limit = self._bounds.upload if media.lower().startswith(FORM) else self._bounds.body
        if (self._length or 0) > self._limit:
            raise self._too_large()
        self.wants_continue = request._expected_100_continue  # noqa: SLF001 - gunicorn has no other name for it
        request._expected_100_continue = False  # noqa: SLF001 - the server sends it before a thread is taken

    def _feed_length(self, data: bytes) -> bool:
        assert self._length is not None  # noqa: S101 - set with the head
        left = self._length - self.received
        self.rest = data[left:]
        if left:
            self._write(data[:left])
        return self.received == self._length

    def _feed_chunks(self, data: bytes) -> bool:
        assert self._chunks is not None  # noqa: S101 - set with the head
        used = self._chunks.feed(data, self._write)
        if used is None:
            return False
        self.rest = data[used:]
        if self._chunks.trailers:
            self.request.parse_headers(self._chunks.trailers.removesuffix(b"\r\n"), from_trailer=True)
        if self._file is None:
            self.request.body = io.BytesIO()
        return True

    def _write(self, piece: bytes) -> None:
        self.received += len(piece)
        if self.received > self._limit:
            raise self._too_large()
        if self._file is None:
            self._file = SpooledTemporaryFile(MEMORY_BYTES, dir=self._bounds.folder)  # noqa: SIM115 - see close
        self._file.write(piece)

    def _too_large(self) -> PayloadTooLarge:
        return PayloadTooLarge(f"The body exceeds {self._limit} bytes. Send less, or several requests.")


class _Request(Request):  # type: ignore[misc]
    """gunicorn's request, without looking at each whether its sender may name the scheme: service.api.doors does."""

    def _peer_is_trusted_proxy(self) -> bool:
        return False


class _Bytes(Unreader):  # type: ignore[misc]
    """Bytes as a source of gunicorn's parser, which ends where they end."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Return all that is left."""
        del size_hint
        data, self._data = self._data, b""
        return data
