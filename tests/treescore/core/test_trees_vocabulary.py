"""Strings get numbers in order of appearance."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from treescore.core.trees import Vocabulary

DISTINCT = st.lists(st.text("ab", max_size=2), unique=True)


@given(DISTINCT, DISTINCT)
def test_distinct_strings_get_the_numbers_that_any_strings_get(first: list[str], second: list[str]) -> None:
    one, other = Vocabulary(), Vocabulary()
    for strings in (first, second):
        assert one.numbers_of_distinct(strings).tolist() == other.numbers(strings).tolist()
    assert one.strings == other.strings
    assert [one.get(string) for string in one.strings] == [*range(len(one))]
