"""The parseval metric on trees small enough to count by hand."""

from __future__ import annotations

from typing import Any

import pytest

from treescore.core.registry import ERROR, OK, SKIP, Outcome
from treescore.core.scores import score_values
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import Spec, parse_spec
from treescore.metrics.parseval.details import brackets_beside

TREE = "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP it))))"


def outcome_of(gold: str, system: str, **params: Any) -> tuple[Spec, Outcome]:
    spec = parse_spec(
        {
            "format": {"name": "bracketed", "layout": "lines", "unreadable": "sentence"},
            "metrics": [{"name": "parseval", "params": params}],
        }
    )
    return spec, Evaluation(spec, gold.encode()).score(system.encode())[0]["parseval"]


def counts_of(gold: str, system: str, **params: Any) -> dict[str, int]:
    spec, outcome = outcome_of(gold, system, **params)
    return dict(zip(spec.entries[0].metric.table.count_names, outcome.totals.tolist(), strict=True))


def scores_of(gold: str, system: str, **params: Any) -> dict[str, Any]:
    spec, outcome = outcome_of(gold, system, **params)
    return score_values(spec.entries[0].metric.table, outcome.totals)[0]


def brackets(gold: str, system: str, **params: Any) -> tuple[int, int, int]:
    counts = counts_of(gold, system, **params)
    return counts["matched"], counts["gold"], counts["system"]


def test_labelled_and_unlabelled_stand_side_by_side() -> None:
    scores = scores_of(TREE + "\n", TREE.replace("VP", "XP") + "\n")
    assert scores["labelled_f1"] == pytest.approx(3 / 4)
    assert scores["unlabelled_f1"] == 1.0
    assert scores["exact_match"] == 0.0
    scores = scores_of("(S (A (B (N a))) (N b))\n", "(S (A (N a)) (N b))\n")
    assert scores["labelled_f1"] == scores["unlabelled_f1"] == pytest.approx(4 / 5)


def test_relative_and_mean_crossing() -> None:
    gold, system = "(S (A (N a) (N b)) (N c))\n", "(S (N a) (B (N b) (N c)))\n"
    scores = scores_of(gold * 2, gold + system)
    assert scores["relative_crossing"] == 1 / 4
    assert scores["mean_crossing"] == 1 / 2
    assert scores["no_crossing"] == 1 / 2
    assert scores["two_or_fewer_crossing"] == 1.0


def test_the_cutoff_scores_short_sentences_again() -> None:
    gold = "(S (A (N a)) (N b))\n(S (N a) (N b) (N c))\n"
    scores = scores_of(gold, "(S (B (N a)) (N b))\n(S (N a) (N b) (N c))\n", cutoff=2)
    assert scores["labelled_f1"] == pytest.approx(2 / 3)
    assert scores["cutoff"]["labelled_f1"] == pytest.approx(1 / 2)


def test_without_brackets_there_is_no_score() -> None:
    scores = scores_of("(UH Yes)\n", "(UH Yes)\n")
    assert scores["labelled_f1"] is None
    assert scores["tagging_accuracy"] == 1.0


def test_errors_and_skips_are_counted_and_cost_nothing_unless_asked() -> None:
    gold = f"{TREE}\n{TREE}\n{TREE}\n"
    system = f"{TREE}\n{TREE.replace('dog', 'cat')}\n\n"
    spec, outcome = outcome_of(gold, system)
    assert outcome.status.tolist() == [OK, ERROR, SKIP]
    scores = score_values(spec.entries[0].metric.table, outcome.totals)[0]
    assert (scores["labelled_f1"], scores["coverage"]) == (1.0, 1 / 3)
    zero = scores_of(gold, system, errors="zero")
    assert zero["labelled_recall"] == 1 / 3
    assert zero["exact_match"] == 1 / 3
    assert zero["labelled_precision"] == zero["unlabelled_precision"] == zero["labelled_f1"] == 1 / 3
    assert zero["no_crossing"] == 1 / 3
    assert (zero["mean_crossing"], zero["relative_crossing"]) == (8 / 3, 2 / 3)
    assert zero["tagging_accuracy"] == 1 / 3
    assert counts_of(gold, system, errors="zero")["error"] == 1


