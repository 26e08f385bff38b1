"""Scores over several parts together: documents of each part, and a part that one of a pair lacks as one unit."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from treescore.core.scores import ScoreTable, ratio_score
from treescore.errors import InputError
from treescore.significance import Candidate, PooledParts, Settings, compare
from treescore.significance.units import chosen_units, with_documents

TABLE = ScoreTable(("right", "all"), (ratio_score("accuracy", "right of all", "right", "all"),))
SIGNS = Settings(test="permutation")
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


def test_a_part_that_one_lacks_is_one_unit_of_its_pairs_and_of_no_other() -> None:
    a, b, lacking = counts(), counts(), counts(without=1)
    candidates = [Candidate("a", (a,)), Candidate("b", (b,)), Candidate("c", (lacking,), missing=frozenset({1}))]
    document = compared(*candidates, settings=SIGNS)
    p = {pair["a"] + pair["b"]: pair["p"] for pair in document["pairs"]}
    sentences = np.arange(9)
    assert p["ab"] == pytest.approx(listed(a, b, sentences), rel=1e-12)
    for name, other in (("ac", a), ("bc", b)):
        assert p[name] == pytest.approx(listed(other, lacking, np.where(STRATA == 1, 99, sentences)), rel=1e-12)
    assert [pair["unit_count"] for pair in document["pairs"]] == [9, 7, 7]


@pytest.mark.parametrize("runs", [1, 3])
def test_by_t_and_over_training_runs_too_a_part_that_one_lacks_is_one_unit(runs: int) -> None:
    a, b, lacking = (tuple(counts(without=part) for _ in range(runs)) for part in (None, None, 1))
    candidates = [Candidate("a", a), Candidate("b", b), Candidate("c", lacking, missing=frozenset({1}))]
    settings = Settings(margin=0.01, correction="none")
    found = {pair["a"] + pair["b"]: of_pair(pair) for pair in compared(*candidates, settings=settings)["pairs"]}
    assert found["ab"] == pytest.approx(of_pair(compared(*candidates[:2], settings=settings)["pairs"][0]), rel=1e-9)
    joined = ["part" if part == 1 else f"sentence {at}" for at, part in enumerate(STRATA.tolist())]
    by_block = compare(
        "m.accuracy", TABLE.scores[0], TABLE.count_names, [candidates[0], Candidate("c", lacking)],
        Settings(margin=0.01, unit="block", correction="none"), blocks=joined,
    )  # fmt: skip
    assert found["ac"] == pytest.approx(of_pair(by_block["pairs"][0]), rel=1e-9)


def of_pair(pair: dict[str, Any]) -> dict[str, float]:
    return {
        **{name: pair[name] for name in ("p", "se", "df", "divisor")},
        **{f"{name} {end}": pair[name][end] for name in ("ci", "ci_adjusted") for end in ("low", "high")},
        "not worse": pair["noninferiority"][pair["a"]]["p"],
    }


def test_a_part_that_both_lack_contributes_nothing() -> None:
    first, second = counts(without=1), counts(without=1)
    pair = [Candidate(name, (rows,), missing=frozenset({1})) for name, rows in (("a", first), ("b", second))]
    with_it, without = compared(*pair, settings=SIGNS)["pairs"][0]["p"], listed(first, second, np.arange(9))
    assert with_it == pytest.approx(without, rel=1e-12)
    assert listed(first, second, np.where(STRATA == 1, 99, np.arange(9))) == pytest.approx(without, rel=1e-12)


def test_with_documents_the_missing_part_is_one_unit_too() -> None:
    documents = ["d1", "d1", "d2", "d2", "d1", "d2", "d2", None, None]
    a, lacking = counts(), counts(without=1)
    document = compared(
        Candidate("a", (a,)), Candidate("b", (lacking,), missing=frozenset({1})), blocks=documents, settings=SIGNS
    )  # fmt: skip
    units = np.array([0, 0, 1, 1, 2, 2, 2, 3, 4])
    assert document["pairs"][0]["p"] == pytest.approx(listed(a, lacking, units), rel=1e-12)
    assert (document["units"], document["unit_count"], document["parts_by_sentence"]) == ("block", 6, 1)


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
