"""The sentences of a comparison, from documents of its shape: whole ones, and ones of which members are hidden."""

from __future__ import annotations

from typing import Any

import pytest

import treescore.metrics  # noqa: F401 - importing the package fills the registry
from treescore.significance.notes import notes

RUNS = {"count": 3}
FOUND_IN = {"difference": 0.0432, "power": 0.8, "alpha": 0.05}


def document(systems: int = 2, pair: Any = None, named: Any = None, **members: Any) -> dict[str, Any]:
    """A comparison over 60 documents; members of every pair, those of single systems by name, and further ones."""
    names = "ABCDEF"[:systems]
    found = {
        "score": "ud.las_f1", "higher_is_better": True, "range": [0, 1], "test": "permutation",
        "alternative": "two-sided", "units": "block", "unit_count": 60, "documents": 60, "parts": None,
        "alpha": 0.05, "correction": "holm", "rank_ranges": [], "smallest_p": None,
        "signature": {"metric": "ud", "runs": "random", "level": 0.95},
        "systems": [{"name": name, **(named or {}).get(name, {})} for name in names],
        "pairs": [
            {"a": a, "b": b, "difference": 0.02, "significant": True, "ci_adjusted": {"low": 0.01, "high": 0.03},
             "p": 0.001, "p_parts": None, "p_unselected": None, "detectable": FOUND_IN, **(pair or {})}
            for a in names for b in names if a < b
        ],
    }  # fmt: skip
    return {**found, "rank_ranges": [[1, 1]] * systems, **members}


def not_worse(*shown: str, **p: float) -> dict[str, Any]:
    sides = {name: {"p": p[name], "p_adjusted": p[name], "established": name in shown} for name in p}
    return {"noninferiority": {"margin": 0.005, **sides}}


