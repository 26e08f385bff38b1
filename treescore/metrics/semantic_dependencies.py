"""Score semantic dependency graphs edge by edge, as the SDP tasks do: precision and recall of edges and tops.

The edges of both sides are paired by the words that they join. Items have the edges of sentences that are not the same
on both sides, slices the scores of groups of edges; marks say which edges are wrong and which graphs an output lacks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from treescore.core import columns, registry
from treescore.core.arrays import BoolArray, IntArray, largest_first, offsets_of, owners_of, sums_by
from treescore.core.params import Json, Param
from treescore.core.scores import ZERO, Score, ScoreTable, errors_param, matched_scores, ratio_score
from treescore.core.structure import ROOT, TOP, Edges, edges_of, places_in_sentences
from treescore.core.text import Limits
from treescore.core.trees import SemanticTreebank
from treescore.metrics.shared import words
from treescore.metrics.shared.examples import GRAPHS

ALONE = -1
"""Partner of an edge whose words the other side does not join."""


class Pairs(NamedTuple):
    """The edges of both sides over the same w words, each joined with the one between the same two words.

    Attributes:
        gold, system: the edges.
        partners: the output's edge for each of gold's, ALONE where it has none, int64 (g,).
        extra: which of the output's edges gold does not have, under any label, bool (s,).
    """

    gold: Edges
    system: Edges
    partners: IntArray
    extra: BoolArray

    @property
    def found(self) -> BoolArray:
        """Which of gold's edges the output has, under any label, bool (g,)."""
        return np.asarray(self.partners != ALONE, np.bool_)

    @property
    def right(self) -> BoolArray:
        """Which of gold's edges the output has with the same label, bool (g,)."""
        found = self.found
        found[found] = self.gold.labels[found] == self.system.labels[self.partners[found]]
        return found


def pairs_of(gold: SemanticTreebank, system: SemanticTreebank) -> Pairs:
    """Pair the edges of two treebanks of the same words."""
    sides = edges_of(gold), edges_of(system)
    keys, others = (side.arguments * (len(gold.forms) + 1) + side.predicates - ROOT for side in sides)
    _, golds, systems = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    partners = np.full(len(keys), ALONE)
    partners[golds] = systems
    extra = np.ones(len(others), np.bool_)
    extra[systems] = False
    return Pairs(*sides, partners, extra)


class ItemRows:
    """Makes the member `edges` of the items of a range of sentences.

    Each edge has `argument`, `argument_form`, `predicate` (0 for a top), `predicate_form` (null for a top),
    `gold_label` and `system_label`: null where a side does not join the two words.
    """

    def __init__(self, gold: SemanticTreebank, pairs: Pairs) -> None:
        self._gold = gold
        self._pairs = pairs

    @cached_property
    def _rows(self) -> IntArray:
        """What differs, in the order of the text: argument, predicate, gold's edge and the output's, or ALONE."""
        gold, system, partners = self._pairs.gold, self._pairs.system, self._pairs.partners
        wrong, others = np.flatnonzero(~self._pairs.right), np.flatnonzero(self._pairs.extra)
        golds = gold.arguments[wrong], gold.predicates[wrong], wrong, partners[wrong]
        systems = system.arguments[others], system.predicates[others], np.full(len(others), ALONE), others
        rows = np.concatenate([np.stack(golds), np.stack(systems)], axis=1)
        return rows[:, np.lexsort((rows[1], rows[0]))]

    def __call__(self, start: int, stop: int) -> columns.Records:
        """Return the member of the items of sentences `start` to `stop`."""
        bounds = self._gold.word_offsets[start : stop + 1]
        first, last = np.searchsorted(self._rows[0], bounds[[0, -1]]).tolist()
        arguments, predicates, golds, systems = self._rows[:, first:last]
        strings = self._gold.vocabulary
        known = predicates != ROOT
        heads = predicates[known]
        positions = np.zeros(len(predicates), np.int64)
        positions[known] = columns.places_of(heads, self._gold)[1].values
        members: dict[str, columns.Column] = {
            "argument": columns.places_of(arguments, self._gold)[1],
            "argument_form": columns.strings_of(self._gold.forms[arguments], strings),
            "predicate": columns.Numbers(positions),
            "predicate_form": columns.nullable(known, columns.strings_of(self._gold.forms[heads], strings)),
            "gold_label": self._labels(self._pairs.gold, golds),
            "system_label": self._labels(self._pairs.system, systems),
        }
        return columns.Records({"edges": columns.listed(arguments, bounds, columns.Records(members))})

    def _labels(self, side: Edges, chosen: IntArray) -> columns.Column:
        known = np.asarray(chosen != ALONE, np.bool_)
        return columns.nullable(known, columns.strings_of(side.labels[chosen[known]], self._gold.vocabulary))


