"""What service and workers rely on of RQ; run against the lowest and the newest version that pyproject.toml admits."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import timedelta
from importlib.metadata import version
from typing import Any

import orjson
import pytest
from packaging.requirements import Requirement
from rq.job import Job
from rq.registry import FailedJobRegistry, StartedJobRegistry
from rq.utils import now, utcformat

from service import queue as rq_keys
from service.queue import ABANDONED_AFTER, HEARTBEAT_KEPT, LIVE, Queue
from tests.conftest import ROOT
from tests.fixtures.rq_worker_process import NOTES, WORK
from workers.worker import STOP_ASKED, RqWorker

NAMES = ["job_1", "sub_1", "sub_1-2-p1-0"]


@pytest.fixture
def queue(valkey) -> Iterator[Queue]:
    """An empty queue, without a store."""
    queue = Queue(valkey.url)
    queue.redis.flushall()
    yield queue
    queue.redis.close()


@pytest.fixture
def worker(queue) -> RqWorker:
    """A worker that is not yet registered."""
    return worker_on(queue, LIVE)


def worker_on(queue: Queue, name: str) -> RqWorker:
    return RqWorker(queue.rq_queue(name), queue.redis)


@pytest.fixture
def live(queue):
    return queue.rq_queue(LIVE)


@pytest.fixture
def sent(queue) -> list[str]:
    """Wake-ups that wait."""
    assert queue.put_all(NAMES, LIVE)
    return NAMES


def age_by(queue: Queue, worker: RqWorker, age: timedelta) -> None:
    """Let the last heartbeat of a worker be so old."""
    queue.redis.pexpire(rq_keys.HEARTBEAT + worker.name, HEARTBEAT_KEPT - age)


def started(live, name: str, worker: Any) -> Any:
    """A job as RQ's worker begins it."""
    job = Job.fetch(name, connection=live.connection, serializer=rq_keys.SERIALIZER)
    live.connection.lrem(live.key, 1, name)
    worker.prepare_execution(job)
    worker.prepare_job_execution(job)
    return job


def test_wake_ups_are_sent_in_one_transaction(queue):
    seen: list[str] = []
    with queue.redis.monitor() as monitor:
        queue.put_all(NAMES, LIVE)
        queue.redis.echo("end")
        while "ECHO" not in seen:
            seen.append(monitor.next_command()["command"].partition(" ")[0])
    assert seen.count("MULTI") == seen.count("EXEC") == 1
    inside = seen[seen.index("MULTI") : seen.index("EXEC")]
    assert inside.count("RPUSH") == seen.count("RPUSH") == len(NAMES)


def test_a_queue_is_a_list_of_ids_oldest_on_the_left(queue, live, sent):
    assert [each.decode() for each in queue.redis.lrange(live.key, 0, -1)] == sent
    assert live.job_ids == sent
    assert rq_keys.job_waits(live, sent[1])
    assert not rq_keys.job_waits(live, "job_2")


def test_a_job_that_waits_is_an_entry_and_a_hash_and_nothing_else(queue, live, sent):
    assert [rq_keys.take_first(live, 1.0) for _ in sent] == sent
    assert rq_keys.take_first(live, 0.1) is None
    assert {key.decode() for key in queue.redis.keys("*")} <= {"rq:queues"}


def test_a_job_taken_out_of_the_list_is_forgotten_with_its_hash(queue, live, sent):
    with queue.redis.pipeline(transaction=False) as pipeline:
        rq_keys.take_out_of(live, sent[1], pipeline)
        rq_keys.take_out_of(live, "job_2", pipeline)
        assert pipeline.execute() == [1, 0]
    rq_keys.forget_job(queue.redis, sent[1])
    assert live.job_ids == [sent[0], sent[2]]
    assert not queue.redis.exists(Job.key_for(sent[1]))


def test_a_cancelled_job_is_nowhere(queue, live, sent):
    for name in [*sent, "job_2"]:
        rq_keys.cancel_job(queue.redis, name)
    assert {key.decode() for key in queue.redis.keys("*")} <= {"rq:queues"}


