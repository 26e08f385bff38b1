"""The reference figures of what p is about, as callers build them from texts: jobs, comparisons and boards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage

GOLDEN = orjson.loads((Path(__file__).parents[1] / "golden" / "inference.json").read_bytes())
RECALL = {"scores": ["alignment.sure_recall"]}
RIGHT = "1\tw\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
WRONG = RIGHT.replace("root", "dep")
WHOLE, CROSSED = "(S (A a) (B b))\n", "(S (A a) (X (B b)))\n"


def near(value: Any) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-12)


def cases(section: str) -> list[Any]:
    """The cases of a section. The library is always held against all, HTTP against most in slow tests only."""
    return [
        pytest.param(case, id=str(number), marks=pytest.mark.slow if number and "p_parts" not in str(case) else ())
        for number, case in enumerate(GOLDEN[section]["cases"])
    ]


def links(matching: Sequence[int], sizes: Sequence[int]) -> str:
    """A line for each sentence: so many of gold's links, and wrong ones up to the size."""
    return "".join(
        " ".join([f"{at}-{at}" for at in range(match)] + [f"{at}-{at + 100}" for at in range(match, size)]) + "\n"
        for match, size in zip(matching, sizes, strict=True)
    )


def posted(stage: Stage, **request: Any) -> Any:
    made = stage.client().post("/v1/jobs", json=request)
    assert made.status_code == 201, made.text
    return stage.client().get(made.headers["Location"]).json


def compared(stage: Stage, total: Sequence[int], systems: dict[str, Sequence[int]], **request: Any) -> Any:
    """The comparison of a job whose systems have so many of gold's links; a `run_of` by their names, `a1` of `a`."""
    texts = [
        {"name": name, "output": links(right, right), **({"run_of": name[0]} if len(name) > 1 else {})}
        for name, right in systems.items()
    ]
    request = {"significance": RECALL, **request}
    job = posted(stage, format="pharaoh", gold=links(total, total), systems=texts, metrics=["alignment"], **request)
    return job["results"]["comparisons"][0]


@pytest.mark.parametrize("case", cases("blocks"))
def test_documents_are_swapped_as_wholes(stage: Stage, case: dict[str, Any]) -> None:
    document = compared(stage, case["total"], {"a": case["a"], "b": case["b"]}, items={"blocks": case["blocks"]})
    assert document["units"] == "block"
    assert document["pairs"][0]["p"] == near(case["p_block"])
    assert document["smallest_p"]["p"] == near(case["smallest_p"])
    assert "document" in document["assumed"]


@pytest.mark.parametrize("case", cases("few_units"))
def test_few_units_have_their_intervals_and_what_could_be_detected(stage: Stage, case: dict[str, Any]) -> None:
    systems = {"a": case["a"], "b": case["b"]}
    document = compared(stage, case["total"], systems)
    pair = document["pairs"][0]
    assert pair["detectable"]["difference"] == near(case["detectable"])
    assert [pair["ci"]["low"], pair["ci"]["high"]] == near(case["interval"])
    for system in document["systems"]:
        assert [system["ci"]["low"], system["ci"]["high"]] == near(case[f"interval_{system['name']}"])
    strict = compared(stage, case["total"], systems, significance={**RECALL, "alpha": 0.01})["pairs"][0]
    assert strict["detectable"]["difference"] == near(case["detectable_alpha_01"])


@pytest.mark.parametrize("case", cases("few_units"))
def test_not_worse_by_a_margin(stage: Stage, case: dict[str, Any]) -> None:
    for expected in case["noninferior"]:
        asked = {**RECALL, "margin": expected["margin"]}
        document = compared(stage, case["total"], {"a": case["a"], "b": case["b"]}, significance=asked)
        found = document["pairs"][0]["noninferiority"]
        assert (found["margin"], found["a"]["p"], found["b"]["p"]) == near(
            (expected["margin"], expected["p_a"], expected["p_b"])
        )
        assert not found["a"]["established"]  # below 20 units nothing is


@pytest.mark.parametrize("case", cases("runs"))
def test_training_runs_vary_with_the_units(locked_stage: Stage, case: dict[str, Any]) -> None:
    systems = {side if not at else f"{side}{at}": run for side in "ab" for at, run in enumerate(case[f"runs_{side}"])}
    document = compared(locked_stage, case["total"], systems)
    pair = document["pairs"][0]
    assert (pair["p"], pair["difference"]) == near((case["expected"]["p"], case["expected"]["difference"]))
    assert pair["p_kind"] is None
    assert "Runs and test units both vary." in document["assumed"]


