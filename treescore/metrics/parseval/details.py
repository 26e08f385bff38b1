"""Report more than counts: spans, errors, marks and trees of a sentence, and tables of brackets.

Tables are scores by label and length, confusions of labels, and kinds of errors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, repeat
from operator import not_
from typing import NamedTuple

import numpy as np

from treescore.core import columns
from treescore.core.arrays import BoolArray, IntArray, grouped, owners_of, paired_rows, ranked, sums_of_rows
from treescore.core.params import Json
from treescore.core.registry import Marks, MarkState, paired_states
from treescore.core.scores import ScoreTable, harmonic
from treescore.core.trees import NO_TAG, ConstituentTreebank, Vocabulary
from treescore.metrics.parseval.choices import Choices
from treescore.metrics.parseval.comparison import QUOTES, Collected, Inputs, Side, Tables, are_bare, collect, inputs_of
from treescore.metrics.parseval.scores import counts_of, table_of
from treescore.metrics.shared.constituents import ELLIPSIS, Trees, compared_words, shown_words

LENGTH_BIN = 10
"""Sentence lengths are grouped in bins of this many words."""

MOST_SHOWN = 100
"""The most rows of a table of errors or confusions."""


class BracketColumns(NamedTuple):
    """Brackets of the sentences that count; `matched` as in `treescore.metrics.parseval.comparison.Collected`.

    `starts` and `ends` say where brackets have the same words; with gaps they are no places in a sentence.
    """

    sentences: IntArray
    starts: IntArray
    ends: IntArray
    labels: IntArray
    matched: IntArray

    def rows(self, chosen: BoolArray) -> BracketColumns:
        """Return some of the brackets."""
        places = np.flatnonzero(chosen)
        return BracketColumns(*(column[places] for column in self))

    def without(self, removed: IntArray) -> BracketColumns:
        """Return all but the brackets of these numbers."""
        chosen: BoolArray = np.ones(len(self.sentences), np.bool_)
        chosen[removed] = False
        return self.rows(chosen)


@dataclass(frozen=True)
class BracketTables:
    """What can be said of the brackets of two treebanks that were compared.

    Attributes:
        vocabulary: what the labels mean.
        table: counts and scores of a sentence.
        counts: the counts that the rows of slices show.
        rows: counts of the sentences, int64 (n, k).
        gold, system: the brackets of both sides.
    """

    vocabulary: Vocabulary
    table: ScoreTable
    counts: Sequence[str]
    rows: IntArray
    gold: BracketColumns
    system: BracketColumns

    def slices(self) -> dict[str, columns.Documents]:
        """Return scores by sentence length and by label."""
        return {"length": self._by_length(), "label": self._by_label()}

    def _by_length(self) -> columns.Documents:
        table = self.table
        lengths = self.rows[:, table.count_names.index("length")].astype(np.int64)
        numbers, groups = np.unique(np.maximum(lengths - 1, 0) // LENGTH_BIN, return_inverse=True)
        counts, scores = columns.counts_and_scores(table, sums_of_rows(groups, len(numbers), self.rows))
        return columns.rows_of(
            columns.column_of(
                [
                    f"{number * LENGTH_BIN + 1 if number else 0}-{number * LENGTH_BIN + LENGTH_BIN}"
                    for number in numbers.tolist()
                ]
            ),
            {name: counts[name] for name in self.counts},
            {name: column for name, column in scores.items() if not name.startswith("cutoff.")},
        )

    def _by_label(self) -> columns.Documents:
        """Return precision, recall and F1 of each label, most gold brackets first."""
        gold, system = self.gold, self.system
        size = len(self.vocabulary)
        golds = np.bincount(gold.labels, minlength=size)
        systems = np.bincount(system.labels, minlength=size)
        matched_gold = np.bincount(gold.labels[gold.matched >= 0], minlength=size)
        matched_system = np.bincount(system.labels[system.matched > 0], minlength=size)
        labels = np.flatnonzero(golds + systems)
        order = labels[np.lexsort((labels, -systems[labels], -golds[labels]))]
        golds, systems, matched_gold, matched_system = (
            of_labels[order] for of_labels in (golds, systems, matched_gold, matched_system)
        )
        # with equal labels `matched`, gold's, differs from the system's
        recall, precision = columns.Quotients([matched_gold], [golds]), columns.Quotients([matched_system], [systems])
        with np.errstate(invalid="ignore"):
            f1 = harmonic([matched_system / systems, matched_gold / golds])
        return columns.rows_of(
            columns.strings_of(order, self.vocabulary),
            {
                "gold": columns.Numbers(golds),
                "system": columns.Numbers(systems),
                "matched": columns.Numbers(matched_gold),
            },
            {"f1": columns.real_numbers(f1), "precision": precision, "recall": recall},
        )

    def errors(self) -> dict[str, Json]:
        """Return confusions of labels over equal spans, and the kinds of errors, most frequent first."""
        gold, system = self.gold, self.system
        unmatched_gold, unmatched_system = gold.rows(gold.matched < 0), system.rows(system.matched == 0)
        mislabelled = paired_rows(unmatched_gold[:3], unmatched_system[:3])
        wrong_labels = unmatched_gold.labels[mislabelled[0]], unmatched_system.labels[mislabelled[1]]
        rest_gold, rest_system = unmatched_gold.without(mislabelled[0]), unmatched_system.without(mislabelled[1])
        wrong_spans = paired_rows((rest_gold.sentences, rest_gold.labels), (rest_system.sentences, rest_system.labels))
        kinds = (
            ("wrong_label", wrong_labels[0]),
            ("wrong_span", rest_gold.labels[wrong_spans[0]]),
            ("missing", rest_gold.without(wrong_spans[0]).labels),
            ("spurious", rest_system.without(wrong_spans[1]).labels),
        )
        right = gold.matched >= 0
        label_pairs = (
            np.concatenate([gold.labels[right], wrong_labels[0]]),
            np.concatenate([gold.matched[right], wrong_labels[1]]),
        )
        return {"errors": self._frequent(kinds), "confusion": self._confusion(*label_pairs)}

    def _frequent(self, kinds: Sequence[tuple[str, IntArray]]) -> dict[str, Json]:
        strings = self.vocabulary.strings
        errors = [
            {"kind": kind, "label": strings[label], "count": count}
            for kind, labels in kinds
            for label, count in zip(*(part.tolist() for part in np.unique(labels, return_counts=True)), strict=True)
        ]
        errors.sort(key=lambda error: (-int(error["count"]), str(error["kind"]), str(error["label"])))
        return {"kinds": {kind: len(labels) for kind, labels in kinds}, "frequent": errors[:MOST_SHOWN]}

    def _confusion(self, gold: IntArray, system: IntArray) -> list[dict[str, Json]]:
        """Count the pairs of labels of gold and output over the same span, with matched brackets."""
        strings = self.vocabulary.strings
        labels, numbers = ranked(np.concatenate([gold, system]))
        both = numbers[: len(gold)] * len(labels) + numbers[len(gold) :]
        groups, firsts = grouped(both)
        pairs, counts = both[firsts], np.bincount(groups)
        order = np.lexsort((pairs, -counts))[:MOST_SHOWN]
        names = [strings[label] for label in labels.tolist()]
        return [
            {"gold": names[pair // len(names)], "system": names[pair % len(names)], "count": count}
            for pair, count in zip(pairs[order].tolist(), counts[order].tolist(), strict=True)
        ]


@dataclass(frozen=True)
class ComparedTreebanks:
    """Two treebanks that were compared; details, slices and tables are computed on demand.

    Slices and tables are over the brackets of the sentences that are `valid`, bool (n,).
    """

    gold: ConstituentTreebank
    system: ConstituentTreebank
    choices: Choices
    inputs: Inputs
    rows: IntArray
    valid: BoolArray

    def items(self, start: int, stop: int) -> columns.Records:
        """Return spans and trees of the sentences from `start` to `stop`."""
        gold_spans, _ = self._spans(0, start, stop)
        system_spans, right = self._spans(1, start, stop)
        return columns.Records(
            {
                "gold_spans": gold_spans,
                "system_spans": system_spans,
                "system_spans_right": columns.Lists(system_spans.offsets, columns.Numbers(right)),
                "gold_tree": columns.trees_of(self.gold, start, stop, square=self._square),
                "system_tree": columns.trees_of(self.system, start, stop, square=self._square),
            }
        )

    @cached_property
    def _square(self) -> bool:
        """Whether no word has a tag."""
        return bool((self.gold.tags == NO_TAG).all()) and bool((self.system.tags == NO_TAG).all())

    def _spans(self, side: int, start: int, stop: int) -> tuple[columns.Lists, BoolArray]:
        """Return the spans of one side as lists of label, start and end, and whether each is matched, bool (k,)."""
        offsets = self._collected.offsets[side, start : stop + 1]
        starts, ends, labels, matched = self._collected[side][:, offsets[0] : offsets[-1]]
        begin = self.choices.first_word
        names, spans = columns.strings_of(labels, self.gold.vocabulary), (starts + begin, ends + begin)
        rows = columns.Rows([names, *map(columns.Numbers, spans)])
        return columns.Lists(offsets - offsets[0], rows), np.asarray(matched > 0, np.bool_)

    @cached_property
    def _collected(self) -> Collected:
        return collect(self.inputs)

    def tables(self) -> BracketTables:
        """Slices, and tables of errors, over the brackets of the sentences that are `valid`."""
        counts = counts_of(self.choices)
        return BracketTables(
            self.gold.vocabulary, table_of(self.choices), counts, self.rows, self._used(0), self._used(1)
        )

    def _used(self, side: int) -> BracketColumns:
        """Return the brackets of one side in sentences that count."""
        offsets = self._collected.offsets[side]
        used = np.repeat(self.valid, np.diff(offsets))
        owners = owners_of(offsets)
        brackets = BracketColumns(owners, *self._collected[side][:, : len(owners)])
        return brackets if used.all() else brackets.rows(used)


Span = tuple[int, int]
Bracket = tuple[str, int, int]
_PLACE = ("label", "start", "end", "words")
"""Members of a row that say which bracket it is; the last, their number, where brackets may have gaps."""


def bracket_errors(item: Mapping[str, Json], choices: Choices, gold: Trees) -> Iterator[dict[str, Json]]:
    """Return gold's brackets that the output lacks (`missed`), then the output's that gold lacks (`wrong`).

    Each has its words as `text`, None where spans do not count gold's words alone.
    """
    words, first = _words_of_spans(item["item"] - 1, choices, gold), choices.first_word
    golds, systems = ([tuple(span) for span in item[name]] for name in ("gold_spans", "system_spans"))
    right: list[Bracket] = list(compress(systems, item["system_spans_right"]))
    wrong = compress(systems, map(not_, item["system_spans_right"]))
    found = item.get("gold_spans_found")
    missed = _without(golds, right, choices) if found is None else compress(golds, map(not_, found))
    for kind, spans in (("missed", missed), ("wrong", wrong)):
        for span in spans:
            text = None if words is None else _text_of(words, span[1] - first, span[2] - first, *span[3:])
            yield {"kind": kind, **dict(zip(_PLACE, span, strict=False)), "text": text}


def _text_of(words: Sequence[str], start: int, end: int, size: int | None = None) -> str:
    """Return the words of a bracket, of many the first ones; of one that leaves words out the first and the last."""
    inside = words[start : max(start, end)]
    if size in (None, len(inside)):
        return shown_words(inside)
    return f"{inside[0]} {ELLIPSIS} {inside[-1]}" if size > 1 else inside[0]


def _words_of_spans(sentence: int, choices: Choices, gold: Trees) -> list[str] | None:
    """Return the words of gold that spans count; None where empty constituents or repaired quotes count among them."""
    if choices.empty_constituents == "word":
        return None
    if choices.gaps or not choices.delete_words:
        return compared_words(gold, sentence)
    words = compared_words(gold, sentence, choices.delete_labels)
    deleted = Counter(compared_words(gold, sentence)) - Counter(words)
    return None if choices.quote_labels and any(map(deleted.__contains__, QUOTES)) else words


def brackets_beside(item: Mapping[str, Json], errors: list[dict[str, Json]]) -> Iterator[dict[str, Json]]:
    """Return the brackets of a sentence, outer ones first, with a mark under the sides that have them."""
    places = [(row["kind"], {name: row[name] for name in _PLACE if name in row}) for row in errors]
    left = Counter(tuple(place.values()) for kind, place in places if kind == "missed")
    found = item.get("gold_spans_found", repeat(None))
    rows = []
    for span, is_found in zip(map(tuple, item["gold_spans"]), found, strict=False):
        missed = left[span] > 0 if is_found is None else not is_found
        left[span] -= missed
        marks = {"gold": "x", "system": "" if missed else "x", "error": "missed" if missed else ""}
        rows.append({**dict(zip(_PLACE, span, strict=False)), **marks})
    rows += [{**place, "gold": "", "system": "x", "error": kind} for kind, place in places if kind == "wrong"]
    return iter(sorted(rows, key=lambda row: (row["start"], -row["end"])))


def _without(brackets: list[Bracket], matched: list[Bracket], choices: Choices) -> list[Bracket]:
    """Leave out one bracket of gold for each matched one: the same, else one over its span.

    Of several over one span those go first whose label is equal. Equality need not be transitive, so that the program
    may have paired them otherwise; their number is right in any case.
    """
    same = Counter(matched)
    others: dict[Span, list[str]] = {}
    for label, start, end in brackets:
        if same[label, start, end] > 0:
            same[label, start, end] -= 1
        else:
            others.setdefault((start, end), []).append(label)
    pairs = {frozenset(pair) for pair in choices.equal_labels}
    for (label, start, end), count in same.items():
        golds = others.get((start, end), [])
        for _ in range(count):
            golds.remove(next((each for each in golds if frozenset((label, each)) in pairs), golds[0]))
    left = Counter((label, *span) for span, labels in others.items() for label in labels)
    rest = []
    for bracket in reversed(brackets):
        if left[bracket] > 0:
            left[bracket] -= 1
            rest.append(bracket)
    return rest[::-1]


_Nodes = tuple[Sequence[IntArray], BoolArray, IntArray]
"""The nodes of one side over the words that are compared: sentences, starts, ends and labels; whether each counts; and
how many of these words each sentence has."""


def span_marks(choices: Choices, gold: ConstituentTreebank, system: ConstituentTreebank, compared: BoolArray) -> Marks:
    """Return the marks of the constituents that a metric with these choices counts.

    Constituents are compared as multisets, after the deletions of the choices. Where the words that are left differ in
    number, nothing is marked.

    Args:
        choices: of the metric.
        gold: the gold treebank.
        system: an output of as many sentences.
        compared: sentences that are compared at all, bool (n,); nothing is marked in others.
    """
    inputs = inputs_of(choices, gold, system)
    pair = (inputs.gold, inputs.system) if choices.bare_spans else (gold, system)  # words are deleted there
    sides = [_marked_nodes(each, inputs.tables, choices) for each in pair]
    comparable = compared & (sides[0][2] == sides[1][2])
    comparable[[*gold.sentences.unreadable, *system.sentences.unreadable]] = False
    left = [np.flatnonzero(counted & comparable[nodes[0]]) for nodes, counted, _ in sides]
    return paired_marks([nodes for nodes, _, _ in sides], left)


def paired_marks(sides: Sequence[Sequence[IntArray]], left: list[IntArray]) -> Marks:
    """Return the marks of the constituents of gold and of an output, compared as multisets.

    Args:
        sides: of each side's constituents three columns that name the span, and the label, each int64 (k,).
        left: those of each side that are compared.
    """
    states = [np.zeros(len(nodes[0]), np.int64) for nodes in sides]
    for number, rows in enumerate(left):
        states[number][rows] = MarkState.SPAN
    paired_states(sides, left, states)
    return Marks(system=states[1], gold=states[0])


def _marked_nodes(treebank: ConstituentTreebank | Side, tables: Tables, choices: Choices) -> _Nodes:
    kept = (treebank.tags < 0) | ~tables.deleted[treebank.tags]
    before = np.concatenate([[0], np.cumsum(kept)])
    owners = owners_of(treebank.node_offsets)
    firsts = treebank.word_offsets[owners]
    starts, ends = (before[firsts + bound] - before[firsts] for bound in (treebank.starts, treebank.ends))
    labels = tables.cut[treebank.labels]
    counted = ~tables.dropped[labels] & (ends > starts)
    for first, second in tables.equal_labels.pairs.tolist():
        labels = np.where(labels == second, first, labels)
    compared = labels if choices.labelled else np.zeros_like(labels)
    words = np.diff(before[treebank.word_offsets])
    if choices.bare_spans:
        counted = are_bare(owners, starts, ends, words, counted)
    return [owners, starts, ends, compared], counted, words
