"""The leaderboard: rows at once, significance when a worker has caught up, and what each viewer may see of it."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from datetime import timedelta

import pytest

from service.context import Context
from service.contract.leaderboards import LeaderboardQuery
from service.errors import NotFound, Unprocessable
from service.policy.figures import rounded_p, rounded_score
from service.queue import BULK
from service.store import benchmarks, boards, runs
from service.usecases.boards.compare import NEWER
from service.usecases.boards.ranking import board_of, question_of
from service.usecases.boards.viewing import leaderboard
from service.usecases.boards.work import BOARD_KIND, board_changed
from tests.fixtures.contexts import ORGANISER, give_up, work_of
from tests.fixtures.requests import GOLD_CONLLU, loaded
from tests.fixtures.tasks import ANYONE, BENCHMARK, SECOND_PART, SLUG, TWO_PARTS, Task, column, spoilt
from workers.entry import do


def test_rows_do_not_wait_for_significance_and_say_that_it_is_coming(board, context):
    for number, wrong in enumerate((10, 1, 3)):
        board.submit(board.team(f"t{number}"), spoilt(wrong))
    board.work()
    early = board.leaderboard()
    assert column(early, "team") == ["t1", "t2", "t0"]
    assert column(early, "rank") == [1, 2, 3]
    assert early["significance"]["pending"] is True
    assert board.board().final is False
    assert [early["significance"][name] for name in ("test", "pairs", "notes")] == [None, None, []]
    assert column(early, "p_next") == column(early, "rank_interval") == column(early, "cluster") == [None] * 3
    with context.store.read() as db:
        waiting = [run for run in runs.unfinished(db, context.now() + timedelta(days=1)) if run.kind == BOARD_KIND]
    assert len(waiting) == 1
    board.settle()
    late = board.leaderboard()
    assert (late["significance"]["pending"], late["significance"]["pairs"]) == (False, 3)
    assert board.board().final is True
    assert (late["significance"]["test"], late["significance"]["correction"]) == ("permutation", "holm")
    assert column(late, "rank_interval") == [[1, 2], [1, 2], [3, 3]]
    assert column(late, "cluster") == [1, 1, 2]
    # two and seven sentences differ, all in the same direction: 2 / 2^n, of which three are corrected
    assert column(late, "p_next") == [rounded_p(2 / 2**2), rounded_p(2 * 2 / 2**7), None]
    row = late["rows"][1]
    assert row["score"] == row["scores"]["attachment.las"] == row["scores"]["attachment.uas"] == rounded_score(69 / 72)
    assert row["ci95"]["low"] < row["score"] <= row["ci95"]["high"]
    assert (row["team"], row["team_name"], row["name"]) == ("t2", "t2 Parsing Group", "biaffine-7")


def test_either_store_holds_a_board(either_context):
    task = Task(either_context, work_of(either_context))
    task.make(TWO_PARTS, feedback="gold")
    task.submit(task.team("lyon"), {"en": GOLD_CONLLU.replace("2\tobj", "1\tnmod"), "de": SECOND_PART})
    task.submit(task.team("prague"), {"en": GOLD_CONLLU, "de": SECOND_PART})
    task.settle()
    macro = task.leaderboard()
    assert column(macro, "team") == ["prague", "lyon"]
    assert macro["significance"]["pairs"] == 1
    assert column(task.leaderboard(score="attachment.uas", part="en"), "score") == [1.0, pytest.approx(5 / 6)]
    assert column(task.leaderboard(ORGANISER, part="pooled", pick="all"), "score") == [1.0, pytest.approx(11 / 12)]
    task.ask(part="en")
    task.settle()
    assert task.leaderboard(part="en")["rows"][0]["p_next"] == 1.0


def test_what_changes_while_a_comparison_is_made_is_seen_at_its_end(board, context):
    lyon = board.team("lyon")
    board.submit(lyon, spoilt(5))
    board.work()
    with context.store.read() as db:
        first = boards.unfinished_run(db, SLUG, 1)
    with context.store.write() as db:
        # a worker has begun, and something changes between: no second run
        runs.claim(db, first, context.now())
        assert board_changed(db, context, SLUG) == ()
    board.submit(board.team("prague"), spoilt(2))
    board.settle()
    assert board.leaderboard()["significance"]["pending"] is False
    assert board.leaderboard()["significance"]["pairs"] == 1


def test_where_the_tested_rows_stay_nothing_is_computed_again(two_teams, monkeypatch):
    task, lyon, _ = two_teams
    worse = task.submit(lyon, spoilt(9))
    task.settle()
    monkeypatch.setattr("service.usecases.boards.work.compare_submissions", None)
    task.change(lyon, worse, withdrawn=True)
    task.settle()
    assert task.leaderboard()["significance"]["pending"] is False


def test_best_last_chosen_and_all(board):
    lyon = board.team()
    first = board.scored(lyon, spoilt(5))
    best = board.scored(lyon, spoilt(1))
    last = board.scored(lyon, spoilt(3))
    assert column(board.leaderboard(), "submission") == [best]
    assert column(board.leaderboard(ORGANISER, pick="last"), "submission") == [last]
    assert column(board.leaderboard(ORGANISER, pick="chosen"), "submission") == [last]
    assert column(board.leaderboard(ORGANISER, pick="all"), "submission") == [best, last, first]
    board.change(lyon, first, chosen=True)
    assert column(board.leaderboard(ORGANISER, pick="chosen"), "submission") == [first]


def test_ties_share_a_rank_and_baselines_stand_between_the_rows_and_have_none(two_teams):
    task = two_teams[0]
    task.submit(task.team("oslo"), spoilt(5))
    task.submit(ORGANISER, spoilt(3), role="baseline")
    task.submit(task.team("turku"), spoilt(11))
    task.settle()
    document = task.leaderboard()
    assert column(document, "role") == ["system", "baseline", "system", "system", "system"]
    assert column(document, "rank") == [1, None, 2, 2, 4]
    assert document["rows"][1]["rank_interval"] is None
    assert document["significance"]["pairs"] == 10
    assert document["rows"][1]["p_next"] is not None


def test_by_part_pooled_and_as_the_mean_of_parts(task):
    task.make(TWO_PARTS, feedback="gold")
    lyon, prague = task.team("lyon"), task.team("prague")
    task.submit(lyon, {"en": GOLD_CONLLU.replace("2\tobj", "1\tnmod"), "de": SECOND_PART})
    task.submit(prague, {"en": GOLD_CONLLU})
    task.settle()
    macro = task.leaderboard()
    assert macro["part"] == "macro"
    assert column(macro, "team") == ["lyon", "prague"]
    assert column(macro, "score") == [pytest.approx(11 / 12), pytest.approx(0.5)]
    assert column(macro, "reason") == [None, None]
    assert column(macro, "tested") == [True, True]
    pooled = task.leaderboard(part="pooled")
    assert column(pooled, "team") == ["lyon", "prague"]
    assert column(pooled, "score") == [pytest.approx(11 / 12), 0.5]
    assert column(pooled, "covered") == column(macro, "covered") == ["4/4", "2/4"]
    single = task.leaderboard(part="en")
    assert column(single, "score") == [1.0, pytest.approx(5 / 6)]
    last = task.leaderboard(part="de")
    assert column(last, "covered") == ["2/2", "0/2"]
    assert column(last, "score") == [1.0, None]
    assert column(last, "rank") == [1, None]
    with pytest.raises(NotFound):
        task.leaderboard(part="fr")


def test_the_settings_of_a_board_depend_neither_on_its_rows_nor_on_its_parts(task, context):
    task.make(TWO_PARTS)
    with context.store.read() as db:
        small = board_of(db, benchmarks.get(db, SLUG))
    large = replace(small, parts=small.parts * 500)
    first, second = question_of(small, ["sub_1", "sub_2"]), question_of(large, [f"sub_{n}" for n in range(99)])
    assert first["settings"] == second["settings"]


def test_of_the_only_part_there_is_one_board(two_teams):
    boards_of_it = [two_teams[0].leaderboard(part=part) for part in (None, "en", "pooled", "macro")]
    assert all(each == boards_of_it[0] for each in boards_of_it)
    assert boards_of_it[0]["part"] is None


def test_by_any_score_and_tested_on_request(two_teams):
    task = two_teams[0]
    other = task.leaderboard(score="attachment.uas")
    assert other["score"] == "attachment.uas"
    assert (other["significance"]["pending"], other["significance"]["test"]) == (False, None)
    assert "were not tested" in other["significance"]["reason"]
    task.ask(score="attachment.uas")
    assert task.leaderboard(score="attachment.uas")["significance"]["pending"] is True
    task.settle()
    exact = task.compared(score="attachment.uas")["pairs"][0]["p"]
    assert exact == pytest.approx(2 / 2**4, rel=1e-12)
    assert task.leaderboard(score="attachment.uas")["rows"][0]["p_next"] == rounded_p(exact)
    # and it is kept up to date from now on
    task.submit(task.team("turku"), spoilt(9))
    task.settle()
    assert task.leaderboard(score="attachment.uas")["significance"]["pairs"] == 3


def test_unknown_scores_picks_revisions_and_forms_are_refused(board):
    for wrong in ({"pick": "worst"}, {"revision": "0"}, {"format": "xls"}):
        with pytest.raises(Unprocessable):
            loaded(LeaderboardQuery, wrong)
    with pytest.raises(Unprocessable):
        board.leaderboard(score="attachment.f1")
    for number in (2, 2**31 - 1):
        with pytest.raises(NotFound):
            board.leaderboard(revision=number)
    with pytest.raises(NotFound):
        leaderboard(board.context, ANYONE, "none", LeaderboardQuery())


def test_the_validator_holds_until_something_changes_and_in_every_process(two_teams, context):
    task, lyon, _ = two_teams
    before = task.board()
    assert task.board(lyon).etag == before.etag
    assert task.board(format="csv").etag != before.etag
    other = Context(context.config, type(context.store)(context.config.database_url), context.queue, context.now)
    there = leaderboard(other, ANYONE, SLUG, LeaderboardQuery())
    other.store.close()
    assert (there.etag, there.body) == (before.etag, before.body)
    task.scored(lyon, spoilt(0))
    assert task.board().etag != before.etag


def test_csv_has_a_line_for_each_row(two_teams):
    view = two_teams[0].board(format="csv")
    rows = list(csv.DictReader(io.StringIO(view.body.decode())))
    assert view.content_type.startswith("text/csv")
    assert [(row["rank"], row["team"]) for row in rows] == [("1", "prague"), ("2", "lyon")]
    assert float(rows[0]["attachment.las"]) == rounded_score(71 / 72)


def test_a_large_board_comes_in_pages_with_one_ranking(two_teams, monkeypatch):
    task = two_teams[0]
    monkeypatch.setattr("service.usecases.boards.viewing.MOST_ROWS", 1)
    first = task.leaderboard()
    second = task.leaderboard(cursor=first["next"])
    assert [*column(first, "rank"), *column(second, "rank")] == [1, 2]
    assert (first["total_rows"], first["next"], second["next"]) == (2, "1", None)
    assert "1 of 2 rows" in task.board(format="markdown").body.decode()
    with pytest.raises(Unprocessable):
        task.leaderboard(cursor="two")


def run_of_two(board, context):
    """The unfinished run of a board of two teams."""
    board.submit(board.team("lyon"), spoilt(5))
    board.submit(board.team("prague"), spoilt(1))
    board.work()
    with context.store.read() as db:
        return runs.get(db, boards.unfinished_run(db, SLUG, 1))


def test_asking_while_a_board_is_compared_is_not_forgotten(board, context):
    run = run_of_two(board, context)
    with context.store.read() as db:
        known = boards.keys(db, SLUG, 1)
    board.ask(score="attachment.uas")
    do(context, run.id)
    with context.store.read() as db:
        assert len(boards.keys(db, SLUG, 1)) == len(known) + 2


def test_a_comparison_that_failed_leaves_the_rows(board, context):
    run = run_of_two(board, context)
    give_up(context, run.id)
    document = board.leaderboard()
    assert run.queue == BULK
    assert column(document, "rank") == [1, 2]
    assert (document["significance"]["pending"], document["significance"]["test"]) == (False, None)
    assert BENCHMARK["id"] == document["benchmark"]


def test_the_last_tests_stay_while_newer_rows_wait_for_theirs(board):
    for number, wrong in enumerate((10, 1, 3)):
        board.submit(board.team(f"t{number}"), spoilt(wrong))
    board.settle()
    first = board.leaderboard()
    tested = {row["team"]: row for row in first["rows"]}
    before = first["significance"]
    board.submit(board.team("t3"), spoilt(2))
    board.work()
    between = board.leaderboard()
    shown = between["significance"]
    assert (shown["pending"], shown["pairs"], shown["test"]) == (True, 3, before["test"])
    assert (before["as_of"], shown["as_of"]) == (None, first["as_of"])
    assert column(between, "team") == ["t1", "t3", "t2", "t0"]
    assert column(between, "tested") == [True, False, True, True]
    newer = between["rows"][1]
    assert (newer["p_next"], newer["rank_interval"], newer["cluster"], newer["reason"]) == (None, None, None, NEWER)
    # no pair of the next rows was tested where one is newer; ranks leave room for the newer row
    assert column(between, "p_next") == [None, None, tested["t2"]["p_next"], None]
    assert column(between, "rank_interval") == [[1, 3], None, [1, 3], [3, 4]]
    assert [row["ci95"] for row in between["rows"] if row["tested"]] == [
        tested[name]["ci95"] for name in ("t1", "t2", "t0")
    ]
    board.settle()
    late = board.leaderboard()
    assert (late["significance"]["pending"], late["significance"]["as_of"]) == (False, None)
    assert (late["significance"]["pairs"], column(late, "tested")) == (6, [True] * 4)


def test_the_last_tests_of_rows_that_are_gone_or_of_another_question_are_not_shown(board):
    teams = [board.team(f"t{number}") for number in range(3)]
    for team, wrong in zip(teams, (10, 5, 3), strict=True):
        board.submit(team, spoilt(wrong))
    board.settle()
    for team in teams[1:]:
        board.submit(team, spoilt(1))
    board.work()
    assert board.leaderboard()["significance"]["as_of"] is None  # one row is left
    board.settle()
    board.patch(leaderboard={"margin": 0.01})
    assert board.leaderboard()["significance"]["pending"] is True
    assert board.leaderboard()["significance"]["as_of"] is None
