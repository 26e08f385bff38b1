"""Split multipart/form-data (RFC 7578) that holds long files, which Werkzeug's parser copies nine times.

It takes the same forms as that one, with any line ends, and finds the same in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from werkzeug.http import parse_options_header

_BREAK = rb"(?:\r\n|\n|\r)"
_ONE_BREAK = re.compile(_BREAK)
_BLANK_LINE = re.compile(rb"\r\n\r\n|\r\r|\n\n")
_CONTINUED = re.compile(_BREAK + rb"[ \t]")
_BESIDE = 64
"""More bytes than a delimiter has on either side of its boundary: line ends, hyphens and some blanks."""
_CHARSETS = ("ascii", "us-ascii", "utf-8", "iso-8859-1")


class FormPart(NamedTuple):
    """A part of a form.

    Attributes:
        name: of the field; empty where it has none.
        is_file: whether it has the name of a file.
        data: in UTF-8, unless it is a file: as sent.
    """

    name: str
    is_file: bool
    data: bytes


class FormTooLargeError(Exception):
    """Something in a form but a file is larger than allowed, or it has more parts."""


def parts_of_form(pieces: Iterator[bytes], boundary: bytes, limit: int, most: int) -> Iterator[FormPart]:
    """Yield the parts of a form.

    Args:
        pieces: the form, read to its end.
        boundary: between its parts.
        limit: the most bytes of the head of a part, and of a field without the name of a file.
        most: the most parts.

    Raises:
        FormTooLargeError: a limit is exceeded.
        ValueError: this is not a form, or not all of one.
    """
    source = _Source(pieces)
    mark = b"--" + boundary
    end = rb"%b(--[^\S\n\r]*%b?|[^\S\n\r]*%b)" % (re.escape(mark), _BREAK, _BREAK)
    delimiter = re.compile(_BREAK + end)
    _, found = source.before(re.compile(_BREAK + b"?" + end), mark, limit)
    while not found[1].startswith(b"--"):
        most -= 1
        if most < 0:
            raise FormTooLargeError
        source.skip(len(found[0]))
        head, found = source.before(_BLANK_LINE, b"", limit)
        source.skip(len(found[0]) // 2)
        name, is_file, charset = _described(head)
        data, found = source.before(delimiter, mark, None if is_file else limit, in_new_line=True)
        yield FormPart(name, is_file, data if is_file else data.decode(charset, "replace").encode())
    for _ in pieces:  # the end of a body tells whether it is whole
        pass


class _Source:
    """Bytes that come in pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._held = b""

    def before(
        self, pattern: re.Pattern[bytes], mark: bytes, limit: int | None, *, in_new_line: bool = False
    ) -> tuple[bytes, re.Match[bytes]]:
        """Return what comes before the next match of a pattern, and the match; what is left begins with the match.

        Args:
            pattern: to be found.
            mark: bytes that are found faster; each match has them, with fewer than `_BESIDE` bytes on either side.
            limit: the most bytes that may come before; None for any.
            in_new_line: leave out the line end that comes first.

        Raises:
            FormTooLargeError: more bytes come before.
            ValueError: it is not found.
        """
        passed: list[memoryview] = []
        first = _ONE_BREAK.match(self._held) if in_new_line else None
        begin = 0 if first is None else first.end()
        size = 0
        while True:
            at = self._held.find(mark)
            match = None if at < 0 else pattern.search(self._held, max(0, at - _BESIDE))
            end = len(self._held) - len(mark) - _BESIDE if match is None else match.start()
            if end > begin or match is not None:
                passed.append(memoryview(self._held)[begin:end])
                size += len(passed[-1])
                begin, self._held = 0, self._held[end:]
            if limit is not None and size > limit:
                raise FormTooLargeError
            if match is not None:
                return b"".join(passed), match
            piece = next(self._pieces, None)
            if piece is None:
                raise ValueError("the form has no end")
            self._held += piece

    def skip(self, size: int) -> None:
        """Drop the next bytes."""
        self._held = self._held[size:]


def _described(head: bytes) -> tuple[str, bool, str]:
    """Return the name of a part, whether it is a file, and the charset of its text. Raises ValueError without one."""
    headers: dict[str, str] = {}
    for line in _CONTINUED.sub(b" ", head).splitlines():
        name, _, value = line.decode().partition(":")
        headers.setdefault(name.strip(" \t").lower(), value.strip(" \t"))
    if "content-disposition" not in headers:
        raise ValueError("a part has no name")
    _, options = parse_options_header(headers["content-disposition"])
    _, media = parse_options_header(headers.get("content-type"))
    charset = media.get("charset", "").lower()
    return options.get("name") or "", "filename" in options, charset if charset in _CHARSETS else "utf-8"
