"""Quotas are exact, in days of UTC, and count neither what was cancelled before its start nor our own faults."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from service.caller import Caller
from service.contract.submissions import SubmissionRequest
from service.errors import Conflict, TooManyRequests
from service.store import runs
from service.usecases.access import IdempotencyKey
from service.usecases.submissions import views
from service.usecases.submissions.submissions import cancel_submission, delete_submission, retry_submission, submit
from service.usecases.submissions.validation import validate
from tests.fixtures.contexts import ORGANISER, at, give_up, work_of
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import ONE_SENTENCE, RIGHT, SLUG, UNLIMITED, Task

REQUEST = loaded(SubmissionRequest, {"outputs": {"en": RIGHT}})
TWICE = IdempotencyKey("again", "digest")


def claimed(task: Task, run_id: str) -> str:
    with task.context.store.write() as db:
        assert runs.claim(db, run_id, task.context.now()) is not None
    return run_id


def cancelled(task: Task, team: Caller) -> str:
    submission = task.submit(team)
    cancel_submission(task.context, team, submission)
    return submission


STEPS: dict[str, Callable[[Task, Caller], Any]] = {
    "sends": lambda task, team: task.submit(team),
    "sends again": lambda task, team: submit(task.context, team, SLUG, REQUEST, TWICE),
    "scores": lambda task, team: task.scored(team),
    "fails": lambda task, team: task.scored(team, ONE_SENTENCE),
    "cancels": cancelled,
    "breaks": lambda task, team: give_up(task.context, task.submit(team)),
    "deletes what waits": lambda task, team: delete_submission(task.context, team, task.submit(team)),
    "deletes what was scored": lambda task, team: delete_submission(task.context, team, task.scored(team)),
    "deletes what was cancelled": lambda task, team: delete_submission(task.context, team, cancelled(task, team)),
    "cancels what began": lambda task, team: cancel_submission(task.context, team, claimed(task, task.submit(team))),
    "deletes what began": lambda task, team: delete_submission(task.context, team, claimed(task, task.submit(team))),
    "validates": lambda task, team: validate(task.context, team, SLUG, REQUEST),
    "another sends": lambda task, _: task.submit(task.team("oslo")),
    "an organiser sends": lambda task, _: task.submit(ORGANISER),
}
SCORED, TOTAL, ATTEMPTS = "scored_per_day", "scored_total", "attempts_per_day"


@pytest.mark.parametrize(
    ("quota", "steps", "refused"),
    [
        ({SCORED: 1, ATTEMPTS: 3}, ["fails", "fails", "scores"], SCORED),
        ({ATTEMPTS: 2}, ["fails", "fails"], ATTEMPTS),
        ({TOTAL: 1}, ["sends"], TOTAL),
        ({SCORED: 1, ATTEMPTS: 1}, ["cancels", "breaks"], None),
        (None, ["sends"] * 5, SCORED),
        ({SCORED: 1}, ["cancels what began"], SCORED),
        ({SCORED: 1}, ["deletes what began"], SCORED),
        ({SCORED: 1}, ["deletes what waits"], SCORED),
        ({SCORED: 1}, ["deletes what was cancelled"], None),
        ({TOTAL: 1}, ["deletes what was scored"], TOTAL),
        ({SCORED: 2}, ["sends again"] * 4, None),
        ({SCORED: 0}, [], SCORED),
        ({ATTEMPTS: 1}, ["another sends", *["an organiser sends"] * 3], None),
        ({ATTEMPTS: 1}, ["validates"], ATTEMPTS),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, list) else None,
)
def test_what_counts(task, quota, steps, refused):
    task.make(quota=quota)
    lyon = task.team()
    for step in steps:
        STEPS[step](task, lyon)
    if refused is None:
        assert task.submit(lyon)
        return
    with pytest.raises(TooManyRequests) as error:
        task.submit(lyon)
    assert error.value.detail.split()[2] == refused
    wait = error.value.headers.get("Retry-After")
    assert wait is None if refused == TOTAL else 1 <= int(wait) <= 86_400


@pytest.mark.parametrize(("quota", "steps"), [(SCORED, ["sends"]), (ATTEMPTS, ["sends", "validates"])])
def test_of_many_at_once_as_many_as_are_left_are_taken(either_context, quota, steps):
    task = Task(either_context, work_of(either_context))
    task.make(quota={quota: 6})
    lyon = task.team()
    task.submit(lyon)
    begin = Barrier(16)

    def taken(number: int) -> bool:
        begin.wait()
        try:
            STEPS[steps[number % len(steps)]](task, lyon)
        except TooManyRequests:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(taken, range(16))) == 5
    assert task.work() == 6


def test_what_the_quota_does_not_allow_is_refused_before_its_outputs_are_read(task):
    task.make(quota={SCORED: 1})
    lyon = task.team()
    views.require_room(task.context, lyon, SLUG, None, scored=True)
    task.submit(lyon)
    for caller, scored in ((lyon, False), (ORGANISER, True)):
        views.require_room(task.context, caller, SLUG, None, scored=scored)
    with pytest.raises(TooManyRequests):
        views.require_room(task.context, lyon, SLUG, "key", scored=True)


def test_a_blind_benchmarks_quota_does_not_tell_what_failed(task):
    task.make(feedback="none", quota={SCORED: 2, ATTEMPTS: 3})
    lyon, oslo = task.team("lyon"), task.team("oslo")
    fits = task.shown(lyon, task.scored(lyon))["quota"]
    fails = task.shown(oslo, task.scored(oslo, ONE_SENTENCE))["quota"]
    assert fits == fails
    assert (fits[SCORED]["left"], fits[ATTEMPTS]) == (1, {"limit": 3, "used": 1, "left": 2})


@pytest.mark.parametrize(
    ("first", "second", "quota", "error"),
    [("breaks", "scores", {TOTAL: 1}, TooManyRequests), ("fails", None, {ATTEMPTS: 2}, Conflict)],
)
def test_a_retry_is_of_our_own_faults_and_needs_quota_as_it_would_have_before(task, first, second, quota, error):
    task.make(quota=quota)
    lyon = task.team()
    submission = task.submit(lyon, ONE_SENTENCE if first == "fails" else RIGHT)
    if first == "breaks":
        give_up(task.context, submission)
    task.work()
    if second:
        STEPS[second](task, lyon)
    with pytest.raises(error):
        retry_submission(task.context, lyon, submission)


def test_quotas_have_defaults_and_null_is_no_limit(task):
    task.make(quota=None)
    defaults = {SCORED: 5, TOTAL: 100, ATTEMPTS: 20, "comparisons_per_day": 20}
    assert task.benchmark()["quota"] == defaults
    task.patch(quota=UNLIMITED)
    assert task.benchmark()["quota"] == {**UNLIMITED, "comparisons_per_day": 20}
    lyon = task.team()
    # deleted as they come: the limit on queued runs is another one
    for _ in range(21):
        STEPS["deletes what waits"](task, lyon)
    assert task.submit(lyon)


def test_a_day_ends_at_midnight_utc(task, context):
    task.make(quota={ATTEMPTS: 1})
    lyon = task.team()
    submit(at(context, "2026-11-01T23:59:59.9+00:00"), lyon, SLUG, REQUEST)
    with pytest.raises(TooManyRequests):
        submit(at(context, "2026-11-02T00:59:59+01:00"), lyon, SLUG, REQUEST)
    assert submit(at(context, "2026-11-02T00:00:00+00:00"), lyon, SLUG, REQUEST)


def test_headers_say_what_is_left(task, context):
    task.make(quota={SCORED: 5, TOTAL: 50, ATTEMPTS: None, "comparisons_per_day": 2})
    lyon = task.team()
    task.submit(lyon)
    noon = at(context, f"{context.now().date()}T12:00:00+00:00")
    assert views.rate_limits(noon, lyon, SLUG) == {
        "RateLimit-Policy": '"scored_per_day";q=5;w=86400, "scored_total";q=50;w=3153600000, '
        '"comparisons_per_day";q=2;w=86400',
        "RateLimit": '"scored_per_day";r=4;t=43200, "scored_total";r=49, "comparisons_per_day";r=2;t=43200',
        "RateLimit-Limit": "5",
        "RateLimit-Remaining": "4",
        "RateLimit-Reset": "43200",
    }
    assert views.rate_limits(context, ORGANISER, SLUG) == {}
