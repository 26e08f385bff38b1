"""Whatever is stored and not finished is done, though the queue forgets it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.errors import Gone
from service.queue import ABANDONED_AFTER, HEARTBEAT, HEARTBEAT_KEPT
from service.schemas.benchmarks import RevisionRequest
from service.schemas.submissions import JobRequest
from service.store import revisions, runs, score_records
from service.usecases.benchmarks.revisions import create_revision
from service.usecases.jobs import submit_job, view_job
from tests.fixtures.contexts import ORGANISER, SCORER, later, with_config
from tests.fixtures.requests import DEPENDENCIES, loaded
from tests.fixtures.tasks import SLUG, WRONG
from workers.entry import do, next_work
from workers.sweeper import Sweeper
from workers.worker import worker_on


@pytest.fixture
def job(context):
    return submit_job(context, SCORER, loaded(JobRequest, DEPENDENCIES))[0]


def state(context, run_id):
    with context.store.read() as db:
        return runs.get(db, run_id).state


def test_a_waiting_job_is_left_alone(context, job):
    sweeper = Sweeper(later(context, minutes=1))
    assert [sweeper.sweep(), sweeper.sweep(), sweeper.sweep()] == [[], [], []]


@pytest.mark.parametrize("lost", ["all of redis", "the wake-up"])
def test_a_job_that_redis_lost_is_queued_again_at_the_second_look(context, job, rq_work, lost):
    if lost == "all of redis":
        context.queue.redis.flushall()
    else:  # taken by a worker that died at once
        context.queue.redis.lpop(context.queue.rq_queue("live").key)
    young = Sweeper(context)  # it may still be on its way
    assert [young.sweep(), young.sweep()] == [[], []]
    sweeper = Sweeper(later(context, minutes=1))
    assert [sweeper.sweep(), sweeper.sweep(), sweeper.sweep()] == [[], [job], []]
    rq_work()
    assert state(context, job) == runs.SUCCEEDED


def test_a_run_that_a_worker_began_and_died_before_it_said_so_is_begun_again(context, job, rq_work):
    assert next_work(context, "live", runs.NO_LIMIT).id == job
    sweeper = Sweeper(later(context, minutes=1))
    assert [sweeper.sweep(), sweeper.sweep()] == [[], [job]]
    assert state(context, job) == runs.QUEUED
    rq_work()
    assert state(context, job) == runs.SUCCEEDED


def test_work_that_breaks_off_too_often_fails_as_the_services_fault(context, job):
    with context.store.write() as db:
        for _ in range(context.config.max_attempts):
            runs.claim(db, job, context.now())
    do(context, job)
    view = view_job(context, SCORER, job)
    assert view.state == runs.FAILED
    assert b'"kind":"service"' in view.body


def test_old_jobs_go_where_retention_is_set(context, job, work):
    work()
    aged = with_config(later(context, minutes=1), retain_jobs_days=1)
    fresh = Sweeper(aged)
    fresh.clean_up()
    assert state(context, job) == runs.SUCCEEDED
    much_later = later(aged, days=2)
    Sweeper(much_later).clean_up()
    with pytest.raises(Gone):
        view_job(context, SCORER, job)


def at_work(context, run_id, age=timedelta(0)):
    """A worker whose work-horse has gone on to a further run, and which was last heard of then."""
    worker = worker_on(context, "live")
    worker.register_birth()
    assert next_work(context, "live", runs.NO_LIMIT).id == run_id
    context.queue.begin(worker, run_id, "live", None)
    context.queue.redis.pexpire(HEARTBEAT + worker.name, HEARTBEAT_KEPT - age)
    assert worker.get_current_job_id() == run_id


def test_a_further_run_of_a_work_horse_is_left_alone(context, job):
    at_work(context, job)
    sweeper = Sweeper(later(context, minutes=1))
    assert [sweeper.sweep(), sweeper.sweep()] == [[], []]


def test_a_further_run_is_queued_again_where_the_worker_gives_no_sign_of_life(context, job, rq_work):
    at_work(context, job, timedelta(seconds=ABANDONED_AFTER + 1))
    sweeper = Sweeper(later(context, minutes=1))
    assert [sweeper.sweep(), sweeper.sweep()] == [[], [job]]
    rq_work()
    assert state(context, job) == runs.SUCCEEDED


@pytest.mark.parametrize("ended", [revisions.READY, revisions.FAILED])
def test_scores_of_a_dry_run_whose_worker_died_at_the_end_are_deleted(task, context, monkeypatch, ended):
    monkeypatch.setattr("service.usecases.benchmarks.work._drop_records", lambda *_: None)
    task.make(leaderboard={"ladder": True})
    submission = task.scored(task.team(), WRONG)
    dry = loaded(RevisionRequest, {"parts": {"en": {"gold": WRONG}}, "dry_run": True, "reason": "try"})
    create_revision(context, ORGANISER, SLUG, dry)
    task.settle()
    with context.store.write() as db:
        revisions.set_state(db, revisions.get(db, SLUG, 2).id, ended)
        assert score_records.get(db, submission, 2) is not None
        assert score_records.left_over(db) == [(SLUG, 2)]
    Sweeper(context).clean_up()
    with context.store.read() as db:
        assert score_records.left_over(db) == []
        assert score_records.get(db, submission, 2) is None
        assert score_records.counts(db, submission, 2, [0], 0)[0] is None
        assert score_records.counts(db, submission, 1, [0], 0)[0] is not None
        assert [score_records.ladder_of(db, SLUG, "lyon", number) is None for number in (1, 2)] == [False, True]
