"""Numbers for organisers: submissions by day and state, failures by code, waiting and scoring times, the queue."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest

from service.contract.benchmarks import AnalyticsQuery
from service.contract.submissions import SubmissionRequest
from service.errors import Forbidden, NotFound
from service.store import submissions
from service.usecases.benchmarks.benchmarks import analytics_of
from service.usecases.submissions.submissions import cancel_submission, delete_submission, retry_submission
from service.usecases.submissions.validation import validate
from tests.fixtures.contexts import ORGANISER, give_up
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import OTHER_WORDS, RIGHT, SLUG, WRONG, Task, once

TODAY = "2026-11-02"


def shown(task: Task, days: int = 30, **later: float) -> Any:
    now = task.context.now
    context = replace(task.context, now=lambda: now() + timedelta(**later))
    return orjson.loads(analytics_of(context, ORGANISER, SLUG, AnalyticsQuery(days=days)).body)


def counted(day: Any) -> dict[str, int]:
    return {name: number for name, number in day.items() if name != "day" and number}


@once
def busy(task: Task) -> Task:
    """Two scored submissions, one deleted later, one that does not fit, one retried, one cancelled, one waiting."""
    task.make()
    context, lyon = task.context, task.team("lyon")
    task.scored(lyon, RIGHT)
    deleted = task.scored(lyon, WRONG)
    delete_submission(context, ORGANISER, deleted)
    task.scored(lyon, OTHER_WORDS)
    broken = task.submit(lyon, WRONG + "\n")
    give_up(context, broken)
    retry_submission(context, lyon, broken)
    task.work()
    cancel_submission(context, lyon, task.submit(lyon, RIGHT + "\n"))
    task.submit(task.team("oslo"), RIGHT)
    return task


def test_submissions_are_counted_by_day_and_state(busy):
    found = shown(busy, days=7)
    assert (found["first_day"], found["last_day"], found["complete"]) == ("2026-10-27", TODAY, True)
    assert [day["day"] for day in found["days"]] == [*(f"2026-10-{day}" for day in range(27, 32)), "2026-11-01", TODAY]
    assert counted(found["days"][-1]) == {"scored": 3, "failed": 1, "cancelled": 1, "queued": 1}
    assert not any(counted(day) for day in found["days"][:-1])
    assert found["attempts"] == {"submissions": 6, "further": 1, "validations": 0}


def test_failures_are_counted_by_code(busy):
    found = {(each["kind"], each["code"]): each["attempts"] for each in shown(busy)["failures"]}
    assert found == {("input", "word-mismatch"): 1, ("service", "worker-died"): 1}


def test_times_and_the_queue(busy):
    found = shown(busy)
    assert found["scoring_seconds"]["number"] == 3
    assert found["waiting_seconds"]["number"] == 4
    for spread in (found["scoring_seconds"], found["waiting_seconds"]):
        assert 0 <= spread["median"] <= spread["p90"] < 1
    assert (found["queue"]["queued"], found["queue"]["running"]) == (1, 0)
    assert found["queue"]["oldest"].startswith(TODAY)
    busy.settle()
    assert shown(busy)["queue"] == {"queued": 0, "running": 0, "oldest": None}


def test_days_that_are_past_are_left_out(busy):
    found = shown(busy, 3, hours=120)
    assert found["attempts"]["submissions"] == 0
    assert found["waiting_seconds"] == {"number": 0, "median": None, "p90": None}


def test_validations_of_teams_count(task, context):
    task.make()
    validate(context, task.team(), SLUG, loaded(SubmissionRequest, {"outputs": {"en": RIGHT}}))
    found = shown(task)
    assert found["attempts"]["validations"] == counted(found["days"][-1])["validations"] == 1


def test_it_says_where_it_does_not_count_all(busy, monkeypatch):
    monkeypatch.setattr(submissions, "MOST_ATTEMPTS", 2)
    found = shown(busy)
    assert (found["complete"], found["attempts"]["submissions"]) == (False, 2)


def test_only_organisers_see_it(busy, context):
    with pytest.raises(Forbidden):
        analytics_of(context, busy.team("metz"), SLUG, AnalyticsQuery())
    with pytest.raises(NotFound):
        analytics_of(context, ORGANISER, "none", AnalyticsQuery())
