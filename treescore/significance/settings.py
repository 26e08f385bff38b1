"""Settings of a comparison, declared as JSON Schema and checked by it; and numbers that several tests share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from treescore.core.params import Json, Param, checked
from treescore.errors import InputError, Problem

AUTO = "auto"
FEWEST_PARTS = 3
"""Parts from which on whole parts can be the units."""
BY_LAW = (AUTO, "permutation", "t")
"""Tests of a difference by the law of its units; the others test something else, or nothing."""
BOOTSTRAPPED = ("percentile", "bca")
"""Intervals that draw resamples."""
CORRECTIONS = ("holm", "hochberg", "bh", "by", "bonferroni", "none")


def _one_of(default: str, doc: str, *others: str) -> Param:
    return Param({"enum": [default, *others]}, default, doc)


PARAMS: Mapping[str, Param] = {
    "test": _one_of(
        AUTO,
        "auto: the paired permutation test from 16 units on, Student's t below; permutation or t: the one of them for "
        "any number of units; bootstrap: intervals only, p is null; mcnemar: on sentences right or wrong as a whole, "
        "or on tokens; compare_pl: Bikel's comparator, one-sided in the observed direction, recall and precision from "
        "rounded percentages.", "permutation", "t", "bootstrap", "mcnemar", "compare_pl"),
    "unit": _one_of(
        AUTO,
        "What is swapped and redrawn as a whole: a sentence, a block of sentences (a document), or a whole part, from "
        f"{FEWEST_PARTS} parts on. auto: the request's blocks, else gold's documents, else sentences; for mcnemar and "
        "compare_pl sentences. token needs the test mcnemar.", "sentence", "block", "part", "token"),
    "alternative": _one_of(
        "two-sided", "greater: the first system is better (also where a lower score is better); less: it is worse.",
        "greater", "less"),
    "shuffles": Param(
        {"type": ["integer", "null"], "minimum": 1, "maximum": 1_000_000}, None,
        "Draw so many random signs of the units (Monte Carlo) instead of listing all or approximating their law."),
    "resamples": Param(
        {"type": "integer", "minimum": 1, "maximum": 200_000}, 10_000, "Resamples of intervals by the bootstrap."),
    "correction": _one_of(
        *("holm", "Which adjusted p decides; the others are shown beside it. The intervals follow it."),
        *CORRECTIONS[1:]),
    "alpha": Param(
        {"type": "number", "minimum": 1e-12, "maximum": 0.5}, 0.05,
        "A difference is significant where its adjusted p is at most this."),
    "seed": Param(
        {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}, 1,
        "Seed of shuffles and resamples, where any are drawn."),
    "interval": _one_of(
        AUTO, "auto: by the law of the test; percentile or bca (bias-corrected and accelerated, Efron 1987): by the "
        "bootstrap; none.", *BOOTSTRAPPED, "none"),
    "level": Param(
        {"type": ["number", "null"], "minimum": 0.5, "maximum": 0.9999}, None,
        "Level of each interval by itself; 1 - alpha unless given."),
    "clusters": _one_of(
        "separable",
        "separable: a line is drawn where every system above differs from every system below; greedy: a cluster "
        "ends at the first system that differs from one of its members.", "greedy"),
    "mcnemar": _one_of(
        "exact", "Which of McNemar's p decides; all of them are shown.", "mid-p", "chi2", "chi2-corrected"),
    "runs": _one_of(
        "random",
        "random: where both systems have two or more training runs, the test is about other runs too; fixed: about "
        "these trained models alone.", "fixed"),
    "margin": Param(
        {"type": ["number", "null"], "exclusiveMinimum": 0}, None,
        "Test also that a system is not worse than another by this much, in units of the score: half a point of "
        "percent is 0.005."),
    "power": Param(
        {"type": "number", "minimum": 0.5, "maximum": 0.99}, 0.8,
        "The chance with which a true difference as large as `detectable` would be found."),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Settings:
    """Checked settings. PARAMS describes each field.

    `runs_required` tells that `runs: random` was asked for by name, which is an error where no
    system has two runs.
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
    def own_level(self) -> float:
        """The level of an interval by itself."""
        return 1.0 - self.alpha if self.level is None else self.level

    @property
    def by_law(self) -> bool:
        """Whether the difference of the scores is tested, by the law of its units."""
        return self.test in BY_LAW


def parse_settings(document: Mapping[str, Json]) -> Settings:
    """Return the settings of a `significance` object; `scores` is ignored here.

    Raises:
        InputError: unknown names and wrong values, each with its pointer below the object.
    """
    options = {name: value for name, value in document.items() if name != "scores"}
    values = checked("significance", PARAMS, options, also=["scores"])
    for name in ("shuffles", "resamples", "seed"):
        values[name] = None if values[name] is None else int(values[name])
    settings = Settings(**values, runs_required=options.get("runs") == "random")
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
