"""Function tags of brackets and words that both sides have, as disco-dop compares them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of
from treescore.core.treebank_columns import ranges_of
from treescore.core.trees import NO_TAG, DiscontinuousTreebank
from treescore.core.vocabulary import Vocabulary
from treescore.metrics.parseval.bracket_tables import joint_keys, paired_rows
from treescore.metrics.parseval.discontinuous.brackets import UNMATCHED, Brackets, Compared

_ONE_WORD = 0
"""Begin of what has one word, so that a bracket and a tag over the same word and with the same label are one."""


class _Units(NamedTuple):
    """Brackets, then words, that may have functions.

    Attributes:
        sentences: of each, int64 (u,).
        key: columns by which they are compared.
        functions: numbers of strings, int64 (u,).
        brackets: how many are brackets.
    """

    sentences: IntArray
    key: Sequence[IntArray]
    functions: IntArray
    brackets: int

    def rows(self, chosen: IntArray, times: IntArray, functions: IntArray) -> _Units:
        """Return some of them, each as often as it has function tags."""
        rows = np.repeat(chosen, times)
        return _Units(self.sentences[rows], [column[rows] for column in self.key], functions, 0)


def function_tags(compared: Compared) -> tuple[IntArray, IntArray, IntArray]:
    """Return the sentences of function tags that match, of gold's and of the output's.

    A function has the tags between its hyphens. Those of brackets count that the other side has too, under the same
    label, and those of words whose tags agree.
    """
    sides = _units(compared, compared.gold, 0), _units(compared, compared.system, 1)
    agree = _agreeing(compared)
    keys = joint_keys(sides[0].key, sides[1].key)
    found = []
    for number, side in enumerate(sides):
        brackets, own = compared.sides[number], keys[number]
        counted = np.append(brackets.partners != UNMATCHED, agree)
        # Of equal brackets all count that the other side has once; a word also where the other side has a bracket
        # with its tag over it alone. Without labels disco-dop looks for labelled brackets among those without.
        counted[: side.brackets] &= compared.choices.labelled
        others = own[: side.brackets][counted[: side.brackets]]
        rest = np.flatnonzero(~counted[: side.brackets])
        counted[rest] = np.isin(own[rest], others)
        other = compared.sides[1 - number]
        alone = np.flatnonzero(other.sizes == 1) if compared.choices.labelled else rest[:0]
        rest = side.brackets + np.flatnonzero(~agree)
        counted[rest] = np.isin(own[rest], keys[1 - number][alone])
        found.append(_divided(side, np.flatnonzero(counted), compared.gold.vocabulary))
    gold, system = found
    matched = paired_rows([*gold.key, gold.functions], [*system.key, system.functions])[0]
    return gold.sentences[matched], gold.sentences, system.sentences


def _units(compared: Compared, tree: DiscontinuousTreebank, side: int) -> _Units:
    """Return the brackets of one side that are compared, and its words in sentences that can be compared."""
    brackets: Brackets = compared.sides[side]
    one_word = brackets.sizes == 1
    owners = owners_of(tree.word_offsets)
    words = np.flatnonzero(compared.kept[side] & compared.fine[owners])
    of_words = owners[words]
    same = np.append(compared.same, NO_TAG)
    sentences = np.concatenate([brackets.sentences, of_words])
    starts, ends = brackets.yields
    key = [
        sentences,
        np.concatenate([np.where(one_word, _ONE_WORD, starts + 1), np.full(len(words), _ONE_WORD)]),
        np.concatenate([np.where(one_word, brackets.firsts, ends), words - tree.word_offsets[of_words]]),
        np.concatenate([same[brackets.labels], same[tree.tags[words]]]) - NO_TAG,
    ]
    functions = np.concatenate([brackets.functions, tree.word_functions[words]])
    return _Units(sentences, key, functions, len(brackets.labels))


def _agreeing(compared: Compared) -> BoolArray:
    """Tell of each word that both sides have whether its tags are equal, or taken as equal."""
    same = np.append(compared.same, NO_TAG)
    tags = []
    for tree, kept in zip((compared.gold, compared.system), compared.kept, strict=True):
        tags.append(same[tree.tags[kept & compared.fine[owners_of(tree.word_offsets)]]])
    return np.asarray(tags[0] == tags[1], np.bool_)


def _divided(side: _Units, chosen: IntArray, vocabulary: Vocabulary) -> _Units:
    """Return a row for each function tag of some units."""
    functions = side.functions[chosen]
    distinct = vocabulary.distinct(functions).tolist()
    parts = [vocabulary.strings[number].split("-") if vocabulary.strings[number] else [] for number in distinct]
    sizes, starts = np.zeros(len(vocabulary), np.int64), np.zeros(len(vocabulary), np.int64)
    sizes[distinct] = [len(names) for names in parts]
    starts[distinct] = np.cumsum(sizes[distinct]) - sizes[distinct]
    tags = vocabulary.numbers([name for names in parts for name in names])
    times = sizes[functions]
    places, _ = ranges_of(starts[functions], times)
    return side.rows(chosen, times, tags[places])
