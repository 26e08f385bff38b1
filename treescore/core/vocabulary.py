"""Strings as small integers, shared by all texts of one evaluation: equal words are equal numbers."""

from __future__ import annotations

from itertools import count, filterfalse, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

import numpy as np

from treescore.core.arrays import IntArray


class _Numbers(dict[str, int]):
    """Number of each string; a new string gets the next."""

    __slots__ = ("strings",)

    def __init__(self) -> None:
        super().__init__({"": 0})
        self.strings = [""]

    def __missing__(self, string: str) -> int:
        number = self[string] = len(self.strings)
        self.strings.append(string)
        return number


class Vocabulary:
    """Numbers strings in order of appearance. One is made for each evaluation and handed to every reader.

    `vocabulary.strings[i]` is the string numbered i. Number 0 is always the empty string.
    """

    __slots__ = ("_numbers", "strings")

    def __init__(self) -> None:
        self._numbers = _Numbers()
        self.strings: list[str] = self._numbers.strings

    @classmethod
    def of_strings(cls, strings: Iterable[str]) -> Vocabulary:
        """Make the vocabulary that has these strings, each once, the empty string first."""
        made = cls()
        made.strings[:] = strings
        made._numbers.update(zip(made.strings, range(len(made.strings)), strict=True))
        return made

    def copy(self) -> Vocabulary:
        """Return a vocabulary with the same numbers, which grows on its own."""
        made = Vocabulary()
        made.strings[:] = self.strings
        made._numbers.clear()  # an empty dictionary takes all strings at once, not one by one
        made._numbers.update(self._numbers)
        return made

    def __len__(self) -> int:
        return len(self.strings)

    def number(self, string: str) -> int:
        """Return the number of one string, new or known."""
        return self._numbers[string]

    def get(self, string: str) -> int | None:
        """Return the number of a string, or None if no text has it."""
        return self._numbers.get(string)

    def numbers(self, strings: Iterable[str]) -> IntArray:
        """Return the numbers of many strings: int64 (n,)."""
        strings = strings if isinstance(strings, (list, tuple)) else list(strings)
        return np.fromiter(map(self._numbers.__getitem__, strings), np.int64, len(strings))

    def numbers_of_distinct(self, strings: Sequence[str]) -> IntArray:
        """Return the numbers of many strings, each of which stands once: int64 (n,)."""
        known, size = self._numbers, len(self.strings)
        self.strings.extend(filterfalse(known.__contains__, strings))
        known.update(zip(islice(self.strings, size, None), count(size)))
        return np.fromiter(map(known.__getitem__, strings), np.int64, len(strings))

    def distinct(self, numbers: IntArray) -> IntArray:
        """Return the distinct numbers among `numbers`, sorted, without the sort of `np.unique`."""
        used = np.zeros(len(self.strings), bool)
        used[numbers] = True
        return np.flatnonzero(used)

    def table(self, numbers: IntArray, function: Callable[[str], int]) -> IntArray:
        """Tabulate `function` of each string that occurs in `numbers`: int64 (len(self),), by number.

        The table is as long as the vocabulary is when it is returned; strings that do not occur have 0.
        """
        distinct = self.distinct(numbers)
        values = [function(self.strings[number]) for number in distinct.tolist()]
        table = np.zeros(len(self.strings), np.int64)
        table[distinct] = values
        return table

    def map(self, numbers: IntArray, function: dict[int, int]) -> IntArray:
        """Replace the numbers that are in `function`: int64, the same shape."""
        table = np.arange(len(self.strings), dtype=np.int64)
        for old, new in function.items():
            table[old] = new
        return table[numbers]
