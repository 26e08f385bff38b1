"""Training runs: equal methods whose runs differ in their expected score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import comb

from nulls.systems import LAS, pair, scored
from nulls.tables import ALPHA, Experiment, Row, Table
from treescore.significance import Candidate

SYSTEM_SD = 0.5
"""System-by-sentence, the same in all runs of a system."""
RESIDUAL_SD = 0.5**0.5
"""Run-by-sentence: with two runs each, the differences of the means have standard deviation 1."""


def trained(generator: np.random.Generator, runs: int, run_sd: float, units: int) -> list[np.ndarray]:
    """Return scores (runs, n) of two systems in standard deviations, equal in expectation."""
    difficulty = generator.normal(0, 1, units)
    return [
        difficulty
        + generator.normal(0, SYSTEM_SD, units)
        + generator.normal(0, run_sd, (runs, 1))
        + generator.normal(0, RESIDUAL_SD, (runs, units))
        for _ in range(2)
    ]


def counted(values: Sequence[np.ndarray]) -> list[Candidate]:
    """Return systems with a run for each row of their scores (runs, n)."""
    return [Candidate(f"system {place}", tuple(map(scored, of_runs))) for place, of_runs in enumerate(values)]


def labels_permuted(means: np.ndarray, runs: int, generator: np.random.Generator, most: int = 1_000) -> float:
    """Return p of the difference of mean run scores (2 runs,) under permuted run labels; the units stay as they are."""
    observed = abs(means[:runs].mean() - means[runs:].mean())
    shuffles = min(most, 20 * int(comb(2 * runs, runs)))
    order = np.argsort(generator.random((shuffles, 2 * runs)), axis=1)
    drawn = means[order]
    differences = np.abs(drawn[:, :runs].mean(axis=1) - drawn[:, runs:].mean(axis=1))
    return float((1 + (differences >= observed - 1e-12).sum()) / (1 + shuffles))


def equal_methods(runs: int, run_sd: float, units: int) -> Experiment:
    """Two methods that are equal in expectation over training runs."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        values = trained(generator, runs, run_sd, units)
        two = counted(values)
        means = np.concatenate([of_runs.mean(axis=1) for of_runs in values])
        return {
            "pooled (`runs: fixed`)": pair(two, LAS, runs="fixed")["p"] <= ALPHA,
            "run labels permuted": labels_permuted(means, runs, generator) <= ALPHA,
            "t over runs and units (`runs: random`)": pair(two, LAS, runs="random")["p"] <= ALPHA,
        }

    return experiment


TABLES = (
    Table(
        "runs",
        "training runs each, their sd in sd of the units' differences, units",
        ("pooled (`runs: fixed`)", "run labels permuted", "t over runs and units (`runs: random`)"),
        tuple(
            Row(f"{runs} runs, {sd}, {units} units", equal_methods(runs, sd, units), share=2)
            for runs, sd, units in (
                (2, 0.05, 300),
                (2, 0.1, 300),
                (3, 0.1, 300),
                (5, 0.1, 300),
                (2, 0.4, 20),
                (5, 0.4, 20),
                (3, 0.6, 7),
            )
        ),
    ),
)
