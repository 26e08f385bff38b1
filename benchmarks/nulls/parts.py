"""Macro averages: parts as fixed or as drawn, a missing part, and p from few tilted draws."""

from __future__ import annotations

import math

import numpy as np
from treescore.significance.signed_sums import linear_kinds, saddle_at, sampled_tail

from nulls.systems import LAS, SCALE, pair, scored, systems
from nulls.tables import ALPHA, Experiment, Row, Table
from treescore.significance import Candidate

PARTS = 20
SENTENCES = 100


def varying(effect: float) -> Experiment:
    """Two systems on 20 parts of 100 sentences, equal in the population of parts."""
    parts = np.repeat(np.arange(PARTS), SENTENCES)

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        two = systems(generator, 2, len(parts), group_effect=effect, groups=parts)
        found = pair(two, LAS, parts=parts)
        return {"`p`, within parts": found["p"] <= ALPHA, "`p_parts`": found["p_parts"] <= ALPHA}

    return experiment


REST = 4
"""Parts that both systems have."""


def missing(worth: float) -> Experiment:
    """Two systems equal on four parts of 40 sentences; one of them lacks a fifth, worth so many sd of the others."""
    parts = np.repeat(np.arange(REST + 1), [40] * REST + [1])

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        values = generator.normal(0, np.sqrt(0.5), (2, 40 * REST))
        first, second = (scored(each) for each in values)
        u = (first[:, 0] - second[:, 0]) / (SCALE * 40 * (REST + 1))
        alone = worth * math.sqrt(float(u @ u))
        own = np.array([[round(alone * (REST + 1) * SCALE), SCALE]])
        rows = [np.concatenate([first, own]), np.concatenate([second, np.zeros((1, 2), np.int64)])]
        two = [Candidate("whole", (rows[0],)), Candidate("lacking", (rows[1],), missing=frozenset({REST}))]
        signs = generator.integers(0, 2, (999, len(u))) * 2 - 1
        constant = (1 + (np.abs(signs @ u) >= abs(u.sum() + alone)).sum()) / 1000
        return {"kept constant": constant <= ALPHA, "one unit": pair(two, LAS, parts=parts)["p"] <= ALPHA}

    return experiment


def few_draws(draws: int) -> Experiment:
    """A sum of 50 contributions under the null, its p from so many tilted draws."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        e = generator.normal(0, 1, 50)
        sizes, copies = np.sort(np.abs(e)), np.ones(50, np.int64)
        x = abs(float(e.sum()))
        saddle = saddle_at(sizes, copies, x)
        seed = int(generator.integers(2**62))
        log_p, _ = sampled_tail(linear_kinds(sizes, copies), x, x, saddle.t, seed=seed, draws=draws)
        # g_observed = exp(K(t) - t x): the share of p that the observed signs add
        g_observed = math.exp(saddle.cumulant - saddle.t * x)
        without = (math.exp(log_p) * (draws + 1) - g_observed) / draws
        return {"without g_observed": 2 * without <= ALPHA, "with g_observed": 2 * math.exp(log_p) <= ALPHA}

    return experiment


TABLES = (
    Table(
        "parts",
        "20 parts of 100 sentences, system-by-part sd (log odds)",
        ("`p`, within parts", "`p_parts`"),
        tuple(Row(str(effect), varying(effect)) for effect in (0.0, 0.15, 0.3)),
    ),
    Table(
        "missing",
        "a missing part, worth in sd of the other four",
        ("kept constant", "one unit"),
        tuple(Row(str(worth), missing(worth)) for worth in (0.5, 1.0, 2.0)),
    ),
    Table(
        "tilted",
        "p of a sum of 50 units from tilted draws",
        ("without g_observed", "with g_observed"),
        tuple(Row(f"{draws} draws", few_draws(draws)) for draws in (5, 20, 100)),
    ),
)
