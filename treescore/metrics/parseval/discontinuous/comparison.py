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
from treescore.core.treebank_columns import strings_of
from treescore.core.trees import DiscontinuousTreebank
from treescore.metrics.parseval.bracket_tables import BracketTables, Columns, paired_rows
from treescore.metrics.parseval.choices import Choices
from treescore.metrics.parseval.discontinuous.brackets import UNMATCHED, Brackets, Compared
from treescore.metrics.parseval.discontinuous.function_tags import function_tags
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
        """Count brackets of each sentence, int64 (n, 9), columns as BRACKETS; gold's of all sentences."""
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
                sums_by(gold.sentences[gold.distinct], size),
                sums_by(system.sentences[system.distinct], size),
            ],
            axis=1,
        )

    def _words(self, system: DiscontinuousTreebank) -> IntArray:
        """Count words, right tags and function tags of each sentence, int64 (n, 5), columns as WORDS."""
        gold, size = self._gold, len(self._gold)
        left, other = self._compared.kept
        owners = owners_of(gold.word_offsets)
        both = left & self._compared.fine[owners]
        right = gold.tags[both] == system.tags[other]
        columns = (owners[left], owners[both][right], *function_tags(self._compared))
        return np.stack([sums_by(column, size) for column in columns], axis=1)

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
        table = score_table(zero=self._choices.zero, only_gaps=self._choices.only_gaps)
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
        for kind in ("", "disc_", "distinct_", "function_"):
            counts[~valid, column[f"{kind}system"]] = counts[~valid, column[f"{kind}gold"]]
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
