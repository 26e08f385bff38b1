"""Heads as trees: depths, cycles, roots, without recursion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scoring.arrays import BoolArray, IntArray, offsets_of, owners_of, sums_by
from scoring.errors import Problem
from scoring.jit import compiled
from scoring.trees import NO_HEAD, DependencyTreebank

NOWHERE = -1
"""Depth of a word from which no chain of heads reaches the root."""

_VISITING = -2


@dataclass(frozen=True, slots=True)
class Shape:
    """What is a tree and what is not, n sentences, w words.

    Attributes:
        owners: sentence of each word, int64 (w,).
        depths: arcs from each word to the root (1 for a word whose head is 0), NOWHERE where there is no way, (w,).
        outside: heads that are no word of the sentence and not 0, bool (w,).
        roots: words with head 0 in each sentence, int64 (n,).
        cycles: a word (of the whole text, from 0) on the first cycle of each sentence, -1 where there is none, (n,).
    """

    owners: IntArray
    depths: IntArray
    outside: BoolArray
    roots: IntArray
    cycles: IntArray


def shape_of(heads: IntArray, word_offsets: IntArray) -> Shape:
    """Check heads (w,) of sentences `word_offsets` (n + 1,), in time linear in the words."""
    owners = owners_of(word_offsets)
    depths, cycles = _depths(heads, word_offsets)
    return Shape(
        owners=owners,
        depths=depths,
        outside=(heads < 0) | (heads > np.diff(word_offsets)[owners]),
        roots=sums_by(owners[heads == 0], len(word_offsets) - 1),
        cycles=cycles,
    )


def shape_warnings(treebank: DependencyTreebank, shape: Shape, cap: int) -> list[Problem]:
    """What in these sentences is no tree, as warnings with places, at most `cap`."""
    sent_ids = treebank.sentences.sent_ids
    positions = np.arange(len(treebank.heads)) - treebank.word_offsets[shape.owners] + 1

    def problem(code: str, sentence: int, word: int | None, detail: str) -> Problem:
        return Problem(
            code=code,
            detail=detail,
            sentence=sentence + 1,
            sent_id=sent_ids[sentence] if len(sent_ids) else None,
            line=int(treebank.lines[word]) or None if word is not None else None,
            column=7 if word is not None else None,
        )

    found = [
        problem(
            "head-missing" if treebank.heads[word] == NO_HEAD else "head-out-of-range",
            int(shape.owners[word]),
            word,
            f"HEAD of word {positions[word]} is no word of the sentence and not 0. The word is scored as it stands.",
        )
        for word in np.flatnonzero(shape.outside)[:cap].tolist()
    ]
    found += [
        problem(
            "cycle",
            sentence,
            int(shape.cycles[sentence]),
            f"Word {positions[shape.cycles[sentence]]} is on a cycle of heads. The sentence is scored as it stands.",
        )
        for sentence in np.flatnonzero(shape.cycles >= 0)[:cap].tolist()
    ]
    lengths = np.diff(treebank.word_offsets)
    found += [
        problem(
            "several-roots" if shape.roots[sentence] else "no-root",
            sentence,
            None,
            f"{shape.roots[sentence]} words have HEAD 0; a tree has one. The sentence is scored as it stands.",
        )
        for sentence in np.flatnonzero((shape.roots != 1) & (lengths > 0))[:cap].tolist()
    ]
    found.sort(key=lambda one: (one.sentence or 0, one.line or 0))
    return found[:cap]


def positions_of(word_offsets: IntArray) -> IntArray:
    """The position of each word in its sentence, from 1: int64 (w,)."""
    owners = owners_of(word_offsets)
    return np.arange(len(owners), dtype=np.int64) - word_offsets[owners] + 1


def lengths_to_offsets(kept: BoolArray, owners: IntArray, sentences: int) -> IntArray:
    """Offsets (n + 1,) of the kept words of each sentence."""
    return offsets_of(sums_by(owners[kept], sentences))


@compiled
def _depths(heads: IntArray, offsets: IntArray) -> tuple[IntArray, IntArray]:
    """Walk up from each word to something known, then down the same path again to write the depths."""
    depths = np.zeros(len(heads), np.int64)
    cycles = np.full(len(offsets) - 1, -1, np.int64)
    for sentence in range(len(offsets) - 1):
        start = offsets[sentence]
        length = offsets[sentence + 1] - start
        for word in range(start, start + length):
            steps = 0
            above = np.int64(0)
            here = word
            while depths[here] == 0:
                depths[here] = _VISITING
                steps += 1
                head = heads[here]
                if head == 0:
                    break
                if head < 0 or head > length:
                    above = np.int64(NOWHERE)
                    break
                here = start + head - 1
                if depths[here] == _VISITING:
                    above = np.int64(NOWHERE)
                    if cycles[sentence] < 0:
                        cycles[sentence] = here
                    break
                above = depths[here]
            here = word
            for step in range(steps):
                depths[here] = NOWHERE if above == NOWHERE else above + steps - step
                here = start + heads[here] - 1
    return depths, cycles
