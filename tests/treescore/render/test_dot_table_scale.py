"""Axes hold their values, their labels do not touch, and words of figures are as print has them."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.pictures import check_picture
from tests.fixtures.svg_boxes import overlapping, parsed, texts, view
from treescore.core.wording import IN_FRACTIONS, PERCENT, figures_of, p_words
from treescore.render.dot_table import Mark, axis_svg, dot_svg, interval_bar_svg, scale_of
from treescore.render.drawing import (
    Drawing,
    interval_words,
    put,
    ranks_words,
    signed_words,
    value_words,
    width,
    wrapped_words,
)

VALUES = st.lists(st.floats(-1e9, 1e9) | st.floats(0, 1) | st.none(), max_size=6)
NAMESPACED = '<svg xmlns="http://www.w3.org/2000/svg" '


@given(VALUES, st.sampled_from([120, 190, 400]), st.booleans(), st.booleans())
def test_an_axis_holds_its_values_and_labels(values: list[float | None], size: int, signed: bool, zero: bool) -> None:  # noqa: FBT001
    scale = scale_of(values, size, signed=signed, zero=zero)
    known = [value for value in values if value is not None]
    assert all(scale.side(value) == 0 and 0 <= scale.at(value) <= size for value in known)
    assert [scale.at(value) for value in sorted(known)] == sorted(scale.at(value) for value in known)
    root = parsed(axis_svg(scale).replace("<svg ", NAMESPACED))
    found = texts(root)
    assert all(box.inside(view(root)) for box in found)
    assert overlapping(found) == []
    assert all(low < high for (low, _), (high, _) in pairwise(scale.ticks))
    assert len({label for _, label in scale.ticks}) == len(scale.ticks)


@pytest.mark.parametrize("values", [[-60, 40], [-3, 0], [1, 2]])
def test_words_of_both_sides_stand_left_and_right_of_zero(values: list[float | None]) -> None:
    scale = scale_of(values, 240, signed=True, zero=True)
    root = parsed(axis_svg(scale, "worse", "better").replace("<svg ", NAMESPACED))
    found = texts(root)
    assert all(box.inside(view(root)) for box in found)
    assert overlapping(found) == []
    places = dict(re.findall(r'<text x="([\d.]+)"[^>]*>(worse|better)<', axis_svg(scale, "worse", "better")))
    sides = {words: float(x) < scale.at(0) for x, words in places.items()}
    assert sides == {words: words == "worse" for words in sides}
    assert sides


def test_axes_have_round_labels() -> None:
    assert [label for _, label in scale_of([62.69, 75.36]).ticks] == ["65", "70", "75"]
    assert [label for _, label in scale_of([-2.9, 6.8], 400, signed=True).ticks] == ["\u22122", "0", "+2", "+4", "+6"]
    assert [label for _, label in scale_of([62.69, 75.36], 260).ticks] == ["64", "66", "68", "70", "72", "74"]
    assert scale_of([]).ticks


def test_a_value_beyond_the_axis_is_an_arrow_at_its_side() -> None:
    scale = scale_of([60, 70])
    left, right = (interval_bar_svg(scale, Mark(value)) for value in (2.0, 99.0))
    assert "L5 13" in left
    assert "L185 13" in right
    assert all('class="off"' in bar and 'class="pt' not in bar for bar in (left, right))


def test_dots_are_filled_hollow_or_have_corners() -> None:
    scale = scale_of([60, 70])
    assert 'class="pt ho"' in interval_bar_svg(scale, Mark(65, filled=False))
    assert "<circle" not in interval_bar_svg(scale, Mark(65, diamond=True))
    assert 'class="pt' not in interval_bar_svg(scale, Mark(None))
    assert 'class="pt ho"' in dot_svg(filled=False)


@pytest.mark.parametrize(
    ("p", "shown"),
    [(0.834, ".83"), (0.0242, ".024"), (0.00213, ".0021"), (0.00009, "< .0001"), (0.0001, "< .0001"),
     (0.00011, ".0001"), (1.0, "1.00"),
     (0.996, "1.00"), (0.1, ".10"), (0.0996, ".10"), (0.5, ".50"), (0.0, "< .0001"), (None, "")],
)  # fmt: skip
def test_p_has_two_digits_that_count(p: float | None, shown: str) -> None:
    assert p_words(p) == shown


def test_figures_have_the_signs_of_print() -> None:
    percent = figures_of(PERCENT, share=True)
    assert (value_words(0.7524, percent), value_words(None, percent), value_words(-0.5, IN_FRACTIONS)) == (
        *("75.24", "–", "−0.5000"),
    )
    assert (signed_words(-0.0282, percent), signed_words(0.0005, percent)) == ("−2.82", "+0.05")
    assert interval_words(0.7247, 0.7274, percent) == "72.47–72.74"
    assert interval_words(-0.0027, 0.0009, percent, signed=True) == "−0.27 to +0.09"
    assert interval_words(-0.35, 0.000008, percent, signed=True) == "−35.00 to +0.01"
    assert interval_words(-0.000008, 0.0, percent, signed=True) == "−0.01 to 0.00"
    assert interval_words(None, None, percent) == ""
    assert interval_words(None, 0.1, percent, signed=True) == "−inf to +10.00"
    assert (ranks_words([3, 5]), ranks_words([3, 3]), ranks_words(None)) == ("3–5", "3", "")


@given(st.text(max_size=200), st.floats(20, 300))
def test_lines_fit_and_hold_every_word(words: str, room: float) -> None:
    lines = wrapped_words(words, room, 13)
    assert "".join("".join(lines).split()) == "".join(words.split())
    assert all(width(line, 13) <= room or len(line) == 1 for line in lines)


def test_the_check_finds_what_is_clipped_and_what_overlaps() -> None:
    for places in ([(60, 10)], [(2, 20), (4, 22)]):
        drawing = Drawing("x", "title", "words")
        for x, y in places:
            put(drawing, x, y, "a long text that is too wide" if x == 60 else "words")
        with pytest.raises(AssertionError):
            check_picture(drawing.svg(100, 40))
