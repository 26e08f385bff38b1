"""Bytes to text, with places: what every reader needs before it knows its format."""

from __future__ import annotations

import unicodedata

from treescore.errors import InputError, Problem

BOM = b"\xef\xbb\xbf"

_PIECE = 1 << 20


def decoded(text: bytes) -> str:
    """UTF-8 text without a byte order mark.

    Raises:
        InputError: nothing there (`empty-text`), bytes that are no UTF-8 (`invalid-utf8`), NUL (`nul-character`).
    """
    checked_bytes(text)
    return text.removeprefix(BOM).decode("utf-8")


def checked_bytes(text: bytes) -> None:
    """Refuse what no format can hold; readers that work on bytes call this and spare the decoding.

    Raises:
        InputError: as `decoded`.
    """
    if not text:
        raise InputError([Problem(code="empty-text", detail="The text is empty (zero bytes). Send the whole file.")])
    nul = text.find(b"\0")
    if nul >= 0:
        line, column = place(text, nul)
        raise InputError(
            [
                Problem(
                    code="nul-character",
                    line=line,
                    column=column,
                    detail=f"A NUL character stands in line {line}, column {column}. Remove it: "
                    "the file may be binary, UTF-16, or cut off.",
                )
            ]
        )
    bad = _first_bad_byte(text)
    if bad is not None:
        line, column = place(text, bad)
        raise InputError(
            [
                Problem(
                    code="invalid-utf8",
                    line=line,
                    column=column,
                    detail=f"Byte 0x{text[bad]:02x} in line {line}, column {column} is no valid UTF-8. "
                    "Save the file as UTF-8.",
                )
            ]
        )


def _first_bad_byte(text: bytes) -> int | None:
    """Where the text stops being UTF-8. In pieces: one emoji makes all of a decoded text four bytes a character."""
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + _PIECE) + 1 or len(text)
        try:
            text[start:end].decode("utf-8")
        except UnicodeDecodeError as error:
            return start + error.start
        start = end
    return None


def place(text: bytes, offset: int) -> tuple[int, int]:
    """Line and column (characters), both from 1, of a byte offset; lines end at LF, CR LF or CR."""
    before = text[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    last = before.rfind(b"\n") + 1
    return before.count(b"\n") + 1, len(before[last:].decode("utf-8", "replace")) + 1


def is_punctuation(form: str) -> bool:
    """Whether every character is in one of Pc Pd Ps Pe Pi Pf Po; the empty string is not."""
    return bool(form) and all(unicodedata.category(character)[0] == "P" for character in form)
