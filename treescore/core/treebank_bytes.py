"""Treebanks as bytes and back: what a reader has made of a text, without reading the text again.

The bytes are for files that one version keeps for itself, and hold no code: a line of JSON that says what there is,
then all numbers, then all strings. Only bytes that are known to be whole, and to be of the same version, may be loaded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, get_args

import numpy as np
import orjson

from treescore.core import trees
from treescore.errors import Problem

_KINDS = (*get_args(trees.Treebank), trees.ExpressionTreebank, trees.LinkForm, trees.Sentences, Problem)
_SIZES = (np.int64, np.int32, np.int16, np.int8)
"""Types in which numbers are kept, in the order of their blocks: each array goes into the smallest that holds it."""


def flat_bytes(vocabulary: trees.Vocabulary, treebanks: Sequence[trees.Treebank]) -> bytes:
    """Return bytes of which `treebanks_of` makes the same treebanks; what they share is written once.

    Args:
        vocabulary: of all of them.
        treebanks: of any kind.
    """
    writer = _Writer(vocabulary)
    roots = [writer.described(treebank) for treebank in treebanks]
    derived = [
        [root, name, writer.described(value)]
        for root, treebank in zip(roots, treebanks, strict=True)
        for name, value in getattr(treebank, "kept", {}).items()
        if isinstance(value, trees.Derived)
    ]
    return writer.joined(roots, derived)


def treebanks_of(flat: bytes) -> tuple[trees.Vocabulary, list[Any]]:
    """Return the vocabulary and the treebanks that `flat_bytes` was given; the arrays can be written to."""
    end = flat.index(b"\n")
    header = orjson.loads(flat[:end])
    blocks, start = [], end + 1
    for size, count in zip(_SIZES, header["counts"], strict=True):
        blocks.append(np.frombuffer(flat, size, count, start).astype(np.int64))
        start += count * np.dtype(size).itemsize
    reader = _Reader(blocks, header["arrays"], orjson.loads(memoryview(flat)[start:]), header["vocabulary"])
    for described in header["objects"]:
        reader.add(described)
    for root, name, described in header["derived"]:
        reader.value(root).kept[name] = reader.value(described)
    return reader.vocabulary, [reader.value(root) for root in header["roots"]]


class _Writer:
    """Collects arrays, objects and strings, each once; a value is described by a number or by JSON."""

    def __init__(self, vocabulary: trees.Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._strings = vocabulary.copy()
        self._arrays: list[Any] = []
        self._objects: list[Any] = []
        self._known: dict[int, tuple[dict[str, int], Any]] = {}
        """id -> description, and the value itself, so that no other gets its id."""

    def described(self, value: Any) -> Any:
        """Return the description of a value as JSON; objects keep what is below them."""
        if value is None or isinstance(value, str | int):
            return value
        if value is self._vocabulary:
            return {"vocabulary": 0}
        if id(value) in self._known:
            return self._known[id(value)][0]
        if isinstance(value, np.ndarray):
            self._arrays.append(value)
            found = {"array": len(self._arrays) - 1}
        elif is_dataclass(value):
            members = [self.described(getattr(value, field.name)) for field in fields(value) if field.init]
            self._objects.append([_name_of(type(value)), members])
            found = {"object": len(self._objects) - 1}
        elif isinstance(value, Mapping):
            return {"map": [[key, self.described(member)] for key, member in value.items()]}
        elif isinstance(value, tuple):
            return {"tuple": [self.described(each) for each in value]}
        elif all(each is None or isinstance(each, str) for each in value):
            numbers = [-1 if each is None else self._strings.number(each) for each in value]
            self._arrays.append(np.array(numbers, np.int64))
            found = {"strings": len(self._arrays) - 1}
        else:
            return {"list": [self.described(each) for each in value]}
        self._known[id(value)] = found, value
        return found

    def joined(self, roots: Sequence[Any], derived: Sequence[Any]) -> bytes:
        """Return the bytes of everything that was described."""
        sizes = [_size_of(array) for array in self._arrays]
        blocks = [
            [array.astype(kind) for array, size in zip(self._arrays, sizes, strict=True) if size == number]
            for number, kind in enumerate(_SIZES)
        ]
        header = {
            "counts": [sum(map(len, block)) for block in blocks],
            "arrays": [[size, len(each), each.dtype.str] for size, each in zip(sizes, self._arrays, strict=True)],
            "objects": self._objects,
            "roots": roots,
            "derived": derived,
            "vocabulary": len(self._vocabulary),
        }
        numbers = [array.tobytes() for block in blocks for array in block]
        return b"".join([orjson.dumps(header), b"\n", *numbers, orjson.dumps(self._strings.strings)])


class _Reader:
    """Makes values of their descriptions."""

    def __init__(
        self, blocks: Sequence[Any], arrays: Sequence[tuple[int, int, str]], strings: list[str], own: int
    ) -> None:
        self.vocabulary = trees.Vocabulary.of_strings(strings[:own])
        self._strings = [*strings, None]
        self._objects: list[Any] = []
        self._arrays = []
        begins = [0] * len(blocks)
        for size, length, kind in arrays:
            self._arrays.append(blocks[size][begins[size] : begins[size] + length].astype(kind, copy=False))
            begins[size] += length

    def add(self, described: tuple[str, Sequence[Any]]) -> None:
        """Make the next object, of those before it."""
        kind = _kinds()[described[0]]
        named = zip([field for field in fields(kind) if field.init], described[1], strict=True)
        self._objects.append(kind(**{field.name: self.value(member) for field, member in named}))

    def value(self, described: Any) -> Any:
        """Return the value of a description."""
        if not isinstance(described, dict):
            return described
        [(how, what)] = described.items()
        if how == "array":
            return self._arrays[what]
        if how == "strings":
            return [self._strings[number] for number in self._arrays[what].tolist()]
        if how == "object":
            return self._objects[what]
        if how == "vocabulary":
            return self.vocabulary
        if how == "map":
            return {key: self.value(member) for key, member in what}
        values = [self.value(each) for each in what]
        return tuple(values) if how == "tuple" else values


def _kinds() -> dict[str, type[Any]]:
    """Return the types of objects in treebanks by name; problems and what is derived have types of their own.

    A class that `dataclass` has made again, with slots, comes after the one that it stands for.
    """
    return {kind.__name__: kind for kind in (*_KINDS, *Problem.__subclasses__(), *trees.Derived.__subclasses__())}


def _name_of(kind: type[Any]) -> str:
    if kind not in _kinds().values():
        raise TypeError(f"{kind.__name__} does not belong into a treebank")
    return kind.__name__


def _size_of(array: Any) -> int:
    """Return the number of the smallest type that holds an array."""
    if not len(array):
        return len(_SIZES) - 1
    low, high = int(array.min()), int(array.max())
    bounds = [1 << 8 * np.dtype(kind).itemsize - 1 for kind in _SIZES]
    return max(number for number, bound in enumerate(bounds) if -bound <= low and high < bound)
