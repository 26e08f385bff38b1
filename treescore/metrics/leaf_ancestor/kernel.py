"""Compute lineages and the distances between them (Sampson & Babarczy 2003), compiled.

Constituents may have gaps (van Cranenburgh, Scha & Bod 2016). Configurations that are regularly scored badly are found
and ordered so that single cases do not lead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from treescore.core import columns
from treescore.core.arrays import BoolArray, FloatArray, IntArray, offsets_of, owners_of, special, sums_by
from treescore.core.discontinuity import extents_of
from treescore.core.jit import NO_BOUND, attempts, compiled, weighing
from treescore.core.structure import NONE, chain_lengths, head_links, nearest_kept, structure_of, sums_above
from treescore.core.trees import ConstituentTreebank, DependencyTreebank, DiscontinuousTreebank, Vocabulary
from treescore.metrics.shared.constituents import Deletions, listed, representatives

BEGIN, END, GAP_BEGIN, GAP_END = MARKS = ("[", "]", "<", ">")
"""Boundary markers as they are printed; the last two where a constituent continues behind a gap and breaks off."""
CELL = 2
"""How many elements cost what a cell of a distance table does."""
_AT_ONCE = 1 << 20
"""Elements of lineages that are written at once to be printed."""
ELLIPSIS = "..."
"""Replaces the middle of a lineage that is too long to be shown."""
LEAST_SHOWN = 100
"""Symbols that are shown of a lineage, however many there are in its sentence."""
UNLABELLED = "()"
"""A bracket without a label as it is printed in a lineage."""

MARKERS = len(MARKS)
"""The first symbols are the boundary markers; label number i is symbol i + MARKERS."""
NO_GAPS = -2
"""Stands for no element, not even for what is above a top (NONE)."""


class Chains(NamedTuple):
    """The path from each of w words to the top, over e elements (nodes; for dependencies the words themselves).

    Attributes:
        offsets: words of each sentence, int64 (n + 1,).
        anchors: lowest element over each word, NONE where there is none, int64 (w,).
        lengths: elements from each word up to the top, int64 (w,).
        labels, parents: of each element, int64 (e,).
        starts, ends: its span inside the sentence, int64 (e,); -1 where elements have no boundaries.
        before, after: lowest element over each word and the word before (after) it, NONE where there is none; NO_GAPS
            where elements are without gaps, int64 (w,).
    """

    offsets: IntArray
    anchors: IntArray
    lengths: IntArray
    labels: IntArray
    parents: IntArray
    starts: IntArray
    ends: IntArray
    before: IntArray
    after: IntArray


def chains_of(treebank: ConstituentTreebank | DependencyTreebank, *, boundaries: bool) -> Chains:
    """Return the chains of a treebank.

    A dependency's chain holds the relations from the word to its root. It has no boundaries, since the words that a
    word governs may be discontinuous. A chain that enters a cycle follows it once.
    """
    offsets = treebank.word_offsets
    if isinstance(treebank, DependencyTreebank):
        parents = head_links(treebank)
        anchors, lengths = np.arange(len(parents), dtype=np.int64), chain_lengths(parents)
        labels, spans = treebank.deprels, None
    else:
        parents, depths, anchors = structure_of(treebank)
        lengths, labels = values_at(anchors, depths, 0), treebank.labels
        spans = (treebank.starts, treebank.ends) if boundaries else None
    none, no_gaps = np.full(len(parents), -1, np.int64), np.full(len(anchors), NO_GAPS, np.int64)
    return Chains(offsets, anchors, lengths, labels, parents, *(spans or (none, none)), no_gaps, no_gaps)


def values_at(indices: IntArray, values: IntArray, missing: int) -> IntArray:
    """Return the values at these indices, `missing` where an index is NONE: the shape of `indices`."""
    return np.append(values, missing)[indices]  # NONE is -1, the last


class Costs(NamedTuple):
    """The costs of replacing one of s symbols by another; equal symbols cost nothing.

    Attributes:
        default: cost of any other pair.
        related: cost of two symbols of one class.
        classes: class of each symbol, -1 none, int64 (s,).
        paired: whether a symbol stands in a pair, bool (s,).
        keys: `a * s + b` of each pair, a < b, sorted, int64 (p,).
        pair_costs: cost of each pair, (p,).
        plain: whether no replacement is cheaper than a deletion and an insertion, so that no lookup is needed.
    """

    default: float
    related: float
    classes: IntArray
    paired: BoolArray
    keys: IntArray
    pair_costs: FloatArray
    plain: bool


@dataclass(frozen=True, slots=True)
class CostFunction:
    """A cost function over label strings.

    Attributes:
        default: cost of replacing a symbol by another.
        first_character: cost where both labels begin with the same character; None where this does not matter.
        pairs: (label, label) -> cost, in either order; before the other two.
    """

    default: float = 2.0
    first_character: float | None = None
    pairs: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def over(self, vocabulary: Vocabulary, *labels: IntArray) -> Costs:
        """Return the costs as arrays over the labels that occur in `labels`."""
        size = len(vocabulary) + MARKERS
        classes, paired = np.full(size, -1, np.int64), np.zeros(size, np.bool_)
        if self.first_character is not None:
            for label in np.flatnonzero(np.bincount(np.concatenate(labels), minlength=1)).tolist():
                string = vocabulary.strings[label]
                classes[label + MARKERS] = ord(string[0]) if string else -1
        table: dict[int, float] = {}
        for pair, cost in self.pairs.items():
            a, b = sorted(_symbol(label, vocabulary) for label in pair)
            if a >= 0:
                table[a * size + b] = cost
                paired[[a, b]] = True
        keys = np.array(sorted(table), np.int64)
        costs = np.array([table[key] for key in keys.tolist()], np.float64)
        plain = self.default >= 2 and self.first_character is None and not table
        return Costs(float(self.default), float(self.first_character or 0.0), classes, paired, keys, costs, plain)


def _symbol(label: str, vocabulary: Vocabulary) -> int:
    """Return the symbol of a label or marker; -1 where no text has the label."""
    if label in MARKS:
        return MARKS.index(label)
    number = vocabulary.get(label)
    return -1 if number is None else number + MARKERS


@compiled
@weighing(0)  # one of many words
def _write_lineage(chains: Chains, word: int, position: int, symbols: IntArray) -> int:
    """Write the lineage of a word (its number in the file, its place in the sentence), and return its length."""
    size = 0
    element = chains.anchors[word]
    for _ in range(chains.lengths[word]):
        above = chains.parents[element]
        if chains.starts[element] == position and (above == NONE or chains.starts[above] != position):
            symbols[size] = 0
            size += 1
        elif above == chains.before[word]:
            symbols[size] = 2
            size += 1
        symbols[size] = chains.labels[element] + MARKERS
        size += 1
        if chains.ends[element] == position + 1 and (above == NONE or chains.ends[above] != position + 1):
            symbols[size] = 1
            size += 1
        elif above == chains.after[word]:
            symbols[size] = 3
            size += 1
        element = above
    return size


class WordScores(NamedTuple):
    """The scores of w gold words.

    Attributes:
        scores: of each word, 0 to 1, NaN in sentences that are not usable, float64 (w,).
        lineages: a hash of each word's gold lineage, int64 (w,).
    """

    scores: FloatArray
    lineages: IntArray


def word_scores(gold: Chains, system: Chains, usable: BoolArray, costs: Costs) -> WordScores:
    """Score every word of the sentences that are usable, bool (n,). The memory is that of two lineages."""
    found = WordScores(np.full(gold.offsets[-1], np.nan), np.zeros(gold.offsets[-1], np.int64))
    longest = MARKERS + 1 + max(int(side.lengths.max(initial=0)) for side in (gold, system))
    lineages, row = np.empty((2, longest), np.int64), np.empty(longest)
    for allowed in attempts(_fill_scores, NO_BOUND, CELL):
        if _fill_scores(gold, system, usable, costs, allowed, lineages[0], lineages[1], row, found):
            break
    return found


@compiled
def _fill_scores(  # noqa: C901, PLR0912 - in parts it takes twice as long to compile
    gold: Chains,
    system: Chains,
    usable: BoolArray,
    costs: Costs,
    bound: int,
    a: IntArray,
    b: IntArray,
    row: FloatArray,
    found: WordScores,
) -> bool:
    """Score words, and tell whether all tables have no more cells than `bound`; if not, the last words have no score.

    The distance is that of Levenshtein, weighted; insertion and deletion cost 1. Equal ends of two lineages are cut off
    before, which does not change it: matching equal ends never costs more than replacing them.
    """
    scores, hashes = found
    default, related, classes, paired, keys, pair_costs, plain = costs
    cells = 0
    for sentence in range(len(gold.offsets) - 1):
        if not usable[sentence]:
            continue
        first, other = gold.offsets[sentence], system.offsets[sentence]
        for position in range(gold.offsets[sentence + 1] - first):
            length = _write_lineage(gold, first + position, position, a)
            value = np.int64(length)
            for index in range(length):
                value = (value ^ a[index]) * np.int64(1099511628211)
                value ^= value >> np.int64(29)
            hashes[first + position] = value
            width = _write_lineage(system, other + position, position, b)
            total = length + width
            head = 0
            while head < length and head < width and a[head] == b[head]:
                head += 1
            while length > head and width > head and a[length - 1] == b[width - 1]:
                length -= 1
                width -= 1
            if head in (length, width):
                distance = float(length + width - 2 * head)
            else:
                cells += (length - head) * (width - head)
                if cells > bound:
                    return False
                for column in range(head, width + 1):
                    row[column] = column - head
                for line in range(head, length):
                    diagonal = row[head]
                    row[head] = line - head + 1
                    for column in range(head, width):
                        best = min(row[column], row[column + 1]) + 1.0
                        if a[line] == b[column]:
                            best = min(best, diagonal)
                        elif not plain:
                            one, two = min(a[line], b[column]), max(a[line], b[column])
                            cost = related if classes[one] >= 0 and classes[one] == classes[two] else default
                            if paired[one] and paired[two]:
                                key, low, high = one * len(paired) + two, 0, len(keys)
                                while low < high:
                                    middle = (low + high) // 2
                                    if keys[middle] < key:
                                        low = middle + 1
                                    else:
                                        high = middle
                                if low < len(keys) and keys[low] == key:
                                    cost = pair_costs[low]
                            best = min(best, diagonal + cost)
                        diagonal = row[column + 1]
                        row[column + 1] = best
                distance = row[width]
            scores[first + position] = 1.0 - distance / total if total > 0 else 1.0
    return True


def symbols_in(chains: Chains) -> IntArray:
    """Return how many symbols the lineages of each sentence have at most: int64 (n,)."""
    return np.asarray(np.diff(offsets_of(chains.lengths)[chains.offsets]) + MARKERS * np.diff(chains.offsets), np.int64)


def lineages_of(chains: Chains, names: Sequence[str], sentences: IntArray, limit: int) -> columns.Joined:
    """Print the lineages of the words of sentences as the paper does, from leaf to root, symbols joined by a space.

    Where those of a sentence have more than `limit` symbols together, the middle of long lineages is left out.
    """
    lengths, room = np.diff(chains.offsets)[sentences], symbols_in(chains)[sentences]
    most = np.where(room > limit, np.maximum(limit // np.maximum(lengths, 1), LEAST_SHOWN), room)
    words, offsets = columns.ranges_of(chains.offsets[sentences], lengths)
    owners = owners_of(offsets)
    return lineages_at(chains, names, words, np.arange(len(words)) - offsets[owners], most[owners])


def lineages_at(
    chains: Chains, names: Sequence[str], words: IntArray, positions: IntArray, most: IntArray
) -> columns.Joined:
    """Print the lineages of some words at their positions in their sentences, `most` symbols of each: int64 (w,)."""
    before = offsets_of(chains.lengths[words])
    symbols, sizes = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    start = 0
    while start < len(words):
        stop = max(start + 1, int(np.searchsorted(before, before[start] + _AT_ONCE, "right")) - 1)
        written, ends = _lineages(chains, words[start:stop], positions[start:stop])
        shown, of_words = _shortened(written, ends, most[start:stop], len(names) - 1)
        symbols.append(shown)
        sizes.append(of_words)
        start = stop
    found = columns.Strings(np.concatenate(symbols), names)
    return columns.Joined(columns.Lists(offsets_of(np.concatenate(sizes)), found))


def _lineages(chains: Chains, words: IntArray, positions: IntArray) -> tuple[IntArray, IntArray]:
    """Write the lineages of words as `_write_lineage` does, one after the other; also return their offsets."""
    lengths = chains.lengths[words]
    offsets = offsets_of(lengths)
    elements = np.empty(offsets[-1], np.int64)
    going, places = np.flatnonzero(lengths), offsets[:-1][lengths > 0]
    element = chains.anchors[words[going]]
    while len(going):
        elements[places] = element
        places, element = places + 1, chains.parents[element]
        on = places < offsets[going + 1]
        going, places, element = going[on], places[on], element[on]
    owners = owners_of(offsets)
    above, here = chains.parents[elements], positions[owners]
    marks = []
    bounds = (chains.starts, here, chains.before), (chains.ends, here + 1, chains.after)
    for kind, (edges, at, beside) in enumerate(bounds):
        is_edge = (edges[elements] == at) & ((above == NONE) | (edges[above] != at))
        marks.append(np.where(is_edge, kind, np.where(above == beside[words][owners], kind + 2, NONE)))
    symbols = np.stack([marks[0], chains.labels[elements] + MARKERS, marks[1]], axis=1)
    written = symbols != NONE
    return symbols[written], offsets_of(sums_by(owners, len(words), written.sum(axis=1)))


def _shortened(symbols: IntArray, offsets: IntArray, most: IntArray, ellipsis: int) -> tuple[IntArray, IntArray]:
    """Leave out the middle of lineages of more than `most` symbols, (w,); also return how long each is then."""
    lengths = np.diff(offsets)
    long, halves = lengths > most, most // 2
    owners = owners_of(offsets)
    places = np.arange(len(symbols)) - offsets[owners]
    after_half = places - halves[owners]
    middle = long[owners] & (after_half >= 0) & (places < (lengths - halves)[owners])
    shown = np.where(middle, ellipsis, symbols)[~middle | (after_half == 0)]
    return shown, np.where(long, 2 * halves + 1, lengths)


def cell_bounds(chains: Chains) -> tuple[IntArray, FloatArray]:
    """Return of each sentence depth times words, and the sum of the squared lengths of its lineages, (n,) each."""
    words = np.diff(chains.offsets)
    filled = np.flatnonzero(words)
    cells, squares = np.zeros(len(words), np.int64), np.zeros(len(words))
    if len(filled):
        starts = chains.offsets[filled]
        cells[filled] = np.maximum.reduceat(chains.lengths, starts) * words[filled]
        squares[filled] = np.add.reduceat((chains.lengths + float(MARKERS)) ** 2, starts)
    return cells, squares


def gap_chains(treebank: DiscontinuousTreebank, deletions: Deletions, *, boundaries: bool) -> Chains:
    """Return the chains of trees without their deleted constituents; equal labels are one."""
    vocabulary = treebank.vocabulary
    kept = ~listed(vocabulary, deletions.labels)[treebank.labels]
    nearest = nearest_kept(treebank.parents, kept)
    parents, anchors = nearest[treebank.parents], nearest[treebank.anchors]
    depths, _ = sums_above(parents, kept.astype(np.int64))
    firsts, lasts, _ = extents_of(treebank)
    begins = treebank.word_offsets[owners_of(treebank.node_offsets)]
    starts, ends = firsts - begins, lasts + 1 - begins
    if boundaries:
        before, after = _joins(parents, depths, anchors, treebank.word_offsets)
    else:
        starts = ends = np.full(len(parents), -1, np.int64)
        before = after = np.full(len(anchors), NO_GAPS, np.int64)
    lengths = values_at(anchors, depths, 0)
    labels = representatives(vocabulary, deletions.equal_labels)[treebank.labels]
    return Chains(treebank.word_offsets, anchors, lengths, labels, parents, starts, ends, before, after)


def _joins(parents: IntArray, depths: IntArray, anchors: IntArray, offsets: IntArray) -> tuple[IntArray, IntArray]:
    """Return the lowest element over each word and the one before, and over it and the one after: int64 (w,) each.

    NONE stands for the ends of a sentence too.
    """
    joins = np.full(len(anchors) + 1, NONE, np.int64)  # over a word and the one before, and behind the last
    inside = np.ones(len(anchors), np.bool_)
    inside[offsets[:-1][np.diff(offsets) > 0]] = False
    going = np.flatnonzero(inside)
    one, other = anchors[going - 1], anchors[going]
    while len(going):
        meets = one == other
        joins[going[meets]] = one[meets]
        going, one, other = going[~meets], one[~meets], other[~meets]
        depth, other_depth = values_at(one, depths, 0), values_at(other, depths, 0)
        one, other = (
            np.where(depth >= other_depth, values_at(one, parents, NONE), one),
            np.where(other_depth >= depth, values_at(other, parents, NONE), other),
        )
    return joins[:-1], joins[1:]


EXAMPLES = 3
"""Number of examples of each configuration, the worst first."""


class Regularity(NamedTuple):
    """When a configuration is regular enough to be reported.

    Attributes:
        min_count: units it must have.
        confidence: of the bound by which configurations are ordered.
        limit: the most configurations of each grouping.
    """

    min_count: int
    confidence: float
    limit: int

    def upper_bound(self, means: FloatArray, counts: IntArray) -> FloatArray:
        """Return upper bounds of means of scores in 0..1, the same shape: the score interval of Wilson (1927).

        The interval is made for proportions. The variance of any score in 0..1 is at most that of a proportion with
        the same mean, so that the bound also holds for scores in between.
        """
        z = float(special.ndtri(self.confidence))
        share = z * z / np.maximum(counts, 1)
        spread = np.sqrt(share * means * (1 - means) + share * share / 4)
        return np.asarray((means + share / 2 + spread) / (1 + share), np.float64)


@dataclass(frozen=True, slots=True)
class Configuration:
    """A group of units: its number, their count, mean score and upper confidence bound, and the worst units."""

    group: int
    count: int
    mean: float
    bound: float
    examples: IntArray


def worst_configurations(groups: IntArray, scores: FloatArray, regularity: Regularity) -> list[Configuration]:
    """Find the worst configurations, lowest upper bound of the mean first.

    The bound decides, not the mean: it is high for small groups, whose means vary most. Groups without any error are
    left out.

    Args:
        groups: group of each unit, from 0; -1 for units in none, (u,).
        scores: in 0..1, (u,), NaN for units that were not scored.
        regularity: which groups are reported.
    """
    units = np.flatnonzero((groups >= 0) & ~np.isnan(scores))
    members, of_members = groups[units], scores[units]
    size = int(groups.max(initial=-1)) + 1
    counts, imperfect = sums_by(members, size), sums_by(members[of_members < 1.0], size)
    means = np.minimum(np.bincount(members, of_members, size) / np.maximum(counts, 1), 1.0)
    bounds = regularity.upper_bound(means, counts)
    candidates = np.flatnonzero((counts >= regularity.min_count) & (imperfect > 0))
    chosen = candidates[np.lexsort((candidates, bounds[candidates]))][: regularity.limit]
    wanted = np.zeros(size, np.bool_)
    wanted[chosen] = True
    units = units[wanted[members]]
    units = units[np.lexsort((scores[units], groups[units]))]  # of equal scores the first unit comes first
    starts = np.searchsorted(groups[units], chosen)
    stops = starts + np.minimum(EXAMPLES, counts[chosen])
    return [
        Configuration(group, int(counts[group]), float(means[group]), float(bounds[group]), units[start:stop])
        for group, start, stop in zip(chosen.tolist(), starts.tolist(), stops.tolist(), strict=True)
    ]
