"""JSON values of many items as columns: a few arrays instead of an object for each member of each item.

A column of n values makes the documents of any range of them when asked. Columns nest: a list for each item is a column
of offsets over another column. Strings are numbers of a list that several columns may share. Columns of items are made
from treebanks (strings, heads, places of words, trees in brackets); rows of slices have a value, counts, and scores,
most of which are quotients of the counts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from typing import Any, TypeVar, overload

import numpy as np

from treescore.core.arrays import BoolArray, Counts, FloatArray, IntArray, offsets_of
from treescore.core.params import Json
from treescore.core.scores import ScoreTable, whole
from treescore.core.trees import NO_HEAD, NO_TAG, ConstituentTreebank, DependencyTreebank, SemanticTreebank, Vocabulary


def tree_text(nodes: Sequence[tuple[str, int, int]], words: Iterable[tuple[str, str | None]], *, square: bool) -> str:
    """Write one tree, or a forest, on one line.

    Args:
        nodes: label, start and end of each node, in pre-order.
        words: form and tag of each word; None for no tag.
        square: whether the brackets are square.
    """
    left, right = ("[", "]") if square else ("(", ")")
    pieces: list[str] = []
    open_ends: list[int] = []
    node = 0
    for position, (form, tag) in enumerate([*words, ("", None)]):
        while node < len(nodes) and nodes[node][1] == position:
            label, _, end = nodes[node]
            # A node with words leaves what ends here; an empty one stays in the lowest that touches its place.
            while open_ends and (open_ends[-1] < position or (open_ends[-1] == position < end)):
                open_ends.pop()
                pieces.append(right)
            pieces.append(f" {left}{label}")
            open_ends.append(end)
            node += 1
        while open_ends and open_ends[-1] <= position:
            open_ends.pop()
            pieces.append(right)
        pieces.append(f" {form}" if tag is None else f" {left}{tag} {form}{right}")
    return "".join(pieces).strip()


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


def strings_of(numbers: IntArray, vocabulary: Vocabulary) -> Strings:
    """Return strings by their numbers in a vocabulary, int64 (n,)."""
    return Strings(numbers, vocabulary.strings)


def heads_as_written(heads: IntArray, vocabulary: Vocabulary) -> Numerals:
    """Return heads of a `DependencyTreebank`, int64 (n,), as they were written."""
    # ODD_HEAD - number, as a treebank has it, is one less than -1 - number, as the column has it
    values = np.where(heads < NO_HEAD, heads + 1, heads)
    if (heads == NO_HEAD).any():
        values[heads == NO_HEAD] = -1 - vocabulary.number("_")
    return Numerals(values, vocabulary.strings)


def places_of(words: IntArray, treebank: DependencyTreebank | SemanticTreebank) -> tuple[Numbers, Numbers]:
    """Return the sentence of each word and its position in it, both from 1; words int64 (n,)."""
    sentences = np.searchsorted(treebank.word_offsets, words, "right")
    return Numbers(sentences), Numbers(words - treebank.word_offsets[sentences - 1] + 1)


def trees_of(treebank: ConstituentTreebank, start: int, stop: int, *, square: bool) -> Trees:
    """Return the trees of sentences `start` to `stop`."""
    node_offsets, word_offsets = (each[start : stop + 1] for each in (treebank.node_offsets, treebank.word_offsets))
    nodes, words = (slice(int(each[0]), int(each[-1])) for each in (node_offsets, word_offsets))
    strings = treebank.vocabulary
    tags = treebank.tags[words]
    known = tags != NO_TAG
    spans = Numbers(treebank.starts[nodes]), Numbers(treebank.ends[nodes])
    of_nodes = Rows([strings_of(treebank.labels[nodes], strings), *spans])
    of_words = Rows([strings_of(treebank.words[words], strings), nullable(known, strings_of(tags[known], strings))])
    return Trees(Lists(node_offsets - nodes.start, of_nodes), Lists(word_offsets - words.start, of_words), square)


def ranges_of(firsts: IntArray, lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Return the numbers of many ranges one after the other, and the offsets of the ranges.

    Args:
        firsts: the first number of each range, int64 (n,).
        lengths: how many it has, int64 (n,).
    """
    offsets = offsets_of(lengths)
    return np.repeat(firsts - offsets[:-1], lengths) + np.arange(int(offsets[-1])), offsets


