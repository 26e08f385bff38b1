"""The test of systems with several training runs: the closed form, its parts, and what is not tested."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from treescore.core.scores import Ratio, Score, f1_score, harmonic, ratio_score
from treescore.errors import InputError
from treescore.significance import Candidate, Settings, compare, training_runs
from treescore.significance.training_runs import RunsTest
from treescore.significance.units import pooled, sample_of

NAMES = ("matched", "gold", "system")
RECALL = ratio_score("recall", "recall", "matched", "gold")
ERROR = ratio_score("error", "error", "matched", "gold", one_minus=True, higher_is_better=False)
F1 = f1_score("f1", "F1", "matched", "gold", "system", "nothing")
JOINED = Score(
    "joined", "F1 of two", (Ratio({"matched": 1}, {"system": 1}), Ratio({"matched": 1}, {"gold": 1})), join=harmonic
)


def runs_of(seed: int, runs: int, units: int = 40, share: float = 0.8, sd: float = 0.05) -> list[np.ndarray]:
    generator = np.random.default_rng([11, seed])
    gold = np.random.default_rng(units).integers(3, 15, units)
    rows = []
    for _ in range(runs):
        matched = generator.binomial(gold, np.clip(share + sd * generator.normal(), 0.05, 0.95))
        rows.append(np.array([matched, gold, np.maximum(matched, gold + generator.integers(-2, 3, units))]).T)
    return rows


def outcome(
    score: Score, a: Any, b: Any, *, alternative: str = "two-sided", level: float = 0.95, **of: Any
) -> RunsTest:
    blocks, parts = of.get("blocks"), of.get("parts")
    both = sample_of(score, NAMES, pooled([a, b]), blocks, parts)
    first, second = (training_runs.runs_of(sample_of(score, NAMES, runs, blocks, parts)) for runs in (a, b))
    assert first is not None
    assert second is not None
    return training_runs.welch(first, second, int(both.differing_units(0, 1).sum()), alternative, level)


def recall_rows(matched: Any, total: Any) -> list[np.ndarray]:
    return [np.array([row, total, total]).T for row in matched]


def formula(score: str, a: list[np.ndarray], b: list[np.ndarray], parts: np.ndarray) -> tuple[float, float, float]:
    """V_u, V_A + V_B and df, written out anew."""
    count = int(parts.max()) + 1

    def terms(row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (row[:, 0], row[:, 1]) if score != "f1" else (2 * row[:, 0], row[:, 1] + row[:, 2])

    def macro(row: np.ndarray) -> float:
        m, n = terms(row)
        return float(np.mean([m[parts == p].sum() / n[parts == p].sum() for p in range(count)]))

    of_units, v_runs = [], []
    for p in range(count):
        z = []
        for system in (a, b):
            m, n = (sum(terms(row)[k][parts == p] for row in system) for k in (0, 1))
            z.append((m - m.sum() / n.sum() * n) / n.sum() / count)
        d = z[0] - z[1]
        of_units.append((len(d) / (len(d) - 1) * float(((d - d.mean()) ** 2).sum()), len(d) - 1))
    for system in (a, b):
        scores = [macro(row) for row in system]
        v_runs.append((float(np.var(scores, ddof=1)) / len(scores), len(scores) - 1))
    total = sum(v for v, _ in (*of_units, *v_runs))
    df = total**2 / sum(v**2 / k for v, k in (*of_units, *v_runs))
    return sum(v for v, _ in of_units), sum(v for v, _ in v_runs), df


def test_the_reference_figures(golden: Any) -> None:
    for case in golden("inference")["runs"]["cases"]:
        a, b = (recall_rows(case[side], case["total"]) for side in ("runs_a", "runs_b"))
        expected = case["expected"]
        found = outcome(RECALL, a, b)
        assert found.test.difference == pytest.approx(expected["difference"], rel=1e-9)
        assert found.v_units == pytest.approx(expected["v_units"], rel=1e-9)
        assert found.v_runs == pytest.approx(expected["v_runs"], rel=1e-9)
        assert found.df == pytest.approx(expected["df"], rel=1e-9)
        assert found.test.p == pytest.approx(expected["p"], rel=1e-9)
        assert found.test.kind is None
        assert found.test.how == training_runs.RUNS_HOW


@pytest.mark.parametrize("score", [RECALL, F1])
@pytest.mark.parametrize("runs", [(2, 2), (3, 5)])
@pytest.mark.parametrize("macro", [False, True])
def test_the_formula_over_one_text_and_over_parts(score: Score, runs: tuple[int, int], macro: bool) -> None:  # noqa: FBT001
    a, b = runs_of(1, runs[0]), runs_of(2, runs[1], share=0.75)
    parts = np.arange(40) % 4 if macro else np.zeros(40, np.int64)
    found = outcome(score, a, b, parts=parts if macro else None)
    assert (found.v_units, found.v_runs, found.df) == pytest.approx(formula(score.name, a, b, parts), rel=1e-12)
    difference, df = found.test.difference, found.df
    assert difference is not None
    assert df is not None
    se = math.sqrt(found.v_units + found.v_runs)
    assert found.test.p == pytest.approx(2 * stats.t.sf(abs(difference) / se, df), rel=1e-9)
    margin = stats.t.ppf(0.975, df) * se
    assert found.test.ci is not None
    assert (found.test.ci.low, found.test.ci.high) == pytest.approx((difference - margin, difference + margin))


def test_documents_are_summed_first() -> None:
    a, b, blocks = runs_of(1, 3), runs_of(2, 3), np.arange(40) // 5
    summed = [[np.add.reduceat(row, np.arange(0, 40, 5)) for row in system] for system in (a, b)]
    assert outcome(RECALL, a, b, blocks=blocks) == outcome(RECALL, *summed)


def test_an_error_rate_has_its_own_sign_and_the_same_p() -> None:
    a, b = runs_of(1, 3, share=0.9), runs_of(2, 3, share=0.7)
    recall, error = outcome(RECALL, a, b), outcome(ERROR, a, b)
    assert error.test.difference == pytest.approx(-(recall.test.difference or 0))
    assert error.test.p == pytest.approx(recall.test.p)
    for alternative in ("greater", "less"):
        pair = [outcome(score, a, b, alternative=alternative).test.p for score in (RECALL, ERROR)]
        assert pair[0] == pytest.approx(pair[1])
    greater, less = (outcome(RECALL, a, b, alternative=way).test.p or 0 for way in ("greater", "less"))
    assert greater == pytest.approx((recall.test.p or 0) / 2)
    assert greater + less == pytest.approx(1)


def test_p_is_not_below_that_of_the_units_that_differ() -> None:
    """Two methods whose runs never differ, and one unit that does: the runs say nothing of other texts."""
    a = recall_rows([[5, 5, 5, 5]] * 4, [10] * 4)
    for changed in (1, 2, 4):
        b = recall_rows([[5] * (4 - changed) + [4] * changed] * 4, [10] * 4)
        found = outcome(RECALL, a, b)
        assert found.test.smallest == 2.0 ** (1 - changed)
        assert (found.test.p or 0) >= found.test.smallest
    assert found.test.p == found.test.smallest  # all units differ alike: no spread at all
    assert (found.df, found.test.ci) == (None, None)


def test_equal_outputs_have_p_1_whatever_their_number() -> None:
    same = runs_of(1, 1)[0]
    found = outcome(F1, [same, same], [same, same, same])
    assert found.test.p == 1.0
    assert found.v_runs == 0.0
    one_sided = outcome(F1, [same, same], [same, same], alternative="greater")
    assert one_sided.test.p == 1.0


def test_a_run_without_a_score_is_not_tested() -> None:
    silent = np.zeros((40, 3), np.int64)
    precision = ratio_score("precision", "precision", "matched", "system")
    assert training_runs.runs_of(sample_of(precision, NAMES, [runs_of(2, 1)[0], silent], None, None)) is None


def test_a_joined_score_is_made_linear_by_the_jackknife() -> None:
    """F1 by its two ratios and as one ratio: the same up to the order of 1 / n."""
    a, b = runs_of(1, 3, units=400), runs_of(2, 3, units=400)
    parts = np.arange(400) % 2
    for of in ({}, {"parts": parts}):
        one, joined = outcome(F1, a, b, **of), outcome(JOINED, a, b, **of)
        assert joined.test.difference == pytest.approx(one.test.difference)
        assert joined.v_units == pytest.approx(one.v_units, rel=0.02)
        assert joined.test.p == pytest.approx(one.test.p, rel=0.02)


def test_a_part_of_one_unit_counts_by_its_difference() -> None:
    a, b = runs_of(1, 2, units=9), runs_of(2, 2, units=9)
    parts = np.array([0] * 4 + [1] * 4 + [2])
    found = outcome(RECALL, a, b, parts=parts)
    without = outcome(RECALL, [row[:8] for row in a], [row[:8] for row in b], parts=parts[:8])
    last = [sum(int(row[8, 0]) for row in system) / sum(int(row[8, 1]) for row in system) for system in (a, b)]
    assert found.v_units == pytest.approx(without.v_units * 4 / 9 + ((last[0] - last[1]) / 3) ** 2)


def compared(score: Score, *systems: list[np.ndarray], **asked: Any) -> dict[str, Any]:
    of = {name: asked.pop(name) for name in ("parts", "blocks") if name in asked}
    candidates = [Candidate(chr(65 + place), tuple(runs)) for place, runs in enumerate(systems)]
    return compare("metric.score", score, NAMES, candidates, Settings(resamples=200, **asked), **of)


def test_runs_are_random_where_both_have_two() -> None:
    a, b = runs_of(1, 2), runs_of(2, 3)
    document = compared(F1, a, b)
    pair, found = document["pairs"][0], outcome(F1, a, b)
    assert found.test.ci is not None
    assert (pair["p"], pair["p_kind"], pair["how"]) == (found.test.p, None, training_runs.RUNS_HOW)
    assert pair["difference_tested"] == found.test.difference
    assert pair["runs_test"] == {"v_units": found.v_units, "v_runs": found.v_runs, "df": found.df}
    assert (pair["ci"]["low"], pair["ci"]["high"]) == (found.test.ci.low, found.test.ci.high)
    assert (pair["ci"]["method"], pair["ci"]["resamples"]) == (training_runs.RUNS_INTERVAL, None)
    assert pair["test"] == "t over training runs and sentences, two-sided"
    assert training_runs.BOTH_VARY in document["assumed"]
    assert document["systems"][0]["runs"]["count"] in (2, 3)
    assert compared(F1, a, b, interval="none")["pairs"][0]["ci"] is None


def test_other_systems_do_not_change_a_pair_of_runs() -> None:
    a, b, c = runs_of(1, 2), runs_of(2, 3), runs_of(3, 1)
    alone, among = compared(F1, a, b)["pairs"][0], compared(F1, a, b, c)["pairs"][0]
    assert {name: alone[name] for name in ("p", "ci", "runs_test")} == {
        name: among[name] for name in ("p", "ci", "runs_test")
    }


@pytest.mark.parametrize("macro", [False, True])
def test_an_earlier_document_changes_nothing_of_a_pair_of_runs(macro: bool) -> None:  # noqa: FBT001
    candidates = [Candidate(str(runs), tuple(runs_of(runs, runs))) for runs in (1, 2, 3)]
    of = {"parts": np.arange(40) % 4 if macro else None, "seed_of": lambda names: len("".join(names))}
    fresh = compare("m.s", F1, NAMES, candidates, Settings(resamples=200), **of)
    again = compare("m.s", F1, NAMES, candidates, Settings(resamples=200), **of, earlier=[fresh])
    assert again == fresh


def test_one_run_against_several_is_a_swap_of_pooled_counts() -> None:
    a, b = runs_of(1, 1), runs_of(2, 3)
    document = compared(RECALL, a, b)
    pair = document["pairs"][0]
    assert pair["p_kind"] == "exact"
    assert "runs_test" not in pair
    assert training_runs.FIXED in document["assumed"]
    assert any("pooled" in note for note in document["notes"])


def test_runs_may_be_taken_as_fixed() -> None:
    a, b = runs_of(1, 2), runs_of(2, 3)
    document = compared(RECALL, a, b, runs="fixed")
    assert document["pairs"][0]["p_kind"] == "exact"
    assert training_runs.FIXED in document["assumed"]


def test_what_is_assumed_goes_by_pair() -> None:
    one, two, three = runs_of(1, 1), runs_of(2, 2), runs_of(3, 3)
    assert training_runs.ONE_EACH in compared(F1, one, one)["assumed"]
    mixed = compared(F1, one, two, three)
    assert f"{training_runs.BOTH_VARY} {training_runs.PARTLY_FIXED}" in mixed["assumed"]
    assert ["runs_test" in pair for pair in mixed["pairs"]] == [False, False, True]
    assert all(pair["p_adjusted"] is not None for pair in mixed["pairs"])
    assert compared(F1, *mixed_runs())["assumed"].count(training_runs.BOTH_VARY) == 1


def mixed_runs() -> list[list[np.ndarray]]:
    return [runs_of(seed, 2 + seed) for seed in range(3)]


def test_mcnemar_takes_runs_as_fixed_and_a_sentence_right_in_all() -> None:
    right, wrong = np.array([[5, 5, 5]] * 6), np.array([[5, 5, 5]] * 3 + [[4, 5, 5]] * 3)
    document = compared(RECALL, [right, wrong], [right, right], test="mcnemar")
    assert document["pairs"][0]["mcnemar"]["b_only"] == 3
    assert training_runs.FIXED in document["assumed"]
    assert "A sentence is right where all runs of a system have it right." in document["assumed"]


def test_random_runs_are_refused_where_nobody_has_two() -> None:
    with pytest.raises(InputError) as error:
        compared(F1, runs_of(1, 1), runs_of(2, 1), runs_required=True)
    assert (error.value.problems[0].code, error.value.problems[0].pointer) == ("no-training-runs", "/runs")
    assert compared(F1, runs_of(1, 1), runs_of(2, 2), runs_required=True)["pairs"][0]["p"] is not None


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
    assert compared(precision, a, b, runs="fixed")["pairs"][0]["p"] is not None


def test_each_part_of_a_mean_is_tested_over_runs_too() -> None:
    a, b, parts = runs_of(1, 2), runs_of(2, 3), np.arange(40) % 4
    pair = compared(RECALL, a, b, parts=parts)["pairs"][0]
    found = outcome(RECALL, a, b, parts=parts)
    assert pair["p"] == found.test.p
    for name, alternative in (("a_better", "greater"), ("b_better", "less")):
        of_parts = [
            outcome(RECALL, [r[parts == k] for r in a], [r[parts == k] for r in b], alternative=alternative).test.p
            for k in range(4)
        ]
        assert pair["parts"][name]["p"] == pytest.approx(of_parts)


def test_a_part_that_a_system_lacks_is_one_unit() -> None:
    a, b, parts = runs_of(1, 2), runs_of(2, 3), np.arange(40) % 4
    candidates = [Candidate("A", tuple(a)), Candidate("B", tuple(b), missing=frozenset({3}))]
    found = compare("m.s", RECALL, NAMES, candidates, Settings(resamples=200), parts=parts)["pairs"][0]
    kept = parts < 3
    without = outcome(RECALL, [row[kept] for row in a], [row[kept] for row in b], parts=parts[kept])
    last = sum(row[~kept, 0].sum() for row in a) / sum(row[~kept, 1].sum() for row in a)
    assert found["runs_test"]["v_units"] == pytest.approx(without.v_units * 9 / 16 + (last / 4) ** 2)
    swapped = compare("m.s", RECALL, NAMES, candidates[::-1], Settings(resamples=200), parts=parts)["pairs"][0]
    assert swapped["p"] == pytest.approx(found["p"])


def test_whole_parts_may_be_the_units() -> None:
    a, b, parts = runs_of(1, 2), runs_of(2, 2), np.arange(40) % 8
    document = compared(RECALL, a, b, parts=parts, unit="part")
    by_part = [
        [np.add.reduceat(row[np.argsort(parts, kind="stable")], np.arange(0, 40, 5)) for row in s] for s in (a, b)
    ]
    shares = [[np.array([row[:, 0] / row[:, 1], np.ones(8), np.ones(8)]).T for row in s] for s in by_part]
    assert document["pairs"][0]["p"] == pytest.approx(outcome(RECALL, *shares).test.p)
    assert document["units"] == "part"


def test_blocks_of_one_sentence_and_one_block() -> None:
    a, b = runs_of(1, 2), runs_of(2, 2)
    by_sentence = compared(RECALL, a, b, unit="sentence")["pairs"][0]["p"]
    assert compared(RECALL, a, b, unit="block", blocks=[str(k) for k in range(40)])["pairs"][0]["p"] == by_sentence
    one = compared(RECALL, a, b, unit="block", blocks=["all"] * 40)
    assert one["pairs"][0]["p"] == 1.0


@pytest.mark.parametrize("units", [0, 1, 2])
def test_few_units(units: int) -> None:
    document = compared(RECALL, [row[:units] for row in runs_of(1, 2)], [row[:units] for row in runs_of(2, 2)])
    pair = document["pairs"][0]
    assert pair["p"] is None if units == 0 else pair["p"] >= 2.0 ** (1 - units)


def test_weights_that_differ_by_a_million() -> None:
    scale = np.where(np.arange(40) % 2, 1, 10**6)[:, None]
    pair = compared(RECALL, [row * scale for row in runs_of(1, 2)], [row * scale for row in runs_of(2, 2)])["pairs"][0]
    assert 0 < pair["p"] <= 1