def with_words_of(gold: SemanticTreebank, system: SemanticTreebank) -> SemanticTreebank:
    """Return the output with gold's words, without edges, for the graphs in whose place it has no words."""
    filled, absent, present = words.complete(gold, system)
    if not absent.any():
        return system
    places = np.flatnonzero(present)
    return replace(
        filled,
        tops=np.isin(np.arange(len(present)), places[system.tops]),
        predicates=np.isin(np.arange(len(present)), places[system.predicates]),
        edge_predicates=places[system.edge_predicates],
        edge_arguments=places[system.edge_arguments],
    )


def graph_marks(gold: SemanticTreebank, system: SemanticTreebank) -> registry.Marks | None:
    """Return the marks of two treebanks as they were read; None where their graphs or words differ."""
    names = [list(each.sentences.sent_ids) for each in (gold, system)]
    if len(gold) != len(system) or (all(names) and names[0] != names[1]):
        return None
    filled = with_words_of(gold, system)
    same = np.array_equal(gold.word_offsets, filled.word_offsets) and np.array_equal(gold.forms, filled.forms)
    return marks_of_pairs(pairs_of(gold, filled)) if same else None


def marks_of_pairs(pairs: Pairs) -> registry.Marks:
    """Return the marks of edges and tops; one that the other side has with another role is wrong by its label only."""
    found, right = pairs.found, pairs.right
    golds = np.where(found, int(registry.MarkState.LABEL), int(registry.MarkState.LINK))
    golds[right] = registry.MarkState.RIGHT
    systems = np.where(pairs.extra, int(registry.MarkState.LINK), int(registry.MarkState.RIGHT))
    systems[pairs.partners[found]] = golds[found]
    return registry.Marks(system=systems, gold=golds)


LABEL, DIRECTION, DISTANCE, POS = "label", "direction", "distance", "argument_pos"
MAX_ROWS = 2_000
"""The most rows of one grouping; the rarest beyond them are summed in a last row whose value is null."""
_DIRECTIONS = ("left", "right", "self", TOP)
_DISTANCES = ("0", "1", "2", "3-6", "7-...", TOP)
_COUNTS = ("correct", "gold", "system")
_NONE_OF_ONE = ("the output has none", "gold has none")
_SLICES_TABLE = ScoreTable(
    _COUNTS,
    tuple(
        matched_scores(
            "",
            ("Labelled F1 of these edges.", "Their precision.", "Their recall."),
            _COUNTS,
            ("no side has such edges", *_NONE_OF_ONE),
            one_sided=(False, False),
        )
    ),
)


def slices_of(gold: SemanticTreebank, pairs: Pairs) -> dict[str, columns.Documents]:
    """Return the rows by label, direction and distance of the argument from its predicate, and its part of speech.

    The part of speech is gold's. Tops are a value of their own, but in `argument_pos`.
    """
    groupings: dict[str, tuple[Callable[[Edges], IntArray], Sequence[str]]] = {
        LABEL: (lambda side: side.labels, gold.vocabulary.strings),
        DIRECTION: (_direction, _DIRECTIONS),
        DISTANCE: (_distance, _DISTANCES),
        POS: (lambda side: gold.tags[side.arguments], gold.vocabulary.strings),
    }
    values, tables = {}, []
    for name, (group_of, names) in groupings.items():
        golds, systems = group_of(pairs.gold), group_of(pairs.system)
        size = int(max(golds.max(initial=-1), systems.max(initial=-1))) + 1
        counts = np.stack([sums_by(golds[pairs.right], size), sums_by(golds, size), sums_by(systems, size)], axis=1)
        order = largest_first(counts[:, 1] + counts[:, 2])
        shown, rest = order[:MAX_ROWS], order[MAX_ROWS:]
        known = np.arange(len(shown) + bool(len(rest))) < len(shown)
        values[name] = columns.nullable(known, columns.Strings(shown, names))
        tables.append(
            np.concatenate([counts[shown], *([counts[rest].sum(axis=0, keepdims=True)] if len(rest) else [])])
        )
    return columns.stacked_rows(values, *columns.counts_and_scores(_SLICES_TABLE, np.concatenate(tables)))


def _direction(edges: Edges) -> IntArray:
    """Return on which side of its predicate each argument stands, by its place in _DIRECTIONS."""
    return np.where(edges.predicates == ROOT, 3, np.array([2, 1, 0])[np.sign(edges.arguments - edges.predicates)])


