"""A worker that warms up says so, and those of one machine compile one after the other."""

from __future__ import annotations

import fcntl
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from service.queue import LIVE, Queue
from service.store import jobs, runs, texts
from service.usecases.jobs.jobs import KIND
from treescore.core import compiling
from workers import warm_up as module
from workers.entry import next_work, peek, run
from workers.warm_up import warm_up


def test_a_worker_is_seen_while_it_warms_up_and_not_after(context, monkeypatch):
    seen = []
    monkeypatch.setattr(module, "warm", lambda left: (left(7), seen.append(context.queue.warming(LIVE))))
    with capture_logs() as logs:
        warm_up(context, LIVE)
    assert seen == [[8]]
    assert context.queue.warming(LIVE) == []
    assert [line["event"] for line in logs if line["event"] in ("warming", "warm")] == ["warming", "warm"]
    assert not [thread for thread in threading.enumerate() if thread.name == module.THREAD]


def test_no_statement_is_left_to_compile_for_a_job_and_nothing_is_stored(context, monkeypatch):
    monkeypatch.setattr(module, "warm", lambda _left: None)
    warm_up(context, LIVE)
    known = context.store.engine._compiled_cache
    with context.store.write() as db:
        assert runs.counts_by_state(db) == {}
        runs.add(db, "job_later", KIND, LIVE, context.now(), "somebody")
        jobs.add(db, "job_later", "somebody", module._REQUEST)
        texts.put(db, "job_later", module._TEXTS)
    before = set(known)
    claimed_run = next_work(context, LIVE, 1)
    run(context, claimed_run)
    assert peek(context, LIVE, 1) is None
    assert set(known) == before
    with context.store.read() as db:
        assert runs.get(db, "job_later").state == "succeeded"


def test_a_worker_is_not_seen_after_it_failed(context, monkeypatch):
    def fail(_left):
        raise MemoryError

    monkeypatch.setattr(module, "warm", fail)
    with pytest.raises(MemoryError):
        warm_up(context, LIVE)
    assert context.queue.warming(LIVE) == []


def test_without_redis_a_worker_warms_up(context, monkeypatch):
    called = []
    monkeypatch.setattr(module, "warm", called.append)
    warm_up(replace(context, queue=Queue("unix:///nowhere")), LIVE)
    assert len(called) == 1


def test_only_one_process_at_a_time_compiles(context, monkeypatch):
    """Another process could not hold the file while this one compiles, and can afterwards."""

    def free():
        with Path(module.__file__).open("rb") as other:
            try:
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

    found = []

    def compile_one(_left):
        found.append(free())
        compiling._Notice.on_start(notice, None)
        found.append(free())

    notice = compiling._Notice()
    monkeypatch.setattr(compiling, "_NOTICE", notice)
    monkeypatch.setattr(module, "warm", compile_one)
    warm_up(context, LIVE)
    assert [*found, free()] == [True, False, True]
