"""Check heads as trees: depths, cycles and roots, without recursion."""

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of, sums_by
from treescore.core.structure import head_string, resolved_heads
from treescore.core.trees import NO_HEAD, DependencyTreebank
from treescore.core.wording import counted
from treescore.errors import Problem
from treescore.formats.shared.lines import short
from treescore.metrics.shared.words import problem_at

MOST_NAMED = 5
"""Roots of a sentence, or words of a cycle, that a message names."""
UNREACHED = -1
"""Depth of a word whose chain of heads does not reach the root."""


class Shape(NamedTuple):
    """The shape of n sentences of w words: what is a tree and what is not.

    Attributes:
        owners: sentence of each word, int64 (w,).
        depths: arcs from each word to the root (1 for a word whose head is 0), UNREACHED where the chain of heads does
            not reach it, int64 (w,).
        outside: heads that are neither 0 nor a word of the sentence, bool (w,).
        roots: words with head 0 in each sentence, int64 (n,).
        cycles: a word (of the whole text, from 0) on the first cycle of each sentence, -1 where it has none, (n,).
    """

    owners: IntArray
    depths: IntArray
    outside: BoolArray
    roots: IntArray
    cycles: IntArray


def shape_of(heads: IntArray, word_offsets: IntArray) -> Shape:
    """Analyse heads (w,) of sentences `word_offsets` (n + 1,), in time n log n in the words of the deepest tree."""
    owners = owners_of(word_offsets)
    depths, cycles = _depths(heads, word_offsets, owners)
    outside = (heads < 0) | (heads > np.diff(word_offsets)[owners])
    return Shape(owners, depths, outside, sums_by(owners[heads == 0], len(word_offsets) - 1), cycles)


class Allowed(NamedTuple):
    """What sentences need not have to be scored as trees.

    Attributes:
        several_roots: whether several words may have HEAD 0.
        missing_heads: whether HEAD may be `_`; such a word may be the root.
    """

    several_roots: bool = False
    missing_heads: bool = False


NOTHING_ALLOWED = Allowed()


def shape_problems(
    treebank: DependencyTreebank, shape: Shape, cap: int, advice: str, allowed: Allowed = NOTHING_ALLOWED
) -> tuple[list[Problem], int]:
    """Describe where sentences are not trees.

    A sentence without root that has a cycle or a head outside lacks the root because of these, which is not reported.

    Args:
        treebank: the sentences.
        shape: of its heads.
        cap: the most problems to describe.
        advice: the last sentence of each problem: how to fix it, or how it is scored.
        allowed: what is not a problem.

    Returns:
        The first `cap` problems in order, and the number of all.
    """
    outside = np.flatnonzero(shape.outside & ~((treebank.heads == NO_HEAD) & allowed.missing_heads))
    cyclic = np.flatnonzero(shape.cycles >= 0)
    caused = shape.cycles >= 0
    caused[shape.owners[shape.outside]] = True  # a word with HEAD `_` may be the root
    wrong = (shape.roots == 0) | ((shape.roots > 1) & (not allowed.several_roots))
    wrong &= np.diff(treebank.word_offsets) > 0
    rootless = np.flatnonzero(wrong & ~(caused & (shape.roots == 0)))
    problems = [_bad_head(treebank, shape, word, advice) for word in outside[:cap].tolist()]
    problems += [_cycle(treebank, int(shape.cycles[sentence]), sentence, advice) for sentence in cyclic[:cap].tolist()]
    problems += [_roots(treebank, sentence, advice) for sentence in rootless[:cap].tolist()]
    problems.sort(key=lambda problem: (problem.sentence or 0, problem.line or 0))
    return problems[:cap], len(outside) + len(cyclic) + len(rootless)


def _bad_head(treebank: DependencyTreebank, shape: Shape, word: int, advice: str) -> Problem:
    sentence = int(shape.owners[word])
    start, end = treebank.word_offsets[sentence : sentence + 2].tolist()
    head = short(head_string(int(treebank.heads[word]), treebank.vocabulary), 20)
    return _at(
        treebank,
        sentence,
        word,
        "head-missing" if treebank.heads[word] == NO_HEAD else "head-out-of-range",
        f"HEAD of word {word - start + 1} is {head}, but the sentence has {counted(end - start, 'word')}: 0 is the "
        f"root, 1-{end - start} are words. {advice}",
    )


