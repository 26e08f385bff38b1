"""Rows of slices come back as they were made, and scores that are quotients of counts are not stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.store.packing import unpack
from service.usecases.scoring.results import pack_slices, unpack_slices
from treescore.core.columns import Documents, Numbers, column_of, counts_and_scores, rows_of, stacked_rows
from treescore.core.scores import ScoreTable, f1_score, ratio_score

scalars = st.sampled_from([None, 0, 3, -(2**63), 2**63, 0.5, 2.0, -0.0, "", "é", True])
figures = st.dictionaries(st.sampled_from("xy"), scalars, max_size=2)
rows = st.fixed_dictionaries({"value": scalars, "counts": figures, "scores": figures})

NAMES = ("correct", "gold", "system")
TABLE = ScoreTable(
    NAMES,
    (
        f1_score("f1", "F1.", *NAMES, undefined="no words"),
        ratio_score("precision", "Precision.", "correct", "system"),
        ratio_score("error", "One minus recall.", "correct", "gold", one_minus=True),
    ),
)


def read_back(slices: dict[str, Documents]) -> bytes:
    read = unpack_slices(pack_slices(slices))
    return orjson.dumps({name: list(read[name]) for name in read})


@given(st.lists(rows, max_size=3), st.sampled_from([1, 16]))
def test_any_rows_come_back(table, times):
    slices = {"other": [], "one": table * times}
    packed = {name: Documents(column_of(documents)) for name, documents in slices.items()}
    assert read_back(packed) == orjson.dumps(slices)


def quotient(above: int, below: int) -> float | None:
    return above / below if below else None


def many(prefix: str = "") -> tuple[Documents, list[dict[str, Any]]]:
    """Rows as columns, and the same rows from their definition."""
    totals = np.random.default_rng(1).integers(0, 40, (300, 3))
    totals[:7] = 0
    counts, scores = counts_and_scores(TABLE, totals)
    table = rows_of(
        Numbers(np.arange(300)),
        {prefix + name: column for name, column in counts.items()},
        {prefix + name: column for name, column in scores.items()},
        sentences=Numbers(np.arange(300)),
    )
    plain = []
    for number, (correct, gold, system) in enumerate(totals.tolist()):
        own: dict[str, Any] = dict(zip(NAMES, (correct, gold, system), strict=True))
        of_own: dict[str, Any] = {
            "f1": quotient(2 * correct, gold + system),
            "precision": quotient(correct, system),
            "error": 1 - correct / gold if gold else None,
        }
        both = ({"las": own}, {"las": of_own}) if prefix else (own, of_own)
        plain.append({"value": number, "counts": both[0], "scores": both[1], "sentences": number})
    return table, plain


@pytest.mark.parametrize("prefix", ["", "las."])
def test_scores_that_are_quotients_of_counts_are_not_stored(prefix):
    table, plain = many(prefix)
    assert read_back({"word": table}) == orjson.dumps({"word": plain})
    head = unpack(pack_slices({"word": table}))
    assert head.count(b'"quotients"') == 2
    assert head.count(b'"floats"') == 1  # one minus a quotient


def test_a_grouping_under_two_names_takes_room_once():
    table, _ = many()
    both, one = (len(pack_slices(dict.fromkeys(names, table))) for names in (("word", "Wordform"), ("word",)))
    assert both < 1.1 * one


def test_groupings_share_columns_in_which_their_rows_follow_each_other():
    totals = np.random.default_rng(1).integers(0, 40, (300, 3))
    names = {"first": range(100), "none": [], "second": range(200)}
    values = {name: Numbers(np.array(numbers, np.int64)) for name, numbers in names.items()}
    stacked = stacked_rows(values, *counts_and_scores(TABLE, totals), more=Numbers(np.arange(300)))
    for name, (start, stop) in {"first": (0, 100), "none": (100, 100), "second": (100, 300)}.items():
        more = Numbers(np.arange(start, stop))
        assert stacked[name] == rows_of(values[name], *counts_and_scores(TABLE, totals[start:stop]), more=more)
    assert read_back(stacked) == orjson.dumps({name: list(rows) for name, rows in stacked.items()})
    assert unpack(pack_slices(stacked)).count(b'"plain"') == 3


def test_rows_are_made_when_asked_and_equal_to_a_list_of_them():
    table, plain = many()
    assert table == plain
    assert table[0] == plain[0]
    assert table[-1] == plain[-1]
    assert table[3:5] == plain[3:5]
    assert len(table) == len(plain)
    with pytest.raises(IndexError):
        table[len(plain)]


def test_real_counts_that_are_whole_are_integers():
    totals = np.array([[2.0, 4.0, 0.5], [0.0, 4.5, 0.25]])
    counts, _ = counts_and_scores(TABLE, totals)
    table = rows_of(Numbers(np.arange(2)), counts, {})
    assert [orjson.dumps(row["counts"]) for row in table] == [
        b'{"correct":2,"gold":4,"system":0.5}',
        b'{"correct":0,"gold":4.5,"system":0.25}',
    ]


def test_a_grouping_that_is_not_there_is_a_key_error():
    read = unpack_slices(pack_slices({"word": Documents(column_of([]))}))
    assert list(read) == ["word"]
    assert read["word"] == []
    with pytest.raises(KeyError):
        read["other"]
