"""A worker that has performed the tiny job is ready for others."""

from __future__ import annotations

from service.queue import LIVE
from service.store import jobs, runs, texts
from service.usecases.jobs import KIND
from workers import worker
from workers.entry import next_work, peek, run


def test_no_statement_is_left_to_compile_for_a_job_and_nothing_is_stored(context):
    worker.perform_warm_up_job(context)
    known = context.store.engine._compiled_cache
    with context.store.write() as db:
        assert runs.counts_by_state(db) == {}
        runs.add(db, "job_later", KIND, LIVE, context.now(), "somebody")
        jobs.add(db, "job_later", "somebody", worker._REQUEST)
        texts.put(db, "job_later", worker._TEXTS)
    before = set(known)
    claimed_run = next_work(context, LIVE, 1)
    run(context, claimed_run)
    assert peek(context, LIVE, 1) is None
    assert set(known) == before
    with context.store.read() as db:
        assert runs.get(db, "job_later").state == "succeeded"
