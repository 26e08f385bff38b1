"""A board's scores in every part, as a matrix and line by line, and what each level shows of them."""

from __future__ import annotations

import csv
import io
from itertools import groupby
from typing import Any

import orjson
import pytest

from service.caller import Caller
from service.contract.leaderboards import SHEET_FORMATS, MatrixQuery, ScoresQuery
from service.errors import Forbidden, NotFound, Unprocessable
from service.policy.figures import rounded_score
from service.usecases.boards.viewing import list_scores, matrix
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import ANYONE, LONG, SECOND_PART, SLUG, Task, column, once, spoilt

THREE = {"en": {"gold": LONG}, "de": {"gold": LONG}, "fr": {"gold": LONG}}
PLACES = {"en", "de", "fr", "pud", "macro", "pooled"}


def seen(task: Task, caller: Caller = ANYONE, **asked: Any) -> Any:
    view = matrix(task.context, caller, SLUG, MatrixQuery(**asked))
    return orjson.loads(view.body) if asked.get("format", "json") == "json" else view.body.decode()


def lines(task: Task, caller: Caller = ANYONE, **asked: Any) -> list[Any]:
    found, cursor = [], None
    while True:
        page = list_scores(task.context, caller, SLUG, ScoresQuery(cursor=cursor, **asked))
        found += page.items
        cursor = page.next
        if cursor is None:
            return found


def parts_in(found: list[Any]) -> set[str]:
    return {line["part"] for line in found}


@once
def three(task: Task) -> Task:
    """Three parts, two of them a track, and three submissions of two teams, one of which lacks a part."""
    task.make(parts=THREE, tracks={"pud": ["en", "de"]}, feedback="scores")
    lyon = task.team("lyon")
    task.submit(lyon, {"en": spoilt(2), "de": spoilt(4), "fr": LONG})
    task.submit(lyon, {"en": spoilt(9), "de": spoilt(4), "fr": LONG}, name="worse")
    task.submit(task.team("oslo"), {"en": spoilt(1), "de": LONG})
    task.settle()
    return task


def test_a_matrix_has_the_score_of_every_part_in_the_order_of_the_parts(three):
    shown = seen(three)
    assert [part["name"] for part in shown["parts"]] == ["en", "de", "fr"]
    assert column(shown, "team") == ["lyon", "oslo"]
    assert column(shown, "rank") == [1, 2]
    for row in shown["rows"]:
        for part, value in zip(shown["parts"], row["values"], strict=True):
            of_part = three.leaderboard(part=part["name"])["rows"]
            assert value == next(each["score"] for each in of_part if each["submission"] == row["submission"])
    assert column(shown, "values") == [
        [rounded_score(70 / 72), rounded_score(68 / 72), 1.0], [rounded_score(71 / 72), 1.0, None]
    ]  # fmt: skip
    assert column(shown, "score") == column(three.leaderboard(), "score")
    assert column(shown, "missing_parts") == [[], ["fr"]]
    assert column(shown, "scored_parts") == [3, 2]
    assert shown["hidden"] == []
    # exact values, and the sizes of an unpublished text, are for organisers
    own = seen(three, ORGANISER)
    assert own["rows"][0]["values"][0] == 70 / 72
    assert {part["sentences"] for part in shown["parts"]} == {None}
    assert [(part["sentences"], part["words"]) for part in own["parts"]] == [(24, 72)] * 3


@pytest.mark.parametrize("caller", [ANYONE, ORGANISER])
def test_every_line_is_what_the_board_of_its_part_shows(three, caller):
    found = lines(three, caller)
    assert parts_in(found) == PLACES
    for part in PLACES:
        rows = {row["submission"]: row for row in three.leaderboard(caller, part=part)["rows"]}
        mine = [line for line in found if line["part"] == part]
        assert {line["score"] for line in mine} == set(next(iter(rows.values()))["scores"])
        for line in mine:
            assert line["value"] == rows[line["submission"]]["scores"][line["score"]]
            assert line["team"] == rows[line["submission"]]["team"]


def test_organisers_get_lines_of_all_submissions_and_others_may_not(three):
    assert len({line["submission"] for line in lines(three)}) == 2
    assert len({line["submission"] for line in lines(three, ORGANISER, pick="all")}) == 3
    with pytest.raises(Forbidden):
        lines(three, pick="all")


def test_a_part_or_a_track_is_shown_alone(three, task):
    for part, shown in (("pud", {"en", "de", "pud"}), ("fr", {"fr"}), ("macro", PLACES)):
        assert parts_in(lines(three, part=part)) == shown
    ranked = seen(three, part="de")
    assert [part["name"] for part in ranked["parts"]] == ["de"]
    assert column(ranked, "team") == ["oslo", "lyon"]
    track = seen(three, part="pud")
    assert [part["name"] for part in track["parts"]] == ["en", "de"]
    assert column(track, "team") == ["oslo", "lyon"]
    task.make(id="one", parts={"en": {"gold": LONG}})
    task.scored(task.team("turku", "one"), spoilt(2), slug="one")
    assert parts_in(list_scores(task.context, ANYONE, "one", ScoresQuery()).items) == {"en"}


def test_pages_have_whole_rows(three, monkeypatch):
    whole = lines(three)
    monkeypatch.setattr("service.usecases.boards.viewing.MOST_SCORE_LINES", 1)
    page = list_scores(three.context, ANYONE, SLUG, ScoresQuery())
    assert page.next == "1"
    assert lines(three) == whole
    assert [name for name, _ in groupby(line["submission"] for line in whole)] == column(
        three.leaderboard(), "submission"
    )


