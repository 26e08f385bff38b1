"""Score enhanced dependencies edge by edge: ELAS and EULAS (Bouma et al. 2020).

Kinds of enhancement that are not scored are left out as the switches of the IWPT 2020 script leave them out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar

import numpy as np

from treescore.core import registry, structure
from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of, sums_by
from treescore.core.columns import Column, Lists, Records, listed, nullable, places_of, strings_of
from treescore.core.params import Json, Param
from treescore.core.scores import ZERO, Score, ScoreTable, errors_param, matched_scores
from treescore.core.text import DEFAULT_LIMITS, Limits
from treescore.core.trees import DependencyTreebank
from treescore.errors import Problem
from treescore.metrics.enhanced.edges import KINDS, NOWHERE, ROOT, Edges, edges_of
from treescore.metrics.shared import words
from treescore.metrics.shared.examples import conllu
from treescore.metrics.shared.segmentation import UNALIGNED, Alignment, aligned_fields, alignment_of

_COUNTS = ("correct", "gold", "system")
_UNDEFINED = ("no side has enhanced edges", "the output has none", "gold has none")
_ROWS = (
    ("elas", "Enhanced edges with the right head and relation"),
    ("eulas", "The same without subtypes of relations"),
)


def _table(high: float | None) -> ScoreTable:
    counts = _COUNTS if high is not None else (*_COUNTS, "aligned")
    names = tuple(f"{row}.{count}" for row, _ in _ROWS for count in counts)
    scores: list[Score] = []
    for row, doc in _ROWS:
        docs = (f"{doc}: F1.", f"{doc}: precision.", f"{doc}: recall.")
        parts = [f"{row}.{count}" for count in _COUNTS]
        scores += matched_scores(f"{row}_", docs, parts, _UNDEFINED, high=high, one_sided=(True, True))
    return ScoreTable(names, tuple(scores))


_TABLE, _UNBOUNDED_TABLE = _table(1.0), _table(None)


def _relations(row: Mapping[str, Json]) -> Iterator[str]:
    """Return the relations of the edges of both sides."""
    for side in ("gold_deps", "system_deps"):
        for edge in (row.get(side) or "").split("|"):
            _, _, relation = edge.partition(":")
            if relation:
                yield relation


@registry.register
class Enhanced(registry.Metric):
    """Enhanced edges of aligned words, as the IWPT 2020 shared task compares them.

    An edge is right where gold has the same relation (a path of relations where empty nodes are collapsed) from the
    aligned head. An edge that a word has twice is one, as after the treebank tools' collapsing. Edges that are equal
    only without their subtypes are matched one to one; the original program counts every pair of them
    (`cross-product`), so that EULAS can exceed 1. Words are
    aligned and counts assigned to gold's sentences as in `ud`; basic heads are ignored. After Bouma et al. 2020.
    """

    name: ClassVar[str] = "enhanced"
    doc: ClassVar[str] = "ELAS and EULAS: precision, recall and F1 of enhanced dependencies (DEPS)."
    source: ClassVar[str] = "Bouma, Seddah & Zeman 2020, https://aclanthology.org/2020.iwpt-1.16"
    params: ClassVar[dict[str, Param]] = {
        "counting": Param(
            {"enum": ["multiset", "cross-product"]},
            "multiset",
            "multiset: a gold edge matches one edge of the output. cross-product: as in the original program, every "
            "pair of edges that are equal without their subtypes counts, and scores may exceed 1.",
        ),
        "empty_nodes": Param(
            {"enum": ["collapse", "skip"]},
            "collapse",
            "collapse: edges from empty nodes become paths from words, relations joined by >. skip: they are left out.",
        ),
        "leave_out": Param(
            {"type": "array", "items": {"enum": list(KINDS)}, "uniqueItems": True},
            [],
            "Kinds of enhancement that are not scored, on both sides, after collapsing, in the order and with the "
            "peculiarities of the IWPT 2020 script: the edges of gapping become basic edges, and so on.",
        ),
        "errors": errors_param("Sentences of gold in which the output has no edge", "without effect on precision"),
    }
    reads: ClassVar[tuple[type[Any], ...]] = (DependencyTreebank,)
    examples: ClassVar[tuple[registry.Example, ...]] = (
        registry.Example(
            "conllu",
            (
                (conllu("1 a X 0 root 0:root", "2 b X 1 obj 1:obj|1:conj:et"),) * 2,
                (conllu("1 a X 0 root 0:root"),) * 2,
                (
                    conllu("1 a X 0 root 0:root", "1.1 _ _ _ _ 1:conj", "2 b X 1 obj 1.1:obj"),
                    conllu("1 a X 0 root 0:root", "2 b X 1 obj 1:obj"),
                ),
            ),
        ),
    )
    headline: ClassVar[Mapping[str, str]] = {"elas_f1": "ELAS", "eulas_f1": "EULAS"}
    error_filters: ClassVar[Mapping[str, registry.ErrorValues]] = {"deprel": _relations, "upos": words.UPOS}
    styles: ClassVar[tuple[str, ...]] = ("iwpt20",)
    disclosure: ClassVar[registry.Disclosure] = registry.Disclosure(
        fields={"words": aligned_fields("deps")}, output_sentences=True
    )
    own_segmentation: ClassVar[bool] = True
    compares_edges: ClassVar[bool] = True

    @property
    def table(self) -> ScoreTable:
        """Return F1, precision and recall of both rows."""
        return _TABLE if self.values["counting"] == "multiset" else _UNBOUNDED_TABLE

    def check_gold(self, gold: DependencyTreebank, items: registry.ItemInfo, limits: Limits) -> None:  # noqa: ARG002 - other metrics need it
        """Check that gold has DEPS that can be read. Raises InputError."""
        words.check_columns(gold, "DEPS", self.name)
        self._edges(gold, limits)

    def evaluate(
        self, gold: DependencyTreebank, system: DependencyTreebank, items: registry.ItemInfo, limits: Limits
    ) -> registry.Outcome:
        """Align the words and compare their edges.

        Raises:
            InputError: the texts differ, or DEPS is missing, or cannot be read and the format was not asked to go on.
            LimitError: too many paths through empty nodes.
        """
        del items
        words.check_columns(system, "DEPS", self.name)
        as_read = system
        system = words.with_words_of_gold(gold, system)
        lenient = system.sentences.lenient and len(gold) == len(system)
        edges = self._edges(gold, limits), _of_readable(system, self._edges(system, limits, lenient=lenient))
        alignment = alignment_of(gold, system)
        product = self.values["counting"] == "cross-product"
        gold_owners = owners_of(gold.word_offsets)
        golds = sums_by(gold_owners[edges[0].words], len(gold))
        systems = sums_by(alignment.owners[edges[1].words], len(gold))
        unanswered = np.asarray((systems == 0) & (golds > 0), np.bool_)
        status = registry.all_ok(len(gold))
        problems: dict[int, Problem] = {}
        if len(gold) == len(system):
            problems = dict(sorted({**edges[1].unreadable, **system.sentences.unreadable}.items()))
        status[list(problems)] = registry.ERROR
        if self.values["errors"] == ZERO:
            status[unanswered & (status == registry.OK)] = registry.SKIP
            systems = np.where(unanswered, golds, systems)
        columns: list[IntArray] = []
        right = {}
        for name, labels in (("elas", "labels"), ("eulas", "plain_labels")):
            right[name] = _right_edges(alignment, edges, labels, product=product)
            columns += [np.bincount(gold_owners, right[name], len(gold)).astype(np.int64), golds, systems]
            if product:
                columns.append(sums_by(gold_owners[alignment.gold_words], len(gold)))

        @cache
        def wrong() -> BoolArray:
            return _wrong(alignment, edges, right["elas"])

        return registry.Outcome(
            rows=np.stack(columns, axis=1),
            status=status,
            unanswered=unanswered,
            problems=problems,
            warnings=list(problems.values())[: limits.max_problems],
            details=lambda start, stop: Records({"words": _wrong_words(alignment, wrong(), start, stop)}),
            marks=lambda: _marks(alignment, edges, as_read),
        )

    def edges_in(self, treebank: DependencyTreebank) -> structure.Edges:
        """Return the edges as they are compared; the predicate is below ROOT where it is neither a word nor the root.

        Raises:
            LimitError: too many paths through empty nodes.
        """
        edges = _of_readable(treebank, self._edges(treebank, DEFAULT_LIMITS, lenient=True))
        return structure.Edges(edges.heads, edges.words, edges.labels)

    def errors_of(self, item: Mapping[str, Json], gold: DependencyTreebank) -> Iterator[dict[str, Json]]:
        """Return gold's words that are not aligned, or have an edge that the other side lacks."""
        named = [row for _, row in words.named_words(gold, item["item"])]
        for row in item["words"]:
            yield {"kind": ("not aligned" if row["system_word"] is None else "edges"), **named[row["word"] - 1], **row}

    def beside_gold(self, item: Mapping[str, Json], gold: DependencyTreebank) -> Iterator[dict[str, Json]]:
        """Return gold's words of the sentence with the edges of both sides."""
        wrong = {row["word"]: row for row in self.errors_of(item, gold)}
        for at, named in words.named_words(gold, item["item"]):
            error = wrong.get(named["word"], {"system_deps": words.AGREES, "kind": ""})
            edges = {"gold_deps": gold.vocabulary.strings[gold.deps[at]], "system_deps": error["system_deps"]}
            yield {**named, **edges, "error": error["kind"]}

    def report(self, style: str, outcome: registry.Outcome) -> str:
        """Print the rows ELAS and EULAS of the IWPT 2020 script's table.

        Their last column, right edges for each aligned word, is there where repeated edges count as in the script.
        """
        if style != "iwpt20":
            return super().report(style, outcome)
        counts = dict(zip(self.table.count_names, outcome.totals.tolist(), strict=True))
        return words.conll18_table({row: row.upper() for row, _ in _ROWS}, counts)

    def _edges(self, treebank: DependencyTreebank, limits: Limits, *, lenient: bool = False) -> Edges:
        collapse = self.values["empty_nodes"] == "collapse"
        leave_out = self.values["leave_out"]
        return edges_of(treebank, limits.max_problems, collapse=collapse, leave_out=leave_out, lenient=lenient)


