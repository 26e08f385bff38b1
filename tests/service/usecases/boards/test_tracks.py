"""Tracks: named groups of parts, ranked and tested as the mean of their parts."""

from __future__ import annotations

from functools import partial

import pytest

from service.contract.leaderboards import MatrixQuery
from service.errors import Forbidden, NotFound, Unprocessable
from service.policy import figures
from service.store import boards
from service.usecases.boards.viewing import matrix
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import ANYONE, LONG, SECOND_PART, SLUG, Task, column, once, spoilt

THREE = {"en": {"gold": LONG}, "de": {"gold": LONG}, "fr": {"gold": LONG}}
TWO = {"en": {"gold": LONG}, "de": {"gold": LONG}}
PUD = {"pud": ["en", "de"]}


def sent(task: Task, name: str, slug: str = SLUG, **wrong: int) -> str:
    """A submission with so many wrong words in each part that is named."""
    return task.submit(task.team(name, slug), {part: spoilt(number) for part, number in wrong.items()}, slug)


@once
def tracks(task: Task) -> Task:
    """Three parts, two of them a track, and three teams, one of which lacks a part of the track."""
    task.make(parts=THREE, tracks=PUD, feedback="gold")
    sent(task, "lyon", en=2, de=9, fr=0)
    sent(task, "oslo", en=1, de=1, fr=10)
    sent(task, "prague", en=0, fr=0)
    task.settle()
    return task


def test_a_track_is_the_mean_of_its_parts_and_a_missing_part_is_the_worst_value(tracks):
    shown = tracks.leaderboard(part="pud")
    assert (shown["part"], shown["parts"]) == ("pud", ["en", "de"])
    assert column(shown, "team") == ["oslo", "lyon", "prague"]
    assert column(shown, "score") == [pytest.approx(x) for x in (71 / 72, (70 + 63) / 144, 0.5)]
    assert column(shown, "missing_parts") == [[], [], ["de"]]
    assert column(shown, "scored_parts") == [2, 2, 1]
    assert shown["rows"][0]["scores"]["attachment.uas"] == pytest.approx(71 / 72)
    # its differences are tested unasked
    assert (shown["significance"]["pending"], shown["significance"]["pairs"]) == (False, 3)
    assert shown["rows"][0]["p_next"] is not None
    assert all(row["ci95"] for row in shown["rows"] if row["tested"])


@pytest.mark.parametrize("pick", ["best", *(pytest.param(pick, marks=pytest.mark.slow) for pick in ("last", "all"))])
def test_a_track_of_all_parts_says_what_macro_says(tracks, pick):
    tracks.patch(title="Other")
    assert tracks.benchmark()["tracks"] == PUD  # which a patch of something else leaves
    tracks.patch(tracks={"every": ["fr", "de", "en"]}, leaderboard={"pick": pick})
    tracks.settle()
    one, other = tracks.leaderboard(part="every"), tracks.leaderboard(part="macro")
    for name in ("rank", "team", "covered", "missing_parts", "rank_interval", "cluster", "considered", "tested"):
        assert column(one, name) == column(other, name), name
    # the seeds of the two differ
    assert column(one, "p_next") == [None if p is None else pytest.approx(p, abs=0.01) for p in column(other, "p_next")]
    for mine, theirs in zip(one["rows"], other["rows"], strict=True):
        assert mine["scores"] == pytest.approx(theirs["scores"])
        assert mine["ci95"] is not None


def test_a_track_is_tested_as_the_same_parts_without_the_others(tracks):
    tracks.make(parts=TWO, feedback="gold", id="other")
    for name, wrong in (("lyon", {"en": 2, "de": 9}), ("oslo", {"en": 1, "de": 1}), ("prague", {"en": 0})):
        sent(tracks, name, "other", **wrong)
    tracks.settle()
    one, other = tracks.compared(part="pud", seed=3), tracks.compared(slug="other", part="macro", seed=3)
    assert one["part_names"] == other["part_names"] == ["en", "de"]
    fair = ("score_a", "score_b", "difference", "p", "p_adjusted", "significant", "ci", "detectable")

    def in_order(document):
        ranks = {system["name"]: system["rank"] for system in document["systems"]}
        return {
            (ranks[pair["a"]], ranks[pair["b"]]): {name: pair.get(name) for name in fair} for pair in document["pairs"]
        }

    assert in_order(one) == in_order(other)


def test_other_parts_of_a_track_are_another_question(tracks):
    before = tracks.leaderboard(part="pud")["significance"]["comparison"]
    tracks.patch(tracks={"pud": ["en", "fr"]})
    tracks.settle()
    shown = tracks.leaderboard(part="pud")
    assert shown["significance"]["comparison"] != before
    assert column(shown, "team") == ["prague", "lyon", "oslo"]
    assert shown["rows"][0]["score"] == 1.0
    compared = tracks.comparison(shown["significance"]["comparison"])
    assert max(system["score"] for system in compared["systems"]) == 1.0


