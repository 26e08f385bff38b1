"""Which figures each level shows, with how many digits, and what rests on few sentences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import Forbidden
from service.policy.figures import (
    hidden_parts,
    hidden_revisions,
    rounded_bound,
    rounded_difference,
    rounded_p,
    rounded_score,
    rounded_scores,
    small_parts,
)
from service.policy.gate import Level
from service.policy.release import Release
from service.store.revisions import Digests
from treescore.core.wording import BOUND_DIGITS

EXACT = 0.123456789


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


@pytest.mark.parametrize(
    ("exact", "shown"), [(0.876543, 0.8765), (0.0876543, 0.08765), (1.0, 1.0), (0.0, 0.0), (12.34567, 12.35)]
)
def test_scores_have_four_significant_digits(exact: float, shown: float) -> None:
    assert rounded_score(exact) == shown


def test_bounds_have_three_significant_digits() -> None:
    assert [rounded_bound(each) for each in (0.87654, -0.0012345, 1.0)] == [0.877, -0.00123, 1.0]


@pytest.mark.parametrize(
    ("exact", "shown"), [(0.04567, 0.046), (1.0, 1.0), (3e-7, 1e-4), (0.0, 1e-4), (0.0001, 0.00011), (0.00123, 0.0012)]
)
def test_p_have_two_significant_digits_and_a_floor(exact: float, shown: float) -> None:
    assert rounded_p(exact) == shown


def test_differences_have_four_decimals_and_no_negative_zero() -> None:
    assert [str(rounded_difference(each)) for each in (0.01234567, -0.00004)] == ["0.0123", "0.0"]


@pytest.mark.parametrize(
    ("sizes", "hidden"),
    [
        ({"a": 3}, ""),
        ({"a": 10, "b": 12}, ""),
        ({"a": 9, "b": 100, "c": 50, "d": 70}, "abc".replace("b", "d")),
        ({"a": 3, "b": 3, "c": 3, "d": 3, "e": 90}, "abcd"),
        ({"a": 2, "b": 3, "c": 4, "d": 30, "e": 90}, "abcd"),
        ({"a": 3, "b": 100, "c": 90}, "abc"),
    ],
)
def test_hidden_parts_cannot_be_told_from_what_is_shown(sizes: dict[str, int], hidden: str) -> None:
    assert hidden_parts(sizes) == frozenset(hidden)


def test_of_two_parts_the_mean_alone_is_shown() -> None:
    assert hidden_parts({"a": 9, "b": 100}) == {"a", "b", "pooled"}


def test_small_parts_are_those_with_fewer_than_ten_sentences() -> None:
    assert small_parts({"a": 9, "b": 10, "c": None}) == ["a"]


def gold(heads: range, lemmas: int = 0, key: str | None = None) -> dict[str, Digests]:
    return {"en": Digests(key, [list(heads), [lemmas + each for each in range(len(heads))]])}


def test_a_superseded_revision_that_is_too_near_to_a_shown_one_is_hidden() -> None:
    golds = {1: gold(range(60)), 2: gold(range(1, 61)), 3: gold(range(20, 80))}
    assert hidden_revisions(2, golds) == {1}
    assert hidden_revisions(3, golds) == {1}
    assert hidden_revisions(3, {2: golds[2], 3: golds[3]}) == frozenset()


def test_a_change_of_every_lemma_does_not_cover_that_of_one_head() -> None:
    assert hidden_revisions(2, {1: gold(range(60)), 2: gold(range(1, 61), lemmas=1000)}) == {1}


def test_equal_gold_is_no_difference_and_unknown_gold_is_a_small_one() -> None:
    old = {"en": Digests("hmac-sha256:a", None)}
    assert hidden_revisions(2, {1: old, 2: gold(range(60), key="hmac-sha256:b")}) == {1}
    assert hidden_revisions(2, {1: old, 2: gold(range(60), key="hmac-sha256:a")}) == frozenset()
    assert hidden_revisions(2, {1: gold(range(60)), 2: gold(range(60))}) == frozenset()


def test_a_part_that_only_one_revision_has_differs_as_a_whole() -> None:
    small = {"de": Digests(None, [[1, 2], [3, 4]])}
    assert hidden_revisions(2, {1: {**gold(range(60)), **small}, 2: gold(range(60))}) == {1}


def test_parts_that_only_one_revision_has_would_give_those_that_are_hidden() -> None:
    large, other, small = (gold(range(first, last))["en"] for first, last in ((0, 24), (30, 54), (60, 62)))
    whole = {"en": large, "de": other, "fr": large, "nl": small}
    without = {name: part for name, part in whole.items() if name != "de"}
    assert hidden_revisions(2, {1: whole, 2: without}) == {1}
    assert hidden_revisions(2, {1: whole, 2: {**whole, "de": large}}) == frozenset()
    none_small = {name: part for name, part in whole.items() if name != "nl"}
    assert hidden_revisions(2, {1: none_small, 2: {"en": large, "fr": large}}) == frozenset()


@given(st.floats(1e-6, 1.0))
def test_a_rounded_score_is_printed_as_the_score(value: float) -> None:
    found = rounded_score(value)
    assert f"{100 * found:.2f}" == f"{100 * value:.2f}"
    assert found == float(f"{found:.4g}")
    assert found == pytest.approx(value, rel=1.1e-3)


@pytest.mark.parametrize(
    ("value", "shown"), [(0.042654, 0.04266), (0.042646, 0.04265), (0.0026496, 0.002649), (0.03125, 0.03125)]
)
def test_a_rounded_score_is_no_tie_of_the_printed_digits(value: float, shown: float) -> None:
    assert rounded_score(value) == shown


def test_an_array_is_rounded_as_single_scores_are():
    rng = np.random.default_rng(5)
    edges = [0.0, -0.0, 1.0, -1.0, 0.1, 0.001, 0.09999499999999999, 0.12345, 0.123450001, 0.99995, 9999.5, 1e5, 1e-30]
    ties = np.arange(1, 20_001, 2) / 20_000 + 0.00005
    scores = rng.random(20_000)
    values = np.concatenate([edges, ties, scores, scores / 100, rng.normal(0, 100, 2000), [np.nan, np.inf]])
    found = rounded_scores(values.reshape(1, -1))[0]
    np.testing.assert_array_equal(found, [rounded_score(value) for value in values.tolist()])
    bounds = rounded_scores(values.reshape(1, -1), BOUND_DIGITS)[0]
    np.testing.assert_array_equal(bounds, [rounded_bound(value) for value in values.tolist()])