def _of_readable(treebank: DependencyTreebank, edges: Edges) -> Edges:
    """Return the edges of the sentences that could be read."""
    return edges.kept(words.words_to_score(treebank)[edges.words])


def _right_edges(alignment: Alignment, edges: tuple[Edges, Edges], labels: str, *, product: bool) -> IntArray:
    """Count the right edges of each gold word: int64 (gold words,)."""
    gold, system = edges
    words = len(alignment.system_of)
    dependents_in_gold = alignment.gold_of[system.words]
    heads = np.where(system.heads == ROOT, ROOT, alignment.gold_of[np.maximum(system.heads, 0)])
    aligned = (dependents_in_gold != UNALIGNED) & (heads != UNALIGNED) & (system.heads != NOWHERE)
    somewhere = gold.heads != NOWHERE
    distinct, label_index = np.unique(
        np.concatenate([getattr(gold, labels)[somewhere], getattr(system, labels)[aligned]]), return_inverse=True
    )
    golds = gold.words[somewhere]
    dependents = np.concatenate([golds, dependents_in_gold[aligned]])
    arcs = dependents * (words + 1) + np.concatenate([gold.heads[somewhere], heads[aligned]]) + 1
    _, arcs = np.unique(arcs, return_inverse=True)
    _, first, same = np.unique(arcs * len(distinct) + label_index, return_index=True, return_inverse=True)
    in_gold = np.bincount(same[: len(golds)], minlength=len(first))
    in_system = np.bincount(same[len(golds) :], minlength=len(first))
    matched = in_gold * in_system if product else np.minimum(in_gold, in_system)
    return np.bincount(dependents[first], matched, words).astype(np.int64)


