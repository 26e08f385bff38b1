"""A revision re-scores everything, then rules at once; whatever happens before leaves the old one in force."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import orjson
import pytest
from sqlalchemy import func, select

from service.caller import Caller
from service.context import Context
from service.contract.benchmarks import RevisionRequest
from service.contract.common import PageQuery
from service.errors import Conflict, Forbidden, NotFound, Unprocessable
from service.queue import BULK
from service.store import benchmarks, boards, runs, score_records, submissions, texts
from service.store import revisions as stored
from service.store.revisions import DRY_RUNS
from service.store.submissions import BoardEntry
from service.store.tables import results
from service.usecases.access import IdempotencyKey
from service.usecases.benchmarks import work as revision_work
from service.usecases.benchmarks.revisions import (
    create_revision,
    difference,
    list_revisions,
    view_revision,
    wait_for_revision,
)
from service.usecases.boards.ranking import board_of
from service.usecases.boards.work import Side, keep_asked, rank_changes, rows_by_team
from service.usecases.scoring.config import scoring_config
from tests.fixtures.contexts import ORGANISER, give_up, work_of
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import ANYONE, ONE_SENTENCE, RIGHT, SECOND_PART, SLUG, TWO_PARTS, WRONG, Task, once
from workers import entry
from workers.entry import WorkFailed, do

FIXED = {"reason": "a wrong head", "parts": {"en": {"gold": WRONG}}}
"""Gold that makes the wrong output the right one."""
TRIED = DRY_RUNS + 1


@once
def board(task: Task):
    """Two teams: lyon is right under revision 1, oslo would be under FIXED."""
    task.make()
    task.lyon, task.oslo = task.team("lyon"), task.team("oslo")
    task.right, task.wrong = task.scored(task.lyon, RIGHT), task.scored(task.oslo, WRONG)
    return task


def revise(task: Task, request: Any = FIXED) -> tuple[int, bool]:
    return create_revision(task.context, ORGANISER, SLUG, loaded(RevisionRequest, request))


def shown(context: Context, number: int, caller: Caller = ORGANISER):
    return orjson.loads(view_revision(context, caller, SLUG, number).body)


def numbers(context: Context, caller: Caller = ORGANISER) -> list[object]:
    return [item["number"] for item in list_revisions(context, caller, SLUG, PageQuery(limit=5)).items]


def main(task: Task, submission: str) -> float:
    return task.shown(ORGANISER, submission)["scores"]["main"]["value"]


def test_everything_is_scored_again_then_the_board_switches(board, context):
    assert create_revision(context, ORGANISER, SLUG, loaded(RevisionRequest, FIXED)) == (2, True)
    assert shown(context, 2)["state"] == "checking"
    assert main(board, board.right) == 1.0
    with context.store.read() as db:
        assert runs.get(db, stored.get(db, SLUG, 2).id).queue == BULK
    assert not view_revision(context, ORGANISER, SLUG, 2).final
    board.work()
    assert wait_for_revision(context, ORGANISER, SLUG, 2, 1).final
    after = shown(context, 2)
    assert (after["state"], after["active"], after["reason"]) == ("active", True, "a wrong head")
    assert shown(context, 1)["state"] == "superseded"
    assert board.benchmark()["active_revision"] == 2
    assert main(board, board.right) == pytest.approx(5 / 6)
    assert main(board, board.wrong) == 1.0
    assert task_scores(context, 1) == {board.right: 1.0, board.wrong: pytest.approx(5 / 6)}


@pytest.mark.parametrize("fails", [False, True])
def test_the_board_is_tested_before_the_revision_becomes_active(board, context, fails):
    board.work()
    with context.store.write() as db:
        benchmark = benchmarks.get(db, SLUG)
        keep_asked(db, board_of(db, benchmark, score="attachment.las", pick="all"), context.now())
    revise(board)
    with context.store.read() as db:
        run_id = stored.get(db, SLUG, 2).id
    do(context, run_id)
    with context.store.read() as db:
        revision, tests = runs.get(db, run_id), boards.unfinished_run(db, SLUG, 2)
    assert (shown(context, 2)["state"], revision.state) == ("rescoring", "queued")
    assert revision.not_before == pytest.approx(context.now() + runs.LONGEST_HOLD, abs=timedelta(minutes=1))
    give_up(context, tests) if fails else do(context, tests)
    assert shown(context, 2)["state"] == "rescoring"
    with context.store.read() as db:
        assert runs.get(db, run_id).not_before is None
    do(context, run_id)
    assert shown(context, 2)["state"] == "active"
    for asked in ({}, {"score": "attachment.las", "pick": "all"}):
        assert board.leaderboard(ORGANISER, **asked)["significance"]["pairs"] == (None if fails else 1)


def task_scores(context, number):
    with context.store.read() as db:
        scoring = scoring_config(stored.get(db, SLUG, number).scoring)
        asked = score_records.Asked(SLUG, number, None, scoring.addresses, scoring.main_score)
        return score_records.macro_of(db, score_records.of_benchmark(SLUG), asked)


def test_it_says_who_moved_and_by_how_much(board, context):
    revise(board)
    board.work()
    rows = {row["team"]: row for row in shown(context, 2)["moved"]}
    assert rows["lyon"] == {
        "team": "lyon", "submission": board.right, "submission_before": board.right, "rank_before": 1, "rank_after": 2,
        "score_before": 1.0, "score_after": pytest.approx(5 / 6), "difference": pytest.approx(-1 / 6),
    }  # fmt: skip
    assert (rows["oslo"]["rank_before"], rows["oslo"]["rank_after"]) == (2, 1)
    assert shown(context, 2, ANYONE)["moved"] is None  # gold differs in one sentence
    board.patch(feedback="items")
    figures = {"score_after": 0.8333, "difference": -0.1667}
    assert {row["team"]: row for row in shown(context, 2, ANYONE)["moved"]}["lyon"] == {**rows["lyon"], **figures}
    board.patch(feedback="gold")
    assert shown(context, 2, ANYONE)["moved"] == shown(context, 2)["moved"]


@pytest.mark.parametrize("level", ["items", "gold"])
def test_who_moved_is_told_where_the_whole_board_is(board, context, level):
    board.patch(feedback=level)
    revise(board)
    board.work()
    assert shown(context, 2, board.lyon)["moved"]
    frozen = "2026-01-01T00:00:00Z"
    for hidden in ({"anonymous": True}, {"public": False}, {"frozen_at": frozen}):
        board.patch(leaderboard={"anonymous": False, "public": True, "frozen_at": None, **hidden})
        assert shown(context, 2, board.lyon)["moved"] is None
    board.patch(feedback="rounded", leaderboard={"frozen_at": None})
    assert shown(context, 2, board.lyon)["moved"] is None
    assert shown(context, 2)["moved"]


def test_a_dry_run_tells_the_same_and_switches_nothing(board, context):
    revise(board, {**FIXED, "dry_run": True})
    assert (board.benchmark()["pending_revision"], board.benchmark(ANYONE)["pending_revision"]) == (TRIED, None)
    board.work()
    tried = shown(context, TRIED)
    assert (tried["state"], tried["active"], tried["dry_run"]) == ("ready", False, True)
    assert board.benchmark()["active_revision"] == 1
    assert main(board, board.right) == 1.0
    with pytest.raises(NotFound):
        view_revision(context, ANYONE, SLUG, TRIED)
    assert numbers(context, ANYONE) == [1]
    revise(board)
    board.work()
    assert shown(context, 2)["moved"] == tried["moved"] != []
    revise(board, {**FIXED, "dry_run": True})
    board.work()
    # dry runs count by themselves
    assert (numbers(context, ANYONE), numbers(context)) == ([2, 1], [TRIED + 1, TRIED, 2, 1])
    assert difference(context, ORGANISER, SLUG, TRIED).document["against"] == 1
    assert difference(context, ORGANISER, SLUG, TRIED + 1).document["against"] == 2
    with context.store.read() as db:
        assert db.scalar(select(func.count()).where(results.c.revision > DRY_RUNS)) == 0


def test_a_dry_run_becomes_a_revision_without_its_files_until_another_one_does(board, context):
    revise(board, {**FIXED, "dry_run": True})
    with pytest.raises(Conflict):
        revise(board, {"from_dry_run": TRIED})
    board.work()
    assert revise(board, {"from_dry_run": TRIED, "reason": "as tried"}) == (2, True)
    board.work()
    made, tried = shown(context, 2), shown(context, TRIED)
    assert (made["active"], made["reason"], made["parts"]) == (True, "as tried", tried["parts"])
    assert made["moved"] == tried["moved"] != []
    with pytest.raises(Conflict, match="revision 2 is active since"):
        revise(board, {"from_dry_run": TRIED})
    with pytest.raises(Unprocessable):
        revise(board, {"from_dry_run": 1})


def test_other_metrics_measure_the_same_gold(board, context):
    revise(board, {"metrics": ["ud", "attachment"], "main_score": "ud.uas_f1"})
    board.work()
    document = shown(context, 2)
    assert (document["state"], document["main_score"], document["metrics"]) == (
        "active",
        "ud.uas_f1",
        ["ud", "attachment"],
    )
    assert main(board, board.wrong) == pytest.approx(5 / 6)
    assert set(board.shown(board.lyon, board.right)["scores"]["metrics"]) == {"ud", "attachment"}


def test_faulty_gold_leaves_the_old_revision_in_force(board, context):
    revise(board, {"parts": {"en": {"gold": "no treebank\n"}}})
    board.work()
    document = shown(context, 2)
    assert (document["state"], document["active"]) == ("failed", False)
    assert document["failure"]["errors"][0]["part"] == "en"
    assert shown(context, 2, ANYONE)["failure"] is None
    assert board.benchmark()["active_revision"] == 1
    assert create_revision(context, ORGANISER, SLUG, loaded(RevisionRequest, FIXED)) == (3, True)


def test_a_failure_half_way_leaves_the_old_revision_in_force(board, context, monkeypatch):
    revise(board)
    with context.store.read() as db:
        revision = stored.get(db, SLUG, 2)
    scored = []
    original = revision_work.Scorer.score

    def breaks(self, submission, note, **more):
        if scored:
            raise BufferError
        scored.append(submission.id)
        return original(self, submission, note, **more)

    monkeypatch.setattr(revision_work.Scorer, "score", breaks)
    for _ in range(context.config.max_attempts):
        with pytest.raises(BufferError):
            do(context, revision.id)
    assert shown(context, 2)["state"] == "rescoring"
    assert (board.benchmark()["active_revision"], board.benchmark()["pending_revision"]) == (1, 2)
    assert main(board, board.right) == 1.0
    with pytest.raises(WorkFailed):
        do(context, revision.id)
    document = shown(context, 2)
    assert (document["state"], document["failure"]["kind"]) == ("failed", "service")
    assert task_scores(context, 2) == {}
    assert main(board, board.right) == 1.0


def test_begun_again_it_goes_on_where_it_was(board, context, monkeypatch):
    revise(board)
    monkeypatch.setattr(revision_work, "STEP_SECONDS", 0.0)
    scored = []
    original = revision_work.Scorer.score

    def counted(self, submission, note, **more):
        scored.append(submission.id)
        return original(self, submission, note, **more)

    monkeypatch.setattr(revision_work.Scorer, "score", counted)
    board.work()
    assert shown(context, 2)["state"] == "rescoring"
    assert shown(context, 2)["progress"] == {"done": 1, "total": 2, "step": "scoring submissions again"}
    board.work()
    board.work()
    assert shown(context, 2)["state"] == "active"
    assert scored == [board.right, board.wrong]


def test_a_submission_that_lands_meanwhile_is_on_the_new_board_too(board, context, monkeypatch):
    revise(board)
    original = revision_work.Scorer.score
    landed = []

    def lands(self, submission, note, **more):
        if not landed:
            landed.append(board.submit(board.lyon, WRONG.replace("Go\tgo", "Go\tGO")))
            do(context, landed[0])
        return original(self, submission, note, **more)

    with monkeypatch.context() as patch:
        patch.setattr(revision_work.Scorer, "score", lands)
        with context.store.read() as db:
            do(context, stored.get(db, SLUG, 2).id)
    board.work()
    assert board.benchmark()["active_revision"] == 2
    assert set(task_scores(context, 2)) == {board.right, board.wrong, landed[0]}
    assert set(task_scores(context, 1)) == {board.right, board.wrong, landed[0]}


def test_a_submission_that_lands_just_before_the_switch_is_scored_first(board, context, monkeypatch):
    revise(board)
    unscored, asked = revision_work.score_records.unscored, []

    def overlooked(*given):
        asked.append(given)
        return [] if len(asked) == 1 else unscored(*given)

    monkeypatch.setattr(revision_work.score_records, "unscored", overlooked)
    with context.store.read() as db:
        do(context, stored.get(db, SLUG, 2).id)
    board.work()
    assert len(asked) > 2
    assert board.benchmark()["active_revision"] == 2
    assert set(task_scores(context, 2)) == {board.right, board.wrong}


def test_a_submission_that_was_being_scored_while_the_board_switched_is_scored_again(board, context, monkeypatch):
    late = board.submit(board.lyon, WRONG.replace("Go\tgo", "Go\tGO"))
    original = revision_work.Scorer.score
    switched = []

    def switches(self, submission, note, **more):
        found = original(self, submission, note, **more)
        if not switched:
            switched.append(create_revision(context, ORGANISER, SLUG, loaded(RevisionRequest, FIXED))[0])
            with context.store.read() as db:
                revision = stored.get(db, SLUG, 2).id
            for _ in ("scored", "switched"):
                do(context, revision)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(revision_work.Scorer, "score", switches)
        do(context, late)
    assert board.benchmark()["active_revision"] == 2
    assert late in task_scores(context, 2)
    assert late not in task_scores(context, 1)


def test_parts_that_are_not_named_stay_and_one_that_is_null_goes(task, context):
    task.make(TWO_PARTS)
    lyon = task.team()
    submission = task.scored(lyon, {"en": RIGHT, "de": SECOND_PART})
    revise(task, {"parts": {"en": {"gold": WRONG}}})
    task.work()
    assert list(task.benchmark()["parts"]) == ["en", "de"]
    assert main(task, submission) == pytest.approx((5 / 6 + 1) / 2)
    revise(task, {"parts": {"en": None}})
    task.work()
    assert list(task.benchmark()["parts"]) == ["de"]
    assert main(task, submission) == 1.0


def test_an_output_that_does_not_fit_the_new_gold_keeps_its_row_with_the_worst_value(board, context):
    revise(board, {"parts": {"en": {"gold": ONE_SENTENCE}}})
    board.work()
    assert shown(context, 2)["state"] == "active"
    document = board.shown(board.lyon, board.right)
    assert document["state"] == "succeeded"
    assert document["scores"]["parts"]["en"]["state"] == "failed"
    assert document["scores"]["metrics"]["attachment"]["macro"]["las"] is None


def test_outputs_that_are_not_kept_cannot_be_scored_again(board, context):
    with context.store.write() as db:
        submissions.drop_outputs(db, [board.right], context.now())
    revise(board)
    board.work()
    assert shown(context, 2)["state"] == "active"
    assert set(task_scores(context, 2)) == {board.wrong}
    assert board.shown(ORGANISER, board.right)["scores"]["revision"] == 1
    assert next(row for row in shown(context, 2)["moved"] if row["team"] == "lyon")["rank_after"] is None


def test_a_request_that_makes_no_sense_is_refused(board, context):
    for request, code in (
        ({"parts": {"fr": {"gold": RIGHT}}}, "unknown-part"),
        ({"parts": {"fr": None}}, "unknown-part"),
        ({"parts": {"en": None}}, "no-parts"),
        ({"format": "conllx"}, "format-changed"),
        ({"metrics": ["no-such"]}, "unknown-metric"),
    ):
        with pytest.raises(Unprocessable) as error:
            revise(board, request)
        assert [problem.code for problem in error.value.problems] == [code]
    assert shown(context, 1)["active"]
    with pytest.raises(NotFound):
        view_revision(context, ORGANISER, SLUG, 2)


def test_one_revision_at_a_time(board, context):
    repeat = IdempotencyKey("key", "digest")
    assert create_revision(context, ORGANISER, SLUG, loaded(RevisionRequest, FIXED), repeat) == (2, True)
    assert create_revision(context, ORGANISER, SLUG, loaded(RevisionRequest, FIXED), repeat) == (2, False)
    with pytest.raises(Conflict):
        revise(board)


def test_teams_revise_nothing_and_see_revisions_without_gold(board, context):
    with pytest.raises(Forbidden):
        create_revision(context, board.lyon, SLUG, loaded(RevisionRequest, FIXED))
    assert [item["number"] for item in list_revisions(context, ANYONE, SLUG, PageQuery(limit=5)).items] == [1]
    for number in (0, -1, 2, 2**40):
        with pytest.raises(NotFound):
            view_revision(context, ANYONE, SLUG, number)


def test_mending_gold_that_failed_its_check_opens_the_benchmark(task, context):
    task.make(parts={"en": {"gold": "no treebank\n"}})
    assert task.benchmark()["state"] == "failed"
    with pytest.raises(Conflict):
        revise(task, {"parts": {"en": {"gold": RIGHT}}, "dry_run": True})
    revise(task, {"parts": {"en": {"gold": RIGHT}}})
    task.work()
    assert (task.benchmark()["state"], task.benchmark()["active_revision"]) == ("active", 2)
    assert shown(context, 2)["moved"] == []


def test_the_switch_on_either_store(either_context):
    task = Task(either_context, work_of(either_context))
    task.make()
    submission = task.scored(task.team(), WRONG)
    revise(task)
    task.work()
    assert main(task, submission) == 1.0
    with either_context.store.read() as db:
        assert len(texts.read_texts(db, stored.get(db, SLUG, 1).id)) == 1


def test_through_the_queue_a_long_re_scoring_lets_others_in_between(board, context, rq_work, monkeypatch):
    board.settle()
    monkeypatch.setattr(revision_work, "STEP_SECONDS", 0.0)
    begun: list[str] = []
    perform = entry.run

    def note(of: Context, run: runs.Run) -> None:
        begun.append(run.kind)
        perform(of, run)

    monkeypatch.setattr(entry, "run", note)
    revise(board)
    with context.store.write() as db:
        for name in ("brd_1", "brd_2"):
            runs.add(db, name, "board", BULK, context.now(), "benchmark:another")
    rq_work()
    assert shown(context, 2)["state"] == "active"
    assert main(board, board.wrong) == 1.0
    assert begun[:4] == ["revision", "board", "revision", "board"]


class TestPlaces:
    """Who stands where on a board."""

    ROWS = (
        BoardEntry("sub_1", "a", "system", chosen=True, value=0.2),
        BoardEntry("sub_2", "a", "system", chosen=False, value=0.9),
        BoardEntry("sub_3", "a", "system", chosen=False, value=0.5),
        BoardEntry("sub_4", "b", "system", chosen=False, value=0.9),
        BoardEntry("sub_5", None, "baseline", chosen=False, value=1.0),
    )

    @pytest.mark.parametrize(("pick", "stands"), [("best", "sub_2"), ("last", "sub_3"), ("chosen", "sub_1")])
    def test_one_of_each_team(self, pick, stands):
        found = rows_by_team(pick, Side(self.ROWS, higher_is_better=True))
        assert found["team a"].entry.id == stands

    def test_ties_share_a_rank_and_baselines_have_none(self):
        found = rows_by_team("all", Side(self.ROWS, higher_is_better=True))
        assert {key: row.rank for key, row in found.items()} == {
            "sub_1": 4, "sub_2": 1, "sub_3": 3, "sub_4": 1, "sub_5": None,
        }  # fmt: skip

    def test_lower_is_better_where_it_is(self):
        found = rows_by_team("best", Side(self.ROWS, higher_is_better=False))
        assert (found["team a"].entry.id, found["team a"].rank, found["team b"].rank) == ("sub_1", 1, 2)

    def test_an_undefined_score_has_no_rank(self):
        rows = (self.ROWS[0]._replace(value=None), self.ROWS[3]._replace(value=0.5))
        found = rows_by_team("best", Side(rows, higher_is_better=True))
        assert (found["team a"].rank, found["team b"].rank) == (None, 1)

    def test_nobody_moves_where_nothing_changes(self):
        side = Side(self.ROWS, higher_is_better=True)
        assert rank_changes("best", side, side) == []
