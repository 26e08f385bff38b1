"""JSON values of many items as columns: a few arrays instead of an object for each member of each item.

A column of n values makes the documents of any range of them when asked. Columns nest: a list for each item is a column
of offsets over another column. Strings are numbers of a list that several columns may share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from treescore.core.tree_text import tree_text

if TYPE_CHECKING:
    from treescore.core.arrays import BoolArray, FloatArray, IntArray
    from treescore.core.params import Json

_LEFT_OUT = object()
"""Stands in a list of values for a member that its object lacks."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Numbers or truth values: int64, float64 or bool (n,); NaN is null."""

    values: IntArray | FloatArray | BoolArray

    def __len__(self) -> int:
        return len(self.values)

    def documents(self, start: int, stop: int) -> list[Json]:
        """Return the values from `start` to `stop`."""
        values = self.values[start:stop]
        found: list[Json] = values.tolist()
        if values.dtype.kind == "f" and np.isnan(values).any():
            return [None if value != value else value for value in found]  # noqa: PLR0124 - NaN
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Strings:
    """Strings by number.

    Attributes:
        numbers: int64 (n,), indices into `strings`.
        strings: what the numbers mean; other columns may share it.
    """

    numbers: IntArray
    strings: Sequence[str]

    def __len__(self) -> int:
        return len(self.numbers)

    def documents(self, start: int, stop: int) -> list[Json]:
        """Return the values from `start` to `stop`."""
        return list(map(self.strings.__getitem__, self.numbers[start:stop].tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class Numerals:
    """Strings most of which are whole numbers in plain digits.

    Attributes:
        values: the number from 0; or below 0 a string, -1 the first of `strings`: int64 (n,).
        strings: the other strings.
    """

    values: IntArray
    strings: Sequence[str]

    def __len__(self) -> int:
        return len(self.values)

    def documents(self, start: int, stop: int) -> list[Json]:
        """Return the values from `start` to `stop`."""
        return [str(each) if each >= 0 else self.strings[-1 - each] for each in self.values[start:stop].tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class Some:
    """Values of which some are null, or left out of their objects.

    Attributes:
        known: which are neither, bool (n,).
        of: the known ones alone.
        left_out: whether the object of the others lacks the member; else it is null.
    """

    known: BoolArray
    of: Column
    left_out: bool = False

    def __len__(self) -> int:
        return len(self.known)

    def documents(self, start: int, stop: int) -> list[Json]:
        """Return the values from `start` to `stop`."""
        known = self.known[start:stop].tolist()
        first = int(np.count_nonzero(self.known[:start]))
        found = iter(self.of.documents(first, first + sum(known)))
        other = _LEFT_OUT if self.left_out else None
        return [next(found) if each else other for each in known]


@dataclass(frozen=True, slots=True, eq=False)
class Quotients:
    """Sums of numbers divided by sums of whole ones: float64 as the division gives it, null where the divisor is 0.

    Attributes:
        dividends: arrays that are added, int64 (n,), or one of float64; one may stand several times.
        divisors: the same below the line, int64.
    """

    dividends: Sequence[IntArray] | Sequence[FloatArray]
    divisors: Sequence[IntArray]

    def __len__(self) -> int:
        return len(self.divisors[0])

    def documents(self, start: int, stop: int) -> list[Json]:
        """Return the values from `start` to `stop`."""
        above, below = (
            np.sum([each[start:stop] for each in terms], axis=0).tolist() for terms in (self.dividends, self.divisors)
        )
        return [one / other if other else None for one, other in zip(above, below, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class Anything:
    """Values that fit no other column."""

    values: Sequence[Json]

    def __len__(self) -> int:
        return len(self.values)

    def documents(self, start: int, stop: int) -> list[Json]:
        """Return the values from `start` to `stop`."""
        return list(self.values[start:stop])


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """A list for each item: values `offsets[i]` to `offsets[i + 1]` of another column; offsets int64 (n + 1,)."""

    offsets: IntArray
    of: Column

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def documents(self, start: int, stop: int) -> list[Json]:
        """Return the lists from `start` to `stop`."""
        bounds = self.offsets[start : stop + 1].tolist()
        found = self.of.documents(bounds[0], bounds[-1])
        return [found[begin - bounds[0] : end - bounds[0]] for begin, end in pairwise(bounds)]


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Values `start` to `stop` of a column whose other values stand elsewhere."""

    start: int
    stop: int
    of: Column

    def __len__(self) -> int:
        return self.stop - self.start

    def documents(self, start: int, stop: int) -> list[Json]:
        """Return the values from `start` to `stop`."""
        return self.of.documents(self.start + start, min(self.start + stop, self.stop))


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Strings that are joined by spaces from the strings of each list."""

    lists: Lists

    def __len__(self) -> int:
        return len(self.lists)

    def documents(self, start: int, stop: int) -> list[Json]:
        """Return the values from `start` to `stop`."""
        return [" ".join(words) for words in self.lists.documents(start, stop)]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Lists of one value from each column."""

    columns: Sequence[Column]

    def __len__(self) -> int:
        return len(self.columns[0])

    def documents(self, start: int, stop: int) -> list[Json]:
        """Return the lists from `start` to `stop`."""
        return list(map(list, zip(*(each.documents(start, stop) for each in self.columns), strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Objects: name of a member -> its column. One column may stand under several names."""

    members: Mapping[str, Column]

    def __len__(self) -> int:
        return len(next(iter(self.members.values()), ()))

    def documents(self, start: int, stop: int) -> list[Json]:
        """Return the objects from `start` to `stop`, their members in the order of the names."""
        if not self.members:
            return [{} for _ in range(start, stop)]
        names = tuple(self.members)
        rows = zip(*(each.documents(start, stop) for each in self.members.values()), strict=True)
        if not any(isinstance(each, Some) and each.left_out for each in self.members.values()):
            return [dict(zip(names, row, strict=True)) for row in rows]
        return [dict(compress(zip(names, row, strict=True), [each is not _LEFT_OUT for each in row])) for row in rows]


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """Trees in brackets, each on one line.

    Attributes:
        nodes: of each tree label, start and end (`Rows`), as in a `ConstituentTreebank`.
        words: of each tree form and tag (`Rows`), null for no tag.
        square: whether the brackets are square.
    """

    nodes: Lists
    words: Lists
    square: bool

    def __len__(self) -> int:
        return len(self.nodes)

    def documents(self, start: int, stop: int) -> list[Json]:
        """Return the trees from `start` to `stop`."""
        both = zip(self.nodes.documents(start, stop), self.words.documents(start, stop), strict=True)
        return [tree_text(nodes, words, square=self.square) for nodes, words in both]


class Documents(Sequence[dict[str, Any]]):
    """The objects of a column one after the other, made when asked; equal to a list of the same."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, column: Column) -> None:
        self.column = column

    def __len__(self) -> int:
        return len(self.column)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, slice):
            return list(self)[index]
        place = range(len(self))[index]
        [document] = self.column.documents(place, place + 1)
        found: dict[str, Any] = document
        return found

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.column.documents(0, len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)


Column = Numbers | Strings | Numerals | Some | Quotients | Anything | Lists | Shared | Joined | Rows | Records | Trees


def listed(chosen: BoolArray | IntArray, offsets: IntArray, of: Column) -> Lists:
    """Return a list for each item of what is chosen from it.

    Args:
        chosen: sorted indices, int64 (k,).
        offsets: the items' bounds, in the same count as the indices, int64 (n + 1,).
        of: a column of k values.
    """
    return Lists(np.searchsorted(chosen, offsets), of)


def nullable(known: BoolArray, of: Column) -> Column:
    """Return the column `of` the known values with null between them; itself where all are known."""
    return of if known.all() else Some(known, of)
