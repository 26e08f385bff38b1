"""Decoding and checks of bytes that all readers share, with places."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import NamedTuple

from treescore.errors import InputError, Problem, placed

BOM = b"\xef\xbb\xbf"

_PIECE = 1 << 16
_SAVE = "Save the file as UTF-8."
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class _Packed(NamedTuple):
    """What a text is that is no text, and what to do."""

    name: str
    advice: str


_UNPACK = "Unpack it, or give the library and the command a file with the suffix {}."
_PACKED = {
    b"\x1f\x8b": _Packed("a gzip file", _UNPACK.format(".gz")),
    b"\x28\xb5\x2f\xfd": _Packed("a zstd file", _UNPACK.format(".zst")),
    b"PK\x03\x04": _Packed("a zip archive", _UNPACK.format(".zip")),
    b"PK\x05\x06": _Packed("an empty zip archive", "Send the text."),
    b"BZh91AY&SY": _Packed("a bzip2 file", "Unpack it."),
    b"\xfd7zXZ\0": _Packed("an xz file", "Unpack it."),
    b"%PDF-": _Packed("a PDF file", "Send the text itself."),
}
"""First bytes of files that are often taken for texts."""


def decoded(text: bytes) -> str:
    """Decode UTF-8 and remove a byte order mark.

    Raises:
        InputError: `empty-text`, `invalid-utf8`, `nul-character`.
    """
    checked_bytes(text)
    return text.removeprefix(BOM).decode("utf-8")


def checked_bytes(text: bytes) -> None:
    """Refuse bytes that no format can hold. Readers that work on bytes call this instead of decoding.

    Raises:
        InputError: as `decoded`.
    """
    if not text:
        raise InputError(Problem("empty-text", "The text is empty (zero bytes). Send the whole file."))
    packed = next((kind for magic, kind in _PACKED.items() if text.startswith(magic)), None)
    if packed is not None:
        raise InputError(Problem("packed-text", f"The text is {packed.name}. {packed.advice}", line=1, column=1))
    if text.startswith(_UTF_16):
        raise InputError(Problem("invalid-utf8", f"The text is UTF-16. {_SAVE}", line=1, column=1))
    nul = text.find(b"\0")
    if nul >= 0:
        line, column = place(text, nul)
        if _looks_like_utf_16(text):
            detail = f"The text seems to be UTF-16 without a byte order mark. {_SAVE}"
            raise InputError(Problem("invalid-utf8", detail, line=line, column=column))
        detail = f"Line {line}, column {column} holds a NUL character. Remove it. The file may be binary or truncated."
        raise InputError(Problem("nul-character", detail, line=line, column=column))
    bad = first_bad_byte(text)
    if bad is not None:
        line, column = place(text, bad)
        detail = f"Byte 0x{text[bad]:02x} in line {line}, column {column} is not valid UTF-8. {_SAVE}"
        raise InputError(Problem("invalid-utf8", detail, line=line, column=column))


def _looks_like_utf_16(text: bytes) -> bool:
    """Tell whether nearly every second byte of the beginning is NUL, as in UTF-16 of Latin script."""
    head = text[:400]
    return len(head) >= 4 and any(part.count(0) >= 0.8 * len(part) for part in (head[::2], head[1::2]))


def line_count(text: bytes) -> int:
    """Count the ends of lines: LF, CR LF or CR."""
    return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")


def joinable_lines(texts: Mapping[str, bytes], *, blank_line: bool) -> list[bytes]:
    """Return texts so that they can follow each other: each ends its last line, with `blank_line` its last sentence.

    Args:
        texts: place -> text.
        blank_line: whether a blank line ends a sentence.

    Raises:
        InputError: as `checked_bytes`, at the text's place.
    """
    pieces = []
    for pointer, text in texts.items():
        with placed(pointer):
            checked_bytes(text)
        body = text.removeprefix(BOM)
        if not body.endswith((b"\n", b"\r")):
            body += b"\n"
        if blank_line and not body.endswith((b"\n\n", b"\r\n\r\n", b"\r\r")):
            body += b"\n"
        pieces.append(body)
    return pieces


def first_bad_byte(text: bytes) -> int | None:
    """Find the first byte that is not UTF-8, in pieces: one emoji makes a whole decoded text four bytes a character."""
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + _PIECE) + 1 or len(text)
        piece = text[start:end]
        try:
            # Most pieces of many texts are ASCII, which is found several times as fast as it is decoded.
            if not piece.isascii():
                piece.decode("utf-8")
        except UnicodeDecodeError as error:
            return start + error.start
        start = end
    return None


def place(text: bytes, offset: int) -> tuple[int, int]:
    """Return line and column (characters), both from 1, of a byte offset; lines end at LF, CR LF or CR."""
    before = text[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    last = before.rfind(b"\n") + 1
    return before.count(b"\n") + 1, len(before[last:].decode("utf-8", "replace")) + 1


def is_punctuation(form: str) -> bool:
    """Tell whether every character is in one of Pc Pd Ps Pe Pi Pf Po; False for the empty string."""
    return bool(form) and all(unicodedata.category(character)[0] == "P" for character in form)
