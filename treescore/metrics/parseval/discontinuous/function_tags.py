"""Function tags of brackets and words that both sides have, as disco-dop compares them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of
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
    """

    sentences: IntArray
    key: Sequence[IntArray]
    functions: IntArray


class _Tags(NamedTuple):
    """Function tags: the sentence of each, the number of its unit's key, and the tag; int64 (t,) each."""

    sentences: IntArray
    keys: IntArray
    tags: IntArray


def function_tags(compared: Compared) -> tuple[IntArray, IntArray, IntArray]:
    """Return the sentences of function tags that match, of gold's and of the output's.

    A function has the tags between its hyphens. Those of brackets count that the other side has too, under the same
    label, and those of words whose tags agree.
    """
    sides = _units(compared, compared.gold, 0), _units(compared, compared.system, 1)
    agree = _agreeing(compared)
    keys = joint_keys(sides[0].key, sides[1].key)
    gold, system = (
        _divided(
            sides[number],
            keys[number],
            np.flatnonzero(_counted(compared, number, keys[number], keys[1 - number], agree)),
            compared.gold.vocabulary,
        )
        for number in range(2)
    )
    matched = paired_rows(gold[1:], system[1:])[0]
    return gold.sentences[matched], gold.sentences, system.sentences


def _counted(compared: Compared, side: int, own: IntArray, others: IntArray, agree: BoolArray) -> BoolArray:
    """Tell of each unit of one side whether its function tags count.

    Args:
        compared: the treebanks.
        side: 0 for gold, 1 for the output.
        own: numbers of the keys of its units.
        others: those of the other side.
        agree: whether the tags of each word agree.
    """
    brackets, other = compared.sides[side], compared.sides[1 - side]
    size = len(brackets.labels)
    if not compared.choices.labelled:  # disco-dop then looks for labelled brackets among those without labels
        return np.append(np.zeros(size, np.bool_), agree)
    counted = np.append(brackets.partners != UNMATCHED, agree)
    # Of equal brackets all count that the other side has once.
    rest = np.flatnonzero(~counted[:size])
    counted[rest] = np.isin(own[rest], own[:size][counted[:size]])
    # A word counts also where the other side has a bracket with its tag as label over it alone.
    rest = size + np.flatnonzero(~agree)
    counted[rest] = np.isin(own[rest], others[np.flatnonzero(other.sizes == 1)])
    return np.asarray(counted, np.bool_)


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
    return _Units(sentences, key, functions)


def _agreeing(compared: Compared) -> BoolArray:
    """Tell of each word that both sides have whether its tags are equal, or taken as equal."""
    same = np.append(compared.same, NO_TAG)
    tags = []
    for tree, kept in zip((compared.gold, compared.system), compared.kept, strict=True):
        tags.append(same[tree.tags[kept & compared.fine[owners_of(tree.word_offsets)]]])
    return np.asarray(tags[0] == tags[1], np.bool_)


def _divided(side: _Units, keys: IntArray, chosen: IntArray, vocabulary: Vocabulary) -> _Tags:
    """Return the function tags of some units; `keys` are the numbers of all units' keys."""
    functions = side.functions[chosen]
    distinct = vocabulary.distinct(functions)
    parts = [string.split("-") if string else [] for string in map(vocabulary.strings.__getitem__, distinct.tolist())]
    sizes = np.array([len(names) for names in parts], np.int64)
    places = np.searchsorted(distinct, functions)
    rows = np.repeat(chosen, sizes[places])
    found, _ = ranges_of(offsets_of(sizes)[places], sizes[places])
    tags = vocabulary.numbers([name for names in parts for name in names])
    return _Tags(side.sentences[rows], keys[rows], tags[found])
