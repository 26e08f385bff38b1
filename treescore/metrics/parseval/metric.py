"""Score labelled and unlabelled brackets, crossing brackets and tags (PARSEVAL)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar, cast

import numpy as np

from treescore.core.arrays import BoolArray, Counts, IntArray
from treescore.core.disclosure import Disclosure, SliceFields
from treescore.core.discontinuity import with_gaps
from treescore.core.limits import Limits
from treescore.core.params import Json, Param
from treescore.core.registry import (
    ERROR,
    OK,
    SKIP,
    STATUS_NAMES,
    ErrorValues,
    Example,
    ItemInfo,
    Metric,
    Outcome,
    register,
)
from treescore.core.scores import ScoreTable
from treescore.core.trees import ConstituentTreebank, DiscontinuousTreebank
from treescore.errors import Problem
from treescore.metrics.parseval import kernel
from treescore.metrics.parseval.choices import DISCODOP, MISSED, PARAMS, Choices, choices_of
from treescore.metrics.parseval.details import ComparedTreebanks
from treescore.metrics.parseval.discontinuous.comparison import (
    Comparison,
    absent_rows,
    gap_brackets_beside,
    gap_errors,
)
from treescore.metrics.parseval.discontinuous.report import discodop_report
from treescore.metrics.parseval.discontinuous.scores import score_table as gap_score_table
from treescore.metrics.parseval.error_report import error_report
from treescore.metrics.parseval.errors import bracket_errors, brackets_beside
from treescore.metrics.parseval.marks import span_marks
from treescore.metrics.parseval.problems import Trees, check_gaps, gap_problems, span_problems
from treescore.metrics.parseval.report import evalb_report, spmrl_report
from treescore.metrics.parseval.scores import score_table
from treescore.metrics.parseval.tables import inputs_of
from treescore.metrics.parseval.unparsed import count_unparsed
from treescore.metrics.shared.error_rows import members
from treescore.metrics.shared.examples import GAP_TREES, TREES


@register
class Parseval(Metric):
    """Compares brackets (label, span) as multisets, as EVALB does (Black et al. 1991; Collins 1997)."""

    name = "parseval"
    doc = (
        "Labelled and unlabelled precision, recall and F1 of brackets, exact match, crossing brackets and tagging "
        "accuracy; with an evalb preset the figures of EVALB."
    )
    source = (
        "Black et al. 1991; Collins 1997; EVALB (Sekine & Collins, 2008 version); EVALB_SPMRL; Kikas & Treumuth 2007; "
        "disco-dop (van Cranenburgh, Scha & Bod 2016)"
    )
    reads = (ConstituentTreebank, DiscontinuousTreebank)
    examples: ClassVar[tuple[Example, ...]] = (
        Example("bracketed", TREES),
        Example("bracketed", (("(S (NP) (X x))\n", "(S (X x))\n"), *TREES[:2]), {"preset": "kikas-treumuth"}),
        Example("bracketed", TREES, {"preset": "spmrl", "unparsed": "miss"}),
        Example(
            "discbracket",
            GAP_TREES,
            {"preset": DISCODOP},
            interprets_labels="Words with tags of punctuation are deleted.",
        ),
    )
    params: ClassVar[Mapping[str, Param]] = PARAMS
    styles = ("evalb", "spmrl", "discodop", "errors")
    headline: ClassVar[Mapping[str, str]] = {
        "labelled_precision": "LP",
        "labelled_recall": "LR",
        "labelled_f1": "F1",
        "exact_match": "EM",
        "mean_crossing": "CB",
        "no_crossing": "0CB",
        "two_or_fewer_crossing": "2CB",
        "tagging_accuracy": "TA",
    }
    headline_below_best: ClassVar[Mapping[str, str]] = {"coverage": "Coverage"}
    error_filters: ClassVar[Mapping[str, ErrorValues]] = {"label": members("label")}
    disclosure: ClassVar[Disclosure] = Disclosure(
        members=("system_tree", "system_spans", "system_spans_right"),
        scores=("labelled_precision",),
        counts=("matched", "system"),
        slices={"label": SliceFields(("system",), ("precision",))},
    )

    def __init__(self, **values: Json) -> None:
        """Resolve the preset or the parameter file, then the choices of the request. Raises InputError."""
        self.choices: Choices = choices_of(values)
        super().__init__(**{**values, **self.choices.document()})

    @property
    def table(self) -> ScoreTable:
        """Counts and scores; those up to the cut-off length have `cutoff.` before their names."""
        if self.choices.gaps:
            return gap_score_table(zero=self.choices.zero, only_gaps=self.choices.only_gaps)
        return score_table(zero=self.choices.zero, unparsed=self.choices.tells_unparsed)

    @property
    def own_styles(self) -> Sequence[str]:
        """Where constituents may have gaps, disco-dop's summary stands for those of EVALB."""
        return ("discodop", "errors") if self.choices.gaps else ("evalb", "spmrl", "errors")

    @property
    def warnings(self) -> Sequence[Problem]:
        """Lines of the parameter file that EVALB ignores."""
        return self.choices.warnings

    def check_gold(self, gold: Trees, items: ItemInfo, limits: Limits) -> None:
        """Check that the choices can compare gold's trees. Raises InputError: `parseval-needs-discodop`."""
        del items, limits
        check_gaps(self.choices, gold)

    def evaluate(self, gold: Trees, system: Trees, items: ItemInfo, limits: Limits) -> Outcome:
        """Count each sentence; status ERROR where words differ, SKIP where the output has no words.

        Raises:
            InputError: `parseval-needs-discodop`.
        """
        del items, limits
        if self.choices.gaps:
            return self._evaluate_gaps(with_gaps(gold), with_gaps(system))
        for treebank in (gold, system):
            check_gaps(self.choices, treebank)
        return self._evaluate_spans(cast("ConstituentTreebank", gold), cast("ConstituentTreebank", system))

    def _evaluate_spans(self, gold: ConstituentTreebank, system: ConstituentTreebank) -> Outcome:
        inputs = inputs_of(self.choices, gold, system)
        figures, status, facts = kernel.compare(inputs)
        unanswered = _unanswered(self.choices, gold, system, status, facts)
        if self.choices.zero:
            status = np.where((status == OK) & unanswered, SKIP, status).astype(np.uint8)
        missed = count_unparsed(self.choices, gold, inputs, figures, status, facts)
        rows = _count_rows(self.choices, figures, status, facts, missed)

        @cache
        def compared() -> ComparedTreebanks:
            return ComparedTreebanks(gold, system, self.choices, inputs, rows, (status == OK) | missed)

        return Outcome(
            rows=rows,
            status=status,
            unanswered=unanswered,
            problems=span_problems(gold, system, status, facts),
            details=lambda start, stop: compared().items(start, stop),
            slices=lambda: compared().slices(),
            extra=lambda: compared().tables(),
            marks=lambda: span_marks(self.choices, gold, system, np.asarray(status == OK, np.bool_)),
        )

    def _evaluate_gaps(self, gold: DiscontinuousTreebank, system: DiscontinuousTreebank) -> Outcome:
        comparison = Comparison(gold, system, self.choices)
        return Outcome(
            rows=comparison.rows,
            status=comparison.status,
            problems=gap_problems(gold, system, comparison.status, self.choices),
            details=comparison.items,
            slices=comparison.slices,
            extra=comparison.extra,
        )

    def absent(self, gold: Trees, items: ItemInfo, limits: Limits) -> Counts:
        """Count each sentence of gold as one that the output skips."""
        del items, limits
        if self.choices.gaps:
            return absent_rows(with_gaps(gold), self.choices)
        gold = cast("ConstituentTreebank", gold)
        figures, _, facts = kernel.compare(inputs_of(self.choices, gold, gold))
        skipped = np.full(len(gold), SKIP, np.uint8)
        return _count_rows(replace(self.choices, zero=True), figures, skipped, facts, np.zeros(len(gold), np.bool_))

    def errors_of(self, item: Mapping[str, Json], gold: Any) -> Iterator[dict[str, Json]]:
        """Return missed brackets of gold and wrong ones of the output; none of a sentence that is not compared."""
        del gold
        if item["status"] == STATUS_NAMES[OK]:
            yield from gap_errors(item) if self.choices.gaps else bracket_errors(item, self.choices)

    def beside_gold(self, item: Mapping[str, Json], gold: Any) -> Iterator[dict[str, Json]]:
        """Return the brackets of both sides, outer ones first; none of a sentence that is not compared."""
        if item["status"] != STATUS_NAMES[OK]:
            return
        if self.choices.gaps:
            yield from gap_brackets_beside(item)
        else:
            yield from brackets_beside(item, list(self.errors_of(item, gold)))

    def report(self, style: str, outcome: Outcome) -> str:
        """Print the layout of EVALB, EVALB_SPMRL (`spmrl`) or disco-dop (`discodop`), or frequent errors."""
        names = self.table.count_names
        match style if style in self.own_styles else None:
            case "evalb":
                return evalb_report(outcome, names, self.choices.cutoff)
            case "spmrl":
                return spmrl_report(outcome, names)
            case "discodop":
                return discodop_report(outcome, names, self.choices)
            case "errors":
                return error_report(outcome.extra()["errors"])
        raise KeyError(style)