def test_a_problem_of_the_words_quotes_gold_only_where_gold_may_be_read() -> None:
    _, outcome = outcome_of(f"{TREE}\n{TREE}\n", f"{TREE.replace('dog', 'cat')}\n(S (X the))\n")
    word, length = outcome.problems[0], outcome.problems[1]
    assert word.code == "word-mismatch"
    assert "'cat'" in word.detail
    assert "dog" not in word.detail
    assert "'dog'" in str(word.gold_detail)
    assert length.code == "word-count-mismatch"
    assert "gold has 4" in str(length.gold_detail)
    assert "4" not in length.detail


def test_spans_and_trees_of_a_sentence() -> None:
    _, outcome = outcome_of(f"{TREE}\n", f"{TREE}\n")
    item = outcome.item(0)
    assert item["gold_spans"] == [["S", 0, 4], ["NP", 0, 2], ["VP", 2, 4], ["NP", 3, 4]]
    assert item["system_tree"] == TREE


def test_scores_by_length_and_by_label() -> None:
    _, outcome = outcome_of(f"{TREE}\n", f"{TREE.replace('VP', 'XP')}\n")
    slices = outcome.slices()
    assert [row["value"] for row in slices["length"]] == ["0-10"]
    labels = {row["value"]: row for row in slices["label"]}
    assert labels["NP"]["scores"] == {"f1": 1.0, "precision": 1.0, "recall": 1.0}
    assert labels["VP"]["counts"] == {"gold": 1, "system": 0, "matched": 0}
    assert labels["XP"]["scores"] == {"f1": None, "precision": 0.0, "recall": None}


def test_kinds_of_errors_in_order_and_the_confusion_of_labels() -> None:
    gold = "(S (NP (A a) (B b)) (VP (C c) (D d) (E e)) (PP (F f)))\n"
    system = "(S (XP (A a) (B b)) (C c) (VP (D d) (E e)) (F f) (Q (QQ)))\n"
    _, outcome = outcome_of(gold, system)
    extra = outcome.extra()
    assert extra["errors"]["kinds"] == {"wrong_label": 1, "wrong_span": 1, "missing": 1, "spurious": 0}
    assert {(row["kind"], row["label"]) for row in extra["errors"]["frequent"]} == {
        ("wrong_label", "NP"),
        ("wrong_span", "VP"),
        ("missing", "PP"),
    }
    assert {"gold": "NP", "system": "XP", "count": 1} in extra["confusion"]


def test_the_preset_plain_deletes_nothing_and_drops_only_the_outer_bracket() -> None:
    gold = f"( (TOP-1 {TREE}))\n"
    assert brackets(gold, f"(TOP-1 {TREE})\n", preset="plain") == (5, 5, 5)
    assert brackets(gold, f"(TOP {TREE})\n", preset="plain") == (4, 5, 5)
    assert brackets(gold, f"(TOP-1 {TREE})\n", preset="plain", outer_bracket=True) == (5, 6, 5)
    assert brackets(gold, f"(TOP {TREE})\n", preset="evalb") == (5, 6, 5)
    assert brackets(gold, f"(TOP {TREE})\n") == (4, 5, 4)


def test_each_choice_beats_the_preset() -> None:
    assert brackets(f"(TOP {TREE})\n", f"{TREE}\n", delete_labels=[]) == (4, 5, 4)
    assert brackets(f"{TREE}\n", f"{TREE}\n", preterminals=True) == (8, 8, 8)
    assert brackets("(S (A-X (N a)) (N b))\n", "(S (A+Y (N a)) (N b))\n", cut_labels_at="-=+") == (2, 2, 2)
    assert brackets("(S (A (N a)) (N b))\n", "(S (B (N a)) (N b))\n", equal_labels=[["A", "B"]]) == (2, 2, 2)
    assert brackets("(S (A (N a)) (N b))\n", "(S (B (N a)) (N b))\n", labelled=False) == (2, 2, 2)
    assert brackets("(S (N a))\n", "(S (N b))\n", equal_words=[["b", "a"]]) == (1, 1, 1)
    assert brackets("(S (N a))\n", "(S (N b))\n", check_words=False) == (1, 1, 1)


