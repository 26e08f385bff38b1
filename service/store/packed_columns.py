"""Columns as bytes: a head that says how they nest and holds each string once, then their arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from service.store.packed_arrays import Array, ArrayWriter, read_arrays
from service.store.packing import damage_told, pack_with_head, unpack_with_head
from treescore.core.arrays import IntArray, offsets_of
from treescore.core.columns import (
    Anything,
    Column,
    Joined,
    Lists,
    Numbers,
    Numerals,
    Quotients,
    Records,
    Rows,
    Shared,
    Some,
    Strings,
    Trees,
)
from treescore.core.grouping import appearing
from treescore.core.params import Json


def pack_columns(records: Records) -> bytes:
    """Pack records with all columns below them."""
    writer = _Writer(records)
    head = orjson.dumps([writer.written(records), writer.arrays.heads, writer.strings])
    return pack_with_head(head, writer.arrays.bodies)


def unpack_columns(body: bytes) -> Records:
    """Unpack what `pack_columns` has packed. Raises zstandard.ZstdError where it is damaged."""
    head, arrays = unpack_with_head(body)
    with damage_told():
        kind, heads, strings = orjson.loads(head)
        records: Records = _read(kind, read_arrays(heads, arrays), strings)
    return records


class _Writer:
    """Writes a column; what stands under several names is written once."""

    def __init__(self, column: Column) -> None:
        self.arrays = ArrayWriter()
        self.strings: list[str] = []
        self._known: dict[int, Json] = {}
        self._array_of: dict[int, int] = {}
        self._number_of = self._numbered(column)

    def _numbered(self, column: Column) -> dict[int, IntArray]:
        """Collect the strings that are used; return their new numbers by their old, for each list of strings.

        They are numbered in order of appearance, so that the numbers of a column with each string once are 0, 1, 2 ...
        """
        used: dict[int, tuple[Sequence[str], list[IntArray]]] = {}
        _collect(column, used, set())
        tables = {}
        for key, (strings, each) in used.items():
            distinct = appearing(np.concatenate(each), len(strings))
            tables[key] = np.zeros(len(strings), np.int64)
            tables[key][distinct] = np.arange(len(distinct)) + len(self.strings)
            self.strings += map(strings.__getitem__, distinct.tolist())
        return tables

    def written(self, column: Column, rows: int | None = None) -> Json:
        """Write a column; return its kind with the numbers of its arrays, and the columns below it.

        Args:
            column: the column.
            rows: number of the array that says to which rows its values belong.
        """
        if id(column) not in self._known:
            self._known[id(column)] = self._kind(column, rows)
        return self._known[id(column)]

    def _kind(self, column: Column, rows: int | None) -> Json:  # noqa: PLR0911 - a case for each kind
        match column:
            case Numbers(values):
                return ["numbers", self._held(values, rows)]
            case Strings(numbers, strings):
                return ["strings", self.arrays.add(self._number_of[id(strings)][numbers], rows)]
            case Numerals(values, strings):
                odd = values < 0
                if odd.any():
                    values = values.copy()
                    values[odd] = -1 - self._number_of[id(strings)][-1 - values[odd]]
                return ["numerals", self.arrays.add(values, rows)]
            case Quotients(dividends, divisors):
                return ["quotients", [*map(self._held, dividends)], [*map(self._held, divisors)]]
            case Anything(values):
                return ["anything", list(values)]
            case Some(known, of, left_out):
                number = self._held(known)
                return ["some", number, left_out, self.written(of, number)]
            case Lists(offsets, of):
                return ["lists", self.arrays.add(np.diff(offsets)), self.written(of)]
            case Shared(start, stop, of):
                return ["shared", start, stop, self.written(of)]
            case Joined(lists):
                return ["joined", self.written(lists)]
            case Rows(columns):
                return ["rows", *(self.written(each) for each in columns)]
            case Records(members):
                return ["records", {name: self.written(each) for name, each in members.items()}]
            case Trees(nodes, words, square):
                return ["trees", self.written(nodes), self.written(words), square]

    def _held(self, values: Array, rows: int | None = None) -> int:
        """Write an array that a column holds, once."""
        if id(values) not in self._array_of:
            self._array_of[id(values)] = self.arrays.add(values, rows)
        return self._array_of[id(values)]


def _collect(column: Column, used: dict[int, tuple[Sequence[str], list[IntArray]]], seen: set[int]) -> None:
    """Add what the columns below one use of each list of strings: numbers in it; skip those whose id was `seen`."""
    if id(column) in seen:
        return
    seen.add(id(column))
    match column:
        case Numbers() | Quotients() | Anything():
            pass
        case Strings(numbers, strings):
            used.setdefault(id(strings), (strings, []))[1].append(numbers)
        case Numerals(values, strings):
            used.setdefault(id(strings), (strings, []))[1].append(-1 - values[values < 0])
        case Some(of=below) | Lists(of=below) | Shared(of=below) | Joined(lists=below):
            _collect(below, used, seen)
        case Rows(columns):
            for each in columns:
                _collect(each, used, seen)
        case Records(members):
            for each in members.values():
                _collect(each, used, seen)
        case Trees(nodes, words):
            _collect(nodes, used, seen)
            _collect(words, used, seen)


def _read(kind: list[Any], arrays: Sequence[Array], strings: Sequence[str]) -> Any:  # noqa: PLR0911 - as `_kind`
    """Read a column from what `_Writer.written` returned."""

    def below(each: Json) -> Any:
        return _read(each, arrays, strings)

    match kind:
        case ["numbers", int(number)]:
            return Numbers(arrays[number])
        case ["strings", int(number)]:
            return Strings(arrays[number], strings)
        case ["numerals", int(number)]:
            return Numerals(arrays[number], strings)
        case ["quotients", dividends, divisors]:
            return Quotients([arrays[number] for number in dividends], [arrays[number] for number in divisors])
        case ["anything", values]:
            return Anything(values)
        case ["some", int(known), bool(left_out), of]:
            return Some(arrays[known], below(of), left_out)
        case ["lists", int(lengths), of]:
            return Lists(offsets_of(arrays[lengths]), below(of))
        case ["shared", int(start), int(stop), of]:
            return Shared(start, stop, below(of))
        case ["joined", lists]:
            return Joined(below(lists))
        case ["rows", *columns]:
            return Rows([below(each) for each in columns])
        case ["records", dict(members)]:
            return Records({name: below(each) for name, each in members.items()})
        case ["trees", nodes, words, bool(square)]:
            return Trees(below(nodes), below(words), square)
    raise ValueError(f"unknown column {kind!r}")
