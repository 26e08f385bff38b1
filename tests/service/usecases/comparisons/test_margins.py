"""The margin of a benchmark: part of the board's question, fixed for teams, shown by policy and under names."""

from __future__ import annotations

from typing import Any

import pytest
from marshmallow import ValidationError

from service.caller import Caller
from service.contract.benchmarks import BenchmarkChanges
from service.contract.derive import schema_of
from service.errors import Forbidden
from service.policy import gate
from service.policy.figures import rounded_p
from service.policy.gate import Level
from service.usecases.comparison_views import view_comparison
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import LONG, Task, once, spoilt

MARGIN = 0.25


@once
def three(task: Task) -> tuple[Caller, list[str]]:
    """Three scored submissions of one team, of which the second is its row."""
    task.make(parts={"en": {"gold": LONG}})
    lyon = task.team()
    found = [task.submit(lyon, spoilt(number)) for number in (6, 0, 3)]
    task.submit(task.team("oslo"), spoilt(2))
    task.settle()
    return lyon, found


def asked(task: Task, caller: Caller, **question: Any) -> dict[str, Any]:
    name = task.ask(caller, **question)
    task.settle()
    return dict(task.comparison(name, caller))


@pytest.mark.parametrize("margin", [0, -0.1, True, "0.1", 1e9, 10**400])
def test_a_margin_is_a_number_above_0(margin: object) -> None:
    with pytest.raises(ValidationError) as refused:
        schema_of(BenchmarkChanges).load({"leaderboard": {"margin": margin}})
    assert "above 0" in str(refused.value.messages)


def test_a_benchmark_has_no_margin_until_one_is_set(task: Task, three) -> None:
    assert task.benchmark()["leaderboard"]["margin"] is None
    task.patch(leaderboard={"margin": MARGIN})
    assert task.benchmark()["leaderboard"]["margin"] == MARGIN
    assert task.leaderboard()["pick"] == "best"
    task.patch(leaderboard={"margin": None})
    assert task.benchmark()["leaderboard"]["margin"] is None


def test_with_another_margin_the_board_asks_another_question(task: Task, three) -> None:
    before = task.leaderboard()["significance"]
    assert not before["pending"]
    task.patch(leaderboard={"margin": MARGIN})
    assert task.leaderboard()["significance"]["pending"]
    task.settle()
    after = task.leaderboard()["significance"]
    assert (after["pending"], after["comparison"] == before["comparison"]) == (False, False)
    document = task.comparison(after["comparison"])
    assert document["signature"]["margin"] == MARGIN


def test_teams_do_not_choose_a_margin_and_organisers_do(task: Task, three) -> None:
    lyon, (worse, row, _) = three
    with pytest.raises(Forbidden, match=r"Only organisers choose `margin`\. .* has `margin` null\."):
        asked(task, lyon, submissions=[worse, row], margin=0.1)
    task.patch(leaderboard={"margin": MARGIN})
    with pytest.raises(Forbidden, match=r"has `margin` 0\.25"):
        asked(task, lyon, submissions=[worse, row], margin=0.1)
    own = asked(task, lyon, submissions=[worse, row], margin=MARGIN)
    assert own["id"] == asked(task, lyon, submissions=[worse, row])["id"]
    assert own["settings"]["margin"] == MARGIN
    assert asked(task, ORGANISER, submissions=[worse, row], margin=0.1)["settings"]["margin"] == 0.1


def test_with_a_margin_a_team_compares_own_submissions_that_are_not_picked(task: Task, three) -> None:
    lyon, (worse, _, middle) = three
    with pytest.raises(Forbidden, match="one of which is its row"):
        asked(task, lyon, submissions=[worse, middle])
    task.patch(leaderboard={"margin": MARGIN})
    found = asked(task, lyon, submissions=[worse, middle])
    assert found["state"] == "succeeded"
    others = next(row["submission"] for row in task.leaderboard()["rows"] if row["team"] == "oslo")
    with pytest.raises(Forbidden, match="one of which is its row"):
        asked(task, lyon, submissions=[worse, others])


def test_every_pair_of_the_board_is_tested_against_the_margin_and_rounded_for_teams(task: Task, three) -> None:
    lyon, _ = three
    task.patch(leaderboard={"margin": MARGIN})
    task.settle()
    name = task.leaderboard()["significance"]["comparison"]
    exact, seen = (task.comparison(name, caller)["pairs"][0] for caller in (ORGANISER, lyon))
    assert exact["noninferiority"].keys() == {"margin", exact["a"], exact["b"]}
    for side in (exact["a"], exact["b"]):
        whole, rounded = exact["noninferiority"][side], seen["noninferiority"][side]
        assert rounded == {
            "established": whole["established"],
            **{each: rounded_p(whole[each]) for each in ("p", "p_adjusted")},
        }
    words = view_comparison(task.context, lyon, name, "text").body.decode()
    [note] = [note for note in words.splitlines() if "Not worse by more than 25 points: shown for" in note]
    assert all(f"{team} Parsing Group: biaffine-7 (p" in note for team in ("lyon", "oslo"))


def test_below_gold_p_are_rounded_and_nothing_else_is_shown() -> None:
    side = {"p": 0.012345, "p_adjusted": 1e-9, "established": True, "units": 30}
    pair = {"a": "x", "b": "y", "noninferiority": {"margin": 0.0123456, "x": side, "y": {**side, "p": None}, "z": side}}
    pair |= {"difference": None, "detectable": None}
    (shown,) = gate.comparison_view(Level.SCORES, {"systems": [], "pairs": [pair]})["pairs"]
    assert shown["noninferiority"] == {
        "margin": 0.0123456,
        "x": {"established": True, "p": 0.012, "p_adjusted": 1e-4},
        "y": {"established": True, "p": None, "p_adjusted": 1e-4},
    }
    untested = {"systems": [], "pairs": [{**pair, "noninferiority": None}]}
    (without,) = gate.comparison_view(Level.SCORES, untested)["pairs"]
    assert without["noninferiority"] is None


def test_notes_name_who_is_not_worse_as_tables_name_the_pair(task: Task, three) -> None:
    lyon, (worse, row, _) = three
    task.patch(leaderboard={"margin": MARGIN})
    found = asked(task, lyon, submissions=[worse, row])
    words = view_comparison(task.context, lyon, found["id"], "text").body.decode()
    assert all(f"lyon Parsing Group: biaffine-7 ({each}) (p" in words for each in (row, worse))


def test_a_baseline_of_the_name_margin_is_told_apart(task: Task, three) -> None:
    _, (_, row, _) = three
    baseline = task.submit(ORGANISER, spoilt(4), name="margin")
    task.patch(leaderboard={"margin": MARGIN})
    task.settle()
    found = asked(task, ORGANISER, submissions=[baseline, row])
    words = view_comparison(task.context, ORGANISER, found["id"], "text").body.decode()
    assert f"margin ({baseline}) (p" in words
