"""Coverage of intervals: scores and differences of few units, shares of whole sentences, dependent sentences, runs."""

from __future__ import annotations

import numpy as np

from nulls.runs import counted, trained
from nulls.systems import (
    EWT,
    EXACT_MATCH,
    GUM,
    LAS,
    covers,
    expected_las,
    of_documents,
    outcome,
    pair,
    row_of,
    systems,
    words_of,
)
from nulls.tables import Experiment, Goal, Row, Table
from treescore.significance import Candidate

RESAMPLES = 400
KINDS = ("auto", "percentile")


def of_few_units(sentences: int) -> Experiment:
    """The LAS of one system, and the difference of two equal ones, over sentences."""
    true = expected_las()

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        two = systems(generator, 2, sentences)
        events = {}
        for kind in KINDS:
            document = outcome(two, LAS, interval=kind, resamples=RESAMPLES)
            events[f"score, `{kind}`"] = covers(row_of(document, two[0])["ci"], true)
            events[f"difference, `{kind}`"] = covers(document["pairs"][0]["ci"], 0.0)
        return events

    return experiment


SHIFT = 0.5


def over_documents(like: str, documents: int) -> Experiment:
    """Three systems over documents, two equal ones and one that is better."""
    true, better = (expected_las(0.3, shift) for shift in (0.0, SHIFT))

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        words = words_of(generator, like, documents)
        three, blocks = of_documents(generator, words, 3, 0.3, np.array([0.0, 0.0, SHIFT])[:, None])
        document = outcome(three, LAS, blocks=blocks, interval="auto")
        equal, different, _ = document["pairs"]
        return {
            "difference 0": covers(equal["ci"], 0.0),
            f"difference {better - true:.3f}": covers(different["ci"], true - better),
            "score": covers(row_of(document, three[0])["ci"], true),
        }

    return experiment


def of_a_share(sentences: int, share: float) -> Experiment:
    """The share of wholly right sentences."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        right = (generator.random(sentences) < share).astype(np.int64)
        ones = np.ones(sentences, np.int64)
        system = Candidate("system", (np.stack([right, ones, right, ones], axis=1),))
        events = {}
        for kind in KINDS:
            document = outcome([system], EXACT_MATCH, interval=kind, resamples=RESAMPLES)
            events[f"`{kind}`"] = covers(row_of(document, system)["ci"], share)
        return events

    return experiment


def over_runs(runs: int, run_sd: float) -> Experiment:
    """The difference of two methods that are equal in expectation over training runs."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        two = counted(trained(generator, runs, run_sd, 100))
        asked = {"interval": "auto"}
        return {
            "narrow claim": covers(pair(two, LAS, runs="fixed", **asked)["ci"], 0.0),
            "wide claim": covers(pair(two, LAS, runs="random", **asked)["ci"], 0.0),
        }

    return experiment


TABLES = (
    Table(
        "intervals",
        "95 % interval of LAS",
        tuple(f"{what}, `{kind}`" for what in ("score", "difference") for kind in KINDS),
        tuple(
            Row(f"{sentences} sentences", of_few_units(sentences), Goal.COVERAGE, 4)
            for sentences in (5, 10, 16, 50, 200)
        ),
    ),
    Table(
        "covers",
        "95 % interval over documents, system-by-document sd 0.3 (log odds)",
        ("difference 0", f"difference {expected_las(0.3, SHIFT) - expected_las(0.3):.3f}", "score"),
        tuple(
            Row(
                f"{documents} documents as unequal as {like}'s",
                over_documents(like, documents),
                Goal.COVERAGE,
                1 if documents < 16 else 2,
            )
            for like in (EWT, GUM)
            for documents in (5, 7, 10, 16, 30, 60)
        ),
    ),
    Table(
        "shares",
        "exact match: 95 % interval of a true share",
        tuple(f"`{kind}`" for kind in KINDS),
        tuple(
            Row(f"{share}, {sentences} sentences", of_a_share(sentences, share), Goal.COVERAGE)
            for share in (0.5, 0.9, 0.98)
            for sentences in (10, 50, 200)
        ),
    ),
    Table(
        "wider",
        "95 % interval of the difference where training runs vary",
        ("narrow claim", "wide claim"),
        tuple(
            Row(f"{runs} runs, sd 0.1: `runs: fixed` / `random`", over_runs(runs, 0.1), Goal.COVERAGE, 4)
            for runs in (2, 5)
        ),
    ),
)
