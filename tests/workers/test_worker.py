"""A worker that is woken begins the run whose turn it is, and RQ shows which one it did."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
import redis
from rq.exceptions import StopRequested
from rq.registry import FailedJobRegistry, FinishedJobRegistry

from service.contract.jobs import JobRequest
from service.queue import KIND, LIVE, RUN, SERIALIZER, Pulse, Queue
from service.store import jobs, runs, texts
from service.usecases import jobs as job_work
from service.usecases.jobs import submit_job
from tests.fixtures.contexts import ORGANISER, SCORER, with_config
from tests.fixtures.processes import log_lines
from tests.fixtures.requests import DEPENDENCIES, loaded
from tests.fixtures.servers import Valkey
from workers import entry, worker
from workers.worker import Worker

JOB = loaded(JobRequest, DEPENDENCIES)


@pytest.fixture
def two(context) -> list[str]:
    """Two jobs that wait, in their order."""
    return [submit_job(context, SCORER, JOB)[0] for _ in range(2)]


@pytest.fixture
def begun(monkeypatch) -> list[tuple[str, set[str]]]:
    """The runs that a worker performs, each with what counts as held meanwhile."""
    noted: list[tuple[str, set[str]]] = []
    run = entry.run

    def note(context, claimed) -> None:
        noted.append((claimed.id, Pulse(context.queue).held()))
        run(context, claimed)

    monkeypatch.setattr(entry, "run", note)
    return noted


def states(context) -> set[str]:
    with context.store.read() as db:
        return {state for _, state in runs.counts_by_state(db)}


def shown(registry) -> list[tuple[str, dict]]:
    """Description and meta of the jobs of one of RQ's registries, the first that ended first."""
    ids = registry.get_job_ids(cleanup=False)
    queue = registry.get_queue()
    found = [queue.fetch_job(each) for each in ids]
    return [(job.description, job.meta) for job in sorted(found, key=lambda job: job.ended_at)]


def test_the_turn_decides_and_each_run_is_held_and_shown_by_rq(context, two, rq_work, begun):
    live = context.queue.rq_queue(LIVE)
    live.empty()
    context.queue.put_all([*reversed(two)], LIVE)
    rq_work()
    assert begun == [(each, {each}) for each in two]
    expected = [(f"job {each}", {RUN: each, KIND: "job"}) for each in two]
    assert shown(FinishedJobRegistry(queue=live)) == expected
    assert live.count == 0


def test_one_wake_up_is_enough_for_all(context, two, rq_work):
    context.queue.rq_queue(LIVE).empty()
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
    assert context.queue.lengths()[LIVE] == 0


def test_a_run_that_fails_as_the_service_stands_in_rqs_failed_registry(context, two, rq_work, monkeypatch):
    def fail(*_) -> None:
        raise KeyError("nsubj-of-gold")

    monkeypatch.setattr(entry, "perform", fail)
    rq_work()
    assert states(context) == {runs.FAILED}
    registry = FailedJobRegistry(queue=context.queue.rq_queue(LIVE))
    failed = [meta[RUN] for _, meta in shown(registry)]
    assert sorted(failed) == sorted(two * (context.config.max_attempts + 1))
    stored = [registry.get_queue().fetch_job(each).latest_result().exc_string for each in registry.get_job_ids()]
    assert all("WorkFailed" in each and "nsubj" not in each for each in stored)


@pytest.mark.parametrize(("workers", "share"), [(0, 1), (1, 1), (2, 1), (3, 1), (4, 2), (7, 3)])
def test_work_without_a_token_takes_half_of_the_workers(context, monkeypatch, workers, share):
    monkeypatch.setattr(context.queue, "workers", lambda _: workers)
    assert [entry.most_anonymous(context, queue) for queue in (LIVE, "bulk")] == [share, runs.NO_LIMIT]


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
        runs.add(db, "job_later", job_work.KIND, LIVE, context.now(), "somebody")
        jobs.add(db, "job_later", "somebody", worker._REQUEST)
        texts.put(db, "job_later", worker._TEXTS)
    before = set(known)
    entry.run(context, entry.next_run(context, LIVE, 1))
    assert entry.peek(context, LIVE, 1) is None
    assert set(known) == before
    with context.store.read() as db:
        assert runs.get(db, "job_later").state == "succeeded"


