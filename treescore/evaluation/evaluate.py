"""Evaluation of texts: joins a format, transforms and metrics.

An output's sentences are put into the order of gold where both name them. Which faults of its text the metrics of a
request accept decides how it is read. Slices that every metric has go by sentence attribute, block and sentence length,
from the counts of its sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from treescore.core import arrays, params, registry, scores, structure, text, trees, wording
from treescore.core.columns import Column, Documents, Numbers, column_of, counts_and_scores, ranges_of, stacked_rows
from treescore.core.discontinuity import ROOT
from treescore.errors import InputError, Problem, placed
from treescore.evaluation.spec import Entry, FormatChoice, Spec, Step, check_fit
from treescore.metrics.shared.words import first_unreadable, marks_of_all, without_unreadable


def seen_by(metric: registry.Metric, system: Any) -> Any:
    """Return an output as a metric sees it: sentences with wrong heads alone are empty unless it scores these."""
    if metric.scores_wrong_heads or not isinstance(system, trees.DependencyTreebank) or not system.sentences.unreadable:
        return system
    return without_unreadable(system)


def _check_read(treebank: trees.Treebank, cap: int) -> None:
    """Check that all dependency trees could be read. Raises InputError.

    Those of gold must be, while constituent trees of gold that cannot be read are left out, as by EVALB. Those of an
    output must be where it has not as many sentences as gold: they would spoil an alignment of texts.
    """
    if isinstance(treebank, trees.DependencyTreebank) and treebank.sentences.unreadable:
        raise InputError(first_unreadable(treebank, cap), len(treebank.sentences.unreadable))


def as_read(outcome: registry.Outcome, seen: Any, system: Any) -> registry.Outcome:
    """Return the outcome of an output that a metric has `seen` with marks of the whole output."""
    return outcome if seen is system else replace(outcome, marks=lambda: marks_of_all(outcome.marks(), system))


def lost_sentences(system: trees.Treebank) -> str:
    """Say which sentences could not be read, for a message about the number of sentences; empty if all could be."""
    unreadable = system.sentences.unreadable
    if not isinstance(system, trees.DependencyTreebank) or not unreadable:
        return ""
    first = unreadable[min(unreadable)]
    at = "" if first.line is None else f", the first in line {first.line}"
    return f" {wording.counted(len(unreadable), 'sentence')} could not be read{at}: {first.detail}"


NAMED = (trees.DiscontinuousTreebank, trees.SemanticTreebank)
"""Treebanks whose sentences are matched by their names."""
_SEND_ALL = "Sentences are matched by their names. Send all; where the parser failed, send the words under the root."
_EMPTY_GRAPH = "Graphs are matched by their ids. One that is lacking counts as empty. Send all."


def in_order_of_gold(gold: trees.Treebank, system: trees.Treebank, *, fill: bool) -> trees.Treebank:
    """Return the output with gold's sentences in gold's order, by their names; unchanged where a side has none.

    Only treebanks whose formats give names to match sentences by (`NAMED`) are put in order.

    Args:
        gold: the gold treebank.
        system: an output.
        fill: whether a sentence that the output lacks is one that cannot be read; else it is an error. A graph that it
            lacks always is one.

    Raises:
        InputError: `sentence-not-in-gold`, `sentence-missing`.
    """
    if not isinstance(gold, NAMED) or not isinstance(system, type(gold)):
        return system
    names, others = gold.sentences.sent_ids, system.sentences.sent_ids
    if not (names and others) or None in names or None in others or list(names) == list(others):
        return system
    known = set(names)
    unknown = [index for index, name in enumerate(others) if name not in known]
    if unknown:
        raise InputError(_not_in_gold(system, unknown))
    place = {name: index for index, name in enumerate(others)}
    rows = np.array([place.get(name, structure.NONE) for name in names], np.int64)
    missing = np.flatnonzero(rows == structure.NONE).tolist()
    advice = _EMPTY_GRAPH if isinstance(system, trees.SemanticTreebank) else _SEND_ALL
    problems = {index: _missing(index, names[index], len(missing), advice) for index in missing}
    if problems and not fill and not isinstance(system, trees.SemanticTreebank):
        raise InputError(problems[missing[0]])
    sentences = trees.Sentences(
        sent_ids=names,
        unreadable={
            **problems,
            **{index: system.sentences.unreadable[row] for index, row in enumerate(rows.tolist())
               if row in system.sentences.unreadable},
        },
        warnings=system.sentences.warnings,
        advice=system.sentences.advice,
    )  # fmt: skip
    if isinstance(system, trees.SemanticTreebank):
        return _graphs_taken(system, rows, sentences)
    return _taken(system, rows, sentences)


def _taken(
    treebank: trees.DiscontinuousTreebank, rows: arrays.IntArray, sentences: trees.Sentences
) -> trees.DiscontinuousTreebank:
    """Return some sentences in another order; row NONE is a sentence without words."""
    missing = rows == structure.NONE
    node_lengths, word_lengths = (np.diff(offsets) for offsets in (treebank.node_offsets, treebank.word_offsets))
    nodes, node_offsets = ranges_of(treebank.node_offsets[rows], np.where(missing, 1, node_lengths[rows]))
    words, word_offsets = ranges_of(treebank.word_offsets[rows], np.where(missing, 0, word_lengths[rows]))
    shifts = node_offsets[:-1] - treebank.node_offsets[rows]
    roots = node_offsets[:-1][missing]
    nodes[roots] = 0
    parents = treebank.parents[nodes]
    parents = np.where(parents == structure.NONE, structure.NONE, parents + np.repeat(shifts, np.diff(node_offsets)))
    labels, functions = treebank.labels[nodes], treebank.functions[nodes]
    parents[roots], labels[roots], functions[roots] = structure.NONE, treebank.vocabulary.number(ROOT), 0
    return replace(
        treebank,
        labels=labels,
        functions=functions,
        parents=parents,
        node_offsets=node_offsets,
        **{name: getattr(treebank, name)[words] for name in ("words", "tags", "word_functions", "lemmas", "morphs")},
        anchors=treebank.anchors[words] + np.repeat(shifts, np.diff(word_offsets)),
        word_offsets=word_offsets,
        lines=np.where(missing, 0, treebank.lines[rows]),
        sentences=sentences,
    )


def _graphs_taken(
    treebank: trees.SemanticTreebank, rows: arrays.IntArray, sentences: trees.Sentences
) -> trees.SemanticTreebank:
    """Return some graphs in another order; row NONE is a sentence without words."""
    lengths = np.where(rows == structure.NONE, 0, np.diff(treebank.word_offsets)[rows])
    words, word_offsets = ranges_of(treebank.word_offsets[rows], lengths)
    place = np.full(len(treebank.forms), structure.NONE)
    place[words] = np.arange(len(words))
    kept = np.flatnonzero(place[treebank.edge_arguments] != structure.NONE)
    kept = kept[np.argsort(place[treebank.edge_arguments[kept]], kind="stable")]
    columns = ("forms", "lemmas", "tags", "frames", "tops", "predicates", "lines")
    return replace(
        treebank,
        **{name: getattr(treebank, name)[words] for name in columns},
        edge_predicates=place[treebank.edge_predicates[kept]],
        edge_arguments=place[treebank.edge_arguments[kept]],
        edge_labels=treebank.edge_labels[kept],
        word_offsets=word_offsets,
        sentences=sentences,
    )


def _not_in_gold(system: trees.DiscontinuousTreebank | trees.SemanticTreebank, unknown: list[int]) -> Problem:
    first = unknown[0]
    line = system.lines[first if isinstance(system, trees.DiscontinuousTreebank) else system.word_offsets[first]]
    name = system.sentences.sent_ids[first]
    detail = (
        f"Sentence {name} is not in gold, nor are {len(unknown) - 1} others. " if len(unknown) > 1
        else f"Sentence {name} is not in gold. "
    ) + "Sentences are matched by their names. Send those of gold."  # fmt: skip
    return Problem("sentence-not-in-gold", detail, sent_id=name, line=int(line))


def _missing(index: int, name: str | None, total: int, advice: str) -> Problem:
    found = f"The output lacks {wording.counted(total, 'sentence')} of gold"
    gold_detail = f"{found}, the first is {name}. {advice}"
    return Problem("sentence-missing", f"{found}. {advice}", sentence=index + 1, gold_detail=gold_detail)


MAX_VALUES = 200
"""Limit of values of an attribute in comments; one with more (`text`) names sentences and is not a grouping."""

_BIN = 10


class SentenceGroups(NamedTuple):
    """The sentences of gold by the values of one grouping; those without a value are in no group.

    Attributes:
        values: of each of g groups, in order.
        sentences: numbers from 0, those of one group together, int64.
        sizes: sentences in each group, int64 (g,).
    """

    values: Column
    sentences: arrays.IntArray
    sizes: arrays.IntArray


def sentence_groups(gold: trees.Treebank, items: registry.ItemInfo) -> dict[str, SentenceGroups]:
    """Return all groupings of sentences, by name. They depend on gold alone, which keeps them."""
    return {name: _groups(values) for name, values in _groupings(gold, items).items()}


def with_sentence_slices(
    outcome: registry.Outcome, table: scores.ScoreTable, groupings: Mapping[str, SentenceGroups]
) -> dict[str, Documents]:
    """Return all groupings of an outcome: grouping -> its rows. A metric's own grouping of a name comes first."""
    own = dict(outcome.slices())
    others = {name: groups for name, groups in groupings.items() if name not in own}
    if not others:
        return own
    sizes = np.concatenate([groups.sizes for groups in others.values()])
    sentences = np.concatenate([groups.sentences for groups in others.values()])
    totals = arrays.sums_of_rows(np.repeat(np.arange(len(sizes)), sizes), len(sizes), outcome.rows[sentences])
    values = {name: groups.values for name, groups in others.items()}
    return {**stacked_rows(values, *counts_and_scores(table, totals), sentences=Numbers(sizes)), **own}


