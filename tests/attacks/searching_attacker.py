"""An attacker who searches: a participant who knows the public code and asks as much as the quotas allow.

Every answer becomes a linear equation over the correctness of sentences: `weights @ bits = value`, with an error. What
the equations say together is the posterior mean under independent bits (least squares with the prior as ridge), and the
recovered bits are how much better it predicts the truth than chance does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray
from werkzeug.test import TestResponse

from tests.attacks.victim import SLUG, WORDS, Bits, Victim, submission
from tests.contract.checking import CheckedClient
from treescore.core.registry import make_metric
from treescore.significance.contributions import Contributions
from treescore.significance.intervals import resampled
from treescore.significance.law import asked_by, by_law
from treescore.significance.settings import Settings
from treescore.significance.units import Sample, sample_of

Vector = NDArray[np.float64]
SCORE = "attachment.las"
CERTAIN = 1e-3
"""The smallest probability that the attacker gives to a bit."""
MOST_A_DAY = 50
"""Submissions after which the attacker stops where no quota does."""
QUESTIONS: list[dict[str, Any]] = [
    {"test": "bootstrap", "interval": "percentile", "resamples": 1, "seed": 1},
    {"test": "permutation", "shuffles": 1, "seed": 1},
    {"test": "mcnemar"},
    {"test": "mcnemar", "unit": "token"},
    {"test": "compare_pl"},
    {"alternative": "greater"},
    {"level": 0.5},
    {"interval": "bca"},
    {"pick": "all"},
]
"""Questions that told more than a board does where a participant could choose them."""


@dataclass
class Equations:
    """What the attacker knows.

    Attributes:
        rate: chance of a right sentence before anything was asked.
        weights: of each equation, (n,).
        values: of each.
        errors: standard deviation of each value.
    """

    sentences: int
    rate: float = 0.5
    weights: list[Vector] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)

    def add(self, weights: Vector, value: float, error: float) -> None:
        """Note an answer."""
        self.weights.append(weights)
        self.values.append(value)
        self.errors.append(max(error, 1e-9))

    def probabilities(self) -> Vector:
        """Return the probability that each sentence is right, as far as linear equations tell."""
        prior = np.full(self.sentences, self.rate)
        if not self.weights:
            return prior
        matrix = np.array(self.weights)
        spread = self.rate * (1 - self.rate)
        covariance = spread * matrix @ matrix.T + np.diag(np.square(self.errors))
        gain = spread * matrix.T @ np.linalg.pinv(covariance, rcond=1e-12)
        mean = prior + gain @ (np.array(self.values) - matrix @ prior)
        return np.clip(mean, CERTAIN, 1 - CERTAIN)


def recovered_bits(truth: Bits, probabilities: Vector, rate: float = 0.5) -> float:
    """Return how much better probabilities predict the truth than chance, in bits."""
    told = np.where(truth, probabilities, 1 - probabilities)
    chance = np.where(truth, rate, 1 - rate)
    return float(np.log2(told / chance).sum())


def attack_own(victim: Victim, days: int, seed: int) -> tuple[Bits, Vector, int]:
    """Weigh one's own output against the scores, spoiling a random half of its sentences in each submission.

    Returns:
        The truth, its recovered probabilities, and the number of scored submissions.
    """
    chance = np.random.default_rng(seed)
    guess = [("obj", "obl")[bit] for bit in chance.integers(0, 2, victim.sentences)]
    truth = np.array([one == other for one, other in zip(guess, victim.gold, strict=True)])
    known = Equations(victim.sentences)
    sent = 0
    for day in range(days):
        if day:
            victim.next_day()
        for _ in range(MOST_A_DAY):
            kept = chance.random(victim.sentences) < 0.5
            relations = [relation if keep else "spoilt" for relation, keep in zip(guess, kept, strict=True)]
            response = _sent(victim, f"weighing-{sent}", relations)
            if response.status_code == 429:
                break
            sent += 1
            for count, error in _right_words(victim, response.json["id"]):
                known.add(kept.astype(float), count - victim.sentences * (WORDS - 1), error)
            _learn_items(known, kept, victim, response.json["id"])
    return truth, known.probabilities(), sent


def attack_rival(victim: Victim, client: CheckedClient, most: int) -> tuple[Vector, int]:
    """Ask about a rival's output what the API answers, knowing gold and so one's own correctness.

    Returns:
        The recovered probabilities, and the number of pairs that were compared.
    """
    known = Equations(victim.sentences)
    own = np.arange(victim.sentences) % 2 == 0
    relations = [relation if right else "dep" for relation, right in zip(victim.gold, own, strict=True)]
    mine = _sent(victim, "mine", relations).json["id"]
    pair = [mine, victim.rival_id]
    board = client.get(f"/v1/benchmarks/{SLUG}/leaderboard").json
    for row in board["rows"]:
        if row["submission"] == victim.rival_id and row["score"] is not None:
            total = row["score"] * victim.sentences * WORDS - victim.sentences * (WORDS - 1)
            known.add(np.ones(victim.sentences), total, 5e-5 * victim.sentences * WORDS)
    answers = 0
    for document in _answers(client, pair, QUESTIONS):
        answers += 1
        _learn_overlap(known, own, document, pair)
    if _answer(client, pair, QUESTIONS[0]) is not None:
        for seed in range(1, most):
            document = _answer(
                client, pair, {"test": "bootstrap", "interval": "percentile", "resamples": 1, "seed": seed}
            )
            if document is None:
                break
            answers += 1
            _learn_resample(known, seed, document, victim)
    plain = _answer(client, pair, {})
    if plain is not None:
        answers += 1
        _learn_overlap(known, own, plain, pair)
    return known.probabilities(), answers


def budget(level: str, submissions: int, pairs: int = 0, figures: int = 1, step: float = 0.01) -> float:
    """Return the bits that a level shows for scored submissions, of so many figures each, and for compared pairs."""
    a_submission = {"none": 0.0, "status": 1.0, "rounded": log2(1 + 1 / step) * figures, "scores": 33.0 * figures}
    return a_submission[level] * submissions + (8.5 * pairs if level == "scores" else 0.0)


def _sent(victim: Victim, name: str, relations: list[str]) -> TestResponse:
    path, body = submission(name, relations)
    return victim.attacker.post(path, json=body)


def _right_words(victim: Victim, submission_id: str) -> Iterator[tuple[float, float]]:
    """Yield every number of right words that a submission's answers show, with its error."""
    words = victim.sentences * WORDS
    for path, number in _numbers(victim.attacker.get(f"/v1/submissions/{submission_id}").json):
        if path.endswith((".las", ".value")):
            digits = len(f"{number:.12g}".partition(".")[2])
            yield number * words, 0.5 * 10.0**-digits * words
        elif path.endswith(".correct_both"):
            yield number, 0.0


