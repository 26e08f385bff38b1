"""Bytes, arrays, columns and named arrays in few bytes.

Arrays: small integers, differences where they are smaller, bytes of equal weight together. Columns: a head that says
how they nest and holds each string once, then their arrays. Named arrays stand with the strings that some of them
number.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
import zstandard
from numpy.typing import NDArray

from treescore.core.arrays import Counts, IntArray, appearing, grouped, offsets_of, smallest
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
from treescore.core.params import Json

LEVEL = 3
"""Of zstd; docs/decisions/0004-results.md says why."""
_SMALL_TABLES = {"hash_log": 15, "chain_log": 12}
"""Logarithms of the places of a text that zstd keeps in mind; with those of the level, texts take 1 % fewer bytes."""
_LENGTH_BYTES = 8
"""Before a head: how long it is."""


class DamagedError(zstandard.ZstdError):
    """The checksum of packed bytes is right, but nothing here packs such bytes."""


@contextmanager
def damage_told() -> Iterator[None]:
    """Raise DamagedError where unpacked bytes are not what was packed."""
    try:
        yield
    except (LookupError, OverflowError, TypeError, ValueError) as error:
        raise DamagedError(f"packed bytes are damaged: {error}") from error


def pack(body: bytes) -> bytes:
    """Compress with zstd; a checksum tells `unpack` of a byte that the disk has changed."""
    return zstandard.ZstdCompressor(level=LEVEL, write_content_size=True, write_checksum=True).compress(body)


def packer_of_texts() -> Callable[[bytes], bytes]:
    """Return a function that packs like `pack` in three quarters of the time, text after text in the same memory."""
    parameters = zstandard.ZstdCompressionParameters(
        compression_level=LEVEL, write_content_size=True, write_checksum=True, **_SMALL_TABLES
    )
    return zstandard.ZstdCompressor(compression_params=parameters).compress


def unpack(body: bytes) -> bytes:
    """Decompress what `pack` has compressed."""
    return zstandard.ZstdDecompressor().decompress(body)


def unpacked_size(body: bytes) -> int:
    """Return how many bytes `unpack` makes of a body."""
    return zstandard.frame_content_size(body)


def is_packed(body: bytes) -> bool:
    """Return whether `pack` made these bytes; no text in UTF-8 begins like them."""
    return body.startswith(zstandard.FRAME_HEADER)


def pack_with_head(head: bytes, bodies: Iterable[bytes]) -> bytes:
    """Pack a head and the bodies that it describes, as one."""
    return pack(b"".join([len(head).to_bytes(_LENGTH_BYTES, "little"), head, *bodies]))


def unpack_with_head(body: bytes) -> tuple[memoryview, memoryview]:
    """Unpack what `pack_with_head` has packed: the head, and the bodies one after the other."""
    raw = memoryview(unpack(body))
    end = _LENGTH_BYTES + int.from_bytes(raw[:_LENGTH_BYTES], "little")
    return raw[_LENGTH_BYTES:end], raw[end:]


def pack_array(array: Counts) -> bytes:
    """Pack an array of two dimensions by columns, in the smallest integer type that holds it."""
    integers = np.issubdtype(array.dtype, np.integer) and array.size
    buffer = io.BytesIO()
    np.save(buffer, np.asfortranarray(smallest(array) if integers else array), allow_pickle=False)
    return pack(buffer.getvalue())


def unpack_array(body: bytes) -> Counts:
    """Unpack what `pack_array` has packed, as int64 or float64."""
    array = np.load(io.BytesIO(unpack(body)), allow_pickle=False)
    if np.issubdtype(array.dtype, np.integer):
        return np.ascontiguousarray(array, np.int64)
    return np.ascontiguousarray(array, np.float64)


Array = NDArray[Any]

_TYPES = ("u1", "i1", "<u2", "<i2", "<u4", "<i4", "<i8")
_BOUNDS = {name: (int(np.iinfo(name).min), int(np.iinfo(name).max)) for name in _TYPES}
_LISTED, _PLAIN, _STEPS, _BITS, _FLOATS, _CHOSEN = "listed", "plain", "steps", "bits", "floats", "chosen"
SHORT = 32
"""Integers up to which an array is written as a list: looking for a shorter form costs more than it saves."""
_NEAR = 8
"""How many earlier arrays are compared with a new one."""


def pack_values(values: Array) -> bytes:
    """Pack one array of int64, float64 or bool (n,)."""
    writer = ArrayWriter()
    writer.add(values)
    return pack(b"\n".join([orjson.dumps(writer.heads), b"".join(writer.bodies)]))


def unpack_values(body: bytes) -> Array:
    """Unpack what `pack_values` has packed. Raises ZstdError where damaged."""
    raw = unpack(body)
    with damage_told():
        head, _, arrays = raw.partition(b"\n")
        return read_arrays(orjson.loads(head), memoryview(arrays))[-1]


class ArrayWriter:
    """Writes arrays one after the other; each may be given as differences from an earlier one."""

    def __init__(self) -> None:
        self.heads: list[list[Any]] = []
        self.bodies: list[bytes] = []
        self._written: list[Array] = []
        self._integers_of: dict[int, list[int]] = {}
        """Length -> the numbers of arrays of integers."""

    def add(self, values: Array, rows: int | None = None) -> int:
        """Write an array of int64, float64 or bool (n,) and return its number.

        Args:
            values: the array.
            rows: number of the array of truth values that says to which of its rows the values belong; None: to all.
        """
        if values.dtype.kind == "b":
            return self._append(values, [_BITS, len(values)], np.packbits(values).tobytes())
        if values.dtype.kind == "f":
            return self._floats(values)
        values = values.astype(np.int64, copy=False)
        if len(values) <= SHORT:
            return self._append(values, [_LISTED, values.tolist()], b"")
        base = self._like(values, rows)
        if base is not None:
            return self._integers(values, values - self._rows(base, rows), ["from", base, rows])
        steps = values.copy()
        steps[1:] -= values[:-1]
        if steps.min(initial=0) >= 0 and steps[1:].max(initial=0) < values.max(initial=0):
            return self._integers(values, steps, [_STEPS])
        return self._integers(values, values, [_PLAIN])

    def _floats(self, values: Array) -> int:
        bits = values.view(np.int64)
        indices, firsts = grouped(bits)
        distinct = bits[firsts]
        if 2 * len(distinct) < len(values):
            numbers = [
                self._append(distinct.view(np.float64), [_FLOATS, len(distinct)], _planes(distinct)),
                self.add(indices),
            ]
            return self._append(values, [_CHOSEN, *numbers], b"")
        return self._append(values, [_FLOATS, len(values)], _planes(values.view(np.int64)))

    def _integers(self, values: Array, stored: Array, kind: list[Any]) -> int:
        low, high = int(stored.min(initial=0)), int(stored.max(initial=0))
        dtype = next(name for name, (least, most) in _BOUNDS.items() if least <= low and high <= most)
        return self._append(values, [kind[0], len(values), dtype, *kind[1:]], _planes(stored.astype(dtype)))

    def _append(self, values: Array, head: list[Any], body: bytes) -> int:
        if values.dtype.kind == "i":
            self._integers_of.setdefault(len(values), []).append(len(self._written))
        self._written.append(values)
        self.heads.append(head)
        self.bodies.append(body)
        return len(self.heads) - 1

    def _rows(self, number: int, rows: int | None) -> Array:
        found = self._written[number]
        return found if rows is None else found[self._written[rows]]

    def _like(self, values: Array, rows: int | None) -> int | None:
        """Return the near array of which most values are those of `values`, or None."""
        size = len(values) if rows is None else len(self._written[rows])
        best, most = None, len(values) // 2
        for number in self._integers_of.get(size, [])[-_NEAR:]:
            same = int(np.count_nonzero(self._rows(number, rows) == values))
            if same > most:
                best, most = number, same
        return best


def read_arrays(heads: list[list[Any]], body: memoryview) -> list[Array]:
    """Read all arrays that an `ArrayWriter` has written: int64, float64 or bool."""
    arrays: list[Array] = []
    at = 0
    for head in heads:
        match head:
            case ["bits", int(count)]:
                size = -(-count // 8)
                bits = np.frombuffer(body, np.uint8, size, at)
                arrays.append(np.unpackbits(bits, count=count).astype(np.bool_))
            case ["floats", int(count)]:
                size = 8 * count
                arrays.append(_unplaned(body, np.dtype("<i8"), count, at).view(np.float64))
            case ["listed", list(values)]:
                size = 0
                arrays.append(np.array(values, np.int64))
            case ["chosen", int(values), int(indices)]:
                size = 0
                arrays.append(arrays[values][arrays[indices]])
            case [str(kind), int(count), str(name), *base] if name in _TYPES:
                dtype = np.dtype(name)
                size = dtype.itemsize * count
                stored = _unplaned(body, dtype, count, at).astype(np.int64)
                if kind == _STEPS:
                    stored = np.cumsum(stored)
                elif base:
                    number, rows = base
                    like = arrays[number]
                    stored += like if rows is None else like[arrays[rows]]
                arrays.append(stored)
            case _:
                raise ValueError(f"unknown array {head!r}")
        if size < 0:
            raise ValueError(f"array without end {head!r}")
        at += size
    return arrays


def _planes(values: Array) -> bytes:
    """Return the lowest bytes of all values, then the next: runs of zeros come together."""
    return values.view(np.uint8).reshape(len(values), values.dtype.itemsize).T.tobytes()


def _unplaned(body: memoryview, dtype: np.dtype[Any], count: int, at: int) -> Array:
    planes = np.frombuffer(body, np.uint8, dtype.itemsize * count, at).reshape(dtype.itemsize, count)
    return np.ascontiguousarray(planes.T).reshape(-1).view(dtype)


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


@dataclass(frozen=True, slots=True)
class NamedArrays:
    """Arrays by name.

    Attributes:
        arrays: int64 or bool (n,).
        strings: what the numbers in some of them mean.
        about: what else belongs to them, as JSON.
    """

    arrays: Mapping[str, Array]
    strings: Sequence[str] = ()
    about: Mapping[str, Json] = field(default_factory=dict)


def with_own_strings(arrays: Mapping[str, IntArray], numbered: Sequence[str], strings: Sequence[str]) -> NamedArrays:
    """Return arrays with only those strings that they use.

    Args:
        arrays: by name, int64.
        numbered: names of the arrays that hold numbers of strings.
        strings: what these mean; a number below 0 means none.
    """
    if not numbered:
        return NamedArrays(arrays)
    used = np.concatenate([arrays[name] for name in numbered])
    distinct = appearing(used[used >= 0], len(strings))
    table = np.full(len(strings) + 1, -1, np.int64)  # the last one is for none
    table[distinct] = np.arange(len(distinct))
    own = {name: table[array] if name in numbered else array for name, array in arrays.items()}
    return NamedArrays(own, [strings[number] for number in distinct.tolist()])


def pack_named(named: NamedArrays) -> bytes:
    """Pack arrays, their strings and what belongs to them."""
    writer = ArrayWriter()
    numbers = {name: writer.add(array) for name, array in named.arrays.items()}
    head = orjson.dumps([numbers, writer.heads, list(named.strings), dict(named.about)])
    return pack_with_head(head, writer.bodies)


def unpack_named(body: bytes) -> NamedArrays:
    """Unpack what `pack_named` has packed. Raises zstandard.ZstdError where it is damaged."""
    head, arrays = unpack_with_head(body)
    with damage_told():
        numbers, heads, strings, about = orjson.loads(head)
        read = read_arrays(heads, arrays)
        return NamedArrays({name: read[number] for name, number in numbers.items()}, strings, about)
