"""Tab-separated text: lines, sentences, comments and fields, and problems with their places.

Fields are separated by tabs or by any white space, and cut and numbered without making a string of each.

Distinct strings are numbered in compiled code: eight bytes at a time, by open addressing. A string is known by its key.
The key of a string of up to seven bytes is the string itself, padded with zeros: equal keys are equal strings. The key
of a longer one is a hash with the highest bit set; where two agree, the bytes decide. A slot is given by the high bits
of the key times a secret odd number of the process: a text made to collide in one process collides in no other. The
numbers of the strings do not depend on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import Bits, BoolArray, Bytes, Int32Array, IntArray, offsets_of, sums_by
from treescore.core.columns import ranges_of
from treescore.core.jit import compiled, unless_interpreted, weighing
from treescore.core.text import BOM, Limits, checked_bytes
from treescore.core.trees import Vocabulary
from treescore.errors import InputError, LimitError, Problem

_TAB, _LINE_FEED = 9, 10
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_LOWS, _HIGHS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
"""The lowest and the highest bit of each byte of a word."""
_TABS, _LINE_FEEDS = np.uint64(_TAB) * _LOWS, np.uint64(_LINE_FEED) * _LOWS
_LINES_AT_ONCE = 512
"""Lines whose fields are strings at once, 0.3 MB of them: eight times as many take no less time."""
_KNOWN_A_LINE = 2
"""Strings of the vocabulary for each line that are looked up without being made: those of gold, which most are."""
_LINES_CUT = 1024
"""Lines cut before their fields are numbered; their places stay in the cache."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of lines, each column made on demand: `fields[column]` is int64 (lines,).

    Attributes:
        codes: which of the text's distinct strings each field is, int32 (columns, lines).
        numbers: the vocabulary's number of each distinct string, int64.
    """

    codes: Int32Array
    numbers: IntArray

    def __getitem__(self, column: int) -> IntArray:
        numbered: IntArray = self.numbers[self.codes[column]]
        return numbered

    def of_lines(self, kept: BoolArray) -> Fields:
        """Return the fields of some of the lines, bool (lines,)."""
        return Fields(self.codes[:, kept], self.numbers)


def numbered_fields(
    text: bytes, starts: IntArray, ends: IntArray, columns: int, vocabulary: Vocabulary
) -> Fields | None:
    """Return the fields of lines as numbers of the vocabulary, None where a line has more or less of them.

    Args:
        text: valid UTF-8, every line with a line feed.
        starts: first byte of each line.
        ends: its line feed.
        columns: how many fields a line has.
        vocabulary: new strings are added to it, in the order of the text, unless the answer is None.
    """
    known = vocabulary.strings[: _KNOWN_A_LINE * len(starts)]
    characters, words = padded(text, "\0".join([*known, ""]).encode())
    codes = np.empty((columns, len(starts)), np.int32)
    firsts, stops = np.empty((2, _LINES_CUT * columns), np.int64)
    found = np.empty(_LINES_CUT * columns, np.int32)
    table, even = new_table(), None
    for line in range(0, len(starts), _LINES_CUT):
        some = starts[line : line + _LINES_CUT]
        if even is None:
            even = unless_interpreted(_cut, characters, words, some, columns, firsts, stops)
            table = _table_of(characters, words, len(text), len(known)) if even else table
        else:
            even = _cut(characters, words, some, columns, firsts, stops)
        if not even:
            break
        fields = len(some) * columns
        table = with_room(words, table, fields)
        number_all(words, firsts, stops, fields, table, found)
        codes[:, line : line + _LINES_CUT] = found[:fields].reshape(-1, columns).T
    if even is None:
        regular = bool((tabs_of(text, starts, ends) == columns - 1).all())
        return _numbered_by_dict(text, starts, ends, columns, vocabulary) if regular else None
    if not even:
        return None
    new = vocabulary.numbers_of_distinct(strings_of(text, table.places[len(known) : table.size[0]]))
    return Fields(codes, np.concatenate([np.arange(len(known)), new]))


def _table_of(characters: Bytes, words: Bits, begin: int, count: int) -> StringTable:
    """Return the table of the strings that stand behind a text, each with a NUL, which no text holds."""
    stops = np.flatnonzero(characters[begin:] == 0)[:count] + begin
    starts = np.append(begin, stops[:-1] + 1)
    table = with_room(words, new_table(), count + count // 2)
    number_all(words, starts, stops, count, table, np.empty(count, np.int32))
    return table


def _numbered_by_dict(text: bytes, starts: IntArray, ends: IntArray, columns: int, vocabulary: Vocabulary) -> Fields:
    """Do the same in Python, a few lines at a time, since each field becomes a string for a moment."""
    codes = np.empty((columns, len(starts)), np.int32)
    for first in range(0, len(starts), _LINES_AT_ONCE):
        piece = slice(first, first + _LINES_AT_ONCE)
        flat = vocabulary.numbers(_joined(text, starts[piece], ends[piece]).decode().split("\t"))
        codes[:, piece] = flat.reshape(-1, columns).T
    return Fields(codes, np.arange(len(vocabulary)))


def _joined(text: bytes, starts: IntArray, ends: IntArray) -> bytes:
    """Join lines by tabs, cutting out runs of adjacent lines."""
    gaps = starts[1:] != ends[:-1] + 1
    runs = zip(starts[np.append(True, gaps)].tolist(), ends[np.append(gaps, True)].tolist(), strict=True)
    return b"\t".join([text[start:end] for start, end in runs]).replace(b"\n", b"\t")


def tabs_of(text: bytes, starts: IntArray, ends: IntArray) -> IntArray:
    """Count the tabs of each line: int64 (lines,)."""
    characters = np.frombuffer(text, np.uint8)
    counts = np.empty(len(starts), np.int64)
    for first in range(0, len(starts), _LINES_AT_ONCE):
        begin, end = starts[first : first + _LINES_AT_ONCE], ends[first : first + _LINES_AT_ONCE]
        tabs = np.flatnonzero(characters[begin[0] : end[-1]] == _TAB) + begin[0]
        counts[first : first + _LINES_AT_ONCE] = np.searchsorted(tabs, end) - np.searchsorted(tabs, begin)
    return counts


@compiled
@weighing(0.05)  # what `_numbered_by_dict` takes
def _cut(text: Bytes, words: Bits, starts: IntArray, columns: int, firsts: IntArray, stops: IntArray) -> bool:
    """Cut lines into fields, and tell whether each has as many as there are columns.

    Args:
        text: padded.
        words: of the text.
        starts: first byte of each line.
        columns: fields of each line.
        firsts: filled with the first byte of each field.
        stops: filled with the byte after its last.
    """
    field = 0
    for line in range(len(starts)):
        position = starts[line]
        for column in range(columns):
            firsts[field] = position
            marks = _ZERO
            while marks == _ZERO:
                # the highest bits of the bytes that are either; of them only the lowest is reliable
                tabs, feeds = words[position] ^ _TABS, words[position] ^ _LINE_FEEDS
                marks = (((tabs - _LOWS) & ~tabs) | ((feeds - _LOWS) & ~feeds)) & _HIGHS
                # the bytes below it, all eight where there is none
                below = ((marks & (_ZERO - marks)) >> np.uint64(7)) - _ONE
                position += int(((below & _LOWS) * _LOWS) >> np.uint64(56))
            if text[position] != (_TAB if column < columns - 1 else _LINE_FEED):
                return False
            stops[field] = position
            field += 1
            position += 1
    return True


_COMMENT = re.compile(r"\s%%")


class SpacedFields(NamedTuple):
    """The first fields of l lines.

    Attributes:
        counts: fields of each line without its comment, int64 (l,).
        codes: which of the strings each of the first fields is, -1 where the line has fewer, int32 (l, columns).
        strings: the distinct ones.
    """

    counts: IntArray
    codes: Int32Array
    strings: list[str]


def spaced_fields(text: bytes, columns: int) -> SpacedFields:
    """Cut the lines of a text; `%%` after white space begins a comment.

    Args:
        text: valid UTF-8, every line ended by a line feed and no carriage return.
        columns: how many fields of each line are kept.
    """
    lines = text.decode().split("\n")[:-1]
    codes = np.empty((len(lines), columns), np.int32)
    counts = np.empty(len(lines), np.int64)
    vocabulary, lacking = Vocabulary(), [""] * columns
    for first in range(0, len(lines), _LINES_AT_ONCE):
        rows = [_without_comment(line).split() for line in lines[first : first + _LINES_AT_ONCE]]
        piece = slice(first, first + len(rows))
        counts[piece] = [*map(len, rows)]
        kept = chain.from_iterable(row if len(row) == columns else (row + lacking)[:columns] for row in rows)
        codes[piece] = vocabulary.numbers(kept).reshape(-1, columns) - 1  # that of the empty string is 0
    return SpacedFields(counts, codes, vocabulary.strings[1:])


def _without_comment(line: str) -> str:
    return _COMMENT.split(line, maxsplit=1)[0] if "%%" in line else line


NAMES = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC".split()  # noqa: SIM905 - as headers have them
"""Of the columns of CoNLL-U."""
COLUMNS = 10
MAX_KEYS = 32
"""Distinct keys of `# key = value` comments that become sentence attributes; the first of them are kept."""

_HASH, _NEWLINE = 35, 10
_SENT_ID = "# sent_id = "
_SKIPPED_KEYS = (b"# text", b"#text")


@dataclass(frozen=True, slots=True)
class Outline:
    """Where the lines of a text are, and which sentence each belongs to; r token lines, n sentences.

    Attributes:
        text: valid UTF-8 with LF line ends.
        starts, ends: bytes of each token line, half-open, int64 (r,).
        lines: number of each token line, from 1, int64 (r,).
        sentences: sentence of each token line, from 0, int64 (r,).
        hollow: which token lines hold only blanks and tabs, bool (r,).
        row_offsets: int64 (n + 1,), sentence i has the token lines `row_offsets[i]:row_offsets[i + 1]`.
        sent_ids: name of each sentence, None where it has none.
        attributes: `# key = value` comments, one value a sentence; `newdoc` holds until the next one.
        comments: lines of all comments.
        misplaced: lines of those inside sentences.
        spare: blank lines that end no sentence.
        places: column -> where it stands in the text, both from 1, for texts whose columns are in another order.
    """

    text: bytes
    starts: IntArray
    ends: IntArray
    lines: IntArray
    sentences: IntArray
    hollow: BoolArray
    row_offsets: IntArray
    sent_ids: Sequence[str | None]
    attributes: Mapping[str, Sequence[str | None]]
    comments: IntArray
    misplaced: IntArray
    spare: IntArray
    places: Mapping[int, int] = field(default_factory=dict)

    def line_text(self, row: int) -> str:
        """Return the token line, shortened for a message."""
        return short(self.text[self.starts[row] : self.ends[row]].decode())

    def problem(self, row: int, column: int | None, code: str, detail: str) -> Problem:
        """Make a problem of one token line; `column` is the field, from 1."""
        sentence = int(self.sentences[row])
        return Problem(
            code,
            detail,
            line=int(self.lines[row]),
            column=None if column is None else self.places.get(column, column),
            sentence=sentence + 1,
            sent_id=self.sent_ids[sentence],
        )


def short(string: str, length: int = 60) -> str:
    """Shorten a string for a message."""
    return string if len(string) <= length else string[: length - 3] + "..."


SPACES = " \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""The characters of Unicode category Zs."""
_WITHOUT_SPACES = str.maketrans("", "", SPACES)


