"""Score semantic dependency graphs edge by edge, as the SDP tasks do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from treescore.core import registry
from treescore.core.arrays import IntArray, offsets_of, owners_of, sums_by
from treescore.core.params import Json, Param
from treescore.core.scores import ZERO, Score, ScoreTable, errors_param, f1_score, ratio_score
from treescore.core.structure import edges_of, places_in_sentences
from treescore.core.text import Limits
from treescore.core.trees import SemanticTreebank
from treescore.metrics.semantic_dependencies.edges import (
    DIRECTION,
    DISTANCE,
    LABEL,
    ItemRows,
    lacking_graphs,
    marks_of_pairs,
    pairs_of,
    slices_of,
    with_words_of,
)
from treescore.metrics.shared.examples import GRAPHS
from treescore.metrics.shared.tables import AGREES, members
from treescore.metrics.shared.words import check_same_words

_ROWS = {"labelled": "Edges and tops with the right words and role", "unlabelled": "The same with any role"}
_COUNTS = ("correct", "gold", "system")


def _table() -> ScoreTable:
    scores: list[Score] = []
    exact: list[Score] = []
    for row, doc in _ROWS.items():
        correct, gold, system = (f"{row}.{count}" for count in _COUNTS)
        scores += [
            f1_score(f"{row}_f1", f"{doc}: F1.", correct, gold, system, "no side has edges or tops"),
            ratio_score(f"{row}_precision", f"{doc}: precision.", correct, system, undefined="the output has none"),
            ratio_score(f"{row}_recall", f"{doc}: recall.", correct, gold, undefined="gold has none"),
        ]
        what = "edges, tops and roles" if row == "labelled" else "edges and tops"
        exact.append(ratio_score(f"{row}_exact_match", f"Graphs whose {what} are all right.", f"exact.{row}", "graphs"))
    names = tuple(f"{row}.{count}" for row in _ROWS for count in _COUNTS)
    return ScoreTable((*names, *(f"exact.{row}" for row in _ROWS), "graphs"), (*scores, *exact))


_TABLE = _table()
_OWN = registry.SliceFields(("system", "correct"), ("precision",))


@registry.register
class SemanticDependencies(registry.Metric):
    """Edges (predicate, argument, role), and for each top an edge from the root, as sets (Oepen et al. 2014, 2015).

    P, R and F1 are over the edges of all graphs, exact match over graphs. Nodes are words by their position; both sides
    must have the same words. A graph that the output lacks is an empty one; two empty graphs match.
    """

    name: ClassVar[str] = "semantic_dependencies"
    doc: ClassVar[str] = "Precision, recall and F1 of semantic dependency graphs, labelled and unlabelled (SDP)."
    source: ClassVar[str] = "Oepen et al. 2015, https://aclanthology.org/S15-2153; mtool --score sdp"
    params: ClassVar[Mapping[str, Param]] = {
        "errors": errors_param("Graphs of gold for which the output has no edge", "without effect on precision"),
    }
    reads: ClassVar[tuple[type[Any], ...]] = (SemanticTreebank,)
    examples: ClassVar[tuple[registry.Example, ...]] = (registry.Example("sdp", GRAPHS),)
    headline: ClassVar[Mapping[str, str]] = {
        "labelled_f1": "LF", "labelled_precision": "LP", "labelled_recall": "LR", "labelled_exact_match": "LM",
        "unlabelled_f1": "UF",
    }  # fmt: skip
    error_filters: ClassVar[Mapping[str, registry.ErrorValues]] = {"label": members("gold_label", "system_label")}
    disclosure: ClassVar[registry.Disclosure] = registry.Disclosure(
        fields={
            "edges": registry.Fields(
                {name: name for name in ("argument", "argument_form", "predicate", "predicate_form", "system_label")},
                required="system_label",
            )
        },
        scores=("labelled_precision",),
        slices=dict.fromkeys((LABEL, DIRECTION, DISTANCE), _OWN),
    )

    @property
    def table(self) -> ScoreTable:
        """Return labelled scores, unlabelled ones, then exact match."""
        return _TABLE

    def evaluate(
        self, gold: SemanticTreebank, system: SemanticTreebank, items: registry.ItemInfo, limits: Limits
    ) -> registry.Outcome:
        """Compare the edges of each graph.

        Raises:
            InputError: `word-count-mismatch` or `word-mismatch`.
        """
        del items
        lacking = lacking_graphs(gold, system)
        system = with_words_of(gold, system, lacking)
        check_same_words(gold, system, limits.max_problems)
        pairs = pairs_of(gold, system)
        owners = owners_of(gold.word_offsets)
        of_gold, of_system = owners[pairs.gold.arguments], owners[pairs.system.arguments]
        size = len(gold)
        golds, systems = sums_by(of_gold, size), sums_by(of_system, size)
        unanswered = np.asarray((systems == 0) & (golds > 0), np.bool_)
        status = registry.all_ok(size)
        status[lacking] = registry.ERROR
        charged = self.values["errors"] == ZERO
        if charged:
            status[unanswered & (status == registry.OK)] = registry.SKIP
        counted = np.where(unanswered, golds, systems) if charged else systems
        columns: list[IntArray] = []
        exact: list[IntArray] = []
        for right in (pairs.right, pairs.found):
            correct = sums_by(of_gold[right], size)
            same = (correct == golds) & (golds == systems) & ~(lacking & charged)
            columns += [correct, golds, counted]
            exact.append(same.astype(np.int64))
        problems = {index: system.sentences.unreadable[index] for index in np.flatnonzero(lacking).tolist()}
        return registry.Outcome(
            rows=np.stack([*columns, *exact, np.ones(size, np.int64)], axis=1),
            status=status,
            unanswered=unanswered,
            problems=problems,
            tokens={"labelled_recall": registry.TokenBits(pairs.right, offsets_of(golds))},
            warnings=list(problems.values())[: limits.max_problems],
            details=ItemRows(gold, pairs),
            sizes=golds + systems,
            slices=lambda: slices_of(gold, pairs),
            marks=lambda: marks_of_pairs(pairs),
        )

    def errors_of(self, item: Mapping[str, Json], gold: SemanticTreebank) -> Iterator[dict[str, Json]]:
        """Return the edges that the output lacks, those that gold lacks, and those with another role."""
        del gold
        for row in item["edges"]:
            missed, extra = row["system_label"] is None, row["gold_label"] is None
            yield {"kind": "missed" if missed else "extra" if extra else "role", **row}

    def beside_gold(self, item: Mapping[str, Json], gold: SemanticTreebank) -> Iterator[dict[str, Json]]:
        """Return the edges of both sides in the order of their arguments."""
        wrong = {(row["argument"], row["predicate"]): row for row in self.errors_of(item, gold)}
        first, last = gold.word_offsets[item["item"] - 1 : item["item"] + 1].tolist()
        strings, forms = gold.vocabulary.strings, gold.forms[first:last].tolist()
        edges = edges_of(gold, (first, last))
        places = (column.tolist() for column in places_in_sentences(edges, gold.word_offsets))
        rows = []
        for predicate, argument, label in zip(*places, edges.labels.tolist(), strict=True):
            if (argument, predicate) in wrong:
                continue
            above = strings[forms[predicate - 1]] if predicate else None
            words = {"argument": argument, "argument_form": strings[forms[argument - 1]]}
            words |= {"predicate": predicate, "predicate_form": above}
            rows.append({**words, "gold_label": strings[label], "system_label": AGREES, "error": ""})
        for row in wrong.values():
            kind = row.pop("kind")
            rows.append({**row, "error": kind})
        return iter(sorted(rows, key=lambda row: (row["argument"], row["predicate"])))
