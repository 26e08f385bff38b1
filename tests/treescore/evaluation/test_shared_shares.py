"""Scores of equal denominators share what hangs on these; no other score takes it."""

import numpy as np

from treescore.core.scores import Ratio, Score, ScoreTable, harmonic
from treescore.evaluation.benchmark import part_scores

NAMES = ("a", "x", "b", "c")
SINGLE = Score("single", "d", (Ratio({"a": 1}, {"x": 1}),))
JOINED = Score("joined", "d", (Ratio({"a": 1}, {"b": 1}), Ratio({"a": 1}, {"c": 1})), join=harmonic)


def test_an_interval_is_the_same_alone_and_beside_other_scores() -> None:
    """As many units as parts, so that sums by part have the shape of sums by unit."""
    rows = [np.zeros((0, 4), np.int64), np.array([[1, 0, 2, 2], [2, 4, 2, 2]])]
    together, alone = (part_scores(ScoreTable(NAMES, scores), rows) for scores in ((SINGLE, JOINED), (JOINED,)))
    np.testing.assert_array_equal(together.macro_interval[:, -1], alone.macro_interval[:, -1])


def test_a_part_without_units_counts_wherever_it_stands() -> None:
    full, empty = np.array([[1, 2], [2, 2], [0, 3]]), np.zeros((0, 2), np.int64)
    table = ScoreTable(("a", "x"), (SINGLE,))
    first, last = (part_scores(table, rows) for rows in ([empty, full, full], [full, full, empty]))
    np.testing.assert_allclose(first.macro_interval, last.macro_interval)
    lacking = part_scores(table, [full, full, empty], [True, False, False])
    assert np.isfinite(lacking.macro_interval).all()