def test_a_begun_job_is_known_by_its_id(worker, live, sent):
    assert rq_keys.begun_jobs(live) == set()
    started(live, sent[2], worker)
    assert rq_keys.begun_jobs(live) == {sent[2]}


@pytest.mark.parametrize("retries", [rq_keys.RETRIES, 0])
def test_jobs_of_a_worker_without_heartbeat_are_queued_again_while_they_have_retries(worker, live, sent, retries):
    job = started(live, sent[0], worker)
    job.retries_left = retries
    job.save()
    registry = StartedJobRegistry(queue=live)
    [[entry, ends]] = live.connection.zrange(registry.key, 0, -1, withscores=True)
    assert ends - now().timestamp() <= ABANDONED_AFTER
    rq_keys.reap_lost(live)
    assert rq_keys.begun_jobs(live) == {sent[0]}
    live.connection.zadd(registry.key, {entry: 1})
    rq_keys.reap_lost(live)
    assert rq_keys.begun_jobs(live) == set()
    assert rq_keys.job_waits(live, sent[0]) == bool(retries)
    assert FailedJobRegistry(queue=live).get_job_ids() == ([] if retries else [sent[0]])


def test_workers_are_found_with_what_they_noted_and_when(worker, queue):
    assert list(rq_keys.registered_workers(queue.redis)) == []
    worker.register_birth()
    worker.note_work(WORK)
    [found] = rq_keys.registered_workers(queue.redis)
    assert (found.name, found.queue, found.current) == (worker.name, LIVE, WORK)
    assert timedelta(0) <= found.age < timedelta(seconds=60)
    age_by(queue, worker, timedelta(seconds=90))
    [found] = rq_keys.registered_workers(queue.redis)
    assert timedelta(seconds=89) < found.age < HEARTBEAT_KEPT
    worker.note_work(None)
    [found] = rq_keys.registered_workers(queue.redis)
    assert found.current is None
    worker.register_death()
    assert list(rq_keys.registered_workers(queue.redis)) == []


def test_a_wrong_clock_of_a_workers_host_makes_no_heartbeat_old(worker, queue):
    worker.register_birth()
    queue.redis.hset(worker.key, "last_heartbeat", utcformat(now() - timedelta(hours=1)))
    [found] = rq_keys.registered_workers(queue.redis)
    assert found.age < timedelta(seconds=60)


def test_a_heartbeat_registers_the_worker_with_an_empty_redis(worker, queue, live):
    worker.register_birth()
    queue.redis.flushall()
    assert (queue.workers(LIVE), list(rq_keys.registered_workers(queue.redis))) == (0, [])
    worker.heartbeat()
    [found] = rq_keys.registered_workers(queue.redis)
    assert (found.name, queue.workers(LIVE)) == (worker.name, 1)
    assert queue.redis.hget(worker.key, "queues") == live.name.encode()


def test_noting_work_is_one_command(worker, queue):
    with queue.redis.pipeline(transaction=False) as pipeline:
        worker.note_work(WORK, pipeline=pipeline)
        assert len(pipeline.command_stack) == 1


def test_workers_are_counted_by_queue_until_they_end(queue, live):
    workers = [worker_on(queue, name) for name in (LIVE, LIVE, "bulk")]
    for worker in workers:
        worker.register_birth()
    assert rq_keys.count_workers(live) == 2
    workers[0].register_death()
    assert rq_keys.count_workers(live) == 1


def test_a_request_to_stop_is_a_field_of_the_workers_hash(worker, queue):
    worker.register_birth()
    assert not worker.asked_to_stop()
    worker._shutdown_requested_date = now()
    worker.set_shutdown_requested_date()
    assert worker.asked_to_stop()
    assert queue.redis.hexists(worker.key, STOP_ASKED)


