"""Columns of items that are made from treebanks: strings, heads, places of words, trees."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import IntArray, offsets_of
from treescore.core.columns import Lists, Numbers, Numerals, Rows, Strings, Trees, nullable
from treescore.core.trees import NO_HEAD, NO_TAG, ConstituentTreebank, DependencyTreebank, SemanticTreebank
from treescore.core.vocabulary import Vocabulary


def strings_of(numbers: IntArray, vocabulary: Vocabulary) -> Strings:
    """Return strings by their numbers in a vocabulary, int64 (n,)."""
    return Strings(numbers, vocabulary.strings)


def heads_as_written(heads: IntArray, vocabulary: Vocabulary) -> Numerals:
    """Return heads of a `DependencyTreebank`, int64 (n,), as they were written."""
    # ODD_HEAD - number, as a treebank has it, is one less than -1 - number, as the column has it
    values = np.where(heads < NO_HEAD, heads + 1, heads)
    if (heads == NO_HEAD).any():
        values[heads == NO_HEAD] = -1 - vocabulary.number("_")
    return Numerals(values, vocabulary.strings)


def places_of(words: IntArray, treebank: DependencyTreebank | SemanticTreebank) -> tuple[Numbers, Numbers]:
    """Return the sentence of each word and its position in it, both from 1; words int64 (n,)."""
    sentences = np.searchsorted(treebank.word_offsets, words, "right")
    return Numbers(sentences), Numbers(words - treebank.word_offsets[sentences - 1] + 1)


def trees_of(treebank: ConstituentTreebank, start: int, stop: int, *, square: bool) -> Trees:
    """Return the trees of sentences `start` to `stop`."""
    node_offsets, word_offsets = (each[start : stop + 1] for each in (treebank.node_offsets, treebank.word_offsets))
    nodes, words = (slice(int(each[0]), int(each[-1])) for each in (node_offsets, word_offsets))
    strings = treebank.vocabulary
    tags = treebank.tags[words]
    known = tags != NO_TAG
    return Trees(
        Lists(
            node_offsets - nodes.start,
            Rows(
                [
                    strings_of(treebank.labels[nodes], strings),
                    Numbers(treebank.starts[nodes]),
                    Numbers(treebank.ends[nodes]),
                ]
            ),
        ),
        Lists(
            word_offsets - words.start,
            Rows([strings_of(treebank.words[words], strings), nullable(known, strings_of(tags[known], strings))]),
        ),
        square,
    )


def ranges_of(firsts: IntArray, lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Return the numbers of many ranges one after the other, and the offsets of the ranges.

    Args:
        firsts: the first number of each range, int64 (n,).
        lengths: how many it has, int64 (n,).
    """
    offsets = offsets_of(lengths)
    return np.repeat(firsts - offsets[:-1], lengths) + np.arange(int(offsets[-1])), offsets
