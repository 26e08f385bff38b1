"""All scores of a table at once: the same bits as each score by itself, whatever its counts and weights are."""

from __future__ import annotations

import numpy as np
import pytest

from treescore.core.arrays import ranked, sums_of_rows
from treescore.core.columns import counts_and_scores, nested
from treescore.core.registry import METRICS, make_metric
from treescore.core.scores import (
    Ratio,
    Score,
    ScoreTable,
    count_values,
    harmonic,
    nested_values,
    ratio_score,
    score_values,
    weighted,
    weighted_mean,
)

THREE = {"a": 0.1, "b": 0.2, "c": 0.3}
TABLE = ScoreTable(
    ("a", "b", "c"),
    (
        ratio_score("plain", "", "a", "b"),
        ratio_score("none", "", "a", {"b": 0}),
        ratio_score("less", "", {"a": 1, "b": -1}, "c", one_minus=True),
        Score("joined", "", (Ratio({"a": 1}, {"b": 1}), Ratio({"a": 2}, {"b": 1, "c": 1})), harmonic),
        Score("deep.mean", "", (Ratio({"a": 1}, {"c": 1}),), weighted_mean([0.3])),
    ),
)
ALL = {"a": 1, "b": 1, "c": 1}
REAL = ScoreTable(("a", "b", "c"), (*TABLE.scores, ratio_score("real", "", THREE, ALL)))
WHOLE = ScoreTable(("a", "b", "c"), (ratio_score("of three", "", "a", ALL),))
TWO = ScoreTable(("a", "b", "c"), (ratio_score("of two", "", {"a": 0.3, "b": 0.7}, "c"),))
TABLES = [TABLE, WHOLE, *(make_metric(name, {}).table for name in sorted(METRICS))]


def each(table, totals):
    return np.stack([score.of(table.count_names, totals) for score in table.scores], axis=-1)


def same_bits(first, second):
    return first.shape == second.shape and first.tobytes() == second.tobytes()


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("kind", ["whole", "zeros", "real", "whole as floats", "at the limit", "beyond float64"])
def test_all_scores_at_once_have_the_bits_of_each(table, kind):
    generator = np.random.default_rng(3)
    shape = (40, len(table.count_names))
    counts = {
        "whole": generator.integers(0, 3, shape),
        "zeros": np.zeros(shape, np.int64),
        "real": generator.random(shape) * generator.integers(0, 2, shape),
        "whole as floats": generator.integers(0, 9, shape).astype(np.float64),
        "at the limit": generator.integers(2**52, 2**54 // 3, shape),
        "beyond float64": generator.integers(2**53, 2**60, shape),
    }[kind]
    assert same_bits(table.of(counts), each(table, counts))
    assert same_bits(table.of(counts.reshape(4, 10, -1)), each(table, counts.reshape(4, 10, -1)))
    assert same_bits(table.of(counts[0]), each(table, counts[0]))
    assert same_bits(table.of_columns(np.ascontiguousarray(counts.T)), np.ascontiguousarray(each(table, counts).T))


def test_terms_that_round_more_than_once_are_summed_one_by_one(monkeypatch):
    counts = np.random.default_rng(3).random((40, 3))
    assert np.allclose(REAL.of(counts), each(REAL, counts), rtol=1e-14, equal_nan=True)
    monkeypatch.setattr(Ratio, "terms", None)
    assert TABLE.of(counts).shape == (40, 5)
    for table in (REAL, WHOLE, TWO):
        with pytest.raises(TypeError):
            table.of(counts)


def test_whole_terms_stay_whole_beyond_what_floats_hold():
    counts = np.array([[2**53 + 1, 2], [1, 1]])
    found = weighted({"a": 1, "b": 3}, ("a", "b"), counts)
    assert found.tolist() == [2**53 + 7, 4]


@pytest.mark.parametrize("table", TABLES)
def test_documents_of_many_rows_are_those_of_each(table):
    generator = np.random.default_rng(4)
    shape = (9, len(table.count_names))
    for totals in (generator.integers(0, 3, shape), generator.random(shape)):
        counts, scores = (nested(columns).documents(0, 9) for columns in counts_and_scores(table, totals))
        assert scores == [score_values(table, row)[0] for row in totals]
        assert counts == [count_values(table.count_names, row) for row in totals]
    assert [nested(columns).documents(0, 0) for columns in counts_and_scores(table, totals[:0])] == [[], []]


def test_whole_numbers_are_written_without_a_fraction():
    assert repr(count_values(("a", "b", "c"), np.array([2.0, 0.5, 2.0**60]))) == repr({"a": 2, "b": 0.5, "c": 2**60})


def test_members_keep_the_order_of_their_names():
    names = ("b.x", "a", "b.y.z", "b.y.u")
    table = ScoreTable(("n",), tuple(ratio_score(name, "", "n", "n") for name in names))
    [document] = nested(counts_and_scores(table, np.array([[1]]))[1]).documents(0, 1)
    assert repr(document) == repr(nested_values((name, 1.0) for name in names))


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_rows_are_summed_by_group_in_their_order(kind):
    generator = np.random.default_rng(5)
    rows = (generator.random((300, 4)) * 1000).astype(kind)
    groups = generator.integers(0, 7, 300)
    groups[groups == 3] = 8
    plain = np.zeros((10, 4), kind)
    np.add.at(plain, groups, rows)
    assert same_bits(sums_of_rows(groups, 10, rows), plain)
    assert sums_of_rows(groups[:0], 2, rows[:0]).tolist() == [[0] * 4] * 2


@pytest.mark.parametrize("far", [0, -7, 10**15])
def test_values_are_ranked_as_by_sorting(far):
    values = np.random.default_rng(6).integers(-5, 90, 200)
    values[17] += far
    distinct, groups = ranked(values)
    plain = np.unique(values, return_inverse=True)
    assert distinct.tolist() == plain[0].tolist()
    assert groups.tolist() == plain[1].tolist()
    assert [part.tolist() for part in ranked(values[:0])] == [[], []]
