"""`treescore compare --not-worse-than NAME --margin X`: usage, claims, and the exit status."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.treescore.cli.test_options import ASKED, GOLD, GRAPH, RULES, run
from treescore.cli.scoring import claims, margin_settings

TRANSITION = str(Path(RULES).with_name("transition.conllu"))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--margin", "0.1"), "--margin needs --not-worse-than NAME,"),
        (("--not-worse-than", "rules"), "--not-worse-than needs --margin X"),
        (("--not-worse-than", "rules", "--margin", "0"), "'0' is not a margin. Give a number above 0"),
        (("--not-worse-than", "rules", "--margin", "nan"), "'nan' is not a margin. Give a number above 0"),
        (
            ("--not-worse-than", "rules", "--margin", "1"),
            "The margin 1 is as large as the range of attachment.las, 0 to 1: no output could be worse by more.",
        ),
        (("--not-worse-than", "rules", "--margin", "much"), "'much' is not a margin. Give a number above 0"),
        (
            ("--not-worse-than", "nix", "--margin", "0.1"),
            "--not-worse-than nix: unknown output. Outputs: rules, graph.",
        ),
        (
            ("--not-worse-than", "rules", "--margin", "0.1", "--significance", '{"margin": 0.2}'),
            "The margin is given twice.",
        ),
    ],
)
def test_what_is_no_question_is_a_usage_error(options: tuple[str, ...], expected: str) -> None:
    done = run("compare", *ASKED, *options, GOLD, RULES, GRAPH, status=2)
    assert expected in " ".join(done.stderr.split())
    assert not done.stdout


def test_the_margin_is_one_of_the_settings() -> None:
    assert margin_settings(None, None, ["a"], {"seed": 1}) == {"seed": 1}
    assert margin_settings("a", 0.1, ["a"], {"seed": 1}) == {"seed": 1, "margin": 0.1}
    assert margin_settings("a", 0.1, ["a"], {"margin": 0.1}) == {"margin": 0.1}


def pair(first: str, second: str, **established: bool) -> dict[str, Any]:
    tested = {name: {"p": 0.01, "p_adjusted": 0.03, "established": value} for name, value in established.items()}
    return {"a": first, "b": second, "noninferiority": {"margin": 0.1, **tested}}


def test_all_other_outputs_are_claimed_on_every_score() -> None:
    pairs = [pair("a", "b", a=True, b=False), pair("a", "c", a=False, c=True), pair("b", "c", b=True, c=True)]
    found = list(claims([{"score": "ud.las", "pairs": pairs}, {"score": "ud.uas", "pairs": pairs}], "a", 0.1))
    words = "not worse than a by more than 0.1: p .030"
    assert found == [
        (f"ud.las: b {words}, not shown", False),
        (f"ud.las: c {words}, shown", True),
        (f"ud.uas: b {words}, not shown", False),
        (f"ud.uas: c {words}, shown", True),
    ]


def test_an_untested_pair_is_not_shown() -> None:
    untested = {"a": "a", "b": "b", "reason": "undefined"}
    (found,) = claims([{"score": "ud.las", "pairs": [untested]}], "a", 0.1)
    assert found == ("ud.las: b not worse than a by more than 0.1: not tested, not shown", False)


def test_several_scores_are_one_family_in_the_printed_document() -> None:
    both = ("--significance", '{"scores": ["attachment.las", "attachment.uas"], "resamples": 50}')
    document = json.loads(run("compare", *ASKED, *both, "--as", "json", GOLD, RULES, GRAPH).stdout)["results"]
    assert [each["score"] for each in document["comparisons"]] == ["attachment.las", "attachment.uas"]
    assert document["across"]["family"]["size"] == 2
    assert "2 tests as one family, holm, alpha 0.05:" in run("compare", *ASKED, *both, GOLD, RULES, GRAPH).stdout
    (one,) = json.loads(run("compare", *ASKED, "--as", "json", GOLD, RULES, GRAPH).stdout)["results"]["comparisons"]
    assert one["score"] == "attachment.las"


def test_no_output_has_the_name_of_the_margin() -> None:
    arguments = ("--not-worse-than", "margin", "--margin", "0.1", GOLD, f"margin={RULES}", GRAPH)
    done = run("compare", *ASKED, *arguments, status=2)
    assert "--margin: With a margin no system can have the name" in done.stderr


def test_an_output_that_is_significantly_worse_is_status_1_and_said() -> None:
    assert not run("compare", *ASKED, "--fail-if-worse-than", "rules", GOLD, RULES, GRAPH).stderr
    worse = run("compare", *ASKED, "--fail-if-worse-than", "graph", GOLD, RULES, GRAPH, status=1).stderr
    assert re.fullmatch(r"attachment.las: rules is significantly worse than graph: p = 0.00\d+\n", worse)
    refused = run("compare", *ASKED, "--fail-if-worse-than", "grap", GOLD, RULES, GRAPH, status=2).stderr
    assert "--fail-if-worse-than grap: grap is not an output. Did you mean 'graph'?" in " ".join(refused.split())


def test_a_baseline_and_a_unit_are_named_as_people_call_them() -> None:
    asked = ("--baseline", "graph", "--test-unit", "document", "--scores", "LAS", "--json")
    document = json.loads(run("compare", *ASKED, *asked, GOLD, RULES, GRAPH, TRANSITION).stdout)
    (found,) = document["results"]["comparisons"]
    assert [{pair["a"], pair["b"]} for pair in found["pairs"]] == [{"rules", "graph"}, {"graph", "transition"}]
    assert (found["units"], found["score"], found["signature"]["baseline"]) == ("block", "attachment.las", "graph")
    printed = run("compare", *ASKED, *asked[:-1], GOLD, RULES, GRAPH, TRANSITION).stdout
    assert "Differences to graph; * significant.\n" in printed
    refused = run("compare", *ASKED, "--test-unit", "token", GOLD, RULES, GRAPH, status=2).stderr
    assert refused.startswith('--test-unit: The unit "token" needs --test mcnemar')
