"""Several parts: pooled counts, the mean of the parts, and intervals of both."""

from __future__ import annotations

import math

import numpy as np
import pytest

from treescore.core.registry import make_metric
from treescore.core.scores import ScoreTable, ratio_score
from treescore.evaluation.benchmark import macro_mean, part_scores
from treescore.significance import Candidate, compare, parse_settings

TABLE = ScoreTable(
    ("right", "all"),
    (
        ratio_score("accuracy", "right of all", "right", "all"),
        ratio_score("errors", "wrong per item", {"all": 1, "right": -1}, "all", higher_is_better=False, high=None),
    ),
)


def rows(*pairs):
    return np.array(pairs, np.int64).reshape(-1, 2)


def test_pooled_counts_are_concatenated_and_parts_are_averaged():
    found = part_scores(TABLE, [rows((1, 2), (2, 2)), rows((0, 1))])
    assert found.parts[:, 0].tolist() == [0.75, 0.0]
    assert found.pooled[0] == 3 / 5
    assert found.macro[0] == 0.375


def test_a_part_without_counts_is_worst_and_undefined_where_nothing_is_worst():
    found = part_scores(TABLE, [rows((1, 2)), rows((0, 0))])
    assert found.macro[0] == 0.25
    assert math.isnan(found.macro[1])
    assert found.pooled.tolist() == [0.5, 0.5]


def test_where_every_part_is_undefined_the_mean_is():
    found = part_scores(TABLE, [rows((0, 0)), rows((0, 0))])
    assert np.isnan(found.macro).all()
    assert np.isnan(found.macro_interval).all()


def test_of_one_part_pooled_and_mean_are_the_same():
    found = part_scores(TABLE, [rows((1, 2), (2, 2), (0, 3))])
    assert found.macro[0] == found.pooled[0]
    assert np.array_equal(found.macro_interval, found.pooled_interval)


def test_the_same_question_has_the_same_answer():
    generator = np.random.default_rng(1)
    counts = [generator.random((20, 2)), generator.random((30, 2))]
    assert np.array_equal(part_scores(TABLE, counts).macro_interval, part_scores(TABLE, counts).macro_interval)


@pytest.mark.parametrize("parts", [1, 3])
def test_intervals_agree_with_those_of_a_comparison(parts):
    generator = np.random.default_rng(7)
    counts = []
    for _ in range(parts):
        words = generator.integers(5, 40, 120)
        counts.append(np.stack([generator.binomial(words, 0.8), words], axis=1))
    found = part_scores(TABLE, counts)
    strata = np.repeat(np.arange(parts), 120)
    document = compare(
        "m.accuracy", TABLE.scores[0], TABLE.count_names, [Candidate("a", (np.concatenate(counts),))],
        parse_settings({}), parts=strata if parts > 1 else None,
    )  # fmt: skip
    interval = document["systems"][0]["ci"]
    assert found.macro_interval[:, 0] == pytest.approx([interval["low"], interval["high"]], rel=1e-12)


def test_a_lower_is_better_score_takes_its_highest_value():
    table = make_metric("alignment", {}).table
    values = np.full((2, len(table.scores)), np.nan)
    values[0] = 0.25
    assert macro_mean(table, values)[0] == (0.25 + 1.0) / 2


@pytest.mark.parametrize("documents", [60, 8])
def test_documents_are_the_units_as_in_a_comparison(documents):
    generator = np.random.default_rng(5)
    counts, blocks = [], []
    for _ in range(2):
        block = np.repeat(np.arange(documents), 4)
        words = generator.integers(5, 40, 4 * documents)
        good = np.clip(0.7 + 0.2 * generator.standard_normal(documents), 0.1, 1.0)
        counts.append(np.stack([generator.binomial(words, good[block]), words], axis=1))
        blocks.append(block)
    found = part_scores(TABLE, counts, blocks=blocks)
    assert found.macro_interval[0, 0] < part_scores(TABLE, counts).macro_interval[0, 0]
    document = compare(
        "m.accuracy", TABLE.scores[0], TABLE.count_names, [Candidate("a", (np.concatenate(counts),))],
        parse_settings({}), parts=np.repeat([0, 1], 4 * documents),
        blocks=[f"d{at}" for at in np.concatenate(blocks)],
    )  # fmt: skip
    interval = document["systems"][0]["ci"]
    assert document["unit_count"] == 2 * documents
    assert found.macro_interval[:, 0] == pytest.approx([interval["low"], interval["high"]], rel=1e-12)


def test_a_part_by_sentence_stands_beside_one_by_document():
    counts = [rows((1, 2), (2, 2), (0, 3)), rows((1, 2), (2, 2), (3, 3))]
    found = part_scores(TABLE, counts, blocks=[np.array([0, 0, 1]), None])
    summed = part_scores(TABLE, [rows((3, 4), (0, 3)), counts[1]])
    assert np.array_equal(found.macro_interval, summed.macro_interval)
    assert np.array_equal(found.parts, part_scores(TABLE, counts).parts)
