"""What a comparison promises, whatever the data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.registry import TokenBits
from treescore.core.scores import Ratio, Score, f1_score, harmonic, ratio_score
from treescore.errors import InputError
from treescore.significance import Candidate, PooledParts, Settings, compare, signs

NAMES = ("matched", "gold", "system")
F1 = f1_score("f1", "F1", "matched", "gold", "system", "nothing in gold and system")
RECALL = ratio_score("recall", "recall", "matched", "gold")
ERROR = ratio_score("error", "error", "matched", "gold", one_minus=True, higher_is_better=False)
HARMONIC = Score(
    "joined",
    "F1 of two ratios",
    (Ratio({"matched": 1}, {"system": 1}), Ratio({"matched": 1}, {"gold": 1})),
    join=harmonic,
)
QUICK = {"resamples": 200}


def rows(seed: int, units: int = 60, share: float = 0.8, *, same_size: bool = False) -> np.ndarray:
    generator = np.random.default_rng([9, seed])
    gold = np.random.default_rng(units).integers(1, 15, units)
    system = gold if same_size else np.maximum(1, gold + generator.integers(-2, 3, units))
    return np.array([np.minimum(generator.binomial(gold, share), system), gold, system]).T


def asked(score: Score, *counts: Any, **given_settings: Any) -> dict[str, Any]:
    extra = {name: given_settings.pop(name) for name in ("blocks", "parts") if name in given_settings}
    candidates = [
        Candidate(chr(65 + place), each if isinstance(each, tuple) else (each,)) for place, each in enumerate(counts)
    ]
    return compare(f"metric.{score.name}", score, NAMES, candidates, Settings(**{**QUICK, **given_settings}), **extra)


def finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    if isinstance(value, list):
        return all(map(finite, value))
    return not isinstance(value, float) or math.isfinite(value)


@pytest.mark.parametrize("score", [F1, RECALL, ERROR, HARMONIC])
@pytest.mark.parametrize("scale", [1, 0.3])
def test_a_system_against_itself_has_p_1(score: Score, scale: float) -> None:
    same = rows(1) * scale
    pair = asked(score, same, same.copy())["pairs"][0]
    assert (pair["p"], pair["p_kind"], pair["p_adjusted"], pair["better"]) == (1.0, "exact", 1.0, None)
    assert pair["significant"] is False


@pytest.mark.parametrize("score", [F1, RECALL, ERROR, HARMONIC])
def test_greater_means_that_the_first_is_better_also_where_lower_is_better(score: Score) -> None:
    better, worse = rows(3, share=0.9), rows(4, share=0.7)
    if score is ERROR:
        assert asked(score, better, worse)["pairs"][0]["difference"] < 0
    pair = asked(score, better, worse, alternative="greater")["pairs"][0]
    assert pair["p"] < 0.01
    assert pair["better"] == "a"
    assert asked(score, better, worse, alternative="less")["pairs"][0]["p"] > 0.9


@pytest.mark.parametrize("score", [F1, HARMONIC])
def test_shuffles_asked_for_by_name_stay_within_their_error(score: Score) -> None:
    counts = [rows(seed, share=share) for seed, share in ((5, 0.82), (6, 0.8), (7, 0.78))]
    formula, shuffled = asked(score, *counts), asked(score, *counts, shuffles=2_000)
    assert (formula["signature"]["shuffles"], formula["signature"]["seed"]) == (None, None)
    for one, other in zip(formula["pairs"], shuffled["pairs"], strict=True):
        assert (one["p_kind"], other["p_kind"], other["shuffles"]) == ("saddlepoint", "monte-carlo", 2_000)
        error = math.sqrt(one["p"] * (1 - one["p"]) / 2_000)
        assert other["p"] == pytest.approx(one["p"], abs=4 * error + 1e-3)
        assert other["p"] >= 1 / 2_001


def test_zero_denominators_in_a_shuffle_count_as_0() -> None:
    """Precision of systems that are silent in all but one sentence: swaps leave one of them without any."""
    precision = ratio_score("precision", "precision", "matched", "system")
    a, b = np.zeros((30, 3), np.int64), np.zeros((30, 3), np.int64)
    a[:, 1] = b[:, 1] = 4
    a[:20, 2], a[:20, 0] = 2, 1
    b[20, 2], b[20, 0] = 3, 3
    pair = asked(precision, a, b, shuffles=5_000)["pairs"][0]

    # one sentence of b against 20 of a: p is that of the 2^21 swaps, counted by how many fall to one side
    def difference(taken: int, own: int) -> float:
        """Precision of the side that has so many of a's sentences, and b's or not, less that of the other."""
        tops, bottoms = (
            [taken + 3 * own, 20 - taken + 3 * (1 - own)],
            [2 * taken + 3 * own, 40 - 2 * taken + 3 * (1 - own)],
        )
        one, two = (top / bottom if bottom else 0.0 for top, bottom in zip(tops, bottoms, strict=True))
        return abs(one - two)

    share = sum(
        math.comb(20, taken) / 2**21
        for taken in range(21)
        for own in (0, 1)
        if difference(taken, own) >= abs(pair["difference"]) - 1e-12
    )
    assert pair["p_kind"] == "monte-carlo"
    assert pair["p"] == pytest.approx(share, abs=0.02)


def test_the_smallest_p_is_told_where_signs_are_asked_for_by_name() -> None:
    few = [rows(seed, 4, share, same_size=True) for seed, share in ((1, 0.8), (2, 0.1))]
    found = asked(RECALL, *few, test="permutation")
    assert found["pairs"][0]["smallest_p"] == pytest.approx(0.125)
    assert found["smallest_p"]["significance_possible"] is False
    found = asked(RECALL, *few)
    assert (found["pairs"][0]["smallest_p"], found["smallest_p"], found["test"]) == (None, None, "t")


@pytest.mark.parametrize(("units", "test", "kind"), [(15, "t", "t"), (16, "permutation", "exact")])
def test_the_law_goes_by_the_number_of_units_that_hold_anything(units: int, test: str, kind: str) -> None:
    counts = [np.concatenate([rows(seed, units), np.zeros((4, 3), np.int64)]) for seed in (1, 2)]
    found = asked(F1, *counts)
    pair = found["pairs"][0]
    assert (found["test"], pair["p_kind"], pair["unit_count"]) == (test, kind, units)
    by_name = asked(F1, *counts, test="t" if kind == "exact" else "permutation")
    assert by_name["pairs"][0]["p_kind"] != kind


def test_pairs_of_one_comparison_may_fall_under_both_laws() -> None:
    parts = np.repeat([0, 1], [12, 6])
    lacking = rows(3, 18)
    lacking[12:] = 0
    systems = [Candidate("A", (rows(1, 18),)), Candidate("B", (rows(2, 18),))]
    systems.append(Candidate("C", (lacking,), missing=frozenset({1})))
    found = compare("m.f1", F1, NAMES, systems, Settings(), parts=parts)
    assert found["test"] == "mixed"
    assert [(pair["unit_count"], pair["ci"]["method"]) for pair in found["pairs"]] == [(18, "signs"), *[(13, "t")] * 2]
    assert {system["name"]: system["missing_parts"] for system in found["systems"]} == {"A": 0, "B": 0, "C": 1}


def test_one_document_alone_has_no_p_and_one_sentence_a_p_of_1() -> None:
    [pair] = asked(F1, rows(1, 4), rows(2, 4), unit="block", blocks=["d"] * 4)["pairs"]
    assert (pair["p"], pair["significant"], pair["reason"]) == (None, None, "one document shows no spread")
    [pair] = asked(F1, rows(1, 1), rows(2, 1))["pairs"]
    assert (pair["p"], pair["p_kind"], pair["significant"], pair["se"], pair["detectable"]) == (
        1,
        "exact",
        False,
        None,
        None,
    )
    assert (pair["ci"]["low"], pair["ci"]["high"]) == (-1.0, 1.0)


def test_p_too_small_for_a_float_is_told_by_its_logarithm() -> None:
    right, wrong = (np.array([[value, 9, 9]] * 1_200) for value in (9, 8))
    pair = asked(RECALL, right, wrong)["pairs"][0]
    assert (pair["p"], pair["significant"]) == (2.2250738585072014e-308, True)
    assert pair["log10_p"] == pytest.approx(-1_199 * math.log10(2), rel=1e-9)


def test_beyond_the_budget_of_a_pair_a_sum_is_approximated(monkeypatch: pytest.MonkeyPatch) -> None:
    gold = np.random.default_rng(3).integers(500, 1_001, 80)
    counts = [np.array([np.random.default_rng(seed).binomial(gold, 0.8), gold, gold]).T for seed in (1, 2)]
    exact = asked(RECALL, *counts)["pairs"][0]
    monkeypatch.setattr(signs, "MOST_ADDITIONS", 0.0)
    found = asked(RECALL, *counts)["pairs"][0]
    assert (exact["p_kind"], found["p_kind"]) == ("exact", "saddlepoint")
    assert found["p"] == pytest.approx(exact["p"], rel=0.03)


def test_p_beside_few_heavy_units_is_near_that_of_all_signs() -> None:
    """Real counts of 22 units as unequal as EWT's documents: all 2^22 sums, in two halves."""
    for seed in range(24):
        generator = np.random.default_rng(seed)
        gold = generator.lognormal(0, 1.1, 22)
        counts = [np.array([gold * generator.uniform(0.5, 0.9 - 0.01 * seed * k, 22), gold, gold]).T for k in (0, 1)]
        pair = asked(RECALL, *counts, interval="none")["pairs"][0]
        assert pair["p_kind"] == "saddlepoint"
        e = (counts[0] - counts[1])[:, 0] / gold.sum()
        first, second = (np.array([1, -1])[np.indices((2,) * 11).reshape(11, -1).T] @ half for half in (e[:11], e[11:]))
        beyond = abs(pair["difference"]) * (1 - 1e-12) - first
        exact = 2 * (len(second) - np.searchsorted(np.sort(second), beyond)).sum() / 2**22
        assert pair["p"] == pytest.approx(exact, rel=0.15), seed