def _learn_items(known: Equations, kept: Bits, victim: Victim, submission_id: str) -> None:
    """Note which sentences are right, where the level shows items."""
    response = victim.attacker.get(f"/v1/submissions/{submission_id}/items?limit=1000")
    if response.status_code != 200:
        return
    for item in response.json["items"]:
        place = item["item"] - 1
        if kept[place]:
            known.add(np.eye(victim.sentences)[place], float(not item["words"]), 0.0)


def _numbers(value: object, path: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from _numbers(member, f"{path}.{name}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)


def _answers(client: CheckedClient, pair: list[str], asked: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for settings in asked:
        document = _answer(client, pair, settings)
        if document is not None:
            yield document


def _answer(client: CheckedClient, pair: list[str], settings: dict[str, Any]) -> dict[str, Any] | None:
    body = {"score": SCORE, "submissions": pair, **settings}
    response = client.post(f"/v1/benchmarks/{SLUG}/comparisons", json=body)
    if response.status_code not in (200, 201, 202):
        assert 400 <= response.status_code < 500
        return None
    document: dict[str, Any] = client.get(response.headers["Location"]).json
    return document


def _learn_overlap(known: Equations, own: Bits, document: Mapping[str, Any], pair: list[str]) -> None:
    """Note how many sentences both have right, where p or the units that one wins tell it."""
    shown = document["pairs"][0]
    total = known.values[0] if known.values else known.rate * len(own)
    won = (shown.get("effect") or {}).get("units_won")
    if won is not None:
        mine_only = won if shown["a"] == pair[0] else shown["effect"]["units_lost"]
        known.add(own.astype(float), own.sum() - mine_only, 0.0)
    elif shown.get("p") is not None and document["settings"]["alternative"] == "two-sided":
        shares = {both: _p(int(own.sum()) - both, round(total) - both) for both in range(int(own.sum()) + 1)}
        near = [both for both, p in shares.items() if p is not None and abs(p - shown["p"]) <= 0.05 * shown["p"]]
        if near:
            known.add(own.astype(float), float(np.mean(near)), float(np.std(near)) + 0.5)


def _p(first_only: int, second_only: int) -> float | None:
    """Return the exact p of a pair that differs in so many sentences each way."""
    if first_only < 0 or second_only < 0:
        return None
    first = np.repeat([True, False, False], [first_only, second_only, 1])
    second = np.repeat([False, True, False], [first_only, second_only, 1])
    asked = asked_by(Settings(test="permutation"), "sentence")
    return by_law(Contributions(_sample([first, second])), [(0, 1)], asked)[0].p


def _learn_resample(known: Equations, seed: int, document: Mapping[str, Any], victim: Victim) -> None:
    """Note which sentences one resample drew: the public code draws them again."""
    interval = next(each["ci"] for each in document["systems"] if each["name"] == victim.rival_id)
    if interval is None:
        return
    nobody, single = np.zeros(victim.sentences, np.bool_), np.eye(victim.sentences, dtype=np.bool_)
    scores = resampled(_sample([nobody, *single]), 1, seed)[:, 0]
    known.add(scores[1:] - scores[0], interval["low"] - scores[0], 1e-9)


def _sample(systems: list[Bits]) -> Sample:
    """Return the counts of outputs with these sentences right."""
    table = make_metric("attachment", {}).table
    rows = []
    for right in systems:
        counts = np.zeros((len(right), len(table.count_names)), np.int64)
        counts[:, table.count_names.index("tokens")] = WORDS
        counts[:, table.count_names.index("correct_both")] = WORDS - 1 + right
        rows.append(counts)
    score = next(each for each in table.scores if each.name == "las")
    return sample_of(score, table.count_names, rows, None, None)