def test_a_heartbeat_registers_the_worker_with_an_empty_redis(context):
    busy = Worker(context, LIVE)
    busy.register_birth()
    context.queue.redis.flushall()
    busy.set_state("busy")
    busy.heartbeat()
    assert busy.get_state() == "busy"
    assert [each.name for each in context.queue.living(LIVE)] == [busy.name]
    assert context.queue.workers(LIVE) == 1
    assert 0 < context.queue.redis.ttl(busy.key) <= 30


def test_to_look_at_workers_changes_no_time_limit_of_the_connection(context, valkey):
    Worker(context, LIVE, Queue(valkey.url).patient(context.config)).register_birth()
    before = context.queue.redis.connection_pool.connection_kwargs["socket_timeout"]
    [seen] = context.queue.living()
    assert seen.serializer is SERIALIZER
    assert context.queue.redis.connection_pool.connection_kwargs["socket_timeout"] == before


SAYS = "if redis.call('exists', KEYS[1]) == 1 then return 'well' end return redis.error_reply(ARGV[1])"
"""A script that answers with an error until a key is there."""


@pytest.mark.parametrize(
    ("ill", "well", "reason"),
    [
        ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "used memory"),
        ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", "read only replica"),
    ],
)
@pytest.mark.usefixtures("pauses")
def test_a_worker_waits_for_a_redis_that_is_full_or_read_only(context, tmp_path, monkeypatch, ill, well, reason):
    config = with_config(context, heartbeat_file=str(tmp_path / "alive")).config
    busy = Worker(context, LIVE, context.queue.patient(config))
    context.queue.redis.execute_command(*ill.split())
    monkeypatch.setattr("redis.retry.sleep", lambda _: context.queue.redis.execute_command(*well.split()))
    try:
        with log_lines() as lines:
            busy.register_birth()
    finally:
        context.queue.redis.execute_command(*well.split())
    assert context.queue.workers(LIVE) == 1
    [line] = lines
    assert line["event"] == "waiting"
    assert reason in line["reason"]
    assert Path(config.heartbeat_file).exists()


@pytest.mark.usefixtures("pauses")
@pytest.mark.parametrize("words", ["MISCONF Errors writing to the AOF file: No space left", "LOADING Redis is loading"])
def test_a_worker_waits_for_a_redis_that_cannot_keep_or_still_reads_its_file(context, monkeypatch, words):
    def ask() -> bytes:
        return context.queue.patient(context.config).eval(SAYS, 1, "well", words)

    monkeypatch.setattr("redis.retry.sleep", lambda _: context.queue.redis.set("well", "1"))
    assert ask() == b"well"


def test_an_error_of_the_command_itself_is_raised(context, pauses):
    with pytest.raises(redis.ResponseError, match="wrong"):
        context.queue.patient(context.config).eval(SAYS, 1, "well", "ERR wrong")
    assert pauses == []


@pytest.mark.usefixtures("process_settings")
def test_an_idle_worker_ends_on_sigterm_while_redis_is_away(context, tmp_path, pauses):
    server = Valkey(tmp_path)
    server.start()
    idle = Worker(context, LIVE, Queue(server.url).patient(context.config))
    idle.register_birth()
    server.kill()
    pauses.clear()
    with pytest.raises(StopRequested):
        idle.request_stop(signal.SIGTERM, None)
    idle.teardown()
    assert pauses == []


def test_a_heartbeat_touches_the_file_of_the_probe(context, tmp_path):
    alive = tmp_path / "alive"
    Worker(with_config(context, heartbeat_file=str(alive)), LIVE).heartbeat()
    assert alive.exists()
