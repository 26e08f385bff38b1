"""What p is about on boards, as callers build them from texts: means of parts, picked rows, missing parts.

The library is held against all reference figures, HTTP against those that a board is made for.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage
from treescore.core.comparing import FEWEST_PARTS

FORMS = ("csv", "tsv", "markdown", "latex", "svg")
ONE_UNIT = "A part without an output counts as 0, and as one unit."
GOLDEN = orjson.loads((Path(__file__).parents[1] / "golden" / "inference.json").read_bytes())


def links(matching: Sequence[int], sizes: Sequence[int]) -> str:
    """A line for each sentence: so many of gold's links, and wrong ones up to the size."""
    return "".join(
        " ".join([f"{at}-{at}" for at in range(match)] + [f"{at}-{at + 100}" for at in range(match, size)]) + "\n"
        for match, size in zip(matching, sizes, strict=True)
    )


def alignment_task(stage: Stage, gold: dict[str, Sequence[int]], **changes: Any) -> SharedTask:
    parts = {name: {"gold": links(sizes, sizes)} for name, sizes in gold.items()}
    score = {"format": "pharaoh", "metrics": ["alignment"], "main_score": "alignment.sure_f1"}
    return SharedTask(stage, **score, parts=parts, feedback="scores", **changes)


@pytest.mark.parametrize("number", [0, 2])  # without and with a p of the parts alone
def test_a_mean_over_parts_and_parts_like_these(stage: Stage, number: int) -> None:
    case = GOLDEN["macro"]["cases"][number]
    parts = {f"p{at:02}": part for at, part in enumerate(case["parts"])}
    task = alignment_task(stage, {name: part["gold"] for name, part in parts.items()})
    ids = []
    for side in "ab":
        found = {name: links(part[f"match_{side}"], part[f"test_{side}"]) for name, part in parts.items()}
        ids.append(task.submit(task.team(side), outputs=found).rpartition("/")[2])
    comparisons = f"{task.address}/comparisons"
    asked = {"submissions": ids, "test": "permutation"}
    pair = task.organiser.post(comparisons, json=asked).json["pairs"][0]
    expected = case["expected"]
    assert pair["difference"] == pytest.approx(expected["difference"], rel=1e-9)
    assert pair["p"] == pytest.approx(expected["p"], rel=1e-9 if pair["p_kind"] == "exact" else 0.02)
    board = task.organiser.get(f"{task.address}/leaderboard").json
    own = task.organiser.get(f"/v1/comparisons/{board['significance']['comparison']}").json["pairs"][0]
    assert board["rows"][0]["p_next"] == own["p"]
    by_part = task.organiser.post(comparisons, json={**asked, "unit": "part"})
    if len(parts) >= FEWEST_PARTS:
        assert by_part.json["pairs"][0]["p"] == pair["p_parts"]
        return
    assert pair["p_parts"] is None
    assert by_part.status_code == 422
    assert by_part.json["errors"][0] == {
        "pointer": "/unit", "code": "too-few-parts", "detail": by_part.json["errors"][0]["detail"],
    }  # fmt: skip


def test_a_row_that_is_the_best_of_k_submissions(stage: Stage) -> None:
    total = [12] * 11
    attempts = [[11, 6, 10, 6, 9, 9, 6, 7, 5, 7, 10], [8, 6, 10, 9, 7, 8, 10, 9, 7, 10, 7]]
    task = alignment_task(stage, {"p": total}, leaderboard={"pick": "best"})
    team, other = task.team("ta"), task.team("tb")
    for right in attempts:
        task.submit(team, outputs={"p": links(right, total)})
    task.submit(other, outputs={"p": links([6, 4, 8, 9, 3, 8, 2, 9, 5, 9, 9], total)})
    board = task.organiser.get(f"{task.address}/leaderboard").json
    shown = board["significance"]
    assert (shown["selection"], shown["unit"], shown["unit_count"]) == ("adjusted", "sentence", len(total))
    assert board["rows"][0]["considered"] == len(attempts)
    pair = task.organiser.get(f"/v1/comparisons/{shown['comparison']}").json["pairs"][0]
    assert board["rows"][0]["p_next"] == pair["p"]
    assert pair["p"] == pytest.approx(min(1.0, 2 * pair["p_unselected"]), rel=1e-12)


