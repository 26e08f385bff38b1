"""Report more than counts: spans and trees of a sentence, scores by label and length, kinds of errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of
from treescore.core.columns import Documents, Lists, Numbers, Records, Rows
from treescore.core.params import Json
from treescore.core.treebank_columns import strings_of, trees_of
from treescore.core.trees import NO_TAG, ConstituentTreebank
from treescore.metrics.parseval.bracket_tables import BracketTables, Columns
from treescore.metrics.parseval.choices import Choices
from treescore.metrics.parseval.kernel import collect
from treescore.metrics.parseval.scores import counts_of, score_table
from treescore.metrics.parseval.sides import Collected, Inputs


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

    def items(self, start: int, stop: int) -> Records:
        """Return spans and trees of the sentences from `start` to `stop`."""
        gold_spans, _ = self._spans(0, start, stop)
        system_spans, right = self._spans(1, start, stop)
        return Records(
            {
                "gold_spans": gold_spans,
                "system_spans": system_spans,
                "system_spans_right": Lists(system_spans.offsets, Numbers(right)),
                "gold_tree": trees_of(self.gold, start, stop, square=self._square),
                "system_tree": trees_of(self.system, start, stop, square=self._square),
            }
        )

    @cached_property
    def _square(self) -> bool:
        """Whether no word has a tag."""
        return bool((self.gold.tags == NO_TAG).all()) and bool((self.system.tags == NO_TAG).all())

    def _spans(self, side: int, start: int, stop: int) -> tuple[Lists, BoolArray]:
        """Return the spans of one side as lists of label, start and end, and whether each is matched, bool (k,)."""
        offsets = self._collected.offsets[side, start : stop + 1]
        starts, ends, labels, matched = self._brackets[side][:, offsets[0] : offsets[-1]]
        begin = self.choices.first_word
        rows = Rows([strings_of(labels, self.gold.vocabulary), Numbers(starts + begin), Numbers(ends + begin)])
        return Lists(offsets - offsets[0], rows), np.asarray(matched > 0, np.bool_)

    @cached_property
    def _collected(self) -> Collected:
        rooms = [len(side.labels) + len(side.words) for side in (self.inputs.gold, self.inputs.system)]
        gold, system = (np.empty((4, room), np.int64) for room in rooms)
        collected = Collected(gold, system, np.zeros((2, len(self.gold) + 1), np.int64))
        collect(self.inputs, collected)
        return collected

    @property
    def _brackets(self) -> tuple[IntArray, IntArray]:
        return self._collected.gold, self._collected.system

    def slices(self) -> dict[str, Documents]:
        """Return scores by sentence length and by label."""
        return self._tables.slices()

    def tables(self) -> dict[str, Json]:
        """Return confusions of labels over equal spans, and the kinds of errors."""
        return self._tables.tables()

    @property
    def _tables(self) -> BracketTables:
        unparsed = self.choices.tells_unparsed
        table = score_table(zero=self.choices.zero, unparsed=unparsed)
        return BracketTables(
            self.gold.vocabulary, table, counts_of(unparsed=unparsed), self.rows, self._used(0), self._used(1)
        )

    def _used(self, side: int) -> Columns:
        """Return the brackets of one side in sentences that count."""
        offsets = self._collected.offsets[side]
        used = np.repeat(self.valid, np.diff(offsets))
        owners = owners_of(offsets)
        columns = Columns(owners, *self._brackets[side][:, : len(owners)])
        return columns if used.all() else columns.rows(used)
