"""Score labelled and unlabelled brackets, crossing brackets and tags (PARSEVAL).

Say why sentences could not be compared, and what a sentence counts whose output has no words.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np

from treescore.core import discontinuity, registry, text
from treescore.core.arrays import BoolArray, Counts, FloatArray, IntArray, owners_of, sums_by
from treescore.core.params import Json, Param
from treescore.core.scores import ScoreTable
from treescore.core.trees import ConstituentTreebank, DiscontinuousTreebank
from treescore.core.wording import counted, told_apart
from treescore.errors import InputError, Problem
from treescore.metrics.parseval import comparison, details
from treescore.metrics.parseval.choices import (
    AS_SPMRL,
    DISCODOP,
    LEFT_OUT,
    MISSED,
    PARAMS,
    SKIPPED,
    WORDS_LEFT_OUT,
    Choices,
    choices_of,
)
from treescore.metrics.parseval.comparison import Inputs, Tables, cut_label, deleted_labels, inputs_of
from treescore.metrics.parseval.discontinuous import Comparison, absent_rows
from treescore.metrics.parseval.report import discodop_report, error_report, evalb_report, spmrl_report
from treescore.metrics.parseval.scores import gap_score_table, table_of
from treescore.metrics.shared import constituents
from treescore.metrics.shared.constituents import Trees
from treescore.metrics.shared.examples import AS_DISCODOP, TREES
from treescore.metrics.shared.words import members


def count_unparsed(
    choices: Choices,
    gold: ConstituentTreebank,
    inputs: Inputs,
    figures: IntArray,
    status: registry.StatusArray,
    facts: IntArray,
) -> BoolArray:
    """Put what gold has into the figures of skipped sentences: every bracket is missed, and every tag.

    Args:
        choices: of the metric.
        gold: the gold treebank of n sentences.
        inputs: of the comparison.
        figures: changed, int64 (n, 7).
        status: SKIP where the output has no words, uint8 (n,).
        facts: of the comparison, int64 (n, 8).

    Returns:
        The sentences that count in this way, bool (n,).
    """
    missed = np.asarray(status == registry.SKIP, np.bool_)
    if choices.unparsed == SKIPPED or choices.zero or not missed.any():
        return np.zeros(len(status), np.bool_)
    brackets = facts[:, comparison.GOLD_BRACKETS]
    if choices.unparsed == AS_SPMRL:
        brackets = _weighted(choices, gold, inputs)
    figures[missed] = 0
    figures[missed, comparison.GOLD] = brackets[missed]
    figures[missed, comparison.WORDS] = facts[missed, comparison.GOLD_WORDS]
    return missed


def _weighted(choices: Choices, gold: ConstituentTreebank, inputs: Inputs) -> IntArray:
    """Return the brackets of each sentence of gold as EVALB_SPMRL -X counts them, int64 (n,).

    Every bracket over words counts, deleted or not: once, and once more for each DELETE_LABEL that its label is not.
    """
    weights = _weights(choices, gold, inputs.tables)
    owners = owners_of(gold.node_offsets)
    kept = (gold.tags < 0) | ~inputs.tables.deleted[gold.tags]
    before = np.append(0, np.cumsum(kept))
    firsts = gold.word_offsets[owners]
    # A bracket that was left open ends before it begins: it is not empty either.
    filled = (inputs.gold.ends < 0) | (before[firsts + gold.ends] > before[firsts + gold.starts])
    return sums_by(owners, len(gold), weights[gold.labels] * filled)


def _weights(choices: Choices, gold: ConstituentTreebank, tables: Tables) -> IntArray:
    """Return what a bracket of each label counts, int64 over the vocabulary; labels that gold lacks: 0."""
    strings = gold.vocabulary.strings
    listed = Counter(deleted_labels(choices))
    equal: dict[str, set[str]] = {}
    for first, second in choices.equal_labels:
        equal.setdefault(first, {first}).add(second)
        equal.setdefault(second, {second}).add(first)
    weights = np.zeros(len(tables.cut), np.int64)
    for label in np.unique(gold.labels).tolist():
        cut = strings[tables.cut[label]]
        weights[label] = 1 + len(choices.delete_labels) - sum(listed[name] for name in equal.get(cut, {cut}))
    return weights


def check_gaps(choices: Choices, treebank: Trees) -> None:
    """Check that choices for continuous constituents are not applied to trees that may have gaps.

    Raises:
        InputError: `parseval-needs-discodop`.
    """
    if isinstance(treebank, DiscontinuousTreebank) and not choices.gaps:
        detail = (
            "The trees may have constituents with gaps, which the other presets cannot compare. "
            f'Choose {{"name": "parseval", "params": {{"preset": "{DISCODOP}"}}}}.'
        )
        raise InputError(Problem("parseval-needs-discodop", detail))


def problems_of(
    gold: Trees, system: Trees, status: registry.StatusArray, differing: Callable[[int], Problem]
) -> dict[int, Problem]:
    """Return why sentences could not be compared; `differing` describes how the words of one differ."""
    errors = np.flatnonzero(status == registry.ERROR).tolist()
    return {index: _unreadable(gold, system, index) or differing(index) for index in errors}


def _unreadable(gold: Trees, system: Trees, index: int) -> Problem | None:
    """Return that a side cannot be read in this sentence, or None."""
    unreadable = system.sentences.unreadable.get(index)
    if unreadable is not None or index not in gold.sentences.unreadable:
        return unreadable
    gold_detail = f"Gold cannot be read: {gold.sentences.unreadable[index].detail}"
    return Problem(
        "gold-unreadable", "Gold cannot be read in this sentence.", sentence=index + 1, gold_detail=gold_detail
    )


_Difference = tuple[int, int, int] | None
"""The first word that differs, from 0, and the strings of the output's word and of gold's; None: lengths do."""


def _other_words(
    system: Trees, index: int, lengths: tuple[int, int], first: _Difference, after: str, advice: str
) -> Problem:
    """Describe how the words of sentence `index` differ from gold's, `after` what both sides leave out.

    Args:
        system: the output.
        index: number of the sentence, from 0.
        lengths: words of the output's sentence and of gold's.
        first: the difference.
        after: stands behind the words.
        advice: the last sentence.
    """
    if first is None:
        code, statement = "word-count-mismatch", f"The sentence has {counted(lengths[0], 'word')}{after}"
        expected = f"{lengths[1]}."
    else:
        word, right = (system.vocabulary.strings[number] for number in first[1:])
        code, statement = "word-mismatch", f"Word {first[0] + 1}{after} is {word!r}"
        expected = f"{right!r}.{told_apart(word, right)}"
    line, gold_detail = int(system.lines[index]), f"{statement}; gold has {expected} {advice}"
    return Problem(code, f"{statement}; gold differs. {advice}", sentence=index + 1, line=line, gold_detail=gold_detail)


def _after_deletions(system: ConstituentTreebank, index: int, facts: Sequence[int]) -> Problem:
    """Describe how words differ that EVALB compares after its deletions; `facts` as `comparison.compare` has them."""
    lengths = facts[comparison.SYSTEM_WORDS], facts[comparison.GOLD_WORDS]
    first = facts[comparison.WORD], facts[comparison.SYSTEM_WORD], facts[comparison.GOLD_WORD]
    advice = "Parse gold's words, and use gold's tags for deleted words (punctuation, traces)."
    differ = None if facts[comparison.REASON] == comparison.LENGTHS_DIFFER else first
    return _other_words(system, index, lengths, differ, " after deletions", advice)


def _undeleted(gold: DiscontinuousTreebank, system: DiscontinuousTreebank, index: int, same: IntArray) -> Problem:
    """Describe how words differ that are compared undeleted; `same` tells which string stands for each."""
    golds, systems = (each.words[slice(*each.word_offsets[index : index + 2].tolist())] for each in (gold, system))
    first = None
    if len(golds) == len(systems):
        place = int(np.flatnonzero(same[golds] != same[systems])[0])
        first = place, int(systems[place]), int(golds[place])
    return _other_words(system, index, (len(systems), len(golds)), first, "", "Parse gold's words.")


_BARE_HEADLINE = {"sentence_f1": "S-F1", "unlabelled_f1": "C-F1"}


@registry.register
class Parseval(registry.Metric):
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
    examples: ClassVar[tuple[registry.Example, ...]] = (
        registry.Example("bracketed", TREES),
        registry.Example("bracketed", (("(S (NP) (X x))\n", "(S (X x))\n"), *TREES[:2]), {"preset": "kikas-treumuth"}),
        registry.Example("bracketed", TREES, {"preset": "spmrl", "unparsed": "miss"}),
        registry.Example("bracketed", TREES, {"preset": "unsupervised"}, interprets_labels="Words of some tags go."),
        AS_DISCODOP,
    )
    params: ClassVar[Mapping[str, Param]] = PARAMS
    styles = ("evalb", "spmrl", "spmrl-line", "discodop", "errors")
    headline: ClassVar[Mapping[str, str]] = {
        "sentence_f1": "S-F1",
        "labelled_precision": "LP",
        "labelled_recall": "LR",
        "labelled_f1": "F1",
        "disc_f1": "Disc. F1",
        "exact_match": "EM",
        "mean_crossing": "CB",
        "no_crossing": "0CB",
        "two_or_fewer_crossing": "2CB",
        "tagging_accuracy": "TA",
    }
    headline_below_best: ClassVar[Mapping[str, str]] = {"coverage": "Coverage"}
    error_filters: ClassVar[Mapping[str, registry.ErrorValues]] = {"label": members("label")}
    disclosure: ClassVar[registry.Disclosure] = registry.Disclosure(
        members=("system_tree", "system_spans", "system_spans_right"),
        scores=("labelled_precision",),
        counts=("matched", "system"),
        slices={"label": registry.SliceFields(("system",), ("precision",))},
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
        return table_of(self.choices)

    @property
    def own_headline(self) -> Mapping[str, str]:
        """Of bare spans the mean over the text stands beside that over sentences."""
        return {**_BARE_HEADLINE, **self.headline} if self.choices.bare_spans else self.headline

    @property
    def own_styles(self) -> Sequence[str]:
        """Where constituents may have gaps, disco-dop's summary stands for those of EVALB."""
        if self.choices.bare_spans:
            return ("errors",)
        return ("discodop", "errors") if self.choices.gaps else ("evalb", "spmrl", "spmrl-line", "errors")

    @property
    def warnings(self) -> Sequence[Problem]:
        """Lines of the parameter file that EVALB ignores."""
        return self.choices.warnings

    def check_gold(self, gold: Trees, items: registry.ItemInfo, limits: text.Limits) -> None:  # noqa: ARG002 - other metrics need them
        """Check that the choices can compare gold's trees. Raises InputError: `parseval-needs-discodop`."""
        check_gaps(self.choices, gold)

    def evaluate(self, gold: Trees, system: Trees, items: registry.ItemInfo, limits: text.Limits) -> registry.Outcome:  # noqa: ARG002 - other metrics need them
        """Count each sentence; status ERROR where words differ, SKIP where the output has no words.

        Raises:
            InputError: `parseval-needs-discodop`.
        """
        if self.choices.gaps:
            return self._evaluate_gaps(discontinuity.with_gaps(gold), discontinuity.with_gaps(system))
        for treebank in (gold, system):
            check_gaps(self.choices, treebank)
        return self._evaluate_spans(cast("ConstituentTreebank", gold), cast("ConstituentTreebank", system))

    def _evaluate_spans(self, gold: ConstituentTreebank, system: ConstituentTreebank) -> registry.Outcome:
        inputs = inputs_of(self.choices, gold, system)
        figures, status, facts = comparison.compare(inputs)
        unanswered = _unanswered(self.choices, gold, system, status, facts)
        if self.choices.zero:
            status = np.where((status == registry.OK) & unanswered, registry.SKIP, status).astype(np.uint8)
        missed = count_unparsed(self.choices, gold, inputs, figures, status, facts)
        rows = _count_rows(self.choices, figures, status, facts, missed)

        counted = np.asarray((status == registry.OK) | missed, np.bool_)
        compared = details.ComparedTreebanks(gold, system, self.choices, inputs, rows, counted)
        return registry.Outcome(
            rows=rows,
            status=status,
            unanswered=unanswered,
            problems=problems_of(
                gold, system, status, lambda index: _after_deletions(system, index, facts[index].tolist())
            ),
            warnings=_root_warnings(self.choices, gold, system),
            details=compared.items,
            slices=lambda: compared.tables().slices(),
            extra=lambda: compared.tables().errors(),
            marks=lambda: details.span_marks(self.choices, gold, system, np.asarray(status == registry.OK, np.bool_)),
        )

    def _evaluate_gaps(self, gold: DiscontinuousTreebank, system: DiscontinuousTreebank) -> registry.Outcome:
        compared = Comparison(gold, system, self.choices)
        same = constituents.representatives(gold.vocabulary, self.choices.equal_words)
        return registry.Outcome(
            rows=compared.rows,
            status=compared.status,
            problems=problems_of(gold, system, compared.status, lambda index: _undeleted(gold, system, index, same)),
            warnings=_root_warnings(self.choices, gold, system),
            details=compared.items,
            slices=lambda: compared.tables().slices(),
            extra=lambda: compared.tables().errors(),
        )

    def absent(self, gold: Trees, items: registry.ItemInfo, limits: text.Limits) -> Counts:  # noqa: ARG002 - other metrics need them
        """Count each sentence of gold as one that the output skips."""
        if self.choices.gaps:
            return absent_rows(discontinuity.with_gaps(gold), self.choices)
        gold = cast("ConstituentTreebank", gold)
        figures, _, facts = comparison.compare(inputs_of(self.choices, gold, gold))
        skipped = np.full(len(gold), registry.SKIP, np.uint8)
        return _count_rows(replace(self.choices, zero=True), figures, skipped, facts, np.zeros(len(gold), np.bool_))

    def errors_of(self, item: Mapping[str, Json], gold: Trees) -> Iterator[dict[str, Json]]:
        """Return missed brackets of gold and wrong ones of the output; none of a sentence that is not compared."""
        if item["status"] == registry.STATUS_NAMES[registry.OK]:
            yield from details.bracket_errors(item, self.choices, gold)

    def beside_gold(self, item: Mapping[str, Json], gold: Any) -> Iterator[dict[str, Json]]:
        """Return the brackets of both sides, outer ones first; none of a sentence that is not compared."""
        if item["status"] == registry.STATUS_NAMES[registry.OK]:
            yield from details.brackets_beside(item, list(self.errors_of(item, gold)))

    def report(self, style: str, outcome: registry.Outcome) -> str:
        """Print the layout of EVALB, EVALB_SPMRL (`spmrl`, its last line) or disco-dop, or frequent errors."""
        names = self.table.count_names
        match style if style in self.own_styles else None:
            case "evalb":
                return evalb_report(outcome, names, self.choices.cutoff)
            case "spmrl":
                return spmrl_report(outcome, names)
            case "spmrl-line":
                return spmrl_report(outcome, names).splitlines(keepends=True)[-1]
            case "discodop":
                return discodop_report(outcome, names, self.choices)
            case "errors":
                return error_report(outcome.extra()["errors"])
        raise KeyError(style)


