"""Pair the expressions of gold and an output one to one, so that pairs have as many words in common as can be.

Equal sets are paired first: for sets g = s, and any others g', s', the pairs (g, s), (g', s') have at least as many
common words as (g, s'), (g', s), since |g & s'| + |g & g'| <= |g| + |s' & g'|. Of the rest, an expression that overlaps
with one other, or with several that overlap with nothing else, has its best one. What is left goes to `kernel.paired`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of
from treescore.core.treebank_columns import ranges_of
from treescore.errors import LimitError, Problem
from treescore.metrics.mwe.kernel import ALONE, paired
from treescore.metrics.mwe.sets import Distinct, Side, distinct_sets

MAX_SHARED = 5_000_000
"""Limit on the words shared by expressions that differ, counted for each pair of them."""
MAX_STEPS = 400_000_000
"""Limit on the steps of the search in one text."""


class Pairs(NamedTuple):
    """Gold's sets and the output's, each once in its group, and what is paired with what.

    Attributes:
        golds, systems: the sets.
        partners: the output's set for each of gold's, ALONE where it has none, int64 (golds,).
        common: how many words the two have in common, int64 (golds,).
        equal: whether they are the same, bool (golds,).
    """

    golds: Distinct
    systems: Distinct
    partners: IntArray
    common: IntArray
    equal: BoolArray


class _Overlaps(NamedTuple):
    """Pairs of different sets with words in common: gold's, the output's, how many words; int64 (o,) each."""

    golds: IntArray
    systems: IntArray
    words: IntArray

    def chosen(self, which: BoolArray | IntArray) -> _Overlaps:
        return _Overlaps(self.golds[which], self.systems[which], self.words[which])


def pairs_of(
    gold: Side,
    system: Side,
    groups: tuple[IntArray, IntArray],
    chosen: tuple[BoolArray | None, BoolArray | None] = (None, None),
) -> Pairs:
    """Pair the sets of gold and an output within each group.

    Args:
        gold: one side, of which k expressions.
        system: the other, of which l expressions.
        groups: of the expressions of both, int64 (k,) and (l,), numbered alike from 0.
        chosen: which expressions take part, bool (k,) and (l,); all unless given.

    Raises:
        LimitError: too many overlap in a sentence.
    """
    golds, systems = distinct_sets(gold, groups[0], chosen[0]), distinct_sets(system, groups[1], chosen[1])
    top = max(int(side.sets.max(initial=0)) for side in (gold, system)) + 1
    keys = golds.groups * top + golds.sets, systems.groups * top + systems.sets
    _, same_golds, same_systems = np.intersect1d(*keys, assume_unique=True, return_indices=True)
    partners = np.full(len(keys[0]), ALONE)
    common = np.zeros(len(keys[0]), np.int64)
    partners[same_golds] = same_systems
    common[same_golds] = golds.sizes[same_golds]
    equal = np.asarray(partners != ALONE, np.bool_)
    rest = np.ones(len(keys[1]), np.bool_)
    rest[same_systems] = False
    overlaps = _overlaps(golds, systems, np.flatnonzero(~equal), np.flatnonzero(rest))
    for found in (_best_of_stars(overlaps), _searched(golds, overlaps)):
        partners[found.golds] = found.systems
        common[found.golds] = found.words
    return Pairs(golds, systems, partners, common, equal)


def _overlaps(golds: Distinct, systems: Distinct, left_golds: IntArray, left_systems: IntArray) -> _Overlaps:
    """Return which of the sets that are left have words in common, in their group. Raises LimitError."""
    groups = max(int(side.groups.max(initial=0)) for side in (golds, systems)) + 1
    gold_words, gold_of = golds.words_of(left_golds)
    system_words, system_of = systems.words_of(left_systems)
    gold_keys = gold_words * groups + golds.groups[gold_of]
    system_keys = system_words * groups + systems.groups[system_of]
    order = np.argsort(system_keys, kind="stable")
    system_keys, system_of = system_keys[order], system_of[order]
    firsts = np.searchsorted(system_keys, gold_keys, "left")
    counts = np.searchsorted(system_keys, gold_keys, "right") - firsts
    if counts.sum() > MAX_SHARED:
        sentences = golds.sentences[gold_of]
        raise _too_many(golds, int(np.bincount(sentences, counts).argmax()))
    places, _ = ranges_of(firsts, counts)
    keys = np.repeat(gold_of, counts) * max(1, len(systems.groups)) + system_of[places]
    distinct, words = np.unique(keys, return_counts=True)
    found_golds, found_systems = np.divmod(distinct, max(1, len(systems.groups)))
    return _Overlaps(found_golds, found_systems, words.astype(np.int64))


def _too_many(golds: Distinct, sentence: int) -> LimitError:
    sent_ids = golds.side.treebank.sentences.sent_ids
    detail = (
        f"The expressions of sentence {sentence + 1} overlap with too many of the other side's to be paired. Write "
        "each expression once, and only those that the sentence has."
    )
    name = sent_ids[sentence] if len(sent_ids) else None
    return LimitError(Problem("too-many-overlaps", detail, sentence=sentence + 1, sent_id=name))


def _in_stars(overlaps: _Overlaps) -> tuple[BoolArray, BoolArray]:
    """Tell of which overlaps gold's set overlaps with nothing that overlaps with another; and so for the output's."""
    found = []
    for hubs, leaves in ((overlaps.golds, overlaps.systems), (overlaps.systems, overlaps.golds)):
        others = np.bincount(leaves)[leaves] > 1
        tangled = np.bincount(hubs, others) > 0
        found.append(~tangled[hubs] if len(hubs) else others)
    return found[0], found[1]


def _best_of_stars(overlaps: _Overlaps) -> _Overlaps:
    """Return the best overlap of each set that is the middle of a star."""
    at_gold, at_system = _in_stars(overlaps)
    hubs = np.where(at_gold, overlaps.golds, len(overlaps.golds) + overlaps.systems + overlaps.golds.max(initial=0))
    order = np.lexsort((-overlaps.words, hubs))
    order = order[(at_gold | at_system)[order]]
    firsts = np.unique(hubs[order], return_index=True)[1]
    return overlaps.chosen(order[firsts])


def _searched(golds: Distinct, overlaps: _Overlaps) -> _Overlaps:
    """Return the best pairs among the sets that are in no star. Raises LimitError."""
    at_gold, at_system = _in_stars(overlaps)
    left = overlaps.chosen(~(at_gold | at_system))
    if not len(left.golds):
        return left
    own_golds, rows = np.unique(left.golds, return_inverse=True)
    own_systems, columns = np.unique(left.systems, return_inverse=True)
    starts = offsets_of(np.bincount(rows).astype(np.int64))
    partners, stopped = paired(starts, columns.astype(np.int64), left.words, len(own_systems), MAX_STEPS)
    if stopped >= 0:
        raise _too_many(golds, int(golds.sentences[own_golds[stopped]]))
    found = np.flatnonzero(partners[rows] == columns)
    return left.chosen(found)
