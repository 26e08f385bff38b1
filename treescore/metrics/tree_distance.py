"""Score trees of constituents and tags by the edits that lead from one to the other (Zhang & Shasha 1989).

The distance of two ordered trees is compiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from treescore.core import registry
from treescore.core.arrays import BoolArray, Counts, Int32Array, IntArray, owners_of, sums_by
from treescore.core.columns import Numbers, Records
from treescore.core.discontinuity import extents_of, with_gaps
from treescore.core.jit import NO_BOUND, attempts, compiled
from treescore.core.params import Json, Param
from treescore.core.scores import ZERO, ScoreTable, errors_param, ratio_score
from treescore.core.structure import NONE
from treescore.core.text import Limits
from treescore.core.trees import NO_TAG, ConstituentTreebank, DiscontinuousTreebank
from treescore.core.word_check import check_words
from treescore.errors import LimitError, Problem
from treescore.metrics.shared.discodop import Deletions, listed, representatives, without_words
from treescore.metrics.shared.examples import GAP_TREES, TREES
from treescore.metrics.shared.roots import category_of, root_warnings


class Units(NamedTuple):
    """The e units of n trees: constituents that are not deleted, then tags, one a word.

    Attributes:
        parents: the constituent above each, counted over the file, NONE for roots, int64 (m + w,); constituents first.
        labels: what is compared; of tags that of the constituents' numbers, plus tag and place, int64 (m + w,).
        firsts: first word of each constituent, int64 (m,).
        kept: which constituents there are, bool (m,).
        node_offsets, word_offsets: int64 (n + 1,).
    """

    parents: IntArray
    labels: IntArray
    firsts: IntArray
    kept: BoolArray
    node_offsets: IntArray
    word_offsets: IntArray


def units_of(treebank: DiscontinuousTreebank, deletions: Deletions) -> Units:
    """Return the units of trees whose words are those that are compared; roots stay."""
    vocabulary = treebank.vocabulary
    roots = treebank.parents == NONE
    extents = extents_of(treebank)
    deleted = listed(vocabulary, deletions.labels)[treebank.labels]
    kept = roots | (~deleted & (extents.sizes > 0))
    same = representatives(vocabulary, deletions.equal_labels)
    places = np.arange(len(treebank.words)) - np.repeat(treebank.word_offsets[:-1], np.diff(treebank.word_offsets))
    tags = (places + 1) * (len(vocabulary) + 1) + np.append(same, NO_TAG)[treebank.tags] + 1
    parents = _raised(treebank.parents, treebank.anchors, kept)
    return Units(
        parents,
        np.concatenate([same[treebank.labels], tags + len(vocabulary)]),
        extents.firsts,
        kept,
        treebank.node_offsets,
        treebank.word_offsets,
    )


def sizes_of(units: Units) -> IntArray:
    """Return how many units each tree has, int64 (n,)."""
    nodes = sums_by(owners_of(units.node_offsets)[units.kept], len(units.node_offsets) - 1)
    return np.asarray(nodes + np.diff(units.word_offsets), np.int64)


@compiled
def _raised(parents: IntArray, anchors: IntArray, kept: BoolArray) -> IntArray:
    """Return the nearest kept constituent above each constituent and each word, NONE for roots: int64 (m + w,)."""
    nodes = len(parents)
    found = np.empty(nodes + len(anchors), np.int64)
    for unit in range(len(found)):
        above = parents[unit] if unit < nodes else anchors[unit - nodes]
        found[unit] = above if above == NONE or kept[above] else found[above]
    return found


@compiled
def most_cells(parents: IntArray, anchors: IntArray, node_offsets: IntArray, word_offsets: IntArray) -> IntArray:
    """Return at least as many units as are below the key roots of each tree, with repetitions: int64 (n,).

    Of the children of a constituent each but the smallest may be a key root, in any order. So leaving out words and
    constituents, which gold decides, makes it no larger.
    """
    nodes = len(parents)
    sizes, smallest = np.ones(nodes, np.int64), np.zeros(nodes, np.int64)
    for unit in range(nodes + len(anchors) - 1, -1, -1):  # words, then constituents from below
        above = parents[unit] if unit < nodes else anchors[unit - nodes]
        if above != NONE:
            size = sizes[unit] if unit < nodes else 1
            sizes[above] += size
            smallest[above] = size if smallest[above] == 0 else min(smallest[above], size)
    found = np.zeros(len(node_offsets) - 1, np.int64)
    for sentence in range(len(found)):
        found[sentence] = word_offsets[sentence + 1] - word_offsets[sentence]
        for unit in range(node_offsets[sentence], node_offsets[sentence + 1]):
            found[sentence] += sizes[unit] - smallest[unit]
    return found


class Distances(NamedTuple):
    """Distances of n trees.

    Attributes:
        distances: int64 (n,), 0 in sentences that are not compared.
        complete: whether the bound was kept; if not, the last trees have no distance.
    """

    distances: IntArray
    complete: bool


class _Scratch(NamedTuple):
    """Memory for one tree of u units: its units as the first child of each and the next one beside, and in post-order.

    Attributes:
        below, beside: by unit: constituents of the sentence, then words, int64 (u,).
        labels, leftmost: in post-order: label, and number of the leftmost leaf below, int64 (u,).
        roots: numbers of the key roots, int64 (u,).
        stack: int64 (u,).
    """

    below: IntArray
    beside: IntArray
    labels: IntArray
    leftmost: IntArray
    roots: IntArray
    stack: IntArray


@compiled
def _post_order(units: Units, sentence: int, tree: _Scratch) -> tuple[int, int, int]:
    """Put the units of a tree into post-order, and number its key roots in rising order.

    Those are the units whose leftmost leaf is that of no unit above them.

    Returns:
        How many units there are, how many key roots, and how many units are below those, with repetitions.
    """
    first, last = units.node_offsets[sentence], units.node_offsets[sentence + 1]
    begin, end = units.word_offsets[sentence], units.word_offsets[sentence + 1]
    nodes, all_nodes = last - first, len(units.kept)
    below, beside, stack, begun = tree.below, tree.beside, tree.stack, tree.roots
    for unit in range(nodes + end - begin):
        below[unit], beside[unit] = NONE, NONE
    # Each word, and the constituents that begin with it, before those that begin later.
    for word in range(end - 1, begin - 1, -1):
        unit, above = nodes + word - begin, units.parents[all_nodes + word] - first
        while True:
            beside[unit], below[above] = below[above], unit
            if units.firsts[first + above] != word or units.parents[first + above] == NONE:
                break
            unit, above = above, units.parents[first + above] - first
    size = depth = unit = 0  # unit 0 is the root
    while True:
        while below[unit] != NONE:
            stack[depth], begun[depth] = unit, size
            depth += 1
            unit = below[unit]
        tree.leftmost[size] = size
        tree.labels[size] = units.labels[first + unit if unit < nodes else all_nodes + begin + unit - nodes]
        size += 1
        while depth > 0 and beside[unit] == NONE:
            depth -= 1
            unit = stack[depth]
            tree.leftmost[size], tree.labels[size] = begun[depth], units.labels[first + unit]
            size += 1
        if depth == 0:
            break
        unit = beside[unit]
    seen = stack
    seen[:size] = NONE
    keys = cells = 0
    for number in range(size - 1, -1, -1):
        if seen[tree.leftmost[number]] == NONE:
            seen[tree.leftmost[number]] = number
            keys += 1
            cells += number - tree.leftmost[number] + 1
    place = keys
    for number in range(size - 1, -1, -1):
        if seen[tree.leftmost[number]] == number:
            place -= 1
            tree.roots[place] = number
    return size, keys, cells


@compiled
def _distance(one: _Scratch, keys: int, other: _Scratch, other_keys: int, trees: Int32Array, table: Int32Array) -> int:
    """Return the distance of two trees; insertion, deletion and replacement of a unit cost 1.

    Args:
        one: a tree.
        keys: how many key roots it has.
        other: the other tree.
        other_keys: how many key roots it has.
        trees: scratch, for distances of subtrees.
        table: scratch, for distances of forests.
    """
    last = 0
    for key in range(keys):
        root = one.roots[key]
        begin = one.leftmost[root]
        for other_key in range(other_keys):
            other_root = other.roots[other_key]
            other_begin = other.leftmost[other_root]
            table[0, 0] = 0
            for row in range(1, root - begin + 2):
                table[row, 0] = row
            for column in range(1, other_root - other_begin + 2):
                table[0, column] = column
            for row in range(1, root - begin + 2):
                unit = begin + row - 1
                whole = one.leftmost[unit] == begin
                for column in range(1, other_root - other_begin + 2):
                    other_unit = other_begin + column - 1
                    best = min(table[row - 1, column], table[row, column - 1]) + 1
                    if whole and other.leftmost[other_unit] == other_begin:
                        best = min(best, table[row - 1, column - 1] + (one.labels[unit] != other.labels[other_unit]))
                        trees[unit, other_unit] = best
                    else:
                        before = table[one.leftmost[unit] - begin, other.leftmost[other_unit] - other_begin]
                        best = min(best, before + trees[unit, other_unit])
                    table[row, column] = best
                    last = best
    return int(last)


def distances(gold: Units, system: Units, usable: BoolArray, bound: int) -> Distances:
    """Return the distances of the trees of sentences that are usable, bool (n,).

    Args:
        gold: trees of n sentences.
        system: trees over the same words.
        usable: which are compared.
        bound: most cells of all tables.
    """
    sizes = [np.diff(side.node_offsets) + np.diff(side.word_offsets) for side in (gold, system)]
    room = max(int(each.max(initial=1)) for each in sizes)
    one, other = (_Scratch._make(np.empty((len(_Scratch._fields), room), np.int64)) for _ in range(2))
    found = np.zeros(len(usable), np.int64)
    return Distances(found, _fill_distances(gold, system, usable, bound, one, other, found))


@compiled
def _fill_distances(
    gold: Units, system: Units, usable: BoolArray, bound: int, one: _Scratch, other: _Scratch, found: IntArray
) -> bool:
    """Do what `distances` does; return whether the bound was kept."""
    trees, table = np.empty((1, 1), np.int32), np.empty((1, 1), np.int32)
    total = 0
    for sentence in range(len(usable)):
        if not usable[sentence]:
            continue
        size, keys, cells = _post_order(gold, sentence, one)
        other_size, other_keys, other_cells = _post_order(system, sentence, other)
        if size == other_size:
            number = 0
            while number < size and (
                one.labels[number] == other.labels[number] and one.leftmost[number] == other.leftmost[number]
            ):
                number += 1
            if number == size:
                continue
        total += cells * other_cells
        if total > bound:
            return False
        if size >= table.shape[0] or other_size >= table.shape[1]:
            rows, columns = max(size + 1, table.shape[0]), max(other_size + 1, table.shape[1])
            trees, table = np.empty((rows, columns), np.int32), np.empty((rows, columns), np.int32)
        found[sentence] = _distance(one, keys, other, other_keys, trees, table)
    return True


COUNT_NAMES = ("distance", "nodes", "sentences", "exact", "error", "skip")
_NOTHING_SCORED = "no sentence could be compared"
TABLE = ScoreTable(
    COUNT_NAMES,
    (
        ratio_score(
            "dice",
            "1 - edits / nodes of both trees, summed over the text.",
            "distance",
            "nodes",
            one_minus=True,
            undefined=_NOTHING_SCORED,
        ),
        ratio_score(
            "exact_match", "Share of sentences whose trees are equal.", "exact", "sentences", undefined=_NOTHING_SCORED
        ),
    ),
)
DISCODOP, PLAIN = "discodop", "plain"
TENTH, WHOLE_TEXT = 10, 50
"""A sentence may have this part of the limit on lineages as cells of tables, a text so many times that limit.

