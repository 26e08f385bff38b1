"""The simulations behind the page on significance: the same counts in any division of the work."""

from __future__ import annotations

import numpy as np
import pytest
from nulls import simulate
from nulls.margins import not_worse
from nulls.tables import Goal, cell, with_table
from nulls.units import strictly_beyond

LONG = ("detectable", "tokens", "picking")
"""Tables one data set of which takes seconds."""


class InThisProcess:
    """Stands for a pool of processes."""

    def map(self, function, items):
        return map(function, items)


@pytest.fixture
def lines(monkeypatch):
    def simulated(block):
        monkeypatch.setattr(simulate, "BLOCK", block)
        return list(simulate.simulated(simulate.TABLES["ties"], 7, 3, InThisProcess()))

    return simulated


def test_figures_do_not_depend_on_how_data_sets_are_divided(lines):
    assert lines(2) == lines(7)


def test_another_data_set_adds_to_the_same_ones():
    first, more = (simulate.counted(simulate.Block("ties", 0, 1, 0, stop)) for stop in (4, 5))
    assert all(0 <= more[column] - first[column] <= 1 for column in first)


@pytest.mark.parametrize(
    "key", [pytest.param(key, marks=pytest.mark.slow if key in LONG else ()) for key in simulate.TABLES]
)
def test_every_table_gives_a_figure_in_each_of_its_columns(key):
    table = simulate.TABLES[key]
    seen = set()
    for row in {0, len(table.rows) - 1}:
        seen |= set(simulate.counted(simulate.Block(key, row, 1, 0, 1)))
    assert seen == set(table.columns)


def test_row_names_and_headings_are_distinct():
    headings = [table.heading for table in simulate.TABLES.values()]
    assert len(set(headings)) == len(headings)
    for table in simulate.TABLES.values():
        assert len({row.name for row in table.rows}) == len(table.rows)


@pytest.mark.parametrize(
    ("count", "goal", "text"),
    [
        (100, Goal.FALSE, "5.0 ± 0.5"),
        (200, Goal.FALSE, "**10.0 ± 0.7**"),
        (0, Goal.FALSE, "0.0 ± 0.1"),
        (1800, Goal.COVERAGE, "**90.0 ± 0.7**"),
        (2000, Goal.COVERAGE, "100.0 ± 0.1"),
        (1200, Goal.POWER, "**60.0 ± 1.1**"),
        (1200, Goal.SHOWN, "60.0 ± 1.1"),
    ],
)
def test_a_cell_has_its_standard_error_and_is_bold_where_it_misses_its_goal(count, goal, text):
    assert cell(count, 2000, goal) == text


def test_a_table_of_a_page_is_replaced_up_to_the_next_empty_line():
    page = "# P\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nend\n"
    assert with_table(page, ["| a | b |", "|---|---|", "| 3 | 4 |"]) == page.replace("| 1 | 2 |", "| 3 | 4 |")
    with pytest.raises(ValueError, match="no table"):
        with_table(page, ["| c |"])


def test_shuffles_that_tie_do_not_count_for_the_tools_that_leave_them_out():
    d = np.zeros(5, np.int64)
    assert strictly_beyond(d, np.random.default_rng(1)) == 1 / 1000


def test_a_sample_without_failures_is_called_not_worse():
    counts = np.full((50, 2), [9, 10])
    events = not_worse(counts, counts, 0.01)
    assert all(events.values())
