"""What the compiled comparison of brackets is given and works in, as plain arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treescore.core.arrays import BoolArray, IntArray
from treescore.metrics.parseval.matching import Equal, Hash, Open

READABLE, SHOWN, UNREADABLE = 0, 1, 2
"""Faults of a sentence: none; brackets that do not balance; a sentence that could not be read at all."""

FILLER = -2
"""Tag of the word that stands for an emptied constituent."""


class Side(NamedTuple):
    """The columns of a `ConstituentTreebank`, all int64 and contiguous; the end of a node left open is -1."""

    labels: IntArray
    starts: IntArray
    ends: IntArray
    node_offsets: IntArray
    words: IntArray
    tags: IntArray
    word_offsets: IntArray


class Tables(NamedTuple):
    """Choices as tables over the vocabulary of v strings.

    Attributes:
        deleted: tags whose words are deleted, bool (v,).
        uncounted: tags whose words do not count in the length, bool (v,).
        cut: the label that is compared for each label, int64 (v,).
        tags: the tag that is compared for each tag, int64 (v,).
        dropped: labels (after the cut) whose brackets are deleted, bool (v,).
        quote_tags, quote_words: what EVALB's repair of quotes looks at, bool (v,).
        equal_labels, equal_words: strings that count as equal.
    """

    deleted: BoolArray
    uncounted: BoolArray
    cut: IntArray
    tags: IntArray
    dropped: BoolArray
    quote_tags: BoolArray
    quote_words: BoolArray
    equal_labels: Equal
    equal_words: Equal


class Options(NamedTuple):
    """Choices that are on or off; `quotes`: whether deleted quotes are repaired."""

    outer_bracket: bool
    preterminals: bool
    check_words: bool
    labelled: bool
    quotes: bool


class Sizes(NamedTuple):
    """Most words, and most brackets with preterminals, of a sentence."""

    words: int
    brackets: int


class Inputs(NamedTuple):
    """Two treebanks of n sentences and how to compare them; `faults` is uint8 (n,)."""

    gold: Side
    system: Side
    tables: Tables
    options: Options
    faults: NDArray[np.uint8]
    sizes: Sizes


class Scratch(NamedTuple):
    """Memory that is used again for every sentence; the first axis is gold and system.

    Attributes:
        kept: words that are compared, rows word, tag, int64 (2, words, 2).
        words_before: kept words before each word, int64 (2, words).
        brackets: int64 (2, brackets, 3).
        quotes: words that may be quotes, rows tag, kept words before, place in the sentence, int64 (2, words, 3).
        copies: how often a deleted word is put back, int64 (2, words); zeros between sentences.
        spans: brackets with label 0, int64 (2, brackets, 3).
        open: of `merged`.
        reach: of `crossing`.
        table: of `matched`.
    """

    kept: IntArray
    words_before: IntArray
    brackets: IntArray
    quotes: IntArray
    copies: IntArray
    spans: IntArray
    open: Open
    reach: IntArray
    table: Hash


class Collected(NamedTuple):
    """Every bracket of both sides.

    Attributes:
        gold: columns start, end, label, label of the system's bracket that matched or -1, int64 (4, g or more).
        system: columns start, end, label, 1 where it matched, int64 (4, s or more).
        offsets: where the brackets of each sentence begin, int64 (2, n + 1).
    """

    gold: IntArray
    system: IntArray
    offsets: IntArray