def test_an_asked_comparison_of_a_track_outlives_the_track(tracks, context):
    document = tracks.compared(part="pud", score="attachment.uas")
    tracks.patch(tracks={})
    tracks.settle()
    kept = tracks.comparison(document["id"])
    assert kept["pairs"] == document["pairs"]
    with pytest.raises(NotFound, match="Unknown part 'pud'"):
        tracks.leaderboard(part="pud")
    with context.store.read() as db:
        assert not any("pud" in key for key in boards.keys(db, SLUG, 1))


def test_training_runs_and_private_shares_have_tracks_too(task):
    task.make(
        parts=THREE, tracks=PUD, feedback="scores", closes_at="2999-01-01T00:00:00Z",
        leaderboard={"split": {"private": 0.5}},
    )  # fmt: skip
    lyon = task.team("lyon")
    task.submit(lyon, {"en": spoilt(2), "de": LONG}, name="runs")
    task.submit(lyon, {"en": spoilt(4), "de": LONG}, name="runs-2", run_of="runs")
    task.settle()
    for share in ("public", "private"):
        parts = [task.leaderboard(ORGANISER, part=part, split=share)["rows"][0]["score"] for part in ("en", "de")]
        row = task.leaderboard(ORGANISER, part="pud", split=share)["rows"][0]
        assert row["score"] == pytest.approx(sum(parts) / 2)
        assert row["runs"]["count"] == 2


BAD_TRACKS = [
    ({"en": ["de"]}, "part-and-track", "/tracks/en"),
    ({"macro": ["de"]}, "bad-part-name", "/tracks/macro"),
    ({"a b": ["de"]}, "bad-part-name", "/tracks/a b"),
    ({"pud": ["de", "it"]}, "unknown-part", "/tracks/pud/1"),
    ({"pud": []}, "bad-track", "/tracks/pud"),
    ({"pud": ["de", "de"]}, "bad-track", "/tracks/pud"),
    ({"pud": "de"}, "wrong-type", "/tracks/pud"),
    ({f"t{at}": ["de"] for at in range(101)}, "bad-track", "/tracks"),
]


def test_tracks_that_cannot_be_used_are_refused(task):
    task.make(parts=TWO)
    for given, code, pointer in BAD_TRACKS:
        for refused in (task.patch, partial(task.make, parts=TWO, id="other")):
            with pytest.raises(Unprocessable) as raised:
                refused(tracks=given)
            assert [(each.code, each.pointer) for each in raised.value.problems] == [(code, pointer)]
    assert task.benchmark()["tracks"] == {}


def test_parts_that_a_revision_drops_are_reported_and_left_out(tracks):
    tracks.revise({"de": None})
    assert tracks.benchmark()["tracks"] == PUD
    found = [each for each in tracks.benchmark()["warnings"] if each["code"] == "track-lacks-part"]
    assert [each["pointer"] for each in found] == ["/tracks/pud"]
    assert "de" in found[0]["detail"]
    shown = tracks.leaderboard(part="pud")
    assert shown["parts"] == ["en"]
    assert column(shown, "team") == ["prague", "oslo", "lyon"]


@pytest.mark.parametrize(
    ("tracks", "hidden"),
    [
        ({"a": ["big"]}, set()),
        ({"a": ["big", "s1"]}, {"a"}),
        ({"a": ["s1", "s2", "s3"]}, set()),
        ({"a": ["s1", "s2"], "b": ["big", "s1", "s2", "s3"]}, {"a"}),
    ],
)
def test_a_track_is_hidden_where_it_would_give_hidden_parts(tracks, hidden):
    sizes = {"big": 100, "large": 200, "s1": 4, "s2": 5, "s3": 6}
    small = figures.hidden_parts(sizes)
    assert small == {"s1", "s2", "s3"}
    assert figures.hidden_tracks(small, tracks) == hidden


def test_a_hidden_track_is_refused_on_boards_matrices_and_in_comparisons(task, context):
    small = {name: {"gold": SECOND_PART} for name in ("s1", "s2", "s3", "s4", "s5")}
    task.make(
        parts={"en": {"gold": LONG}, "de": {"gold": LONG}, **small},
        feedback="scores",
        tracks={"some": ["en", "s1"], "every": ["en", *small], "large": ["en", "de"]},
    )
    for name in ("lyon", "oslo"):
        task.submit(task.team(name), {"en": LONG, **dict.fromkeys(small, SECOND_PART)})
    task.settle()
    with pytest.raises(Forbidden, match="'some'"):
        task.leaderboard(part="some")
    with pytest.raises(Forbidden, match="'some'"):
        matrix(context, ANYONE, SLUG, MatrixQuery(part="some"))
    with pytest.raises(Forbidden, match="'some'"):
        task.ask(task.team("metz"), part="some")
    assert task.leaderboard(part="every")["rows"]
    assert task.leaderboard(part="large")["rows"]
    assert task.leaderboard(ORGANISER, part="some")["rows"]