@pytest.fixture(scope="module")
def played(valkey) -> list[dict[str, Any]]:
    """What a real worker, with a work-horse for each wake-up, noted."""
    queue = Queue(valkey.url)
    queue.redis.flushall()
    done = subprocess.run(
        [sys.executable, "-m", "tests.fixtures.rq_worker_process", valkey.url],
        cwd=ROOT, capture_output=True, check=False, text=True, timeout=120,
    )  # fmt: skip
    notes = [orjson.loads(each) for each in queue.redis.lrange(NOTES, 0, -1)]
    queue.redis.flushall()
    queue.redis.close()
    assert done.returncode == 0, done.stderr
    return notes


def during(played: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The notes from a wake-up until the next process stands by."""
    start = next(at for at, note in enumerate(played) if note.get("name") == name and note["what"] == "woken")
    ends = [at for at, note in enumerate(played) if note["what"] == "ready" and at > start]
    return played[start : ends[0] if ends else None]


@pytest.mark.parametrize("name", ["plain", "heartbeat", "killed", "sent_again", "stopped", "limit", "terminated"])
def test_each_wake_up_is_for_the_process_that_stands_by_after_rqs_job_is_done(played, name):
    worker = played[0]["pid"]
    woken = during(played, name)[0]
    assert (woken["what"], woken["name"], woken["queue"]) == ("woken", name, LIVE)
    [ready] = [note for note in played if note["what"] == "ready" and note["pid"] == woken["pid"]]
    assert ready["parent"] == worker != woken["pid"]
    assert woken["timer"] == 0
    assert woken["current"] is None
    assert f"rq:job:{name}" not in woken["jobs"]


def test_work_is_noted_in_the_hash_that_the_service_reads_and_heartbeats_go_on(played):
    woken, works = during(played, "plain")
    assert (woken["what"], works["what"]) == ("woken", "works")
    assert {"current_job", "last_heartbeat"} <= set(works["fields"])
    [beat] = [note for note in during(played, "heartbeat") if note["what"] == "heartbeat"]
    assert beat["pid"] == played[0]["pid"]
    assert beat["ttl"] > 0


def test_the_worker_finds_what_a_killed_work_horse_left(played):
    [left] = [note for note in during(played, "killed") if note["what"] == "left"]
    assert (left["pid"], left["name"], left["current"], left["crashed"]) == (played[0]["pid"], WORK, None, True)


def test_a_wake_up_that_is_sent_again_meanwhile_is_left_alone(played):
    """As when a worker begins another run than that of its wake-up: that is sent again while it works."""
    beat, left = (note for note in during(played, "sent_again") if note["what"] in ("heartbeat", "left"))
    assert (beat["what"], beat["pid"]) == ("heartbeat", played[0]["pid"])
    assert (left["what"], left["name"], left["current"], left["crashed"]) == ("left", WORK, None, False)
    assert (left["bulk"], left["status"]) == (["sent_again"], "queued")
    assert "sent_again" not in left["live"]


def test_the_command_to_stop_ends_the_work_that_it_names(played):
    assert [note["what"] for note in during(played, "stopped")] == ["woken", "left"]


def test_the_time_limit_raises_in_the_work_horse_and_is_set_back(played):
    [reached] = [note for note in during(played, "limit") if note["what"] == "limit"]
    assert reached["timer"] == 0


def test_a_signal_to_the_worker_is_seen_in_the_work_horse_and_ends_the_worker_after_it(played):
    [asked] = [note for note in during(played, "terminated") if note["what"] == "asked"]
    assert (asked["before"], asked["after"]) == (False, True)
    assert [note for note in played if note["what"] != "ready"][-1] == asked


@pytest.mark.parametrize("name", ["rq", "redis"])
def test_the_pinned_version_is_one_that_is_admitted(name):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    group = [Requirement(each) for each in project["dependency-groups"]["service"] if isinstance(each, str)]
    [admitted] = [each.specifier for each in group if each.name == name]
    pins = [Requirement(line) for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split()]
    [pinned] = [next(iter(each.specifier)).version for each in pins if each.name == name]
    assert pinned in admitted
    assert version(name) in admitted
