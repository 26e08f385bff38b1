"""Count and report brackets of trees with gaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of, sums_by
from treescore.core.columns import Column, Documents, Lists, Numbers, Records, Rows
from treescore.core.params import Json
from treescore.core.registry import ERROR, OK, SKIP, StatusArray
from treescore.core.treebank_columns import ranges_of, strings_of
from treescore.core.trees import DiscontinuousTreebank
from treescore.core.vocabulary import Vocabulary
from treescore.metrics.parseval.bracket_tables import BracketTables, Columns, joint_keys, paired_rows
from treescore.metrics.parseval.choices import Choices
from treescore.metrics.parseval.discontinuous.brackets import UNMATCHED, Brackets, Compared
from treescore.metrics.parseval.discontinuous.scores import COUNTS, STATES, score_table
from treescore.metrics.shared.discodop import listed

_PLACE = ("label", "start", "end", "words")


class Comparison:
    """Two treebanks of n sentences that were compared.

    Attributes:
        status: ERROR where words differ or a side cannot be read, SKIP where the output has no words, uint8 (n,).
        rows: counts, columns as `score_table` has them, int64 (n, k).
    """

    def __init__(self, gold: DiscontinuousTreebank, system: DiscontinuousTreebank, choices: Choices) -> None:
        self._gold = gold
        self._choices = choices
        self.status = _status(gold, system, choices)
        self._compared = Compared(gold, system, choices, np.asarray(self.status == OK, np.bool_))
        counts = np.concatenate(
            [self._brackets(), self._words(system), np.zeros((len(gold), len(STATES)), np.int64)], 1
        )
        if choices.zero and not self._compared.fine.all():
            counts[~self._compared.fine] = absent_rows(gold, choices)[~self._compared.fine, : len(COUNTS)]
        _charge(counts, self.status, zero=choices.zero)
        uncounted = _listed_words(gold, choices)
        length = sums_by(owners_of(gold.word_offsets)[~uncounted], len(gold))
        short = counts * (length <= choices.cutoff)[:, None]
        self.rows = np.concatenate([counts, short, length[:, None]], axis=1)

    def _brackets(self) -> IntArray:
        """Count brackets of each sentence, int64 (n, 7), columns as BRACKETS; gold's of all sentences."""
        gold, system = self._compared.sides
        size = len(self._gold)
        matched = gold.partners != UNMATCHED
        spans = paired_rows([gold.sentences, *gold.yields], [system.sentences, *system.yields])[0]
        return np.stack(
            [
                sums_by(gold.sentences[matched], size),
                sums_by(gold.sentences, size),
                sums_by(system.sentences, size),
                sums_by(gold.sentences[spans], size),
                sums_by(gold.sentences[matched & gold.gaps], size),
                sums_by(gold.sentences[gold.gaps], size),
                sums_by(system.sentences[system.gaps], size),
            ],
            axis=1,
        )

    def _words(self, system: DiscontinuousTreebank) -> IntArray:
        """Count words, right tags and function tags of each sentence, int64 (n, 5), columns as WORDS."""
        gold, size = self._gold, len(self._gold)
        left, other = self._compared.kept
        owners = owners_of(gold.word_offsets)
        both = left & self._compared.fine[owners]
        agree = np.zeros(len(gold.words), np.bool_)
        agree[both] = gold.tags[both] == system.tags[other]
        places, others = np.flatnonzero(agree), np.flatnonzero(other)[agree[both]]
        tags = [
            _function_tags(gold.vocabulary, numbers)
            for numbers in (gold.word_functions[places], system.word_functions[others])
        ]
        of_words = owners[places]
        tagged = [of_words[words] for words, _ in tags]
        right = tagged[0][paired_rows(tags[0], tags[1])[0]]
        function_columns = zip(self._bracket_functions(), (right, *tagged), strict=True)
        return np.stack(
            [
                sums_by(owners[left], size),
                sums_by(owners[places], size),
                *(sums_by(np.concatenate(each), size) for each in function_columns),
            ],
            axis=1,
        )

    def _bracket_functions(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the sentences of function tags that match, of gold's and of the output's.

        Only brackets that the other side has too, under the same label, count.
        """
        gold, system = self._compared.sides
        keys = joint_keys(gold.key, system.key)
        chosen = []
        for side, own in zip((gold, system), keys, strict=True):
            shared = side.partners != UNMATCHED  # of equal brackets all count that the other side has once
            shared[~shared] = np.isin(own[~shared], own[shared])
            brackets, tags = _function_tags(self._gold.vocabulary, side.functions[shared])
            chosen.append((side.sentences[shared][brackets], own[shared][brackets], tags))
        matched = paired_rows(chosen[0][1:], chosen[1][1:])[0]
        return chosen[0][0][matched], chosen[0][0], chosen[1][0]

    def slices(self) -> dict[str, Documents]:
        """Return scores by sentence length and by label."""
        return self._tables.slices()

    def extra(self) -> dict[str, Json]:
        """Return confusions of labels over equal words, and the kinds of errors."""
        return self._tables.tables()

    @cached_property
    def _tables(self) -> BracketTables:
        gold, system = self._compared.sides
        fine = self._compared.fine[gold.sentences]
        matched_labels = np.append(system.labels, UNMATCHED)[gold.partners]  # UNMATCHED, the last, stays UNMATCHED
        golds = Columns(gold.sentences, *gold.yields, gold.labels, matched_labels).rows(fine)
        systems = Columns(
            system.sentences, *system.yields, system.labels, (system.partners != UNMATCHED).astype(np.int64)
        )
        table = score_table(zero=self._choices.zero)
        return BracketTables(self._gold.vocabulary, table, COUNTS, self.rows, golds, systems)

    def items(self, start: int, stop: int) -> Records:
        """Return the brackets of the sentences from `start` to `stop`, and which the other side has."""
        gold, system = self._compared.sides
        members = {}
        for name, right, side in (
            ("gold_spans", "gold_spans_found", gold),
            ("system_spans", "system_spans_right", system),
        ):
            members[name], flags = self._spans(side, start, stop)
            members[right] = Lists(members[name].offsets, Numbers(flags))
        return Records(members)

    def _spans(self, side: Brackets, start: int, stop: int) -> tuple[Lists, BoolArray]:
        """Return brackets as lists of label, first word, the word after the last one, and number of words."""
        rows = slice(*np.searchsorted(side.sentences, [start, stop]).tolist())
        offsets = offsets_of(sums_by(side.sentences[rows] - start, stop - start))
        columns: list[Column] = [
            strings_of(side.labels[rows], self._gold.vocabulary),
            Numbers(side.firsts[rows]),
            Numbers(side.lasts[rows] + 1),
            Numbers(side.sizes[rows]),
        ]
        return Lists(offsets, Rows(columns)), side.partners[rows] != UNMATCHED


def gap_errors(item: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    """Return gold's brackets that the output lacks (`missed`), then the output's that gold lacks (`wrong`)."""
    for kind, spans, flags in (
        ("missed", "gold_spans", "gold_spans_found"),
        ("wrong", "system_spans", "system_spans_right"),
    ):
        for (label, start, end, words), right in zip(item[spans], item[flags], strict=True):
            if not right:
                yield {"kind": kind, "label": label, "start": start, "end": end, "words": words}


def gap_brackets_beside(item: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    """Return the brackets of a sentence, outer ones first, with a mark under the sides that have them."""
    rows = []
    for (label, start, end, words), found in zip(item["gold_spans"], item["gold_spans_found"], strict=True):
        row = {"label": label, "start": start, "end": end, "words": words}
        rows.append({**row, "gold": "x", "system": "x" if found else "", "error": "" if found else "missed"})
    errors = list(gap_errors(item))
    beside = {"gold": "", "system": "x", "error": "wrong"}
    rows += [{name: row[name] for name in _PLACE} | beside for row in errors if row["kind"] == "wrong"]
    return iter(sorted(rows, key=lambda row: (row["start"], -row["end"])))


def absent_rows(gold: DiscontinuousTreebank, choices: Choices) -> IntArray:
    """Count each sentence of gold as one that the output skips: int64 (n, k)."""
    compared = Comparison(gold, gold, replace(choices, zero=False))
    counts = compared.rows[:, : len(COUNTS)]
    _charge(counts, np.full(len(gold), SKIP, np.uint8), zero=True)
    length = compared.rows[:, -1:]
    return np.concatenate([counts, counts * (length <= choices.cutoff), length], axis=1)


def _status(gold: DiscontinuousTreebank, system: DiscontinuousTreebank, choices: Choices) -> StatusArray:
    """Return the status of each sentence, uint8 (n,)."""
    status = np.where(choices.deletions.words_agree(gold, system), OK, ERROR).astype(np.uint8)
    status[(np.diff(system.word_offsets) == 0) & (np.diff(gold.word_offsets) > 0)] = SKIP
    status[[*gold.sentences.unreadable, *system.sentences.unreadable]] = ERROR
    return status


def _charge(counts: IntArray, status: StatusArray, *, zero: bool) -> None:
    """Fill the states of the sentences, and leave out what is not valid; with `zero` count it as wrong: (n, k)."""
    column = {name: number for number, name in enumerate(COUNTS)}
    valid = status == OK
    if zero:
        for right in ("matched", "unlabelled_matched", "disc_matched", "correct_tags", "function_matched"):
            counts[~valid, column[right]] = 0
        for system, gold in (("system", "gold"), ("disc_system", "disc_gold"), ("function_system", "function_gold")):
            counts[~valid, column[system]] = counts[~valid, column[gold]]
    else:
        counts[~valid] = 0
    matched, golds, systems = (counts[:, column[name]] for name in ("matched", "gold", "system"))
    gaps = [counts[:, column[f"disc_{name}"]] for name in ("matched", "gold", "system")]
    counted = valid | zero
    for name, flags in (
        ("sentences", np.ones(len(status), np.bool_)),
        ("error", status == ERROR),
        ("skip", status == SKIP),
        ("valid", valid),
        ("complete", valid & (matched == golds) & (golds == systems)),
        ("disc_sentences", counted & (gaps[1] + gaps[2] > 0)),
        ("disc_complete", valid & (gaps[1] + gaps[2] > 0) & (gaps[0] == gaps[1]) & (gaps[1] == gaps[2])),
    ):
        counts[:, column[name]] = flags


def _listed_words(gold: DiscontinuousTreebank, choices: Choices) -> BoolArray:
    """Find the words that do not count in the length, bool (w,)."""
    return listed(gold.vocabulary, choices.delete_labels_for_length)[gold.tags] & (gold.tags >= 0)


def _function_tags(vocabulary: Vocabulary, functions: IntArray) -> tuple[IntArray, IntArray]:
    """Split the functions of n units at hyphens: SB-X is the tags SB and X.

    Args:
        vocabulary: what the numbers mean.
        functions: of the units, 0 for none, int64 (n,).

    Returns:
        The unit of each function tag, from 0, and the tag's number, int64.
    """
    distinct = vocabulary.distinct(functions)
    tags = [vocabulary.strings[number].split("-") if number else [] for number in distinct.tolist()]
    lengths = np.array([len(names) for names in tags], np.int64)
    units = np.searchsorted(distinct, functions)
    places, offsets = ranges_of(offsets_of(lengths)[units], lengths[units])
    return owners_of(offsets), vocabulary.numbers([name for names in tags for name in names])[places]
