"""Several systems in one document: pooled runs, documents as units, errors with their place in the request."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treescore
from treescore.api import Output
from treescore.core.wording import DIFFERENT_SENTENCES
from treescore.errors import InputError, TreescoreWarning
from treescore.evaluation.report import (
    System,
    asked_scores,
    charged_figure,
    evaluate_systems,
    left_out,
    problems_of_runs,
    runs_by_system,
)
from treescore.evaluation.spec import parse_spec
from treescore.render.forms import render_comparisons

SENTENCE = "1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n2\thome\t_\t_\t_\t_\t1\tadvmod\t_\t_\n\n"
WRONG = SENTENCE.replace("1\tadvmod", "1\tobl")
SPEC = parse_spec({"format": "conllu", "metrics": ["attachment"]})


def systems(**texts):
    return [
        System(
            name, text.encode(), f"digest of {name}", SPEC.format, f"/systems/{index}/output", name.partition("-")[0]
        )
        for index, (name, text) in enumerate(texts.items())
    ]


def report(gold, outputs, **significance):
    return evaluate_systems(SPEC, gold.encode(), "digest of gold", outputs, significance=significance).document


def test_runs_of_one_system_are_pooled_in_comparisons_and_shown_apart_in_scores():
    outputs = systems(**{"a-1": SENTENCE * 4, "a-2": SENTENCE * 3 + WRONG, "b-1": WRONG * 4})
    document = report(SENTENCE * 4, outputs)
    assert [system["name"] for system in document["systems"]] == ["a-1", "a-2", "b-1"]
    comparison = document["comparisons"][0]
    assert [system["name"] for system in comparison["systems"]] == ["a", "b"]
    assert comparison["systems"][0]["score"] == pytest.approx(15 / 16)
    assert len(comparison["pairs"]) == 1


def test_a_run_of_a_name_that_no_output_has_belongs_to_the_system_of_that_name():
    assert runs_by_system(systems(**{"a-1": "", "a-2": "", "b": ""})) == {"a": [0, 1], "b": [2]}


@pytest.mark.parametrize(
    ("run_of", "expected"),
    [
        ({"A": None, "B": "A", "C": "A"}, []),
        ({"A": "X", "B": "X"}, []),
        ({"A": "A"}, [("run-of-itself", "/systems/0/run_of")]),
        ({"A": "B", "B": "C", "C": None}, [("run-of-a-run", "/systems/0/run_of")]),
        ({"A": "B", "B": "A"}, [("run-of-a-run", "/systems/0/run_of"), ("run-of-a-run", "/systems/1/run_of")]),
    ],
)
def test_runs_of_runs_and_of_themselves_are_problems(run_of, expected):
    outputs = [Output(name, "", None, system) for name, system in run_of.items()]
    assert [(problem.code, problem.pointer) for problem in problems_of_runs(outputs, "/systems")] == expected


def test_what_is_odd_in_parameters_is_told_once_and_where_it_stands():
    metrics = ["leaf_ancestor", {"name": "parseval", "params": {"prm": "FOO 1\nLABELED 1\n"}}]
    spec = parse_spec({"format": "bracketed", "metrics": metrics})
    tree = b"(S (N a))\n"
    outputs = [System(name, tree, name, spec.format, f"/systems/{name}/output") for name in "01"]
    warnings = evaluate_systems(spec, tree, "gold", outputs).warnings
    told = [{name: value for name, value in warning.items() if name != "detail"} for warning in warnings]
    place = {"pointer": "/metrics/1/params/prm", "line": 1}
    assert told == [{"metric": "parseval", "code": "prm-unknown-key", **place}]


def test_a_signature_states_what_a_parameter_file_says_beside_the_parameters():
    metric = {"name": "parseval", "params": {"prm": "DEBUG 0\nMAX_ERROR 3\n"}}
    spec = parse_spec({"format": "bracketed", "metrics": [metric]})
    tree = b"(S (NP (N dogs)) (VP (V bark)))\n"
    output = System("a", tree, "digest of a", spec.format, "/systems/0/output", "a")
    (system,) = evaluate_systems(spec, tree, "digest of gold", [output], significance={}).document["systems"]
    assert system["metrics"]["parseval"]["signature"]["params"]["ignored"] == {"DEBUG": 0, "MAX_ERROR": 3}


def test_documents_of_gold_can_be_the_units():
    gold = "".join(f"# newdoc id = d{number}\n{SENTENCE}{SENTENCE}" for number in range(3))
    comparison = report(gold, systems(a=gold, b=WRONG * 6), unit="block")["comparisons"][0]
    assert comparison["unit_count"] == 3


def test_a_unit_that_the_text_does_not_have_is_an_error_with_its_place():
    with pytest.raises(InputError) as caught:
        report(SENTENCE, systems(a=SENTENCE, b=WRONG), unit="block")
    assert caught.value.problems[0].pointer == "/significance/unit"


def test_scores_are_asked_for_by_address_and_unknown_ones_are_refused():
    assert asked_scores(SPEC, None) == ["attachment.las"]
    assert asked_scores(SPEC, ["attachment", "attachment.uas", "attachment.las"]) == [
        "attachment.las",
        "attachment.uas",
    ]
    with pytest.raises(InputError) as caught:
        asked_scores(SPEC, ["attachment.las", "attachment.f1"])
    assert caught.value.problems[0].pointer == "/significance/scores/1"
    with pytest.raises(InputError, match="one or more"):
        asked_scores(SPEC, [])


@pytest.mark.parametrize("asked", ["attachment.las", [1], 5, {"attachment.las": 1}])
def test_what_is_no_list_of_scores_is_told_so(asked):
    with pytest.raises(InputError) as caught:
        asked_scores(SPEC, asked)
    assert caught.value.problems[0].code == "wrong-type"


LONG, SHORT = "(TOP (S (NP (D a) (N b)) (VP (V c) (X d))))", "(TOP (S (NP (D a)) (VP (V b))))"
WRONG_LONG, WRONG_SHORT = "(TOP (S (D a) (VP (N b) (V c) (X d))))", "(TOP (S (X (D a)) (VP (V b))))"
RUBBISH = "(TOP (S (N rubbish)))"


@pytest.mark.parametrize(
    ("metric", "failed"),
    [("parseval", RUBBISH), ("parseval", "(())"), ("leaf_ancestor", RUBBISH), ("tree_distance", RUBBISH)],
)
@pytest.mark.filterwarnings("ignore:.*the scores leave them out")
def test_outputs_that_fail_where_they_are_bad_win_no_claim(metric: str, failed: str) -> None:
    gold = [LONG, SHORT] * 20
    old = [WRONG_LONG, SHORT] * 10 + [LONG, WRONG_SHORT] * 10
    new = [failed, SHORT] * 10 + [LONG, WRONG_SHORT] * 10
    texts = {name: "\n".join(lines) + "\n" for name, lines in (("old", old), ("new", new))}
    with pytest.warns(TreescoreWarning, match="scored on different sentences"):
        [document] = treescore.compare(
            "\n".join(gold) + "\n", texts, metric, format="bracketed", margin=0.01, interval="none"
        ).comparisons
    [pair] = document["pairs"]
    assert pair["better"] == "b"  # as the metric counts: what could not be scored is left out
    assert not pair["noninferiority"]["new"]["established"]
    assert pair["noninferiority"]["old"]["established"]
    [system] = [each for each in document["systems"] if each["name"] == "new"]
    assert system["sentences"]["error"] + system["sentences"]["skip"] == 10
    charged = treescore.score(
        "\n".join(gold) + "\n", texts, {"name": metric, "params": {"errors": "zero"}}, format="bracketed"
    )
    assert (
        f"is new {100 * charged['new'][metric]:.2f}, old {100 * charged['old'][metric]:.2f}" in document["warnings"][0]
    )
    printed = render_comparisons([document], "text").content.decode()
    assert "new: of 40 sentences 10 " in printed
    same = treescore.compare("\n".join(gold) + "\n", {"a": texts["new"], "b": texts["new"]}, metric, format="bracketed")
    assert not any(DIFFERENT_SENTENCES in line for line in same.warnings)


def test_an_undefined_figure_is_a_dash() -> None:
    figures = [charged_figure(value, percent=True) for value in (None, math.nan, 0.5)]
    assert figures == ["–", "–", "50.00"]


def test_what_all_runs_lack_is_not_left_out_and_what_some_lack_is_the_sum() -> None:
    whole, one, other = (np.array(each, np.bool_) for each in ([1, 1, 1], [0, 1, 1], [1, 0, 0]))
    assert left_out({"a": [one, one], "b": [one]}) == left_out({}) == {}
    assert left_out({"a": [one, other], "b": [whole]}) == {"a": 3, "b": 0}


def test_a_wide_margin_of_a_share_is_warned_of() -> None:
    texts = {"a": f"{LONG}\n", "b": f"{WRONG_LONG}\n"}
    with pytest.warns(TreescoreWarning, match="50 points of percent"):
        treescore.compare(f"{LONG}\n", texts, "parseval", format="bracketed", margin=0.5)
    treescore.compare(f"{LONG}\n", texts, "parseval", format="bracketed", margin=0.1)
