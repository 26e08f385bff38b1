"""Not worse by more than a margin, and the power at the difference that is promised to be detectable."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.special import ndtri

from nulls.systems import LAS, pair, scored
from nulls.tables import ALPHA, Experiment, Goal, Row, Table
from treescore.significance import Candidate

SPREAD = 0.05
"""Standard deviation of the units' score differences that `scored` gives to a normal variable of sd 1."""
PAIRS = 210
"""Of 21 systems: the first step of Holm's correction decides at 0.05 / 210."""
POWER = 0.8


def two_of(first: np.ndarray, second: np.ndarray) -> list[Candidate]:
    """Return two systems of these counts."""
    return [Candidate("first", (first,)), Candidate("second", (second,))]


def at_the_boundary(sentences: int) -> Experiment:
    """A system that is worse by exactly the margin, half a standard deviation of the units' differences."""
    margin = 0.5 * SPREAD

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        values = generator.normal(0, np.sqrt(0.5), (2, sentences))
        return not_worse(scored(values[0] - 0.5), scored(values[1]), margin)

    return experiment


FAILURES = 0.03
LOSS = 1 / 3


def rare_failures(sentences: int) -> Experiment:
    """A system that loses a third of the words in 3 % of the sentences, and nothing else: worse by exactly 0.01."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        lengths = generator.integers(5, 25, sentences) * 3
        right = np.rint(0.9 * lengths).astype(np.int64)
        lost = (generator.random(sentences) < FAILURES) * (lengths // 3)
        first, second = (np.stack([each, lengths], axis=1) for each in (right - lost, right))
        return not_worse(first, second, FAILURES * LOSS)

    return experiment


def not_worse(first: np.ndarray, second: np.ndarray, margin: float) -> dict[str, bool]:
    """Claim that the first is not worse by more than the margin."""
    found = pair(two_of(first, second), LAS, margin=margin)["noninferiority"]["first"]
    return {"`p`": found["p"] <= ALPHA, "`established`": found["established"]}


@cache
def promised(sentences: int, alpha: float) -> float:
    """Return the difference in sd that `detectable` promises: its mean over 200 data sets of equal systems."""
    generator = np.random.default_rng([sentences, round(1 / alpha)])
    found = []
    for _ in range(200):
        values = generator.normal(0, np.sqrt(0.5), (2, sentences))
        found.append(pair(two_of(*map(scored, values)), LAS, alpha=alpha)["detectable"]["difference"])
    return float(np.mean(found)) / SPREAD


def naive(sentences: int, alpha: float) -> float:
    """Return (a+b)s in sd, the difference that a normal law of constant width would promise."""
    return float(-ndtri(alpha / 2) - ndtri(1 - POWER)) / math.sqrt(sentences)


def powers(sentences: int, alpha: float) -> Experiment:
    """Two systems that truly differ by what is promised to be found with 80 % power."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        values = generator.normal(0, np.sqrt(0.5), (2, sentences))
        return {
            name: pair(two_of(scored(values[0] + gain), scored(values[1])), LAS, alpha=alpha)["p"] <= alpha
            for name, gain in (("`detectable`", promised(sentences, alpha)), ("(a+b)s", naive(sentences, alpha)))
        }

    return experiment


CLAIMS = ("`p`", "`established`")
TABLES = (
    Table(
        "margins",
        "worse by exactly the margin, yet called not worse",
        CLAIMS,
        (
            *(
                Row(f"normal differences, {size} sentences", at_the_boundary(size), share=2)
                for size in (10, 20, 50, 200)
            ),
            *(
                Row(f"3 % of sentences lose a third, {size} sentences", rare_failures(size), share=2)
                for size in (10, 20, 50, 200)
            ),
        ),
    ),
    Table(
        "detectable",
        "power at the difference that is promised to be found with 80 %",
        ("(a+b)s", "`detectable`"),
        tuple(
            Row(
                f"{sentences} sentences, alpha 0.05{f' / {PAIRS}' if pairs > 1 else ''}",
                powers(sentences, ALPHA / pairs),
                Goal.POWER,
                8,
            )
            for pairs in (1, PAIRS)
            for sentences in ((10, 50, 200) if pairs == 1 else (50, 200))
        ),
    ),
)
