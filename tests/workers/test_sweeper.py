"""Whatever is stored and not finished is done, though the queue forgets it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import redis

from service.contract.benchmarks import RevisionRequest
from service.contract.jobs import JobRequest
from service.errors import Gone
from service.store import revisions, runs, score_records
from service.usecases.benchmarks.revisions import create_revision
from service.usecases.jobs import submit_job, view_job
from tests.fixtures.contexts import ORGANISER, SCORER, busy_worker, later, with_config
from tests.fixtures.processes import log_lines
from tests.fixtures.requests import DEPENDENCIES, loaded
from tests.fixtures.tasks import SLUG, WRONG
from workers import sweeper as module
from workers.entry import WorkFailed, do, next_run
from workers.sweeper import Sweeper


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
    assert next_run(context, "live", runs.NO_LIMIT).id == job
    sweeper = Sweeper(later(context, minutes=1))
    assert [sweeper.sweep(), sweeper.sweep()] == [[], [job]]
    assert state(context, job) == runs.QUEUED
    rq_work()
    assert state(context, job) == runs.SUCCEEDED


def test_work_that_breaks_off_too_often_fails_as_the_services_fault(context, job):
    with context.store.write() as db:
        for _ in range(context.config.max_attempts):
            runs.claim(db, job, context.now())
    with pytest.raises(WorkFailed):
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


@pytest.fixture
def begun(context, job) -> str:
    """The job, at work in a worker."""
    assert next_run(context, "live", runs.NO_LIMIT).id == job
    busy_worker(context, job)
    return job


@pytest.mark.usefixtures("begun")
def test_a_run_at_work_is_left_alone(context):
    sweeper = Sweeper(later(context, minutes=1))
    assert [sweeper.sweep(), sweeper.sweep()] == [[], []]


def test_a_run_is_queued_again_where_the_heartbeat_of_its_worker_does_not_change(context, begun, rq_work, monkeypatch):
    monkeypatch.setattr("service.queue.ABANDONED_AFTER", 0)
    sweeper = Sweeper(later(context, minutes=1))
    assert [sweeper.sweep(), sweeper.sweep()] == [[], [begun]]
    rq_work()
    assert state(context, begun) == runs.SUCCEEDED


def test_a_run_that_may_not_begin_is_woken_for_no_more(context, job, monkeypatch):
    context.queue.rq_queue("live").empty()
    monkeypatch.setattr("workers.sweeper.peek", lambda *_: None)
    sweeper = Sweeper(later(context, minutes=1))
    assert [sweeper.sweep(), sweeper.sweep()] == [[], []]
    assert state(context, job) == runs.QUEUED


@pytest.mark.parametrize("ended", [revisions.READY, revisions.FAILED])
def test_scores_of_a_dry_run_whose_worker_died_at_the_end_are_deleted(task, context, monkeypatch, ended):
    monkeypatch.setattr("service.usecases.benchmarks.work._drop_records", lambda *_: None)
    tried = revisions.DRY_RUNS + 1
    task.make(leaderboard={"ladder": True})
    submission = task.scored(task.team(), WRONG)
    dry = loaded(RevisionRequest, {"parts": {"en": {"gold": WRONG}}, "dry_run": True, "reason": "try"})
    create_revision(context, ORGANISER, SLUG, dry)
    task.settle()
    with context.store.write() as db:
        revisions.set_state(db, revisions.get(db, SLUG, tried).id, ended)
        assert score_records.get(db, submission, tried, None) is not None
        assert score_records.left_over(db) == [(SLUG, tried)]
    Sweeper(context).clean_up()
    with context.store.read() as db:
        assert score_records.left_over(db) == []
        assert score_records.get(db, submission, tried, None) is None
        assert score_records.counts(db, submission, tried, [0], 0)[0] is None
        assert score_records.counts(db, submission, 1, [0], 0)[0] is not None
        assert [score_records.ladder_of(db, SLUG, "lyon", number) is None for number in (1, tried)] == [False, True]


def test_nothing_is_requeued_while_redis_takes_nothing(context, job):
    context.queue.redis.lpop(context.queue.rq_queue("live").key)
    sweeper = Sweeper(later(context, minutes=1))
    assert sweeper.sweep() == []
    context.queue.redis.config_set("maxmemory", 1)
    try:
        with log_lines() as lines, pytest.raises(redis.exceptions.OutOfMemoryError):
            sweeper.sweep()
    finally:
        context.queue.redis.config_set("maxmemory", 0)
    assert lines == []
    assert sweeper.sweep() == [job]


@pytest.mark.usefixtures("process_settings", "pauses")
def test_the_sweeper_touches_the_file_of_the_probe_while_it_waits(context, tmp_path, monkeypatch):
    alive, rounds = tmp_path / "alive", iter([False, True])
    stop = SimpleNamespace(wait=lambda _: next(rounds))
    monkeypatch.setattr(module, "begun_process", lambda _: with_config(context, heartbeat_file=str(alive)))
    monkeypatch.setattr(module, "stop_signal", lambda: stop)
    monkeypatch.setattr(module.threading.Thread, "start", lambda _: None)
    monkeypatch.setattr(Sweeper, "sweep", lambda _: context.queue.redis.eval("return redis.error_reply('OOM full')", 0))
    with log_lines() as lines:
        module.main()
    assert alive.exists()
    assert [(line["event"], line["part"], line["reason"]) for line in lines] == [("waiting", "queue", "full")]