def test_the_search_for_an_end_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated = []
    tails = signs.log_upper_tails
    monkeypatch.setattr(signs, "log_upper_tails", lambda e, x: evaluated.append(len(x)) or tails(e, x))
    asked(F1, *[rows(seed, 300, 0.9 - 0.01 * seed) for seed in range(4)])
    # of 6 pairs p, and two ends at two levels
    assert 6 < sum(evaluated) <= 6 + 6 * 4 * 10


def test_undefined_scores_are_listed_and_not_tested() -> None:
    silent = np.zeros((60, 3), np.int64)
    found = asked(F1, rows(1), silent, rows(2))
    assert found["untested"] == [{"name": "B", "reason": "undefined: nothing in gold and system"}]
    assert found["family"]["size"] == 1
    assert [pair["p"] is None for pair in found["pairs"]] == [True, False, True]
    assert [system["name"] for system in found["systems"]] == ["A", "C"]


def test_linear_is_seen_from_the_data_not_from_the_score_s_name() -> None:
    same, other = (asked(F1, rows(1, 400, same_size=s), rows(2, 400, same_size=s)) for s in (True, False))
    assert (same["pairs"][0]["p_kind"], same["pairs"][0]["how"]) == ("exact", "exact law of a sum")
    assert (other["pairs"][0]["p_kind"], other["pairs"][0]["p_error"]) == ("saddlepoint", 5 / 400)
    assert asked(RECALL, rows(1) * 0.3, rows(2) * 0.3)["pairs"][0]["p_kind"] == "saddlepoint"
    # real counts are listed too; whole numbers that came as floats are whole numbers
    assert asked(RECALL, rows(1, 18) * 0.3, rows(2, 18) * 0.3)["pairs"][0]["p_kind"] == "exact"
    assert asked(RECALL, rows(1) * 1.0, rows(2) * 1.0)["pairs"][0]["p_kind"] == "exact"


