"""Coverage of intervals: scores and differences of few units, shares of whole sentences, dependent sentences, runs."""

from __future__ import annotations

import numpy as np

from nulls.runs import counted, trained
from nulls.systems import EXACT_MATCH, LAS, covers, expected_las, outcome, pair, row_of, systems
from nulls.tables import Experiment, Goal, Row, Table
from treescore.significance import Candidate

RESAMPLES = 1_000
KINDS = ("auto", "percentile", "bca")


def of_few_units(sentences: int, what: str) -> Experiment:
    """The LAS of one system, or the difference of two equal ones."""
    true = expected_las()

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        two = systems(generator, 2, sentences)
        events = {}
        for kind in KINDS:
            document = outcome(two, LAS, interval=kind, resamples=RESAMPLES)
            if what == "score":
                events[f"`{kind}`"] = covers(row_of(document, two[0])["ci"], true)
            else:
                events[f"`{kind}`"] = covers(document["pairs"][0]["ci"], 0.0)
        return events

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


def in_documents(documents: int, effect: float) -> Experiment:
    """The difference of two equal systems on documents of 20 sentences."""
    groups = np.repeat(np.arange(documents), 20)
    blocks = [f"document {number}" for number in groups]

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        two = systems(generator, 2, len(groups), group_effect=effect, groups=groups)
        asked = {"blocks": blocks, "interval": "auto", "resamples": RESAMPLES}
        return {
            "narrow claim": covers(pair(two, LAS, unit="sentence", **asked)["ci"], 0.0),
            "wide claim": covers(pair(two, LAS, unit="auto", **asked)["ci"], 0.0),
        }

    return experiment


def over_runs(runs: int, run_sd: float) -> Experiment:
    """The difference of two methods that are equal in expectation over training runs."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        two = counted(trained(generator, runs, run_sd))
        asked = {"interval": "auto", "resamples": RESAMPLES}
        return {
            "narrow claim": covers(pair(two, LAS, runs="fixed", **asked)["ci"], 0.0),
            "wide claim": covers(pair(two, LAS, runs="random", **asked)["ci"], 0.0),
        }

    return experiment


SETTINGS = tuple(f"`{kind}`" for kind in KINDS)
TABLES = (
    Table(
        "intervals",
        "LAS: 95 % interval of",
        SETTINGS,
        tuple(
            Row(f"the {what}, {sentences} sentences", of_few_units(sentences, what), Goal.COVERAGE)
            for what in ("score", "difference")
            for sentences in (5, 10, 20, 50, 200)
        ),
    ),
    Table(
        "shares",
        "exact match: 95 % interval of a true share",
        SETTINGS,
        tuple(
            Row(f"{share}, {sentences} sentences", of_a_share(sentences, share), Goal.COVERAGE)
            for share in (0.5, 0.9, 0.98)
            for sentences in (10, 50, 200)
        ),
    ),
    Table(
        "wider",
        "95 % interval of the difference where more than sentences varies",
        ("narrow claim", "wide claim"),
        (
            *(
                Row(
                    f"{documents} documents, sd 0.6: `unit: sentence` / `auto`",
                    in_documents(documents, 0.6),
                    Goal.COVERAGE,
                )
                for documents in (8, 20, 60)
            ),
            *(
                Row(f"{runs} runs, sd 0.1: `runs: fixed` / `random`", over_runs(runs, 0.1), Goal.COVERAGE)
                for runs in (2, 5)
            ),
        ),
    ),
)
