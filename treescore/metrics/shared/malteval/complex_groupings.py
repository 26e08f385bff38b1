"""Group words by attributes of a word and of its neighbours, as MaltEval does: `Cpostag@-1#Wordform@0`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.slice_rows import column_of
from treescore.core.trees import DependencyTreebank
from treescore.metrics.shared.groupings import GROUPINGS, Groups, WordAttributes

BEFORE, AFTER = (int(np.iinfo(np.int64).min) + place for place in (0, 1))
"""Keys of the places before the first and after the last word of a sentence."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """Names of groupings, applied to the word `offset` places to the right (negative: to the left)."""

    names: tuple[str, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class ComplexGrouping:
    """Groups words by all attributes together; places outside the sentence have keys of their own."""

    parts: tuple[Attributes, ...]

    def groups(self, sides: tuple[WordAttributes, WordAttributes], scoring: BoolArray) -> Groups:
        """Group the scoring words, bool (w,); neighbours are counted over all words, scoring or not."""
        names = dict.fromkeys(name for part in self.parts for name in part.names)
        keys = {name: [side.keys(name) for side in sides] for name in names}
        columns = [
            np.concatenate(
                [
                    _neighbours(side, keys_of_side, part.offset)[scoring]
                    for side, keys_of_side in zip(sides, keys[name], strict=True)
                ]
            )
            for part in self.parts
            for name in part.names
        ]
        _, first, groups = np.unique(_row_codes(columns), return_index=True, return_inverse=True)
        gold, system = np.split(groups, 2)
        treebank = sides[0].treebank
        return Groups(
            gold,
            system,
            len(first),
            lambda chosen: column_of(
                [self._value(keys, treebank) for keys in np.stack(columns, axis=1)[first[chosen]].tolist()]
            ),
        )

    def _value(self, keys: Sequence[int], treebank: DependencyTreebank) -> str:
        """Write a value as MaltEval does: `"DET"@-1;"dog"@0`, `^@-1` before the sentence, `$@1` after it."""
        remaining = iter(keys)
        return ";".join(
            ",".join(_printed(name, next(remaining), treebank) for name in part.names) + f"@{part.offset}"
            for part in self.parts
        )


def _neighbours(side: WordAttributes, keys: IntArray, offset: int) -> IntArray:
    """Return the key of the word `offset` places from each word, int64 (w,)."""
    positions = side.positions + offset
    neighbours = keys[np.clip(np.arange(len(keys)) + offset, 0, len(keys) - 1)].astype(np.int64)
    neighbours[positions < 1] = BEFORE
    neighbours[positions > side.lengths] = AFTER
    return neighbours


def _row_codes(columns: Sequence[IntArray]) -> IntArray:
    """Number the rows of several columns of length n; renumbering after each column keeps numbers below n²."""
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        distinct, codes_of_column = np.unique(column, return_inverse=True)
        codes = np.unique(codes * len(distinct) + codes_of_column, return_inverse=True)[1]
    return codes


def _printed(name: str, key: int, treebank: DependencyTreebank) -> str:
    if key in (BEFORE, AFTER):
        return "^" if key == BEFORE else "$"
    return f'"{GROUPINGS[name].values(np.array([key]), treebank).documents(0, 1)[0]}"'