@pytest.mark.parametrize(
    "prm", ["COLLINS.prm", "@x", "", "\n# x\n", "delete_label TOP", "# x\n\n/a b/COLLINS.prm\n", f"{TREE}\n"]
)
def test_a_text_without_a_keyword_is_no_parameter_file(prm: str) -> None:
    with pytest.raises(InputError, match="no known keyword") as caught:
        outcome_of(f"{TREE}\n", f"{TREE}\n", prm=prm)
    assert [(each.code, each.pointer) for each in caught.value.problems] == [
        ("prm-without-keyword", "/metrics/0/params/prm")
    ]


def test_a_parameter_file_is_read_as_evalb_reads_it_and_what_it_changes_not_is_told() -> None:
    prm = "\ufeffDEBUG 1\nMAX_ERROR 5\nFOO 1\nEQ_LABEL A\nDELETE_LABEL S\nCUTOFF_LEN 3 x\nLABELED\n"
    spec, outcome = outcome_of(f"{TREE}\n", f"{TREE}\n", prm=prm)
    told = [(key, problem.code, problem.pointer, problem.line) for key, problem in spec.warnings()]
    assert told == [
        ("parseval", "prm-unknown-key", "/metrics/0/params/prm", 3),
        ("parseval", "prm-not-a-pair", "/metrics/0/params/prm", 4),
        ("parseval", "prm-empty-value", "/metrics/0/params/prm", 7),
    ]
    assert not outcome.warnings
    values = spec.entries[0].metric.values
    assert values["ignored"] == {"DEBUG": 1, "MAX_ERROR": 5}
    assert (values["delete_labels"], values["cutoff"], values["labelled"]) == (["S"], 3, True)
    assert outcome.totals[:3].tolist() == [3, 3, 3]


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(InputError) as caught:
        outcome_of("(S)\n", "(S)\n", equal_labels=[["A"]], preset="no", foo=1)
    assert {problem.pointer for problem in caught.value.problems} == {
        "/metrics/0/params/foo",
        "/metrics/0/params/preset",
        "/metrics/0/params/equal_labels",
    }


def test_brackets_stand_under_the_sides_that_have_them() -> None:
    errors = [
        {"kind": kind, "label": label, "start": start, "end": end}
        for kind, label, start, end in (("missed", "NP", 1, 3), ("wrong", "VP", 0, 2))
    ]
    rows = brackets_beside({"gold_spans": [["S", 0, 3], ["NP", 1, 3], ["NP", 1, 3]]}, errors)
    assert [tuple(row.values()) for row in rows] == [
        ("S", 0, 3, "x", "x", ""),
        ("VP", 0, 2, "", "x", "wrong"),
        ("NP", 1, 3, "x", "", "missed"),
        ("NP", 1, 3, "x", "x", ""),
    ]


def test_a_score_is_undefined_by_the_sentences_that_are_scored_alone() -> None:
    spec, outcome = outcome_of("(S (N a))\n", "(S (N b))\n")
    reasons = score_values(spec.entries[0].metric.table, outcome.totals)[1]
    assert reasons["labelled_precision"] == "no scored sentence of the output has a bracket"
    assert reasons["labelled_f1"] == "no scored sentence has a bracket"


