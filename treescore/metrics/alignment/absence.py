"""What a sentence pair costs for which an output has no link."""

from __future__ import annotations

import numpy as np

from treescore.core.absence import errors_param
from treescore.core.arrays import BoolArray, IntArray, sums_by
from treescore.metrics.alignment.link_sets import Links

LINK_ERRORS = errors_param("Sentence pairs for which gold has links and the output none", "without effect on precision")


def unanswered(gold: Links, system: Links, pairs: int) -> BoolArray:
    """Find the pairs for which gold has links and the output none, bool (n,)."""
    found = sums_by(system.rows, pairs)
    return np.asarray((sums_by(gold.rows, pairs) > 0) & (found == 0), np.bool_)


def charge_links(rows: IntArray, names: tuple[str, ...], empty: BoolArray) -> None:
    """Count the pairs in `empty`, bool (n,), as if the output had gold's links there, all marked as sure and wrong."""
    for own in ("links", "sure_links"):
        rows[empty, names.index(own)] = rows[empty, names.index("possible")]
    for right in ("links_in_sure", "links_in_possible", "sure_links_in_sure"):
        rows[empty, names.index(right)] = 0
