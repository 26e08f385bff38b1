"""Evaluation of texts: joins a format, transforms and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from treescore.core.absence import ZERO
from treescore.core.arrays import Counts
from treescore.core.counting import counted
from treescore.core.limits import DEFAULT_LIMITS, Limits
from treescore.core.params import escape
from treescore.core.registry import ItemInfo, Outcome, Text
from treescore.core.trees import DependencyTreebank, Treebank, with_vocabulary
from treescore.core.vocabulary import Vocabulary
from treescore.errors import InputError, Problem, placed
from treescore.evaluation.sentence_order import in_order_of_gold
from treescore.evaluation.slices import SentenceGroups, sentence_groups, with_sentence_slices
from treescore.evaluation.spec import Entry, FormatChoice, Spec, Step, check_fit
from treescore.evaluation.tolerance import (
    as_read,
    check_alignable,
    check_gold_read,
    lost_sentences,
    reader_for,
    seen_by,
)


@dataclass(frozen=True, slots=True)
class ReadGold:
    """Gold as an evaluation has read, transformed and checked it.

    Attributes:
        vocabulary: of all treebanks.
        treebanks: gold as it was read, then after each transform, in the order of the metric entries.
        kept: what was computed of gold alone since, for all its uses.
    """

    vocabulary: Vocabulary
    treebanks: Sequence[Treebank]
    kept: dict[object, Any] = field(default_factory=dict, repr=False, compare=False)

    def copy(self) -> ReadGold:
        """Return the same with a vocabulary that grows on its own."""
        vocabulary = self.vocabulary.copy()
        treebanks = [with_vocabulary(treebank, vocabulary) for treebank in self.treebanks]
        return ReadGold(vocabulary, treebanks, self.kept)


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
        gold: Text | ReadGold,
        items: ItemInfo | None = None,
        limits: Limits = DEFAULT_LIMITS,
        pointer: str = "/gold",
        part: str | None = None,
    ) -> None:
        self.spec = spec
        self.items = items if items is not None else ItemInfo()
        self.limits = limits
        self.part = part
        self._pointer = pointer
        self._absent: dict[str, Counts] = {}
        self._stages: dict[tuple[int, ...], Any] = {}
        self.kept: dict[object, Any] = {}
        self.gold: Treebank
        if isinstance(gold, ReadGold):
            self._vocabulary = gold.vocabulary
            self.kept = gold.kept
            self.gold, *stages = gold.treebanks
            self._stages |= zip(_stages_of(spec), stages, strict=True)
            return
        for index, entry in enumerate(spec.entries):
            with placed(f"/metrics/{index}/params"):
                entry.metric.check_params(limits)
        self._vocabulary = Vocabulary()
        with placed(pointer, part):
            self.gold = spec.format.format.read(gold, self._vocabulary, limits)
            check_gold_read(self.gold, limits.max_problems)
        _check_items(self.items, len(self.gold))
        for entry in spec.entries:
            after = self._gold_after(entry.steps)
            with placed(pointer, part):
                entry.metric.check_gold(after, self.items, limits)

    @property
    def read_gold(self) -> ReadGold:
        """Return gold for further evaluations of an equal request; ask before the first system is read."""
        return ReadGold(self._vocabulary, [self.gold, *self._stages.values()], self.kept)

    def score(
        self, output: Text, choice: FormatChoice | None = None, pointer: str = "", name: str = ""
    ) -> tuple[dict[str, Outcome], Sequence[Problem]]:
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

    def read(self, output: Text, choice: FormatChoice, pointer: str = "") -> Treebank:
        """Read one system's output, in the order of gold; the first half of `score`."""
        fill = all(entry.metric.values.get("errors") == ZERO for entry in self.spec.entries)
        reader = reader_for(choice.format, [entry.metric for entry in self.spec.entries])
        with placed(pointer, self.part):
            system = reader.read(output, self._vocabulary, self.limits)
            return in_order_of_gold(self.gold, system, fill=fill)

    def compare(self, system: Treebank, choice: FormatChoice, pointer: str = "", name: str = "") -> dict[str, Outcome]:
        """Score a treebank of `read` under every metric entry; the second half of `score`."""
        items = replace(self.items, system=name)
        with placed(pointer, self.part):
            return {entry.key: self._outcome(entry, system, choice, items) for entry in self.spec.entries}

    def gold_of(self, entry: Entry) -> Treebank:
        """Return gold as the metric of an entry sees it, after its transforms."""
        gold: Treebank = self._gold_after(entry.steps)
        return gold

    def absent(self, entry: Entry) -> Counts:
        """Return what the sentences of gold count under a metric entry against a missing output: (n, k)."""
        if entry.key not in self._absent:
            with placed(self._pointer, self.part):
                gold = self._gold_after(entry.steps)
                self._absent[entry.key] = entry.metric.absent(gold, self.items, self.limits)
        return self._absent[entry.key]

    def _outcome(self, entry: Entry, system: Treebank, choice: FormatChoice, items: ItemInfo) -> Outcome:
        check_fit(entry, self.spec.format, choice)
        for position, step in enumerate(entry.steps):
            if step.on != "gold":
                system = step.transform.apply(system, self._gold_after(entry.steps[:position]))
        gold = self._gold_after(entry.steps)
        if len(gold) != len(system) and not entry.metric.own_segmentation:
            raise InputError(_unequal(gold, system))
        seen = seen_by(entry.metric, system)
        if not entry.metric.scores_wrong_heads:
            check_alignable(gold, seen, self.limits.max_problems)
        outcome = as_read(entry.metric.evaluate(gold, seen, items, self.limits), seen, system)
        table = entry.metric.table
        return replace(outcome, slices=lambda: with_sentence_slices(outcome, table, self._groups_of(entry.key, gold)))

    def _groups_of(self, key: str, gold: Treebank) -> dict[str, SentenceGroups]:
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


