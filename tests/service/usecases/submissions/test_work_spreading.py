"""A large submission is scored in pieces by all idle workers: to the byte as by one, once, and in nobody's way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, select

from service.context import Context
from service.contract.benchmarks import RevisionRequest
from service.contract.jobs import JobRequest
from service.queue import LIVE, Queue
from service.store import revisions, runs, tables
from service.store.runs import Piece
from service.usecases import runs as ending
from service.usecases.benchmarks.revisions import create_revision
from service.usecases.benchmarks.teams import erase_team
from service.usecases.jobs import submit_job
from service.usecases.retention import Scope, purge
from service.usecases.runs import Cancelled
from service.usecases.scoring.part_scorer import Scorer
from service.usecases.submissions import work
from service.usecases.submissions.submissions import cancel_submission, delete_submission
from service.usecases.submissions.work import score_piece, spans_of
from tests.fixtures.contexts import ORGANISER, SCORER, busy_worker, with_config, work_of
from tests.fixtures.requests import DEPENDENCIES, loaded
from tests.fixtures.service_process import free_port
from tests.fixtures.tasks import OTHER_WORDS, RIGHT, SLUG, WRONG, Task, once
from treescore.core.version import __version__
from workers.entry import TimeLimitReached, WorkFailed, do, give_back, next_work, peek, run
from workers.worker import Worker


def own(text: str, name: str) -> str:
    """A text with a first word of its own."""
    return text.replace("She\tshe", f"{name}\t{name}")


NAMES = ("a", "b", "c", "d", "e")
PARTS = {name: {"gold": own(RIGHT, name)} for name in NAMES}
OUTPUTS = {"a": own(RIGHT, "a"), "b": own(WRONG, "b"), "d": OTHER_WORDS, "e": "1\tbad"}
"""One part is right, one is wrong, one is missing, one has other words, one cannot be read."""
LARGE = 40
"""Bytes from which on submissions are spread here; each part with an output is a piece."""
PIECES = 4


@pytest.fixture
def large(context: Context) -> Context:
    """A context in which submissions are large, with a worker beside the one that does the work."""
    for _ in range(2):
        Worker(context, LIVE).register_birth()
    return with_config(context, spread_bytes=LARGE)


@once
def begun(task: Task) -> tuple[str, tuple[object, ...]]:
    """A large submission to five parts that no worker has begun, and its result where one worker scores all of it."""
    task.make(parts=PARTS)
    first = task.scored(task.team("alone"), OUTPUTS)
    expected = result(task.context, first)
    delete_submission(task.context, ORGANISER, first)
    return task.submit(task.team(), OUTPUTS), expected


@pytest.fixture
def waiting(begun: tuple[str, tuple[object, ...]]) -> str:
    """A large submission that no worker has begun."""
    return begun[0]


@pytest.fixture
def alone(begun: tuple[str, tuple[object, ...]]) -> tuple[object, ...]:
    """The result of the same outputs where one worker scores all of them."""
    return begun[1]


@pytest.fixture
def spread(large: Context, begun: object) -> Task:
    """The benchmark of five parts."""
    return Task(large, work_of(large))


def rows(context: Context, table: Any = tables.pieces) -> int:
    with context.store.read() as db:
        return int(db.scalar(select(func.count()).select_from(table)) or 0)


def state(context: Context, run_id: str) -> str:
    with context.store.read() as db:
        found = runs.get(db, run_id)
    assert found is not None
    return found.state


def planned(context: Context, run_id: str) -> runs.Run:
    """The run, claimed by a worker that has stored its pieces and scored none."""
    claimed = next_work(context, LIVE, runs.NO_LIMIT)
    assert isinstance(claimed, runs.Run)
    assert claimed.id == run_id
    with context.store.write() as db:
        runs.plan_pieces(db, run_id, 1, __version__, [(0, 1), (1, 3), (3, 4), (4, 5)])
    return claimed


def taken(context: Context) -> Piece:
    """A piece that another worker has begun."""
    piece = next_work(context, LIVE, runs.NO_LIMIT)
    assert isinstance(piece, Piece)
    return piece


def result(context: Context, submission: str, revision: int = 1) -> tuple[object, ...]:
    """All that is stored of a scored submission, but for whose it is and when."""
    c = tables.artifacts.c
    with context.store.read() as db:
        packed = db.execute(select(c.name, c.body).where(c.owner == submission).order_by(c.name)).all()
        stored = [
            db.execute(
                select(*(column for column in table.c if column.name not in ("submission_id", "created_at")))
                .where(table.c.submission_id == submission, table.c.revision == revision)
                .order_by(*list(table.primary_key)[2:])
            ).all()
            for table in (tables.records, tables.record_documents, tables.scores)
        ]
    assert all(stored)
    return (stored, packed)


@pytest.fixture
def scored_parts(monkeypatch) -> list[str]:
    """The names of the parts in the order in which anybody scores them."""
    seen: list[str] = []
    real = Scorer._part

    def note(scorer, part, *given):
        seen.append(part.name)
        return real(scorer, part, *given)

    monkeypatch.setattr(Scorer, "_part", note)
    return seen


@pytest.fixture
def impatient(monkeypatch) -> None:
    """Workers look for lost pieces at once, and note each part."""
    monkeypatch.setattr(work, "LOOK_AGAIN", 0.0)
    monkeypatch.setattr(ending, "PROGRESS_INTERVAL", 0.0)


@pytest.mark.parametrize("others", [(), (1, 2), (0, 1, 2, 3)])
def test_who_scores_which_piece_makes_no_difference(large, spread, alone, waiting, scored_parts, others):
    claimed = planned(large, waiting)
    spread.change(ORGANISER, waiting, withdrawn=True)  # which leaves its scoring alone
    taken_pieces = [taken(large) for _ in range(PIECES)]
    for number, piece in enumerate(taken_pieces):
        if number in others:
            run(large, piece)
        else:
            assert give_back(large, piece.id) == LIVE
    run(large, claimed)
    assert state(large, waiting) == runs.SUCCEEDED
    assert result(large, waiting) == alone
    assert sorted(scored_parts) == list(NAMES)
    assert rows(large) == 0


def test_its_own_worker_wakes_as_many_as_could_help_in_one_round_trip(large, waiting, monkeypatch):
    sent: list[list[str]] = []
    monkeypatch.setattr(Queue, "put_all", lambda _self, names, _queue: sent.append(list(names)) or True)
    do(large, waiting)
    assert [len(names) for names in sent[:1]] == [1]
    assert all(runs.piece_of(name, waiting) for name in sent[0])


def test_small_submissions_and_single_workers_have_no_pieces(spread, waiting, monkeypatch):
    monkeypatch.setattr(runs, "plan_pieces", lambda *_: pytest.fail("the submission was divided"))
    for team, (threshold, workers) in enumerate([(0, 2), (10_000, 2), (LARGE, 1), (LARGE, 0)]):
        monkeypatch.setattr(Queue, "workers", lambda *_, workers=workers: workers)
        submission = spread.submit(spread.team(f"t{team}"), {"a": own(RIGHT, "a"), "b": own(WRONG, "b")})
        do(with_config(spread.context, spread_bytes=threshold), submission)
        assert state(spread.context, submission) == runs.SUCCEEDED


def test_pieces_are_parts_in_a_row_of_a_least_size():
    assert list(spans_of([5, 1, 1, 8, 0, 2], 5)) == [(0, 1), (1, 4), (4, 6)]
    assert list(spans_of([0, 0, 9], 5)) == [(0, 3)]
    assert list(spans_of([], 5)) == []


def test_runs_that_wait_come_before_pieces(large, waiting):
    planned(large, waiting)
    job = submit_job(large, SCORER, loaded(JobRequest, DEPENDENCIES))[0]
    assert peek(large, LIVE, runs.NO_LIMIT) == job
    assert next_work(large, LIVE, runs.NO_LIMIT).id == job
    assert peek(large, LIVE, runs.NO_LIMIT) == taken(large).id


def test_principals_with_fewer_pieces_at_work_come_first(spread, waiting):
    cancel_submission(spread.context, ORGANISER, waiting)
    first, second = (spread.submit(spread.team(name), {"a": own(RIGHT, "a"), "b": name}) for name in ("metz", "oslo"))
    for each in (first, second):
        planned(spread.context, each)
    owners = [taken(spread.context).run_id for _ in range(2 * PIECES)]
    assert owners == [first, second] * PIECES


def test_workers_of_another_version_or_queue_take_none(large, waiting):
    planned(large, waiting)
    with large.store.write() as db:
        assert runs.take_next_piece(db, "bulk", __version__, 3) is None
        assert runs.take_next_piece(db, LIVE, "0.0.0", 3) is None


def test_a_result_is_written_once(large, waiting):
    planned(large, waiting)
    piece = taken(large)
    with large.store.write() as db:
        assert runs.save_piece(db, piece, b"first")
        assert not runs.save_piece(db, piece, b"second")
        assert runs.piece_results(db, waiting, 1) == [b"first"]
        assert not runs.give_pieces_back(db, {piece.id: piece.id})


@pytest.mark.usefixtures("impatient")
def test_a_piece_that_went_to_another_is_not_given_back_by_who_lost_it(large, waiting):
    planned(large, waiting)
    lost = taken(large)
    with large.store.write() as db:
        assert runs.take_piece(db, waiting, also_held=True).id == lost.id
    assert give_back(large, lost.id) is None
    with large.store.read() as db:
        assert runs.unfinished_pieces(db, waiting)[lost.id] == waiting
    with pytest.raises(Cancelled):
        score_piece(large, lost)


@pytest.mark.usefixtures("impatient")
def test_a_piece_of_a_killed_work_horse_is_done_by_another_once(large, alone, waiting, scored_parts):
    claimed = planned(large, waiting)
    lost = taken(large)
    assert give_back(large, lost.id) == LIVE
    again = taken(large)
    assert (again.id, again.attempts) == (lost.id, 2)
    run(large, again)
    taken(large)  # by a worker without sign of life: it goes to the run's own
    run(large, claimed)
    assert sorted(scored_parts) == list(NAMES)
    assert result(large, waiting) == alone


def test_the_runs_own_worker_waits_for_a_worker_that_lives(large, waiting, monkeypatch):
    claimed = planned(large, waiting)
    piece = taken(large)
    busy_worker(large, piece.id)
    waits = []

    def wait(_listener, _seconds) -> bool:
        waits.append(piece)
        if len(waits) == 2:
            run(large, piece)
        return len(waits) == 2

    monkeypatch.setattr("service.queue.Listener.wait", wait)
    run(large, claimed)
    assert len(waits) == 2
    assert state(large, waiting) == runs.SUCCEEDED


def test_a_piece_that_ends_its_workers_is_left_to_the_runs_own(large, waiting):
    claimed = planned(large, waiting)
    for _ in range(large.config.max_attempts):
        assert give_back(large, taken(large).id) == LIVE
    assert taken(large).first == 1
    assert give_back(large, f"{waiting}-p1-1") == LIVE
    run(large, claimed)
    assert state(large, waiting) == runs.SUCCEEDED


def test_a_run_that_begins_again_finds_the_pieces_that_are_done(large, alone, waiting, scored_parts):
    claimed = planned(large, waiting)
    run(large, taken(large))
    with large.store.write() as db:
        begun_by_its_worker = runs.take_piece(db, waiting)
    assert begun_by_its_worker.first == 1
    assert give_back(large, claimed.id) == LIVE
    assert not isinstance(next_work(large, "bulk", runs.NO_LIMIT), Piece)
    again = next_work(large, LIVE, runs.NO_LIMIT)
    assert (again.id, again.attempts) == (waiting, 2)
    run(large, again)
    assert sorted(scored_parts) == list(NAMES)
    assert result(large, waiting) == alone


def test_results_of_another_version_are_not_joined(large, waiting, alone, scored_parts):
    claimed = planned(large, waiting)
    with large.store.write() as db:
        runs.plan_pieces(db, waiting, 1, "0.0.0", [(0, 5)])
        runs.save_piece(db, runs.take_piece(db, waiting), b"of another version")
    run(large, claimed)
    assert sorted(scored_parts) == list(NAMES)
    assert result(large, waiting) == alone


@pytest.mark.usefixtures("impatient")
def test_a_worker_of_another_version_leaves_what_took_the_place_of_its_piece(large, waiting, alone):
    claimed = planned(large, waiting)
    piece = taken(large)
    older = replace(piece, version="0.0.0")
    with large.store.write() as db:
        assert not runs.note_piece_done(db, older, older.id, 1)
        assert not runs.save_piece(db, older, b"of another version")
    run(large, piece)
    run(large, claimed)
    assert result(large, waiting) == alone


ENDS = {
    "cancelled": lambda context, name: cancel_submission(context, ORGANISER, name),
    "deleted": lambda context, name: delete_submission(context, ORGANISER, name),
    "team erased": lambda context, _: erase_team(context, ORGANISER, SLUG, "lyon"),
    "purged": lambda context, _: purge(context, Scope(benchmark=SLUG)),
}


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_ended_from_outside_all_stop_and_nothing_is_left(large, waiting, end):
    claimed = planned(large, waiting)
    piece = taken(large)
    end(large, waiting)
    assert rows(large) == 0
    with pytest.raises(Cancelled):
        score_piece(large, piece)
    run(large, claimed)
    assert give_back(large, piece.id) is None
    assert rows(large) == 0
    assert rows(large, tables.scores) == 0


@pytest.mark.usefixtures("impatient")
def test_the_time_limit_of_its_own_worker_is_that_of_the_whole(large, spread, waiting, monkeypatch):
    claimed = planned(large, waiting)
    piece = taken(large)

    def reach_limit(*_) -> None:
        raise TimeLimitReached

    with monkeypatch.context() as patch:
        patch.setattr(Scorer, "score_parts", reach_limit)
        # a piece that reaches it in another worker is given back
        with pytest.raises(WorkFailed):
            run(large, piece)
        assert give_back(large, piece.id) == LIVE
        assert state(large, waiting) == runs.RUNNING
        piece = taken(large)
        run(large, claimed)
    shown = spread.shown(ORGANISER, waiting)
    assert (shown["state"], shown["failure"]["kind"]) == (runs.FAILED, "limit")
    with pytest.raises(Cancelled):
        score_piece(large, piece)
    assert rows(large) == 0


def test_cancelling_ends_the_work_horses_of_all_its_pieces(large, waiting, monkeypatch):
    planned(large, waiting)
    piece = taken(large)
    names = (waiting, piece.id, "sub_of_another-p1-0")
    jobs = {name: busy_worker(large, name).get_current_job_id() for name in names}
    ended: list[str] = []
    monkeypatch.setattr("service.queue.send_stop_job_command", lambda _redis, job, **_: ended.append(job))
    cancel_submission(large, ORGANISER, waiting)
    assert sorted(ended) == sorted([jobs[waiting], jobs[piece.id]])


def test_a_revision_that_becomes_active_meanwhile_starts_it_again(large, waiting, spread):
    claimed = planned(large, waiting)
    old = taken(large)
    new = {"parts": {**PARTS, "c": {"gold": own(WRONG, "c")}}, "reason": "c was wrong"}
    create_revision(large, ORGANISER, SLUG, loaded(RevisionRequest, new))
    with large.store.read() as db:
        run_id = revisions.get(db, SLUG, 2).id
    do(large, run_id)
    with large.store.read() as db:
        assert revisions.get(db, SLUG, 2).state == revisions.ACTIVE
    run(large, claimed)
    assert result(large, waiting, 2)
    run(large, old)
    assert rows(large) == 0


def test_without_redis_its_own_worker_does_all_that_has_no_result(large, alone, waiting):
    claimed = planned(large, waiting)
    taken(large)
    away = replace(large, queue=Queue(f"redis://127.0.0.1:{free_port()}/0"))
    run(away, replace(claimed, attempts=2))
    assert state(large, waiting) == runs.SUCCEEDED
    assert result(large, waiting) == alone


@pytest.mark.usefixtures("impatient")
def test_an_empty_redis_in_the_middle_changes_nothing(large, alone, waiting):
    claimed = planned(large, waiting)
    piece = taken(large)
    large.queue.redis.flushall()
    run(large, replace(claimed, attempts=2))
    run(large, piece)
    assert state(large, waiting) == runs.SUCCEEDED
    assert result(large, waiting) == alone


@pytest.mark.usefixtures("impatient")
def test_progress_counts_the_parts_of_all_workers(large, waiting, monkeypatch):
    claimed = planned(large, waiting)
    run(large, taken(large))
    noted: list[tuple[int, int]] = []
    real = runs.note_progress

    def note(db, run_id, done, total, step) -> bool:
        noted.append((done, total))
        return real(db, run_id, done, total, step)

    monkeypatch.setattr(runs, "note_progress", note)
    run(large, claimed)
    assert noted == [(done, 5) for done in (1, 2, 3, 4)]


def test_progress_of_another_worker_is_shown_too(large, spread, waiting, monkeypatch):
    monkeypatch.setattr(ending, "PROGRESS_INTERVAL", 0.0)
    planned(large, waiting)
    run(large, taken(large))
    run(large, taken(large))
    shown = spread.shown(ORGANISER, waiting)
    assert shown["state"] == "running"
    assert shown["progress"] == {"done": 2, "total": 5, "step": "scoring c"}
    assert shown["queue"]["ahead"] == 0
    # pieces take no place in the queue
    behind = spread.submit(spread.team("oslo"), {"a": own(RIGHT, "a")})
    assert spread.shown(ORGANISER, behind)["queue"]["ahead"] == 1


def test_both_databases_do_the_same(either_context):
    large = with_config(either_context, spread_bytes=LARGE)
    for _ in range(2):
        Worker(large, LIVE).register_birth()
    task = Task(large, work_of(large))
    task.make(parts=PARTS)
    first = task.submit(task.team(), OUTPUTS)
    claimed = planned(large, first)
    run(large, taken(large))
    taken(large)
    assert give_back(large, taken(large).id) == LIVE
    assert peek(large, LIVE, runs.NO_LIMIT) is not None
    large.queue.redis.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "LOOK_AGAIN", 0.0)
        run(large, claimed)
    assert state(large, first) == runs.SUCCEEDED
    assert rows(large) == 0
