"""The release: it shows nothing unless something sets it, and decides by caller and moment which share is shown."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from service.errors import Forbidden, Unprocessable
from service.policy.gate import Level
from service.policy.release import ANYONE, Release
from service.requests import PRIVATE, PUBLIC
from service.store.benchmarks import Benchmark
from service.store.revisions import Digests
from tests.fixtures.contexts import NOON, ORGANISER

DAY = timedelta(days=1)
CLOSES = NOON + DAY
EXACT = 0.123456789
LEVELS = pytest.mark.parametrize("level", list(Level), ids=lambda level: level.name.lower())


def benchmark(*, feedback: str = "scores", after: str | None = None, **leaderboard: Any) -> Benchmark:
    """A benchmark that closes after a day."""
    board = {"public": True, "anonymous": False, "pick": "best", "frozen_at": None, "ladder": False, "scores": None}
    settings = {"feedback": feedback, "feedback_after_closing": after, "rounding": None, "publish_input": False}
    times = {"opens_at": None, "closes_at": CLOSES.isoformat()}
    settings |= times | {"leaderboard": {**board, "split": None, **leaderboard}}
    return Benchmark("b", "B", None, settings, CLOSES, NOON, NOON, 1, 1, 2, None)


def figures_of(release: Release) -> list[object]:
    """Everything that a release can show of figures."""
    interval, runs = {"low": EXACT, "high": EXACT}, {"count": 2, "sd": EXACT}
    detectable = {"difference": EXACT, "power": 0.8, "alpha": EXACT}
    shown = [release.score(EXACT), release.interval(interval), release.runs(runs), release.p(EXACT)]
    shown += [release.difference(EXACT), release.detectable(detectable), release.ranking(EXACT)]
    return [*shown, release.of_metric("a", {"las": EXACT}, lambda value: value) or None, release.rounding]


@LEVELS
def test_no_figure_is_shown_before_a_revision_is_named(level: Level) -> None:
    assert figures_of(Release(level)) == [None] * 9
    assert not Release(level).lists("a")
    with pytest.raises(Forbidden):
        Release(level).require("a.las", None)


@LEVELS
def test_no_figure_is_shown_of_a_revision_that_is_refused(level: Level) -> None:
    release = Release(level, addresses=("a.las",), refused="It is too near to another one.")
    assert figures_of(release)[:7] == [None] * 7
    with pytest.raises(Forbidden, match="too near" if level >= Level.ROUNDED else "current level"):
        release.require("a.las", None)


def test_what_nothing_sets_shows_the_least() -> None:
    release = Release()
    assert (release.level, release.share, release.until) == (Level.NONE, PUBLIC, None)
    assert not any((release.organiser, release.named, release.whole, release.fits, release.compared))
    assert release.held
    with pytest.raises(Forbidden):
        release.about(PRIVATE)
    with pytest.raises(Forbidden):
        release.require_pick(benchmark(), "all")


OTHER: dict[str, Any] = {
    "level": Level.GOLD, "step": 0.5, "addresses": ("a.las",), "hidden": frozenset({"en"}), "refused": "No.",
    "board": True, "organiser": True, "until": NOON, "shown": None, "share": None, "named": True, "whole": True,
    "fits": True, "held": False,
}  # fmt: skip
"""A value of each member that is not its default."""


def test_whatever_decides_is_in_the_tag() -> None:
    tags = {name: replace(Release(), **{name: value}).tag for name, value in OTHER.items()}
    assert set(OTHER) == {each.name for each in fields(Release)}
    assert len({Release().tag, *tags.values()}) == len(OTHER) + 1


def test_the_order_of_names_is_not_in_the_tag() -> None:
    names = [f"part-{number}" for number in range(50)]
    one, other = (Release(hidden=frozenset(each)) for each in (names, names[::-1]))
    assert one.tag == other.tag


SPLIT = {"split": {"private": 0.5}}
FROZEN, LATE = ({**SPLIT, "frozen_at": (CLOSES + hours).isoformat()} for hours in (-DAY / 2, DAY / 2))


@pytest.mark.parametrize(
    ("leaderboard", "at", "of_board", "of_submissions"),
    [
        ({}, CLOSES + DAY, None, None),
        (SPLIT, NOON, PUBLIC, PUBLIC),
        (SPLIT, CLOSES, PUBLIC, PUBLIC),
        (SPLIT, CLOSES + timedelta(seconds=1), PRIVATE, PRIVATE),
        (FROZEN, CLOSES + DAY, PUBLIC, PRIVATE),
        (LATE, CLOSES + DAY / 4, PRIVATE, PRIVATE),
        (LATE, CLOSES + DAY, PRIVATE, PRIVATE),
    ],
)
def test_a_frozen_board_shows_the_share_of_then_and_submissions_that_of_now(
    leaderboard: dict[str, Any], at: datetime, of_board: str | None, of_submissions: str | None
) -> None:
    made = benchmark(**leaderboard)
    assert Release.of(made, ANYONE, at, board=True).share == of_board
    assert Release.of(made, ANYONE, at).share == Release.of(made, ORGANISER, at, board=True).share == of_submissions


def test_organisers_alone_see_the_private_share_early_and_choose_the_pick() -> None:
    made = benchmark(**SPLIT)
    early = Release.of(made, ORGANISER, NOON, asked=PRIVATE, pick="all", board=True)
    assert early.early
    assert (early.share, early.until) == (PRIVATE, None)
    for asked in ({"asked": PRIVATE}, {"pick": "all"}):
        with pytest.raises(Forbidden):
            Release.of(made, ANYONE, NOON, board=True, **asked)
    closed = Release.of(made, ANYONE, CLOSES + DAY, asked=PRIVATE, pick="best", board=True)
    assert not closed.early
    assert Release.of(made, ANYONE, CLOSES + DAY, asked=PUBLIC, board=True).share == PUBLIC
    with pytest.raises(Unprocessable):
        Release.of(benchmark(), ORGANISER, NOON, asked=PUBLIC)


@pytest.mark.parametrize(("before", "after"), [("rounded", "gold"), ("gold", "rounded")])
def test_what_may_be_read_at_any_time_shows_the_least_of_both_levels(before: str, after: str) -> None:
    made = benchmark(feedback=before, after=after, **SPLIT)
    assert {Release.of(made, ANYONE, at).level for at in (NOON, CLOSES + DAY)} == {Level.ROUNDED, Level.GOLD}
    lasting = Release.of(made, ANYONE, None)
    assert (lasting.level, lasting.share, lasting.fits) == (Level.ROUNDED, PUBLIC, False)
    assert Release.of(made, ORGANISER, None).level is Level.GOLD


def test_boards_are_rounded_below_gold_and_own_submissions_are_not() -> None:
    sizes = {"en": 20}
    for feedback, on_board, own in (("items", 0.1235, EXACT), ("gold", EXACT, EXACT)):
        made = benchmark(feedback=feedback)
        shown = [Release.of(made, ANYONE, NOON, board=board).under(made, 2, ("a.las",), "a.las", sizes)
                 for board in (True, False)]  # fmt: skip
        assert [each.score(EXACT) for each in shown] == [on_board, own]


@pytest.mark.parametrize(
    ("feedback", "asked", "shown"), [("scores", 1, False), ("scores", 2, True), ("items", 1, True)]
)
def test_gold_is_looked_up_for_superseded_revisions_alone(feedback: str, asked: int, shown: bool) -> None:  # noqa: FBT001
    made, looked = benchmark(feedback=feedback), []

    def golds() -> dict[int, dict[str, Digests]]:
        looked.append(asked)
        return {number: {"en": Digests(f"key-{number}", None)} for number in (1, 2)}

    release = Release.of(made, ANYONE, NOON).under(made, asked, ("a.las",), "a.las", {"en": 20}, golds=golds)
    assert release.scored is shown
    assert len(looked) == (0 if shown else 1)


def test_the_whole_board_is_told_elsewhere_where_nothing_of_it_is_hidden() -> None:
    frozen = {"frozen_at": datetime(2026, 1, 1, tzinfo=UTC).isoformat()}
    for leaderboard in ({"public": False}, {"anonymous": True}, frozen):
        assert not Release.of(benchmark(**leaderboard), ANYONE, NOON, board=True).whole
        assert Release.of(benchmark(**leaderboard), ORGANISER, NOON, board=True).whole
    assert Release.of(benchmark(), ANYONE, NOON, board=True).whole
    assert not Release.of(benchmark(), ANYONE, NOON).whole