def without_spaces(form: str) -> str:
    """Remove characters of Unicode category Zs from a form."""
    return form.replace(" ", "") if form.isascii() else form.translate(_WITHOUT_SPACES)


def is_blank(form: str) -> bool:
    """Tell whether a form is empty but for characters of Unicode category Zs, all of which are white space."""
    return (not form or form.isspace()) and not without_spaces(form)


def unix_lines(text: bytes) -> bytes:
    """Check UTF-8, remove a byte order mark, and end every line with LF, as Python's universal newlines do.

    Raises:
        InputError: as `treescore.core.text.checked_bytes`.
    """
    checked_bytes(text)
    text = text.removeprefix(BOM)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return text if text.endswith(b"\n") else text + b"\n"


def outline_of(text: bytes, limits: Limits) -> Outline:
    """Find lines and sentences: a sentence is a run of token lines up to a blank line, comments before it are its own.

    Args:
        text: as `unix_lines` makes it.
        limits: bounds on sentences and words.

    Raises:
        InputError: no sentence at all.
        LimitError: too many sentences, or too many lines in one.
    """
    characters = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(characters == _NEWLINE)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
    blank = starts == ends
    comment = characters[starts] == _HASH
    token = ~blank & ~comment
    block = np.cumsum(blank) - blank
    blocks = int(block[-1]) + 1
    has_token = np.zeros(blocks, bool)
    has_token[block[token]] = True
    sentence_of_block = np.cumsum(has_token) - 1
    rows = np.flatnonzero(token)
    sentences = sentence_of_block[block[rows]]
    count = int(has_token.sum())
    _check_size(sentences, count, rows, limits)
    row_offsets = offsets_of(sums_by(sentences, count))
    first_row = np.full(blocks, len(starts))
    first_row[has_token] = rows[row_offsets[:-1]]
    comments = np.flatnonzero(comment)
    inside = comments > first_row[block[comments]]
    own = comments[~inside & has_token[block[comments]]]
    for skipped in _SKIPPED_KEYS:
        own = own[~_begin(characters, starts[own], skipped)]
    sent_ids, attributes = _comments_of(text, starts[own], ends[own], sentence_of_block[block[own]], count)
    hollow = np.isin(characters[starts[rows]], (ord(" "), _TAB))
    suspects = zip(*(each[rows[hollow]].tolist() for each in (starts, ends)), strict=True)
    hollow[hollow] = [not text[start:end].strip() for start, end in suspects]
    return Outline(
        text=text,
        starts=starts[rows],
        ends=ends[rows],
        lines=rows + 1,
        sentences=sentences,
        hollow=hollow,
        row_offsets=row_offsets,
        sent_ids=sent_ids,
        attributes=attributes,
        comments=comments + 1,
        misplaced=comments[inside] + 1,
        spare=np.flatnonzero(blank & ~has_token[block]) + 1,
    )


