"""Texts as bytes: their limits, digests, decoding and checks with places, and what they show of their format.

The service configures the limits; elsewhere the defaults hold. Signs of a format are what the first lines of a text
show of its format, and of what can be scored with it.
"""

from __future__ import annotations

import re
import sys
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from typing import NamedTuple

from treescore.core.params import Json
from treescore.core.wording import counted
from treescore.errors import InputError, Problem, placed


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one text. Exceeding one raises LimitError.

    Attributes:
        max_sentences: sentences in a text.
        max_words: words in one sentence.
        max_depth: nested brackets, or heads from a word to the root.
        max_lineage_cells: depth times words of one sentence, for metrics whose cost is their product.
        max_training_bytes: size of a training text that is a parameter of a metric.
        max_problems: problems reported of one text; further ones are only counted.
    """

    max_sentences: int = 1_000_000
    max_words: int = 100_000
    max_depth: int = 50_000
    max_lineage_cells: int = 200_000_000
    max_training_bytes: int = 40_000_000
    max_problems: int = 20


DEFAULT_LIMITS = Limits()


_SMALL_TEXT = 1 << 20
"""Bytes that Python's own SHA-256 (325 MB a second) takes 3 ms for, as long as `hashlib` takes to load OpenSSL."""
_OWN_MODULES = ("_sha2", "_sha256")
"""Modules of Python's own SHA-256, from 3.12 on and before; the standard library's `random` takes SHA-512 so."""
DIGEST = re.compile("sha256:[0-9a-f]{64}")
"""What `digest_of` returns."""

SHOWN_DIGITS = 12
"""Digits of a digest that people read; documents hold all."""


def short_digests(names: str) -> str:
    """Return names of texts (`sha256:...`, of several texts separated by spaces) with the first digits alone."""
    parts = (part.partition("sha256:") for part in names.split(" "))
    return " ".join(f"{before}{mark}{digits[:SHOWN_DIGITS]}" for before, mark, digits in parts)


def digest_of(data: bytes) -> str:
    """Return `sha256:...` of a text.

    OpenSSL takes 3.8 MB of memory, a tenth of a command that scores two small files. So it is loaded for large texts
    only, and used where something else has loaded it.
    """
    name = "hashlib"
    if len(data) <= _SMALL_TEXT and name not in sys.modules:
        name = next(filter(find_spec, _OWN_MODULES), name)
    digest: str = import_module(name).sha256(data).hexdigest()
    return f"sha256:{digest}"


BOM = b"\xef\xbb\xbf"

_PIECE = 1 << 16
_SAVE = "Save the file as UTF-8."
_REPLACED = "\N{REPLACEMENT CHARACTER}"
_UTF_32, _UTF_16 = (b"\xff\xfe\0\0", b"\0\0\xfe\xff"), (b"\xff\xfe", b"\xfe\xff")


class Packed(NamedTuple):
    """What bytes are that are not text, and what to do."""

    name: str
    advice: str