def _cycle(treebank: DependencyTreebank, word: int, sentence: int, advice: str) -> Problem:
    start, end = treebank.word_offsets[sentence : sentence + 2].tolist()
    cycles = _cycles(resolved_heads(treebank, start, end).tolist())
    first = next(cycle for cycle in cycles if word - start in cycle)
    at = first.index(word - start)
    first = [*first[at:], *first[:at]]
    what = f"Word {word - start + 1} is its own head"
    if len(first) > 1:
        chain = [position + 1 for position in (*first[:MOST_NAMED], *(first[:1] if len(first) <= MOST_NAMED else ()))]
        dots = " -> ..." if len(first) > MOST_NAMED else ""
        what = f"Word {word - start + 1} is on a cycle of heads ({' -> '.join(map(str, chain))}{dots})"
    if len(cycles) > 1:
        what += f"; the sentence has {counted(len(cycles) - 1, 'further cycle')}"
    return _at(treebank, sentence, word, "cycle", f"{what}. {advice}")


def _cycles(heads: list[int]) -> list[list[int]]:
    """Return the cycles of a sentence, each as its words, from 0, each of which is followed by its head."""
    cycles = []
    seen = [-1] * len(heads)
    for begin in range(len(heads)):
        word = begin
        while 0 <= word < len(heads) and seen[word] < 0:
            seen[word] = begin
            word = heads[word] - 1
        if 0 <= word < len(heads) and seen[word] == begin:
            cycle = [word]
            while heads[cycle[-1]] - 1 != word:
                cycle.append(heads[cycle[-1]] - 1)
            cycles.append(cycle)
    return cycles


def _roots(treebank: DependencyTreebank, sentence: int, advice: str) -> Problem:
    """Point at the second root, or at the sentence where it has none."""
    start, end = treebank.word_offsets[sentence : sentence + 2].tolist()
    roots = np.flatnonzero(resolved_heads(treebank, start, end) == 0)
    if not len(roots):
        return _at(
            treebank, sentence, start, "no-root", f"No word has HEAD 0; a tree has exactly one such word. {advice}"
        )
    named = ", ".join(str(root + 1) for root in roots[:MOST_NAMED].tolist())
    more = f" and {len(roots) - MOST_NAMED} more" if len(roots) > MOST_NAMED else ""
    detail = f"{len(roots)} words have HEAD 0 (words {named}{more}); a tree has exactly one such word. {advice}"
    return _at(treebank, sentence, start + int(roots[1]), "several-roots", detail)


def _at(treebank: DependencyTreebank, sentence: int, word: int, code: str, detail: str) -> Problem:
    column = None if treebank.sentences.lacking else 7  # HEAD, where the columns are those of CoNLL-X
    return problem_at(treebank, code, f"Sentence {sentence + 1}: {detail}", sentence, word, column)


def positions_of(word_offsets: IntArray) -> IntArray:
    """Return the position of each word in its sentence, from 1: int64 (w,)."""
    owners = owners_of(word_offsets)
    return np.arange(len(owners), dtype=np.int64) - word_offsets[owners] + 1


def lengths_to_offsets(mask: BoolArray, owners: IntArray, sentences: int) -> IntArray:
    """Return the offsets (n + 1,) of the kept words of each sentence."""
    return offsets_of(sums_by(owners[mask], sentences))


def _depths(heads: IntArray, offsets: IntArray, owners: IntArray) -> tuple[IntArray, IntArray]:
    """Return depths and cycles of a Shape by pointer doubling: each jump goes twice as far up as the one before."""
    words = len(heads)
    lengths = np.diff(offsets)
    root, nowhere = words, words + 1
    inside = (heads >= 1) & (heads <= lengths[owners])
    above = np.empty(words + 2, np.int64)
    above[:words] = np.where(inside, offsets[owners] + heads - 1, np.where(heads == 0, root, nowhere))
    above[words:] = root, nowhere
    steps = np.ones(words + 2, np.int64)
    steps[words:] = 0
    reach, longest = 1, int(lengths.max(initial=0))
    while reach < longest and (above[:words] < words).any():
        steps += steps[above]
        above = above[above]
        reach *= 2
    depths = np.where(above[:words] == root, steps[:words], UNREACHED)
    cycles = np.full(len(lengths), -1, np.int64)
    endless = np.flatnonzero(above[:words] < words)
    cyclic, first = np.unique(owners[endless], return_index=True)
    for sentence, word in zip(cyclic.tolist(), endless[first].tolist(), strict=True):
        cycles[sentence] = _first_repeated(heads, int(offsets[sentence]), word)
    return depths, cycles


def _first_repeated(heads: IntArray, start: int, word: int) -> int:
    """Return the first word that repeats on the chain of heads from `word`, which must enter a cycle."""
    visited: set[int] = set()
    while word not in visited:
        visited.add(word)
        word = start + int(heads[word]) - 1
    return word
