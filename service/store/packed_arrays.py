"""Arrays in few bytes: small integers, differences where they are smaller, bytes of equal weight together."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from service.store.packing import damage_told, pack, unpack
from treescore.core.grouping import grouped

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
