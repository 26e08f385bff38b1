"""A worker that is woken begins the runs whose turn it is, and keeps wake-ups and queued runs in balance."""

from __future__ import annotations

import signal
from itertools import chain, repeat

import pytest
import rq

from service.queue import LIVE
from service.schemas.submissions import JobRequest
from service.store import jobs, runs, texts
from service.usecases.jobs import KIND, submit_job
from tests.fixtures.contexts import ORGANISER, SCORER
from tests.fixtures.requests import DEPENDENCIES, loaded
from workers import entry, worker
from workers.worker import worker_on

JOB = loaded(JobRequest, DEPENDENCIES)


@pytest.fixture
def two(context) -> list[str]:
    """Two jobs that wait, in their order."""
    return [submit_job(context, SCORER, JOB)[0] for _ in range(2)]


@pytest.fixture
def begun(monkeypatch) -> list[tuple[str, set[str]]]:
    """The runs that a worker performs, each with what counts as held meanwhile."""
    noted: list[tuple[str, set[str]]] = []

    def note(context, run) -> None:
        noted.append((run.id, context.queue.held()))
        entry.run(context, run)

    monkeypatch.setattr(worker, "run", note)
    return noted


def waiting(context) -> list[str]:
    return context.queue.rq_queue(LIVE).job_ids


def states(context) -> set[str]:
    with context.store.read() as db:
        return {state for _, state in runs.counts_by_state(db)}


def test_the_turn_decides_and_not_the_wake_up(context, two, rq_work, begun):
    context.queue.redis.delete(context.queue.rq_queue(LIVE).key)
    for each in reversed(two):
        context.queue.put(each, LIVE)
    rq_work()
    assert [run_id for run_id, _ in begun] == two
    assert waiting(context) == []


def test_the_run_at_work_is_held_and_no_other(two, rq_work, begun):
    rq_work()
    assert begun == [(each, {each}) for each in two]


def test_one_wake_up_is_enough_for_all(context, two, rq_work):
    context.queue.redis.flushall()
    context.queue.put(two[1], LIVE)
    rq_work()
    assert states(context) == {runs.SUCCEEDED}


@pytest.mark.usefixtures("two")
def test_a_wake_up_for_nothing_does_nothing(context, rq_work, begun):
    rq_work()
    begun.clear()
    context.queue.put("job_long_done", LIVE)
    rq_work()
    assert begun == []
    assert waiting(context) == []


def test_a_worker_woken_by_another_runs_wake_up_sends_it_again(context, two):
    woken_by = context.queue.take(LIVE, 1.0)
    assert woken_by == two[0]
    context.queue.begin(worker_on(context, LIVE), two[1], LIVE, woken_by)
    assert waiting(context) == [two[0]]


def test_a_work_horse_that_ends_early_leaves_a_wake_up_for_the_rest(context, two, monkeypatch, begun):
    monkeypatch.setattr(worker, "MAX_AGE", -1.0)
    horse = worker_on(context, LIVE, burst=True)
    context.queue.redis.flushall()
    horse._work_off(LIVE, two[0])
    assert [run_id for run_id, _ in begun] == two[:1]
    assert waiting(context) == two[1:]


def test_how_many_runs_without_a_token_may_be_at_work_goes_by_the_workers_there_are(context, two, monkeypatch):
    workers, limits = chain([8], repeat(2)), []
    monkeypatch.setattr(context.queue, "workers", lambda _queue: next(workers))
    monkeypatch.setattr(worker, "REPORT_SECONDS", -1.0)  # after every run
    begin = worker.next_work
    monkeypatch.setattr(worker, "next_work", lambda *given: limits.append(given[2]) or begin(*given))
    worker_on(context, LIVE, burst=True)._work_off(LIVE, two[0])
    assert limits == [4, 1, 1]  # two runs, and none


def test_a_work_horse_that_fails_gives_its_run_back(context, two, monkeypatch):
    def fail(*_) -> None:
        raise entry.WorkFailed

    monkeypatch.setattr(worker, "run", fail)
    worker_on(context, LIVE, burst=True)._work_off(LIVE, two[0])
    assert states(context) == {runs.QUEUED}
    assert sorted(waiting(context)) == two
    assert entry.next_work(context, LIVE, runs.NO_LIMIT).attempts == 2


@pytest.mark.parametrize(("workers", "share"), [(0, 1), (1, 1), (2, 1), (3, 1), (4, 2), (7, 3)])
def test_work_without_a_token_takes_half_of_the_live_workers(context, monkeypatch, workers, share):
    asked = []
    monkeypatch.setattr(worker, "next_work", lambda *given: asked.append(given[2]))
    monkeypatch.setattr(context.queue, "workers", lambda _: workers)
    worker_on(context, LIVE, burst=True)._work_off(LIVE, "job_1")
    worker_on(context, "bulk", burst=True)._work_off("bulk", "job_1")
    assert asked == [share, runs.NO_LIMIT]


def test_a_stopped_worker_begins_no_further_run(context, two, begun):
    stopping = worker_on(context, LIVE, burst=True)
    context.queue.redis.hset(stopping.key, "shutdown_requested_date", "now")
    stopping._work_off(LIVE, two[0])
    assert begun == []
    assert sorted(waiting(context)) == two


@pytest.mark.usefixtures("two")
def test_submissions_of_organisers_wait_their_turn_too(context, rq_work, begun):
    last = submit_job(context, ORGANISER, JOB)[0]
    rq_work()
    assert [run_id for run_id, _ in begun].index(last) == 1


def test_no_statement_is_left_to_compile_for_a_job_and_nothing_is_stored(context):
    worker.perform_warm_up_job(context)
    known = context.store.engine._compiled_cache
    with context.store.write() as db:
        assert runs.counts_by_state(db) == {}
        runs.add(db, "job_later", KIND, LIVE, context.now(), "somebody")
        jobs.add(db, "job_later", "somebody", worker._REQUEST)
        texts.put(db, "job_later", worker._TEXTS)
    before = set(known)
    entry.run(context, entry.next_work(context, LIVE, 1))
    assert entry.peek(context, LIVE, 1) is None
    assert set(known) == before
    with context.store.read() as db:
        assert runs.get(db, "job_later").state == "succeeded"


def test_a_heartbeat_leaves_a_busy_worker_busy_so_that_a_signal_waits_for_its_work(context, monkeypatch):
    """RQ keeps its state in an attribute, and asks it in the handler of the signal."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # of this process, which goes on
    busy = worker_on(context, LIVE)
    busy.register_birth()
    busy.set_state(rq.worker.WorkerStatus.BUSY)
    busy.heartbeat()
    assert busy.get_state() == rq.worker.WorkerStatus.BUSY
    busy.request_stop(signal.SIGTERM, None)
    assert busy.asked_to_stop()
