"""Group words by attributes of a word and of its neighbours, as MaltEval does: `Cpostag@-1#Wordform@0`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.trees import DependencyTreebank
from treescore.metrics.shared.groupings import GROUPINGS, Grouped, Groups

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

    def groups(self, sides: tuple[Grouped, Grouped], scoring: BoolArray) -> Groups:
        """Group the scoring words, bool (w,); neighbours are counted over all words, scoring or not."""
        names = dict.fromkeys(name for part in self.parts for name in part.names)
        keys = {name: [GROUPINGS[name].keys(side) for side in sides] for name in names}
        columns = [
            np.concatenate(
                [_neighbours(side, own, part.offset)[scoring] for side, own in zip(sides, keys[name], strict=True)]
            )
            for part in self.parts
            for name in part.names
        ]
        _, first, places = np.unique(_joined(columns), return_index=True, return_inverse=True)
        gold, system = np.split(places, 2)
        treebank = sides[0].treebank
        return Groups(
            gold, system, len(first), lambda place: self._value([int(c[first[place]]) for c in columns], treebank)
        )

    def _value(self, keys: Sequence[int], treebank: DependencyTreebank) -> str:
        """Write a value as MaltEval does: `"DET"@-1;"dog"@0`, `^@-1` before the sentence, `$@1` after it."""
        left = iter(keys)
        return ";".join(
            ",".join(_shown(name, next(left), treebank) for name in part.names) + f"@{part.offset}"
            for part in self.parts
        )


def _neighbours(side: Grouped, keys: IntArray, offset: int) -> IntArray:
    """Return the key of the word `offset` places from each word, int64 (w,)."""
    places = side.positions + offset
    found = keys[np.clip(np.arange(len(keys)) + offset, 0, len(keys) - 1)].astype(np.int64)
    found[places < 1] = BEFORE
    found[places > side.lengths] = AFTER
    return found


def _joined(columns: Sequence[IntArray]) -> IntArray:
    """Number the rows of several columns of length n; renumbering after each column keeps numbers below n²."""
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        distinct, places = np.unique(column, return_inverse=True)
        codes = np.unique(codes * len(distinct) + places, return_inverse=True)[1]
    return codes


def _shown(name: str, key: int, treebank: DependencyTreebank) -> str:
    if key in (BEFORE, AFTER):
        return "^" if key == BEFORE else "$"
    return f'"{GROUPINGS[name].value(key, treebank)}"'