def _root_warnings(choices: Choices, gold: Trees, system: Trees) -> list[Problem]:
    if choices.bare_spans:
        return []
    left_out = [*deleted_labels(choices), *(label for pair in choices.equal_labels for label in pair)]
    if not (choices.outer_bracket or choices.gaps):
        left_out.append("")
    found = constituents.root_warnings(
        gold, system, left_out,
        str if choices.gaps else partial(cut_label, at=choices.cut_labels_at),
        lambda label: f"add {label!r} to `delete_labels`" if label or choices.gaps else "set `outer_bracket` to false",
    )  # fmt: skip
    return found if choices.labelled or len(found) == 1 else []  # without labels two brackets are equal


def _unanswered(
    choices: Choices, gold: ConstituentTreebank, system: ConstituentTreebank, status: Any, facts: IntArray
) -> BoolArray:
    """Find the sentences with words in gold and none that could be compared in the output, bool (n,)."""
    if choices.check_words:
        unanswered = (status != registry.OK) & (facts[:, comparison.GOLD_WORDS] > 0)
    else:
        unanswered = (status != registry.OK) | ((np.diff(system.word_offsets) == 0) & (np.diff(gold.word_offsets) > 0))
    unanswered[list(gold.sentences.unreadable)] = False
    return np.asarray(unanswered, np.bool_)


