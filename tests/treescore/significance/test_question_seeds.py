"""Seeds by pair: a pair's figures do not depend on which other systems are compared."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
import pytest

from treescore.core.scores import Score, f1_score, ratio_score
from treescore.significance import Candidate, Settings, compare
from treescore.significance.question import Question

NAMES = ("matched", "gold", "system")
SCORES = (
    ratio_score("recall", "a sum", "matched", "gold"),
    f1_score("f1", "a ratio", "matched", "gold", "system", "nothing"),
)
SENTENCES = 51
PARTS = np.repeat(np.arange(3), SENTENCES // 3)
SETTINGS = Settings(shuffles=1_000, resamples=200)
OWN = ("a", "b", "difference", "p", "p_kind", "ci", "seed", "shuffles", "parts")


def seed_of(names: Sequence[str]) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(sorted(names)).encode()).digest()[:8], "big") >> 1


def systems(count: int, scale: int = 1_000) -> list[Candidate]:
    """Counts so large that no exact law is affordable."""
    generator = np.random.default_rng(4)
    found = []
    for place in range(count):
        gold = (generator.integers(5, 60, SENTENCES) * scale + generator.integers(0, scale, SENTENCES)).astype(np.int64)
        system = gold + generator.integers(-scale, scale, SENTENCES)
        matched = (np.minimum(gold, system) * generator.uniform(0.7, 0.9, SENTENCES)).astype(np.int64)
        found.append(Candidate(f"s{place}", (np.stack([matched, gold, system], axis=1),)))
    return found


def shown(score: Score, compared: list[Candidate], **more: Any) -> dict[tuple[str, str], dict[str, Any]]:
    document = compare(score.name, score, NAMES, compared, SETTINGS, seed_of=seed_of, **more)
    return {
        (pair["a"], pair["b"]): {name: pair.get(name) for name in OWN} for pair in document["pairs"]
    } | {(each["name"], ""): each["ci"] for each in document["systems"]}  # fmt: skip


@pytest.mark.parametrize("parts", [None, PARTS], ids=["one", "parts"])
@pytest.mark.parametrize("score", SCORES, ids=lambda score: score.name)
def test_another_system_changes_no_figure_of_a_pair(score, parts):
    few = shown(score, systems(2), parts=parts)
    fifth = systems(5)[4].runs[0]
    # real counts beside whole ones; training runs, which bring all counts to a common multiple
    for other in (Candidate("x", (fifth * 0.9,)), Candidate("x", (fifth, fifth + 1, fifth + 2))):
        many = shown(score, [*systems(2), other], parts=parts)
        assert few == {name: many[name] for name in few}


def test_each_pair_has_its_own_seed_and_all_resamples_have_one():
    found = shown(SCORES[1], systems(3))
    seeds = {found[pair]["seed"] for pair in found if pair[1]}
    assert seeds == {seed_of(pair) for pair in found if pair[1]}
    assert len(seeds) == 3
    assert {(found[pair]["ci"] if pair[1] else found[pair])["seed"] for pair in found} == {seed_of([])}


def test_the_number_of_shuffles_does_not_grow_with_the_pairs():
    compared = systems(8)
    raised = compare("f1", SCORES[1], NAMES, compared, SETTINGS)
    fixed = compare("f1", SCORES[1], NAMES, compared, SETTINGS, seed_of=seed_of)
    assert raised["signature"]["shuffles"] > fixed["signature"]["shuffles"] == SETTINGS.shuffles
    assert fixed["signature"]["seed"] is None


def test_a_pair_by_itself_is_what_the_shared_seed_gives_for_two():
    pair = systems(2)
    settings = Settings(shuffles=1_000, resamples=200, seed=5)
    shared = compare("f1", SCORES[1], NAMES, pair, settings)["pairs"][0]
    alone = compare("f1", SCORES[1], NAMES, pair, SETTINGS, seed_of=lambda _: 5)["pairs"][0]
    assert alone == shared


@pytest.mark.parametrize("parts", [None, PARTS], ids=["one", "parts"])
def test_what_an_earlier_document_answers_is_not_computed_again(parts, monkeypatch):
    few = compare("f1", SCORES[1], NAMES, systems(4)[:3], SETTINGS, seed_of=seed_of, parts=parts)
    fresh = compare("f1", SCORES[1], NAMES, systems(4), SETTINGS, seed_of=seed_of, parts=parts)
    computed = []
    alone = Question.alone
    monkeypatch.setattr(Question, "alone", lambda *given: computed.append(given[1:]) or alone(*given))
    stored = orjson.loads(orjson.dumps(few))
    again = compare("f1", SCORES[1], NAMES, systems(4), SETTINGS, seed_of=seed_of, parts=parts, earlier=[stored])
    assert again == fresh
    assert sorted(set(computed)) == [(0, 3), (1, 3), (2, 3)]


def test_an_earlier_document_with_other_settings_or_seeds_answers_nothing():
    other = Settings(shuffles=999, resamples=200)
    fresh = compare("f1", SCORES[1], NAMES, systems(2), SETTINGS, seed_of=seed_of)
    for settings, seeds in ((other, seed_of), (SETTINGS, lambda _: 5)):
        earlier = compare("f1", SCORES[1], NAMES, systems(2), settings, seed_of=seeds)
        assert compare("f1", SCORES[1], NAMES, systems(2), SETTINGS, seed_of=seed_of, earlier=[earlier]) == fresh
