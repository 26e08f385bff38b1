"""Small p of macro averages: listed, inverted, sampled; missing parts; signs of parts; budgets."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from treescore.core.scores import Score, f1_score, harmonic, ratio_score
from treescore.significance import macro, permutation, signed_sums
from treescore.significance.macro import inverted_p, listed_p, macro_pair, normal_tail, parts_of, sampled_p
from treescore.significance.permutation import LAW_BUDGET, ShufflePlan, part_tests
from treescore.significance.units import Sample, by_part, sample_of

NAMES = ("matched", "gold", "system")
F1 = f1_score("f1", "F1", "matched", "gold", "system", "nothing")
ERRORS = replace(
    ratio_score("errors", "error rate", "matched", "system", one_minus=True, higher_is_better=False), low=0.0, high=1.0
)
RECALL = ratio_score("recall", "recall", "matched", "gold")
PLAN = ShufflePlan(1_000, 1, 0.05, "holm", 1)
ALTERNATIVES = ("two-sided", "greater", "less")


def random_sample(
    seed: int, sizes: list[int], systems: int = 2, score: Score = F1, *, gap: float = 0.1, sure: float = 0.4
) -> Sample:
    """Make systems that agree on a share `sure` of the units."""
    generator = np.random.default_rng(seed)
    parts = np.repeat(np.arange(len(sizes)), sizes)
    units = len(parts)
    gold = generator.integers(3, 12, units)
    first = None
    rows = []
    for system in range(systems):
        predicted = np.maximum(1, gold + generator.integers(-1, 2, units))
        matched = np.minimum(generator.binomial(gold, 0.85 - gap * (system > 0)), predicted)
        row = np.array([matched, gold, predicted]).T
        if first is not None:
            row = np.where(generator.random(units)[:, None] < sure, first, row)
        first = row if first is None else first
        rows.append(row)
    return sample_of(score, NAMES, rows, None, parts)


def by_listing(sample: Sample, alternative: str) -> float:
    """List all swaps of the differing units, or of whole parts that one lacks, on the scores themselves."""
    missing = np.zeros((2, sample.part_count), np.bool_) if sample.missing is None else sample.missing
    whole = missing.any(axis=0)
    units: list[np.ndarray] = [np.flatnonzero(sample.parts == part) for part in range(sample.part_count) if whole[part]]
    units += [np.array([unit]) for unit in np.flatnonzero(sample.differing_units(0, 1) & ~whole[sample.parts])]
    values = []
    for swaps in itertools.product((False, True), repeat=len(units)):
        mask = np.zeros(sample.units, np.bool_)
        lacking = missing.copy()
        for swap, unit in zip(swaps, units, strict=True):
            mask[unit] = swap
            if swap and whole[sample.parts[unit[0]]]:
                lacking[:, sample.parts[unit[0]]] = lacking[::-1, sample.parts[unit[0]]]
        terms = [np.where(mask, terms[0][::-1], terms[0]) for terms in (sample.tops, sample.bottoms)]
        scores = sample.score.of_terms([(sample.summed(terms[0]), sample.summed(terms[1]))])
        scores = np.where(np.isnan(scores) | lacking, sample.score.worst, scores)
        values.append(float(scores[0].mean() - scores[1].mean()))
    better = np.array(values) * (1.0 if sample.score.higher_is_better else -1.0)
    observed = better[0]
    if alternative == "two-sided":
        return float((np.abs(better) >= abs(observed) - 1e-12).mean())
    turned = better if alternative == "greater" else -better
    return float((turned >= (observed if alternative == "greater" else -observed) - 1e-12).mean())


def one(sample: Sample, alternative: str = "two-sided", plan: ShufflePlan = PLAN) -> permutation.Test:
    return permutation.permutation(sample, [(0, 1)], alternative, plan)[0]


def counts_of(part: dict[str, Any], side: str) -> np.ndarray:
    if part[f"match_{side}"] is None:
        return np.zeros((len(part["gold"]), 3), np.int64)
    return np.array([part[f"match_{side}"], part["gold"], part[f"test_{side}"]]).T


def golden_sample(case: dict[str, Any]) -> Sample:
    parts = case["parts"]
    rows = [np.concatenate([counts_of(part, side) for part in parts]) for side in "ab"]
    missing = np.array([[part[f"match_{side}"] is None for part in parts] for side in "ab"])
    strata = np.repeat(np.arange(len(parts)), [len(part["gold"]) for part in parts])
    return sample_of(F1, NAMES, rows, None, strata, missing if missing.any() else None)


@pytest.mark.parametrize("section", ["macro", "missing_part"])
def test_reference_figures(golden: Callable[[str], Any], section: str) -> None:
    for case in golden("inference")[section]["cases"]:
        sample, expected = golden_sample(case), case["expected"]
        test = one(sample)
        assert test.p is not None
        if "relative_error" in expected:
            assert test.kind in ("inversion", "sampled")
            assert test.error is not None
            assert test.p == pytest.approx(expected["p"], rel=3 * (expected["relative_error"] + test.error))
            assert test.p == pytest.approx(expected["p"], rel=0.02)
        else:
            assert (test.kind, test.error) == ("exact", None)
            assert test.p == pytest.approx(expected["p"], rel=1e-9)
        if "p_parts" in expected:
            assert test.parts == pytest.approx(expected["p_parts"], rel=1e-9)
        else:
            assert test.parts is None  # below six parts
        pair = macro_pair(parts_of(sample), 0, 1)
        assert pair.difference == pytest.approx(expected["difference"], abs=1e-12)


@pytest.mark.parametrize("score", [F1, ERRORS, RECALL], ids=lambda score: score.name)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("seed", range(3))
def test_few_units_are_listed(score: Score, alternative: str, seed: int) -> None:
    sample = random_sample(seed, [5, 3, 4], score=score, sure=0.2)
    test = one(sample, alternative)
    assert test.kind == "exact"
    assert test.p == pytest.approx(by_listing(sample, alternative), rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("seed", range(3))
def test_swaps_that_leave_no_denominator_are_listed_with_the_worst_value(alternative: str, seed: int) -> None:
    sample = random_sample(seed, [2, 2, 5], sure=0.2)
    empty = np.array([[1, 0], [0, 1]])  # in the first part each system is without a denominator in one unit
    for terms in (*sample.tops, *sample.bottoms):
        terms[:, :2] *= empty
    test = one(sample, alternative)
    assert test.p == pytest.approx(by_listing(sample, alternative), rel=1e-12)


@pytest.mark.parametrize("score", [F1, ERRORS], ids=lambda score: score.name)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("lacking", [(0,), (1,), (0, 1)])
def test_a_missing_part_is_one_unit(score: Score, alternative: str, lacking: tuple[int, ...]) -> None:
    sample = random_sample(1, [4, 30, 5], score=score, sure=0.2)
    missing = np.zeros((2, 3), np.bool_)
    missing[list(lacking), 1] = True
    for terms in (*sample.tops, *sample.bottoms):
        terms[missing[:, sample.parts]] = 0
    sample = replace(sample, missing=missing)
    test = one(sample, alternative)
    assert test.kind == "exact"
    assert test.p == pytest.approx(by_listing(sample, alternative), rel=1e-12)
    others = int((sample.differing_units(0, 1) & (sample.parts != 1)).sum())
    assert test.differing == others + (len(lacking) == 1)


def test_a_part_that_both_lack_changes_nothing() -> None:
    sample = random_sample(2, [4, 4, 4])
    empty = replace(sample, missing=np.array([[False, True, False]] * 2))
    for terms in (*empty.tops, *empty.bottoms):
        terms[:, empty.parts == 1] = 0
    assert one(empty).p == one(replace(empty, missing=None)).p


@pytest.mark.parametrize("seed", range(2))
def test_tilted_draws_agree_with_listing(seed: int) -> None:
    sample = random_sample(seed, [6, 5, 6], sure=0.05)
    pair = macro_pair(parts_of(sample), 0, 1)
    assert 12 <= pair.units <= 17
    for alternative in ALTERNATIVES:
        listed = listed_p(pair, alternative)
        assert sampled_p(pair, alternative, 1, 60_000).p == pytest.approx(listed, rel=0.03)


@pytest.mark.parametrize(("gap", "low", "high"), [(0.05, -12, -2), (0.09, -30, -8)])
def test_small_p_drawn_inverted_and_by_lugannani_rice_agree(gap: float, low: float, high: float) -> None:
    sample = random_sample(11, [50, 40, 60, 45], gap=gap)
    pair = macro_pair(parts_of(sample), 0, 1)
    inverted, drawn = inverted_p(pair, "two-sided"), sampled_p(pair, "two-sided", 1, 100_000)
    assert low < inverted.log_p < high
    assert drawn.error is not None
    assert drawn.log_p == pytest.approx(inverted.log_p, abs=4 * drawn.error + 0.01)
    assert normal_tail(pair, "two-sided").log_p == pytest.approx(inverted.log_p, abs=0.01)


def test_one_sided_p_of_both_directions_complete_each_other() -> None:
    sample = random_sample(5, [80, 90])
    greater, less = one(sample, "greater"), one(sample, "less")
    assert greater.p is not None
    assert less.p is not None
    assert greater.p + less.p == pytest.approx(1.0, abs=0.02)
    assert one(sample).p == pytest.approx(2 * min(greater.p, less.p), rel=0.05)


def test_the_true_statistic_is_drawn_where_few_units_differ_or_parts_may_be_undefined() -> None:
    assert one(random_sample(6, [20, 20], sure=0.2)).kind == "sampled"
    large = random_sample(6, [200, 200])
    assert one(large, plan=replace(PLAN, alpha=1e-12)).kind == "inversion"
    bottom = large.bottoms[0]
    top = large.tops[0]
    sparse = (large.parts == 1) & (np.arange(400) >= 202)
    top[:, sparse], bottom[:, sparse] = 0, 0
    top[0, 200], bottom[0, 200], top[1, 201], bottom[1, 201] = 0, 0, 0, 0
    assert one(large, plan=replace(PLAN, alpha=1e-12)).kind == "sampled"


def test_a_p_near_the_decision_is_drawn_more_often() -> None:
    sample = random_sample(4, [60, 50, 70], gap=0.02)
    p = one(sample, plan=replace(PLAN, alpha=1e-12)).p
    assert p is not None
    near = one(sample, plan=replace(PLAN, alpha=1.2 * p))
    assert near.how == f"tilted sampling, {macro.NEAR_DRAWS} draws"
    assert near.error is not None
    assert near.error < 0.01


def test_a_pair_alone_does_not_depend_on_others() -> None:
    sample = random_sample(7, [40, 40, 40], systems=4)
    alone = one(sample.of_systems([0, 1]))
    among = permutation.permutation(sample, [(0, 1), (0, 2), (1, 3)], "two-sided", PLAN)[0]
    assert alone == among


def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = random_sample(8, [30, 30, 30, 30, 30, 30], systems=6, gap=0.02)
    pairs = list(itertools.combinations(range(6), 2))
    found = []
    for threads in (1, 2, 4):
        monkeypatch.setattr(macro, "THREADS", threads)
        found.append(permutation.permutation(sample, pairs, "two-sided", replace(PLAN, family=len(pairs))))
    assert found[0] == found[1] == found[2]


def test_draws_stay_within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = random_sample(8, [12, 12, 12], systems=12, gap=0.02)
    pairs = list(itertools.combinations(range(12), 2))
    counted = []
    original = signed_sums.tilted_draws

    def counting(states: Any, kinds: Any, *rest: Any) -> None:
        counted.append(len(states) * len(kinds.e))
        original(states, kinds, *rest)

    monkeypatch.setattr(signed_sums, "tilted_draws", counting)
    monkeypatch.setattr(macro, "SAMPLED_WORK", 3e6)
    monkeypatch.setattr(macro, "NEAR_WORK", 5e6)
    tests = permutation.permutation(sample, pairs, "two-sided", replace(PLAN, family=len(pairs)))
    assert 2e6 < sum(counted) <= 8e6
    assert {test.kind for test in tests} >= {"inversion", "sampled"}
    counted.clear()
    monkeypatch.setattr(macro, "SAMPLED_WORK", 0.0)
    monkeypatch.setattr(macro, "NEAR_WORK", 0.0)
    permutation.permutation(sample, pairs, "two-sided", replace(PLAN, family=len(pairs)))
    assert not counted


def test_pairs_beyond_their_share_have_the_normal_formula_unless_they_may_decide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sample = random_sample(8, [200, 200], gap=0.3)
    monkeypatch.setattr(macro, "INVERTED_KINDS", 1.0)
    far = one(sample)
    assert far.how == "Lugannani-Rice formula"
    assert far.kind == "inversion"
    monkeypatch.setattr(macro, "INVERTED_KINDS", 1e4)
    assert far.log10_p == pytest.approx(one(sample).log10_p, abs=0.01)


def test_real_counts_and_parts_in_any_order_give_the_same_p() -> None:
    sample = random_sample(9, [100, 120], gap=0.02)
    expected = one(sample, plan=replace(PLAN, alpha=1e-12))
    order = np.random.default_rng(0).permutation(220)
    shuffled = replace(
        sample, tops=(sample.tops[0][:, order],), bottoms=(sample.bottoms[0][:, order],), parts=sample.parts[order]
    )
    real = replace(sample, tops=(sample.tops[0] * 0.3,), bottoms=(sample.bottoms[0] * 0.3,))
    for other in (shuffled, real):
        found = one(other, plan=replace(PLAN, alpha=1e-12))
        assert found.p == pytest.approx(expected.p, rel=1e-9)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_common_denominators_have_an_exact_law(alternative: str) -> None:
    # parts of 40 and 20 sentences, right or wrong as a whole: a lattice with steps of a tenth of a deviation
    generator = np.random.default_rng(1)
    right = [generator.random(60) < share for share in (0.7, 0.5)]
    rows = [np.array([each, np.ones(60), np.ones(60)]).T.astype(np.int64) for each in right]
    sample = sample_of(RECALL, NAMES, rows, None, np.repeat([0, 1], [40, 20]))
    test = one(sample, alternative)
    assert (test.kind, test.how) == ("exact", "exact law of a sum")
    pair = macro_pair(parts_of(sample), 0, 1)
    assert test.p == pytest.approx(sampled_p(pair, alternative, 1, 200_000).p, rel=0.03)


def test_identical_outputs_have_p_1() -> None:
    sample = random_sample(1, [5, 5]).of_systems([0, 0])
    assert one(sample).p == 1.0
    assert one(sample).differing == 0


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_signs_of_parts(alternative: str) -> None:
    sample = random_sample(3, [4] * 8, sure=0.1)
    d = sample.part_values()[0] - sample.part_values()[1]
    sums = np.array([np.dot(signs, d) for signs in itertools.product((1, -1), repeat=8)])
    turned = {"two-sided": np.abs(sums), "greater": sums, "less": -sums}[alternative]
    expected = float((turned >= turned[0] - 1e-12).mean())
    assert one(sample, alternative).parts == pytest.approx(expected)
    whole = part_tests(by_part(sample), [(0, 1)], alternative, 1)[0]
    assert (whole.p, whole.kind, whole.differing) == (pytest.approx(expected), "exact", 8)


def test_many_parts_are_drawn_and_agree_with_the_exact_law() -> None:
    sample = random_sample(3, [4] * 30, sure=0.1)
    drawn = part_tests(by_part(sample), [(0, 1)], "two-sided", 1)[0]
    d = sample.part_values()[0] - sample.part_values()[1]
    signs = np.random.default_rng(2).choice((-1.0, 1.0), (200_000, 30))
    share = float((np.abs(signs @ d) >= abs(d.sum())).mean())
    assert drawn.kind == "sampled"
    assert drawn.p == pytest.approx(share, rel=0.05)


def test_a_composite_score_lacks_a_part_as_one_unit() -> None:
    precision, recall = ratio_score("p", "p", "matched", "system"), RECALL
    joined = replace(F1, ratios=(*precision.ratios, *recall.ratios), join=harmonic)
    plain, composite = (random_sample(1, [6, 30, 5], score=score, sure=0.2) for score in (F1, joined))
    found = []
    for sample in (plain, composite):
        missing = np.array([[False, False, False], [False, True, False]])
        for terms in (*sample.tops, *sample.bottoms):
            terms[missing[:, sample.parts]] = 0
        found.append(one(replace(sample, missing=missing)))
    assert found[1].kind == "monte-carlo"
    assert found[1].differing == found[0].differing
    assert found[1].p == pytest.approx(found[0].p, abs=0.06)


def test_boards_use_a_small_share_of_the_budgets() -> None:
    assert replace(PLAN, law_budget=LAW_BUDGET / 100).share == pytest.approx(0.01)
