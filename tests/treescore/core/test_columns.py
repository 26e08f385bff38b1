"""Columns make the documents of any range of them; rows are made when asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.arrays import offsets_of
from treescore.core.columns import (
    Anything,
    Column,
    Documents,
    Joined,
    Lists,
    Numbers,
    Numerals,
    Quotients,
    Records,
    Rows,
    Shared,
    Some,
    Strings,
    Trees,
    column_of,
    counts_and_scores,
    nullable,
    rows_of,
    stacked_rows,
)
from treescore.core.scores import ScoreTable, f1_score, ratio_score

POOL = ["", "a", "dog", "naïve", "_", "a b", "\n", "x" * 40]
integers = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 300)
Made = tuple[Column, list[Any]]


def array(values: list[Any], dtype: Any = np.int64) -> Any:
    return np.array(values, dtype)


@st.composite
def leaves(draw: st.DrawFn, size: int) -> Made:
    """A column of `size` values without columns below it, and the values."""
    several = lambda each: draw(st.lists(each, min_size=size, max_size=size))  # noqa: E731 - only here
    match draw(st.sampled_from(["integers", "floats", "bools", "strings", "numerals", "quotients", "anything"])):
        case "integers":
            return Numbers(array(values := several(integers))), values
        case "floats":
            values = several(st.sampled_from([0.0, 0.5, 1 / 3, 1e300]) | st.floats(allow_infinity=False))
            return Numbers(array(values, np.float64)), [None if np.isnan(value) else value for value in values]
        case "bools":
            return Numbers(array(values := several(st.booleans()), np.bool_)), values
        case "strings":
            numbers = several(st.integers(0, len(POOL) - 1))
            return Strings(array(numbers), POOL), [POOL[number] for number in numbers]
        case "numerals":
            numbers = several(st.integers(-len(POOL), 10**18))
            written = [str(number) if number >= 0 else POOL[-1 - number] for number in numbers]
            return Numerals(array(numbers), POOL), written
        case "quotients":
            above, below = several(st.integers(0, 9)), several(st.integers(0, 9))
            shown = [2 * a / (a + b) if a + b else None for a, b in zip(above, below, strict=True)]
            twice, both = array(above), array(below)
            return Quotients([twice, twice], [twice, both]), shown
    return Anything(values := several(st.sampled_from([None, 1, "x", [1, {"y": 2.5}]]))), values


@st.composite
def columns(draw: st.DrawFn, size: int, depth: int) -> Made:
    """A column of `size` values, and the values."""
    kind = draw(st.sampled_from(["leaf", "some", "lists", "shared", "joined", "rows", "records"])) if depth else "leaf"
    if kind == "some":
        known = draw(st.lists(st.booleans(), min_size=size, max_size=size))
        of, found = draw(columns(sum(known), depth - 1))
        values = iter(found)
        return Some(array(known, np.bool_), of), [next(values) if each else None for each in known]
    if kind in ("lists", "joined"):
        offsets = offsets_of(array(draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))))
        bounds = [*zip(offsets.tolist(), offsets[1:].tolist(), strict=False)]
        if kind == "joined":
            numbers = draw(
                st.lists(st.integers(0, len(POOL) - 1), min_size=int(offsets[-1]), max_size=int(offsets[-1]))
            )
            words = [POOL[number] for number in numbers]
            return Joined(Lists(offsets, Strings(array(numbers), POOL))), [" ".join(words[a:b]) for a, b in bounds]
        of, found = draw(columns(int(offsets[-1]), depth - 1))
        return Lists(offsets, of), [found[a:b] for a, b in bounds]
    if kind == "shared":
        start, more = draw(st.integers(0, 2)), draw(st.integers(0, 2))
        of, found = draw(columns(start + size + more, depth - 1))
        return Shared(start, start + size, of), found[start : start + size]
    if kind == "rows":
        made = [draw(columns(size, depth - 1)) for _ in range(draw(st.integers(1, 3)))]
        return Rows([of for of, _ in made]), [list(row) for row in zip(*(found for _, found in made), strict=True)]
    if kind == "records":
        return draw(records(size, depth))
    return draw(leaves(size))


@st.composite
def records(draw: st.DrawFn, size: int, depth: int = 2) -> tuple[Records, list[dict[str, Any]]]:
    """Records of which some may lack members, and the objects."""
    members: dict[str, Column] = {}
    documents: list[dict[str, Any]] = [{} for _ in range(size)]
    for name in draw(st.lists(st.sampled_from("abcd"), unique=True, min_size=1, max_size=3)):
        has = draw(st.lists(st.booleans(), min_size=size, max_size=size) | st.just([True] * size))
        of, found = draw(columns(sum(has), depth - 1))
        members[name] = of if all(has) else Some(array(has, np.bool_), of, left_out=True)
        values = iter(found)
        for document, each in zip(documents, has, strict=True):
            if each:
                document[name] = next(values)
    return Records(members), documents


@given(made=st.integers(0, 6).flatmap(records), first=st.integers(0, 6), second=st.integers(0, 6))
def test_columns_make_the_documents_of_any_range(made, first, second):
    column, documents = made
    start, stop = sorted((min(first, len(documents)), min(second, len(documents))))
    assert len(column) == len(documents)
    # as JSON: the members' order and the kinds of numbers count
    assert orjson.dumps(column.documents(start, stop)) == orjson.dumps(documents[start:stop])


def test_trees_are_written_when_asked():
    nodes = Rows([Strings(array([1, 0]), ["NP", "S"]), Numbers(array([0, 0])), Numbers(array([2, 1]))])
    words = Rows(
        [Strings(array([0, 1]), ["the", "dog"]), nullable(array([True, False], np.bool_), Strings(array([0]), ["DT"]))]
    )
    made = Records({"tree": Trees(Lists(array([0, 0, 2]), nodes), Lists(array([0, 0, 2]), words), square=False)})
    assert made.documents(0, 2) == [{"tree": ""}, {"tree": "(S (NP (DT the)) dog)"}]


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


@given(st.lists(rows, max_size=3), st.sampled_from([1, 16]))
def test_any_rows_are_made_of_columns_of_them(table, times):
    slices = {"other": [], "one": table * times}
    made = {name: list(Documents(column_of(documents))) for name, documents in slices.items()}
    assert orjson.dumps(made) == orjson.dumps(slices)


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
def test_scores_are_those_of_the_counts(prefix):
    table, plain = many(prefix)
    assert orjson.dumps(list(table)) == orjson.dumps(plain)


def test_groupings_share_columns_in_which_their_rows_follow_each_other():
    totals = np.random.default_rng(1).integers(0, 40, (300, 3))
    names = {"first": range(100), "none": [], "second": range(200)}
    values = {name: Numbers(np.array(numbers, np.int64)) for name, numbers in names.items()}
    stacked = stacked_rows(values, *counts_and_scores(TABLE, totals), more=Numbers(np.arange(300)))
    for name, (start, stop) in {"first": (0, 100), "none": (100, 100), "second": (100, 300)}.items():
        more = Numbers(np.arange(start, stop))
        assert stacked[name] == rows_of(values[name], *counts_and_scores(TABLE, totals[start:stop]), more=more)


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