def _count_rows(choices: Choices, figures: IntArray, status: Any, facts: IntArray, missed: BoolArray) -> IntArray:
    """Return counts in the order of the score table: all, up to the cut-off, the length, the uncounted.

    Sentences that are `missed` have figures though their status is SKIP, bool (n,).
    """
    valid = (status == registry.OK) | missed
    matched, gold, system, crossing = figures.T[:4]
    complete = (matched == gold) & (gold == system)
    if choices.unparsed == MISSED:
        complete &= ~missed | (facts[:, comparison.GOLD_WORDS] == 0)
    shares = np.column_stack([complete, crossing == 0, crossing <= 2])
    counted = np.column_stack([figures, shares]) * valid[:, None]
    if choices.zero:
        _charge(counted, status, facts)
    states = np.column_stack(
        [np.ones(len(status), np.bool_), status == registry.ERROR, (status == registry.SKIP) & ~missed, valid]
    )
    whole = np.concatenate([counted[:, :6], states, counted[:, 6:]], axis=1)
    if choices.tells_unparsed:
        whole = np.column_stack([whole, status == registry.OK])
    if choices.bare_spans:
        whole = np.column_stack([whole, *_sentence_f1(choices, figures, status, facts, valid)])
    lengths = facts[:, comparison.LENGTH]
    short = whole * (lengths <= choices.cutoff)[:, None]
    return np.concatenate([whole, short, lengths[:, None], figures[:, :6] * ~valid[:, None]], axis=1)


