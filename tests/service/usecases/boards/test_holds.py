"""The comparison of a board waits while submissions are under way, in the store alone, and never for long."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from service.queue import BULK
from service.store import boards, runs
from service.store.boards import BoardRun
from service.usecases.benchmarks.teams import erase_team
from service.usecases.boards.work import HOLD, board_changed
from service.usecases.checks import queue_findings
from service.usecases.submissions.submissions import cancel_submission, delete_submission
from tests.fixtures.contexts import ORGANISER, give_up, later, sent_for
from tests.fixtures.tasks import LONG, SLUG, once, spoilt
from workers.entry import do, give_back, next_run, peek
from workers.sweeper import Sweeper

TEAMS = ("lyon", "prague", "oslo")


class Arrivals:
    """Three submissions of three teams, none of them scored yet."""

    def __init__(self, task):
        self.context = task.context
        self.task = task
        self.task.make(parts={"en": {"gold": LONG}})
        self.teams = [self.task.team(name) for name in TEAMS]
        self.ids = [self.task.submit(team, spoilt(number)) for number, team in enumerate(self.teams)]

    def score(self, *numbers):
        for number in numbers:
            do(self.context, self.ids[number])

    def board(self):
        with self.context.store.read() as db:
            run_id = boards.unfinished_run(db, SLUG, 1)
            return None if run_id is None else runs.get(db, run_id)

    def queued(self):
        return self.board().id in sent_for(self.context, BULK)


@partial(once, either=True)
def arrivals(task):
    return Arrivals(task)


def begun(context):
    run = next_run(context, BULK, runs.NO_LIMIT)
    return None if run is None else run.id


def test_one_submission_on_a_quiet_benchmark_does_not_wait(context, task):
    task.make()
    task.scored(task.team())
    with context.store.read() as db:
        board = runs.get(db, boards.unfinished_run(db, SLUG, 1))
    assert board.not_before is None
    assert board.id in sent_for(context, BULK)
    assert begun(context) == board.id


def test_a_board_is_held_until_the_last_submission_ends(arrivals):
    context = arrivals.context
    for number in (0, 1):
        arrivals.score(number)
        assert not arrivals.queued()
        assert begun(context) is None
        assert peek(context, BULK, runs.NO_LIMIT) is None
    assert arrivals.task.leaderboard()["significance"]["pending"] is True
    arrivals.score(2)
    assert arrivals.queued()
    board = arrivals.board().id
    assert peek(context, BULK, runs.NO_LIMIT) == board
    assert begun(context) == board
    do(context, board)
    assert arrivals.task.leaderboard()["significance"]["pairs"] == 3
    assert arrivals.board() is None


ENDS = {
    "fails": lambda own: give_up(own.context, own.ids[2]),
    "is cancelled": lambda own: cancel_submission(own.context, own.teams[2], own.ids[2]),
    "is deleted": lambda own: delete_submission(own.context, own.teams[2], own.ids[2]),
    "is erased": lambda own: erase_team(own.context, ORGANISER, SLUG, TEAMS[2]),
}


@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
def test_it_begins_however_the_last_submission_ends(arrivals, ends):
    arrivals.score(0, 1)
    ends(arrivals)
    assert arrivals.queued()
    assert begun(arrivals.context) is not None


def test_a_board_that_nothing_changed_is_not_begun_by_a_failure(arrivals):
    for submission in arrivals.ids:
        give_up(arrivals.context, submission)
    assert arrivals.board() is None
    assert arrivals.context.queue.lengths()[BULK] == 0


def test_after_its_time_it_begins_though_submissions_are_under_way(arrivals):
    arrivals.score(0, 1)
    seconds = HOLD.total_seconds()
    assert begun(later(arrivals.context, seconds=seconds - 5)) is None
    assert begun(later(arrivals.context, seconds=seconds)) == arrivals.board().id


def test_the_sweeper_wakes_a_worker_when_the_time_has_come_also_from_an_empty_redis(arrivals):
    arrivals.score(0, 1)
    arrivals.context.queue.redis.flushall()
    board = arrivals.board().id
    for seconds, due in ((20, False), (HOLD.total_seconds(), True)):
        then = later(arrivals.context, seconds=seconds)
        assert (board in [each.subject for each in queue_findings(then)]) is due  # of a check
        sweeper = Sweeper(then)
        assert (board in [*sweeper.sweep(), *sweeper.sweep()]) is due
    assert arrivals.queued()


def test_a_run_whose_worker_died_is_not_held_again(arrivals):
    arrivals.score(0, 1)
    late = later(arrivals.context, seconds=HOLD.total_seconds())
    board = begun(late)
    assert give_back(late, board) == BULK
    assert begun(late) == board


def test_a_long_comparison_waits_four_times_as_long(arrivals):
    context = arrivals.context
    arrivals.score(0, 1, 2)
    with context.store.write() as db:
        board = runs.claim_next(db, BULK, context.now())
        runs.finish(db, board.id, runs.SUCCEEDED, context.now() + timedelta(seconds=20))
        assert boards.last_seconds(db, BoardRun(SLUG, 1)) == pytest.approx(20, abs=1)
    arrivals.task.submit(arrivals.teams[0], spoilt(7))
    with context.store.write() as db:
        assert board_changed(db, context, SLUG) == ()
    held = arrivals.board().not_before - context.now()
    assert timedelta(seconds=75) < held < timedelta(seconds=85)


def test_a_steady_stream_delays_no_board_for_ever(arrivals):
    """A submission every twenty seconds, each scored once the next has come: there is always one under way."""
    context, begins = arrivals.context, []
    arrivals.score(0)
    for step in range(1, 12):
        at = replace(context, now=lambda step=step: context.now() + timedelta(seconds=20 * step))
        arrivals.ids.append(arrivals.task.submit(arrivals.teams[step % 3], spoilt(step)))
        do(at, arrivals.ids[step])
        board = begun(at)
        if board is not None:
            begins.append(20 * step)
            do(at, board)
    assert begins == [60, 140, 220]  # the first step of the clock after the time, which begins with the next change


def test_a_wrong_clock_holds_no_run_for_ever(arrivals):
    context = arrivals.context
    arrivals.score(0, 1)
    board = arrivals.board()
    a_minute_behind = replace(context, now=lambda: context.now() - timedelta(minutes=1))
    assert begun(a_minute_behind) is None
    years_behind = replace(context, now=lambda: context.now() - timedelta(days=2000))
    assert begun(years_behind) == board.id


def test_the_end_of_the_last_submission_needs_no_clock(arrivals):
    context = arrivals.context
    arrivals.score(0, 1)
    ahead = replace(context, now=lambda: context.now() + timedelta(minutes=1))
    do(ahead, arrivals.ids[2])
    assert begun(context) is not None


def test_runs_behind_a_held_one_begin_and_do_not_count_it(arrivals):
    context = arrivals.context
    arrivals.score(0, 1)
    with context.store.write() as db:
        runs.add(db, "cmp_1", "comparison", BULK, context.now(), "tok_a")
        assert runs.ahead(db, runs.get(db, "cmp_1")) == 0
    assert begun(context) == "cmp_1"
