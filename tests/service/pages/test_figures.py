"""Figures on pages: as PAGES of the field print them, of the same length, with the signs that readers expect."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.pages.figures import ScoreFigures, deadline, p_value, state_of, time, whole
from treescore.core.wording import Figures, p_figure

SHARE = ScoreFigures(share=True)
SHARES = st.floats(0, 1)
DIFFERENCES = st.floats(-1, 1)


@pytest.mark.parametrize(
    ("step", "value", "shown"),
    [(None, 0.8765, "87.65"), (None, 1.0, "100.00"), (None, 0.0, "0.00"), (0.01, 0.87, "87"), (0.005, 0.875, "87.5"),
     (0.001, 0.875, "87.5"), (0.1, 0.9, "90"), (None, None, "–")],
)  # fmt: skip
def test_scores_are_percent_with_as_many_decimals_as_their_step(step, value, shown):
    assert ScoreFigures(share=True, step=step).value(value) == shown


@given(SHARES)
def test_a_score_has_two_decimals_and_is_what_it_was_to_half_of_the_last(value):
    shown = SHARE.value(value)
    assert re.fullmatch(r"\d{1,3}\.\d\d", shown)
    assert shown == f"{100 * value:.2f}"


@given(SHARES, SHARES)
def test_a_greater_score_is_never_shown_as_a_smaller_one(one, other):
    low, high = sorted((one, other))
    assert float(SHARE.value(low)) <= float(SHARE.value(high))


@given(DIFFERENCES)
def test_a_difference_has_a_sign_that_is_right(value):
    shown = SHARE.difference(value)
    assert "-" not in shown
    if value:
        assert shown[0] == ("+" if value > 0 else "−")


@given(DIFFERENCES)
def test_turning_a_difference_round_turns_its_sign(value):
    if value:
        one, other = SHARE.difference(value), SHARE.difference(-value)
        assert one[1:] == other[1:]
        assert {one[0], other[0]} == {"+", "−"}


def test_what_is_missing_is_a_dash_and_never_zero():
    assert SHARE.value(None) == SHARE.difference(None) == p_value(None) == whole(None) == str(time(None)) == "–"
    assert SHARE.interval(None, None) == ""


def test_bounds_have_the_digits_that_the_level_shows():
    rounded = ScoreFigures(share=True, rounded=True)
    assert rounded.interval(0.853, 0.861) == "85.3–86.1"
    assert rounded.interval(0.0853, 0.12) == "8.53–12.0"
    assert rounded.span(-0.123, 0.0021) == "−12.3 to +0.21"
    assert rounded.interval(0.0, 1.0) == "0.00–100"
    assert SHARE.interval(0.5, 0.861) == "50.00–86.10"
    fractions = Figures(rounded=True)
    assert fractions.interval(0.853, 0.0012) == "[0.853, 0.0012]"
    assert (p_figure(0.024), p_figure(1e-9), p_figure(None)) == ("0.024", "< .0001", "-")


@pytest.mark.parametrize(
    ("p", "shown"),
    [(0.83, ".83"), (0.024, ".024"), (0.0021, ".0021"), (0.00001, "< .0001"), (0.0001, "< .0001"), (0.00011, ".0001")],
)
def test_p_is_written_as_readers_know_it(p, shown):
    assert p_value(p) == shown


@given(st.floats(0, 1))
def test_p_is_short_and_near_what_it_was(p):
    shown = p_value(p)
    assert len(shown) <= 7
    if shown.startswith("<"):
        assert p <= 1e-4
    else:
        assert abs(float(shown) - p) <= max(0.00005, 0.05 * p) + 1e-12


@given(st.integers(0, 10**12))
def test_whole_numbers_stand_in_groups_of_three(number):
    shown = whole(number)
    assert shown.replace("\u2009", "") == str(number)
    assert all(len(group) == 3 for group in shown.split("\u2009")[1:])


def test_times_are_for_people_and_programs():
    assert str(time("2026-11-02T12:00:00.183Z")) == (
        '<time datetime="2026-11-02T12:00:00.183Z">2 November 2026 12:00 UTC</time>'
    )


def test_the_days_of_more_than_a_year_are_not_counted():
    now = datetime(2026, 11, 2, tzinfo=UTC)
    times = [(None, "2027-11-01T00:00:00Z"), (None, "2099-12-04T00:00:00Z"), ("2099-12-04T00:00:00Z", None)]
    said = [state_of({"active_revision": 1, "opens_at": opens, "closes_at": closes}, now) for opens, closes in times]
    assert said == ["open, 364 days left", "open, more than a year left", "opens in more than a year"]


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("2027-11-02T11:59:59.000Z", "Monday 1 November 2027, 23:59 anywhere on earth (11:59 UTC the day after)"),
        ("2028-01-01T11:59:00.000Z", "Friday 31 December 2027, 23:59 anywhere on earth (11:59 UTC the day after)"),
        ("2027-11-02T12:00:00.000Z", "Tuesday 2 November 2027, 12:00 UTC"),
    ],
)
def test_a_deadline_has_its_day_and_the_end_of_a_day_anywhere_on_earth_is_called_so(moment, words):
    assert deadline(moment) == f'<time datetime="{moment}">{words}</time>'
    assert deadline(None) == "–"
