"""Pair the expressions of gold and an output one to one, so that pairs have as many words in common as can be.

Expressions are sets of words: equal sets have equal numbers, on both sides. They are paired first: for sets g = s, and
any others g', s', the pairs (g, s), (g', s') have at least as many common words as (g, s'), (g', s), since |g & s'| +
|g & g'| <= |g| + |s' & g'|. Of the rest, an expression that overlaps with one other, or with several that overlap with
nothing else, has its best one. What is left goes to `paired`, which is compiled: an exact pairing of greatest weight by
shortest augmenting paths over the edges that there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, heap_pop, heap_push, offsets_of, owners_of, sums_by
from treescore.core.columns import ranges_of
from treescore.core.jit import compiled
from treescore.core.trees import ExpressionTreebank
from treescore.errors import LimitError, Problem


@dataclass(frozen=True)
class Side:
    """The expressions of gold or of an output.

    Attributes:
        treebank: which has them.
        sets: number of the set of words of each, int64 (k,).
    """

    treebank: ExpressionTreebank
    sets: IntArray

    @cached_property
    def sentences(self) -> IntArray:
        """The sentence of each expression, int64 (k,)."""
        return self.treebank.expression_sentences()

    @cached_property
    def sizes(self) -> IntArray:
        """How many words each has, int64 (k,)."""
        return np.diff(self.treebank.expression_offsets)

    @cached_property
    def spans(self) -> tuple[IntArray, IntArray]:
        """Where each begins, and the place after its end, as `places_of` counts: int64 (k,) each."""
        places, offsets = places_of(self.treebank), self.treebank.expression_offsets
        words = self.treebank.expression_words
        return places[words[offsets[:-1]]], places[words[offsets[1:] - 1]] + 1

    @property
    def continuous(self) -> BoolArray:
        """Which have no gap, bool (k,)."""
        begins, ends = self.spans
        return np.asarray(ends - begins == self.sizes, np.bool_)


def places_of(treebank: ExpressionTreebank) -> IntArray:
    """Return the place of each word among words and empty nodes, int64 (w,).

    An empty node between the words of an expression is a gap, as in the original program.
    """
    words = np.arange(len(treebank.forms))
    return words + np.searchsorted(np.sort(treebank.empty_after), words, "right")


class Distinct(NamedTuple):
    """The distinct sets of a side, each once in its group.

    Attributes:
        side: of which they are.
        expressions: an expression of each set, ascending, int64 (d,).
        groups: of each, int64 (d,).
    """

    side: Side
    expressions: IntArray
    groups: IntArray

    @property
    def sets(self) -> IntArray:
        """Their numbers, int64 (d,)."""
        return self.side.sets[self.expressions]

    @property
    def sizes(self) -> IntArray:
        """How many words each has, int64 (d,)."""
        return self.side.sizes[self.expressions]

    @property
    def sentences(self) -> IntArray:
        """The sentence of each, int64 (d,)."""
        return self.side.sentences[self.expressions]

    def words_of(self, chosen: IntArray) -> tuple[IntArray, IntArray]:
        """Return the words of the chosen sets, one after the other, and for each of them its set: int64."""
        treebank = self.side.treebank
        expressions = self.expressions[chosen]
        sizes = self.side.sizes[expressions]
        places, _ = ranges_of(treebank.expression_offsets[expressions], sizes)
        return treebank.expression_words[places], np.repeat(chosen, sizes)


def sides_of(gold: ExpressionTreebank, system: ExpressionTreebank) -> tuple[Side, Side]:
    """Number the sets of words of both sides, which have the same words in the same sentences."""
    numbers: dict[bytes, int] = {}
    sides = []
    for treebank in (gold, system):
        words = np.ascontiguousarray(treebank.expression_words).tobytes()
        bounds = pairwise((treebank.expression_offsets * treebank.expression_words.itemsize).tolist())
        found = [numbers.setdefault(words[start:end], len(numbers)) for start, end in bounds]
        sides.append(Side(treebank, np.array(found, np.int64)))
    return sides[0], sides[1]


def distinct_sets(side: Side, groups: IntArray, chosen: BoolArray | None = None) -> Distinct:
    """Return the distinct sets of each group.

    Args:
        side: which has them.
        groups: of its expressions, int64 (k,), from 0.
        chosen: which expressions are in a group, bool (k,); all unless given.
    """
    expressions = np.arange(len(side.sets)) if chosen is None else np.flatnonzero(chosen)
    keys = groups[expressions] * (int(side.sets.max(initial=0)) + 1) + side.sets[expressions]
    firsts = np.sort(np.unique(keys, return_index=True)[1])
    return Distinct(side, expressions[firsts], groups[expressions[firsts]])


ALONE = -1
"""Partner of a row or column that has none."""
_FAR = 1 << 30
"""More than any distance, which is at most the sum of all weights."""


class _Search(NamedTuple):
    """What the search knows, for r rows and c columns.

    Attributes:
        row_prices, column_prices: of the dual problem; no edge costs less than the sum at its ends. int64 (r,), (c,).
        column_of, row_of: partners so far, int64 (r,), (c,).
        distances: from the row that is being placed, _FAR where not reached, int64 (c,).
        paths: the row from which each column was reached, int64 (c,).
        done: whether the distance of a column is final, bool (c,).
        reached: the columns reached, in order, int64 (c,).
        visited: the rows visited, in order, int64 (r,).
        heap: the columns reached that are not done, the nearest first, int64 (edges,).
    """

    row_prices: IntArray
    column_prices: IntArray
    column_of: IntArray
    row_of: IntArray
    distances: IntArray
    paths: IntArray
    done: BoolArray
    reached: IntArray
    visited: IntArray
    heap: IntArray


def paired(starts: IntArray, columns: IntArray, weights: IntArray, size: int, steps: int) -> IntArray:
    """Pair rows with columns one to one so that the sum of weights is greatest; some may stay alone.

    The Hungarian method in the form of Jonker & Volgenant 1987 on sparse edges: one row after the other takes the
    cheapest path of edges outside and inside the pairing, to a free column or to a row that is better left alone.

    Args:
        starts: row i has the edges `starts[i]:starts[i + 1]`, int64 (r + 1,).
        columns: where each edge leads, int64 (e,).
        weights: positive, int64 (e,).
        size: how many columns there are.
        steps: edges that may be looked at.

    Returns:
        The column of each row, ALONE for none, int64 (r,). Without steps left, the other rows are alone.
    """
    rows = len(starts) - 1
    search = _Search(
        row_prices=np.zeros(rows, np.int64),
        column_prices=np.zeros(size, np.int64),
        column_of=np.full(rows, ALONE),
        row_of=np.full(size, ALONE),
        distances=np.full(size, _FAR),
        paths=np.full(size, ALONE),
        done=np.zeros(size, np.bool_),
        reached=np.empty(size, np.int64),
        visited=np.empty(rows, np.int64),
        heap=np.empty(len(columns), np.int64),
    )
    _search(starts, columns, weights, search, steps)
    return search.column_of


@compiled
def _search(starts: IntArray, columns: IntArray, weights: IntArray, search: _Search, steps: int) -> None:  # noqa: C901, PLR0912, PLR0915 - in parts it takes three times as long to compile
    """Find the cheapest path from each row, and pair along it."""
    row_prices, column_prices, column_of, row_of, distances, paths, done, reached, visited, heap = search
    size = len(row_of)
    for row in range(len(starts) - 1):
        low, current, column = 0, row, ALONE
        alone, least = row, _FAR
        rows_seen, columns_seen = 0, 0
        waiting = int(np.int64(0))  # for a literal, `heap_push` and `heap_pop` would be compiled once more
        while True:
            visited[rows_seen] = current
            rows_seen += 1
            if low - row_prices[current] < least:
                alone, least = current, low - row_prices[current]
            for edge in range(starts[current], starts[current + 1]):
                end = columns[edge]
                distance = low - weights[edge] - row_prices[current] - column_prices[end]
                if done[end] or distance >= distances[end]:
                    continue
                if distances[end] == _FAR:
                    reached[columns_seen] = end
                    columns_seen += 1
                distances[end] = distance
                paths[end] = current
                taken = row_of[end] != ALONE  # of the nearest columns a free one ends the search
                waiting = heap_push(heap, waiting, ((distance + _FAR) * 2 + taken) * size + end)
            steps -= starts[current + 1] - starts[current] + 1
            nearest = ALONE
            while waiting > 0 and nearest == ALONE:
                waiting = heap_pop(heap, waiting)
                if not done[heap[waiting] % size]:
                    nearest = heap[waiting] % size
            if nearest == ALONE or least <= distances[nearest]:
                low = least
                break
            low = distances[nearest]
            done[nearest] = True
            if row_of[nearest] == ALONE:
                column = nearest
                break
            current = row_of[nearest]
            if steps < 0:
                return
        # Bring the prices up to the length of the path, and forget the distances.
        for place in range(rows_seen):
            each = visited[place]
            row_prices[each] += low if each == row else low - distances[column_of[each]]
        for place in range(columns_seen):
            end = reached[place]
            if done[end]:
                column_prices[end] -= low - distances[end]
            distances[end] = _FAR
            done[end] = False
        # Pair along the path to a column, or to a row that is left alone.
        if column == ALONE and alone != row:
            column, column_of[alone] = column_of[alone], ALONE
        while column != ALONE:
            owner = paths[column]
            row_of[column] = owner
            column, column_of[owner] = column_of[owner], column  # at the first row, which has none, the path ends
        if steps < 0:
            return


MAX_SHARED = 5_000_000
"""Limit on the words that several expressions of one side have: each counts as the square of how many these are.

