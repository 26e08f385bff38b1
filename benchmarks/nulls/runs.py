"""Training runs: equal methods whose runs differ in their expected score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import comb

from nulls.systems import LAS, pair, redraws, scored
from nulls.tables import ALPHA, Experiment, Row, Table
from treescore.significance import Candidate

UNITS = 300
SYSTEM_SD = 0.5
"""System-by-sentence, the same in all runs of a system."""
RESIDUAL_SD = 0.5**0.5
"""Run-by-sentence: with two runs each, the differences of the means have standard deviation 1."""


def trained(generator: np.random.Generator, runs: int, run_sd: float) -> list[np.ndarray]:
    """Return scores (runs, n) of two systems in standard deviations, equal in expectation."""
    difficulty = generator.normal(0, 1, UNITS)
    return [
        difficulty
        + generator.normal(0, SYSTEM_SD, UNITS)
        + generator.normal(0, run_sd, (runs, 1))
        + generator.normal(0, RESIDUAL_SD, (runs, UNITS))
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


def redrawn(values: Sequence[np.ndarray], generator: np.random.Generator, resamples: int = 400) -> tuple[float, float]:
    """Return the 95 % percentile interval of the difference of means, runs and units redrawn."""
    weights = redraws(generator, UNITS, resamples) / UNITS
    means = []
    for of_runs in values:
        runs = len(of_runs)
        chosen = redraws(generator, runs, resamples) / runs
        means.append(((weights @ of_runs.T) * chosen).sum(axis=1))
    low, high = np.quantile(means[0] - means[1], [0.025, 0.975])
    return float(low), float(high)


def equal_methods(runs: int, run_sd: float) -> Experiment:
    """Two methods that are equal in expectation over training runs."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        values = trained(generator, runs, run_sd)
        two = counted(values)
        low, high = redrawn(values, generator)
        means = np.concatenate([of_runs.mean(axis=1) for of_runs in values])
        return {
            "pooled (`runs: fixed`)": pair(two, LAS, runs="fixed")["p"] <= ALPHA,
            "run labels permuted": labels_permuted(means, runs, generator) <= ALPHA,
            "bootstrap of runs and units": not low <= 0 <= high,
            "t over runs and units (`runs: random`)": pair(two, LAS, runs="random")["p"] <= ALPHA,
        }

    return experiment


TABLES = (
    Table(
        "runs",
        "300 sentences; training runs each, their sd in sd of the units' differences",
        (
            "pooled (`runs: fixed`)",
            "run labels permuted",
            "bootstrap of runs and units",
            "t over runs and units (`runs: random`)",
        ),
        tuple(Row(f"{runs} runs, {sd}", equal_methods(runs, sd)) for sd in (0.05, 0.1) for runs in (2, 3, 5, 10)),
    ),
)