def _unanswered(
    choices: Choices, gold: ConstituentTreebank, system: ConstituentTreebank, status: Any, facts: IntArray
) -> BoolArray:
    """Find the sentences with words in gold and none that could be compared in the output, bool (n,)."""
    if choices.check_words:
        unanswered = (status != OK) & (facts[:, kernel.GOLD_WORDS] > 0)
    else:
        blank = (np.diff(system.word_offsets) == 0) & (np.diff(gold.word_offsets) > 0)
        unanswered = (status != OK) | blank
    unanswered[list(gold.sentences.unreadable)] = False
    return np.asarray(unanswered, np.bool_)


def _count_rows(choices: Choices, figures: IntArray, status: Any, facts: IntArray, missed: BoolArray) -> IntArray:
    """Return counts in the order of the score table: all, up to the cut-off, the length, the uncounted.

    Sentences that are `missed` have figures though their status is SKIP, bool (n,).
    """
    valid = (status == OK) | missed
    matched, gold, system, crossing = figures.T[:4]
    complete = (matched == gold) & (gold == system)
    if choices.unparsed == MISSED:
        complete &= ~missed | (facts[:, kernel.GOLD_WORDS] == 0)
    shares = np.column_stack([complete, crossing == 0, crossing <= 2])
    counted = np.column_stack([figures, shares]) * valid[:, None]
    if choices.zero:
        _charge(counted, status, facts)
    states = np.column_stack([np.ones(len(status), np.bool_), status == ERROR, (status == SKIP) & ~missed, valid])
    whole = np.concatenate([counted[:, :6], states, counted[:, 6:]], axis=1)
    if choices.tells_unparsed:
        whole = np.column_stack([whole, status == OK])
    lengths = facts[:, kernel.LENGTH]
    short = whole * (lengths <= choices.cutoff)[:, None]
    uncounted = figures[:, :6] * ~valid[:, None]
    return np.concatenate([whole, short, lengths[:, None], uncounted], axis=1)


def _charge(counted: IntArray, status: Any, facts: IntArray) -> None:
    """Count sentences that are not valid as if the output had as many brackets as gold, all wrong and crossing."""
    invalid = status != OK
    for column in (kernel.GOLD, kernel.SYSTEM, kernel.CROSSING):
        counted[invalid, column] = facts[invalid, kernel.GOLD_BRACKETS]
    counted[invalid, kernel.WORDS] = facts[invalid, kernel.GOLD_WORDS]
    # Where gold has no words either, nothing is wrong.
    counted[(status == SKIP) & (facts[:, kernel.GOLD_WORDS] == 0), 7:] = 1