Each side has its share, so that no pair of texts exceeds them: whether one does would tell the size of gold's trees.
"""
CELL = 4
"""How many elements cost what a cell of a table does."""

Treebank = ConstituentTreebank | DiscontinuousTreebank


@registry.register
class TreeDistance(registry.Metric):
    """Tree edit distance (Zhang & Shasha 1989) as disco-dop normalises it; constituents may have gaps.

    Nodes are constituents and tags, no words; the children of a node are in the order of their first words. Inserting,
    deleting and renaming a node cost 1. A tag is another node at another place.
    """

    name = "tree_distance"
    doc = "Tree edit distance: 1 - edits / nodes of both trees (Dice); constituents may have gaps."
    source = "Zhang & Shasha 1989, SIAM Journal on Computing 18(6); disco-dop (van Cranenburgh, Scha & Bod 2016)"
    reads = (ConstituentTreebank, DiscontinuousTreebank)
    examples: ClassVar[tuple[registry.Example, ...]] = (
        registry.Example("discbracket", GAP_TREES, interprets_labels="Words with tags of punctuation are deleted."),
        registry.Example("bracketed", TREES, {"preset": PLAIN}),
    )
    headline: ClassVar[Mapping[str, str]] = {"dice": "Dice", "exact_match": "EM"}
    disclosure: ClassVar[registry.Disclosure] = registry.NOTHING_DISCLOSED
    params: ClassVar[Mapping[str, Param]] = {
        "preset": Param(
            {"enum": [DISCODOP, PLAIN]},
            DISCODOP,
            "What is left out: punctuation and constituents such as ROOT, as by disco-dop's proper.prm; or nothing.",
        ),
        "errors": errors_param("Sentences with other words than gold, or without a parse"),
    }

    def __init__(self, **values: Json) -> None:
        super().__init__(**values)
        self._deletions = Deletions() if values["preset"] == DISCODOP else Deletions((), (), (), ())

    @property
    def table(self) -> ScoreTable:
        """Return the Dice score, and exact match."""
        return TABLE

    def check_gold(self, gold: Treebank, items: registry.ItemInfo, limits: Limits) -> None:
        """Check that gold keeps to its share of the limit. Raises LimitError as `evaluate`."""
        del items
        _check_size(with_gaps(gold), limits)

    def evaluate(self, gold: Treebank, system: Treebank, items: registry.ItemInfo, limits: Limits) -> registry.Outcome:
        """Compare each sentence; status ERROR where words differ.

        Raises:
            LimitError: `tree-distance-limit`, the output exceeds its share of the limit.
        """
        del items
        _check_size(with_gaps(system), limits)
        check = check_words(gold, system)
        usable = np.asarray(check.status == registry.OK, np.bool_)
        trees = self._compared(with_gaps(gold), with_gaps(system), usable)
        units = [units_of(tree, self._deletions) for tree in trees]
        words = np.diff(trees[0].word_offsets) > 0
        for allowed in attempts(_fill_distances, NO_BOUND, CELL):
            found = distances(units[0], units[1], usable & words, allowed)
            if found.complete:
                break
        golds, systems = (
            sizes_of(each) - self._deleted_roots(trees[0]) if len(trees[0]) else np.zeros(0, np.int64) for each in units
        )
        distance, nodes = found.distances.copy(), golds + systems
        charged = ~usable & words & (self.values["errors"] == ZERO)
        nodes[charged] = 2 * golds[charged]
        distance[charged] = nodes[charged]
        counted = (usable & words) | charged
        columns = (
            distance, nodes * counted, counted, usable & words & (distance == 0), check.status == registry.ERROR,
            check.status == registry.SKIP,
        )  # fmt: skip
        rows = np.stack([np.asarray(column, np.int64) for column in columns], axis=1)
        return registry.Outcome(
            rows=rows,
            status=check.status,
            unanswered=check.unanswered,
            problems=check.problems,
            warnings=root_warnings(gold, system, (), category_of),  # roots are always compared
            details=lambda start, stop: Records(
                {"edits": Numbers(distance[start:stop]), "nodes": Numbers(nodes[start:stop])}
            ),
        )

    def absent(self, gold: Treebank, items: registry.ItemInfo, limits: Limits) -> Counts:
        """Count each sentence of gold as one in which every node of gold is deleted, and as many others inserted."""
        outcome = self.evaluate(gold, gold, items, limits)
        rows = np.asarray(outcome.rows, np.int64).copy()
        rows[:, COUNT_NAMES.index("distance")] = rows[:, COUNT_NAMES.index("nodes")]
        rows[:, COUNT_NAMES.index("exact")] = 0
        rows[:, COUNT_NAMES.index("skip")] = 1
        return rows

    def errors_of(self, item: Mapping[str, Json], gold: Any) -> Iterator[dict[str, Json]]:
        """Return the sentence if its trees differ."""
        del gold
        if item["edits"]:
            yield {"kind": "tree", "edits": item["edits"], "nodes": item["nodes"]}

    def _compared(
        self, gold: DiscontinuousTreebank, system: DiscontinuousTreebank, usable: BoolArray
    ) -> tuple[DiscontinuousTreebank, DiscontinuousTreebank]:
        """Return the trees without deleted words, and without those of sentences that are not usable in the output."""
        kept = self._deletions.kept_words(gold)
        others = self._deletions.kept_of_system(gold, system, kept, usable)
        return without_words(gold, kept), without_words(system, others)

    def _deleted_roots(self, gold: DiscontinuousTreebank) -> IntArray:
        """Return 1 for each sentence whose root does not count, since its label is deleted: int64 (n,)."""
        deleted = set(self._deletions.labels)
        strings = gold.vocabulary.strings
        labels = gold.labels[gold.node_offsets[:-1]]
        return np.array([strings[label] in deleted for label in labels.tolist()], np.int64)


def _check_size(treebank: DiscontinuousTreebank, limits: Limits) -> None:
    cells = most_cells(treebank.parents, treebank.anchors, treebank.node_offsets, treebank.word_offsets)
    squares = cells.astype(np.float64) ** 2
    bounds = limits.max_lineage_cells // TENTH, WHOLE_TEXT * limits.max_lineage_cells
    exceeded = (squares > bounds[0]) | (np.cumsum(squares) > bounds[1])
    if exceeded.any():
        sentence = int(exceeded.argmax())
        detail = (
            f"Sentence {sentence + 1} exceeds the limit of the tree distance. The sizes of a tree's constituents, each "
            f"without its smallest child, sum to {cells[sentence]:,}; the square of such a sum may be {bounds[0]:,}, "
            f"and all of a text {bounds[1]:,}. Split the sentence, or use parseval."
        )
        raise LimitError(Problem("tree-distance-limit", detail, sentence=sentence + 1))