So two sides share no more, but for words that one of them has once. A limit on what they share would tell gold's.
"""
MAX_STEPS = 400_000_000
"""Limit on the steps of the search in one text. It depends on both sides, so no error tells that it was met."""


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
    at_gold, at_system = _in_stars(overlaps)
    stars = at_gold | at_system
    for found in (_best_of_stars(overlaps, at_gold, stars), _searched(overlaps.chosen(~stars))):
        partners[found.golds] = found.systems
        common[found.golds] = found.words
    return Pairs(golds, systems, partners, common, equal)


def check_overlaps(treebank: ExpressionTreebank) -> None:
    """Check that the expressions of one side can be paired with any others. Raises LimitError: `too-many-overlaps`."""
    counts = np.bincount(treebank.expression_words, minlength=len(treebank.forms)).astype(np.float64)
    shared = sums_by(owners_of(treebank.word_offsets), len(treebank), np.where(counts > 1, counts * counts, 0))
    if shared.sum() > MAX_SHARED:
        sentence, sent_ids = int(shared.argmax()), treebank.sentences.sent_ids
        detail = (
            f"Too many expressions of sentence {sentence + 1} have the same words. Write each expression once, "
            "and only those that the sentence has."
        )
        name = sent_ids[sentence] if len(sent_ids) else None
        raise LimitError(Problem("too-many-overlaps", detail, sentence=sentence + 1, sent_id=name))


def _overlaps(golds: Distinct, systems: Distinct, left_golds: IntArray, left_systems: IntArray) -> _Overlaps:
    """Return which of the sets that are left have words in common, in their group."""
    groups = max(int(side.groups.max(initial=0)) for side in (golds, systems)) + 1
    gold_words, gold_of = golds.words_of(left_golds)
    system_words, system_of = systems.words_of(left_systems)
    gold_keys = gold_words * groups + golds.groups[gold_of]
    system_keys = system_words * groups + systems.groups[system_of]
    order = np.argsort(system_keys, kind="stable")
    system_keys, system_of = system_keys[order], system_of[order]
    firsts = np.searchsorted(system_keys, gold_keys, "left")
    counts = np.searchsorted(system_keys, gold_keys, "right") - firsts
    places, _ = ranges_of(firsts, counts)
    keys = np.repeat(gold_of, counts) * max(1, len(systems.groups)) + system_of[places]
    distinct, words = np.unique(keys, return_counts=True)
    found_golds, found_systems = np.divmod(distinct, max(1, len(systems.groups)))
    return _Overlaps(found_golds, found_systems, words.astype(np.int64))


def _in_stars(overlaps: _Overlaps) -> tuple[BoolArray, BoolArray]:
    """Tell of which overlaps gold's set overlaps with nothing that overlaps with another; and so for the output's."""
    found = []
    for hubs, leaves in ((overlaps.golds, overlaps.systems), (overlaps.systems, overlaps.golds)):
        others = np.bincount(leaves)[leaves] > 1
        tangled = np.bincount(hubs, others) > 0
        found.append(~tangled[hubs] if len(hubs) else others)
    return found[0], found[1]


def _best_of_stars(overlaps: _Overlaps, at_gold: BoolArray, stars: BoolArray) -> _Overlaps:
    """Return the best overlap of each set that is the middle of a star."""
    hubs = np.where(at_gold, overlaps.golds, len(overlaps.golds) + overlaps.systems + overlaps.golds.max(initial=0))
    order = np.lexsort((-overlaps.words, hubs))
    order = order[stars[order]]
    return overlaps.chosen(order[np.unique(hubs[order], return_index=True)[1]])


def _searched(left: _Overlaps) -> _Overlaps:
    """Return the best pairs among the sets that are in no star."""
    if not len(left.golds):
        return left
    rows = np.unique(left.golds, return_inverse=True)[1]
    own_systems, columns = np.unique(left.systems, return_inverse=True)
    starts = offsets_of(np.bincount(rows).astype(np.int64))
    partners = paired(starts, columns.astype(np.int64), left.words, len(own_systems), MAX_STEPS)
    return left.chosen(np.flatnonzero(partners[rows] == columns))
