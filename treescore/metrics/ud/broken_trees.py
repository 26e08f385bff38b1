"""Sentences of an output whose heads make no tree, where each of their heads counts as wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.registry import ERROR, OK, StatusArray
from treescore.core.trees import NO_HEAD, DependencyTreebank
from treescore.errors import Problem
from treescore.metrics.shared.heads import Allowed, Shape, shape_problems

_ADVICE = "Each head of the sentence counts as wrong."


@dataclass(frozen=True, slots=True)
class Broken:
    """The broken trees of an output of w words.

    Attributes:
        treebank: the output.
        sentences: sentence of each word, from 0, int64 (w,).
        words: the words in broken trees, bool (w,).
        problems: what is wrong, in order; the first ones where there are many.
    """

    treebank: DependencyTreebank
    sentences: IntArray
    words: BoolArray
    problems: list[Problem]

    def without_heads(self) -> DependencyTreebank:
        """Return the output with HEAD `_` in broken trees."""
        return replace(self.treebank, heads=np.where(self.words, NO_HEAD, self.treebank.heads))

    def with_trees(self) -> DependencyTreebank:
        """Return the output with any trees in place of the broken ones, so that the others can be checked."""
        first = np.arange(len(self.words)) == self.treebank.word_offsets[self.sentences]
        return replace(self.treebank, heads=np.where(self.words, np.where(first, 0, 1), self.treebank.heads))

    def states(self, golds: IntArray, size: int) -> tuple[StatusArray, dict[int, Problem]]:
        """Return the status of gold's n sentences, uint8 (n,), and why it is ERROR: they share words with broken trees.

        Args:
            golds: gold's sentence of each word of the output, int64 (w,).
            size: gold's number of sentences.
        """
        status = np.full(size, OK, np.uint8)
        status[golds[self.words]] = ERROR
        described = {problem.sentence: problem for problem in reversed(self.problems)}
        described |= {sentence + 1: problem for sentence, problem in self.treebank.sentences.unreadable.items()}
        problems: dict[int, Problem] = {}
        words = np.flatnonzero(self.words)
        for sentence, place in zip(
            *(each.tolist() for each in np.unique(golds[words], return_index=True)), strict=True
        ):
            number = int(self.sentences[words[place]]) + 1
            detail = f"Sentence {number}: its heads make no tree. {_ADVICE}"
            problems[sentence] = described.get(number) or Problem("broken-tree", detail, sentence=number)
        return status, problems


def broken_trees_of(treebank: DependencyTreebank, shape: Shape, cap: int) -> Broken:
    """Find the trees with a cycle or a head outside the sentence.

    Args:
        treebank: the output.
        shape: of its heads.
        cap: the most problems to describe.
    """
    broken = shape.cycles >= 0
    broken[shape.owners[shape.outside & (treebank.heads != NO_HEAD)]] = True
    found, _ = shape_problems(treebank, shape, cap, _ADVICE, Allowed(several_roots=True, missing_heads=True))
    problems = []
    for problem in found:
        sentence = (problem.sentence or 0) - 1
        if sentence not in treebank.sentences.unreadable:
            problems.append(problem)
        elif not problems or problems[-1].sentence != problem.sentence:
            problems.append(treebank.sentences.unreadable[sentence])
    return Broken(treebank, shape.owners, np.asarray(broken[shape.owners], np.bool_), problems)