def test_unequal_numbers_of_runs_are_brought_to_one_scale() -> None:
    one, three = rows(1), (rows(2), rows(3), rows(4))
    found = asked(F1, one, three)["pairs"][0]
    assert found["score_a"] == pytest.approx(2 * one[:, 0].sum() / one[:, 1:].sum())
    assert found["p"] == pytest.approx(asked(F1, 3 * one, sum(three))["pairs"][0]["p"])
    assert asked(F1, one, (one, one, one))["pairs"][0]["p"] == 1.0


def test_bootstrap_gives_intervals_and_no_p() -> None:
    found = asked(F1, rows(1), rows(2), rows(3), test="bootstrap")
    assert all(pair["p"] is None and pair["p_adjusted"] is None for pair in found["pairs"])
    assert all(pair["significant"] is None and pair["ci"] for pair in found["pairs"])
    assert found["clusters"] is None


def test_mcnemar_on_sentences_is_the_exact_permutation_of_exact_match() -> None:
    a, b = rows(1, share=0.97, same_size=True), rows(2, share=0.93, same_size=True)
    right = [np.array([each[:, 0] == each[:, 1], np.ones(60), np.ones(60)]).T.astype(np.int64) for each in (a, b)]
    exact_match = asked(RECALL, *right)["pairs"][0]
    for counts in ((a, b), right):
        pair = asked(RECALL, *counts, test="mcnemar")["pairs"][0]
        assert pair["p"] == pytest.approx(exact_match["p"], rel=1e-9)
        assert pair["p_kind"] == "exact"
    one_sided = asked(RECALL, a, b, test="mcnemar", alternative="greater")["pairs"][0]["p"]
    assert one_sided == pytest.approx(asked(RECALL, *right, alternative="greater")["pairs"][0]["p"], rel=1e-9)


