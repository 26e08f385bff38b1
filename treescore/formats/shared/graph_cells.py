"""The cells of graphs in columns: some that each line has, and behind them one for each predicate of the sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from treescore.core.arrays import BoolArray, Bytes, IntArray, offsets_of, sums_by
from treescore.core.treebank_columns import ranges_of
from treescore.core.vocabulary import Vocabulary
from treescore.formats.shared.fields import Fields, numbered_fields
from treescore.formats.shared.lines import Outline

FIXED = 7
"""Columns of each line in texts of 2015; those of 2014 lack the last one."""
PRED = 5
_TAB, _NEWLINE, _YES, _NONE = b"\t\n+_"
_WIDE, _NARROW = b"#SDP 2015", b"#SDP 2014"


@dataclass(frozen=True)
class Cells:
    """The cells of r lines.

    Attributes:
        outline: of the text.
        vocabulary: to which strings are added.
        begins, ends: bytes of each cell, half-open, int64 (c,).
        rows: line of each cell, int64 (c,).
        offsets: int64 (r + 1,), line i has the cells `offsets[i]:offsets[i + 1]`.
    """

    outline: Outline
    vocabulary: Vocabulary
    begins: IntArray
    ends: IntArray
    rows: IntArray
    offsets: IntArray

    @cached_property
    def counts(self) -> IntArray:
        """How many cells each line has, int64 (r,)."""
        return np.diff(self.offsets)

    @cached_property
    def predicates_of_row(self) -> IntArray:
        """How many predicates the sentence of each line has, int64 (r,)."""
        flagged = np.flatnonzero(self.counts > PRED)
        flagged = flagged[self._is(self.offsets[flagged] + PRED, _YES)]
        sentences = self.outline.sentences
        return sums_by(sentences[flagged], len(self.outline.sent_ids))[sentences]

    @cached_property
    def fixed(self) -> int:
        """How many columns stand before those of the predicates: as the first line says, else as most lines have."""
        for header, columns in ((_WIDE, FIXED), (_NARROW, FIXED - 1)):
            if self.outline.text.startswith(header):
                return columns
        more = self.counts - self.predicates_of_row
        return FIXED if (more == FIXED).sum() >= (more == FIXED - 1).sum() else FIXED - 1

    @cached_property
    def columns(self) -> Fields:
        """The strings of the fixed columns of all lines, each of which must have them."""
        lasts = self.offsets[:-1] + self.fixed - 1
        places, offsets = ranges_of(self.outline.starts, self.ends[lasts] + 1 - self.outline.starts)
        text = self._characters[places]
        text[offsets[1:] - 1] = _NEWLINE
        fields = numbered_fields(text.tobytes(), offsets[:-1], offsets[1:] - 1, self.fixed, self.vocabulary)
        assert fields is not None  # noqa: S101 - each line has been given as many
        return fields

    @cached_property
    def arguments(self) -> tuple[IntArray, IntArray]:
        """The lines of the cells that hold a role, and which predicate of the sentence each is of, from 0."""
        rows = self.rows[self._roles]
        return rows, self._roles - self.offsets[rows] - self.fixed

    @property
    def labels(self) -> IntArray:
        """The roles, numbers of strings."""
        text = self.outline.text
        bounds = zip(self.begins[self._roles].tolist(), self.ends[self._roles].tolist(), strict=True)
        return self.vocabulary.numbers([text[begin:end].decode() for begin, end in bounds])

    @cached_property
    def empty(self) -> IntArray:
        """The first empty cell of each line that has one."""
        found = np.flatnonzero(self.begins == self.ends)
        return found[np.unique(self.rows[found], return_index=True)[1]]

    @cached_property
    def _roles(self) -> IntArray:
        columns = np.arange(len(self.rows)) - self.offsets[self.rows]
        behind = np.flatnonzero(columns >= self.fixed)
        return behind[~self._is(behind, _NONE)]

    @cached_property
    def _characters(self) -> Bytes:
        return np.frombuffer(self.outline.text, np.uint8)

    def _is(self, cells: IntArray, character: int) -> BoolArray:
        """Tell of cells whether they hold one character alone."""
        alone = self.ends[cells] - self.begins[cells] == 1
        return np.asarray(alone & (self._characters[self.begins[cells]] == character), np.bool_)


def cells_of(outline: Outline, vocabulary: Vocabulary) -> Cells:
    """Cut the lines of a text at tabs."""
    characters = np.frombuffer(outline.text, np.uint8)
    ends = np.flatnonzero((characters == _TAB) | (characters == _NEWLINE))
    rows = np.searchsorted(outline.starts, ends, "right") - 1
    own = (rows >= 0) & (ends <= outline.ends[rows])
    ends, rows = ends[own], rows[own]
    offsets = offsets_of(sums_by(rows, len(outline.starts)))
    begins = np.append(0, ends[:-1] + 1)
    begins[offsets[:-1]] = outline.starts
    return Cells(outline, vocabulary, begins, ends, rows, offsets)
