"""A number and its noun."""

import pytest

from treescore.core.wording import counted


@pytest.mark.parametrize(("number", "shown"), [(0, "0 words"), (1, "1 word"), (2, "2 words"), (21, "21 words")])
def test_one_thing_is_singular(number, shown):
    assert counted(number, "word") == shown


def test_a_noun_may_have_a_plural_of_its_own():
    assert [counted(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]
