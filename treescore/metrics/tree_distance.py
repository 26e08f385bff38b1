"""Score trees of constituents and tags by the edits that lead from one to the other (Zhang & Shasha 1989).

The distance of two ordered trees is compiled.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from treescore.core import registry
from treescore.core.arrays import BoolArray, Counts, Int32Array, IntArray, offsets_of, owners_of, sums_by
from treescore.core.columns import Numbers, Records, ranges_of
from treescore.core.discontinuity import extents_of, with_gaps
from treescore.core.jit import NO_BOUND, attempts, compiled
from treescore.core.params import Json, Param
from treescore.core.scores import ZERO, ScoreTable, charged, errors_param, ratio_score
from treescore.core.structure import NONE, gather, nearest_kept, sizes_before, sums_above
from treescore.core.text import Limits
from treescore.core.trees import NO_TAG, ConstituentTreebank, DiscontinuousTreebank
from treescore.core.word_check import check_words
from treescore.errors import LimitError, Problem
from treescore.metrics.shared.constituents import Deletions, category_of, listed, representatives, root_warnings
from treescore.metrics.shared.examples import GAP_TREES, TREES


class Units(NamedTuple):
    """The e units of n trees in post-order: constituents that are not deleted, and tags, one a word.

    Key roots are the units whose leftmost leaf is that of no unit above them.

    Attributes:
        labels: what is compared; of tags that of the constituents' numbers, plus tag and place, int64 (e,).
        leftmost: number of the leftmost leaf below, or of the unit itself, inside its tree, int64 (e,).
        offsets: of the trees, int64 (n + 1,).
        roots: number of each key root inside its tree, rising, int64 (k,).
        root_offsets: int64 (n + 1,).
    """

    labels: IntArray
    leftmost: IntArray
    offsets: IntArray
    roots: IntArray
    root_offsets: IntArray


def units_of(treebank: DiscontinuousTreebank, deletions: Deletions) -> Units:
    """Return the units of trees whose words are those that are compared; roots stay."""
    vocabulary = treebank.vocabulary
    extents = extents_of(treebank)
    deleted = listed(vocabulary, deletions.labels)[treebank.labels]
    kept = (treebank.parents == NONE) | (~deleted & (extents.sizes > 0))
    same = representatives(vocabulary, deletions.equal_labels)
    words = np.arange(len(treebank.words))
    places = words - np.repeat(treebank.word_offsets[:-1], np.diff(treebank.word_offsets))
    tags = (places + 1) * (len(vocabulary) + 1) + np.append(same, NO_TAG)[treebank.tags] + 1
    labels = np.concatenate([same[treebank.labels], tags + len(vocabulary)])
    parents = nearest_kept(treebank.parents, kept)[np.concatenate([treebank.parents, treebank.anchors])]
    owners = np.concatenate([owners_of(treebank.node_offsets), owners_of(treebank.word_offsets)])
    is_unit = np.append(kept, np.ones(len(words), np.bool_))
    sizes = is_unit.astype(np.int64)
    gather(np.add, parents, sums_above(parents, sizes)[0], sizes)
    before = sizes_before(parents, np.concatenate([extents.firsts, words]), sizes)
    before[parents == NONE] = 0
    leftmost, _ = sums_above(parents, before)
    units, size = np.flatnonzero(is_unit), len(treebank)
    owners = owners[units]
    offsets = offsets_of(sums_by(owners, size))
    order = np.empty(len(units), np.int64)
    order[offsets[owners] + (leftmost + sizes)[units] - 1] = units
    roots = np.flatnonzero(((before > 0) | (parents == NONE))[order])
    root_owners = owners_of(offsets)[roots]
    return Units(
        labels[order], leftmost[order], offsets, roots - offsets[root_owners], offsets_of(sums_by(root_owners, size))
    )


def most_cells(treebank: DiscontinuousTreebank) -> IntArray:
    """Return at least as many units as are below the key roots of each tree, with repetitions: int64 (n,).

    Of the children of a constituent each but the smallest may be a key root, in any order. So leaving out words and
    constituents, which gold decides, makes it no larger.
    """
    parents, anchors, owners = treebank.parents, treebank.anchors, owners_of(treebank.node_offsets)
    sizes = 1 + sums_by(anchors, len(parents))
    gather(np.add, parents, sums_above(parents, np.ones_like(parents))[0], sizes)
    above = np.concatenate([parents, anchors])
    below = np.flatnonzero(above != NONE)
    smallest = np.full(len(parents), len(above))
    np.minimum.at(smallest, above[below], np.append(sizes, np.ones_like(anchors))[below])
    smallest[smallest == len(above)] = 0  # nothing is below
    return np.diff(treebank.word_offsets) + sums_by(owners, len(treebank), sizes - smallest)


def distances(gold: Units, system: Units, usable: BoolArray) -> IntArray:
    """Return the distances of the trees of sentences that are usable, bool (n,), 0 in others: int64 (n,).

    Args:
        gold: trees of n sentences.
        system: trees over the same words.
        usable: which are compared.
    """
    found = np.zeros(len(usable), np.int64)
    compared = np.flatnonzero(usable & ~_equal(gold, system))
    if not len(compared):
        return found
    cells = _cells(gold)[compared] @ _cells(system)[compared]
    next(allowed for allowed in attempts(_fill_distances, NO_BOUND, CELL) if cells <= allowed)
    rows, columns = (int(np.diff(side.offsets)[compared].max()) + 1 for side in (gold, system))
    trees, table = np.empty((rows, columns), np.int32), np.empty((rows, columns), np.int32)
    _fill_distances(gold, system, compared, trees, table, found)
    return found


def _equal(gold: Units, system: Units) -> BoolArray:
    """Tell which trees are equal: bool (n,)."""
    sizes = np.diff(gold.offsets)
    equal = sizes == np.diff(system.offsets)
    same = np.flatnonzero(equal)
    (golds, offsets), (systems, _) = (ranges_of(side.offsets[same], sizes[same]) for side in (gold, system))
    differ = (gold.labels[golds] != system.labels[systems]) | (gold.leftmost[golds] != system.leftmost[systems])
    equal[same[owners_of(offsets)[differ]]] = False
    return np.asarray(equal, np.bool_)


def _cells(units: Units) -> IntArray:
    """Return how many units are below the key roots of each tree, with repetitions: int64 (n,)."""
    owners = owners_of(units.root_offsets)
    below = units.roots - units.leftmost[units.offsets[owners] + units.roots] + 1
    return sums_by(owners, len(units.offsets) - 1, below)


@compiled
def _fill_distances(
    gold: Units, system: Units, compared: IntArray, trees: Int32Array, table: Int32Array, found: IntArray
) -> None:
    """Fill in the distances of the trees of some sentences; insertion, deletion and replacement of a unit cost 1.

    Args:
        gold: trees of n sentences.
        system: trees over the same words.
        compared: the sentences.
        trees: scratch, for distances of subtrees.
        table: scratch, for distances of forests.
        found: int64 (n,).
    """
    labels, leftmost, offsets, roots, root_offsets = gold
    other_labels, other_leftmost, other_offsets, other_roots, other_root_offsets = system
    for sentence in compared:
        first, other_first, last = offsets[sentence], other_offsets[sentence], 0
        for key in range(root_offsets[sentence], root_offsets[sentence + 1]):
            root = roots[key]
            begin = leftmost[first + root]
            for other_key in range(other_root_offsets[sentence], other_root_offsets[sentence + 1]):
                other_root = other_roots[other_key]
                other_begin = other_leftmost[other_first + other_root]
                for row in range(root - begin + 2):
                    table[row, 0] = row
                for column in range(other_root - other_begin + 2):
                    table[0, column] = column
                for row in range(1, root - begin + 2):
                    unit = begin + row - 1
                    below, label = leftmost[first + unit] - begin, labels[first + unit]
                    for column in range(1, other_root - other_begin + 2):
                        other_unit = other_begin + column - 1
                        other_below = other_leftmost[other_first + other_unit] - other_begin
                        best = min(table[row - 1, column], table[row, column - 1]) + 1
                        if below == 0 and other_below == 0:
                            change = label != other_labels[other_first + other_unit]
                            best = min(best, table[row - 1, column - 1] + change)
                            trees[unit, other_unit] = best
                        else:
                            best = min(best, table[below, other_below] + trees[unit, other_unit])
                        table[row, column] = last = best
        found[sentence] = last


COUNT_NAMES = ("distance", "nodes", "sentences", "exact", "error", "skip")
_share = partial(ratio_score, undefined="no sentence could be compared")
TABLE = ScoreTable(
    COUNT_NAMES,
    (
        _share("dice", "1 - edits / nodes of both trees, summed over the text.", "distance", "nodes", one_minus=True),
        _share("exact_match", "Share of sentences whose trees are equal.", "exact", "sentences"),
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
    table = TABLE
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

    def check_gold(self, gold: Treebank, items: registry.ItemInfo, limits: Limits) -> None:  # noqa: ARG002 - other metrics need it
        """Check that gold keeps to its share of the limit. Raises LimitError as `evaluate`."""
        _check_size(with_gaps(gold), limits)

    def evaluate(self, gold: Treebank, system: Treebank, items: registry.ItemInfo, limits: Limits) -> registry.Outcome:  # noqa: ARG002 - other metrics need it
        """Compare each sentence; status ERROR where words differ.

        Raises:
            LimitError: `tree-distance-limit`, the output exceeds its share of the limit.
        """
        _check_size(with_gaps(system), limits)
        check = check_words(gold, system)
        usable = np.asarray(check.status == registry.OK, np.bool_)
        trees = self._deletions.applied(with_gaps(gold), with_gaps(system), usable)
        units = [units_of(tree, self._deletions) for tree in trees]
        words = np.diff(trees[0].word_offsets) > 0
        distance = distances(units[0], units[1], usable & words)
        deleted = self._deleted_roots(trees[0])
        golds, systems = (np.diff(each.offsets) - deleted for each in units)
        nodes = golds + systems
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
            **check._asdict(),
            warnings=root_warnings(gold, system, (), category_of),  # roots are always compared
            details=lambda start, stop: Records(
                {"edits": Numbers(distance[start:stop]), "nodes": Numbers(nodes[start:stop])}
            ),
        )

    def absent(self, gold: Treebank, items: registry.ItemInfo, limits: Limits) -> Counts:
        """Count each sentence of gold as one in which every node of gold is deleted, and as many others inserted."""
        rows = charged(TABLE, self.evaluate(gold, gold, items, limits).rows)
        rows[:, COUNT_NAMES.index("skip")] = 1
        return rows

    def errors_of(self, item: Mapping[str, Json], gold: Any) -> Iterator[dict[str, Json]]:  # noqa: ARG002 - other metrics need it
        """Return the sentence if its trees differ."""
        if item["edits"]:
            yield {"kind": "tree", "edits": item["edits"], "nodes": item["nodes"]}

    def _deleted_roots(self, gold: DiscontinuousTreebank) -> IntArray:
        """Return 1 for each sentence whose root does not count, since its label is deleted: int64 (n,)."""
        deleted = set(self._deletions.labels)
        strings = gold.vocabulary.strings
        return np.array([strings[label] in deleted for label in gold.labels[gold.node_offsets[:-1]].tolist()], np.int64)


def _check_size(treebank: DiscontinuousTreebank, limits: Limits) -> None:
    cells = most_cells(treebank)
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
