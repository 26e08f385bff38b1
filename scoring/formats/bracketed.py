"""Penn brackets and Sampson's square brackets, one tree a line or spread over lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from scoring.errors import InputError, LimitError, Problem
from scoring.formats import bracket_arrays
from scoring.formats.bracket_arrays import DEEP, LONG, MANY, OUTSIDE, READABLE, UNCLOSED, UNOPENED
from scoring.limits import Limits
from scoring.params import Param
from scoring.registry import Format, Text, register
from scoring.text import BOM, checked_bytes
from scoring.trees import NO_TAG, ConstituentTreebank, Sentences
from scoring.vocabulary import Vocabulary

_SPACE = b" \t\n\v\f\r"
_C_STRING_TAIL = re.compile(rb"\0[^ \t\n\v\f\r()]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnbalancedLine(Problem):
    """A sentence whose brackets do not balance: its words and constituents were read all the same.

    Attributes:
        unclosed: numbers, inside the sentence, of the nodes left open; their end is the sentence's.
    """

    unclosed: tuple[int, ...] = ()


@register
class Bracketed(Format):
    """Bracketed trees: `(S (NP (DT the) (NN dog)) (VP (VBD ran)))`, or `[S [NP the dog ] ran ]` without tags."""

    name = "bracketed"
    doc = (
        "Constituency trees in brackets. Round brackets: `(TAG word)` is a word with its tag, other brackets are "
        "constituents. Square brackets, where the text begins with one: words without tags. A blank between the "
        "bracket and its label, or before a closing bracket, is allowed, and so are bare words beside constituents."
    )
    source = "Marcus, Santorini & Marcinkiewicz 1993; Sampson & Babarczy 2003"
    yields = ConstituentTreebank
    params: ClassVar[Mapping[str, Param]] = {
        "layout": Param(
            {"enum": ["lines", "free", None]},
            None,
            "lines: one sentence a line, as EVALB reads; a blank line is a sentence without a parse. free: trees "
            "spread over lines. null: lines where the first non-blank line is balanced, else free.",
        ),
        "unreadable": Param(
            {"enum": ["job", "sentence"]},
            "job",
            "What a sentence that cannot be read costs: the whole job, which says where, or itself (status error).",
        ),
    }

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> ConstituentTreebank:
        """The treebank.

        Raises:
            InputError: `bracket-unclosed`, `bracket-unopened`, `text-outside-brackets`, and those of scoring.text.
            LimitError: `too-deep`, `too-many-words`, `too-many-sentences`.
        """
        assert isinstance(text, bytes)  # noqa: S101 - a format of one text is given one
        lenient = self.values["unreadable"] == "sentence"
        if lenient and b"\0" in text:
            text = _C_STRING_TAIL.sub(b"", text)
        checked_bytes(text)
        text = text.removeprefix(BOM)
        by_line = _by_line(text) if self.values["layout"] is None else self.values["layout"] == "lines"
        scanned = _scanned(text, limits, by_line=by_line)
        faults = np.flatnonzero(scanned.sentences[:, 3] != READABLE)
        if len(faults) and not lenient:
            shown = [_problem(text, scanned, int(index)) for index in faults[: limits.max_problems]]
            raise InputError(shown, len(faults))
        return _treebank(text, scanned, vocabulary, {int(i): _problem(text, scanned, int(i)) for i in faults})

    def write(self, treebank: ConstituentTreebank) -> str:
        """One tree a line; square brackets where no word has a tag."""
        square = len(treebank.tags) > 0 and bool((treebank.tags == NO_TAG).all())
        return "".join(line + "\n" for line in written(treebank, square=square))


@dataclass(frozen=True, slots=True)
class _Scan:
    """What `bracket_arrays.scan` found."""

    nodes: Any
    words: Any
    sentences: Any
    unclosed: Any
    strings: Any


def _scanned(text: bytes, limits: Limits, *, by_line: bool) -> _Scan:
    square = text.lstrip(_SPACE)[:1] == b"["
    opening, closing = (ord("["), ord("]")) if square else (ord("("), ord(")"))
    array = np.frombuffer(text, np.uint8)
    brackets, tokens, _ = bracket_arrays.sizes(array, opening, closing)
    bounds = (brackets, tokens, limits.max_depth, limits.max_words, limits.max_sentences)
    # The hash of bytes is keyed by the process: a text made to collide in one collides in no other. The numbers
    # that strings get do not depend on it.
    seed = hash(text)

    def scan(*, resync: bool) -> tuple[Any, ...]:
        found: tuple[Any, ...] = bracket_arrays.scan(array, opening, closing, by_line, resync, not square, seed, bounds)
        return found

    found = scan(resync=False)
    if not by_line and len(found[2]) and found[2][-1, 3] == UNCLOSED:
        # Something is left open at the end of the text: find out in which tree, taking a bracket in the first
        # column for a new one.
        found = scan(resync=True)
    limit, at, line, line_begin = found[5:]
    if limit:
        raise LimitError([_limit_problem(limit, limits, line, _column(text, line_begin, at), len(found[2]) + 1)])
    return _Scan(*found[:5])


def _by_line(text: bytes) -> bool:
    """Whether the first line that is not blank is balanced: then a sentence is a line."""
    rest = text.lstrip(_SPACE)
    end = rest.find(b"\n")
    first = rest if end < 0 else rest[:end]
    pair = (b"[", b"]") if first[:1] == b"[" else (b"(", b")")
    return first.count(pair[0]) == first.count(pair[1])


def _treebank(
    text: bytes, scanned: _Scan, vocabulary: Vocabulary, unreadable: Mapping[int, Problem]
) -> ConstituentTreebank:
    numbers = vocabulary.numbers([text[start:stop].decode("utf-8") for start, stop in scanned.strings.tolist()])
    tags = numbers[scanned.words[:, 1]]
    tags[scanned.words[:, 1] < 0] = NO_TAG
    sentences = scanned.sentences
    return ConstituentTreebank(
        vocabulary=vocabulary,
        labels=numbers[scanned.nodes[:, 0]],
        starts=scanned.nodes[:, 1].astype(np.int64),
        ends=scanned.nodes[:, 2].astype(np.int64),
        node_offsets=np.append(sentences[:, 0], len(scanned.nodes)),
        words=numbers[scanned.words[:, 0]],
        tags=tags,
        word_offsets=np.append(sentences[:, 1], len(scanned.words)),
        lines=sentences[:, 2].copy(),
        sentences=Sentences(unreadable=unreadable),
    )


def _column(text: bytes, line_begin: int, at: int) -> int:
    return len(text[line_begin:at].decode("utf-8", "replace")) + 1


def _problem(text: bytes, scanned: _Scan, index: int) -> Problem:
    """What is wrong with sentence `index`, in words."""
    _, _, first_line, fault, at, line, line_begin, opened = scanned.sentences[index].tolist()
    sentence = index + 1
    if fault == OUTSIDE:
        found = _excerpt(text[at : at + 200])
        return Problem(
            code="text-outside-brackets",
            sentence=sentence,
            line=line,
            column=_column(text, line_begin, at),
            detail=f"{found} stands outside brackets. Put every tree in brackets; leave the line empty where the "
            "parser failed, and write the brackets of a text as -LRB- and -RRB-.",
        )
    if fault == UNOPENED:
        return UnbalancedLine(
            code="bracket-unopened",
            sentence=sentence,
            line=line,
            column=_column(text, line_begin, at),
            detail="A bracket is closed that was never opened. Remove it, or open one before; brackets that are "
            "words are written -LRB- and -RRB-.",
        )
    assert fault == UNCLOSED  # noqa: S101 - there are three faults
    before = int(scanned.sentences[:index, 7].sum())
    begun = text.rfind(b"\n", 0, at) + 1
    place = "" if text.find(b"\n", at, line_begin) < 0 and begun == line_begin else f" of line {first_line}"
    plural = "bracket is" if opened == 1 else "brackets are"
    return UnbalancedLine(
        code="bracket-unclosed",
        sentence=sentence,
        line=text.count(b"\n", 0, at) + 1,
        column=_column(text, begun, at),
        detail=f"The sentence{place} ends while {opened} {plural} open, last {_excerpt(text[at : at + 200])}. "
        "Close what is open; brackets that are words are written -LRB- and -RRB-.",
        unclosed=tuple(scanned.unclosed[before : before + opened].tolist()),
    )


def _excerpt(found: bytes) -> str:
    """The token at the beginning of `found`, quoted and cut."""
    token = re.match(rb"[(\[]?\s*[^ \t\n\v\f\r()\[\]]*", found)
    quoted = (token.group() if token else b"").decode("utf-8", "ignore")
    return repr(quoted if len(quoted) <= 30 else quoted[:27] + "...")


def _limit_problem(limit: int, limits: Limits, line: int, column: int, sentence: int) -> Problem:
    code, bound, what = {
        DEEP: ("too-deep", limits.max_depth, "nested brackets"),
        LONG: ("too-many-words", limits.max_words, "words in a sentence"),
        MANY: ("too-many-sentences", limits.max_sentences, "sentences"),
    }[limit]
    return Problem(
        code=code,
        sentence=None if limit == MANY else sentence,
        line=line,
        column=column,
        detail=f"There are more than {bound:,} {what}. Split the text, or ask for a higher bound.",
    )


def written(treebank: ConstituentTreebank, *, square: bool) -> list[str]:
    """Each sentence in brackets, on one line.

    An empty node is written inside the deepest node before it that it touches; a lone word without a tag in a
    round constituent of its own is written so that it reads back as one.
    """
    return [tree_text(treebank, index, square=square) for index in range(len(treebank))]


def tree_text(treebank: ConstituentTreebank, index: int, *, square: bool) -> str:
    """Sentence `index` in brackets, on one line."""
    strings = treebank.vocabulary.strings
    left, right = ("[", "]") if square else ("(", ")")
    nodes = slice(*treebank.node_offsets[index : index + 2].tolist())
    labels, starts, ends = (a[nodes].tolist() for a in (treebank.labels, treebank.starts, treebank.ends))
    span = slice(*treebank.word_offsets[index : index + 2].tolist())
    forms, tags = treebank.words[span].tolist(), treebank.tags[span].tolist()
    pieces: list[str] = []
    open_ends: list[int] = []
    node = 0
    for position in range(len(forms) + 1):
        while True:
            begins = node < len(labels) and starts[node] == position
            if begins and not (open_ends and open_ends[-1] < ends[node]):
                pieces.append(f" {left}{strings[labels[node]]}")
                open_ends.append(ends[node])
                node += 1
            elif open_ends and open_ends[-1] == position:
                open_ends.pop()
                pieces.append(right)
            else:
                break
        if position < len(forms):
            form = strings[forms[position]]
            tagged = tags[position] != NO_TAG
            pieces.append(f" {left}{strings[tags[position]]} {form}{right}" if tagged else f" {form}")
    return "".join(pieces).strip()