def test_mcnemar_on_tokens_warns() -> None:
    generator = np.random.default_rng(1)
    offsets = np.arange(0, 601, 10)
    candidates = [
        Candidate(name, (rows(1),), TokenBits(generator.random(600) < share, offsets))
        for name, share in (("A", 0.9), ("B", 0.7))
    ]
    found = compare("las", RECALL, NAMES, candidates, Settings(test="mcnemar", unit="token", resamples=100))
    assert "not independent" in found["warnings"][0]
    assert found["unit_count"] == 600
    assert found["pairs"][0]["mcnemar"]["malteval"]["p01"] is True
    for kind, p_kind in (("mid-p", None), ("chi2", None), ("chi2-corrected", None), ("exact", "exact")):
        chosen = Settings(test="mcnemar", unit="token", resamples=100, mcnemar=kind)
        assert compare("las", RECALL, NAMES, candidates, chosen)["pairs"][0]["p_kind"] == p_kind


def test_units_that_are_not_there_are_refused() -> None:
    for unit, test, code in (("block", "auto", "no-blocks"), ("token", "mcnemar", "no-token-bits")):
        with pytest.raises(InputError) as error:
            asked(F1, rows(1), rows(2), unit=unit, test=test)
        assert error.value.problems[0].code == code
        assert error.value.problems[0].pointer == "/unit"
    with pytest.raises(InputError):
        asked(F1, rows(1), rows(2), unit="block", blocks=["one"])


def test_compare_pl_is_one_sided_in_the_observed_direction() -> None:
    a, b = rows(1, share=0.84), rows(2)
    pair = asked(F1, a, b, test="compare_pl")["pairs"][0]
    one_sided = min(asked(F1, a, b, alternative=way)["pairs"][0]["p"] for way in ("greater", "less"))
    assert pair["p"] == pytest.approx(one_sided, rel=1e-9)
    recall = asked(RECALL, a, b, alternative="greater")["pairs"][0]
    assert pair["compare_pl"]["recall"]["difference"] == recall["difference"]
    assert pair["compare_pl"]["of"] == "brackets"


def test_compare_pl_rounds_percentages_as_the_program_does() -> None:
    """Recall and precision by `compare.pl -n 10000` (recall: mean of three runs); from counts they are .0785, .1383."""
    a = [[17, 19, 18], [13, 13, 13], [22, 22, 24], [8, 11, 9], [11, 14, 14], [12, 12, 12], [13, 13, 13], [5, 7, 6],
         [4, 5, 4], [10, 12, 12], [5, 7, 7], [2, 2, 2], [10, 12, 10], [9, 10, 11], [107, 107, 107]]  # fmt: skip
    b = [[19, 19, 19], [11, 13, 14], [22, 22, 22], [11, 11, 11], [14, 14, 15], [11, 12, 11], [12, 13, 13], [6, 7, 7],
         [5, 5, 5], [12, 12, 12], [6, 7, 6], [1, 2, 3], [12, 12, 12], [9, 10, 9], [107, 107, 107]]  # fmt: skip
    pair = asked(RECALL, np.array(a), np.array(b), test="compare_pl", shuffles=20_000)["pairs"][0]
    found = {name: pair["compare_pl"][name]["p"] for name in ("recall", "precision")}
    assert pair["p"] == found["recall"]
    for name, p, runs in (("recall", 0.0447, 30_000), ("precision", 0.1297, 10_000)):
        assert abs(found[name] - p) <= 3 * math.sqrt(p * (1 - p) / runs)


