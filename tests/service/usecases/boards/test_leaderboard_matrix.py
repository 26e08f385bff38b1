"""The matrix: a board's score in every part, and what each level shows of it."""

from __future__ import annotations

import csv
import io
from typing import Any

import orjson
import pytest

from service.caller import Caller
from service.errors import Forbidden, NotFound, Unprocessable
from service.policy.figures import rounded_score
from service.render import MATRIX_FORMATS
from service.requests import MatrixQuery
from service.usecases.boards.leaderboard import matrix
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import ANYONE, LONG, SECOND_PART, SLUG, Task, column, spoilt

THREE = {"en": {"gold": LONG}, "de": {"gold": LONG}, "fr": {"gold": LONG}}
FEW = {"en": {"gold": LONG}, "de": {"gold": SECOND_PART}, "fr": {"gold": SECOND_PART}, "it": {"gold": SECOND_PART}}


def seen(task: Task, caller: Caller = ANYONE, **asked: Any) -> Any:
    view = matrix(task.context, caller, SLUG, MatrixQuery(**asked))
    return orjson.loads(view.body) if asked.get("format", "json") == "json" else view.body.decode()


@pytest.fixture
def three(task: Task) -> Task:
    """Three parts; the second team lacks one."""
    task.make(parts=THREE, feedback="scores")
    task.submit(task.team("lyon"), {"en": spoilt(2), "de": spoilt(4), "fr": LONG})
    task.submit(task.team("oslo"), {"en": spoilt(1), "de": LONG})
    task.settle()
    return task


def test_it_has_the_score_of_every_part_in_the_order_of_the_parts(three):
    shown = seen(three)
    assert [part["name"] for part in shown["parts"]] == ["en", "de", "fr"]
    assert column(shown, "team") == ["lyon", "oslo"]
    assert column(shown, "rank") == [1, 2]
    for row in shown["rows"]:
        for part, value in zip(shown["parts"], row["values"], strict=True):
            of_part = three.leaderboard(part=part["name"])["rows"]
            assert value == next(each["score"] for each in of_part if each["submission"] == row["submission"])
    exact = [spoilt(2).count("1\tnmod"), spoilt(4).count("1\tnmod")]
    assert shown["rows"][0]["values"] == [rounded_score(1 - exact[0] / 72), rounded_score(1 - exact[1] / 72), 1.0]
    assert column(shown, "score") == column(three.leaderboard(), "score")


def test_what_is_missing_is_null_and_named(three):
    shown = seen(three)
    assert shown["rows"][1]["values"][2] is None
    assert column(shown, "missing_parts") == [[], ["fr"]]
    assert column(shown, "scored_parts") == [3, 2]
    assert shown["hidden"] == []


def test_sizes_of_an_unpublished_text_are_for_organisers(three):
    assert {part["sentences"] for part in seen(three)["parts"]} == {None}
    assert [(part["sentences"], part["words"]) for part in seen(three, ORGANISER)["parts"]] == [(24, 72)] * 3


def test_organisers_see_exact_values(three):
    assert seen(three, ORGANISER)["rows"][0]["values"][0] == 70 / 72


@pytest.mark.parametrize("level", ["none", "status"])
def test_below_rounded_it_has_no_rows(three, level):
    three.patch(feedback=level)
    shown = seen(three)
    assert (shown["rows"], shown["total_rows"]) == ([], 0)
    assert len(seen(three, ORGANISER)["rows"]) == 2


def test_at_rounded_values_are_stepped_and_only_listed_scores_are_shown(three):
    three.patch(feedback="rounded", rounding=0.1)
    assert seen(three)["rows"][0]["values"] == [1.0, 0.9, 1.0]
    with pytest.raises(Forbidden):
        seen(three, score="attachment.uas")
    three.patch(leaderboard={"scores": ["attachment.uas"]})
    assert seen(three, score="attachment.uas")["rows"][0]["values"][0] == 1.0


def test_small_parts_are_null_and_named_as_hidden_except_for_organisers(task):
    task.make(parts=FEW, feedback="scores")
    task.submit(task.team("lyon"), {"en": spoilt(2), "de": SECOND_PART, "fr": SECOND_PART})
    task.settle()
    shown = seen(task)
    assert shown["hidden"] == ["en", "de", "fr", "it"]
    assert shown["rows"][0]["values"] == [None] * 4
    # that a hidden part is missing tells its score: it is counted, not named
    assert (shown["rows"][0]["missing_parts"], shown["rows"][0]["scored_parts"]) == ([], 3)
    assert seen(task, ORGANISER)["rows"][0]["values"][1:] == [1.0, 1.0, None]
    assert seen(task, ORGANISER)["rows"][0]["missing_parts"] == ["it"]


def test_an_anonymous_board_names_no_team(three):
    three.patch(leaderboard={"anonymous": True})
    shown = seen(three)
    assert column(shown, "team") == column(shown, "team_name") == column(shown, "name") == [None, None]
    for form in MATRIX_FORMATS:
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


def test_a_part_ranks_and_is_the_only_one(three):
    shown = seen(three, part="de")
    assert [part["name"] for part in shown["parts"]] == ["de"]
    assert column(shown, "team") == ["oslo", "lyon"]


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
    assert matrix(three.context, ANYONE, SLUG, MatrixQuery(), first.etag).content == b""
    three.scored(three.team("prague"), {"en": LONG})
    assert matrix(three.context, ANYONE, SLUG, MatrixQuery(), first.etag).etag != first.etag


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_programs_get_a_row_for_each_submission(three, form, delimiter):
    rows = list(csv.DictReader(io.StringIO(seen(three, format=form)), delimiter=delimiter))
    assert [row["team"] for row in rows] == ["lyon", "oslo"]
    assert (rows[1]["part:de"], rows[1]["part:fr"]) == ("1.0", "")
    assert (rows[1]["missing_parts"], rows[1]["scored_parts"], rows[1]["parts"]) == ("fr", "2", "3")


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_people_get_a_row_for_each_part_and_are_told_what_is_missing(three, form):
    words = seen(three, format=form)
    assert "oslo Parsing Group: biaffine-7 has 2 of 3 (without fr)" in words
    line = next(line for line in words.splitlines() if "fr" in line.split(" ")[:2] or line.startswith("fr"))
    assert "1.0000" in line
    assert " - " in line or line.rstrip(r"\ ").endswith("-")
