"""Boards of submissions that lack a part, over HTTP: what is tested, and what every format says of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage

GOLDEN = orjson.loads((Path(__file__).parents[1] / "golden" / "inference.json").read_bytes())
FORMS = ("csv", "tsv", "markdown", "latex", "svg")
ONE_UNIT = "A missing part counts as the worst value and as one unit."


def links(matching: Sequence[int], sizes: Sequence[int]) -> str:
    """A line for each sentence: so many of gold's links, and wrong ones up to the size."""
    return "".join(
        " ".join([f"{at}-{at}" for at in range(match)] + [f"{at}-{at + 100}" for at in range(match, size)]) + "\n"
        for match, size in zip(matching, sizes, strict=True)
    )


@pytest.mark.parametrize("case", GOLDEN["missing_part"]["cases"])
def test_a_missing_part_is_one_unit_for_organisers_and_rounded_for_others(stage: Stage, case: dict[str, Any]) -> None:
    parts = {f"p{at}": part for at, part in enumerate(case["parts"])}
    gold = {name: {"gold": links(part["gold"], part["gold"])} for name, part in parts.items()}
    task = SharedTask(
        stage, format="pharaoh", metrics=["alignment"], main_score="alignment.sure_f1", parts=gold, feedback="scores",
    )  # fmt: skip
    for side in "ab":
        found = {
            name: links(part[f"match_{side}"], part[f"test_{side}"])
            for name, part in parts.items()
            if part[f"match_{side}"] is not None
        }
        task.submit(task.team(side), outputs=found)
    board = task.organiser.get(f"{task.address}/leaderboard").json
    assert [row["tested"] for row in board["rows"]] == [True, True]
    assert board["rows"][0]["p_next"] == pytest.approx(case["expected"]["p"], rel=1e-9)
    assert board["rows"][0]["detectable"] is None or board["rows"][0]["detectable"]["power"] == 0.8
    assert ONE_UNIT in board["significance"]["assumed"]
    compared = task.organiser.get(f"/v1/comparisons/{board['significance']['comparison']}").json
    assert compared["pairs"][0]["difference"] == pytest.approx(case["expected"]["difference"], rel=1e-12)
    everyone = stage.client(None)
    shown = everyone.get(f"{task.address}/leaderboard").json
    assert shown["rows"][0]["p_next"] == float(f"{case['expected']['p']:.2g}")
    assert shown["significance"]["unit_count"] is None
    for form in FORMS:
        words = " ".join(everyone.get(f"{task.address}/leaderboard?format={form}").text.split())
        assert "A missing part counts as the worst value and as one unit" in words, form


def test_every_export_marks_what_is_missing_and_names_no_hidden_part(stage: Stage) -> None:
    text = links([2] * 12, [2] * 12)
    parts = {name: {"gold": text} for name in ("p1", "p2", "p3")}
    task = SharedTask(
        stage, format="pharaoh", metrics=["alignment"], main_score="alignment.sure_f1", parts=parts, feedback="scores",
    )  # fmt: skip
    task.submit(task.team("a"), outputs={"p1": text, "p3": text})
    everyone = stage.client(None)
    row = everyone.get(f"{task.address}/leaderboard").json["rows"][0]
    assert (row["missing_parts"], row["scored_parts"]) == (["p2"], 2)
    for form in ("csv", "tsv"):
        head, first = everyone.get(f"{task.address}/leaderboard?format={form}").text.splitlines()
        separator = "," if form == "csv" else "\t"
        found = dict(zip(head.split(separator), first.split(separator), strict=False))
        assert (found["scored_parts"], found["parts"], found["missing_parts"]) == ("2", "3", "p2")
    for form in ("markdown", "latex", "svg"):
        words = " ".join(everyone.get(f"{task.address}/leaderboard?format={form}").text.split())
        assert "2 of 3 (without p2)" in words.replace("\\", ""), form
    for form in ("markdown", "latex"):
        assert "2 of 3 (without p2)" in everyone.get(f"{task.address}/matrix?format={form}").text
    small = {name: {"gold": links([2] * 3, [2] * 3)} for name in ("s1", "s2", "s3", "s4")}
    hidden = SharedTask(
        stage, format="pharaoh", metrics=["alignment"], main_score="alignment.sure_f1", feedback="scores",
        parts={"p1": {"gold": text}, **small},
    )  # fmt: skip
    hidden.submit(hidden.team("a"), outputs={"p1": text, "s1": links([2] * 3, [2] * 3)})
    row = everyone.get(f"{hidden.address}/leaderboard").json["rows"][0]
    assert (row["missing_parts"], row["scored_parts"]) == ([], 2)
    for form in ("csv", "tsv", "markdown", "latex", "svg"):
        words = everyone.get(f"{hidden.address}/leaderboard?format={form}").text
        notes = words.partition("Parts without a scored output")[2].partition(".")[0]
        assert "s2" not in notes, form
