"""Two teams on the benchmarks of a series: one family of tests, and nothing that the boards do not show."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from service.caller import Caller
from service.contract.comparisons import SeriesQuery
from service.errors import NotFound, Unprocessable
from service.usecases import comparisons
from service.usecases.benchmarks.teams import erase_team
from service.usecases.comparisons import compare_in_series
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import ANYONE, BENCHMARK, LONG, Task, once, spoilt
from treescore.significance.families import adjusted

SERIES = "demo-2026"
WRONG = {"first": {"lyon": 1, "oslo": 8}, "second": {"lyon": 5, "oslo": 2}, "third": {"lyon": 0, "oslo": 9}}
"""Wrong words of each team on each benchmark."""


def make(task: Task, slug: str, wrong: dict[str, int], **changes: Any) -> dict[str, Caller]:
    """A benchmark of the series with a submission of each team."""
    task.make({**BENCHMARK, "id": slug, "parts": {"en": {"gold": LONG}}, **changes})
    callers = {name: task.team(name, slug) for name in wrong}
    for name, caller in callers.items():
        task.submit(caller, spoilt(wrong[name]), slug)
    task.settle()
    return callers


@once
def three(task: Task) -> Task:
    for slug, wrong in WRONG.items():
        make(task, slug, wrong)
    return task


def found(task: Task, caller: Caller = ANYONE, a: str = "lyon", b: str = "oslo", name: str = SERIES) -> dict[str, Any]:
    return dict(orjson.loads(compare_in_series(task.context, caller, name, SeriesQuery(a=a, b=b)).body))


def reasons(document: dict[str, Any]) -> dict[str, str]:
    return {each["benchmark"]: each["reason"] for each in document["untested"]}


def test_the_tests_of_the_boards_are_one_family(three: Task) -> None:
    document = found(three, ORGANISER)
    (pair,) = document["pairs"]
    assert (pair["a"], pair["b"], document["family"]["size"], document["untested"]) == ("lyon", "oslo", 3, [])
    assert [test["benchmark"] for test in pair["tests"]] == ["first", "second", "third"]
    assert [test["better"] for test in pair["tests"]] == ["a", "b", "a"]
    for test in pair["tests"]:
        (stored,) = three.comparison(test["comparison"])["pairs"]
        assert (test["p"], abs(test["difference"])) == (stored["p"], abs(stored["difference"]))
    p = [test["p"] for test in pair["tests"]]
    assert [test["p_adjusted"] for test in pair["tests"]] == adjusted(p, "holm").tolist()
    assert pair["a_better"]["k_bonferroni"] == 2
    assert pair["a_better"]["p"] == [p[0] / 2, 1.0, p[2] / 2]
    # in the other order they are the same pair the other way round
    (other,) = found(three, ORGANISER, a="oslo", b="lyon")["pairs"]
    assert pair["a_better"] == other["b_better"]
    assert [test["difference"] for test in pair["tests"]] == [-test["difference"] for test in other["tests"]]


def test_below_gold_its_figures_are_those_that_the_board_shows(three: Task) -> None:
    document = found(three)
    for test in document["pairs"][0]["tests"]:
        (shown,) = three.comparison(test["comparison"], ANYONE)["pairs"]
        assert (test["p"], abs(test["difference"])) == (shown["p"], abs(shown["difference"]))
    assert "p_kind" not in str(document)


def test_a_benchmark_without_both_teams_is_listed_with_the_reason(three: Task) -> None:
    make(three, "fourth", {"lyon": 1})
    document = found(three)
    assert document["family"]["size"] == 3
    assert reasons(document) == {"fourth": "The leaderboard has no row of 'oslo' with a score."}
    nobody = found(three, b="nobody")
    assert (nobody["family"]["size"], nobody["pairs"][0]["tests"], len(nobody["untested"])) == (0, [], 4)
    assert nobody["pairs"][0]["a_better"]["k_bonferroni"] == 0


def test_below_scores_a_benchmark_shows_no_test(three: Task) -> None:
    for level in ("none", "status", "rounded"):
        three.patch("second", feedback=level)
        assert reasons(found(three)) == {"second": "The feedback level of this benchmark shows no comparisons."}
        assert reasons(found(three, ORGANISER)) == {}


def test_an_anonymous_board_does_not_tell_whether_it_has_a_team(three: Task) -> None:
    three.patch("first", leaderboard={"anonymous": True})
    hidden = {"first": "The leaderboard of this benchmark hides the names of teams."}
    assert reasons(found(three)) == hidden
    assert reasons(found(three, b="nobody"))["first"] == hidden["first"]
    assert len(found(three)["pairs"][0]["tests"]) == 2
    assert reasons(found(three, ORGANISER)) == {}


def test_a_private_benchmark_is_not_even_listed(task: Task) -> None:
    make(task, "open", {"lyon": 1, "oslo": 8})
    callers = make(task, "closed", {"lyon": 1, "oslo": 8}, leaderboard={"public": False})
    assert "closed" not in str(found(task))
    assert found(task, callers["lyon"])["family"]["size"] == 2
    task.patch("open", leaderboard={"public": False})
    for name in (SERIES, "unknown", "\x00"):
        with pytest.raises(NotFound, match="Unknown series"):
            found(task, name=name)


def test_an_erased_team_has_no_row(three: Task) -> None:
    erase_team(three.context, ORGANISER, "first", "oslo")
    three.settle()
    assert set(reasons(found(three))) == {"first"}


def test_a_row_that_lacks_a_part_is_not_compared(task: Task) -> None:
    parts = {"en": {"gold": LONG}, "de": {"gold": LONG}}
    make(task, "whole", {}, parts=parts)
    callers = {name: task.team(name, "whole") for name in ("lyon", "oslo")}
    task.submit(callers["lyon"], {"en": spoilt(1), "de": spoilt(1)}, "whole")
    task.submit(callers["oslo"], {"en": spoilt(2)}, "whole")
    task.settle()
    document = found(task)
    assert len(document["untested"]) + document["family"]["size"] == 1


def test_a_board_that_is_not_compared_yet_says_so(three: Task) -> None:
    three.patch("third", leaderboard={"margin": 0.1})
    assert reasons(found(three)) == {"third": "The leaderboard is not compared yet."}
    three.settle()
    assert reasons(found(three)) == {}


def test_a_benchmark_whose_gold_is_not_checked_has_no_board(three: Task) -> None:
    three.make({**BENCHMARK, "id": "broken", "parts": {"en": {"gold": "1\tbroken"}}})
    assert "no active revision" in reasons(found(three))["broken"]


def test_so_many_benchmarks_are_compared_and_a_team_not_with_itself(three: Task, monkeypatch) -> None:
    monkeypatch.setattr(comparisons, "MOST_BENCHMARKS", 2)
    assert reasons(found(three)) == {"third": "It is not among the first 2 benchmarks of the series."}
    with pytest.raises(Unprocessable) as refused:
        found(three, b="lyon")
    assert [(each.code, each.pointer) for each in refused.value.problems] == [("repeated-team", "/b")]