def _stages_of(spec: Spec) -> dict[tuple[int, ...], tuple[Step, ...]]:
    """Return the steps that lead to each stage of gold, by their key, in the order of the entries."""
    stages = [entry.steps[:end] for entry in spec.entries for end in range(1, len(entry.steps) + 1)]
    return {tuple(map(id, steps)): steps for steps in stages}


def _unequal(gold: Treebank, system: Treebank) -> Problem:
    found = f"The output has {counted(len(system), 'sentence')}"
    fix = (
        "Send one for each sentence of gold, in its order; where the parser failed, leave the sentence empty as the "
        "format allows."
    )
    if isinstance(gold, DependencyTreebank):
        fix += " For outputs with their own sentences and tokens, use the metric ud."
    fix += lost_sentences(system)
    if system.sentences.advice:
        fix += f" {system.sentences.advice}"
    detail = f"{found}, which is not the number of gold. {fix}"
    if gold.sentences.advice:
        fix += f" Of gold: {gold.sentences.advice}"
    return Problem("sentence-count-mismatch", detail, gold_detail=f"{found}, gold has {len(gold)}. {fix}")


def _check_items(items: ItemInfo, sentences: int) -> None:
    problems = []
    lists: list[tuple[str, int]] = [
        *((f"/attributes/{escape(name)}", len(values)) for name, values in items.attributes.items()),
        *((f"/seconds/{escape(name)}", len(values)) for name, values in items.seconds.items()),
    ]
    if items.blocks is not None:
        lists.append(("/blocks", len(items.blocks)))
    if items.lengths is not None:
        lists.append(("/lengths" if items.words is None else "/words", len(items.lengths)))
    for pointer, length in lists:
        if length != sentences:
            found = f"The list has {counted(length, 'entry', 'entries')}, gold has {counted(sentences, 'sentence')}"
            detail = f"{found}. Give one for each."
            problems.append(Problem("item-count-mismatch", detail, pointer="/items" + pointer))
    if problems:
        raise InputError(problems)
