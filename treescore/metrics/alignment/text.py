"""The words of sentence pairs, where a request states them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treescore.core.arrays import BoolArray
from treescore.metrics.alignment.link_sets import Links

PUNCTUATION = frozenset(".,!?;:()")


def punctuated(links: Links, words: Sequence[tuple[str, str]]) -> BoolArray:
    """Find the links of which one end is a punctuation mark and the other another word, bool (l,).

    Args:
        links: links over gold's pairs; a position beyond its sentence has no word.
        words: source and target sentence of each pair, words separated by spaces.
    """
    found = np.zeros(len(links), np.bool_)
    candidates = np.flatnonzero(links.in_gold & (links.source > 0) & (links.target > 0))
    source_at, target_at = links.source.tolist(), links.target.tolist()
    split: dict[int, tuple[list[str], list[str]]] = {}
    for link in candidates.tolist():
        row = int(links.rows[link])
        if row not in split:
            source, target = words[row]
            split[row] = source.split(), target.split()
        ends = [side[end - 1 : end] for side, end in zip(split[row], (source_at[link], target_at[link]), strict=True)]
        found[link] = ends[0] != ends[1] and any(word in PUNCTUATION for end in ends for word in end)
    return found
