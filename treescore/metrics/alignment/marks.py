"""Which links of two alignments are wrong or missed, for pictures of both."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import BoolArray
from treescore.core.marks import NO_PARTNER, Marks, State
from treescore.core.trees import Alignments
from treescore.metrics.alignment.link_sets import GoldIndex, links_of, matched_pairs


def link_marks(
    gold: Alignments, system: Alignments, *, golds: BoolArray | None = None, systems: BoolArray | None = None
) -> Marks:
    """Return the marks of two alignments as they were read; a missed possible link does not count as an error.

    Args:
        gold: the gold alignment of g links.
        system: an output of s links.
        golds: which of gold's links are compared, bool (g,); all unless given. The others are right.
        systems: which of the output's are, bool (s,).

    Raises:
        InputError: their pairs cannot be matched.
    """
    rows, _ = matched_pairs(gold, system)
    golds = np.ones(len(gold.source), np.bool_) if golds is None else golds
    systems = np.ones(len(system.source), np.bool_) if systems is None else systems
    partners = GoldIndex(links_of(gold).only(golds)).find(links_of(system, rows))
    right = partners >= 0
    found = np.zeros(len(golds), np.bool_)
    found[np.flatnonzero(golds)[partners[right & systems]]] = True
    sentences = np.full(len(gold), NO_PARTNER, np.int64)
    known = np.flatnonzero(rows >= 0)
    sentences[rows[known]] = known
    return Marks(
        system=np.where(right | ~systems, int(State.RIGHT), int(State.LINK)),
        gold=np.where(found | ~gold.sure | ~golds, int(State.RIGHT), int(State.LINK)),
        sentences=sentences,
    )
