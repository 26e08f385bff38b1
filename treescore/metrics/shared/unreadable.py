"""Sentences of an output that could not be read, where the format was asked to go on without them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.trees import DependencyTreebank
from treescore.metrics.shared.words import complete


def unreadable_of(treebank: DependencyTreebank) -> BoolArray:
    """Return which sentences could not be read, bool (n,)."""
    found = np.zeros(len(treebank), np.bool_)
    found[list(treebank.sentences.unreadable)] = True
    return found


def with_words_of_gold(gold: DependencyTreebank, system: DependencyTreebank) -> DependencyTreebank:
    """Give the sentences that could not be read gold's words and multiword tokens, so that the texts can be aligned.

    An output with another number of sentences is returned as it is: which of gold's stand there is not known.
    """
    if not system.sentences.unreadable or len(gold) != len(system):
        return system
    filled, absent, _ = complete(gold, system)
    own, starts = _tokens(system, filled, ~absent)
    golds, gold_starts = _tokens(gold, filled, absent)
    order = np.argsort(np.concatenate([starts, gold_starts]), kind="stable")

    def joined(mine: IntArray, others: IntArray) -> IntArray:
        column: IntArray = np.concatenate([mine, others])[order]
        return column

    lengths = system.mwt_ends - system.mwt_starts, gold.mwt_ends - gold.mwt_starts
    begins = joined(starts, gold_starts)
    return replace(
        filled,
        mwt_starts=begins,
        mwt_ends=begins + joined(lengths[0][own], lengths[1][golds]),
        mwt_forms=joined(system.mwt_forms[own], gold.mwt_forms[golds]),
        mwt_misc=joined(system.mwt_misc[own], gold.mwt_misc[golds]),
    )


def _tokens(side: DependencyTreebank, filled: DependencyTreebank, chosen: BoolArray) -> tuple[BoolArray, IntArray]:
    """Return which multiword tokens stand in the chosen sentences, and where they begin in the filled treebank."""
    owners = np.searchsorted(side.word_offsets, side.mwt_starts, "right") - 1
    kept = chosen[owners]
    owners = owners[kept]
    return kept, side.mwt_starts[kept] - side.word_offsets[owners] + filled.word_offsets[owners]
