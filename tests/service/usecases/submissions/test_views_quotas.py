"""Quotas are exact, in days of UTC, and count neither what was cancelled before its start nor our own faults."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from service.errors import Conflict, TooManyRequests
from service.schemas.submissions import SubmissionRequest
from service.store import runs
from service.usecases.access import IdempotencyKey
from service.usecases.submissions.submissions import (
    cancel_submission,
    delete_submission,
    rate_limits,
    retry_submission,
    submit,
)
from tests.fixtures.contexts import ORGANISER, at, give_up, work_of
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import ONE_SENTENCE, RIGHT, SLUG, UNLIMITED, Task


def refused(error) -> str:
    return error.value.detail.split()[2]


def test_of_fifty_at_once_five_are_taken(either_context):
    task = Task(either_context, work_of(either_context))
    task.make(quota={"scored_per_day": 5})
    lyon = task.team()

    def post(number: int) -> bool:
        try:
            submit(
                either_context,
                lyon,
                SLUG,
                loaded(SubmissionRequest, {"name": f"run {number}", "outputs": {"en": RIGHT}}),
            )
        except TooManyRequests:
            return False
        return True

    with ThreadPoolExecutor(50) as pool:
        assert sum(pool.map(post, range(50))) == 5
    assert task.work() == 5


def test_what_fails_by_its_own_fault_costs_an_attempt_and_no_score(task):
    task.make(quota={"scored_per_day": 1, "attempts_per_day": 3})
    lyon = task.team()
    for _ in range(2):
        task.scored(lyon, ONE_SENTENCE)
    submission = task.scored(lyon)
    assert task.shown(lyon, submission)["quota"]["attempts_per_day"] == {"limit": 3, "used": 3, "left": 0}
    with pytest.raises(TooManyRequests) as error:
        task.submit(lyon)
    assert refused(error) == "scored_per_day"


def test_a_blind_benchmarks_quota_does_not_tell_what_failed(task):
    task.make(feedback="none", quota={"scored_per_day": 2})
    lyon, oslo = task.team("lyon"), task.team("oslo")
    fits = task.shown(lyon, task.scored(lyon))["quota"]
    fails = task.shown(oslo, task.scored(oslo, ONE_SENTENCE))["quota"]
    assert fits == fails
    assert fits["scored_per_day"]["left"] == 1


def test_attempts_are_bounded_by_themselves(task):
    task.make(quota={"attempts_per_day": 2})
    lyon = task.team()
    for _ in range(2):
        task.scored(lyon, ONE_SENTENCE)
    with pytest.raises(TooManyRequests) as error:
        task.submit(lyon)
    assert refused(error) == "attempts_per_day"
    assert 1 <= int(error.value.headers["Retry-After"]) <= 86_400


def test_a_waiting_submission_counts_as_if_it_was_going_to_be_scored(task):
    task.make(quota={"scored_total": 1})
    lyon = task.team()
    task.submit(lyon)
    with pytest.raises(TooManyRequests) as error:
        task.submit(lyon)
    assert refused(error) == "scored_total"
    assert "Retry-After" not in error.value.headers


def test_cancelled_ones_and_our_own_faults_are_free(task, context):
    task.make(quota={"scored_per_day": 1, "attempts_per_day": 1})
    lyon = task.team()
    cancel_submission(context, lyon, task.submit(lyon))
    broken = task.submit(lyon)
    give_up(context, broken)
    assert task.submit(lyon)


def test_a_retry_of_our_own_fault_needs_quota_as_it_would_have_before(task, context):
    task.make(quota={"scored_total": 1})
    lyon = task.team()
    broken = task.submit(lyon)
    give_up(context, broken)
    task.scored(lyon)
    with pytest.raises(TooManyRequests):
        retry_submission(context, lyon, broken)


def test_a_new_benchmark_takes_five_a_day(task):
    task.make(quota=None)
    submitting = {"scored_per_day": 5, "scored_total": 100, "attempts_per_day": 20}
    assert task.benchmark()["quota"] == {**submitting, "comparisons_per_day": 20}
    lyon = task.team()
    for _ in range(5):
        task.submit(lyon)
    with pytest.raises(TooManyRequests) as error:
        task.submit(lyon)
    assert refused(error) == "scored_per_day"


def test_null_is_no_limit(task):
    task.make(quota=UNLIMITED)
    assert task.benchmark()["quota"] == {**UNLIMITED, "comparisons_per_day": 20}
    lyon = task.team()
    # scored as they come: the limit on queued runs is another one
    assert len({task.scored(lyon) for _ in range(21)}) == 21


def test_of_two_at_the_last_place_one_is_taken(either_context):
    task = Task(either_context, work_of(either_context))
    task.make(quota={"scored_per_day": 3})
    lyon = task.team()
    for _ in range(2):
        task.submit(lyon)
    begin = Barrier(2)

    def post(_: int) -> bool:
        begin.wait()
        try:
            task.submit(lyon)
        except TooManyRequests:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(post, range(2))) == [False, True]


@pytest.mark.parametrize("end", [cancel_submission, delete_submission])
def test_ending_what_a_worker_has_claimed_gives_nothing_back(task, context, end):
    task.make(quota={"scored_per_day": 1})
    lyon = task.team()
    submission = task.submit(lyon)
    with context.store.write() as db:
        assert runs.claim(db, submission, context.now()) is not None
    end(context, lyon, submission)
    with pytest.raises(TooManyRequests) as error:
        task.submit(lyon)
    assert refused(error) == "scored_per_day"


def test_deleting_what_waits_gives_nothing_back(task, context):
    task.make(quota={"scored_per_day": 1})
    lyon = task.team()
    delete_submission(context, lyon, task.submit(lyon))
    with pytest.raises(TooManyRequests):
        task.submit(lyon)


def test_deleting_what_was_cancelled_in_time_costs_nothing(task, context):
    task.make(quota={"scored_per_day": 1})
    lyon = task.team()
    submission = task.submit(lyon)
    cancel_submission(context, lyon, submission)
    delete_submission(context, lyon, submission)
    assert task.submit(lyon)


def test_bad_input_cannot_be_retried_and_stays_an_attempt(task, context):
    task.make(quota={"attempts_per_day": 1})
    lyon = task.team()
    submission = task.scored(lyon, ONE_SENTENCE)
    with pytest.raises(Conflict):
        retry_submission(context, lyon, submission)
    with pytest.raises(TooManyRequests):
        task.submit(lyon)


def test_a_repeated_request_counts_once(task, context):
    task.make(quota={"scored_per_day": 2})
    lyon = task.team()
    request = loaded(SubmissionRequest, {"outputs": {"en": RIGHT}})
    sent = {submit(context, lyon, SLUG, request, IdempotencyKey("again", "digest")) for _ in range(4)}
    assert {new for _, new in sent} == {True, False}
    assert len({each for each, _ in sent}) == 1
    assert task.submit(lyon)


def test_deleting_gives_nothing_back(task, context):
    task.make(quota={"scored_total": 1})
    lyon = task.team()
    delete_submission(context, lyon, task.scored(lyon))
    with pytest.raises(TooManyRequests):
        task.submit(lyon)


def test_a_day_ends_at_midnight_utc(task, context):
    task.make(quota={"attempts_per_day": 1})
    lyon = task.team()
    outputs = {"outputs": {"en": RIGHT}}
    submit(at(context, "2026-11-01T23:59:59.9+00:00"), lyon, SLUG, loaded(SubmissionRequest, outputs))
    with pytest.raises(TooManyRequests):
        submit(at(context, "2026-11-02T00:59:59+01:00"), lyon, SLUG, loaded(SubmissionRequest, outputs))
    assert submit(at(context, "2026-11-02T00:00:00+00:00"), lyon, SLUG, loaded(SubmissionRequest, outputs))


def test_a_quota_of_nought_takes_nothing(task):
    task.make(quota={"scored_per_day": 0})
    with pytest.raises(TooManyRequests):
        task.submit(task.team())


def test_teams_have_quotas_of_their_own_and_organisers_none(task):
    task.make(quota={"attempts_per_day": 1})
    sent = {task.submit(task.team("lyon")), task.submit(task.team("oslo"))}
    sent |= {task.submit(ORGANISER) for _ in range(3)}
    assert len(sent) == 5


def test_headers_say_what_is_left(task, context):
    task.make(quota={"scored_per_day": 5, "scored_total": 50, "attempts_per_day": None, "comparisons_per_day": 2})
    lyon = task.team()
    task.submit(lyon)
    noon = at(context, f"{context.now().date()}T12:00:00+00:00")
    assert rate_limits(noon, lyon, SLUG) == {
        "RateLimit-Policy": '"scored_per_day";q=5;w=86400, "scored_total";q=50;w=3153600000, '
        '"comparisons_per_day";q=2;w=86400',
        "RateLimit": '"scored_per_day";r=4;t=43200, "scored_total";r=49, "comparisons_per_day";r=2;t=43200',
        "RateLimit-Limit": "5",
        "RateLimit-Remaining": "4",
        "RateLimit-Reset": "43200",
    }
    assert rate_limits(context, ORGANISER, SLUG) == {}
