"""Alignments as GIZA++ and mgiza write them (A3.final): three lines a sentence pair."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from io import BytesIO
from itertools import chain, count, pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from treescore.core.arrays import Int32Array
from treescore.core.params import Param
from treescore.core.registry import Format, Text, register
from treescore.core.text import Limits
from treescore.core.trees import Alignments, Sentences, Vocabulary
from treescore.core.wording import counted
from treescore.errors import InputError, Problem, ProblemList
from treescore.formats.shared.links import (
    MAX_DIGITS,
    REVERSED,
    Fault,
    Links,
    alignments_of,
    checked_sentences,
    giza_signs,
    number_of,
    quoted,
    sorted_links,
    unified,
)

_HEADING = re.compile(rb"# ?Sentence pair \(([0-9]+)\)")
_TOKEN = re.compile(rb"\S+")
_LINES = 3
_AT_ONCE = 4096
"""Pairs whose links are sorted together."""
_OPEN, _CLOSE, _NULL = b"({", b"})", b"NULL"
_PAIR_FORM = "A pair is three lines: # Sentence pair (1) …; the target sentence; NULL ({ }) word ({ 1 2 }) …"


class _Pair(NamedTuple):
    """A sentence pair: its number, the index of its first line, and its links, int32 (l, 3): source, target, column."""

    number: int
    line: int
    links: Int32Array


@register
class GizaA3(Format):
    """GIZA++ alignments. A source word of the third line is linked with the numbers of target words behind it.

    Pairs are named by the number in their first line and stand in its order; of a number that is repeated the last
    pair counts, since mgiza writes a pair again that it computes again. Links of NULL are left out.
    """

    name: ClassVar[str] = "giza-a3"
    doc: ClassVar[str] = "Word alignments of GIZA++ and mgiza (A3.final), three lines a pair; all links are sure."
    source: ClassVar[str] = "Och & Ney 2003, Computational Linguistics 29(1) (GIZA++)"
    yields = Alignments
    suffixes = (".a3", ".a3.final")
    usual_metric = "alignment"
    memory = 25
    example = (
        "# Sentence pair (1) source length 2 target length 3 alignment score : 1e-05\n"
        "le café noir \nNULL ({ 1 }) black ({ 3 }) coffee ({ 2 }) \n"
        "# Sentence pair (2) source length 1 target length 1 alignment score : 0.5\noui \nNULL ({ }) yes ({ 1 }) \n"
    ).encode()
    params: ClassVar[Mapping[str, Param]] = {"reversed": REVERSED}

    signs = staticmethod(giza_signs)

    def read(self, text: Text, vocabulary: Vocabulary, limits: Limits) -> Alignments:  # noqa: ARG002 - no words here
        """Read the pairs in order of their numbers.

        Raises:
            InputError: `giza-bad-pair`, a pair is not three lines of the right form; `alignment-bad-link` and
                `alignment-index-out-of-range`, numbers of words.
            LimitError: too many sentence pairs.
        """
        problems = ProblemList(limits.max_problems)
        pairs: dict[int, _Pair] = {}
        repeated: list[_Pair] = []
        for pair in _pairs(unified(text), limits, problems):
            if pair.number in pairs:
                repeated.append(pair)
            pairs[pair.number] = pair
        problems.raise_if_any()
        checked_sentences(len(pairs), limits)
        in_order = sorted(pairs.values())
        pairs.clear()
        names = [str(pair.number) for pair in in_order]
        warnings = [_repeated(repeated)] if repeated else []
        links = _links(in_order, turned=bool(self.values["reversed"]))
        return alignments_of(sorted_links(links), names, Sentences(sent_ids=names, warnings=warnings))

    def write(self, treebank: Alignments) -> str:
        """Write the links; an alignment knows no words, so that w1, w2, … stand for them up to the last linked one.

        Raises:
            InputError: `alignment-possible-unwritable` and `alignment-null-unwritable`: the format has only sure links
                between words.
        """
        source, target = treebank.source, treebank.target
        if not treebank.sure.all():
            detail = 'A possible link cannot be written in this format. Write "talp" or "naacl".'
            raise InputError(Problem("alignment-possible-unwritable", detail))
        if not (source.all() and target.all()):
            detail = 'A link to NULL cannot be written in this format. Write "talp" or "naacl".'
            raise InputError(Problem("alignment-null-unwritable", detail))
        if self.values["reversed"]:
            source, target = target, source
        blocks = []
        numbers = _numbers_of(treebank)
        for number, (start, stop) in zip(numbers, pairwise(treebank.offsets.tolist()), strict=True):
            lengths = [int(end[start:stop].max()) if stop > start else 0 for end in (source, target)]
            linked: list[list[int]] = [[] for _ in range(lengths[0])]
            for own, other in zip(source[start:stop].tolist(), target[start:stop].tolist(), strict=True):
                linked[own - 1].append(other)
            fields = [f"w{word} ({{{''.join(f' {other}' for other in ends)} }})" for word, ends in enumerate(linked, 1)]
            blocks.append(
                f"# Sentence pair ({number}) source length {lengths[0]} target length {lengths[1]} "
                f"alignment score : 1\n{''.join(f'w{word + 1} ' for word in range(lengths[1]))}\n"
                f"{' '.join(['NULL ({ })', *fields])} \n"
            )
        return "".join(blocks)


def _numbers_of(treebank: Alignments) -> Sequence[int]:
    """Return the numbers of the pairs: their names where these are increasing numbers, else the numbers from 1."""
    named = [name for name in treebank.pair_ids if name.isascii() and name.isdigit() and len(name) <= MAX_DIGITS]
    numbers = [int(name) for name in named]
    increasing = len(numbers) == len(treebank) and all(first < second for first, second in pairwise(numbers))
    return numbers if increasing else range(1, len(treebank) + 1)


def _links(pairs: list[_Pair], *, turned: bool) -> Iterator[Links]:
    """Yield the links of some pairs after the other, which are taken out of the list."""
    done = 0
    while pairs:
        some = pairs[:_AT_ONCE]
        del pairs[:_AT_ONCE]
        counts = [len(pair.links) for pair in some]
        fields = np.concatenate([pair.links for pair in some])
        source, target = (fields[:, 1], fields[:, 0]) if turned else (fields[:, 0], fields[:, 1])
        rows = np.repeat(np.arange(done, done + len(some), dtype=np.int32), counts)
        lines = np.repeat(np.array([pair.line + _LINES for pair in some], np.int32), counts)
        yield Links(rows, source, target, np.ones(len(rows), np.bool_), lines, fields[:, 2])
        done += len(some)


def _repeated(pairs: Sequence[_Pair]) -> Problem:
    first = pairs[0]
    detail = (
        f"The number of {counted(len(pairs), 'sentence pair')} occurs before, the first is {first.number}. "
        "The last pair of a number counts."
    )
    return Problem("giza-repeated-pair", detail, line=first.line + 1, sent_id=str(first.number))


def _pairs(text: bytes, limits: Limits, problems: ProblemList) -> Iterator[_Pair]:
    """Yield the pairs of a text; those that cannot be read are problems."""
    lines = BytesIO(text.rstrip())
    for start in count(0, _LINES):
        first, words, last = (lines.readline() for _ in range(_LINES))
        if not first and start:
            return
        heading = _HEADING.match(first)
        if heading is None or not last:
            what = "A first line is missing or of another form" if heading is None else "The last pair is incomplete"
            problems.add(Problem("giza-bad-pair", f"{what}. {_PAIR_FORM}", line=start + 1, column=1))
            return  # what follows is not known to begin a pair
        if len(heading[1]) > MAX_DIGITS:
            detail = f"The number of the pair has {len(heading[1])} digits. Number pairs from 1."
            problems.add(Problem("giza-bad-pair", detail, line=start + 1, column=heading.start(1) + 1))
            continue
        linked = _Linked(last.removesuffix(b"\n"), start + _LINES, heading[1].decode(), problems)
        yield _Pair(int(heading[1]), start, linked.links(len(words.split(None, limits.max_words)), limits))


class _Linked:
    """The third line of a pair: source words, each with the target words linked to it."""

    def __init__(self, text: bytes, line: int, sent_id: str, problems: ProblemList) -> None:
        self._text = text
        self._line = line
        self._sent_id = sent_id
        self._problems = problems

    def links(self, targets: int, limits: Limits) -> Int32Array:
        """Return each link between words, int32 (l, 3): source word, target word, column."""
        return np.array(array("i", chain.from_iterable(self._found(targets, limits))), np.int32).reshape(-1, 3)

    def _found(self, targets: int, limits: Limits) -> Iterator[tuple[int, int, int]]:
        end = len(self._text)
        tokens = ((match[0], match.start()) for match in _TOKEN.finditer(self._text))
        word = 0
        name, start = next(tokens, (b"", 0))
        while name or not word:
            if next(tokens, (b"", end))[0] != _OPEN or (not word and name != _NULL):
                self._fault("giza-bad-pair", f"No word followed by `({{` stands here. {_PAIR_FORM}", start)
                return
            token = b""
            for token, at in tokens:
                if token == _CLOSE:
                    break
                number = self._number(token, at, targets, limits)
                if word and number:
                    yield word, number, self._column(at)
            if token != _CLOSE:
                self._fault("giza-bad-pair", f"`}})` is missing at the end of the line. {_PAIR_FORM}", end)
            word += 1
            name, start = next(tokens, (b"", end))
        if word - 1 > limits.max_words:
            detail = f"The sentence has {word - 1} words, more than the limit of {limits.max_words}."
            self._fault("alignment-index-out-of-range", detail, 0)

    def _number(self, token: bytes, start: int, targets: int, limits: Limits) -> int:
        """Return the number of a target word, 0 if it is not one."""
        number = number_of(token, limits)
        if isinstance(number, Fault):
            self._fault(number.code, f"Word number {quoted(token)} {number.what}. {_PAIR_FORM}", start)
            return 0
        if not 1 <= number <= targets:
            detail = f"{number} is not a word of the line before, which has {counted(targets, 'word')}. {_PAIR_FORM}"
            self._fault("alignment-index-out-of-range", detail, start)
            return 0
        return number

    def _fault(self, code: str, detail: str, start: int) -> None:
        column = self._column(start)
        self._problems.add(Problem(code, detail, line=self._line, column=column, sent_id=self._sent_id))

    def _column(self, start: int) -> int:
        """Return the column, from 1, of the character that begins at a byte."""
        return start + 1 if self._is_ascii else int(self._columns[start])

    @cached_property
    def _is_ascii(self) -> bool:
        """Whether bytes are characters; found once, since it takes a pass over the line."""
        return self._text.isascii()

    @cached_property
    def _columns(self) -> Int32Array:
        """The column of the character that begins at each byte, and of the end, from 1: int32 (bytes + 1,)."""
        return np.cumsum((np.frombuffer(self._text + b"\n", np.uint8) & 0xC0) != 0x80, dtype=np.int32)