def test_whole_parts_of_a_job_and_of_one_part_are_refused(stage: Stage) -> None:
    two = [{"name": name, "output": links([1, 2], [2, 2])} for name in "ab"]
    job = {"format": "pharaoh", "gold": links([2, 2], [2, 2]), "systems": two, "metrics": ["alignment"]}
    answer = stage.client().post("/v1/jobs", json={**job, "significance": {"unit": "part"}})
    assert answer.status_code == 422
    assert [(each["pointer"], each["code"]) for each in answer.json["errors"]] == [
        ("/significance/unit", "too-few-parts")
    ]
    task = alignment_task(stage, {f"p{at}": [2, 2] for at in range(6)})
    outputs = {f"p{at}": links([1, 2], [2, 2]) for at in range(6)}
    ids = [task.submit(task.team(name), outputs=outputs).rpartition("/")[2] for name in ("ta", "tb")]
    for where, status in (("p0", 422), ("pooled", 422), ("macro", 201)):
        asked = {"submissions": ids, "part": where, "unit": "part"}
        assert task.organiser.post(f"{task.address}/comparisons", json=asked).status_code == status, where


def test_a_missing_part_is_one_unit_for_organisers_and_rounded_for_others(stage: Stage) -> None:
    case = GOLDEN["missing_part"]["cases"][0]
    parts = {f"p{at}": part for at, part in enumerate(case["parts"])}
    task = alignment_task(stage, {name: part["gold"] for name, part in parts.items()})
    for side in "ab":
        found = {
            name: links(part[f"match_{side}"], part[f"test_{side}"])
            for name, part in parts.items()
            if part[f"match_{side}"] is not None
        }
        task.submit(task.team(side), outputs=found)
    board = task.organiser.get(f"{task.address}/leaderboard").json
    assert [row["tested"] for row in board["rows"]] == [True, True]
    assert board["rows"][0]["detectable"] is None or board["rows"][0]["detectable"]["power"] == 0.8
    assert any(ONE_UNIT in note for note in board["significance"]["notes"])
    compared = task.organiser.get(f"/v1/comparisons/{board['significance']['comparison']}").json
    assert compared["pairs"][0]["p"] == board["rows"][0]["p_next"]
    assert compared["pairs"][0]["difference"] == pytest.approx(case["expected"]["difference"], rel=1e-12)
    everyone = stage.client(None)
    shown = everyone.get(f"{task.address}/leaderboard").json
    assert shown["rows"][0]["p_next"] == float(f"{board['rows'][0]['p_next']:.2g}")
    assert shown["significance"]["unit_count"] is None
    for form in FORMS:
        words = " ".join(everyone.get(f"{task.address}/leaderboard?format={form}").text.split())
        assert ONE_UNIT.rstrip(".") in words, form


def test_every_export_marks_what_is_missing_and_names_no_hidden_part(stage: Stage) -> None:
    text = links([2] * 12, [2] * 12)
    task = alignment_task(stage, dict.fromkeys(("p1", "p2", "p3"), [2] * 12))
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
    hidden = alignment_task(stage, {"p1": [2] * 12, **dict.fromkeys(("s1", "s2", "s3", "s4"), [2] * 3)})
    hidden.submit(hidden.team("a"), outputs={"p1": text, "s1": links([2] * 3, [2] * 3)})
    row = everyone.get(f"{hidden.address}/leaderboard").json["rows"][0]
    assert (row["missing_parts"], row["scored_parts"]) == ([], 2)
    for form in ("csv", "tsv", "markdown", "latex", "svg"):
        words = everyone.get(f"{hidden.address}/leaderboard?format={form}").text
        notes = words.partition("Parts without a scored output")[2].partition(".")[0]
        assert "s2" not in notes, form