@pytest.mark.parametrize("level", ["none", "status"])
def test_below_rounded_they_have_no_rows(three, level):
    three.patch(feedback=level)
    shown = seen(three)
    assert (shown["rows"], shown["total_rows"], lines(three)) == ([], 0, [])
    assert len(seen(three, ORGANISER)["rows"]) == 2


def test_at_rounded_values_are_stepped_and_only_listed_scores_are_shown(three):
    three.patch(feedback="rounded", rounding=0.1)
    assert seen(three)["rows"][0]["values"] == [1.0, 0.9, 1.0]
    found = lines(three)
    assert {line["score"] for line in found} == {"attachment.las"}
    assert {line["value"] for line in found} <= {None, 0.6, 0.7, 0.9, 1.0}
    with pytest.raises(Forbidden):
        seen(three, score="attachment.uas")
    three.patch(leaderboard={"scores": ["attachment.uas"]})
    assert seen(three, score="attachment.uas")["rows"][0]["values"][0] == 1.0


def test_small_parts_and_tracks_are_hidden_except_from_organisers(task):
    small = {name: {"gold": SECOND_PART} for name in ("s1", "s2", "s3", "s4", "s5")}
    task.make(parts={"en": {"gold": LONG}, **small}, feedback="scores", tracks={"some": ["en", "s1"]})
    outputs = {"en": spoilt(2), **dict.fromkeys(small, SECOND_PART)}
    del outputs["s5"]
    task.submit(task.team("lyon"), outputs)
    task.settle()
    shown, own = seen(task), seen(task, ORGANISER)
    assert shown["hidden"] == list(small)
    assert shown["rows"][0]["values"] == [rounded_score(70 / 72), *[None] * 5]
    # that a hidden part is missing tells its score: it is counted, not named
    assert (shown["rows"][0]["missing_parts"], shown["rows"][0]["scored_parts"]) == ([], 5)
    assert own["rows"][0]["values"][1:] == [1.0, 1.0, 1.0, 1.0, None]
    assert own["rows"][0]["missing_parts"] == ["s5"]
    assert parts_in(lines(task)) == {"en", "macro", "pooled"}
    assert parts_in(lines(task, ORGANISER)) == {"en", *small, "some", "macro", "pooled"}


def test_an_anonymous_board_names_no_team(three):
    three.patch(leaderboard={"anonymous": True})
    shown = seen(three)
    assert column(shown, "team") == column(shown, "team_name") == column(shown, "name") == [None, None]
    assert {(line["team"], line["team_name"]) for line in lines(three)} == {(None, None)}
    for form in SHEET_FORMATS:
        assert "lyon" not in str(seen(three, format=form))


def test_a_frozen_board_keeps_its_rows(three):
    before = seen(three)
    three.patch(leaderboard={"frozen_at": three.context.now().isoformat()})
    three.submit(three.team("prague"), {"en": LONG, "de": LONG, "fr": LONG})
    three.settle()
    shown = seen(three)
    assert shown["frozen"] is True
    assert column(shown, "values") == column(before, "values")
    assert len(seen(three, ORGANISER)["rows"]) == 3


def test_training_runs_have_the_mean_of_their_values(task):
    task.make(parts=THREE)
    lyon = task.team("lyon")
    task.submit(lyon, {"en": spoilt(2), "de": LONG, "fr": LONG}, name="runs")
    task.submit(lyon, {"en": spoilt(4), "de": LONG}, name="runs-2", run_of="runs")
    task.settle()
    row = seen(task, ORGANISER)["rows"][0]
    assert row["values"] == [pytest.approx((70 + 68) / 144), 1.0, None]
    assert (row["missing_parts"], row["scored_parts"]) == (["fr"], 2)


def test_unknown_scores_parts_and_revisions_are_refused(three):
    for asked, error in (({"score": "x"}, Unprocessable), ({"part": "x"}, NotFound), ({"revision": 9}, NotFound)):
        with pytest.raises(error):
            seen(three, **asked)


def test_its_validator_changes_with_the_board_alone(three):
    first = matrix(three.context, ANYONE, SLUG, MatrixQuery())
    three.scored(three.team("prague"), {"en": LONG})
    assert matrix(three.context, ANYONE, SLUG, MatrixQuery()).etag != first.etag


def test_programs_get_a_row_for_each_submission_and_people_one_for_each_part(three):
    for form, delimiter in (("csv", ","), ("tsv", "\t")):
        rows = list(csv.DictReader(io.StringIO(seen(three, format=form)), delimiter=delimiter))
        assert [row["team"] for row in rows] == ["lyon", "oslo"]
        assert (rows[1]["part:de"], rows[1]["part:fr"]) == ("1.0", "")
        assert (rows[1]["missing_parts"], rows[1]["scored_parts"], rows[1]["parts"]) == ("fr", "2", "3")
    for form in ("markdown", "latex"):
        words = seen(three, format=form)
        assert "oslo Parsing Group: biaffine-7 has 2 of 3 (without fr)" in words
        line = next(line for line in words.splitlines() if "fr" in line.split(" ")[:2] or line.startswith("fr"))
        assert "1.0000" in line
        assert " - " in line or line.rstrip(r"\ ").endswith("-")