_UNPACK = "Send the text that it holds, plain or packed once as .gz."
_EXPORT = "Save its content as text in the format, and send that."
_FETCH = "Fetch the file itself, and look into this one for what the server says."
_PAGE = Packed("a web page or an error of a server", _FETCH)
_TAR = Packed("a tar archive", _UNPACK)
_ZIP = Packed("a zip archive", _UNPACK)
_GZIP = Packed("a gzip file", _UNPACK)
_IN_ZIP = {
    b"word/document.xml": "a Word document (docx)",
    b"xl/workbook.xml": "an Excel workbook (xlsx)",
    b"ppt/presentation.xml": "a PowerPoint file (pptx)",
    b"application/vnd.oasis.opendocument": "an OpenDocument file",
    b"data.pkl": "a PyTorch file",
    b".npy": "a NumPy archive (npz)",
}
"""Names in zip archives that are files of a program."""
_SIGNATURES = [
    (re.compile(magic, re.DOTALL), Packed(name, advice))
    for magic, name, advice in (
        (rb"\x1f\x8b", *_GZIP),
        (rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", "a zstd file", _UNPACK),
        (rb"PK(?:\x03\x04|\x07\x08)", *_ZIP),
        (rb"PK\x05\x06", "an empty zip archive", "Send the text."),
        (rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", "a bzip2 file", _UNPACK),
        (rb"\xfd7zXZ\0", "an xz file", _UNPACK),
        (rb"\x5d\0\0[\0-\xff]{2}(?:\xff{8}|.{3}\0{5})", "an lzma file", _UNPACK),
        (rb"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
        (rb"Rar!\x1a\x07", "a rar archive", _UNPACK),
        (rb"LZIP\x01", "an lzip file", _UNPACK),
        (rb"\x04\x22\x4d\x18", "an lz4 file", _UNPACK),
        (rb"\x1f[\x9d\xa0]", "a file of compress (.Z)", _UNPACK),
        (rb"MSCF\0{4}", "a cabinet archive", _UNPACK),
        (rb"%PDF-", "a PDF file", _EXPORT),
        (rb"\{\\rtf", "an RTF document", _EXPORT),
        (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an older Word or Excel document (doc, xls)", _EXPORT),
        (rb"PAR1", "a Parquet file", _EXPORT),
        (rb"ARROW1\0\0|\xff{4}.{2}\0\0|FEA1", "an Arrow or Feather file", _EXPORT),
        (rb"\x80[\x02-\x05]", "a Python pickle", _EXPORT),
        (rb"\x93NUMPY", "a NumPy array (npy)", _EXPORT),
        (rb"\x89HDF\r\n\x1a\n", "an HDF5 file", _EXPORT),
        (rb"SQLite format 3\0", "an SQLite database", _EXPORT),
        (rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a", "a picture", _EXPORT),
        (rb"\x7fELF|MZ.\0", "a program", "Send the text."),
        (rb"(?:\xef\xbb\xbf)?\s*<(?i:!doctype\s+html|html[\s>]|\?xml[^>]*>\s*<(?:!doctype html|html|error)\b)", *_PAGE),
        (
            rb'(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*"(?!(?:source|target|alignment)")[^"\n\0]*"\s*:',
            "a JSON document",
            _EXPORT,
        ),
        (rb"version https://git-lfs\.github\.com/", "a pointer of Git LFS", "Fetch its file: git lfs pull."),
    )
]
"""First bytes of files that are often taken for texts."""
_TAR_BLOCK, _TAR_SUM = 512, slice(148, 156)


def packed_as(data: bytes) -> Packed | None:
    """Tell what bytes are, by their beginning, where they are a file that is packed or of another program."""
    kind = _kind_of(data)
    if kind == _GZIP:
        try:
            inner = _kind_of(zlib.decompressobj(31).decompress(data[:_PIECE], _PIECE))
        except zlib.error:
            inner = None
        return kind if inner is None else Packed(f"{inner.name} packed with gzip", inner.advice)
    own = next((name for mark, name in _IN_ZIP.items() if mark in data), None) if kind == _ZIP else None
    return kind if own is None else Packed(own, _EXPORT)


def _kind_of(data: bytes) -> Packed | None:
    return _TAR if _is_tar(data) else next((kind for magic, kind in _SIGNATURES if magic.match(data)), None)


def actually(data: bytes, name: str) -> str:
    """Return `" It is a rar archive."` of bytes that are not what their name says, `""` where that is all they are."""
    kind = packed_as(data)
    return "" if kind is None or name in kind.name else f" It is {kind.name}."


def _is_tar(data: bytes) -> bool:
    """Tell whether bytes begin with a header of tar, whose checksum counts its own digits as blanks."""
    header = data[:_TAR_BLOCK]
    stated = header[_TAR_SUM].strip(b" \0").lstrip(b"0")
    return stated.isdigit() and b"%o" % (sum(header) - sum(header[_TAR_SUM]) + 8 * ord(" ")) == stated


class _Kind(NamedTuple):
    """Formats whose texts begin alike, and what such a text is called."""

    formats: tuple[str, ...]
    name: str
    begins: re.Pattern[bytes]


_KINDS = [
    _Kind(formats, name, re.compile(begins))
    for formats, name, begins in (
        (("bracketed", "discbracket"), "bracketed trees", rb"\s*[(\[]\s*[(\[A-Za-z]"),
        (
            ("conllu", "conllx", "conll08", "conll09", "cupt", "sdp"),
            "a table of tab-separated columns, as CoNLL-U has",
            rb"(?:#[^\n]*\n|[ \t\r]*\n)*\d[^\t\n]*\t(?:[^\t\n]*\t){6}",
        ),
        (("pharaoh", "talp"), "word alignments", rb"\s*\d+[-p]\d+(?:[ \t]+\d+[-p]\d+)*[ \t]*\r?(?:\n|$)"),
        (("export",), "trees in NeGra's export format", rb"(?:%%[^\n]*\n)*#(?:FORMAT|BO[ST]) "),
        (("tigerxml",), "TIGER-XML", rb"\s*(?:<\?xml[^>]*>\s*)?<(?:corpus|subcorpus)\b"),
    )
]
"""How texts begin that are often taken for those of another format."""


def of_another_format(text: object, name: str) -> Problem | None:
    """Return what is wrong with a text that a format cannot read where it begins like those of other formats."""
    own = next((kind for kind in _KINDS if name in kind.formats), None)
    begun = text[:_PIECE] if isinstance(text, bytes) else b""
    if own is None or own.begins.match(begun):
        return None
    kind = next((kind for kind in _KINDS if kind.begins.match(begun)), None)
    if kind is None:
        return None
    detail = f"The text looks like {kind.name}, and is read as {name}. Send it in the format {name}."
    return Problem("wrong-format", detail, line=1)


def refuse_packed(data: bytes) -> None:
    """Refuse bytes of a file that is packed, of another program, or in another encoding.

    Raises:
        InputError: `packed-text`, `invalid-utf8`, with what it is and what to do.
    """
    kind = packed_as(data)
    if kind is not None:
        raise InputError(Problem("packed-text", f"The text is {kind.name}. {kind.advice}", line=1, column=1))
    wide = encoding_problem(data, single=False)
    if wide is not None:
        raise InputError(wide)


def decoded(text: bytes) -> str:
    """Decode UTF-8 and remove a byte order mark.

    Raises:
        InputError: `empty-text`, `invalid-utf8`, `nul-character`.
    """
    checked_bytes(text)
    return text.removeprefix(BOM).decode("utf-8")


class Utf8(bytes):
    """A text that was found to be UTF-8, so that readers need not look again."""


def checked_bytes(text: bytes) -> None:
    """Refuse bytes that no format can hold. Readers that work on bytes call this instead of decoding.

    Raises:
        InputError: as `decoded`.
    """
    if not text:
        raise InputError(Problem("empty-text", "The text is empty (zero bytes). Send the whole file."))
    refuse_packed(text)
    nul = text.find(b"\0")
    if nul >= 0:
        line, column = place(text, nul)
        detail = f"Line {line}, column {column} holds a NUL character. Remove it. The file may be binary or truncated."
        raise InputError(Problem("nul-character", detail, line=line, column=column))
    wrong = None if isinstance(text, Utf8) else encoding_problem(text)
    if wrong is not None:
        raise InputError(wrong)


def encoding_problem(text: bytes, what: str = "text", *, single: bool = True) -> Problem | None:
    """Say which other encoding a text is in, or which byte is not UTF-8; None where it is UTF-8.

    Args:
        text: not decoded yet.
        what: the text is, as "file 'gold'".
        single: whether to look for single bytes that are not UTF-8.
    """
    wide, line, column = _encoding_of(text), 1, 1
    fault = f"The {what} is {wide}."
    if wide is None:
        bad = first_bad_byte(text) if single else None
        if bad is None:
            return None
        line, column = place(text, bad)
        fault = f"Byte 0x{text[bad]:02x} in line {line}, column {column} of the {what} is not valid UTF-8."
    return Problem("invalid-utf8", f"{fault} {_SAVE}", line=line, column=column)


def _encoding_of(text: bytes) -> str | None:
    """Name the encoding, UTF-16 or UTF-32, of a text that begins with its mark or that only it makes readable."""
    for name, marks in (("UTF-32", _UTF_32), ("UTF-16", _UTF_16)):
        if text.startswith(marks):
            return name
    head = text[:400]
    if head.count(0) < max(2, len(head) / 20):
        return None
    for name, order in product(("UTF-32", "UTF-16"), ("LE", "BE")):
        seen = head[: len(head) & ~3].decode(f"{name}-{order}", "replace").rstrip(_REPLACED)
        readable = _REPLACED not in seen and all(each.isprintable() or each.isspace() for each in seen)
        if readable and any(map(str.isspace, seen)):
            return f"{name} without a byte order mark"
    return None


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


HEAD_BYTES = 1 << 16
"""Bytes of a text that are looked at."""
CERTAIN, LIKELY, POSSIBLE = 1.0, 0.7, 0.3
"""How strong signs are: only this format writes so; others rarely do; others do as well."""
_MOST_FIELDS = 200


@dataclass(frozen=True)
class Head:
    """The first complete lines of a text.

    Attributes:
        lines: without line ends.
        whole: whether they are all of the text.
    """

    lines: Sequence[str]
    whole: bool

    @classmethod
    def of(cls, text: bytes) -> Head:
        """Take the first lines of a text; bytes that are not UTF-8 are replaced, a line that is cut is left out."""
        head = text[:HEAD_BYTES].removeprefix(BOM).decode("utf-8", "replace")
        lines = head.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        whole = len(text) <= HEAD_BYTES
        if not whole and len(lines) > 1:
            lines.pop()
        return cls(lines, whole)

    @cached_property
    def filled(self) -> Sequence[str]:
        """The lines that are not blank."""
        return [line for line in self.lines if line.strip()]

    @cached_property
    def comments(self) -> Sequence[str]:
        """The lines that begin with #."""
        return [line for line in self.filled if line.startswith("#")]

    @cached_property
    def rows(self) -> Sequence[Sequence[str]]:
        """The fields of the lines that are neither blank nor comments, split at tabs, at spaces where it has none."""
        lines = [line for line in self.filled if not line.startswith("#")]
        return [line.split("\t", _MOST_FIELDS) if "\t" in line else line.split(None, _MOST_FIELDS) for line in lines]

    @property
    def first(self) -> str:
        """The first line that is not blank, without white space around it."""
        return self.filled[0].strip() if self.filled else ""


@dataclass(frozen=True, slots=True)
class Scored:
    """A metric entry as a request writes it, and why it is suggested."""

    metric: Json
    why: str

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.metric if isinstance(self.metric, str) else str(self.metric["name"])


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for a format.

    Attributes:
        strength: 0 to CERTAIN.
        why: what was seen, in sentences.
        options: of the format.
        metrics: to score it with, the best first; none for the format's usual one.
    """

    strength: float
    why: Sequence[str]
    options: Mapping[str, Json] = field(default_factory=dict)
    metrics: Sequence[Scored] = ()


def share_of_lines(found: int, lines: int) -> float:
    """Return a share of lines, 0 where there are none."""
    return found / lines if lines else 0.0


def found_in_lines(found: int, lines: int, what: str) -> str:
    """Say in how many of the first lines something was seen."""
    if found == lines:
        return f"{what} in {'the first line' if lines == 1 else f'each of the first {lines} lines'}."
    return f"{what} in {found} of the first {counted(lines, 'line')}."
