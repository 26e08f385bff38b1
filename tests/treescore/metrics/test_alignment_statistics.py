"""Figures of the scripts of Zenkel, Wuebker & DeNero 2019: F with a weight, gold's links, jumps, coverage."""

from __future__ import annotations

import re
from typing import Any

import pytest

from treescore.core.registry import ItemInfo, Metric, Outcome
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_items, parse_spec

PARAMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "fAlpha_0.5": {"alpha": 0.5},
    "fAlpha_0.4": {"alpha": 0.4},
    "fAlpha_0": {"alpha": 0},
    "allSure": {"gold_links": "all-sure"},
    "ignorePossible": {"gold_links": "sure-only"},
    "with_text": {},
    "cleanPunctuation": {"drop_punctuation": True},
}


def scored(
    gold: str, system: str, items: dict[str, Any] | None = None, **params: Any
) -> tuple[Metric, Outcome, dict[str, float]]:
    spec = parse_spec({"format": {"name": "pharaoh", "base": 0}, "metrics": [{"name": "alignment", "params": params}]})
    outcome = Evaluation(spec, gold.encode(), parse_items(items)).score(system.encode())[0]["alignment"]
    metric = spec.entries[0].metric
    return metric, outcome, {name: float(value) for name, value in metric.table.values(outcome.totals).items()}


def counts_of(metric: Metric, outcome: Outcome) -> dict[str, int]:
    return dict(zip(metric.table.count_names, outcome.totals.tolist(), strict=True))


def words_of(case: dict[str, str]) -> dict[str, Any]:
    return {
        "words": [list(pair) for pair in zip(case["source"].splitlines(), case["target"].splitlines(), strict=True)]
    }


def expected(printed: str) -> dict[str, str]:
    figures = dict(
        zip(("aer", "och_ney_precision", "och_ney_recall"), re.findall(r"([0-9.]+)%", printed), strict=False)
    )
    for name, pattern in (
        ("alpha_f", r"F-Measure: ([0-9.]+)"),
        ("internal_jumps", r"Internal Jumps: ([0-9]+)"),
        ("external_jumps", r"External Jumps: ([0-9]+)"),
        ("source_coverage", r"Source Coverage: ([0-9.]+)%"),
        ("target_coverage", r"Target Coverage: ([0-9.]+)%"),
    ):
        if found := re.search(pattern, printed):
            figures[name] = found[1]
    return figures


def test_every_figure_that_the_scripts_print(golden: Any) -> None:
    checked = 0
    for name, case in golden("field_alignment")["alignment"].items():
        for run, reference in case["reference"].items():
            metric, outcome, found = scored(case["gold"], case["system"], words_of(case), **PARAMS[run])
            counts = counts_of(metric, outcome)
            for figure, printed in expected(reference["stdout"]).items():
                checked += 1
                if figure in counts:
                    assert counts[figure] == int(printed), (name, run, figure)
                elif figure == "alpha_f":
                    assert f"{found[figure]:.3f}" == printed, (name, run)
                else:
                    assert f"{100 * found[figure]:.1f}" == printed, (name, run, figure)
    assert checked > 40


def test_an_even_weight_is_och_and_neys_f_and_a_ratio_of_zero_makes_zero() -> None:
    found = scored("0-0 1-1 2p1\n", "0-0 2-1\n")[2]
    assert found["alpha_f"] == pytest.approx(found["och_ney_f1"])
    for alpha in (0, 0.5, 1):
        assert scored("0-0\n", "1-1\n", alpha=alpha)[2]["alpha_f"] == 0
        assert scored("0p0 1-1\n", "0-0\n", alpha=alpha)[2]["alpha_f"] == 0


def test_coverage_is_unknown_without_lengths_and_follows_from_them() -> None:
    found = scored("0-0\n", "0-0 2-0\n")[2]
    assert found["source_coverage"] != found["source_coverage"]
    known = scored("0-0\n", "0-0 2-0\n", {"lengths": [[4, 2]]})[2]
    assert (known["source_coverage"], known["target_coverage"]) == (0.5, 0.5)


def test_fertility_counts_words_by_their_links() -> None:
    _, outcome, _ = scored("0-0\n0-0\n", "0-0 0-1 2-1\n0-0\n", {"lengths": [[4, 2], [1, 3]]})
    assert outcome.extra()["fertility"] == [
        {"links": 0, "source_words": 2, "target_words": 2},
        {"links": 1, "source_words": 2, "target_words": 2},
        {"links": 2, "source_words": 1, "target_words": 1},
    ]
    unknown = scored("0-0\n", "\n")[1]
    assert unknown.extra()["fertility"] == []


def test_jumps_do_not_reach_over_sentence_pairs() -> None:
    metric, outcome, _ = scored("0-0\n0-0\n", "5-0\n1-1\n")
    assert counts_of(metric, outcome)["external_jumps"] == 0


def test_sure_only_gold_makes_its_possible_links_wrong() -> None:
    metric, outcome, _ = scored("0-0 1p1\n", "0-0 1-1\n", gold_links="sure-only")
    assert counts_of(metric, outcome)["possible"] == 1
    assert outcome.details(0, 1).documents(0, 1) == [{"wrong": [[2, 2, "S"]], "missed": []}]


def test_words_are_needed_and_must_fit() -> None:
    with pytest.raises(InputError) as caught:
        scored("0-0\n", "0-0\n", drop_punctuation=True)
    assert caught.value.problems[0].code == "alignment-words-needed"
    with pytest.raises(InputError) as caught:
        scored("0-0\n", "0-0\n", {"words": [["a b", "c"]], "lengths": [[1, 1]]})
    assert (caught.value.problems[0].code, caught.value.problems[0].sentence) == ("alignment-words-mismatch", 1)
    with pytest.raises(InputError) as caught:
        scored("0-0\n", "0-0\n", {"words": []})
    assert (caught.value.problems[0].code, caught.value.problems[0].pointer) == ("item-count-mismatch", "/items/words")


@pytest.mark.parametrize(
    ("params", "gold", "system"),
    [
        ({}, [0, 0, 0, 6], [0, 0, 6, 6]),
        # The possible link 0p0 is not compared, so that the output's 0-0 is wrong.
        ({"gold_links": "sure-only"}, [0, 0, 0, 6], [6, 0, 6, 6]),
        ({"gold_links": "all-sure"}, [0, 0, 6, 6], [0, 0, 6, 6]),
        # The link of the comma with another word is left out.
        ({"drop_punctuation": True}, [0, 0, 0, 6], [0, 0, 6, 0]),
    ],
)
def test_marks_are_of_all_links_as_they_were_read(params: dict[str, Any], gold: list[int], system: list[int]) -> None:
    spec = parse_spec({"format": {"name": "pharaoh", "base": 0}, "metrics": [{"name": "alignment", "params": params}]})
    evaluation = Evaluation(spec, b"0p0 1-1 2p2 3-3\n", ItemInfo(words=[("a b c ,", "a b c ,")]))
    marks = evaluation.score(b"0-0 1-1 2-1 3-2\n")[0]["alignment"].marks()
    assert marks is not None
    assert (marks.gold.tolist(), marks.system.tolist()) == (gold, system)


def test_dropped_links_to_null_are_not_marked() -> None:
    spec = parse_spec({"format": "talp", "metrics": [{"name": "alignment", "params": {"null_links": "drop"}}]})
    marks = Evaluation(spec, b"0-1 2-2\n").score(b"1-0 2-2\n")[0]["alignment"].marks()
    assert marks is not None
    assert (marks.gold.tolist(), marks.system.tolist()) == ([0, 0], [0, 0])
