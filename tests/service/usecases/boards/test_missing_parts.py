"""Submissions that lack a part: tested, with the part as the worst value and as one unit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from sqlalchemy import delete

from service.store.tables import artifacts
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import SLUG, UNLIMITED, Task, column

GOLDEN = orjson.loads((Path(__file__).parents[3] / "golden" / "inference.json").read_bytes())
ALIGNED: dict[str, Any] = {
    "id": SLUG, "title": "Alignment", "format": "pharaoh", "metrics": ["alignment"], "feedback": "gold",
    "main_score": "alignment.sure_f1", "quota": UNLIMITED,
}  # fmt: skip


def links(matching: Sequence[int], sizes: Sequence[int]) -> str:
    """A line for each sentence: so many of gold's links, and wrong ones up to the size."""
    return "".join(
        " ".join([f"{at}-{at}" for at in range(match)] + [f"{at}-{at + 100}" for at in range(match, size)]) + "\n"
        for match, size in zip(matching, sizes, strict=True)
    )


def outputs_of(parts: Sequence[dict[str, Any]], side: str) -> dict[str, str]:
    """The outputs of a side of a golden case, without the parts that it lacks."""
    return {
        f"p{at}": links(part[f"match_{side}"], part[f"test_{side}"])
        for at, part in enumerate(parts)
        if part.get(f"match_{side}") is not None
    }


def made(task: Task, parts: Sequence[dict[str, Any]], **changes: Any) -> None:
    """A benchmark of these parts, and a submission of each side."""
    gold = {f"p{at}": {"gold": links(part["gold"], part["gold"])} for at, part in enumerate(parts)}
    task.make(ALIGNED, parts=gold, **changes)
    for side in "ab":
        task.submit(task.team(side), outputs_of(parts, side))
    task.settle()


def test_a_missing_part_is_tested_as_one_unit(task: Task) -> None:
    case = GOLDEN["missing_part"]["cases"][0]
    made(task, case["parts"])
    board = task.leaderboard(ORGANISER)
    assert column(board, "tested") == [True, True]
    assert column(board, "reason") == [None, None]
    assert any("as one unit" in note for note in board["significance"]["notes"])
    assert board["rows"][0]["p_next"] == task.compared()["pairs"][0]["p"]
    document = task.compared(test="permutation")
    assert document["pairs"][0]["difference"] == pytest.approx(case["expected"]["difference"], rel=1e-12)
    assert document["pairs"][0]["p"] == pytest.approx(case["expected"]["p"], rel=1e-9)
    assert {system["name"]: system["score"] for system in document["systems"]} == {
        row["submission"]: pytest.approx(row["score"], rel=1e-12) for row in board["rows"]
    }


def pooled_f1(tops: Any, bottoms: Any) -> float:
    return float(tops.sum() / bottoms.sum())


def test_pooled_a_missing_part_is_one_unit_of_its_pairs(task: Task) -> None:
    parts = GOLDEN["missing_part"]["cases"][0]["parts"]
    made(task, parts)
    terms: dict[str, list[tuple[float, float]]] = {"a": [], "b": []}
    for part in parts:
        whole = part["match_b"] is None
        for side in terms:
            match = part[f"match_{side}"] or [0] * len(part["gold"])
            # what is missing counts as many wrong links as gold has
            rows = [(2 * right, size + size) for right, size in zip(match, part["gold"], strict=True)]
            terms[side] += [tuple(map(sum, zip(*rows, strict=True)))] if whole else rows
    a, b = (np.array(terms[side], np.float64) for side in "ab")
    observed = abs(pooled_f1(*a.T) - pooled_f1(*b.T))
    reached = []
    for signs in product((False, True), repeat=len(a)):
        swapped = np.array(signs)[:, None]
        first, second = np.where(swapped, b, a), np.where(swapped, a, b)
        reached.append(abs(pooled_f1(*first.T) - pooled_f1(*second.T)) >= observed * (1 - 1e-12))
    document = task.compared(part="pooled", test="permutation")
    assert document["pairs"][0]["difference"] == pytest.approx(pooled_f1(*a.T) - pooled_f1(*b.T), rel=1e-12)
    assert document["pairs"][0]["p"] == pytest.approx(np.mean(reached), rel=1e-12)
    assert document["unit_count"] == sum(len(part["gold"]) for part in parts)
    assert any("as one unit" in note for note in document["notes"])
    asked = task.compared(part="pooled")
    board = task.leaderboard(ORGANISER, part="pooled")
    assert column(board, "tested") == [True, True]
    assert board["rows"][0]["p_next"] == asked["pairs"][0]["p"]