def _begin(characters: Bytes, starts: IntArray, prefix: bytes) -> BoolArray:
    """Tell which lines begin with a prefix: bool, the same shape."""
    found = np.ones(len(starts), np.bool_)
    for place, byte in enumerate(prefix):
        found[found] = characters.take(starts[found] + place, mode="clip") == byte
    return found


def columns_of(outline: Outline, vocabulary: Vocabulary) -> Fields | None:
    """Read all fields of the token lines, None where a line has not ten."""
    return numbered_fields(outline.text, outline.starts, outline.ends, COLUMNS, vocabulary)


def fields_per_line(outline: Outline) -> IntArray:
    """Count the fields of each token line: int64 (r,)."""
    return tabs_of(outline.text, outline.starts, outline.ends) + 1


def passes(numbers: IntArray, vocabulary: Vocabulary, test: Callable[[str], bool]) -> BoolArray:
    """Tell whether the strings of `numbers` pass a test, each distinct string tested once: bool, the same shape."""
    return vocabulary.table(numbers, test)[numbers] > 0


def _check_size(sentences: IntArray, count: int, rows: IntArray, limits: Limits) -> None:
    if not count:
        raise InputError(Problem("no-sentence", "The text has no sentence, only blank lines or comments. Add one."))
    if count > limits.max_sentences:
        detail = f"The text has {count} sentences; the limit is {limits.max_sentences}. Split it."
        raise LimitError(Problem("too-many-sentences", detail))
    lengths = sums_by(sentences, count)
    long = np.flatnonzero(lengths > limits.max_words)
    if len(long):
        first = int(long[0])
        detail = (
            f"Sentence {first + 1} has {int(lengths[first])} lines; the limit is "
            f"{limits.max_words}. End each sentence with a blank line."
        )
        raise LimitError(
            Problem("too-many-words", detail, sentence=first + 1, line=int(rows[np.searchsorted(sentences, first)]) + 1)
        )


