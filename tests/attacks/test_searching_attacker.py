"""A program that asks all that a participant may ask learns no more of single sentences than the level's budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.searching_attacker import attack_own, attack_rival, budget, recovered_bits
from tests.attacks.victim import victim
from tests.fixtures.servers import Valkey

OWN, RIVAL = 400, 120
"""Sentences of gold: more than the budget of a day, so that the bound can be broken."""
LISTED = {"leaderboard": {"scores": ["attachment.las"]}}

each_level = pytest.mark.parametrize(
    "level", [*(pytest.param(level, marks=pytest.mark.slow) for level in ("none", "status", "rounded")), "scores"]
)
"""At the others less is told than at `scores`, as `tests/contract/test_gate.py` sees with fewer requests."""


@each_level
def test_scores_tell_no_more_of_sentences_than_the_budget(tmp_path: Path, valkey: Valkey, level: str) -> None:
    with victim(tmp_path / "stage", valkey.url, level, OWN, seed=1, **LISTED) as attacked:
        truth, probabilities, submissions = attack_own(attacked, days=1, seed=2)
    assert submissions == 5
    assert budget(level, submissions) < OWN
    assert recovered_bits(truth, probabilities) <= budget(level, submissions)


def test_items_tell_every_sentence(tmp_path: Path, valkey: Valkey) -> None:
    """The attack works: where a level shows sentences, it recovers them."""
    with victim(tmp_path / "stage", valkey.url, "items", RIVAL, seed=1) as attacked:
        truth, probabilities, _ = attack_own(attacked, days=1, seed=2)
    assert recovered_bits(truth, probabilities) > 0.9 * RIVAL


@each_level
def test_comparisons_tell_no_more_of_a_rival_than_the_budget(tmp_path: Path, valkey: Valkey, level: str) -> None:
    with victim(tmp_path / "stage", valkey.url, level, RIVAL, seed=1, **LISTED) as attacked:
        probabilities, pairs = attack_rival(attacked, attacked.attacker, most=RIVAL + 40)
        assert pairs <= 20
        assert budget(level, 1, pairs=1) < RIVAL
        assert recovered_bits(attacked.rival, probabilities) <= budget(level, 1, pairs=1)


@pytest.mark.slow
def test_chosen_seeds_would_tell_every_sentence_of_a_rival(tmp_path: Path, valkey: Valkey) -> None:
    """The attack works: with the settings of an organiser it recovers the whole vector."""
    with victim(tmp_path / "stage", valkey.url, "scores", RIVAL, seed=1, **LISTED) as attacked:
        probabilities, _ = attack_rival(attacked, attacked.organiser, most=RIVAL + 40)
        assert recovered_bits(attacked.rival, probabilities) > 0.9 * RIVAL