def _distance(edges: Edges) -> IntArray:
    """Return how many words lie between each argument and its predicate, and 1 more, by its place in _DISTANCES."""
    places = np.searchsorted([1, 2, 3, 7], np.abs(edges.arguments - edges.predicates), "right")
    return np.where(edges.predicates == ROOT, 5, places)


_ROWS = {"labelled": "Edges and tops with the right words and role", "unlabelled": "The same with any role"}


def _table() -> ScoreTable:
    scores: list[Score] = []
    exact: list[Score] = []
    for row, doc in _ROWS.items():
        docs = (f"{doc}: F1.", f"{doc}: precision.", f"{doc}: recall.")
        counts = [f"{row}.{count}" for count in _COUNTS]
        undefined = ("no side has edges or tops", *_NONE_OF_ONE)
        scores += matched_scores(f"{row}_", docs, counts, undefined, one_sided=(True, row == "unlabelled"))
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
        "errors": errors_param("Graphs of gold for which the output has no edge", "without effect on precision")
    }
    table = _TABLE
    reads: ClassVar[tuple[type[Any], ...]] = (SemanticTreebank,)
    examples: ClassVar[tuple[registry.Example, ...]] = (registry.Example("sdp", GRAPHS),)
    headline: ClassVar[Mapping[str, str]] = {
        "labelled_f1": "LF", "labelled_precision": "LP", "labelled_recall": "LR", "labelled_exact_match": "LM",
        "unlabelled_f1": "UF",
    }  # fmt: skip
    error_filters: ClassVar[Mapping[str, registry.ErrorValues]] = {"label": words.members("gold_label", "system_label")}
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

    def evaluate(
        self, gold: SemanticTreebank, system: SemanticTreebank, items: registry.ItemInfo, limits: Limits
    ) -> registry.Outcome:
        """Compare the edges of each graph.

        Raises:
            InputError: `word-count-mismatch` or `word-mismatch`.
        """
        del items
        lacking = words.left_empty(gold, system)
        system = with_words_of(gold, system)
        words.check_same_words(gold, system, limits.max_problems)
        pairs = pairs_of(gold, system)
        owners, size = owners_of(gold.word_offsets), len(gold)
        of_gold = owners[pairs.gold.arguments]
        golds, systems = sums_by(of_gold, size), sums_by(owners[pairs.system.arguments], size)
        unanswered = np.asarray((systems == 0) & (golds > 0), np.bool_)
        status = registry.all_ok(size)
        status[lacking] = registry.ERROR
        charged = self.values["errors"] == ZERO
        if charged:
            status[unanswered & (status == registry.OK)] = registry.SKIP
        counted = np.where(unanswered, golds, systems) if charged else systems
        correct = [sums_by(of_gold[right], size) for right in (pairs.right, pairs.found)]
        exact = [(each == golds) & (golds == systems) & ~(lacking & charged) for each in correct]
        counts = [column for each in correct for column in (each, golds, counted)]
        problems = {index: system.sentences.unreadable[index] for index in np.flatnonzero(lacking).tolist()}
        return registry.Outcome(
            rows=np.stack([*counts, *exact, np.ones(size, np.int64)], axis=1),
            status=status,
            unanswered=unanswered,
            problems=problems,
            tokens={"labelled_recall": registry.TokenBits(pairs.right, offsets_of(golds))},
            warnings=list(problems.values())[: limits.max_problems],
            details=ItemRows(gold, pairs),
            slices=lambda: slices_of(gold, pairs),
            marks=lambda: marks_of_pairs(pairs),
        )

    def errors_of(self, item: Mapping[str, Json], gold: SemanticTreebank) -> Iterator[dict[str, Json]]:  # noqa: ARG002 - other metrics need it
        """Return the edges that the output lacks, those that gold lacks, and those with another role."""
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
        for predicate, argument, label in zip(*places, edges.labels.tolist(), strict=True):
            row = {"argument": argument, "argument_form": strings[forms[argument - 1]], "predicate": predicate}
            row |= {"predicate_form": strings[forms[predicate - 1]] if predicate else None}
            row |= {"gold_label": strings[label], "system_label": words.AGREES, "kind": ""}
            wrong.setdefault((argument, predicate), row)
        rows = [{**row, "error": row["kind"]} for row in wrong.values()]
        for row in rows:
            del row["kind"]
        return iter(sorted(rows, key=lambda row: (row["argument"], row["predicate"])))
