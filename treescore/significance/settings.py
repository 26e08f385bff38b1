"""Settings of a comparison, checked; and numbers that several tests share."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from treescore.core.comparing import AUTO, PARAMS
from treescore.core.params import Json, checked
from treescore.errors import InputError, Problem

BY_LAW = (AUTO, "permutation", "t")
"""Tests of a difference by the law of its units; the others test something else, or nothing."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Checked settings. PARAMS describes each field.

    `runs_required` tells that `runs: random` was asked for by name, which is an error where no system has two runs.
    """

    test: str = AUTO
    unit: str = AUTO
    alternative: str = "two-sided"
    shuffles: int | None = None
    resamples: int = 10_000
    correction: str = "holm"
    alpha: float = 0.05
    seed: int = 1
    interval: str = AUTO
    level: float | None = None
    clusters: str = "separable"
    mcnemar: str = "exact"
    runs: str = "random"
    margin: float | None = None
    power: float = 0.8
    runs_required: bool = False

    @property
    def baseline(self) -> str | None:
        """The system that each other one is tested against; None for all pairs, as everywhere on a benchmark."""
        return None

    @property
    def own_level(self) -> float:
        """The level of an interval by itself."""
        return 1.0 - self.alpha if self.level is None else self.level

    @property
    def by_law(self) -> bool:
        """Whether the difference of the scores is tested, by the law of its units."""
        return self.test in BY_LAW


@dataclass(frozen=True, slots=True)
class AgainstOne(Settings):
    """Settings of a comparison with a baseline."""

    baseline: str = ""


BESIDE = ("scores", "baseline")
"""Members of a `significance` object that are no parameters: they name what is compared."""


def parse_settings(document: Mapping[str, Json]) -> Settings:
    """Return the settings of a `significance` object; `scores` is ignored here.

    Raises:
        InputError: unknown names and wrong values, each with its pointer below the object.
    """
    options = {name: value for name, value in document.items() if name not in BESIDE}
    values = checked("significance", PARAMS, options, also=BESIDE)
    for name in ("shuffles", "resamples", "seed"):
        values[name] = None if values[name] is None else int(values[name])
    values["runs_required"] = options.get("runs") == "random"
    baseline = document.get("baseline")
    settings = Settings(**values) if baseline is None else AgainstOne(**values, baseline=baseline)
    if settings.unit == "token" and settings.test != "mcnemar":
        detail = (
            f'The unit "token" needs the test "mcnemar", not {settings.test!r}: '
            "tokens of a sentence are not independent. Use sentence or block."
        )
        raise InputError(Problem("bad-parameter", detail, pointer="/unit"))
    if settings.margin is not None and settings.test not in (*BY_LAW, "bootstrap"):
        detail = (
            f'A margin is in units of the score, which the test "{settings.test}" does not test. '
            "Leave out the margin or the test."
        )
        raise InputError(Problem("bad-parameter", detail, pointer="/margin"))
    return settings


LN2 = math.log(2.0)
LN10 = math.log(10.0)
SMALLEST = float(np.finfo(np.float64).tiny)
"""The smallest p that is shown, the smallest normal float (2.2e-308); smaller ones are shown by their logarithm."""
TOLERANCE = 1e-12
"""Relative tolerance within which a swap ties with the observed difference: a sum of thousands of terms, each rounded
to 1.1e-16 of it, is off by less."""
SLACK = 1e-13
"""The same of differences near 0, in score units: scores up to 1 are rounded to 1.1e-16, and the mean over hundreds of
parts is off by less."""
ROUNDING = 1e-12
"""What is smaller than this share of its terms (or of a score's range) is a rounding error, and counts as 0."""
