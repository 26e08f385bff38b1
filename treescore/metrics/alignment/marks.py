"""Which links of two alignments are wrong or missed, for pictures of both."""

from __future__ import annotations

import numpy as np

from treescore.core.marks import NO_PARTNER, Marks, State
from treescore.core.trees import Alignments
from treescore.metrics.alignment.link_sets import GoldIndex, links_of, matched_pairs


def link_marks(gold: Alignments, system: Alignments) -> Marks:
    """Return the marks of two alignments as they were read; a missed possible link does not count as an error.

    Raises:
        InputError: their pairs cannot be matched.
    """
    rows, _ = matched_pairs(gold, system)
    gold_links = links_of(gold)
    partners = GoldIndex(gold_links).find(links_of(system, rows))
    found = np.zeros(len(gold_links), np.bool_)
    found[partners[partners >= 0]] = True
    sentences = np.full(len(gold), NO_PARTNER, np.int64)
    known = np.flatnonzero(rows >= 0)
    sentences[rows[known]] = known
    return Marks(
        system=np.where(partners >= 0, int(State.RIGHT), int(State.LINK)),
        gold=np.where(found | ~gold.sure, int(State.RIGHT), int(State.LINK)),
        sentences=sentences,
    )
