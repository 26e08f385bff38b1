"""Decode a chunked body while it arrives (RFC 9112, section 7.1). gunicorn's decoder must be able to wait for more."""

from __future__ import annotations

import re
from collections.abc import Callable

from gunicorn.http.body import CHUNK_EXT_RE  # type: ignore[import-untyped]
from gunicorn.http.errors import (  # type: ignore[import-untyped]
    ChunkMissingTerminator,
    InvalidChunkExtension,
    InvalidChunkSize,
    LimitRequestHeaders,
)

LINE_BYTES = 8_190
TRAILER_BYTES = 65_536
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,16})(.*)\r\n", re.DOTALL)
_SIZE_LINE, _DATA_END, _TRAILER = range(3)


class Chunks:
    """The decoder of one body.

    Attributes:
        trailers: the lines after the last chunk, without the empty one.
    """

    def __init__(self) -> None:
        self.trailers = b""
        self._left = 0
        self._line = bytearray()
        self._expected = _SIZE_LINE

    def feed(self, data: bytes, write: Callable[[bytes], object]) -> int | None:
        """Decode the next bytes; return how many of them belong to the body if it ends here, else None.

        Args:
            data: received bytes.
            write: takes decoded bytes.

        Raises:
            ParseException: the coding is invalid.
        """
        at = 0
        while at < len(data):
            if self._left:
                piece = data[at : at + self._left]
                write(piece)
                self._left -= len(piece)
                at += len(piece)
                continue
            end = data.find(b"\n", at)
            stop = end + 1 if end >= 0 else len(data)
            self._line += data[at:stop]
            at = stop
            if len(self._line) > LINE_BYTES:
                raise InvalidChunkSize(bytes(self._line[:20]))
            if end >= 0 and self._take_line():
                return at
        return None

    def _take_line(self) -> bool:
        """Read a whole line; return whether it ends the body."""
        line = bytes(self._line)
        self._line.clear()
        if self._expected == _DATA_END:
            if line != b"\r\n":
                raise ChunkMissingTerminator(line[:2])
            self._expected = _SIZE_LINE
        elif self._expected == _TRAILER:
            if line == b"\r\n":
                return True
            if not line.endswith(b"\r\n") or len(self.trailers) + len(line) > TRAILER_BYTES:
                raise LimitRequestHeaders("limit request trailer section size")
            self.trailers += line
        else:
            self._left = _size(line)
            self._expected = _DATA_END if self._left else _TRAILER
        return False


def _size(line: bytes) -> int:
    match = _SIZE.fullmatch(line)
    if match is None:
        raise InvalidChunkSize(line[:20])
    if not CHUNK_EXT_RE.fullmatch(match[2]):
        raise InvalidChunkExtension("invalid chunk extension")
    return int(match[1], 16)
