"""Compiled reader of bracketed text: bytes to arrays; and the problems of such a text, with places.

The places of brackets and white space are listed first, without a branch; the reader goes from one to the next. Nodes
and words first hold the places of their strings in the text; after some sentences equal strings get equal numbers, all
at once. Each distinct one is decoded once, at the end. An explicit stack keeps the time proportional to the text, at
any depth and length. The margin shows whether trees stand each on a line or are spread over lines.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import Bits, Bytes, Int32Array, IntArray
from treescore.core.jit import compiled
from treescore.core.text import Limits
from treescore.errors import Problem
from treescore.formats.shared.lines import new_table, number_all, padded, short, with_room

LETTER, SPACE, OPENING, CLOSING, END = 0, 1, 2, 3, 4
"""Classes of bytes. END is the NUL after the text, and the line feed where a sentence is a line."""

LINE_FEED = 10

_INT32 = 1 << 31


def byte_classes(opening: int, closing: int, *, by_line: bool) -> Bytes:
    """Return the class of each byte, uint8 (256,). White space is that of the C locale: U+00A0 is a letter."""
    classes = np.full(256, LETTER, np.uint8)
    classes[list(b" \t\n\v\f\r")] = SPACE
    classes[opening] = OPENING
    classes[closing] = CLOSING
    classes[0] = END
    if by_line:
        classes[LINE_FEED] = END
    return classes


def marked(text: Bytes, classes: Bytes, most: int) -> Int32Array | IntArray:
    """Return the places of all bytes that are no letters, at most so many, with room behind them.

    They are int32, of a text of 2 GiB int64.
    """
    marks: Int32Array | IntArray = np.empty(most + 1, np.int32)
    if len(text) > _INT32:
        marks = np.empty(most + 1, np.int64)
    _mark(text, classes, marks)
    return marks


@compiled
def _mark(text: Bytes, classes: Bytes, marks: Int32Array | IntArray) -> None:
    """Write the places without a branch: each over that of the letter before it."""
    count = 0
    for position in range(len(text)):
        marks[count] = position
        count += classes[text[position]] != LETTER


READABLE, UNCLOSED, UNOPENED, OUTSIDE = 0, 1, 2, 3
"""Faults of a sentence: brackets left open, a closing bracket too many, text outside brackets."""

NO_LIMIT, DEEP, LONG, MANY = 0, 1, 2, 3
"""Why reading stopped: a bound on depth, on words of a sentence or on sentences."""

FIRST_NODE, FIRST_WORD, FIRST_BYTE, FAULT, FAULT_BYTE, OPEN = range(6)
"""Columns of a row of sentences: offsets of its nodes, words and bytes; what is wrong, at which byte, open brackets."""

NODES, WORDS, TOKENS, MARK, BYTE, SENTENCES, UNCLOSED_NODES, LIMIT = range(8)
"""Counts: nodes, words and tokens so far; the first mark not before the byte where a sentence begins, and that byte;
sentences and nodes left open; which bound was exceeded."""

ROUND, SQUARE = (ord("("), ord(")")), (ord("["), ord("]"))
"""The bytes of the two kinds of brackets."""

_ZERO, _ONE = np.uint64(0), np.uint64(1)

_AT_ONCE = 1 << 15
"""Strings that are numbered together, if a sentence has no more; their places stay in the cache."""


class Bounds(NamedTuple):
    """Bounds on nested brackets, on words of a sentence and on sentences."""

    depth: int
    words: int
    sentences: int


class Layout(NamedTuple):
    """How to read a text.

    Attributes:
        by_line: a sentence is a line, else an outermost bracket.
        resync: where a sentence is a bracket: an opening bracket in the first column ends what is open.
        tagged: `(X y)` is the word y with the tag X, else a constituent.
    """

    by_line: bool
    resync: bool
    tagged: bool


class Page(NamedTuple):
    """A text.

    Attributes:
        text: its bytes.
        words: its words of eight bytes.
        classes: class of each byte, uint8 (256,).
        marks: places of all bytes that are no letters, int32 or, of a text of 2 GB, int64.
    """

    text: Bytes
    words: Bits
    classes: Bytes
    marks: Int32Array | IntArray


class Tokens(NamedTuple):
    """Strings that wait for their numbers: first byte of each and the byte after its last, int64."""

    starts: IntArray
    stops: IntArray


class Columns(NamedTuple):
    """Arrays that the reader fills: of nodes, of words, and the open brackets (node and byte of each)."""

    labels: Int32Array
    starts: Int32Array
    ends: Int32Array
    forms: Int32Array
    tags: Int32Array
    stack: IntArray


class ScannedSentences(NamedTuple):
    """The sentences of a text, columns int64 (n,), named as the columns of a row."""

    first_node: IntArray
    first_word: IntArray
    first_byte: IntArray
    fault: IntArray
    fault_byte: IntArray
    open: IntArray


@compiled
def _skip_space(text: Bytes, classes: Bytes, position: np.uint64) -> np.uint64:
    while classes[text[position]] == SPACE:
        position += _ONE
    return position


@compiled
def _sentence(  # noqa: C901, PLR0912, PLR0915 - one loop over bytes: calls would cost more than they do
    page: Page, byte: int, layout: Layout, tokens: Tokens, columns: Columns, counts: IntArray, bounds: Bounds
) -> tuple[int, int, int, int, int]:
    """Read one sentence from a byte on; return the byte after it, fault, fault's byte, brackets left open, limit.

    EVALB's rules; beyond them, blanks before a label and before a closing bracket are skipped. Arrays are never
    reassigned here: numba would count references at every byte. Indices are unsigned: it would look at each whether it
    is below zero, which takes a third of the time.
    """
    text, _, classes, marks = page
    by_line, resync, tagged = layout
    token_starts, token_stops = tokens
    labels, starts, ends, forms, tags, stack = columns
    node, first_word = np.uint64(counts[NODES]), np.uint64(counts[WORDS])
    token, mark = np.uint64(counts[TOKENS]), np.uint64(counts[MARK])
    deepest, most = np.uint64(bounds.depth), np.uint64(bounds.words)
    word, position, depth = first_word, np.uint64(byte), _ZERO
    fault, fault_position, limit = READABLE, 0, NO_LIMIT
    while limit == NO_LIMIT:
        kind = classes[text[position]]
        if kind == SPACE:
            position += _ONE
            mark += _ONE
            continue
        if kind == END or (resync and depth > _ZERO and kind == OPENING and text[position - _ONE] == LINE_FEED):
            break
        if kind == OPENING:
            # What the bracket opens: a label, or a tag and its word.
            bracket, start = position, position + _ONE
            mark += _ONE
            stop = np.uint64(marks[mark])
            position, is_word = stop, False
            if classes[text[stop]] == SPACE and (tagged or stop == start):
                # Each blank is a mark.
                form = _skip_space(text, classes, stop)
                form_mark = mark + form - stop
                form_stop = np.uint64(marks[form_mark])
                close = _skip_space(text, classes, form_stop)
                if stop == start and form_stop > form and classes[text[close]] != CLOSING:
                    start, stop, position, mark, form = form, form_stop, form_stop, form_mark, close
                    form_mark += close - form_stop
                    form_stop = np.uint64(marks[form_mark])
                    close = _skip_space(text, classes, form_stop)
                is_word = bool(tagged and form > stop and classes[text[close]] == CLOSING)
            token_starts[token], token_stops[token] = start, stop
            token += _ONE
            if is_word:
                token_starts[token], token_stops[token] = form, form_stop
                forms[word], tags[word] = token, token - _ONE
                token += _ONE
                word += _ONE
                position, mark = close + _ONE, form_mark + close - form_stop + _ONE
            elif depth == deepest:
                limit, position = DEEP, bracket
                break
            else:
                labels[node], starts[node] = token - _ONE, word - first_word
                stack[depth, 0], stack[depth, 1] = node, bracket
                depth += _ONE
                node += _ONE
        elif kind == CLOSING:
            if depth > _ZERO:
                depth -= _ONE
                ends[np.uint64(stack[depth, 0])] = word - first_word
            elif fault == READABLE:
                fault, fault_position = UNOPENED, int(np.int64(position))
            position += _ONE
            mark += _ONE
        else:
            stop = np.uint64(marks[mark])
            if depth > _ZERO:
                token_starts[token], token_stops[token] = position, stop
                forms[word], tags[word] = token, -1
                token += _ONE
                word += _ONE
            elif fault != OUTSIDE:
                fault, fault_position = OUTSIDE, int(np.int64(position))
            position = stop
        if word - first_word > most:
            limit = LONG
        if depth == _ZERO and not by_line:
            break
    if depth > _ZERO and fault != OUTSIDE:
        fault, fault_position = UNCLOSED, stack[depth - _ONE, 1]
    for level in range(np.int64(depth)):
        ends[stack[level, 0]] = word - first_word
    if fault != OUTSIDE and limit == NO_LIMIT:
        counts[NODES], counts[WORDS] = node, word
    counts[TOKENS], counts[MARK] = token, mark
    left_open = 0 if fault == OUTSIDE else int(np.int64(depth))
    return int(np.int64(position)), fault, fault_position, left_open, limit


@compiled
def _sentences(
    page: Page,
    layout: Layout,
    tokens: Tokens,
    columns: Columns,
    unclosed: Int32Array,
    bounds: Bounds,
    counts: IntArray,
    rows: IntArray,
) -> bool:
    """Read sentences until there are enough tokens to be numbered, or no more rows; tell whether there may be more."""
    text, _, classes, marks = page
    stack = columns.stack
    while counts[TOKENS] < _AT_ONCE and counts[SENTENCES] < len(rows):
        position = np.uint64(counts[BYTE])
        if not layout.by_line:
            position = _skip_space(text, classes, position)
            counts[MARK] += np.int64(position) - counts[BYTE]
        counts[BYTE] = position
        if text[position] == 0:
            return False
        sentence = counts[SENTENCES]
        if sentence == bounds.sentences:
            counts[LIMIT] = MANY
            return False
        row = rows[sentence]
        row[FIRST_NODE], row[FIRST_WORD], row[FIRST_BYTE] = counts[NODES], counts[WORDS], counts[BYTE]
        counts[BYTE], row[FAULT], row[FAULT_BYTE], row[OPEN], counts[LIMIT] = _sentence(
            page, counts[BYTE], layout, tokens, columns, counts, bounds
        )
        if counts[LIMIT] != NO_LIMIT:
            return False
        for level in range(row[OPEN]):
            unclosed[counts[UNCLOSED_NODES]] = stack[level, 0] - row[FIRST_NODE]
            counts[UNCLOSED_NODES] += 1
        counts[SENTENCES] += 1
        if layout.by_line:
            counts[BYTE] += 1
            counts[MARK] += 1
        elif row[FAULT] == OUTSIDE:
            byte = counts[BYTE]
            while text[byte] != 0 and text[byte] != LINE_FEED and classes[text[byte]] != OPENING:
                byte += 1
            while marks[counts[MARK]] < byte:
                counts[MARK] += 1
            counts[BYTE] = byte
        elif row[FAULT] == UNOPENED and sentence > 0 and rows[sentence - 1, FAULT] == READABLE:
            counts[SENTENCES] = sentence
            rows[sentence - 1, FAULT], rows[sentence - 1, FAULT_BYTE] = UNOPENED, row[FAULT_BYTE]
    return True


class Scan(NamedTuple):
    """A text in columns: m nodes, w words, n sentences, s strings.

    Attributes:
        labels, starts, ends: of the nodes, int32 (m,); labels are numbers of `strings`.
        forms, tags: of the words, int32 (w,), numbers of `strings`; tag -1: none.
        sentences: where each sentence begins, and what is wrong with it.
        unclosed: numbers inside their sentences of the nodes left open, sentence by sentence, int32.
        strings: bytes of each distinct string, half-open, int64 (s, 2).
        limit: the bound that was exceeded, or NO_LIMIT, and `limit_byte` its byte.
    """

    labels: Int32Array
    starts: Int32Array
    ends: Int32Array
    forms: Int32Array
    tags: Int32Array
    sentences: ScannedSentences
    unclosed: Int32Array
    strings: IntArray
    limit: int
    limit_byte: int


def scan(text: bytes, brackets: tuple[int, int], bounds: Bounds, *, by_line: bool, resync: bool) -> Scan:
    """Read a whole text.

    Args:
        text: without a NUL.
        brackets: ROUND, in which `(X y)` is a word y with the tag X, or SQUARE, in which it is a constituent.
        bounds: of the text.
        by_line: as in Layout.
        resync: used only where a sentence is a bracket.
    """
    characters, words = padded(text, b"" if text.endswith(b"\n") else b"\n")
    opening, closing = brackets
    classes = byte_classes(opening, closing, by_line=by_line)
    opened = int(np.count_nonzero(characters == opening))
    # Before each token there is the beginning of the text, white space or a bracket.
    most_tokens = opened + int(np.count_nonzero((characters <= ord(" ")) | (characters == closing))) + 1
    # Allocated here: numpy asks for huge pages, numba does not, and half the time would go into page faults.
    nodes = np.empty((3, opened), np.int32)
    forms = np.empty((2, opened + most_tokens), np.int32)
    unclosed = np.empty(opened, np.int32)
    stack = np.empty((min(opened, bounds.depth) + 1, 2), np.int64)
    tokens = Tokens(*np.empty((2, opened + most_tokens + 1), np.int64))
    page = Page(characters, words, classes, marked(characters, classes, most_tokens))
    layout = Layout(by_line, resync, brackets == ROUND)
    columns = Columns(nodes[0], nodes[1], nodes[2], forms[0], forms[1], stack)
    rows = np.empty((_AT_ONCE, len(ScannedSentences._fields)), np.int64)
    # The empty string has number 0.
    tokens.starts[0], tokens.stops[0] = 0, 0
    counts = np.zeros(LIMIT + 1, np.int64)
    counts[TOKENS] = 1
    table, more = new_table(), True
    while more:
        if counts[SENTENCES] == len(rows):
            rows = np.concatenate([rows, np.empty_like(rows)])
        first_node, first_word = counts[:TOKENS].tolist()
        more = _sentences(page, layout, tokens, columns, unclosed, bounds, counts, rows)
        last_node, last_word, waiting = counts[: TOKENS + 1].tolist()
        table = with_room(words, table, waiting)
        numbers = np.full(waiting + 1, -1, np.int32)  # tag -1, none, takes the last
        number_all(words, tokens.starts, tokens.stops, waiting, table, numbers)
        for column, first, last in (
            (columns.labels, first_node, last_node),
            (columns.forms, first_word, last_word),
            (columns.tags, first_word, last_word),
        ):
            column[first:last] = numbers[column[first:last]]
        counts[TOKENS] = 0
    return Scan(
        labels=columns.labels[:last_node],
        starts=columns.starts[:last_node],
        ends=columns.ends[:last_node],
        forms=columns.forms[:last_word],
        tags=columns.tags[:last_word],
        sentences=ScannedSentences(*rows[: counts[SENTENCES]].T),
        unclosed=unclosed[: counts[UNCLOSED_NODES]],
        strings=table.places[: table.size[0]],
        limit=int(counts[LIMIT]),
        limit_byte=int(counts[BYTE]),
    )


LINES, FREE = "lines", "free"
"""The layouts."""

_BLANKS = b" \t\n\v\f\r"
_TAB_STOP = 8
_ONE_COLUMN = bytes.maketrans(b"\v\f\r", b"   ")


def brackets_of(text: bytes) -> tuple[int, int]:
    """Return the kind of brackets of a text: square ones where it begins with one."""
    return SQUARE if text.lstrip(_BLANKS)[:1] == b"[" else ROUND


def layout_of(text: bytes) -> str:
    """Tell the layout of a text, as a reader sees it.

    The margin is the column of the first line that is not blank. A line at the margin, or left of it, and the deeper
    lines after it are a group. Trees are spread where some group of several lines is balanced and its first line is
    not, or where the text is balanced and its first line is not. Blank lines play no part.
    """
    opening, closing = brackets_of(text)
    return FREE if _is_spread(text, opening, closing) else LINES


def layout_advice(layout: str) -> str:
    """Say that a layout was not given, and how to give the other one."""
    if layout == LINES:
        meant, other = "if trees are spread over lines", FREE
    else:
        meant, other = "if every line is a sentence", LINES
    return f'The layout was taken to be "{layout}"; {meant}, set {{"layout": "{other}"}}.'


def _is_spread(text: bytes, opening: int, closing: int) -> bool:
    """Apply the rule of `layout_of` in one pass; brackets are counted only in groups of several lines."""
    characters = np.frombuffer(text, np.uint8)

    def balanced(start: int, first_end: int, end: int) -> bool:
        """Tell whether a part of the text is balanced and its first line is not."""
        first, part = characters[start:first_end], characters[start:end]
        return _left_open(first, opening, closing) != 0 and _left_open(part, opening, closing) == 0

    margin = -1
    whole_first_end = start = first_end = end = lines = 0
    for line in BytesIO(text):
        begin, end = end, end + len(line)
        rest = line.lstrip(_BLANKS)
        if not rest:
            continue
        column = len(line[: len(line) - len(rest)].translate(_ONE_COLUMN).expandtabs(_TAB_STOP))
        if margin < 0:
            margin, whole_first_end = column, end
        if column <= margin:
            if lines > 1 and balanced(start, first_end, begin):
                return True
            start, first_end, lines = begin, end, 0
        lines += 1
    return (lines > 1 and balanced(start, first_end, end)) or balanced(0, whole_first_end, end)


def _left_open(characters: Bytes, opening: int, closing: int) -> int:
    return int(np.count_nonzero(characters == opening)) - int(np.count_nonzero(characters == closing))


_TOKEN = re.compile(rb"[(\[]?[ \t\n\v\f\r]*[^ \t\n\v\f\r()\[\]]*")
_BRACKET_WORDS = "brackets that are words of the text are written -LRB- and -RRB-."


@dataclass(frozen=True, slots=True, kw_only=True)
class UnbalancedLine(Problem):
    """A sentence whose brackets do not balance; its words and constituents were still read.

    Attributes:
        unclosed: numbers, inside the sentence, of the nodes left open; their end is the sentence's.
    """

    unclosed: tuple[int, ...] = ()


def problems_of(text: bytes, scanned: Scan, sentences: Sequence[int]) -> list[Problem]:
    """Describe what is wrong with each of these unreadable sentences."""
    if not sentences:
        return []
    line_index, columns = _LineIndex(text), scanned.sentences
    before = np.cumsum(columns.open) - columns.open
    problems = []
    for sentence in sentences:
        begin, byte, left_open, fault = (
            int(column[sentence]) for column in (columns.first_byte, columns.fault_byte, columns.open, columns.fault)
        )
        line, column = line_index.of(byte)
        if fault == OUTSIDE:
            detail = (
                f"{_quoted(text[byte : byte + 200])} stands outside brackets. Put every tree in brackets, and leave "
                f"the line empty where the parser failed; {_BRACKET_WORDS}"
            )
            made = Problem("text-outside-brackets", detail, sentence=sentence + 1, line=line, column=column)
        elif fault == UNOPENED:
            detail = f"A bracket is closed that was never opened. Remove it, or open one before; {_BRACKET_WORDS}"
            made = UnbalancedLine("bracket-unopened", detail, sentence=sentence + 1, line=line, column=column)
        else:
            first, first_line = int(before[sentence]), line_index.of(begin)[0]
            where = "" if first_line == line else f" that begins in line {first_line}"
            brackets = "1 bracket is" if left_open == 1 else f"{left_open} brackets are"
            detail = (
                f"The sentence{where} ends while {brackets} open, the last {_quoted(text[byte : byte + 200])}. "
                f"Close what is open; {_BRACKET_WORDS}"
            )
            made = UnbalancedLine("bracket-unclosed", detail, sentence=sentence + 1, line=line, column=column)
            made = replace(made, unclosed=tuple(scanned.unclosed[first : first + left_open].tolist()))
        problems.append(made)
    return problems


def limit_problem(text: bytes, scanned: Scan, limits: Limits) -> Problem:
    """Describe the bound that was exceeded, and where."""
    code, bound, what = {
        DEEP: ("too-deep", limits.max_depth, "nested brackets"),
        LONG: ("too-many-words", limits.max_words, "words in a sentence"),
        MANY: ("too-many-sentences", limits.max_sentences, "sentences"),
    }[scanned.limit]
    line, column = _LineIndex(text).of(scanned.limit_byte)
    detail = f"The text exceeds {bound:,} {what}. Split it, or have the limit raised."
    sentence = None if scanned.limit == MANY else len(scanned.sentences.fault) + 1
    return Problem(code, detail, sentence=sentence, line=line, column=column)


def advised(problem: Problem, advice: str) -> Problem:
    """Add a sentence to what a problem says; none where it is empty."""
    return replace(problem, detail=f"{problem.detail} {advice}") if advice else problem


class _LineIndex:
    """Lines and columns of bytes; lines end at line feeds, columns count characters."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._feeds = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")).tolist()

    def of(self, byte: int) -> tuple[int, int]:
        line = bisect_left(self._feeds, byte)
        begin = self._feeds[line - 1] + 1 if line else 0
        return line + 1, len(self._text[begin:byte].decode("utf-8", "replace")) + 1


def _quoted(text: bytes) -> str:
    """Return the token at the beginning of `text`, shortened."""
    token = _TOKEN.match(text)
    return repr(short((token.group() if token else b"").decode("utf-8", "ignore"), 30))
