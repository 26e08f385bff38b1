"""What breaks off in a worker says nothing of the texts: neither in the log nor in Redis."""

from __future__ import annotations

import resource
from types import SimpleNamespace

import numpy as np
import orjson
import pytest

from service.config import load_config
from service.contract.jobs import JobRequest
from service.logs import configure_logs
from service.store import runs
from service.usecases import jobs, kinds
from service.usecases.jobs import submit_job
from tests.fixtures.contexts import SCORER, with_config
from tests.fixtures.requests import DEPENDENCIES, loaded
from workers import entry

SECRET = "nsubj-of-gold"  # noqa: S105 - a word to look for


def find(_name):
    raise KeyError(SECRET)


def break_off(_context, _run, _progress):
    try:
        find(SECRET)
    except KeyError as error:
        raise ValueError(f"cannot convert {SECRET!r}") from error


@pytest.fixture
def broken(context, monkeypatch):
    kept = kinds.KINDS[jobs.KIND]
    monkeypatch.setattr(entry, "KINDS", {jobs.KIND: SimpleNamespace(work=break_off, fail=kept.fail)})
    return submit_job(context, SCORER, loaded(JobRequest, DEPENDENCIES))[0]


def everything_in(redis):
    found = b""
    for key in redis.keys("*"):
        found += key + (redis.dump(key) or b"")
    return found


@pytest.mark.usefixtures("process_settings")
def test_redis_and_the_log_get_the_kind_and_the_places(context, broken, rq_work, capfd, caplog):
    configure_logs(load_config({}))
    rq_work()
    said = capfd.readouterr()
    told = said.out + said.err + caplog.text
    assert "ValueError" in told
    assert "break_off" in told
    assert SECRET not in told
    assert SECRET.encode() not in everything_in(context.queue.redis)
    with context.store.read() as db:
        assert runs.get(db, broken).state == runs.FAILED


@pytest.mark.usefixtures("broken")
def test_what_is_raised_says_nothing(context):
    with pytest.raises(entry.WorkFailed) as caught:
        entry.run(context, entry.next_run(context, "live", runs.NO_LIMIT))
    assert SECRET not in str(caught.value)
    assert caught.value.__suppress_context__


def ended(context, run_id):
    """How a job has ended: kind and code of its failure, the state of its run, and how often it began."""
    failure = orjson.loads(jobs.view_job(context, SCORER, run_id).body)["failure"]
    with context.store.read() as db:
        run = runs.get(db, run_id)
    return failure["kind"], failure["errors"][0]["code"], run.state, run.attempts


def test_a_run_that_asks_for_more_memory_than_is_allowed_fails_at_once_as_a_limit(context, monkeypatch):
    asked = []

    def ask(*_):
        asked.append(resource.getrlimit(resource.RLIMIT_AS))
        np.empty(4 << 30, np.uint8)  # never touched

    kept = kinds.KINDS[jobs.KIND]
    monkeypatch.setattr(entry, "KINDS", {jobs.KIND: SimpleNamespace(work=ask, fail=kept.fail)})
    run_id = submit_job(context, SCORER, loaded(JobRequest, DEPENDENCIES))[0]
    before = resource.getrlimit(resource.RLIMIT_AS)
    entry.do(with_config(context, max_run_bytes=1 << 30), run_id)
    assert ended(context, run_id) == ("limit", "job-memory", runs.FAILED, 1)
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert asked[0][0] > 1 << 30


def test_what_crashes_its_process_twice_fails_as_a_limit(context):
    run_id = submit_job(context, SCORER, loaded(JobRequest, DEPENDENCIES))[0]
    for first in (True, False):
        claimed = entry.next_run(context, "live", runs.NO_LIMIT)
        assert claimed.id == run_id
        assert entry.end_crashed(context, run_id) is not first
        if first:
            assert entry.give_back(context, run_id) == "live"
    assert ended(context, run_id) == ("limit", "job-memory", runs.FAILED, 2)