OPEN = {"significant": False, "p": 0.2, "divisor": 1}
AGAIN = "a marked difference would be found again in other"
BY_SENTENCE: dict[str, Any] = {"units": "sentence", "unit_count": 447}
ONE_EACH = "Each system was trained once: the claim is about these models, not about the methods."
TOGETHER = "hold together: the chance that any of them is wrong is at most 5 %."
AGREE = ". An interval leaves out 0 exactly where its difference is marked."
EQUAL = "Not marked does not mean equal."


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (document(), [f"Tested over 60 documents: {AGAIN} documents like these.", ONE_EACH]),
        (document(test="t", unit_count=7), [
            (f"Tested over 7 documents, with Student's t since they are few: {AGAIN} documents like these. With so few "
            "only large differences show."), ONE_EACH,
        ]),
        (document(test="t"), [f"Tested over 60 documents, with Student's t: {AGAIN} documents like these.", ONE_EACH]),
        (document(test="mixed"), [f"Tested over 60 documents: {AGAIN} documents like these.", ONE_EACH]),
        (document(pair={"unit_count": 9}, test="mixed"), [
            f"Tested over 60 documents, pairs with fewer than 16 with Student's t: {AGAIN} documents like these.",
            ONE_EACH,
        ]),
        (document(units="sentence"), [
            "Tested over 60 sentences: a marked difference holds for these documents, and need not hold for others.",
            ONE_EACH,
        ]),
        (document(**BY_SENTENCE, documents=None), [
            "Gold marks no documents, so its 447 sentences are taken as independent.", ONE_EACH,
        ]),
        (document(**BY_SENTENCE, documents=1), [
            "Gold marks one document: its sentences are tested, and the claim is about it alone.", ONE_EACH,
        ]),
        (document(parts=8, parts_by_sentence=2, pair={"p_parts": 0.2}), [
            f"Tested over 60 documents and sentences: {AGAIN} documents and sentences like these.",
            "In 2 of 8 parts gold marks fewer than two documents: there sentences are the units.",
            "The claim is about these 8 parts. For other parts like them p is in `p (parts)`.", ONE_EACH,
        ]),
        (document(units="part", parts=8, unit_count=8, test="t"), [
            (f"Tested over 8 whole parts, with Student's t since they are few: {AGAIN} parts like these. With so few "
            "only large differences show."), ONE_EACH,
        ]),
        (document(units="part", parts=20, unit_count=20), [
            f"Tested over 20 whole parts: {AGAIN} parts like these.", ONE_EACH,
        ]),
        (document(parts=2, named={"A": {"missing_parts": 1}}), [
            f"Tested over 60 documents: {AGAIN} documents like these.", "The claim is about these 2 parts.",
            "A part without an output counts as 0, and as one unit.", ONE_EACH,
        ]),
    ],
)  # fmt: skip
def test_what_was_tested_over_what(found: dict[str, Any], said: list[str]) -> None:
    assert notes(found) == said


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (document(higher_is_better=False, named={"A": {"missing_parts": 1}}), "counts as 1, and as one unit."),
        (document(range=[0, None], higher_is_better=False, named={"A": {"missing_parts": 1}}), "as the worst value,"),
        (document(named={"A": {"runs": RUNS}, "B": {"runs": RUNS}}),
         "Training runs and documents both vary: the claim is about the methods."),
        (document(3, named={"A": {"runs": RUNS}, "B": {"runs": RUNS}}),
         ("both vary where both systems have several runs: the claim is about the methods there, else about these "
         "models.")),
        (document(named={"A": {"runs": RUNS}}), "Runs of a system are pooled by unit: the claim is about these models"),
        (document(named={"A": {"runs": RUNS}, "B": {"runs": RUNS}}, signature={"runs": "fixed"}), "pooled by unit"),
        (document(test="mcnemar", named={"A": {"runs": RUNS}}), "is right where all runs of a system have it right:"),
        (document(3), f"Ranks and marks {TOGETHER}{AGREE[1:]}"),
        (document(3, rank_ranges=None, alternative="greater"), f"Marks {TOGETHER}"),
        (document(3, pair={"ci_adjusted": None}), f"Ranks and marks {TOGETHER}"),
        (document(3, correction="bh"),
         f"Of the marks at most 5 % are wrong on average: they do not hold together{AGREE}"),
        (document(3, correction="none"), f"each mark by itself is wrong with a chance of at most 5 %{AGREE}"),
        (document(pair={**OPEN, "detectable": None}), EQUAL),
        (document(pair=OPEN), (f"{EQUAL} A true difference of 4.3 points would have been found in 8 of 10 test sets "
         "like this.")),
        (document(pair={**OPEN, "difference": -0.25}), "A true difference of 25 points"),
        (document(pair={**OPEN, "detectable": {**FOUND_IN, "power": 0.95}}), "in 95 of 100 test sets"),
        (document(range=[0, None], pair=OPEN), "A true difference of 0.043 would"),
        (document(pair={**OPEN, "differing_sentences": 5}),
         "A and B differ in 5 sentences only, so that p cannot be below 0.06."),
        (document(3, pair={**OPEN, "divisor": 6, "differing_sentences": 7}),
         "3 pairs differ in at most 7 sentences, so that their p cannot be below 0.016."),
        (document(pair={**OPEN, "differing_sentences": 1}), "in 1 sentence only, so that p cannot be below 1."),
        (document(pair={"p_unselected": 0.1}), "A row is the best of its team's k submissions, and p allows for that."),
        (document(test="mcnemar", units="sentence"), "Tested: how many sentences are wholly right, not LAS."),
        (document(test="mcnemar", units="token"), "Tested: how many tokens are right, not LAS."),
        (document(pair=not_worse("A", A=0.012, B=0.5)),
         ("Not worse by more than 0.5 points: shown for A (p = 0.012), not for B (p = 0.50). Errors in fewer than 3 in "
         "60 units may have been missed.")),
        (document(pair=not_worse(A=0.012, B=0.5), unit_count=7),
         "by more than 0.5 points: not shown for A (p = 0.012) or B (p = 0.50). It can be shown from 20 units on."),
        (document(3, pair=not_worse("A", A=0.00001)), "shown for A against B (p < .0001), A against C (p < .0001)."),
        (document(3, pair=not_worse()), "points: shown for no system."),
        (document(6, unit_count=7, smallest_p={"p": 2.0**-6}),
         ("With 7 documents no p is below 0.016, so that nothing can be significant over 15 pairs. Leave out `test`, "
         "or ask `unit: sentence`.")),
        (document(unit_count=4, units="sentence", smallest_p={"p": 0.125}),
         "With 4 sentences no p is below 0.12, so that nothing can be significant. Leave out `test`."),
        (document(6, unit_count=16, correction="bonferroni", alpha=1e-4),
         ("With 16 documents no p is below 3.1e-05, so that nothing can be significant over 15 pairs. Ask `unit:"
         " sentence`.")),
        (document(test="compare_pl"), "double its p to read it as two-sided."),
        (document(pair={"p": 2.2250738585072014e-308}), "p below 2.2e-308 is shown as that; log10_p holds it."),
        (document(test="bootstrap", pair={"significant": None, "p": None}),
         "Intervals over 60 documents, without a test: leave out `test` for p. Each holds by itself at 95 %."),
    ],
)  # fmt: skip
def test_what_else_is_said(found: dict[str, Any], sentence: str) -> None:
    assert sentence in " ".join(notes(found))


def test_several_detectable_differences_are_one_range() -> None:
    found = document(3, pair=OPEN)
    found["pairs"][2]["detectable"] = {**FOUND_IN, "difference": 0.09}
    assert "A true difference of 4.3 to 9 points would" in " ".join(notes(found))


def test_nothing_is_said_that_a_level_hides() -> None:
    found = document(3, test="mcnemar", pair={**OPEN, "differing_sentences": 1})
    shown = " ".join(notes(found))
    assert "differ in" not in shown  # no floor of McNemar's p
    for member in ("unit_count", "documents", "range", "smallest_p"):
        del found[member]
    found |= {"units": "sentence", "test": "permutation", "signature": {}}
    for pair in found["pairs"]:
        for member in ("detectable", "differing_sentences", "ci_adjusted", "p", "p_parts", "p_unselected"):
            del pair[member]
    assert notes(found) == ["Tested over sentences.", ONE_EACH, f"Ranks and marks {TOGETHER}", EQUAL]
    assert notes(document(1)) == []
    nothing = {"significant": None, "p": None, "reason": "one document shows no spread"}
    assert notes(document(3, pair=nothing)) == ["Not tested: one document shows no spread."]
