"""What may be asked, and what is said to those who ask otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treescore.core.comparing import PARAMS
from treescore.errors import InputError
from treescore.significance import Settings, parse_settings
from treescore.significance.assembly import greedy, rank_ranges, ranks_of, separable


def test_everything_has_a_default_and_scores_are_left_alone() -> None:
    assert parse_settings({"scores": ["parseval.labelled_f1"]}) == Settings()
    own = {name: getattr(Settings(), name) for name in Settings.__dataclass_fields__ if name != "runs_required"}
    assert {name: param.default for name, param in PARAMS.items()} == {**own, "test": "auto"}


def test_a_test_is_kept_as_it_was_named() -> None:
    by_law = {name: parse_settings({"test": name}).by_law for name in PARAMS["test"].schema["enum"]}
    assert [name for name, law in by_law.items() if law] == ["auto", "permutation", "t"]


def test_runs_that_are_asked_for_by_name_are_required() -> None:
    assert parse_settings({"runs": "random"}).runs_required
    assert not parse_settings({"runs": "fixed"}).runs_required


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"test": "t-test"}, "/test"),
        ({"shuffles": 0}, "/shuffles"),
        ({"shuffles": 10**9}, "/shuffles"),
        ({"shuffles": "many"}, "/shuffles"),
        ({"shuffles": True}, "/shuffles"),
        ({"alpha": 1}, "/alpha"),
        ({"alpha": 0}, "/alpha"),
        ({"alpha": None}, "/alpha"),
        ({"seed": -1}, "/seed"),
        ({"seed": 1.5}, "/seed"),
        ({"correction": "sidak"}, "/correction"),
        ({"unit": "token"}, "/unit"),
        ({"unit": "token", "test": "t"}, "/unit"),
        ({"trials": 5}, "/trials"),
        ({"level": 2}, "/level"),
        ({"margin": 0}, "/margin"),
        ({"margin": -0.1}, "/margin"),
        ({"margin": 0.1, "test": "mcnemar"}, "/margin"),
        ({"margin": 0.1, "test": "compare_pl"}, "/margin"),
        ({"power": 1}, "/power"),
        ({"unit": "paragraph"}, "/unit"),
        ({"runs": "pooled"}, "/runs"),
    ],
)
def test_what_makes_no_sense_is_refused_where_it_stands(given: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InputError) as error:
        parse_settings(given)
    assert [problem.pointer for problem in error.value.problems] == [pointer]


def test_whole_numbers_may_be_written_as_floats() -> None:
    assert parse_settings({"shuffles": 1000.0}).shuffles == 1000


def better(*pairs: tuple[int, int], size: int) -> np.ndarray:
    matrix = np.zeros((size, size), np.bool_)
    for row, column in pairs:
        matrix[row, column] = True
    return matrix


def test_a_line_is_drawn_only_where_all_above_beat_all_below() -> None:
    # 1 beats 3 and 4, 2 beats 4 only: no line parts them cleanly but greedy draws one
    matrix = better((0, 2), (0, 3), (1, 3), size=4)
    assert separable(matrix) == [1, 1, 1, 1]
    assert greedy(matrix) == [1, 1, 2, 2]
    assert rank_ranges(matrix) == [[1, 2], [1, 3], [2, 4], [3, 4]]
    clean = better((0, 1), (0, 2), size=3)
    assert separable(clean) == [1, 2, 2]
    assert separable(better(size=0)) == greedy(better(size=0)) == []


def test_equal_scores_share_the_best_rank() -> None:
    assert ranks_of(np.array([0.9, 0.7, 0.7, 0.5])) == [1, 2, 2, 4]
