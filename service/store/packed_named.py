"""Named arrays as bytes, with the strings that some of them number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import orjson

from service.store.packed_arrays import Array, ArrayWriter, read_arrays
from service.store.packing import damage_told, pack_with_head, unpack_with_head
from treescore.core.arrays import IntArray
from treescore.core.grouping import appearing
from treescore.core.params import Json


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