_Name = TypeVar("_Name", bound=Hashable)

_EXACT = 2**53
"""Below this limit float64 holds every whole number."""


def rows_of(value: Column, counts: Mapping[str, Column], scores: Mapping[str, Column], **more: Column) -> Documents:
    """Return one row per value from columns of counts and of scores, dots in their names nested, and further members.

    Arrays that stand in several columns are stored once where they are the same object.
    """
    return Documents(Records({"value": value, "counts": nested(counts), "scores": nested(scores), **more}))


def stacked_rows(
    values: Mapping[_Name, Column], counts: Mapping[str, Column], scores: Mapping[str, Column], **more: Column
) -> dict[_Name, Documents]:
    """Return the rows of several groupings, by name.

    Args:
        values: grouping -> the values of its rows.
        counts: columns of the rows of all groupings, one grouping after another, as `rows_of` takes them.
        scores: likewise.
        more: further members, likewise.
    """
    columns = {"counts": nested(counts), "scores": nested(scores), **more}
    rows: dict[_Name, Documents] = {}
    start = 0
    for name, of_rows in values.items():
        stop = start + len(of_rows)
        shared = {member: Shared(start, stop, column) for member, column in columns.items()}
        rows[name] = Documents(Records({"value": of_rows, **shared}))
        start = stop
    return rows


def counts_and_scores(table: ScoreTable, totals: Counts) -> tuple[dict[str, Column], dict[str, Column]]:
    """Return the counts (rows, k) and the scores of a table by name; scores are null where undefined."""
    columns: Counts = np.ascontiguousarray(totals.T)  # type: ignore[assignment]
    equal: dict[bytes, Counts] = {}
    arrays: list[Any] = [equal.setdefault(column.tobytes(), column) for column in columns]
    counts = {name: whole_numbers(array) for name, array in zip(table.count_names, arrays, strict=True)}
    quotients = table.quotients if totals.dtype.kind == "i" else {}
    scores: dict[str, Column] = {}
    values: FloatArray | None = None
    for place, score in enumerate(table.scores):
        if score.name in quotients:
            above, below = quotients[score.name]
            scores[score.name] = Quotients([arrays[column] for column in above], [arrays[column] for column in below])
        else:
            values = table.of_columns(columns) if values is None else values
            scores[score.name] = real_numbers(values[place])
    return counts, scores


def nested(columns: Mapping[str, Column]) -> Records:
    """Nest columns by name: one with dots becomes a member of objects in objects."""
    inner: dict[str, dict[str, Column]] = {}
    for name, column in columns.items():
        head, _, rest = name.partition(".")
        inner.setdefault(head, {})[rest] = column
    return Records({head: below[""] if "" in below else nested(below) for head, below in inner.items()})


def real_numbers(values: FloatArray) -> Column:
    """Return scores, float64 (n,), as a column; NaN is null."""
    known = ~np.isnan(values)
    return nullable(known, Numbers(values if known.all() else values[known]))


def whole_numbers(values: Counts) -> Column:
    """Return counts (n,) as a column; those that are whole numbers are integers."""
    if values.dtype.kind == "i":
        return Numbers(values)
    is_whole = values == np.rint(values)
    if is_whole.all() and np.abs(values).max(initial=0) < _EXACT:
        return Numbers(values.astype(np.int64))
    return Anything(list(map(whole, values.tolist()))) if is_whole.any() else Numbers(values)


def column_of(values: Sequence[Json]) -> Column:
    """Turn JSON values of one kind, some of which may be null, into a column; others stay as they are."""
    kinds = set(map(type, values))
    if type(None) in kinds and len(kinds) > 1:
        known = np.array([value is not None for value in values], np.bool_)
        return Some(known, column_of([value for value in values if value is not None]))
    if kinds == {int}:
        return Numbers(np.array(values)) if all(-(2**63) <= value < 2**63 for value in values) else Anything(values)
    if kinds == {float}:
        return Numbers(np.array(values))
    if kinds == {str}:
        numbers: dict[str, int] = {}
        return Strings(np.array([numbers.setdefault(value, len(numbers)) for value in values]), list(numbers))
    if kinds == {dict} and values[0] and len({tuple(value) for value in values}) == 1:
        return Records({name: column_of([value[name] for value in values]) for name in values[0]})
    return Anything(values)
