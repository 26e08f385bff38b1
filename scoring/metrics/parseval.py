"""PARSEVAL: labelled and unlabelled brackets, crossing brackets, tags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from scoring.arrays import IntArray
from scoring.errors import Problem
from scoring.formats.bracket_problems import UnbalancedLine
from scoring.limits import Limits
from scoring.metrics.parseval_choices import PARAMS, Choices, choices_of
from scoring.metrics.parseval_kernel import FINE, LENGTHS_DIFFER, compare
from scoring.metrics.parseval_scores import score_table
from scoring.params import Json, Param
from scoring.registry import ERROR, OK, SKIP, ItemInfo, Metric, Outcome, register
from scoring.scores import ScoreTable
from scoring.trees import ConstituentTreebank
from scoring.vocabulary import Vocabulary


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
        faults = _faults(gold, system)
        figures, status, lengths, why = compare(
            _side(gold), _side(system), *_tables(self.choices, gold, system), faults, _room(gold, system)
        )
        return Outcome(
            rows=_rows(self.choices, figures, status, lengths),
            status=status,
            problems=_problems(gold, system, status, why),
            warnings=self.choices.warnings,
        )


def _side(treebank: ConstituentTreebank) -> tuple[IntArray, ...]:
    return (
        treebank.labels,
        treebank.starts,
        treebank.ends,
        treebank.node_offsets,
        treebank.words,
        treebank.tags,
        treebank.word_offsets,
    )


def _room(gold: ConstituentTreebank, system: ConstituentTreebank) -> tuple[int, int]:
    """Most words and most brackets (preterminals counted) of a sentence."""
    words = brackets = 0
    for treebank in (gold, system):
        if len(treebank):
            most = int(np.diff(treebank.word_offsets).max())
            words = max(words, most)
            brackets = max(brackets, int(np.diff(treebank.node_offsets).max()) + most)
    return words, brackets


def _faults(gold: ConstituentTreebank, system: ConstituentTreebank) -> Any:
    faults = np.zeros(len(gold), np.uint8)
    for treebank in (gold, system):
        for sentence, problem in treebank.sentences.unreadable.items():
            faults[sentence] = max(faults[sentence], 1 if isinstance(problem, UnbalancedLine) else 2)
    return faults


def _tables(choices: Choices, gold: ConstituentTreebank, system: ConstituentTreebank) -> tuple[Any, Any, Any]:
    """Tables over the vocabulary, pairs and options as `compare` takes them."""
    vocabulary = gold.vocabulary
    label_pairs = _pairs(vocabulary, choices.equal_labels)
    word_pairs = _pairs(vocabulary, choices.equal_words)
    used = np.zeros(len(vocabulary), np.bool_)
    for treebank in (gold, system):
        used[treebank.labels] = True
        if choices.preterminals:
            used[treebank.tags[treebank.tags >= 0]] = True
    used_labels = np.flatnonzero(used)
    cut_of = {int(number): _cut(vocabulary, int(number), choices.cut_labels_at) for number in used_labels}
    dropped_names = {
        *choices.delete_labels,
        *(b for a, b in choices.equal_labels if a in choices.delete_labels),
        *(a for a, b in choices.equal_labels if b in choices.delete_labels),
    }
    dropped_numbers = _known(vocabulary, dropped_names)
    size = len(vocabulary)
    cut = np.arange(size, dtype=np.int64)
    for number, short in cut_of.items():
        cut[number] = short
    tables = (
        _flags(size, _known(vocabulary, choices.delete_labels)),
        _flags(size, _known(vocabulary, choices.delete_labels_for_length)),
        cut,
        _flags(size, dropped_numbers),
        _flags(size, label_pairs.ravel()),
        _flags(size, word_pairs.ravel()),
    )
    options = np.array([choices.outer_bracket, choices.preterminals, choices.check_words, choices.labelled], np.uint8)
    return tables, (label_pairs, word_pairs), options


def _cut(vocabulary: Vocabulary, number: int, at: str) -> int:
    label = vocabulary.strings[number]
    places = [place for place in map(label.find, at) if place >= 0]
    return vocabulary.number(label[: min(places)]) if places else number


def _known(vocabulary: Vocabulary, names: Any) -> list[int]:
    return [number for number in map(vocabulary.get, names) if number is not None]


def _pairs(vocabulary: Vocabulary, pairs: Any) -> IntArray:
    numbers = [[vocabulary.number(name) for name in pair] for pair in pairs]
    return np.array(numbers, np.int64).reshape(len(numbers), 2)


def _flags(size: int, numbers: Any) -> Any:
    flags = np.zeros(size, np.bool_)
    flags[numbers] = True
    return flags


def _rows(choices: Choices, figures: IntArray, status: Any, lengths: IntArray) -> IntArray:
    """Counts in the order of parseval_scores.COUNTS, of the whole and up to the cut-off, the length, the shown."""
    valid = status == OK
    matched, gold, system, crossing, words, correct_tags, unlabelled = figures.T
    complete = (matched == gold) & (gold == system)
    counted = (
        np.column_stack(
            [matched, gold, system, crossing, words, correct_tags, unlabelled, complete, crossing == 0, crossing <= 2]
        )
        * valid[:, None]
    )
    sentences = np.column_stack([np.ones(len(status)), status == ERROR, status == SKIP, valid]).astype(np.int64)
    whole = np.concatenate([counted[:, :6], sentences, counted[:, 6:]], axis=1)
    short = whole * (lengths <= choices.cutoff)[:, None]
    shown = figures[:, :6] * ~valid[:, None]
    return np.concatenate([whole, short, lengths[:, None], shown], axis=1)


def _problems(gold: ConstituentTreebank, system: ConstituentTreebank, status: Any, why: IntArray) -> dict[int, Problem]:
    problems: dict[int, Problem] = {}
    for index in np.flatnonzero(status == ERROR).tolist():
        unreadable = system.sentences.unreadable.get(index)
        line = int(system.lines[index])
        if unreadable is not None:
            problems[index] = unreadable
        elif index in gold.sentences.unreadable:
            problems[index] = Problem(
                code="gold-unreadable",
                sentence=index + 1,
                detail="Gold cannot be read in this sentence.",
                gold_detail=f"Gold cannot be read: {gold.sentences.unreadable[index].detail}",
            )
        elif why[index, 0] == LENGTHS_DIFFER:
            problems[index] = Problem(
                code="word-count-mismatch",
                sentence=index + 1,
                line=line,
                detail="The sentence has not as many words as gold has here. Parse gold's own tokens.",
            )
        elif why[index, 0] != FINE:
            problems[index] = Problem(
                code="word-mismatch",
                sentence=index + 1,
                line=line,
                detail=f"Word {int(why[index, 1]) + 1} is not gold's word. Parse gold's own tokens.",
            )
    return problems
