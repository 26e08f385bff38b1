"""Score trees by the edits that lead from one to the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from treescore.core import registry
from treescore.core.arrays import BoolArray, Counts, IntArray
from treescore.core.columns import Numbers, Records
from treescore.core.discontinuity import with_gaps
from treescore.core.params import Json, Param
from treescore.core.scores import ZERO, ScoreTable, errors_param, ratio_score
from treescore.core.text import Limits
from treescore.core.trees import ConstituentTreebank, DiscontinuousTreebank
from treescore.core.word_check import check_words
from treescore.errors import LimitError, Problem
from treescore.metrics.shared.discodop import Deletions, without_words
from treescore.metrics.shared.examples import GAP_TREES, TREES
from treescore.metrics.tree_distance.kernel import distances, sizes_of, units_of

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
"""A sentence may have this part of the limit on lineages as cells of tables, a text so many times that limit."""

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

    def evaluate(self, gold: Treebank, system: Treebank, items: registry.ItemInfo, limits: Limits) -> registry.Outcome:
        """Compare each sentence; status ERROR where words differ.

        Raises:
            LimitError: `tree-distance-limit`, the tables of a sentence, or of the text, exceed the limit.
        """
        del items
        check = check_words(gold, system)
        usable = np.asarray(check.status == registry.OK, np.bool_)
        trees = self._compared(with_gaps(gold), with_gaps(system), usable)
        units = [units_of(tree, self._deletions) for tree in trees]
        words = np.diff(trees[0].word_offsets) > 0
        bounds = limits.max_lineage_cells // TENTH, WHOLE_TEXT * limits.max_lineage_cells
        found = distances(units[0], units[1], usable & words, *bounds)
        if found.failed >= 0:
            raise _too_costly(found.failed, bounds)
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


def _too_costly(sentence: int, bounds: tuple[int, int]) -> LimitError:
    detail = (
        f"Sentence {sentence + 1} exceeds the limit of the tree distance: the tables of a sentence may have "
        f"{bounds[0]:,} cells, those of a text {bounds[1]:,}. Split the sentence, or use parseval."
    )
    return LimitError(Problem("tree-distance-limit", detail, sentence=sentence + 1))