def _groupings(gold: trees.Treebank, items: registry.ItemInfo) -> Mapping[str, Sequence[params.Json]]:
    groupings: dict[str, Sequence[params.Json]] = {
        name: values for name, values in gold.sentences.attributes.items() if len(set(values)) <= MAX_VALUES
    }
    groupings |= items.attributes
    if items.blocks is not None:
        groupings["block"] = items.blocks
    lengths = sentence_lengths(gold, items)
    if lengths is not None:
        groupings["sentence_length"] = [_bin(length) for length in lengths.tolist()]
    return groupings


def sentence_lengths(gold: trees.Treebank, items: registry.ItemInfo) -> arrays.IntArray | None:
    """Count the words of each sentence of gold, of its source side if parallel; None where they are unknown."""
    if isinstance(gold, trees.ParallelTreebank):
        return np.diff(gold.source.word_offsets)
    if isinstance(gold, trees.Alignments):
        return None if items.lengths is None else np.array([pair[0] for pair in items.lengths], np.int64)
    return np.diff(gold.word_offsets)


def _bin(length: int) -> str:
    number = (length - 1) // _BIN
    return f"{number * _BIN + 1}-{(number + 1) * _BIN}" if length else "0"


def _groups(values: Sequence[params.Json]) -> SentenceGroups:
    used = sorted({value for value in values if value is not None}, key=_in_order)
    group_of = {value: number for number, value in enumerate(used)}
    groups = np.array([group_of.get(value, len(used)) for value in values], np.int64)
    sizes = np.bincount(groups, minlength=len(used) + 1)[:-1]
    return SentenceGroups(column_of(used), np.argsort(groups, kind="stable")[: sizes.sum()], sizes)