def _marks(alignment: Alignment, edges: tuple[Edges, Edges], as_read: DependencyTreebank) -> registry.Marks:
    """Return the marks of edges, and the partners of the output's words as it was read.

    The edges of a word without a partner stand alone.
    """
    gold, system = edges
    heads = np.where(system.heads < 0, system.heads, alignment.gold_of[np.maximum(system.heads, 0)])
    ends = (gold.words, gold.heads), (alignment.gold_of[system.words], heads)
    known = [np.asarray(each != UNALIGNED, np.bool_) for each in (alignment.system_of[gold.words], ends[1][0])]
    states = [np.where(each, int(registry.MarkState.LINK), int(registry.MarkState.ALONE)) for each in known]
    left = [np.flatnonzero(each & (above >= ROOT)) for each, (_, above) in zip(known, ends, strict=True)]
    sides = [(words, above - ROOT, side.labels) for (words, above), side in zip(ends, edges, strict=True)]
    registry.paired_states(sides, left, states)
    own = np.repeat(np.diff(as_read.word_offsets) > 0, np.diff(alignment.system.treebank.word_offsets))
    return registry.Marks(
        system=states[1],
        gold=states[0],
        partners=np.maximum(alignment.gold_of[own], registry.NO_PARTNER),
        firsts=offsets_of(sums_by(alignment.owners[own], len(alignment.gold.treebank))),
    )


def _wrong_words(alignment: Alignment, wrong: BoolArray, start: int, stop: int) -> Lists:
    """Return the words with wrong edges of each of gold's sentences from `start` to `stop`."""
    gold, system = alignment.gold.treebank, alignment.system.treebank
    offsets = gold.word_offsets[start : stop + 1]
    words = np.flatnonzero(wrong[offsets[0] : offsets[-1]]) + offsets[0]
    partners = alignment.system_of[words]
    known = partners != UNALIGNED
    sentence, word = places_of(partners[known], system)
    members: dict[str, Column] = {
        "word": places_of(words, gold)[1],
        "system_sentence": nullable(known, sentence),
        "system_word": nullable(known, word),
        "gold_deps": strings_of(gold.deps[words], gold.vocabulary),
        "system_deps": nullable(known, strings_of(system.deps[partners[known]], system.vocabulary)),
    }
    return listed(words, offsets, Records(members))


def _wrong(alignment: Alignment, edges: tuple[Edges, Edges], right: IntArray) -> BoolArray:
    """Return gold's words that are not aligned or have an edge that the other side lacks, bool (gold words,)."""
    golds, systems = (
        sums_by(side.words, len(treebank.forms))
        for side, treebank in zip(edges, (alignment.gold.treebank, alignment.system.treebank), strict=True)
    )
    aligned = alignment.system_of != UNALIGNED
    found = np.where(aligned, systems[alignment.system_of], 0)
    return np.asarray(~aligned | (golds != right) | (right != found), np.bool_)
