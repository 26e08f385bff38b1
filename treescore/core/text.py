"""Decoding and checks of bytes that all readers share, with places."""

from __future__ import annotations

import unicodedata

from treescore.errors import InputError, Problem

BOM = b"\xef\xbb\xbf"

_PIECE = 1 << 16


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
    nul = text.find(b"\0")
    if nul >= 0:
        line, column = place(text, nul)
        detail = (
            f"Line {line}, column {column} holds a NUL character. Remove it. "
            "The file may be binary, UTF-16, or truncated."
        )
        raise InputError(Problem("nul-character", detail, line=line, column=column))
    bad = first_bad_byte(text)
    if bad is not None:
        line, column = place(text, bad)
        detail = f"Byte 0x{text[bad]:02x} in line {line}, column {column} is not valid UTF-8. Save the file as UTF-8."
        raise InputError(Problem("invalid-utf8", detail, line=line, column=column))


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
