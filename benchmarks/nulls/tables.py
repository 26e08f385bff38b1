"""Tables of simulated rates with their standard errors, and how they are written in Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

ALPHA = 0.05

Experiment = Callable[[np.random.Generator], Mapping[str, bool]]
"""Draws one data set and tells of each column whether the event (a rejection, a covered value) is true of it."""


class Goal(Enum):
    """What the percentages of a row should be."""

    FALSE = "false claims, at most 5 %"
    COVERAGE = "coverage, at least 95 %"
    POWER = "power, at least 80 %"
    SHOWN = "no goal"

    def missed(self, share: float, error: float) -> bool:
        """Tell whether a share misses the goal by more than three standard errors."""
        if self is Goal.FALSE:
            return share > ALPHA + 3 * error
        if self is Goal.COVERAGE:
            return share < 1 - ALPHA - 3 * error
        return self is Goal.POWER and share < 0.8 - 3 * error


@dataclass(frozen=True, slots=True)
class Row:
    """One condition: its name, and the experiment that is repeated: slow ones on one in `share` of the data sets."""

    name: str
    experiment: Experiment
    goal: Goal = Goal.FALSE
    share: int = 1


@dataclass(frozen=True, slots=True)
class Table:
    """Several conditions under the same settings.

    Attributes:
        key: for `--only`.
        heading: what is simulated, as the document says it; the header of the first column.
        columns: settings, wrong and right ones.
        rows: conditions.
    """

    key: str
    heading: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def header(table: Table) -> list[str]:
    """Return the two lines above the rows."""
    return [f"| {table.heading} | {' | '.join(table.columns)} |", "|---" * (1 + len(table.columns)) + "|"]


def cell(count: int, datasets: int, goal: Goal) -> str:
    """Write a share as a percentage with its standard error; bold where it misses its goal."""
    share = count / datasets
    error = math.sqrt(max(share * (1 - share), 1 / datasets) / datasets)
    text = f"{100 * share:.1f} ± {100 * error:.1f}"
    return f"**{text}**" if goal.missed(share, error) else text


def with_table(page: str, lines: Sequence[str]) -> str:
    """Return a page with these lines instead of its table with the same first line.

    Raises:
        ValueError: the page has no line like the first one.
    """
    before, found, rest = page.partition(f"{lines[0]}\n")
    if not found:
        raise ValueError(f"The page has no table with the line {lines[0]!r}. Add it, or leave out --into.")
    _, blank, after = rest.partition("\n\n")
    return before + "\n".join(lines) + blank + after