def _comments_of(
    text: bytes, starts: IntArray, ends: IntArray, sentences: IntArray, count: int
) -> tuple[list[str | None], dict[str, Sequence[str | None]]]:
    sent_ids: list[str | None] = [None] * count
    attributes: dict[str, list[str | None]] = {}
    document = 0
    lines = b"\n".join([text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)])
    for line, sentence in zip(lines.decode().split("\n") if lines else (), sentences.tolist(), strict=True):
        if line.startswith(_SENT_ID):
            sent_ids[sentence] = line[len(_SENT_ID) :].strip()
            continue
        key, equals, value = map(str.strip, line[1:].partition("="))
        if key in ("newdoc", "newdoc id"):
            document += 1
            key, value = "newdoc", value or str(document)
        elif not equals:
            continue
        if key == "sent_id":
            sent_ids[sentence] = value
            continue
        if key not in attributes and len(attributes) < MAX_KEYS:
            attributes[key] = [None] * count
        if key in attributes:
            attributes[key][sentence] = value
    documents = attributes.get("newdoc", [])
    for sentence in range(1, len(documents)):
        if documents[sentence] is None:
            documents[sentence] = documents[sentence - 1]
    return sent_ids, dict(attributes)


EIGHT = 8
"""Bytes in a word, and the padding of a text: a word can be read at any of its bytes."""

_EIGHT = np.uint64(EIGHT)
_LONG = np.uint64(1 << 63)
_SECRET = np.uint64((hash("slots of strings") * 2 + 1) % (1 << 64))
_HALF = np.uint64(32)
_FIRST_BITS = 13


