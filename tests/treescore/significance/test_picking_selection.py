"""The best of k submissions: all swaps listed, drawn, and bounded."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from treescore.core.scores import Ratio, Score, f1_score, harmonic, ratio_score
from treescore.significance import exact_ratios, picking
from treescore.significance import permutation as tests
from treescore.significance.permutation import ShufflePlan, permutation
from treescore.significance.picking import Selected, selected_p
from treescore.significance.units import Sample, sample_of

NAMES = ("matched", "gold", "system")
RECALL = ratio_score("recall", "recall", "matched", "gold")
ERROR = ratio_score("error", "error", "matched", "gold", one_minus=True, higher_is_better=False)
F1 = f1_score("f1", "F1", "matched", "gold", "system", "nothing")
JOINED = Score(
    "joined", "F1 of two", (Ratio({"matched": 1}, {"system": 1}), Ratio({"matched": 1}, {"gold": 1})), join=harmonic
)
PLAN = ShufflePlan(requested=20_000, seed=3, alpha=0.05, correction="holm", family=1)


def rows(seed: int, units: int = 8, share: float = 0.8) -> np.ndarray:
    generator = np.random.default_rng([12, seed])
    gold = np.random.default_rng(units).integers(2, 12, units)
    matched = generator.binomial(gold, share)
    return np.array([matched, gold, np.maximum(matched, gold + generator.integers(-2, 3, units))]).T


def submissions(count: int, units: int, share: float = 0.8) -> list[np.ndarray]:
    """An opponent, and several submissions that share most of their errors."""
    first = rows(1, units, share)
    team = []
    for seed in range(count):
        mixed = np.random.default_rng([13, seed]).random(units) < 0.5
        team.append(np.where(mixed[:, None], first, rows(2 + seed, units, share)))
    return [rows(99, units, share), *team]


def asked(sample: Sample, plan: ShufflePlan = PLAN, **others: Any) -> tuple[Selected, float, int]:
    """Test the best row, as if the team had picked it; return the result, the unselected p, and that row."""
    values = sample.values()
    better = values if sample.score.higher_is_better else -values
    ahead = 1 + int(np.argmax(better[1:]))
    unselected = permutation(sample, [(ahead, 0)], "two-sided", plan)[0]
    assert unselected.p is not None
    return selected_p(sample, ahead, unselected, plan, **others), unselected.p, ahead


def brute_force(sample: Sample, ahead: int) -> float:
    """2 P(max_j T_j >= observed), each swap done by exchanging rows."""

    def differences(signs: np.ndarray) -> list[float]:
        found = []
        for row in range(1, sample.systems):
            terms = [
                tuple(np.stack([np.where(signs, e[0], e[row]), np.where(signs, e[row], e[0])]) for e in halves)
                for halves in (sample.tops, sample.bottoms)
            ]
            swapped = Sample(sample.score, terms[0], terms[1], sample.parts, sample.part_count)
            a, b = np.nan_to_num(swapped.values())
            found.append((a - b) if sample.score.higher_is_better else (b - a))
        return found

    observed = differences(np.zeros(sample.units, np.bool_))[ahead - 1]
    reached = [
        max(differences(np.array(signs))) >= observed - 1e-12 for signs in product((False, True), repeat=sample.units)
    ]
    return min(1.0, 2.0 * float(np.mean(reached)))


@pytest.mark.parametrize("score", [RECALL, ERROR, F1, JOINED])
@pytest.mark.parametrize("macro", [False, True])
def test_all_swaps_are_listed_for_any_score(score: Score, macro: bool) -> None:  # noqa: FBT001
    parts = np.array([0, 0, 0, 1, 1, 1, 2, 2]) if macro else None
    sample = sample_of(score, NAMES, submissions(3, 8, 0.7), None, parts)
    found, unselected, ahead = asked(sample)
    assert found.kind == "exact"
    assert found.p == pytest.approx(max(unselected, brute_force(sample, ahead)), rel=1e-12)


@pytest.mark.parametrize("lacking", [{1: [2]}, {0: [2]}, {0: [2], 1: [2]}, {2: [0], 3: [1]}])
def test_a_missing_part_is_one_unit_of_the_pairs_that_lack_it(lacking: dict[int, list[int]], monkeypatch: Any) -> None:
    parts = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    missing = np.zeros((4, 3), np.bool_)
    for row, of_row in lacking.items():
        missing[row, of_row] = True
    sample = sample_of(RECALL, NAMES, submissions(3, 9, 0.7), None, parts, missing)
    values = sample.values()
    ahead = 1 + int(np.argmax(values[1:]))
    found = selected_p(sample, ahead, tests.Test(1e-9, "exact"), PLAN)

    # of each pair and part, what each swap of this pair's units in it gives
    by_part = sample.part_values()
    reached = 0
    for signs in product((False, True), repeat=9):
        differences = []
        for row in range(1, 4):
            total = 0.0
            for part in range(3):
                units = np.flatnonzero(parts == part)
                if missing[row, part] or missing[0, part]:
                    total += (by_part[row, part] - by_part[0, part]) * (-1 if signs[units[0]] else 1)
                    continue
                swapped = np.array(signs)[units]
                a, b = (
                    np.where(swapped, sample.tops[0][other][units], sample.tops[0][own][units]).sum()
                    for own, other in ((row, 0), (0, row))
                )
                total += (a - b) / sample.bottoms[0][0, units].sum()
            differences.append(total / 3)
        reached += max(differences) >= values[ahead] - values[0] - 1e-12
    assert found.p == pytest.approx(min(1.0, 2 * reached / 2**9))
    monkeypatch.setattr(exact_ratios, "LISTED_UNITS", 0)
    drawn = selected_p(sample, ahead, tests.Test(1e-9, "exact"), PLAN)
    assert drawn.error is not None
    assert drawn.p == pytest.approx(found.p, rel=5 * drawn.error)


@pytest.mark.parametrize(
    ("macro", "score"),
    [(False, RECALL), (False, F1), (False, JOINED), (True, F1), pytest.param(True, JOINED, marks=pytest.mark.slow)],
)
def test_draws_agree_with_the_list(macro: bool, score: Score, monkeypatch: Any) -> None:  # noqa: FBT001
    parts = np.arange(10) % 3 if macro else None
    sample = sample_of(score, NAMES, submissions(4, 10), None, parts)
    listed, *_ = asked(sample)
    monkeypatch.setattr(exact_ratios, "LISTED_UNITS", 0)
    drawn, *_ = asked(sample)
    assert (listed.kind, drawn.kind) == ("exact", "monte-carlo")
    assert drawn.error is not None
    assert drawn.p == pytest.approx(listed.p, rel=5 * drawn.error)
    assert drawn.shuffles is not None
    assert drawn.shuffles <= PLAN.requested


@pytest.mark.parametrize("score", [RECALL, F1])
def test_few_hits_give_the_bound_of_exact_tails(score: Score, monkeypatch: Any) -> None:
    counts = submissions(3, 15)
    counts[0] = rows(99, 15, 0.75)
    sample = sample_of(score, NAMES, counts, None, None)
    listed, unselected, ahead = asked(sample)
    monkeypatch.setattr(exact_ratios, "LISTED_UNITS", 0)
    bound, *_ = asked(sample, ShufflePlan(requested=100, seed=3, alpha=0.05, correction="holm", family=1))
    assert (bound.kind, bound.error, bound.shuffles) == ("inversion", 0.0, None)
    assert unselected <= listed.p <= bound.p
    tails = 0.0
    values = sample.values()
    for row in range(1, 4):
        # the tail at the observed difference of the row ahead, by the list of the swaps of this row alone
        pair = sample.of_systems([0, row])
        sums = next(iter(picking._listed_sums(pair, pair.differing_units(0, 1))))
        differences = next(iter(picking.swapped_differences(pair, [(1, 0)], sums)))
        tails += float((differences >= values[ahead] - values[0] - 1e-12).mean())
    assert bound.p == pytest.approx(2 * tails, rel=1e-9)


@pytest.mark.parametrize("score", [RECALL, F1])
@pytest.mark.parametrize("macro", [False, True])
def test_inverted_tails_are_those_of_the_draws(score: Score, macro: bool) -> None:  # noqa: FBT001
    units = 60
    parts = np.arange(units) % 3 if macro else None
    counts = submissions(3, units)
    sample = sample_of(score, NAMES, [rows(99, units, 0.77), *counts[1:]], None, parts)
    observed = 0.02
    sums = list(picking.shuffled_sums(sample, 10_000, 1))
    for row in (1, 2, 3):
        drawn = np.concatenate([next(iter(picking.swapped_differences(sample, [(row, 0)], each))) for each in sums])
        share = float((drawn >= observed).mean())
        found = picking._inverted_tail(sample, row, 0, observed)
        assert found is not None
        assert found.error is not None
        error = 4 * np.sqrt(share * (1 - share) / 10_000)
        # inversion does not see the steps of whole words
        assert found.p == pytest.approx(share, abs=error + share * (found.error + 0.04))
        exact = picking._tail(sample, row, 0, observed, 2e9)
        assert exact is not None
        assert exact.p == pytest.approx(share, abs=error + share * (exact.error or 0.0))


@pytest.mark.parametrize("score", [F1, RECALL])
def test_a_mean_of_parts_has_small_p_too(score: Score) -> None:
    parts = np.arange(300) % 5
    sample = sample_of(score, NAMES, [rows(99, 300, 0.6), *submissions(3, 300)[1:]], None, parts)
    found, unselected, _ = asked(sample)
    assert found.kind == "inversion"
    assert 0 < unselected <= found.p < 1e-6


def test_equal_submissions_and_those_equal_to_the_opponent_add_nothing() -> None:
    counts = submissions(1, 200)
    sample = sample_of(F1, NAMES, [*counts, counts[1], counts[1], counts[0]], None, None)
    found, unselected, _ = asked(sample)
    assert found.p == unselected


def test_a_tie_has_p_1() -> None:
    counts = submissions(2, 30)
    turned = counts[0][::-1].copy()
    total = np.full(30, 12)
    sample = sample_of(
        RECALL, NAMES, [np.array([each[:, 0], total, total]).T for each in (counts[0], turned, counts[1])], None, None
    )
    unselected = permutation(sample, [(1, 0)], "two-sided", PLAN)[0]
    assert selected_p(sample, 1, unselected, PLAN).p == 1.0


def test_p_is_never_below_the_unselected_one() -> None:
    for seed in range(6):
        counts = [rows(seed, 12), *(rows(10 * seed + each, 12) for each in range(1, 5))]
        found, unselected, _ = asked(sample_of(F1, NAMES, counts, None, None))
        assert unselected <= found.p <= 1.0


def test_draws_stop_where_plenty_reached_it() -> None:
    plan = ShufflePlan(requested=1_000_000, seed=3, alpha=0.05, correction="holm", family=1)
    found, *_ = asked(sample_of(F1, NAMES, submissions(5, 60), None, None), plan)
    assert found.kind == "monte-carlo"
    assert found.shuffles is not None
    assert found.shuffles < 200_000
    assert found.error == pytest.approx(0.02, rel=0.5)


def test_once_the_budget_is_spent_no_differences_are_counted(monkeypatch: Any) -> None:
    sample = sample_of(F1, NAMES, submissions(2, 40), None, None)
    assert picking._exact_tail(sample, 1, 0, 0.01, 2e7) is not None
    monkeypatch.setattr(exact_ratios, "pair_of", None)
    assert picking._exact_tail(sample, 1, 0, 0.01, exact_ratios.LEAST_COST - 1) is None


def test_a_tail_beyond_floats_allows_for_the_picking_as_p_does() -> None:
    found = picking._bonferroni(tests.Test(1e-9, "inversion", log10_p=-9.0), 1e-9, 100)
    assert found.p == pytest.approx(1e-7)
    assert found.log10_p == pytest.approx(-7.0)
