"""Problems of a bracketed text, with places."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treescore.core.text import Limits
from treescore.errors import Problem
from treescore.formats.shared.bracket_reader import DEEP, LONG, MANY, OUTSIDE, UNOPENED, Scan

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
    line_index = _LineIndex(text)
    opened = scanned.sentences.open
    before = np.cumsum(opened) - opened
    problems = []
    for sentence in sentences:
        begin, byte, left_open = (
            int(column[sentence])
            for column in (scanned.sentences.first_byte, scanned.sentences.fault_byte, scanned.sentences.open)
        )
        fault = scanned.sentences.fault[sentence]
        line, column = line_index.of(byte)
        if fault == OUTSIDE:
            problems.append(_outside(text[byte : byte + 200], sentence + 1, line, column))
        elif fault == UNOPENED:
            problems.append(_unopened(sentence + 1, line, column))
        else:
            first = int(before[sentence])
            unclosed = tuple(scanned.unclosed[first : first + left_open].tolist())
            first_line = line_index.of(begin)[0]
            problems.append(_unclosed(text[byte : byte + 200], sentence + 1, first_line, (line, column), unclosed))
    return problems


def limit_problem(text: bytes, scanned: Scan, limits: Limits) -> Problem:
    """Describe the bound that was exceeded, and where."""
    code, bound, what = {
        DEEP: ("too-deep", limits.max_depth, "nested brackets"),
        LONG: ("too-many-words", limits.max_words, "words in a sentence"),
        MANY: ("too-many-sentences", limits.max_sentences, "sentences"),
    }[scanned.limit]
    line, column = _LineIndex(text).of(scanned.limit_byte)
    detail = f"The text exceeds {bound:,} {what}. Split it, or ask the operator for a higher limit."
    return Problem(
        code,
        detail,
        sentence=None if scanned.limit == MANY else len(scanned.sentences.fault) + 1,
        line=line,
        column=column,
    )


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


def _outside(token_text: bytes, sentence: int, line: int, column: int) -> Problem:
    detail = (
        f"{_quoted(token_text)} stands outside brackets. Put every tree in brackets, and leave the line empty "
        f"where the parser failed; {_BRACKET_WORDS}"
    )
    return Problem("text-outside-brackets", detail, sentence=sentence, line=line, column=column)


def _unopened(sentence: int, line: int, column: int) -> Problem:
    return UnbalancedLine(
        code="bracket-unopened",
        sentence=sentence,
        line=line,
        column=column,
        detail=f"A bracket is closed that was never opened. Remove it, or open one before; {_BRACKET_WORDS}",
    )


def _unclosed(
    token_text: bytes, sentence: int, first_line: int, place: tuple[int, int], unclosed: tuple[int, ...]
) -> Problem:
    where = "" if first_line == place[0] else f" that begins in line {first_line}"
    brackets = "1 bracket is" if len(unclosed) == 1 else f"{len(unclosed)} brackets are"
    return UnbalancedLine(
        code="bracket-unclosed",
        sentence=sentence,
        line=place[0],
        column=place[1],
        detail=f"The sentence{where} ends while {brackets} open, the last {_quoted(token_text)}. "
        f"Close what is open; {_BRACKET_WORDS}",
        unclosed=unclosed,
    )


def _quoted(text: bytes) -> str:
    """Return the token at the beginning of `text`, shortened."""
    token = _TOKEN.match(text)
    quoted = (token.group() if token else b"").decode("utf-8", "ignore")
    return repr(quoted if len(quoted) <= 30 else quoted[:27] + "...")
