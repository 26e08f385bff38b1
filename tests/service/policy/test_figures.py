"""Which figures each level shows, and with how many digits."""

from __future__ import annotations

import pytest

from service.errors import Forbidden
from service.policy.figures import Release
from service.policy.gate import Level

EXACT = 0.123456789


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        (Level.STATUS, (None, None, None, None)),
        (Level.ROUNDED, (0.12, None, None, None)),
        (Level.SCORES, (0.1235, {"low": 0.123, "high": None}, 0.12, 0.1235)),
        (Level.ITEMS, (EXACT, {"low": EXACT, "high": None}, EXACT, EXACT)),
    ],
)
def test_a_level_shows_so_many_digits(level: Level, shown: tuple[object, ...]) -> None:
    release = Release(level, 0.01, ("a.las",))
    interval = {"low": EXACT, "high": None}
    found = (release.score(EXACT), release.interval(interval), release.p(EXACT), release.difference(EXACT))
    assert found == shown


def test_a_step_finer_than_four_digits_shows_no_more_than_four() -> None:
    assert Release(Level.ROUNDED, 1e-9, ()).score(EXACT) == 0.1235


def test_nobody_s_rank_goes_by_more_than_four_digits() -> None:
    for level in list(Level)[Level.SCORES :]:
        assert Release(level, 0.01, ()).ranking(EXACT) == 0.1235


def test_scores_whose_names_have_dots_are_listed_by_their_addresses() -> None:
    release = Release(Level.SCORES, 0.01, ("a.b.f1", "a.las"))
    values = {"las": 1, "uas": 2, "b": {"f1": 3, "f2": 4}, "c": {"f1": 5}}
    assert release.of_metric("a", values, lambda value: value) == {"las": 1, "b": {"f1": 3}}


def test_a_refusal_names_the_rule() -> None:
    release = Release(Level.SCORES, 0.01, ("a.las",), frozenset({"en"}))
    with pytest.raises(Forbidden, match=r"leaderboard\.scores"):
        release.require("a.uas", None)
    with pytest.raises(Forbidden, match="fewer than 10 sentences"):
        release.require("a.las", "en")
    release.require("a.las", "macro")
