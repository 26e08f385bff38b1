"""Columns and named arrays are read back as they were written; columns make the documents of any range of them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from unittest.mock import patch

import numpy as np
import orjson
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from service.store import packing
from service.store.packing import (
    ArrayWriter,
    DamagedError,
    NamedArrays,
    pack,
    pack_array,
    pack_columns,
    pack_named,
    pack_values,
    read_arrays,
    unpack,
    unpack_array,
    unpack_columns,
    unpack_named,
    unpack_values,
    with_own_strings,
)
from treescore.core.arrays import offsets_of
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
    nullable,
)

POOL = ["", "a", "dog", "naïve", "_", "a b", "\n", "x" * 40]
integers = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 300)
Made = tuple[Column, list[Any]]
short_ones_too = pytest.mark.parametrize("short", [packing.SHORT, -1], ids=["as lists", "as long ones"])
"""How arrays are written that are short enough to be lists."""


def array(values: list[Any], dtype: Any = np.int64) -> Any:
    return np.array(values, dtype)


@st.composite
def leaves(draw: st.DrawFn, size: int) -> Made:
    """A column of `size` values without columns below it, and the values."""
    several = lambda each: draw(st.lists(each, min_size=size, max_size=size))  # noqa: E731 - only here
    match draw(st.sampled_from(["integers", "floats", "bools", "strings", "numerals", "quotients", "anything"])):
        case "integers":
            return Numbers(array(values := several(integers))), values
        case "floats":
            values = several(st.sampled_from([0.0, 0.5, 1 / 3, 1e300]) | st.floats(allow_infinity=False))
            return Numbers(array(values, np.float64)), [None if np.isnan(value) else value for value in values]
        case "bools":
            return Numbers(array(values := several(st.booleans()), np.bool_)), values
        case "strings":
            numbers = several(st.integers(0, len(POOL) - 1))
            return Strings(array(numbers), POOL), [POOL[number] for number in numbers]
        case "numerals":
            numbers = several(st.integers(-len(POOL), 10**18))
            written = [str(number) if number >= 0 else POOL[-1 - number] for number in numbers]
            return Numerals(array(numbers), POOL), written
        case "quotients":
            above, below = several(st.integers(0, 9)), several(st.integers(0, 9))
            shown = [2 * a / (a + b) if a + b else None for a, b in zip(above, below, strict=True)]
            twice, both = array(above), array(below)
            return Quotients([twice, twice], [twice, both]), shown
    return Anything(values := several(st.sampled_from([None, 1, "x", [1, {"y": 2.5}]]))), values


@st.composite
def columns(draw: st.DrawFn, size: int, depth: int) -> Made:
    """A column of `size` values, and the values."""
    kind = draw(st.sampled_from(["leaf", "some", "lists", "shared", "joined", "rows", "records"])) if depth else "leaf"
    if kind == "some":
        known = draw(st.lists(st.booleans(), min_size=size, max_size=size))
        of, found = draw(columns(sum(known), depth - 1))
        values = iter(found)
        return Some(array(known, np.bool_), of), [next(values) if each else None for each in known]
    if kind in ("lists", "joined"):
        offsets = offsets_of(array(draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))))
        bounds = [*zip(offsets.tolist(), offsets[1:].tolist(), strict=False)]
        if kind == "joined":
            numbers = draw(
                st.lists(st.integers(0, len(POOL) - 1), min_size=int(offsets[-1]), max_size=int(offsets[-1]))
            )
            words = [POOL[number] for number in numbers]
            return Joined(Lists(offsets, Strings(array(numbers), POOL))), [" ".join(words[a:b]) for a, b in bounds]
        of, found = draw(columns(int(offsets[-1]), depth - 1))
        return Lists(offsets, of), [found[a:b] for a, b in bounds]
    if kind == "shared":
        start, more = draw(st.integers(0, 2)), draw(st.integers(0, 2))
        of, found = draw(columns(start + size + more, depth - 1))
        return Shared(start, start + size, of), found[start : start + size]
    if kind == "rows":
        made = [draw(columns(size, depth - 1)) for _ in range(draw(st.integers(1, 3)))]
        return Rows([of for of, _ in made]), [list(row) for row in zip(*(found for _, found in made), strict=True)]
    if kind == "records":
        return draw(records(size, depth))
    return draw(leaves(size))


@st.composite
def records(draw: st.DrawFn, size: int, depth: int = 2) -> tuple[Records, list[dict[str, Any]]]:
    """Records of which some may lack members, and the objects."""
    members: dict[str, Column] = {}
    documents: list[dict[str, Any]] = [{} for _ in range(size)]
    for name in draw(st.lists(st.sampled_from("abcd"), unique=True, min_size=1, max_size=3)):
        has = draw(st.lists(st.booleans(), min_size=size, max_size=size) | st.just([True] * size))
        of, found = draw(columns(sum(has), depth - 1))
        members[name] = of if all(has) else Some(array(has, np.bool_), of, left_out=True)
        values = iter(found)
        for document, each in zip(documents, has, strict=True):
            if each:
                document[name] = next(values)
    return Records(members), documents


@short_ones_too
@given(made=st.integers(0, 6).flatmap(records), first=st.integers(0, 6), second=st.integers(0, 6))
def test_what_was_packed_makes_the_same_documents_of_any_range(made, first, second, short):
    column, documents = made
    start, stop = sorted((min(first, len(documents)), min(second, len(documents))))
    with patch.object(packing, "SHORT", short):
        packed = pack_columns(column)
    for each in (column, unpack_columns(packed)):
        assert len(each) == len(documents)
        # as JSON: the members' order and the kinds of numbers count
        assert orjson.dumps(each.documents(start, stop)) == orjson.dumps(documents[start:stop])


def test_trees_are_written_when_asked():
    nodes = Rows([Strings(array([1, 0]), ["NP", "S"]), Numbers(array([0, 0])), Numbers(array([2, 1]))])
    words = Rows(
        [Strings(array([0, 1]), ["the", "dog"]), nullable(array([True, False], np.bool_), Strings(array([0]), ["DT"]))]
    )
    made = Records({"tree": Trees(Lists(array([0, 0, 2]), nodes), Lists(array([0, 0, 2]), words), square=False)})
    read = unpack_columns(pack_columns(made))
    assert read.documents(0, 2) == [{"tree": ""}, {"tree": "(S (NP (DT the)) dog)"}]


def test_a_string_and_a_column_under_two_names_are_written_once():
    text = "a long string that stands in many places"
    one = Strings(array([0] * 50), [text])
    packed = unpack(pack_columns(Records({"a": one, "b": one, "c": Strings(array([1] * 50), ["", text])})))
    assert packed.count(text.encode()) == 2  # once for each list of strings
    assert unpack(pack_columns(Records({"a": one, "b": one}))).count(text.encode()) == 1


def test_equal_neighbours_and_growing_numbers_take_few_bytes():
    draws = np.random.default_rng(1).integers(0, 60_000, 5_000)
    alone, both = (len(pack_columns(Records(dict.fromkeys(names, Numbers(draws))))) for names in ("a", "ab"))
    nearly = draws.copy()
    nearly[7] += 1
    assert len(pack_columns(Records({"a": Numbers(draws), "b": Numbers(nearly)}))) < alone + 200
    assert both < alone + 50
    assert len(pack_values(np.cumsum(draws % 7))) < len(pack_array(np.cumsum(draws % 7))) / 2
    assert len(pack_values(draws % 2 == 0)) < 5_000 / 8 + 100


@short_ones_too
@given(
    lists=st.lists(
        st.lists(integers, max_size=9)
        | st.lists(st.booleans(), max_size=9)
        | st.lists(st.sampled_from([0.0, 0.5]) | st.floats(), max_size=9)
    )
)
def test_arrays_are_read_back_bit_for_bit(lists, short):
    writer = ArrayWriter()
    written = [array(each, np.bool_ if each and isinstance(each[0], bool) else None) for each in lists if each]
    with patch.object(packing, "SHORT", short):
        numbers = [writer.add(each) for each in written]
    read = read_arrays(orjson.loads(orjson.dumps(writer.heads)), memoryview(b"".join(writer.bodies)))
    for number, each in zip(numbers, written, strict=True):
        assert read[number].dtype == each.dtype
        assert read[number].tobytes() == each.tobytes()


def test_whole_numbers_like_the_bits_of_real_ones_are_read_back():
    half = int(array([0.5], np.float64).view(np.int64)[0])
    writer = ArrayWriter()
    with patch.object(packing, "SHORT", -1):
        writer.add(array([0.5, 0.5, 0.5], np.float64))
        number = writer.add(array([half]))
    read = read_arrays(writer.heads, memoryview(b"".join(writer.bodies)))
    assert read[number].tolist() == [half]


def test_values_and_arrays_are_read_back():
    for dtype in (np.int64, np.float64, np.bool_):
        values = array([1, 0, 1, 1], dtype)
        assert unpack_values(pack_values(values)).tolist() == values.tolist()
    small, wide, real = np.arange(12).reshape(4, 3), np.array([[-1, 300], [2**40, 0]]), np.array([[0.25, 1e-300]])
    for rows in (small, wide, real, np.zeros((0, 5), np.int64)):
        back = unpack_array(pack_array(rows))
        assert back.dtype == rows.dtype
        assert np.array_equal(back, rows)


@given(st.data())
def test_columns_that_were_changed_under_a_right_checksum_are_read_or_an_error(data):
    made, _ = data.draw(records(4))
    raw = bytearray(unpack(pack_columns(made)))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.sampled_from(b'\0\xff[]{},"0123456789-urx'))
    with suppress(DamagedError):
        unpack_columns(pack(bytes(raw)))
    with suppress(DamagedError):
        unpack_values(pack(bytes(raw[8:])))


def test_an_array_that_cannot_be_is_an_error():
    for head in (
        ["plain", 1, "O"], ["plain", 1, "<f8"], ["plain", 1, "V1"], ["plain", 9, "<i8"], ["bits", 1 << 40],
        ["floats", -5], ["chosen", 3, 4], ["listed", [(1 << 64) - 1]], ["from", 8, "u1", 5, None],
        ["of another version"],
    ):  # fmt: skip
        with pytest.raises(DamagedError):
            unpack_values(pack(orjson.dumps([head]) + b"\n" + bytes(8)))


def test_arrays_strings_and_what_belongs_to_them_come_back() -> None:
    arrays = {"long": np.arange(100), "short": np.array([3, -1]), "none": np.zeros(0, np.int64)}
    named = unpack_named(pack_named(NamedArrays(arrays, ["a", "ö"], {"kind": "x", "names": [None, "s"]})))
    assert {name: values.tolist() for name, values in named.arrays.items()} == {
        name: values.tolist() for name, values in arrays.items()
    }
    assert named.strings == ["a", "ö"]
    assert named.about == {"kind": "x", "names": [None, "s"]}


def test_only_strings_that_are_used_are_kept_and_none_stays_none() -> None:
    arrays = {"forms": np.array([7, 2, 7]), "tags": np.array([-1, 2, 5]), "heads": np.array([7, 0, 1])}
    named = with_own_strings(arrays, ("forms", "tags"), list("abcdefgh"))
    strings = [*named.strings, None]
    assert [strings[number] for number in named.arrays["forms"].tolist()] == ["h", "c", "h"]
    assert [strings[number] for number in named.arrays["tags"].tolist()] == [None, "c", "f"]
    assert named.arrays["heads"].tolist() == [7, 0, 1]
    assert sorted(named.strings) == ["c", "f", "h"]


def test_damage_is_told() -> None:
    for body in (b"not packed", pack(b"\x02\x00\x00\x00[]"), pack(b"")):
        with pytest.raises(zstandard.ZstdError):
            unpack_named(body)
