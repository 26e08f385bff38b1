"""A shared task from its announcement to a mended gold standard, against the real processes."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG
from tests.fixtures.service_process import ROOT, ServiceProcess, until
from tests.fixtures.tasks import BENCHMARK, LONG, spoilt

pytestmark = pytest.mark.e2e

WAIT = {"Prefer": "wait=60"}


def make(client: httpx.Client, slug: str, **changes: Any) -> str:
    """The address of a new benchmark whose gold is checked."""
    request = {**BENCHMARK, "id": slug, **changes}
    made = client.post("/v1/benchmarks", json=request, headers=WAIT)
    assert made.status_code == 201, made.text
    assert made.json()["state"] == "active"
    return made.headers["Location"]


def join(client: httpx.Client, benchmark: str, team: str) -> dict[str, str]:
    """The headers of a new team."""
    made = client.post(f"{benchmark}/teams", json={"id": team, "name": f"{team} Parsing Group"})
    return {"Authorization": f"Bearer {made.json()['token']}"}


def settled_board(client: httpx.Client, benchmark: str) -> Any:
    """The board once its differences are tested."""

    def tested() -> Any:
        board = client.get(f"{benchmark}/leaderboard").json()
        return None if board["significance"]["pending"] or board["significance"]["test"] is None else board

    return until(tested, "the differences of the board are tested")


def test_a_shared_task_from_gold_to_its_revision(served: ServiceProcess) -> None:
    with served.client() as organiser:
        benchmark = make(organiser, "story-en")
        lyon, oslo = (join(organiser, benchmark, name) for name in ("lyon", "oslo"))
        right = organiser.post(
            f"{benchmark}/submissions",
            headers={**lyon, **WAIT},
            data={"meta": '{"name": "right"}'},
            files={"en": GOLD_CONLLU.encode()},
        )
        assert right.status_code == 201, right.text
        assert right.json()["scores"]["main"]["value"] == 1.0
        wrong = organiser.post(
            f"{benchmark}/submissions", headers={**oslo, **WAIT}, json={"name": "wrong", "outputs": {"en": ONE_WRONG}}
        ).json()
        assert organiser.get(right.headers["Location"], headers=oslo).status_code == 404

        board = settled_board(organiser, benchmark)
        assert [(row["rank"], row["team"]) for row in board["rows"]] == [(1, "lyon"), (2, "oslo")]
        assert board["rows"][0]["p_next"] == 1.0
        table = organiser.get(f"{benchmark}/leaderboard", headers={"Accept": "text/markdown"})
        assert "lyon Parsing Group" in table.text

        question = {"submissions": [right.json()["id"], wrong["id"]]}
        answered = organiser.post(f"{benchmark}/comparisons", json=question, headers=WAIT)
        assert answered.status_code == 201, answered.text
        assert answered.json()["pairs"][0]["p"] == 1.0
        again = organiser.post(f"{benchmark}/comparisons", json=question)
        assert again.headers["Location"] == answered.headers["Location"]

        fix = {"reason": "the other was right", "parts": {"en": {"gold": ONE_WRONG}}}
        mended = organiser.post(f"{benchmark}/revisions", json=fix, headers=WAIT).json()
        assert (mended["state"], mended["number"]) == ("active", 2)
        assert {(row["team"], row["rank_after"]) for row in mended["moved"]} == {("lyon", 2), ("oslo", 1)}
        assert organiser.get(f"{benchmark}/leaderboard").json()["rows"][0]["team"] == "oslo"
        before = organiser.get(f"{benchmark}/leaderboard", params={"revision": 1}).json()
        assert before["rows"][0]["team"] == "lyon"
        told = organiser.get("/v1/events", params={"benchmark": "story-en"}).json()["items"]
        assert {"benchmark.created", "submission.scored", "revision.active"} <= {event["type"] for event in told}


def test_the_comparison_behind_a_board_is_repeated_from_downloads(served: ServiceProcess, tmp_path: Path) -> None:
    gold = {"en": LONG, "de": LONG.replace("She\tshe", "He\the")}
    with served.client() as organiser:
        benchmark = make(organiser, "again-en", parts={name: {"gold": text} for name, text in gold.items()})
        sent = {"lyon": [{"en": spoilt(1)}, {"en": spoilt(8), "de": gold["de"]}], "oslo": [{"en": spoilt(4)}]}
        for team, attempts in sent.items():
            headers = {**join(organiser, benchmark, team), **WAIT}
            for outputs in attempts:
                organiser.post(f"{benchmark}/submissions", headers=headers, json={"outputs": outputs})
        name = settled_board(organiser, benchmark)["significance"]["comparison"]
        answer = organiser.get(f"/v1/comparisons/{name}")
        question = answer.json()["question"]
        for row in question["systems"]:
            for submission in (row["name"], *row["runs"]):
                (tmp_path / "OUTPUTS" / submission).mkdir(parents=True)
                for part in set(gold) - set(question["missing"].get(submission, ())):
                    text = organiser.get(f"/v1/submissions/{submission}/output", params={"part": part})
                    (tmp_path / "OUTPUTS" / submission / part).write_bytes(text.content)
    (tmp_path / "COMPARISON.json").write_bytes(answer.content)
    (tmp_path / "GOLD").mkdir()
    for part, text in gold.items():
        (tmp_path / "GOLD" / part).write_text(text)
    program, *words = shlex.split(answer.json()["command"])
    assert program == "treescore"
    printed = subprocess.run(
        [sys.executable, "-m", "treescore.cli.main", *words],
        cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, check=True,
    ).stdout  # fmt: skip
    assert printed == answer.content
