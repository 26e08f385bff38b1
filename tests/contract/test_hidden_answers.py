"""Attacks by what an answer lets one infer: which comparisons exist, how many sentences fit, which output is ahead."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from service.usecases.boards.ranking import BOARD_SETTINGS, comparison_id
from tests.contract.checking import CheckedClient
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from tests.fixtures.tasks import LONG, spoilt


def guessed(task: SharedTask, score: str, row: str, other: str) -> str:
    """The id of the comparison that the board would show of two rows, the first picked from two: the question's."""
    asked = {"score": score, "part": None, "submissions": sorted([row, other]), "settings": asdict(BOARD_SETTINGS)}
    return comparison_id({"benchmark": task.slug, "revision": 1, **asked, "considered": {row: 2}})


def answers(client: CheckedClient, name: str) -> list[tuple[int, bytes]]:
    """All that a caller gets to know of a comparison by its id, without the id."""
    at = f"/v1/comparisons/{name}"
    same = {"Request-Id": "walk"}
    calls = [client.get(at, headers=same), client.delete(at, headers=same)]
    calls.append(client.get(at, headers={**same, "Accept": "text/csv"}))
    return [(each.status_code, each.data.replace(name.encode(), b"")) for each in calls]


def sent(task: SharedTask, client: CheckedClient, text: str) -> str:
    return task.submit(client, text).rpartition("/")[2]


@pytest.mark.parametrize("level", ["none", "status", "rounded"])
def test_a_guessed_id_does_not_tell_at_a_level_without_comparisons_which_attempt_is_the_best(stage: Stage, level: str):
    task = SharedTask(stage, parts={"en": {"gold": LONG}}, feedback=level)
    eve, friend = task.team("eve"), task.team("friend")
    attempts, other = [sent(task, eve, spoilt(9)), sent(task, eve, spoilt(4))], sent(task, friend, spoilt(6))
    main = task.organiser.get(f"{task.address}/leaderboard").json["score"]
    told = [answers(eve, guessed(task, main, each, other)) for each in attempts]
    assert told[0] == told[1] == answers(eve, "cmp_" + "0" * 32)


def test_a_guessed_id_does_not_tell_which_attempt_is_the_best_by_an_unlisted_score(stage: Stage):
    scoring = {"metrics": ["attachment", "ud"], "main_score": "attachment.las"}
    only = {"scores": ["attachment.las"]}
    task = SharedTask(stage, parts={"en": {"gold": LONG}}, feedback="scores", leaderboard=only, **scoring)
    eve, friend = task.team("eve"), task.team("friend")
    attempts = [sent(task, eve, spoilt(9)), sent(task, eve, spoilt(4).replace("NOUN", "VERB"))]
    other = sent(task, friend, spoilt(6))
    asked = {"submissions": "leaderboard", "score": "ud.upos_f1"}
    compared = task.organiser.post(f"{task.address}/comparisons", json=asked).json
    assert set(compared["submissions"]) == {attempts[0], other}
    assert compared["id"] == guessed(task, "ud.upos_f1", attempts[0], other)
    told = [answers(eve, guessed(task, "ud.upos_f1", each, other)) for each in attempts]
    assert told[0] == told[1] == answers(eve, "cmp_" + "0" * 32)
