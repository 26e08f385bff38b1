"""Several comparisons of the same systems as one family: sides, correction, and on how many a system is better."""

import math
from itertools import product

import numpy as np
import pytest

from treescore.significance.families import across, adjusted, partial_conjunction, partial_conjunctions


def pair(a="A", b="B", difference=0.1, p=0.02, better="a"):
    return {"a": a, "b": b, "difference": difference, "better": better, "p": p}


def document(*pairs, score="ud.las_f1", alternative="two-sided"):
    return {"score": score, "alternative": alternative, "pairs": list(pairs)}


def joined(*documents, **options):
    options = {"correction": "holm", "alpha": 0.05, **options}
    return across(documents, **options)


def test_one_family_of_all_pairs_on_all_scores_is_corrected_once():
    p = [0.001, 0.02, 0.04, 0.0005, 0.3, 1.0]
    first = document(pair("A", "B", p=p[0]), pair("A", "C", p=p[1]), pair("B", "C", p=p[2]))
    second = document(pair("A", "B", p=p[3]), pair("A", "C", p=p[4]), pair("B", "C", p=p[5]), score="ud.uas_f1")
    result = joined(first, second)
    assert result["family"]["size"] == 6
    assert [(each["a"], each["b"]) for each in result["pairs"]] == [("A", "B"), ("A", "C"), ("B", "C")]
    expected = adjusted(np.array(p), "holm")
    shown = [[test["p_adjusted"] for test in each["tests"]] for each in result["pairs"]]
    assert shown == [[expected[0], expected[3]], [expected[1], expected[4]], [expected[2], expected[5]]]
    assert [test["significant"] for test in result["pairs"][0]["tests"]] == [True, True]
    assert [test["score"] for test in result["pairs"][0]["tests"]] == ["ud.las_f1", "ud.uas_f1"]


@pytest.mark.parametrize(
    ("alternative", "better", "sides"),
    [
        ("two-sided", "a", (0.01, 1.0)),
        ("two-sided", "b", (1.0, 0.01)),
        ("two-sided", None, (1.0, 1.0)),
        ("greater", "b", (0.02, 1.0)),
        ("less", "a", (1.0, 0.02)),
        ("observed direction", "b", (1.0, 0.02)),
    ],
)
def test_the_p_of_a_side(alternative, better, sides):
    result = joined(document(pair(better=better), alternative=alternative))["pairs"][0]
    assert (result["a_better"]["p"], result["b_better"]["p"]) == ([sides[0]], [sides[1]])


def test_half_the_two_sided_p_is_the_one_sided_p_of_all_swaps():
    for units in ([3, 1, -1, 2], [1, 1, 1, 1, -1], [5, -2, 0.5]):
        total = sum(units)
        laws = [sum(map(math.prod, zip(units, signs, strict=True))) for signs in product((1, -1), repeat=len(units))]
        two_sided = sum(abs(each) >= abs(total) for each in laws) / len(laws)
        one_sided = sum(each >= total for each in laws) / len(laws)
        away = sum(each >= -total for each in laws) / len(laws)
        result = joined(document(pair(p=two_sided, difference=total)))["pairs"][0]
        assert result["a_better"]["p"] == [one_sided]
        assert result["b_better"]["p"][0] >= away > 1 - two_sided / 2


def test_on_how_many_scores_a_system_is_better():
    documents = [document(pair(p=each), score=f"m.s{index}") for index, each in enumerate((0.002, 0.02, 0.2, 0.001))]
    better = joined(*documents)["pairs"][0]["a_better"]
    # Bonferroni over the ordered one-sided p 0.0005 0.001 0.01 0.1: 4, 3, 2 and 1 times them
    assert better["bonferroni"] == pytest.approx([0.002, 0.003, 0.02, 0.1])
    assert better["k_bonferroni"] == 3
    assert not {"fisher", "k_fisher"} & set(better)
    assert joined(*documents)["pairs"][0]["b_better"]["k_bonferroni"] == 0


def test_a_pair_the_other_way_round_is_the_same_pair():
    turned = document(pair("B", "A", difference=-0.1, better="b", p=0.01), score="ud.uas_f1")
    result = joined(document(pair()), turned)
    assert len(result["pairs"]) == 1
    test = result["pairs"][0]["tests"][1]
    assert (test["difference"], test["better"]) == (0.1, "a")
    assert result["pairs"][0]["a_better"]["p"] == [0.01, 0.005]
    one_sided = joined(document(pair()), document(pair("B", "A"), alternative="less"))
    assert one_sided["pairs"][0]["a_better"]["p"] == [0.01, 0.02]


def test_an_untested_pair_is_no_part_of_the_family():
    untested = pair(p=None, difference=None, better=None)
    result = joined(document(pair(p=0.04)), document(untested, score="ud.uas_f1"))
    assert result["family"]["size"] == 1
    first, second = result["pairs"][0]["tests"]
    assert (first["p_adjusted"], first["significant"]) == (0.04, True)
    assert (second["p"], second["p_adjusted"], second["significant"]) == (None, None, None)
    assert result["pairs"][0]["a_better"]["p"] == [0.02, 1.0]


def test_a_pair_of_one_score_alone_has_one_test():
    result = joined(document(pair("A", "B"), pair("A", "C")), document(pair("A", "C"), score="x.y"))
    assert [len(each["tests"]) for each in result["pairs"]] == [1, 2]


def test_nothing_to_compare():
    result = joined(document(), document(score="ud.uas_f1"))
    assert (result["family"]["size"], result["pairs"]) == (0, [])


@pytest.mark.parametrize(
    ("correction", "words"), [("holm", "however"), ("bh", "positively dependent"), ("none", "Nothing is corrected")]
)
def test_what_the_correction_assumes_is_said(correction, words):
    assert words in joined(document(pair()), correction=correction)["assumed"]


def test_what_holm_identifies_is_what_bonferroni_counts():
    p = np.random.default_rng(5).beta(0.2, 1, (300, 6)).round(2)  # with ties
    found = partial_conjunctions(p, 0.05)
    for row, each in zip(p, found, strict=True):
        assert sorted(each["holm"]) == np.flatnonzero(adjusted(row, "holm") <= 0.05).tolist()
        assert row[each["holm"]].tolist() == sorted(row[each["holm"]])
    assert found == [partial_conjunction(row, 0.05) for row in p]
    assert {each["k_bonferroni"] for each in found} == set(range(7))
    assert partial_conjunction([], 0.05) == {
        "bonferroni": [],
        "fisher": [],
        "k_bonferroni": 0,
        "k_fisher": 0,
        "holm": [],
    }