@pytest.mark.parametrize(
    ("gold", "output", "params", "told"),
    [
        ("(TOP {})", "(ROOT {})", {}, ["Every tree of the output has the outermost bracket 'ROOT'"]),
        ("( {})", "(TOP {})", {}, ["Every tree of gold has the outermost bracket without a label"]),
        ("(TOP {})", "(ROOT {})", {"delete_labels": ["TOP", "ROOT"]}, []),
        ("( {})", "(TOP {})", {"delete_labels": ["TOP"], "outer_bracket": False}, []),
        ("{}", "(S1 {})", {}, ["add 'S1' to `delete_labels`"]),
        ("(TOP {})", "(TOP {})", {}, []),
        ("{}", "{}", {}, []),
        ("(TOP-X {})", "(TOP=1 {})", {}, []),
        ("(TOP {})", "(ROOT {})", {"preset": "evalb", "labelled": False}, []),
        ("{}", "(S1-X {})", {}, ["add 'S1' to `delete_labels`"]),
    ],
)
def test_an_outermost_bracket_of_one_side_alone_is_warned_of(
    gold: str, output: str, params: dict[str, Any], told: list[str]
) -> None:
    texts = (f"{shape.format('(S (NP (N a)) (VP (V b)))')}\n" * 3 for shape in (gold, output))
    _, outcome = outcome_of(*texts, **params)
    assert [problem.code for problem in outcome.warnings] == ["root-label"] * len(told)
    for words, problem in zip(told, outcome.warnings, strict=True):
        assert words in (problem.gold_detail or "")
        own = gold.partition(" ")[0].strip("({}") or "without a label"
        assert own not in problem.detail, "gold's label is for those alone who may read gold"


@pytest.mark.parametrize(
    ("gold", "output", "deleted"),
    [
        ("S", "S-X", []), ("S", "X", []), ("X", "S", []), ("TOP", "S", ["TOP"]), ("S", "TOP", ["TOP"]),
        ("TOP", "ROOT", ["ROOT", "TOP"]), ("", "VROOT", ["", "VROOT"]), ("X (S", "S", ["X"]), ("S", "X (S", ["X"]),
    ],
)  # fmt: skip
def test_only_a_bracket_around_the_tree_is_advised_to_be_deleted(gold: str, output: str, deleted: list[str]) -> None:
    texts = [f"({side} (NP (N a)) (VP (V b))){')' * side.count('(')}\n".encode() * 5 for side in (gold, output)]
    spec = parse_spec({"format": "bracketed", "metrics": ["leaf_ancestor"]})
    (outcome,) = Evaluation(spec, texts[0]).score(texts[1])[0].values()
    told = "".join(problem.gold_detail or "" for problem in outcome.warnings)
    assert [label for label in ("", "ROOT", "S", "S-X", "TOP", "VROOT", "X") if f"name {label!r} in" in told] == deleted


@pytest.mark.parametrize(
    ("metric", "sides", "told"),
    [
        ("leaf_ancestor", ("(TOP {})", "(ROOT {})"), "name 'ROOT' in `labels` of the transform delete-labels"),
        ("leaf_ancestor", ("(TOP {})", "(TOP {})"), ""),
        ("leaf_ancestor", ("(TOP {})", "()"), ""),
        ({"name": "leaf_ancestor", "params": {"preset": "discodop"}}, ("(TOP {})", "(ROOT {})"), ""),
        ("tree_distance", ("(TOP {})", "(TOP-X {})"), ""),
        ("tree_distance", ("(TOP {})", "(VROOT {})"), "'VROOT', which no tree of gold has"),
        ("conformance", ("(TOP {})", "(ROOT {})"), ""),
        ("conformance", ("{}", "(ROOT {})"), "'ROOT', which no tree of gold has"),
        ({"name": "conformance", "params": {"categories": {}}}, ("(TOP {})", "(ROOT {})"), "'ROOT', which no tree"),
        ({"name": "parseval", "params": {"preset": "discodop"}}, ("{}", "(S1 {})"), "add 'S1' to `delete_labels`"),
    ],
)
def test_other_metrics_warn_of_it_where_it_changes_a_score(metric: Any, sides: tuple[str, str], told: str) -> None:
    texts = [f"{shape.format('(S (NP (N a)) (VP (V b)))')}\n" for shape in sides]
    spec = parse_spec({"format": "bracketed", "metrics": [metric]})
    (outcome,) = Evaluation(spec, texts[0].encode()).score(texts[1].encode())[0].values()
    assert ("root-label" in [problem.code for problem in outcome.warnings]) == bool(told)
    assert not told or any(told in problem.detail for problem in outcome.warnings)
