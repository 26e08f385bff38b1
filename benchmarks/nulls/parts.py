"""Macro averages: parts as fixed or as drawn, few parts with few documents, and a missing part."""

from __future__ import annotations

import math

import numpy as np

from nulls.systems import EWT, LAS, SCALE, covers, of_documents, pair, scored, systems, words_of
from nulls.tables import ALPHA, Experiment, Row, Table
from treescore.significance import Candidate

SENTENCES = 20


def varying(count: int, effect: float) -> Experiment:
    """Two systems on parts of 20 sentences, equal in the population of parts."""
    parts = np.repeat(np.arange(count), SENTENCES)

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        two = systems(generator, 2, len(parts), group_effect=effect, groups=parts)
        found = pair(two, LAS, parts=parts)
        return {"`p`, within parts": found["p"] <= ALPHA, "`p_parts`": found["p_parts"] <= ALPHA}

    return experiment


def few_documents(count: int, documents: int) -> Experiment:
    """The mean over few parts of few documents each, as unequal as EWT's."""
    parts = np.repeat(np.arange(count), documents)

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        two, blocks = of_documents(generator, words_of(generator, EWT, len(parts)), 2, 0.3)
        strata = np.repeat(parts, len(blocks) // len(parts))
        found = pair(two, LAS, parts=strata, blocks=blocks, interval="auto")
        return {"some false claim": found["p"] <= ALPHA, "`ci` misses 0": not covers(found["ci"], 0.0)}

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


def missing_by_t(documents: int) -> Experiment:
    """Two systems equal on four parts of so many documents; one of them lacks a fifth, in which it would be equal."""
    parts = np.repeat(np.arange(REST + 1), documents)

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        values = generator.normal(0, np.sqrt(0.5), (2, len(parts)))
        first, second = (scored(each) for each in values)
        second = second * np.where(parts == REST, 0, 1)[:, None]
        two = [Candidate("whole", (first,)), Candidate("lacking", (second,), missing=frozenset({REST}))]
        return {"one unit": pair(two, LAS, parts=parts)["significant"]}

    return experiment


TABLES = (
    Table(
        "parts",
        "parts of 20 sentences, system-by-part sd (log odds)",
        ("`p`, within parts", "`p_parts`"),
        tuple(
            Row(f"{count} parts, {effect}", varying(count, effect), share=4)
            for count, effect in ((3, 0.3), (5, 0.3), (10, 0.3), (20, 0.0), (20, 0.3))
        ),
    ),
    Table(
        "few",
        "mean of parts of few EWT-like documents",
        ("some false claim", "`ci` misses 0"),
        tuple(
            Row(f"{count} parts of {documents}", few_documents(count, documents), share=1 if count == 3 else 2)
            for count, documents in ((3, 2), (3, 5), (10, 2), (20, 2))
        ),
    ),
    Table(
        "missing",
        "a missing part, worth in sd of the other four",
        ("kept constant", "one unit"),
        (
            *(Row(str(worth), missing(worth), share=4) for worth in (0.5, 1.0, 2.0)),
            *(Row(f"its whole score, parts of {count}", missing_by_t(count), share=2) for count in (3, 20)),
        ),
    ),
)
