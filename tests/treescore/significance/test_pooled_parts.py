"""Scores over several parts together: documents of each part, and a part that one of a pair lacks as one unit."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from treescore.core.scores import ScoreTable, ratio_score
from treescore.errors import InputError
from treescore.significance import Candidate, PooledParts, SeedOf, Settings, compare
from treescore.significance.units import chosen_units, with_documents, with_whole_parts

TABLE = ScoreTable(("right", "all"), (ratio_score("accuracy", "right of all", "right", "all"),))
GENERATOR = np.random.default_rng(11)
STRATA = np.repeat([0, 1, 2], [4, 3, 2])


def counts(*, without: int | None = None) -> Any:
    """Counts of a system, which may lack a part: nothing of it is right."""
    words = np.array([5, 7, 4, 6, 8, 5, 6, 7, 5])
    right = GENERATOR.integers(1, words)
    if without is not None:
        right[np.equal(STRATA, without)] = 0
    return np.stack([right, words], axis=1)


def compared(*candidates: Candidate, **more: Any) -> dict[str, Any]:
    return compare(
        "m.accuracy", TABLE.scores[0], TABLE.count_names, candidates, more.pop("settings", Settings()),
        parts=PooledParts(STRATA), **more,
    )  # fmt: skip


def listed(first: Any, second: Any, units: Any) -> float:
    """The share of all swaps of units with a difference as large, 2-sided."""
    a, b = (np.stack([each[units == unit].sum(axis=0) for unit in np.unique(units)]) for each in (first, second))

    def distance(one: Any, other: Any) -> float:
        return float(abs(one[:, 0].sum() / one[:, 1].sum() - other[:, 0].sum() / other[:, 1].sum()))

    observed = distance(a, b) * (1 - 1e-12)
    swaps = [np.array(swap)[:, None] for swap in product((False, True), repeat=len(a))]
    return float(np.mean([distance(np.where(swap, b, a), np.where(swap, a, b)) >= observed for swap in swaps]))


@pytest.mark.parametrize("seed_of", [None, lambda _: 7])
def test_a_part_that_one_lacks_is_one_unit_of_its_pairs_and_of_no_other(seed_of: SeedOf | None) -> None:
    a, b, lacking = counts(), counts(), counts(without=1)
    candidates = [Candidate("a", (a,)), Candidate("b", (b,)), Candidate("c", (lacking,), missing=frozenset({1}))]
    document = compared(*candidates, seed_of=seed_of)
    p = {pair["a"] + pair["b"]: pair["p"] for pair in document["pairs"]}
    sentences = np.arange(9)
    assert p["ab"] == pytest.approx(listed(a, b, sentences), rel=1e-12)
    for name, other in (("ac", a), ("bc", b)):
        assert p[name] == pytest.approx(listed(other, lacking, np.where(STRATA == 1, 99, sentences)), rel=1e-12)
    assert document["unit_count"] == 9
    assert "A missing part counts as the worst value and as one unit." in document["assumed"]


@pytest.mark.parametrize("seed_of", [None, lambda _: 7])
def test_over_training_runs_too_a_part_that_one_lacks_is_one_unit(seed_of: SeedOf | None) -> None:
    a, b, lacking = ((counts(without=part), counts(without=part), counts(without=part)) for part in (None, None, 1))
    candidates = [Candidate("a", a), Candidate("b", b), Candidate("c", lacking, missing=frozenset({1}))]
    settings = Settings(margin=0.01)
    document = compared(*candidates, settings=settings, seed_of=seed_of)
    found = {pair["a"] + pair["b"]: of_runs(pair) for pair in document["pairs"]}
    assert found["ab"] == of_runs(compared(*candidates[:2], settings=settings, seed_of=seed_of)["pairs"][0])
    joined = ["part" if part == 1 else f"sentence {at}" for at, part in enumerate(STRATA.tolist())]
    by_block = compare(
        "m.accuracy", TABLE.scores[0], TABLE.count_names, [candidates[0], Candidate("c", lacking)],
        Settings(margin=0.01, unit="block"), blocks=joined, seed_of=seed_of,
    )  # fmt: skip
    assert found["ac"] == of_runs(by_block["pairs"][0])


def of_runs(pair: dict[str, Any]) -> dict[str, Any]:
    return {name: pair[name] for name in ("p", "ci", "runs_test")}


def test_a_part_that_both_lack_contributes_nothing() -> None:
    first, second = counts(without=1), counts(without=1)
    pair = [Candidate(name, (rows,), missing=frozenset({1})) for name, rows in (("a", first), ("b", second))]
    with_it, without = compared(*pair)["pairs"][0]["p"], listed(first, second, np.arange(9))
    assert with_it == pytest.approx(without, rel=1e-12)
    assert listed(first, second, np.where(STRATA == 1, 99, np.arange(9))) == pytest.approx(without, rel=1e-12)


def test_with_documents_the_missing_part_is_one_unit_too() -> None:
    documents = ["d1", "d1", "d2", "d2", "d1", "d2", "d2", None, None]
    a, lacking = counts(), counts(without=1)
    document = compared(
        Candidate("a", (a,)), Candidate("b", (lacking,), missing=frozenset({1})), blocks=documents
    )  # fmt: skip
    units = np.array([0, 0, 1, 1, 2, 2, 2, 3, 4])
    assert document["pairs"][0]["p"] == pytest.approx(listed(a, lacking, units), rel=1e-12)
    assert (document["units"], document["unit_count"]) == ("block", 6)
    assert "In 1 of 3 parts gold marks fewer than two documents" in document["assumed"]


def test_picking_is_allowed_for_over_the_same_units() -> None:
    words = np.array([5, 7, 4, 6, 8, 5, 6, 7, 5])
    lacking, best, other = (
        np.stack([right, words], axis=1)
        for right in ([2, 3, 1, 2, 0, 0, 0, 3, 2], [4, 6, 2, 4, 6, 2, 5, 4, 1], [3, 2, 4, 5, 7, 4, 3, 5, 2])
    )
    every = [best, other]
    opponent = Candidate("opponent", (lacking,), missing=frozenset({1}))
    found = compared(Candidate("best", (best,), considered=tuple(every)), opponent)["pairs"][0]
    units = np.where(STRATA == 1, 99, np.arange(9))
    gains = np.array([[(each - lacking)[units == unit, 0].sum() for unit in np.unique(units)] for each in every])
    swaps = np.array(list(product((1, -1), repeat=gains.shape[1])))
    share = np.mean((gains @ swaps.T).max(axis=0) >= (best - lacking)[:, 0].sum())
    assert found["better"] == "a"
    assert found["p_unselected"] == pytest.approx(listed(best, lacking, units), rel=1e-12)
    assert found["p"] == pytest.approx(max(found["p_unselected"], 2 * share), rel=1e-12)
    assert found["p"] > found["p_unselected"]


def test_whole_parts_are_no_units_of_pooled_scores() -> None:
    strata = np.repeat(np.arange(8), 2)
    assert chosen_units(Settings(unit="part"), None, strata, 16).name == "part"
    with pytest.raises(InputError) as error:
        chosen_units(Settings(unit="part"), None, strata, 16, together=True)
    assert error.value.problems[0].code == "too-few-parts"


def test_sentences_before_the_first_mark_are_a_document_that_is_not_marked() -> None:
    kept, by_sentence = with_documents([None, None, "d1", "d2"], None)
    assert (kept, by_sentence) == (["", "", "d1", "d2"], 0)
    kept, by_sentence = with_documents([None, None, "d1", "d1"], None)
    assert (kept, by_sentence) == ([None] * 4, 1)
    named = chosen_units(Settings(unit="block"), [None, None, "d1", "d1"], None, 4)
    assert (named.name, named.blocks.tolist()) == ("block", [0, 0, 1, 1])
    assert chosen_units(Settings(), [None] * 4, None, 4).name == "sentence"


def test_equal_names_in_two_parts_are_two_documents() -> None:
    units = chosen_units(Settings(), ["d1", "d2", "d1", "d2"], np.array([0, 0, 1, 1]), 4)
    assert units.blocks.tolist() == [0, 1, 2, 3]


def test_parts_become_blocks_and_other_units_stay() -> None:
    assert with_whole_parts(None, np.array([0, 0, 1, 1]), [1]).tolist() == [0, 1, 2, 2]
    assert with_whole_parts(np.array([0, 0, 1, 2]), np.array([0, 0, 1, 1]), [1]).tolist() == [0, 0, 1, 1]
    assert with_whole_parts(None, np.array([0, 0]), [3]).tolist() == [0, 1]
