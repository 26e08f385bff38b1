"""PARSEVAL: labelled and unlabelled brackets, crossing brackets, tags."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

import numpy as np

from scoring.arrays import BoolArray, IntArray
from scoring.errors import Problem
from scoring.limits import Limits
from scoring.metrics.evalb_report import evalb_report
from scoring.metrics.parseval_choices import PARAMS, Choices, choices_of
from scoring.metrics.parseval_details import Compared
from scoring.metrics.parseval_kernel import LENGTHS_DIFFER, compare
from scoring.metrics.parseval_scores import score_table
from scoring.metrics.parseval_tables import inputs_of
from scoring.params import Json, Param
from scoring.registry import ERROR, OK, SKIP, ItemInfo, Metric, Outcome, register
from scoring.scores import ScoreTable
from scoring.trees import ConstituentTreebank


@register
class Parseval(Metric):
    """Brackets (label, span) as multisets, as EVALB compares them (Black et al. 1991; Collins 1997)."""

    name = "parseval"
    doc = (
        "Labelled and unlabelled precision, recall and F1 of brackets, exact match, crossing brackets and tagging "
        "accuracy; with an evalb preset the figures of EVALB."
    )
    source = "Black et al. 1991; Collins 1997; EVALB (Sekine & Collins, 2008 version); Kikas & Treumuth 2007"
    reads = (ConstituentTreebank,)
    params: ClassVar[Mapping[str, Param]] = PARAMS
    styles = ("evalb",)

    def __init__(self, **values: Json) -> None:
        """Resolve the preset or the parameter file, then the choices made one by one."""
        self.choices: Choices = choices_of(values)
        super().__init__(**{**values, **self.choices.document()})

    @property
    def table(self) -> ScoreTable:
        """Counts and scores; those up to the cut-off length have `cutoff.` before their names."""
        return score_table(zero=self.choices.zero)

    def evaluate(
        self, gold: ConstituentTreebank, system: ConstituentTreebank, items: ItemInfo, limits: Limits
    ) -> Outcome:
        """Rows of counts; sentences whose words differ have status ERROR, those without words in the output SKIP."""
        del items, limits
        inputs = inputs_of(self.choices, gold, system)
        figures, status, facts = compare(*inputs)
        rows = _rows(self.choices, figures, status, facts)

        @cache
        def compared() -> Compared:
            return Compared(gold, system, self.choices, inputs, rows, status)

        return Outcome(
            rows=rows,
            status=status,
            problems=_problems(gold, system, inputs.tables[0], status, facts),
            warnings=self.choices.warnings,
            details=lambda index: compared().item(index),
            slices=lambda: compared().slices(),
            extra=lambda: compared().tables(),
        )

    def report(self, style: str, outcome: Outcome) -> str:
        """EVALB's table and summary (style `evalb`)."""
        if style != "evalb":
            raise KeyError(style)
        return evalb_report(outcome, self.table.count_names, self.choices.cutoff)


def _rows(choices: Choices, figures: IntArray, status: Any, facts: IntArray) -> IntArray:
    """Counts in the order of parseval_scores: of the whole, up to the cut-off, the length, the uncounted."""
    valid = status == OK
    matched, gold, system, crossing = figures.T[:4]
    shares = np.column_stack([(matched == gold) & (gold == system), crossing == 0, crossing <= 2])
    counted = np.column_stack([figures, shares]) * valid[:, None]
    if choices.zero:
        lost = ~valid
        counted[lost, 1], counted[lost, 4] = facts[lost, 3], facts[lost, 4]
        # Where gold has no words either there was nothing to get wrong.
        counted[(status == SKIP) & (facts[:, 4] == 0), 7:] = 1
    states = np.column_stack([np.ones(len(status), np.bool_), status == ERROR, status == SKIP, valid])
    whole = np.concatenate([counted[:, :6], states, counted[:, 6:]], axis=1)
    short = whole * (facts[:, 0] <= choices.cutoff)[:, None]
    uncounted = figures[:, :6] * ~valid[:, None]
    return np.concatenate([whole, short, facts[:, :1], uncounted], axis=1)


def _problems(
    gold: ConstituentTreebank, system: ConstituentTreebank, deleted: BoolArray, status: Any, facts: IntArray
) -> dict[int, Problem]:
    problems: dict[int, Problem] = {}
    for index in np.flatnonzero(status == ERROR).tolist():
        unreadable = system.sentences.unreadable.get(index)
        if unreadable is not None:
            problems[index] = unreadable
        elif index in gold.sentences.unreadable:
            problems[index] = Problem(
                code="gold-unreadable",
                sentence=index + 1,
                detail="Gold cannot be read in this sentence.",
                gold_detail=f"Gold cannot be read: {gold.sentences.unreadable[index].detail}",
            )
        elif facts[index, 1] == LENGTHS_DIFFER:
            problems[index] = _other_length(index, int(system.lines[index]), *facts[index, 4:].tolist())
        else:
            problems[index] = _other_word(gold, system, deleted, index, int(facts[index, 2]))
    return problems


_MEND = "Parse gold's own words, and tag as gold does what is deleted (punctuation, traces)."


def _other_length(index: int, line: int, golds: int, systems: int) -> Problem:
    found = f"The sentence has {systems} words, deletions made; gold has"
    return Problem(
        code="word-count-mismatch",
        sentence=index + 1,
        line=line,
        detail=f"{found} another number. {_MEND}",
        gold_detail=f"{found} {golds}. {_MEND}",
    )


def _other_word(
    gold: ConstituentTreebank, system: ConstituentTreebank, deleted: BoolArray, index: int, word: int
) -> Problem:
    found = f"Word {word + 1}, deletions made, is {_kept_word(system, deleted, index, word)!r}; gold has"
    return Problem(
        code="word-mismatch",
        sentence=index + 1,
        line=int(system.lines[index]),
        detail=f"{found} another word there. {_MEND}",
        gold_detail=f"{found} {_kept_word(gold, deleted, index, word)!r}. {_MEND}",
    )


def _kept_word(treebank: ConstituentTreebank, deleted: BoolArray, index: int, word: int) -> str:
    """The word that was compared at this place; the last one where a quote was put back before it."""
    span = slice(*treebank.word_offsets[index : index + 2].tolist())
    tags, words = treebank.tags[span], treebank.words[span]
    kept = words[(tags < 0) | ~deleted[tags]]
    return treebank.vocabulary.strings[int(kept[min(word, len(kept) - 1)])]