class StringTable(NamedTuple):
    """The distinct strings of a text.

    Attributes:
        keys: key in each slot, uint64 (slots,), a power of two of them.
        numbers: number of the string in each slot, -1 where free, int32 (slots,).
        places: first byte of each string and the byte after its last, int64 (capacity, 2).
        size: strings so far, int64 (1,).
        odd: the secret of the process.
        shift: 64 less the number of bits of a slot.
    """

    keys: Bits
    numbers: Int32Array
    places: IntArray
    size: IntArray
    odd: np.uint64
    shift: np.uint64


def padded(text: bytes, end: bytes = b"") -> tuple[Bytes, Bits]:
    """Return a text as bytes, with `end` and zeros behind it, and as words: uint8 (n,) and uint64 (n - 7,).

    Word i holds the eight bytes from byte i on, the first the lowest. Both share their memory.
    """
    characters = np.frombuffer(b"".join((text, end, bytes(EIGHT))), np.uint8)
    return characters, words_of(characters)


def words_of(characters: Bytes) -> Bits:
    """Return bytes as words that share their memory, as `padded` does: uint64 (n - 7,)."""
    return np.ndarray((len(characters) - EIGHT + 1,), "<u8", characters, 0, (1,))


def new_table(bits: int = _FIRST_BITS) -> StringTable:
    """Return an empty table of 2^bits slots, half as many strings."""
    slots = 1 << bits
    return StringTable(
        np.empty(slots, np.uint64),
        np.full(slots, -1, np.int32),
        np.empty((slots // 2, 2), np.int64),
        np.zeros(1, np.int64),
        _SECRET,
        np.uint64(64 - bits),
    )


def with_room(words: Bits, table: StringTable, strings: int) -> StringTable:
    """Return the table, or a larger one, with room for so many more strings of the text."""
    known = int(table.size[0])
    if known + strings <= len(table.places):
        return table
    larger = new_table((known + strings - 1).bit_length() + 1)
    starts, stops = table.places[:known].T.copy()
    number_all(words, starts, stops, known, larger, np.empty(known, np.int32))
    return larger


@compiled
def number_all(
    words: Bits, starts: IntArray, stops: IntArray, count: int, table: StringTable, found: Int32Array
) -> None:
    """Number strings in their order, equal ones equally, and enter those that are new.

    One loop over many strings, and not a function for each: unpacking the table would count its references each time.

    Args:
        words: of the text.
        starts: first byte of each string, int64 (count or more,).
        stops: the byte after its last.
        count: how many strings there are.
        table: of the strings before; it must have room.
        found: filled with the numbers.
    """
    keys, numbers, places, size, odd, shift = table
    mask, known = np.uint64(len(keys) - 1), size[0]
    for index in range(count):
        start = np.uint64(starts[index])
        length = np.uint64(stops[index]) - start
        last = start + length - _EIGHT
        if length < _EIGHT:
            key = words[start] & ((_ONE << (length * _EIGHT)) - _ONE)
        else:
            key = np.uint64(0)
            position = start
            while position < last + _EIGHT:
                key = (key ^ words[min(position, last)]) * odd
                key ^= key >> _HALF
                position += _EIGHT
            key |= _LONG
        slot = (key * odd) >> shift
        number = numbers[slot]
        while number >= 0:
            if keys[slot] == key:
                if length < _EIGHT:
                    break
                if np.uint64(places[number, 1] - places[number, 0]) == length:
                    away = np.uint64(places[number, 0]) - start
                    position = start
                    while position < last and words[position] == words[position + away]:
                        position += _EIGHT
                    if position >= last and words[last] == words[last + away]:
                        break
            slot = (slot + _ONE) & mask
            number = numbers[slot]
        if number < 0:
            number = np.int32(known)
            keys[slot], numbers[slot] = key, number
            places[known, 0], places[known, 1] = start, start + length
            known += 1
        found[index] = number
    size[0] = known


def strings_of(text: bytes, places: IntArray) -> list[str]:
    """Decode the strings at these places, all at once; none holds a line feed. Raises UnicodeDecodeError."""
    if not len(places):
        return []
    characters, offsets = ranges_of(places[:, 0], places[:, 1] - places[:, 0] + 1)
    joined = np.frombuffer(text + b"\n", np.uint8)[characters]
    joined[offsets[1:] - 1] = _LINE_FEED
    return joined[:-1].tobytes().decode("utf-8").split("\n")