def _in_order(value: str) -> tuple[int, str]:
    """Order ranges of lengths by number, other values by letters."""
    first = value.partition("-")[0]
    return (int(first) if first.isascii() and first.isdigit() and len(first) < len("1000000") else -1, value)


@dataclass(frozen=True, slots=True)
class ReadGold:
    """Gold as an evaluation has read, transformed and checked it.

    Attributes:
        vocabulary: of all treebanks.
        treebanks: gold as it was read, then after each transform, in the order of the metric entries.
    """

    vocabulary: trees.Vocabulary
    treebanks: Sequence[trees.Treebank]


class Evaluation:
    """Reads gold once, and scores systems against it, one after the other.

    `gold` may also be what an evaluation of an equal request has read: it is not read or checked again, and the
    vocabulary in it grows with each system. `kept` holds what was computed of gold and the request's items alone.

    Raises:
        ScoringError: gold cannot be read, or the request's items do not fit it.
    """

    def __init__(
        self,
        spec: Spec,
        gold: registry.Text | ReadGold,
        items: registry.ItemInfo | None = None,
        limits: text.Limits = text.DEFAULT_LIMITS,
        pointer: str = "/gold",
        part: str | None = None,
    ) -> None:
        self.spec = spec
        self.items = items if items is not None else registry.ItemInfo()
        self.limits = limits
        self.part = part
        self._pointer = pointer
        self._absent: dict[str, arrays.Counts] = {}
        self._stages: dict[tuple[int, ...], Any] = {}
        self.kept: dict[object, Any] = {}
        self.gold: trees.Treebank
        if isinstance(gold, ReadGold):
            self._vocabulary = gold.vocabulary
            self.gold, *stages = gold.treebanks
            steps = [entry.steps[:end] for entry in spec.entries for end in range(1, len(entry.steps) + 1)]
            self._stages |= zip(dict.fromkeys(tuple(map(id, each)) for each in steps), stages, strict=True)
            return
        for index, entry in enumerate(spec.entries):
            with placed(f"/metrics/{index}/params"):
                entry.metric.check_params(limits)
        self._vocabulary = trees.Vocabulary()
        reads_heads = any(entry.metric.reads_heads for entry in spec.entries)  # else wrong heads are kept
        reader = spec.format.format if reads_heads else spec.format.format.keeping_heads_outside()
        with placed(pointer, part):
            self.gold = reader.read(gold, self._vocabulary, limits)
            _check_read(self.gold, limits.max_problems)
        _check_items(self.items, len(self.gold))
        for entry in spec.entries:
            after = self._gold_after(entry.steps)
            with placed(pointer, part):
                entry.metric.check_gold(after, self.items, limits)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: what was computed of gold is computed again."""
        return {**vars(self), "_absent": {}, "_stages": {}, "kept": {}}

    def check_gold_words(self) -> None:
        """Check that gold has words. Raises InputError."""
        lengths = sentence_lengths(self.gold, registry.ItemInfo())
        if lengths is None or lengths.any():
            return
        detail = "Gold has no word, so nothing can be scored. Write each word of the text, as the format has them."
        problem = Problem("gold-without-words", detail)
        for each in self.gold.sentences.warnings:
            if each.code == "bracket-without-words":
                problem = replace(problem, detail=f"{detail} {each.detail}", line=each.line, column=each.column)
                break
        raise InputError(problem.at(self._pointer, self.part))

    @property
    def read_gold(self) -> ReadGold:
        """Return gold for further evaluations of an equal request; ask before the first system is read."""
        return ReadGold(self._vocabulary, [self.gold, *self._stages.values()])

    def score(
        self, output: registry.Text, choice: FormatChoice | None = None, pointer: str = "", name: str = ""
    ) -> tuple[dict[str, registry.Outcome], Sequence[Problem]]:
        """Score one system under every metric entry: (key -> outcome, warnings of its text).

        Args:
            output: its text.
            choice: its format, gold's unless given.
            pointer: where the text stands in the request.
            name: the system's name, under which `items` may hold its parse times.

        Raises:
            ScoringError: the output cannot be read, or does not fit gold; problems are placed at `pointer`.
        """
        choice = choice if choice is not None else self.spec.format
        system = self.read(output, choice, pointer)
        del output  # frees a large text before scoring, if the caller does not hold it
        outcomes = self.compare(system, choice, pointer, name)
        return outcomes, [problem.at(pointer, self.part) for problem in system.sentences.warnings]

    def read(self, output: registry.Text, choice: FormatChoice, pointer: str = "") -> trees.Treebank:
        """Read one system's output, in the order of gold; the first half of `score`."""
        fill = all(entry.metric.values.get("errors") == scores.ZERO for entry in self.spec.entries)
        outside = all(entry.metric.scores_wrong_heads for entry in self.spec.entries)  # as each scores them
        reader = choice.format.keeping_heads_outside() if outside else choice.format
        with placed(pointer, self.part):
            try:
                system = reader.read(output, self._vocabulary, self.limits)
            except InputError as error:
                other = text.of_another_format(output, reader.name)
                if other is None:
                    raise
                raise InputError(other) from error  # what else is wrong follows from it
            return in_order_of_gold(self.gold, trees.without_blank_end(system, self.gold), fill=fill)

    def compare(
        self,
        system: trees.Treebank,
        choice: FormatChoice,
        pointer: str = "",
        name: str = "",
        entries: Sequence[Entry] | None = None,
    ) -> dict[str, registry.Outcome]:
        """Score a treebank of `read` under every metric entry, or under some; the second half of `score`."""
        items = replace(self.items, system=name)
        with placed(pointer, self.part):
            chosen = self.spec.entries if entries is None else entries
            return {entry.key: self._outcome(entry, system, choice, items) for entry in chosen}

    def gold_of(self, entry: Entry) -> trees.Treebank:
        """Return gold as the metric of an entry sees it, after its transforms."""
        gold: trees.Treebank = self._gold_after(entry.steps)
        return gold

    def absent(self, entry: Entry) -> arrays.Counts:
        """Return what the sentences of gold count under a metric entry against a missing output: (n, k)."""
        if entry.key not in self._absent:
            with placed(self._pointer, self.part):
                self._absent[entry.key] = entry.metric.absent(self._gold_after(entry.steps), self.items, self.limits)
        return self._absent[entry.key]

    def _outcome(
        self, entry: Entry, system: trees.Treebank, choice: FormatChoice, items: registry.ItemInfo
    ) -> registry.Outcome:
        check_fit(entry, self.spec.format, choice)
        for position, step in enumerate(entry.steps):
            if step.on != "gold":
                system = step.transform.apply(system, self._gold_after(entry.steps[:position]))
        gold = self._gold_after(entry.steps)
        if len(gold) != len(system) and not entry.metric.own_segmentation:
            raise InputError(_unequal(gold, system))
        seen = seen_by(entry.metric, system)
        if not entry.metric.scores_wrong_heads and len(gold) != len(seen):
            _check_read(seen, self.limits.max_problems)
        outcome = as_read(entry.metric.evaluate(gold, seen, items, self.limits), seen, system)
        table = entry.metric.table
        return replace(outcome, slices=lambda: with_sentence_slices(outcome, table, self._groups_of(entry.key, gold)))

    def _groups_of(self, key: str, gold: trees.Treebank) -> dict[str, SentenceGroups]:
        """Return the groups of gold's sentences under a metric entry of this key."""
        name = SentenceGroups, key
        if name not in self.kept:
            self.kept[name] = sentence_groups(gold, self.items)
        found: dict[str, SentenceGroups] = self.kept[name]
        return found

    def _gold_after(self, steps: tuple[Step, ...]) -> Any:
        if not steps:
            return self.gold
        key = tuple(map(id, steps))
        if key not in self._stages:
            before = self._gold_after(steps[:-1])
            on = steps[-1].on != "system"
            with placed(self._pointer, self.part):
                self._stages[key] = steps[-1].transform.apply(before, before) if on else before
        return self._stages[key]