@pytest.mark.parametrize("part", ["macro", "pooled"])
def test_pairs_that_both_have_or_both_lack_a_part_are_as_without_the_others(task, part):
    parts = GOLDEN["missing_part"]["cases"][0]["parts"]
    made(task, parts)
    alone = task.compared(part=part, seed=7)["pairs"]
    task.submit(task.team("c"), outputs_of(parts, "b"))
    task.submit(task.team("d"), outputs_of(parts, "a"))
    task.settle()
    together = task.compared(part=part, seed=7)["pairs"]
    known = {frozenset((pair["a"], pair["b"])): pair["p"] for pair in together}
    assert known[frozenset((alone[0]["a"], alone[0]["b"]))] == alone[0]["p"]
    assert [pair["p"] for pair in together if pair["difference"] == 0] == [1.0, 1.0]
    board = task.leaderboard(part=part)
    assert column(board, "rank") == [1, 1, 3, 3]


def test_the_part_itself_tests_only_those_who_have_it(task):
    parts = GOLDEN["missing_part"]["cases"][0]["parts"]
    made(task, parts)
    board = task.leaderboard(part="p2")
    assert column(board, "score")[1] is None
    assert column(board, "rank") == [1, None]
    ids = column(board, "submission")
    document = task.compared(submissions=ids, part="p2")
    assert [system["name"] for system in document["systems"]] == ids[:1]
    assert document["untested"] == [{"name": ids[1], "reason": "without a scored output for: p2"}]


@pytest.mark.parametrize("scores", [["alignment.sure_f1", "alignment.aer", "alignment.source_coverage"],
                                    pytest.param(None, marks=pytest.mark.slow)])  # fmt: skip
def test_every_score_that_has_a_worst_value_is_tested_as_the_board_shows_it(task, scores):
    made(task, GOLDEN["missing_part"]["cases"][1]["parts"], metrics=["alignment"])
    for address in scores or task.leaderboard(ORGANISER)["scores"]:
        for part in ("macro", "pooled"):
            board = task.leaderboard(ORGANISER, score=address, part=part)
            if address.endswith("_coverage"):  # null, since the numbers of words are not stated
                assert column(board, "score") == [None, None]
                continue
            document = task.compared(score=address, part=part)
            shown = {row["submission"]: row["score"] for row in board["rows"]}
            assert len(document["systems"]) == 2
            for system in document["systems"]:
                assert system["score"] == pytest.approx(shown[system["name"]], rel=1e-12), (address, part)


def test_a_missing_part_whose_cost_is_not_stored_counts_nothing(task, context):
    case = GOLDEN["missing_part"]["cases"][0]
    made(task, case["parts"])
    with context.store.write() as db:
        (lacking,) = (row["submission"] for row in task.leaderboard()["rows"] if row["team"] == "b")
        db.execute(delete(artifacts).where(artifacts.c.owner == lacking, artifacts.c.name == "r1/counts/2/0"))
    pair = task.compared(test="permutation")["pairs"][0]
    assert pair["p"] == pytest.approx(case["expected"]["p"], rel=1e-9)


def test_an_output_without_a_column_wins_nothing_and_its_team_reads_why(task):
    plus = "# global.columns = ID FORM UPOS HEAD DEPREL\n" + "1\tshe\tPRON\t2\tnsubj\n2\tsaw\tVERB\t0\troot\n\n" * 20
    wrong = plus.replace("VERB", "X")
    bare = plus.replace(" UPOS", "").replace("\tPRON", "").replace("\tVERB", "")
    of_part = {name: {"gold": plus} for name in ("en", "de")}
    task.make({"id": SLUG, "title": "Tags", "format": "conllu-plus", "metrics": ["ud"], "main_score": "ud.upos_f1",
               "parts": of_part, "feedback": "scores", "quota": UNLIMITED})  # fmt: skip
    honest, lacking = (task.team(name) for name in ("honest", "lacking"))
    task.scored(honest, {"en": plus, "de": wrong})
    submission = task.scored(lacking, {"en": plus, "de": bare})
    for part, scores in (("pooled", [0.75, 0.5]), ("macro", [0.75, 0.5]), ("de", [0.5, 0.0])):
        rows = task.leaderboard(part=part)
        assert column(rows, "team") == ["honest", "lacking"]
        assert column(rows, "score") == scores, part
    [warning] = [each for each in task.shown(lacking, submission)["warnings"] if "output" in each["detail"]]
    assert (warning["code"], warning["part"]) == ("column-missing", "de")
    assert "no column UPOS" in warning["detail"]
