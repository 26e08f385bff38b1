"""Reference figures: brute force, exact dynamic programmes, statsmodels, MaltEval, and one real comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from treescore.core.scores import Score, f1_score, ratio_score
from treescore.significance import Candidate, Settings, compare, partial_conjunction
from treescore.significance.families import adjusted
from treescore.significance.other_tests import mcnemar

NAMES = ("matched", "gold", "system")
SCORES = {
    "f1": f1_score("f1", "F1", "matched", "gold", "system", "nothing"),
    "precision": ratio_score("precision", "precision", "matched", "system"),
    "recall": ratio_score("recall", "recall", "matched", "gold"),
}


def two(score: Score, a: Any, b: Any, *, of: Mapping[str, Any] = MappingProxyType({}), **asked: Any) -> dict[str, Any]:
    more = dict(of)
    missing = more.pop("missing", [frozenset(), frozenset()])
    candidates = [
        Candidate(name, tuple(runs) if isinstance(runs, list) else (runs,), missing=lacking)
        for name, runs, lacking in zip("AB", (a, b), missing, strict=True)
    ]
    return compare("metric.score", score, NAMES, candidates, Settings(**asked), **more)


def rows_of(case: dict[str, Any]) -> tuple[Score, np.ndarray, np.ndarray]:
    if case["kind"] == "linear":
        total = case["total"]
        return SCORES["recall"], *(np.array([case[side], total, total]).T for side in "ab")
    rows = (np.array([case[f"match_{side}"], case["gold"], case[f"test_{side}"]]).T for side in "ab")
    return SCORES[case["metric"]], *rows


def test_permutation_agrees_with_brute_force(golden: Any) -> None:
    for case in golden("significance/permutation_bruteforce"):
        score, a, b = rows_of(case)
        expected = case["expected"]
        for alternative, key in (("two-sided", "p_two_sided"), ("greater", "p_greater"), ("less", "p_less")):
            document = two(score, a, b, alternative=alternative, test="permutation", interval="none")
            pair = document["pairs"][0]
            if expected["undefined"]:
                assert pair["p"] is None
                assert [each["name"] for each in document["untested"]] == ["A"]
                continue
            assert pair["p_kind"] == "exact"
            assert pair["p"] == pytest.approx(expected[key], rel=1e-9), (case["name"], alternative)
            assert pair["difference"] == pytest.approx(expected["diff"], rel=1e-12)
        if not expected["undefined"] and score is SCORES["f1"]:  # the others are rounded, as by compare.pl
            document = two(score, a, b, test="compare_pl", interval="none")
            assert document["pairs"][0]["p"] == pytest.approx(expected["p_compare_pl_direction"], rel=1e-9)


def test_permutation_agrees_with_big_integers_at_corpus_size(golden: Any) -> None:
    for case in golden("significance/permutation_mid"):
        score, a, b = rows_of(case)
        expected = case["expected"]
        asked = {"resamples": 2_500}
        pair = two(score, a, b, interval="percentile", **asked)["pairs"][0]
        of_sum = case["kind"] == "linear"
        assert pair["p_kind"] == ("exact" if of_sum else "saddlepoint")
        assert pair["p"] == pytest.approx(expected["exact_p_two_sided"], rel=1e-9 if of_sum else 0.01)
        assert pair["log10_p"] == pytest.approx(expected["exact_log10_p"], rel=1e-12 if of_sum else 1e-3)
        # a 2.5 % quantile of 10,000 resamples, which theirs are, has an error of .027 standard errors
        error = 4 * math.sqrt(1 + 4) * 0.027 * expected["scipy_bootstrap_se"]
        for kind, ends in ((pair, "percentile"), (two(score, a, b, interval="bca", **asked)["pairs"][0], "BCa")):
            found = [kind["ci"]["low"], kind["ci"]["high"]]
            assert found == pytest.approx(expected[f"scipy_bootstrap_{ends}"], abs=error)


def test_signs_of_documents_agree_with_all_listed(golden: Any) -> None:
    for case in golden("inference")["blocks"]["cases"]:
        rows = [np.array([case[side], case["total"], case["total"]]).T for side in "ab"]
        pair = two(SCORES["recall"], *rows, of={"blocks": case["blocks"]}, test="permutation")["pairs"][0]
        assert [pair["p"], pair["smallest_p"]] == pytest.approx([case["p_block"], case["smallest_p"]], rel=1e-12)


@pytest.mark.parametrize("section", ["macro", "missing_part"])
def test_means_of_parts_agree_with_all_swaps_listed(golden: Any, section: str) -> None:
    for case in golden("inference")[section]["cases"]:
        parts, expected = case["parts"], case["expected"]
        rows, missing = [], []
        for side in "ab":
            columns = [(part[f"match_{side}"], part["gold"], part[f"test_{side}"]) for part in parts]
            missing.append(frozenset(at for at, (matched, _, _) in enumerate(columns) if matched is None))
            rows.append(np.concatenate([np.array([m or [0] * len(g), g, s or [0] * len(g)]).T for m, g, s in columns]))
        of = {"parts": np.repeat(np.arange(len(parts)), [len(part["gold"]) for part in parts]), "missing": missing}
        pair = two(SCORES["f1"], *rows, of=of, test="permutation")["pairs"][0]
        drawn = "relative_error" in expected
        assert pair["difference"] == pytest.approx(expected["difference"], abs=1e-12)
        assert pair["p"] == pytest.approx(expected["p"], rel=0.006 if drawn else 1e-9)
        assert pair["p_kind"] == ("saddlepoint" if drawn else "exact")


def test_margins_agree_with_all_swaps_listed(golden: Any) -> None:
    for case in golden("inference")["few_units"]["cases"]:
        rows = [np.array([case[side], case["total"], case["total"]]).T for side in "ab"]
        for expected in case["noninferior"]:
            found = two(SCORES["recall"], *rows, test="permutation", margin=expected["margin"])["pairs"][0]
            sides = found["noninferiority"]
            assert [sides[name]["p"] for name in "AB"] == pytest.approx([expected["p_a"], expected["p_b"]], abs=1e-9)
            assert sides["A"]["established"] == (len(case["a"]) >= 20 and expected["p_a"] <= 0.05)


def test_shares_of_whole_sentences_have_wilsons_interval(golden: Any) -> None:
    for case in golden("inference")["exact_match"]["cases"]:
        right = np.arange(case["n"]) < case["right"]
        rows = np.stack([right, *[np.ones(case["n"])] * 2], axis=1).astype(np.int64)
        row = two(SCORES["recall"], rows, rows)["systems"][0]["ci"]
        assert ([row["low"], row["high"]], row["method"]) == (pytest.approx(case["interval"], abs=1e-12), "Wilson")


def test_retrained_models_agree_with_the_closed_form(golden: Any) -> None:
    for case in golden("inference3")["runs"]:
        runs = [[np.array([run, case["total"], case["total"]]).T for run in case[f"runs_{side}"]] for side in "ab"]
        of = {"parts": np.array(case["parts"])} if "parts" in case else {}
        pair = two(SCORES["recall"], *runs, of=of)["pairs"][0]
        found = {
            **pair, **pair["runs_test"], "low": pair["ci"]["low"], "high": pair["ci"]["high"],
            "difference": pair["difference_tested"], "detectable": pair["detectable"]["difference"],
        }  # fmt: skip
        expected = case["expected"]
        assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-6, abs=1e-9)
        assert found["p"] == pytest.approx(expected["p"], rel=1e-9)


def test_corrections_agree_with_statsmodels(golden: Any) -> None:
    names = {"holm": "holm", "hochberg": "simes-hochberg", "bh": "fdr_bh", "by": "fdr_by", "bonferroni": "bonferroni"}
    for case in golden("significance/multiplicity"):
        for method, theirs in names.items():
            assert adjusted(np.array(case["p"], float), method) == pytest.approx(case["adjusted"][theirs], rel=1e-12)


def test_partial_conjunction_agrees_with_dror(golden: Any) -> None:
    for case in golden("significance/partial_conjunction"):
        found = partial_conjunction(case["p"], 0.05)
        assert found["bonferroni"] == pytest.approx(case["bonferroni_pc"], rel=1e-12)
        assert found["fisher"] == pytest.approx(case["fisher_pc"], rel=1e-9)
        assert (found["k_bonferroni"], found["k_fisher"]) == (case["k_bonferroni"], case["k_fisher"])
        assert sorted(found["holm"]) == case["holm_rejected"]
        assert np.flatnonzero(adjusted(np.array(case["p"]), "holm") <= 0.05).tolist() == sorted(found["holm"])


def test_mcnemar_agrees_with_statsmodels_and_malteval(golden: Any) -> None:
    for case in golden("significance/mcnemar"):
        expected = case["expected"]
        found = mcnemar(expected["b"], expected["c"])
        assert found["exact"] == pytest.approx(expected["exact_binomial"], rel=1e-9)
        if expected["b"] != expected["c"]:  # the file takes the whole middle off for equal systems, not half of it
            assert found["mid_p"] == pytest.approx(expected["mid_p"], rel=1e-9)
        assert list(found["chi2"].values()) == pytest.approx(
            [float(each) for each in expected["statsmodels_chi2_nocc"]], rel=1e-9
        )
        if expected["b"] != expected["c"]:  # statsmodels corrects past 0 there: p = .75 for equal systems
            assert list(found["chi2_corrected"].values()) == pytest.approx(
                [float(each) for each in expected["statsmodels_chi2_cc"]], rel=1e-9
            )
        assert found["malteval"]["z"] == pytest.approx(expected["malteval_z"], rel=1e-12)
        assert (found["malteval"]["p05"], found["malteval"]["p01"]) == (
            expected["malteval_p05"],
            expected["malteval_p01"],
        )
        (both, only_a), (only_b, neither) = case["table"]
        right = [
            [1] * (both + only_a) + [0] * (only_b + neither),
            [1] * both + [0] * only_a + [1] * only_b + [0] * neither,
        ]
        a, b = (np.array([side, np.ones(len(side)), np.ones(len(side))]).T.astype(np.int64) for side in right)
        pair = two(SCORES["recall"], a, b, test="mcnemar", interval="none")["pairs"][0]
        table = pair["mcnemar"]
        assert pair["p"] == table["exact"] == found["exact"]
        assert (table["mid_p"], table["chi2"]["p"], table["malteval"]["z"]) == (
            found["mid_p"],
            found["chi2"]["p"],
            found["malteval"]["z"],
        )
    for pair in golden("mcnemar_en_ewt")["pairs"]:
        found = mcnemar(pair["a_only"], pair["b_only"])
        assert found["malteval"]["z"] == pytest.approx(float(pair["malteval_z"]), abs=5e-11)
        assert (found["malteval"]["p05"], found["malteval"]["p01"]) == (
            bool(pair["malteval_p05"]),
            bool(pair["malteval_p01"]),
        )
        for p, key in (
            (found["exact"], "p_exact_binomial"),
            (found["mid_p"], "p_mid"),
            (found["chi2"]["p"], "p_chi2_uncorrected"),
        ):
            assert p == pytest.approx(pair[key], rel=1e-9, abs=1e-300)


def test_bootstrap_agrees_with_all_resamples_listed(golden: Any) -> None:
    for case in golden("significance/bootstrap_exact_enumeration"):
        a, b = (np.array([case[side], case["total"], case["total"]]).T for side in "ab")
        interval = two(SCORES["recall"], a, b, resamples=200_000, interval="percentile")["pairs"][0]["ci"]
        assert interval["low"] == pytest.approx(case["q025"], abs=0.005)
        assert interval["high"] == pytest.approx(case["q975"], abs=0.005)
