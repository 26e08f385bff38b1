"""Equal values, lists and numbers are found in order of appearance."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treescore.core import arrays
from treescore.core.arrays import appearing, grouped, grouped_lists, largest_first, offsets_of, placed, tallied


def numbered(lists: list[list[int]]) -> tuple[list[int], list[int]]:
    values = np.array([value for each in lists for value in each], np.int64)
    groups, firsts = grouped_lists(values, offsets_of(np.array(list(map(len, lists)), np.int64)))
    return groups.tolist(), firsts.tolist()


@given(st.lists(st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1))))
def test_values_near_and_far_are_numbered_as_a_dict_does(values):
    groups, firsts = grouped(np.array(values, np.int64))
    numbers: dict[int, int] = {}
    expected = [numbers.setdefault(value, len(numbers)) for value in values]
    assert groups.tolist() == expected
    assert firsts.tolist() == [expected.index(group) for group in range(len(numbers))]


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=3)))
def test_lists_get_numbers_as_their_tuples_do(lists):
    numbers: dict[tuple[int, ...], int] = {}
    groups = [numbers.setdefault(tuple(each), len(numbers)) for each in lists]
    assert numbered(lists) == (groups, [groups.index(group) for group in range(len(numbers))])


def test_lists_with_one_hash_that_differ_are_not_taken_for_equal(monkeypatch):
    monkeypatch.setattr(arrays, "_FACTOR", 0)
    assert numbered([[1], [2], [1]]) == ([0, 1, 2], [0, 1, 2])
    assert numbered([[1], [1, 1]]) == ([0, 1], [0, 1])


@given(st.lists(st.integers(0, 9)))
def test_distinct_numbers_appear_in_their_order(numbers):
    assert appearing(np.array(numbers, np.int64), 10).tolist() == list(dict.fromkeys(numbers))


@given(st.lists(st.one_of(st.integers(-3, 3), st.integers(-(2**62), 2**62))))
def test_numbers_with_room_between_them_are_in_order_of_value(values):
    array = np.array(values, np.int64)
    names, numbers = placed(array)
    assert names[numbers].tolist() == values
    assert names.tolist() == sorted(set(names.tolist()))


@given(st.lists(st.integers(0, 5) | st.sampled_from([2**15 - 1, 2**15, 2**40])))
def test_the_largest_groups_come_first_and_empty_ones_not_at_all(sizes):
    expected = sorted((at for at, size in enumerate(sizes) if size), key=lambda at: -sizes[at])
    assert largest_first(np.array(sizes, np.int64)).tolist() == expected


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2))))
def test_values_are_counted_by_group_and_kind(pairs):
    groups, kinds = np.array(pairs, np.int64).reshape(-1, 2).T
    expected = [[pairs.count((group, kind)) for group in range(5)] for kind in range(3)]
    assert tallied(groups, 5, kinds, 3).tolist() == expected