def _unequal(gold: trees.Treebank, system: trees.Treebank) -> Problem:
    found = f"The output has {wording.counted(len(system), 'sentence')}"
    fix = (
        "Send one for each sentence of gold, in its order; where the parser failed, leave the sentence empty as the "
        "format allows."
    )
    if isinstance(gold, trees.DependencyTreebank):
        fix += " For outputs with their own sentences and tokens, use the metric ud."
    fix += lost_sentences(system)
    if system.sentences.advice:
        fix += f" {system.sentences.advice}"
    detail = f"{found}, which is not the number of gold. {fix}"
    if isinstance(gold, (trees.ConstituentTreebank, trees.DiscontinuousTreebank)):
        fix += trees.said_of_blank_end(gold, len(system))
    if gold.sentences.advice:
        fix += f" Of gold: {gold.sentences.advice}"
    return Problem("sentence-count-mismatch", detail, gold_detail=f"{found}, gold has {len(gold)}. {fix}")


def _check_items(items: registry.ItemInfo, sentences: int) -> None:
    problems = []
    lists: list[tuple[str, int]] = [
        *((f"/attributes/{params.escape(name)}", len(values)) for name, values in items.attributes.items()),
        *((f"/seconds/{params.escape(name)}", len(values)) for name, values in items.seconds.items()),
    ]
    if items.blocks is not None:
        lists.append(("/blocks", len(items.blocks)))
    if items.lengths is not None:
        lists.append(("/lengths" if items.words is None else "/words", len(items.lengths)))
    for pointer, length in lists:
        if length != sentences:
            entries, golds = wording.counted(length, "entry", "entries"), wording.counted(sentences, "sentence")
            detail = f"The list has {entries}, gold has {golds}. Give one for each."
            problems.append(Problem("item-count-mismatch", detail, pointer="/items" + pointer))
    if problems:
        raise InputError(problems)
