"""Find the constituents of a key that are matched and those that are crossed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of, paired_rows, sums_by
from treescore.core.structure import NONE, Structure, crossing_spans
from treescore.core.trees import ConstituentTreebank


class Constituents(NamedTuple):
    """The k constituents of n sentences that are compared, outer before inner, left before right.

    Attributes:
        items: node of each, or number of nodes + word for a preterminal, int64 (k,).
        labels: int64 (k,).
        starts, ends: inside the sentence, start < end, int64 (k,).
        depths: 1 for the topmost that is compared, int64 (k,).
        offsets: int64 (n + 1,).
    """

    items: IntArray
    labels: IntArray
    starts: IntArray
    ends: IntArray
    depths: IntArray
    offsets: IntArray

    def where(self, mask: BoolArray) -> Constituents:
        """Return the constituents where `mask`, bool (k,), is true."""
        owners = owners_of(self.offsets)[mask]
        offsets = offsets_of(sums_by(owners, len(self.offsets) - 1))
        return Constituents._make([*(column[mask] for column in self[:5]), offsets])


class KeyMatches(NamedTuple):
    """Whether each of the k constituents of a key is matched, and whether it is crossed, bool (k,)."""

    matched: BoolArray
    crossed: BoolArray


def constituents_of(
    treebank: ConstituentTreebank, links: Structure, *, preterminals: bool, outer_bracket: bool
) -> Constituents:
    """List the constituents with words: nodes, and if wanted tags and outermost brackets without a label."""
    nodes = np.arange(len(treebank.labels), dtype=np.int64)
    outer = (links.parents == NONE) & (treebank.labels == 0)
    tops = np.maximum.accumulate(np.where(links.parents == NONE, nodes, 0)) if len(nodes) else nodes
    lowered = 0 if outer_bracket else outer[tops].astype(np.int64)
    depths = links.depths - lowered
    everything = Constituents(nodes, treebank.labels, treebank.starts, treebank.ends, depths, treebank.node_offsets)
    mask = (treebank.starts < treebank.ends) & (outer_bracket | ~outer)
    if not preterminals:
        return everything.where(mask)
    tagged = np.flatnonzero(treebank.tags >= 0)
    owners = owners_of(treebank.word_offsets)[tagged]
    positions = tagged - treebank.word_offsets[owners]
    upper = everything.where(mask)
    joined = Constituents(
        items=np.concatenate([upper.items, len(nodes) + tagged]),
        labels=np.concatenate([upper.labels, treebank.tags[tagged]]),
        starts=np.concatenate([upper.starts, positions]),
        ends=np.concatenate([upper.ends, positions + 1]),
        depths=np.concatenate([upper.depths, np.append(depths, 0)[links.anchors[tagged]] + 1]),
        offsets=upper.offsets,
    )
    sentences = np.concatenate([owners_of(upper.offsets), owners])
    # A tag is below every bracket over its word: the last key sorts nodes before words.
    order = np.lexsort((joined.items, -joined.ends, joined.starts, sentences))
    offsets = offsets_of(sums_by(sentences, len(treebank)))
    return Constituents._make([*(column[order] for column in joined[:5]), offsets])


def match_constituents(key: Constituents, response: Constituents, words: IntArray, usable: BoolArray) -> KeyMatches:
    """Find the key constituents that a response has too and those that one crosses.

    Constituents are multisets: of several over the same words as many are matched as the response has.

    Args:
        key: constituents of n sentences, nested in one another.
        response: constituents of the same sentences, nested in one another.
        words: words of each sentence, int64 (n,).
        usable: sentences that are compared, bool (n,).
    """
    begins = offsets_of(words + 1)[:-1]  # of the gaps between words, and before and behind them
    sides = []
    for side in (key, response):
        owners = owners_of(side.offsets)
        chosen = np.flatnonzero(usable[owners])
        shifts = begins[owners[chosen]]
        sides.append((chosen, side.starts[chosen] + shifts, side.ends[chosen] + shifts))
    (compared, *spans), (_, *others) = sides
    matches = KeyMatches(np.zeros(len(key.starts), np.bool_), np.zeros(len(key.starts), np.bool_))
    matches.matched[compared[paired_rows(spans, others)[0]]] = True
    matches.crossed[compared] = crossing_spans(spans[0], spans[1], np.stack(others, axis=1))
    return matches


def labelled_matches(key: Constituents, response: Constituents, usable: BoolArray) -> IntArray:
    """Count the constituents of each sentence that agree in span and label, as multisets: int64 (n,)."""
    sides = [(owners_of(side.offsets), side.starts, side.ends, side.labels) for side in (key, response)]
    matched, _ = paired_rows(*sides)
    return sums_by(sides[0][0][matched], len(usable)) * usable