def _sentence_f1(
    choices: Choices, figures: IntArray, status: Any, facts: IntArray, valid: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """Return F1 of the spans of each sentence, 1 where neither side has one, and whether the sentence counts, (n,)."""
    matched, gold, system = figures.T[:3]
    spans = gold + system
    f1 = np.divide(2.0 * matched, spans, out=np.ones(len(spans)), where=spans > 0) * (status == registry.OK)
    counts = np.asarray(valid | (choices.zero & (facts[:, comparison.GOLD_WORDS] > 0)), np.bool_)
    if choices.spanless == WORDS_LEFT_OUT:
        counts &= facts[:, comparison.GOLD_WORDS] > 1
    elif choices.spanless == LEFT_OUT:
        counts &= facts[:, comparison.GOLD_BRACKETS] > 0
    return f1 * counts, counts


def _charge(counted: IntArray, status: Any, facts: IntArray) -> None:
    """Count sentences that are not valid as if the output had as many brackets as gold, all wrong and crossing."""
    invalid = status != registry.OK
    for column in (comparison.GOLD, comparison.SYSTEM, comparison.CROSSING):
        counted[invalid, column] = facts[invalid, comparison.GOLD_BRACKETS]
    counted[invalid, comparison.WORDS] = facts[invalid, comparison.GOLD_WORDS]
    # Where gold has no words either, nothing is wrong.
    counted[(status == registry.SKIP) & (facts[:, comparison.GOLD_WORDS] == 0), 7:] = 1
