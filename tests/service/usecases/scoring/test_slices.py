"""Rows of slices come back as they were made, and scores that are quotients of counts are not stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.store.packing import unpack
from service.usecases.scoring.slices import MANY_ROWS, pack_slices, unpack_slices

scalars = st.sampled_from([None, 0, 3, -(2**63), 2**63, 0.5, 2.0, -0.0, "", "é", True])
figures = st.dictionaries(st.sampled_from("xy"), scalars, max_size=2)
rows = st.fixed_dictionaries({"value": scalars, "counts": figures, "scores": figures})


def read_back(slices: dict[str, list[dict[str, Any]]]) -> bytes:
    read = unpack_slices(pack_slices(slices))
    return orjson.dumps({name: read[name] for name in read})


@given(st.lists(rows, max_size=3), st.sampled_from([1, MANY_ROWS]))
def test_any_rows_come_back(table, times):
    slices = {"other": [], "one": table * times}
    assert read_back(slices) == orjson.dumps(slices)


def quotient(above: int, below: int) -> float | None:
    return above / below if below else None


def many(draws: Any, *, nested: bool) -> list[dict[str, Any]]:
    found = []
    for number in range(20 * MANY_ROWS):
        correct, gold, system = (int(draw) for draw in draws.integers(0, 40, 3))
        counts = {"correct": correct, "gold": gold, "system": system}
        scores = {
            "f1": quotient(2 * correct, gold + system),
            "precision": quotient(correct, system),
            "recall": quotient(correct, gold),
            "none": None,
        }
        found.append({"value": f"w{number}", "counts": {"las": counts} if nested else counts, "scores": scores})
    return found


@pytest.mark.parametrize("nested", [True, False])
def test_scores_that_are_quotients_of_counts_are_not_stored(nested):
    table = many(np.random.default_rng(1), nested=nested)
    assert read_back({"word": table}) == orjson.dumps({"word": table})
    head = unpack(pack_slices({"word": table}))
    assert head.count(b'"quotients"') == 3
    assert head.count(b'["floats",0]') == head.count(b'"floats"') == 1  # the score that no row has


def test_a_score_that_differs_in_one_bit_stays_as_it_is():
    table = many(np.random.default_rng(2), nested=False)
    table[7]["scores"]["f1"] = np.nextafter(table[7]["scores"]["f1"], 2.0).item()
    assert read_back({"word": table}) == orjson.dumps({"word": table})
    assert unpack(pack_slices({"word": table})).count(b'"quotients"') == 2


def test_a_grouping_that_is_not_there_is_a_key_error():
    read = unpack_slices(pack_slices({"word": []}))
    assert list(read) == ["word"]
    assert read["word"] == []
    with pytest.raises(KeyError):
        read["other"]
