"""Systems with several training runs: when these vary, what is tested then, and what is not tested."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treescore.core.scores import Score, f1_score, ratio_score
from treescore.errors import InputError
from treescore.significance import Candidate, Settings, compare

NAMES = ("matched", "gold", "system")
RECALL = ratio_score("recall", "recall", "matched", "gold")
ERROR = ratio_score("error", "error", "matched", "gold", one_minus=True, higher_is_better=False)
F1 = f1_score("f1", "F1", "matched", "gold", "system", "nothing")
PARTS = np.arange(40) % 4


def runs_of(seed: int, runs: int, units: int = 40, share: float = 0.8) -> list[np.ndarray]:
    generator = np.random.default_rng([11, seed])
    gold = np.random.default_rng(units).integers(3, 15, units)
    rows = []
    for _ in range(runs):
        matched = generator.binomial(gold, np.clip(share + 0.05 * generator.normal(), 0.05, 0.95))
        rows.append(np.array([matched, gold, np.maximum(matched, gold + generator.integers(-2, 3, units))]).T)
    return rows


def compared(score: Score, *systems: list[np.ndarray], **asked: Any) -> dict[str, Any]:
    of = {name: asked.pop(name) for name in ("parts", "blocks") if name in asked}
    missing = asked.pop("missing", {})
    candidates = [
        Candidate(chr(65 + place), tuple(runs), missing=frozenset(missing.get(place, ())))
        for place, runs in enumerate(systems)
    ]
    return compare("metric.score", score, NAMES, candidates, Settings(**asked), **of)


def pair_of(score: Score, *systems: list[np.ndarray], **asked: Any) -> dict[str, Any]:
    first: dict[str, Any] = compared(score, *systems, **asked)["pairs"][0]
    return first


def test_an_error_rate_has_its_own_sign_and_the_same_p() -> None:
    a, b = runs_of(1, 3, share=0.9), runs_of(2, 3, share=0.7)
    recall, error = pair_of(RECALL, a, b), pair_of(ERROR, a, b)
    assert error["difference_tested"] == pytest.approx(-recall["difference_tested"])
    assert (error["p"], error["better"]) == (pytest.approx(recall["p"]), recall["better"])
    greater, less = (pair_of(RECALL, a, b, alternative=way)["p"] for way in ("greater", "less"))
    assert (greater, greater + less) == (pytest.approx(recall["p"] / 2), pytest.approx(1))
    assert pair_of(ERROR, a, b, alternative="greater")["p"] == pytest.approx(greater)


def test_p_is_not_below_that_of_the_sentences_that_differ() -> None:
    """Two methods whose runs never differ, and few sentences that do: the runs say nothing of other texts."""
    for changed in (2, 4):
        a, b = ([np.array([row, [10] * 4, [10] * 4]).T] * 4 for row in ([5] * 4, [5] * (4 - changed) + [4] * changed))
        assert pair_of(RECALL, a, b)["p"] >= 2.0 ** (1 - changed)
    same = runs_of(1, 1)[0]
    assert pair_of(F1, [same, same], [same, same, same])["p"] == 1.0


def test_runs_are_random_where_both_have_two_and_pooled_elsewhere() -> None:
    one, two, three = runs_of(1, 1), runs_of(1, 2), runs_of(2, 3)
    document = compared(F1, two, three)
    pair = document["pairs"][0]
    assert (pair["p_kind"], pair["ci"]["method"], document["test"]) == ("t", "t", "t")
    assert pair["se"] ** 2 == pytest.approx(pair["runs_test"]["v_units"] + pair["runs_test"]["v_runs"])
    assert compared(F1, two, three, interval="none")["pairs"][0]["ci"] is None
    for systems, asked in (((one, three), {}), ((two, three), {"runs": "fixed"})):
        pair = pair_of(RECALL, *systems, **asked)
        assert pair["p_kind"] == "exact"
        assert "runs_test" not in pair
    mixed = compared(F1, one, two, three)
    assert (["runs_test" in pair for pair in mixed["pairs"]], mixed["test"]) == ([False, False, True], "mixed")
    assert [system["runs"]["count"] for system in sorted(mixed["systems"], key=lambda s: s["name"])[1:]] == [2, 3]


def test_mcnemar_takes_runs_as_fixed_and_a_sentence_right_in_all() -> None:
    right, wrong = np.array([[5, 5, 5]] * 6), np.array([[5, 5, 5]] * 3 + [[4, 5, 5]] * 3)
    assert pair_of(RECALL, [right, wrong], [right, right], test="mcnemar")["mcnemar"]["b_only"] == 3


def test_random_runs_are_refused_where_nobody_has_two() -> None:
    with pytest.raises(InputError) as error:
        compared(F1, runs_of(1, 1), runs_of(2, 1), runs_required=True)
    assert (error.value.problems[0].code, error.value.problems[0].pointer) == ("no-training-runs", "/runs")
    assert pair_of(F1, runs_of(1, 1), runs_of(2, 2), runs_required=True)["p"] is not None


def test_a_pair_with_a_run_without_a_score_is_not_tested_and_says_why() -> None:
    precision = ratio_score("precision", "precision", "matched", "system", undefined="nothing in system")
    silent = np.array([[0, 5, 0]] * 12)
    a, b, c = runs_of(1, 2, units=12), [runs_of(2, 1, units=12)[0], silent], runs_of(3, 1, units=12)
    document = compared(precision, a, b, c)
    with_a, _, with_c = document["pairs"]
    assert (with_a["p"], with_a["p_adjusted"]) == (None, None)
    assert with_a["reason"] == "the score of a training run is undefined: nothing in system"
    assert document["pairs"][1]["p"] is not None
    assert with_c["p"] is not None
    assert document["untested"] == []
    assert pair_of(precision, a, b, runs="fixed")["p"] is not None


def test_each_part_of_a_mean_is_tested_over_runs_too() -> None:
    a, b = runs_of(1, 2), runs_of(2, 3)
    pair = pair_of(RECALL, a, b, parts=PARTS)
    for name, alternative in (("a_better", "greater"), ("b_better", "less")):
        of_parts = [
            pair_of(RECALL, *([row[part == PARTS] for row in runs] for runs in (a, b)), alternative=alternative)["p"]
            for part in range(4)
        ]
        assert pair["parts"][name]["p"] == pytest.approx(of_parts)


def test_a_part_that_a_system_lacks_is_one_unit() -> None:
    a, b = runs_of(1, 2), runs_of(2, 3)
    lacking = [np.where((PARTS == 3)[:, None], [0, 1, 1] * row, row) for row in b]
    found = pair_of(RECALL, a, lacking, parts=PARTS, missing={1: [3]})
    kept = PARTS < 3
    without = pair_of(RECALL, *([row[kept] for row in runs] for runs in (a, b)), parts=PARTS[kept])
    last = sum(row[~kept, 0].sum() for row in a) / sum(row[~kept, 1].sum() for row in a)
    assert found["runs_test"]["v_units"] == pytest.approx(without["runs_test"]["v_units"] * 9 / 16 + (last / 4) ** 2)
    assert pair_of(RECALL, lacking, a, parts=PARTS, missing={0: [3]})["p"] == pytest.approx(found["p"])


def test_a_margin_is_over_runs_too() -> None:
    pair = pair_of(RECALL, runs_of(1, 3), runs_of(2, 3), margin=0.2)
    assert pair["noninferiority"]["A"]["p"] < pair["p"]
    assert pair["noninferiority"]["A"]["established"]


def test_runs_that_do_not_show_their_spread_establish_no_margin() -> None:
    runs = ([[0, 2], [0, 3]], [[0, 0], [1, 2]]), ([[0, 0], [2, 3]], [[0, 2], [2, 5]])
    a, b = ([np.array([[*unit, 0] for unit in run]) for run in of_system] for of_system in runs)
    pair = pair_of(RECALL, a, b, margin=0.01)
    assert (pair["df"], pair["p"]) == (None, 1.0)
    assert {pair["noninferiority"][name]["p"] for name in "AB"} == {1.0}