@pytest.mark.parametrize("kind", ["exact", "mid-p", "chi2", "chi2-corrected"])
@pytest.mark.parametrize("case", cases("mcnemar"))
def test_mcnemar_s_smallest_p_is_of_its_kind(stage: Stage, case: dict[str, Any], kind: str) -> None:
    b, c = case["b"], case["c"]
    job = posted(
        stage, format="conllu", gold=RIGHT * (b + c), metrics=["attachment"],
        systems=[
            {"name": "a", "output": RIGHT * b + WRONG * c}, {"name": "b", "output": WRONG * b + RIGHT * c},
        ],
        significance={"test": "mcnemar", "mcnemar": kind},
    )  # fmt: skip
    pair = job["results"]["comparisons"][0]["pairs"][0]
    assert pair["smallest_p"] == near(case["smallest_p"][kind])
    assert pair["mcnemar"]["mid_p"] == near(case["mid_p"])
    assert pair["difference_tested"] == near((b - c) / (b + c))
    assert pair["better"] == (None if b == c else "a" if b > c else "b")


@pytest.mark.parametrize("case", cases("exact_match"))
def test_shares_of_whole_sentences_have_wilson_s_interval(stage: Stage, case: dict[str, Any]) -> None:
    right, n = case["right"], case["n"]
    job = posted(
        stage, format="bracketed", gold=WHOLE * n, metrics=["parseval"],
        systems=[{"name": "a", "output": WHOLE * right + CROSSED * (n - right)}, {"name": "b", "output": WHOLE * n}],
        significance={"scores": ["parseval.exact_match"]},
    )  # fmt: skip
    found = {each["name"]: each["ci"] for each in job["results"]["comparisons"][0]["systems"]}
    assert [found["a"]["low"], found["a"]["high"]] == near(case["interval"])


def alignment_task(stage: Stage, gold: dict[str, Sequence[int]], **changes: Any) -> SharedTask:
    parts = {name: {"gold": links(sizes, sizes)} for name, sizes in gold.items()}
    score = {"format": "pharaoh", "metrics": ["alignment"], "main_score": "alignment.sure_f1"}
    return SharedTask(stage, **score, parts=parts, feedback="scores", **changes)


@pytest.mark.parametrize("case", cases("macro"))
def test_a_mean_over_parts_and_parts_like_these(stage: Stage, case: dict[str, Any]) -> None:
    parts = {f"p{at:02}": part for at, part in enumerate(case["parts"])}
    task = alignment_task(stage, {name: part["gold"] for name, part in parts.items()})
    ids = []
    for side in "ab":
        found = {name: links(part[f"match_{side}"], part[f"test_{side}"]) for name, part in parts.items()}
        ids.append(task.submit(task.team(side), outputs=found).rpartition("/")[2])
    comparisons = f"{task.address}/comparisons"
    pair = task.organiser.post(comparisons, json={"submissions": ids}).json["pairs"][0]
    expected = case["expected"]
    assert pair["difference"] == near(expected["difference"])
    # with 17 units and more p is drawn, with a standard error of half a percent
    rel = 1e-9 if pair["p_kind"] == "exact" else 0.02
    assert pair["p"] == pytest.approx(expected["p"], rel=rel)
    board = task.organiser.get(f"{task.address}/leaderboard").json
    assert board["rows"][0]["p_next"] == pytest.approx(expected["p"], rel=rel)
    by_part = task.organiser.post(comparisons, json={"submissions": ids, "unit": "part"})
    if "p_parts" in expected:
        assert pair["p_parts"] == near(expected["p_parts"])
        assert by_part.json["pairs"][0]["p"] == near(expected["p_parts"])
        return
    assert pair["p_parts"] is None
    assert by_part.status_code == 422
    assert by_part.json["errors"][0] == {
        "pointer": "/unit", "code": "too-few-parts", "detail": by_part.json["errors"][0]["detail"],
    }  # fmt: skip


@pytest.mark.parametrize("case", cases("selection"))
def test_a_row_that_is_the_best_of_k_submissions(stage: Stage, case: dict[str, Any]) -> None:
    total = case["total"]
    task = alignment_task(stage, {"p": total}, leaderboard={"pick": "best"})
    team, other = task.team("ta"), task.team("tb")
    for right in case["submissions"]:
        task.submit(team, outputs={"p": links(right, total)})
    task.submit(other, outputs={"p": links(case["opponent"], total)})
    board = task.organiser.get(f"{task.address}/leaderboard").json
    shown = board["significance"]
    assert (shown["selection"], shown["unit"], shown["unit_count"]) == ("adjusted", "sentence", len(total))
    assert board["rows"][0]["considered"] == len(case["submissions"])
    assert board["rows"][0]["p_next"] == near(case["expected"]["p"])
    pair = task.organiser.get(f"/v1/comparisons/{shown['comparison']}").json["pairs"][0]
    assert (pair["p"], pair["p_unselected"]) == near((case["expected"]["p"], case["expected"]["p_unselected"]))


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
