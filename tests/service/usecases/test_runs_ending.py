"""One function ends every run: once, in one transaction, and again when the result was outdated."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest
from sqlalchemy import func, select

from service.contract.submissions import SubmissionRequest
from service.queue import BULK, LIVE, Queue
from service.store import revisions, runs, tables, texts
from service.store.database import Store
from service.usecases.benchmarks import work as revision_work
from service.usecases.benchmarks.benchmarks import delete_benchmark
from service.usecases.boards.compare import compare_submissions
from service.usecases.jobs import view_job
from service.usecases.kinds import KINDS
from service.usecases.runs import Ending, Failure, Outdated, QueuedRun, finish, perform
from service.usecases.submissions.submissions import delete_submission
from service.usecases.submissions.validation import validate
from tests.fixtures.contexts import ORGANISER, sent_for
from tests.fixtures.requests import loaded
from tests.fixtures.service_process import free_port
from tests.fixtures.tasks import RIGHT, SLUG, WRONG
from treescore.errors import LimitError, Problem
from workers.entry import do
from workers.sweeper import Sweeper

PROBLEM = Problem(code="too-large", detail="The text exceeds the limit.")


@pytest.fixture
def run(context):
    with context.store.write() as db:
        runs.add(db, "job_1", "job", LIVE, context.now(), "tok_a")
        return runs.claim(db, "job_1", context.now())


def state(context, run_id="job_1"):
    with context.store.read() as db:
        found = runs.get(db, run_id)
    return None if found is None else found.state


def adds(name):
    """A save that stores another run, to see whether its transaction was committed."""

    def save(db, now):
        runs.add(db, name, "job", BULK, now, "tok_a")
        return [QueuedRun(name, BULK)]

    return save


def test_what_is_saved_is_queued_after_the_commit(context, run):
    done = []
    assert finish(context, run, Ending(runs.SUCCEEDED, adds("job_2"), after=lambda: done.append(state(context))))
    assert (state(context), state(context, "job_2"), done) == (runs.SUCCEEDED, runs.QUEUED, [runs.SUCCEEDED])
    assert sent_for(context, BULK) == ["job_2"]


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


def test_what_a_save_stored_is_queued_later_where_redis_does_not_answer(context, run):
    away = replace(context, queue=Queue(f"redis://127.0.0.1:{free_port()}"))
    done = []
    assert finish(away, run, Ending(runs.SUCCEEDED, adds("job_2"), after=lambda: done.append(1)))
    assert (state(context), state(context, "job_2"), done) == (runs.SUCCEEDED, runs.QUEUED, [1])
    now = context.now() + timedelta(minutes=1)
    sweeper = Sweeper(replace(context, now=lambda: now))
    assert [sweeper.sweep(), sweeper.sweep()] == [[], ["job_2"]]
    assert sent_for(context, BULK) == ["job_2"]


def test_an_error_after_the_commit_leaves_the_run_ended_and_what_follows_queued(context, run):
    def after():
        raise MemoryError

    with pytest.raises(MemoryError):
        finish(context, run, Ending(runs.SUCCEEDED, adds("job_2"), after=after))
    assert (state(context), state(context, "job_2")) == (runs.SUCCEEDED, runs.QUEUED)
    assert sent_for(context, BULK) == ["job_2"]
    do(context, run.id)
    assert state(context) == runs.SUCCEEDED


def test_a_run_that_was_cancelled_while_it_was_outdated_stops(context, run):
    attempts = []

    def work(_context, _run, _progress):
        attempts.append(1)
        with context.store.write() as db:
            runs.finish(db, run.id, runs.CANCELLED, context.now())
        return Ending(runs.SUCCEEDED, adds("job_2"))

    perform(context, SimpleNamespace(work=work, fail=None), run)
    assert (attempts, state(context), state(context, "job_2")) == ([1], runs.CANCELLED, None)


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


def test_every_kind_ends_a_run_whose_resource_is_gone(context):
    for kind in KINDS:
        with context.store.write() as db:
            runs.add(db, kind, kind, LIVE, context.now(), "tok_a")
            run = runs.claim(db, kind, context.now())
        assert finish(context, run, KINDS[kind].fail(context, run, Failure("service", [PROBLEM], 1)))
        assert state(context, kind) == runs.FAILED


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
    assert task.leaderboard()["significance"]["pending"] is False


def test_a_board_that_changes_while_it_is_compared_is_compared_again(task, context, monkeypatch):
    task.make()
    lyon, prague, oslo = (task.team(name) for name in ("lyon", "prague", "oslo"))
    task.scored(lyon, RIGHT), task.scored(prague, WRONG)
    third = task.scored(oslo, WRONG.replace("2\tnsubj", "2\tobj"))
    changed = []

    def changes(*given):
        if not changed:
            changed.append(third)
            task.change(oslo, third, withdrawn=True)
        return compare_submissions(*given)

    monkeypatch.setattr("service.usecases.boards.work.compare_submissions", changes)
    with context.store.read() as db:
        [first] = [run.id for run in runs.unfinished(db, context.now()) if run.kind == "board"]
    do(context, first)
    assert changed == [third]
    assert state(context, first) == runs.SUCCEEDED
    with context.store.read() as db:
        [again] = [run.id for run in runs.unfinished(db, context.now()) if run.kind == "board"]
    assert again != first
    do(context, again)
    with context.store.read() as db:
        assert not runs.unfinished(db, context.now())
    assert task.leaderboard()["significance"]["pending"] is False


def test_gold_of_a_benchmark_that_is_deleted_while_it_is_checked_leaves_nothing(task, context, monkeypatch):
    read, deleted = revision_work.blind_inputs, []

    def deletes(gold, pairs):
        if not deleted:
            deleted.append(SLUG)
            delete_benchmark(context, ORGANISER, SLUG)
        return read(gold, pairs)

    monkeypatch.setattr(revision_work, "blind_inputs", deletes)
    task.make(publish_input="words")
    assert deleted == [SLUG]
    with context.store.read() as db:
        [revision] = revisions.ids_by_number(db, SLUG).values()
        assert db.scalar(select(func.count()).where(tables.artifacts.c.owner == revision)) == 0
        assert texts.read_texts(db, revision) == {}
    assert state(context, revision) == runs.CANCELLED


def test_a_failed_validation_quotes_no_gold(task, context):
    task.make()
    outputs = loaded(SubmissionRequest, {"outputs": {"en": RIGHT}})
    lyon = task.team()
    job, _ = validate(context, lyon, SLUG, outputs)
    with context.store.read() as db:
        run = runs.get(db, job)
    quoting = Problem(code="word-mismatch", detail="The word differs.", gold_detail="Gold has 'zzgoldzz'.")
    assert finish(context, run, KINDS[run.kind].fail(context, run, Failure("input", [quoting], 1)))
    assert b"zzgoldzz" not in view_job(context, lyon, job).body


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
