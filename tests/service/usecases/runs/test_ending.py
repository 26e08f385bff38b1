"""One function ends every run: once, in one transaction, and again when the result was outdated."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from service.queue import BULK, LIVE
from service.store import runs
from service.store.database import Store
from service.usecases.kinds import KINDS
from service.usecases.runs.ending import Ending, Failure, Outdated, QueuedRun, finish, perform
from service.usecases.submissions.changes import delete_submission
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import RIGHT, SLUG, WRONG
from treescore.errors import LimitError, Problem
from workers.entry import do

PROBLEM = Problem(code="too-large", detail="The text exceeds the limit.")


@pytest.fixture
def run(context):
    with context.store.write() as db:
        runs.add(db, "job_1", "job", LIVE, context.now())
        return runs.claim(db, "job_1", context.now())


def state(context, run_id="job_1"):
    with context.store.read() as db:
        found = runs.get(db, run_id)
    return None if found is None else found.state


def adds(name):
    """A save that stores another run, to see whether its transaction was committed."""

    def save(db, now):
        runs.add(db, name, "job", BULK, now)
        return [QueuedRun(name, BULK)]

    return save


def test_what_is_saved_is_queued_after_the_commit(context, run):
    done = []
    assert finish(context, run, Ending(runs.SUCCEEDED, adds("job_2"), after=lambda: done.append(state(context))))
    assert (state(context), state(context, "job_2"), done) == (runs.SUCCEEDED, runs.QUEUED, [runs.SUCCEEDED])
    assert context.queue.rq_queue(BULK).job_ids == ["job_2"]


def test_only_the_first_finish_saves(context, run):
    done = []
    assert finish(context, run, Ending(runs.SUCCEEDED))
    assert finish(context, run, Ending(runs.FAILED, adds("job_2"), after=lambda: done.append(1)))
    assert (state(context), state(context, "job_2"), done) == (runs.SUCCEEDED, None, [])


def test_an_outdated_result_leaves_nothing_and_the_work_starts_again(context, run):
    attempts = []

    def work(_context, _run, _progress):
        attempts.append(state(context))
        return Ending(runs.SUCCEEDED, save)

    def save(db, now):
        adds(f"job_{len(attempts) + 1}")(db, now)
        if len(attempts) < 3:
            raise Outdated
        return ()

    perform(context, SimpleNamespace(work=work, fail=None), run)
    assert attempts == [runs.RUNNING] * 3
    assert (state(context), state(context, "job_2"), state(context, "job_4")) == (runs.SUCCEEDED, None, runs.QUEUED)


def test_work_that_gives_its_run_back_leaves_it_as_it_is(context, run):
    perform(context, SimpleNamespace(work=lambda *_: None, fail=None), run)
    assert state(context) == runs.RUNNING


def test_an_error_of_the_scoring_library_becomes_the_failure(context, run):
    failures = []

    def work(_context, _run, _progress):
        raise LimitError([PROBLEM], 3)

    def fail(_context, _run, failure):
        failures.append(failure)
        return Ending(runs.FAILED)

    perform(context, SimpleNamespace(work=work, fail=fail), run)
    assert failures == [Failure("limit", (PROBLEM,), 3)]
    assert state(context) == runs.FAILED


def test_what_a_save_raises_leaves_the_run_unfinished(context, run):
    def save(db, now):
        adds("job_2")(db, now)
        raise MemoryError

    with pytest.raises(MemoryError):
        finish(context, run, Ending(runs.SUCCEEDED, save))
    assert (state(context), state(context, "job_2")) == (runs.RUNNING, None)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_ends_a_run_whose_resource_is_gone(context, kind):
    with context.store.write() as db:
        runs.add(db, "run_1", kind, LIVE, context.now())
        run = runs.claim(db, "run_1", context.now())
    assert finish(context, run, KINDS[kind].fail(context, run, Failure("service", [PROBLEM], 1)))
    assert state(context, "run_1") == runs.FAILED


def test_an_error_of_the_scoring_library_fails_a_board_at_once(task, context, monkeypatch):
    def fails(*_):
        raise LimitError([PROBLEM])

    monkeypatch.setattr("service.usecases.boards.work.compare_submissions", fails)
    task.make()
    for name, text in (("lyon", RIGHT), ("prague", WRONG)):
        task.submit(task.team(name), text)
    task.work()
    with context.store.read() as db:
        [board] = [run for run in runs.unfinished(db, context.now()) if run.kind == "board"]
    do(context, board.id)
    assert state(context, board.id) == runs.FAILED
    assert task.leaderboard()["benchmark"] == SLUG


def test_scores_of_equal_outputs_that_were_deleted_are_made_anew(task, context, monkeypatch):
    task.make()
    lyon = task.team()
    first, second = task.scored(lyon, WRONG), task.submit(lyon, WRONG)
    write, deleted = Store.write, []

    def deletes_first(store, **options):
        if not deleted and state(context, second) == runs.RUNNING:
            deleted.append(first)
            monkeypatch.setattr(Store, "write", write)
            delete_submission(context, ORGANISER, first)
        return write(store, **options)

    monkeypatch.setattr(Store, "write", deletes_first)
    do(context, second)
    assert deleted == [first]
    again = task.scored(lyon, WRONG)
    values = [task.shown(lyon, each)["scores"]["main"]["value"] for each in (second, again)]
    assert values[0] == values[1] < 1