def test_one_system_or_none_or_no_sentence_is_no_crash() -> None:
    assert asked(F1, rows(1))["pairs"] == []
    assert asked(F1)["systems"] == []
    empty = np.zeros((0, 3), np.int64)
    for test in ("auto", "bootstrap", "mcnemar", "compare_pl"):
        assert len(asked(F1, empty, empty, test=test)["untested"]) == 2
        assert finite(asked(F1, rows(1, 1), rows(2, 1), test=test))


@given(
    st.lists(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=5, max_size=5), min_size=1, max_size=4),
    st.sampled_from([F1, RECALL, ERROR, HARMONIC]),
    st.sampled_from(["auto", "bootstrap", "mcnemar", "compare_pl"]),
    st.sampled_from([1, 0.3]),
    st.sampled_from(["percentile", "bca", "none"]),
    st.booleans(),
)
def test_every_document_is_plain_json_without_nan(
    counts: Any,
    score: Score,
    test: str,
    scale: float,
    interval: str,
    by_part: bool,  # noqa: FBT001
) -> None:
    parts = np.array([0, 1, 0, 1, 1]) if by_part else None
    arrays = [np.array(each) * scale for each in counts]
    found = asked(score, *arrays, test=test, interval=interval, parts=parts, resamples=30)
    assert finite(found)
    assert orjson.loads(orjson.dumps(found)) == found
    for pair in found["pairs"]:
        assert pair["p"] is None or 0 < pair["p"] <= 1
        assert pair["p_adjusted"] is None or pair["p_adjusted"] >= pair["p"] * (1 - 1e-12)


@pytest.mark.parametrize("given_places", [{"blocks": ["a", "b", "b"]}, {"parts": np.array([0, 0, 1])}])
def test_no_system_and_no_sentence_is_an_empty_comparison(given_places: dict[str, Any]) -> None:
    assert compare("m.s", RECALL, NAMES[:2], [], Settings(), **given_places)["pairs"] == []
    nothing = [Candidate(name, (np.zeros((0, 2), np.int64),)) for name in "ab"]
    document = compare("m.s", RECALL, NAMES[:2], nothing, Settings(), parts=np.zeros(0, np.int64))
    assert (document["pairs"][0]["p"], len(document["untested"])) == (None, 2)


def test_one_document_of_several_runs_shows_no_spread() -> None:
    systems = [
        Candidate(name, tuple(np.array([[m, 10]] * 2) for m in runs)) for name, runs in (("a", (5, 6)), ("b", (7, 9)))
    ]
    [pair] = compare("m.s", RECALL, NAMES[:2], systems, Settings(unit="block"), blocks=["d", "d"])["pairs"]
    assert (pair["p"], pair["ci"], pair["reason"]) == (None, None, "one document shows no spread")
    assert pair["runs_test"] == {"v_units": None, "v_runs": pytest.approx(0.0125), "df": None}


def test_a_part_without_sentences_leaves_the_units_of_others_alone() -> None:
    rows = [np.array([[m, 10] for m in of_system]) for of_system in ([5, 6, 7, 8], [7, 9, 6, 3])]
    parts = PooledParts(np.array([0, 0, 2, 2]))
    lacking = [Candidate("a", (rows[0],)), Candidate("b", (rows[1],), missing=frozenset([1]))]
    whole = [Candidate("a", (rows[0],)), Candidate("b", (rows[1],))]
    found, expected = (compare("m.s", RECALL, NAMES[:2], each, Settings(), parts=parts) for each in (lacking, whole))
    assert found["pairs"][0]["p"] == expected["pairs"][0]["p"]
