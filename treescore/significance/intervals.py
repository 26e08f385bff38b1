"""The intervals of a comparison: of scores, of differences, and of all differences together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from treescore.core.arrays import FloatArray
from treescore.core.params import Json
from treescore.significance import few_units
from treescore.significance.bootstrap import (
    PERCENTILE,
    Interval,
    bca_interval,
    intervals,
    jackknife_scores,
    resampled,
)
from treescore.significance.question import Question
from treescore.significance.settings import AUTO
from treescore.significance.simultaneous import simultaneous_intervals
from treescore.significance.units import Sample

DRAWN = "bootstrap"
"""How the names of methods end that draw resamples."""
PAIRED = "paired "
"""Before them where the same resamples serve both systems of a pair."""
PAIRS_AT_ONCE = 64
"""Pairs whose differences are held at once, so that memory stays of the order of systems times resamples."""


class Draws:
    """The systems of a question that have a score, and their scores in every resample, drawn when first asked for.

    Attributes:
        systems: as indices of the question.
        sample: of these systems only.
        pairs: of the question, as rows of the sample.
    """

    def __init__(self, question: Question, threads: int | None = None) -> None:
        """Draw nothing yet; then in so many threads."""
        self.systems = [index for index, value in enumerate(question.values) if math.isfinite(value)]
        self.sample: Sample = question.sample.of_systems(self.systems)
        row_of = {system: row for row, system in enumerate(self.systems)}
        self.pairs = [(row_of[first], row_of[second]) for first, second in question.pairs]
        self._question = question
        self._threads = threads
        self._replicates: FloatArray | None = None

    @property
    def replicates(self) -> FloatArray:
        """The scores, (N, resamples); NaN where undefined."""
        if self._replicates is None:
            question = self._question
            self._replicates = resampled(self.sample, question.resamples, question.seed(), self._threads)
        return self._replicates


def own_intervals(question: Question, draws: Draws) -> tuple[Mapping[int, Interval], list[Interval | None]]:
    """Compute the interval of each system's score, by its index, and of each pair's difference, None without one."""
    settings = question.settings
    if settings.interval == "none" or not draws.systems or not question.sample.units:
        return {}, [None] * len(draws.pairs)
    of_systems: Sequence[Interval | None]
    of_pairs: Sequence[Interval | None]
    if settings.interval == AUTO:
        of_systems, of_pairs = _by_units(draws, settings.level)
    elif settings.interval == "bca":
        of_systems, of_pairs = _accelerated(draws, settings.level)
    else:
        of_systems = intervals(draws.replicates, settings.level)
        of_pairs = percentile_differences(draws.replicates, draws.pairs, settings.level)
    found = zip(draws.systems, of_systems, strict=True)
    return {system: interval for system, interval in found if interval is not None}, list(of_pairs)


def intervals_together(question: Question, draws: Draws) -> list[Interval | None]:
    """Compute the intervals of all differences that hold together; None where none are asked for.

    They depend on all systems, as corrected p do.
    """
    if question.settings.interval == "none" or not question.pairs or not question.sample.units:
        return [None] * len(question.pairs)
    values = draws.sample.values()
    return list(simultaneous_intervals(draws.replicates, values, draws.pairs, question.settings.level))


def interval_document(question: Question, interval: Interval | None, systems: Sequence[int]) -> dict[str, Json] | None:
    """Make the document of an interval that belongs to some systems: one, the two of a difference, or all."""
    if interval is None:
        return None
    drawn = interval.method.endswith(DRAWN)
    return {
        "level": question.settings.level,
        "low": interval.low if math.isfinite(interval.low) else None,
        "high": interval.high if math.isfinite(interval.high) else None,
        "method": f"{PAIRED}{interval.method}" if drawn and len(systems) > 1 else interval.method,
        "resamples": question.resamples if drawn else None,
        "seed": question.seed() if drawn else None,
    }


def percentile_differences(replicates: FloatArray, pairs: Sequence[tuple[int, int]], level: float) -> list[Interval]:
    """Compute percentile intervals of all differences, a bounded number of pairs at once."""
    result: list[Interval] = []
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        indices = np.array(pairs[start : start + PAIRS_AT_ONCE])
        result += intervals(replicates[indices[:, 0]] - replicates[indices[:, 1]], level)
    return result


def _by_units(draws: Draws, level: float) -> tuple[list[Interval | None], list[Interval | None]]:
    """Compute each interval as the number of units asks for (`few_units.py`)."""
    own = few_units.system_intervals(draws.sample, range(len(draws.systems)), level)
    of_pairs = few_units.difference_intervals(draws.sample, draws.pairs, level)
    systems = [row for row, answer in enumerate(own) if answer.method == PERCENTILE]
    pairs = [at for at, answer in enumerate(of_pairs) if answer.method == PERCENTILE]
    found_own = [answer.interval for answer in own]
    found = [answer.interval for answer in of_pairs]
    if systems:
        for row, interval in zip(systems, intervals(draws.replicates[systems], level), strict=True):
            found_own[row] = interval
    if pairs:
        drawn = percentile_differences(draws.replicates, [draws.pairs[at] for at in pairs], level)
        for at, interval in zip(pairs, drawn, strict=True):
            found[at] = interval
    return found_own, found


def _accelerated(draws: Draws, level: float) -> tuple[list[Interval], list[Interval]]:
    replicates, values = draws.replicates, draws.sample.values()
    left_out = jackknife_scores(draws.sample)
    own = [bca_interval(replicates[row], float(values[row]), left_out[row], level) for row in range(len(draws.systems))]
    of_pairs = [
        bca_interval(
            replicates[first] - replicates[second],
            float(values[first] - values[second]),
            left_out[first] - left_out[second],
            level,
        )
        for first, second in draws.pairs
    ]
    return own, of_pairs
