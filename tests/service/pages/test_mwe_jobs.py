"""Multiword expressions over HTTP: jobs, benchmarks and pages; the training text stays out of results."""

from __future__ import annotations

import json

from tests.conftest import ROOT
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage

CASE = json.loads((ROOT / "tests/golden/field_mwe.json").read_text(encoding="utf-8"))["cases"]["seen_and_variants"]
METRIC = {"name": "mwe", "params": {"train": CASE["train"]}}


def with_heads(text: str) -> str:
    """The text with a tree over each sentence: every word depends on the first."""
    lines = []
    for line in text.split("\n"):
        fields = line.split("\t")
        if len(fields) > 1:
            fields[6:8] = ["0", "root"] if fields[0] == "1" else ["1", "dep"]
        lines.append("\t".join(fields))
    return "\n".join(lines)


def test_a_job_shows_scores_slices_errors_report_trees_and_pages(stage: Stage) -> None:
    gold, output = with_heads(CASE["gold"]), with_heads(CASE["system"])
    job = stage.job(
        format="cupt", metrics=[METRIC, "attachment"], gold=gold, systems=[{"name": "A", "output": output}],
    )  # fmt: skip
    client = stage.client()
    document = client.get(job)
    assert document.json["state"] == "succeeded", document.text
    found = document.json["results"]["systems"][0]["metrics"]["mwe"]
    assert found["counts"]["correct"] == 4
    assert found["scores"]["f1"] == 0.8
    assert "He took a long walk" not in json.dumps(found)
    assert found["signature"]["params"]["train"].startswith("sha256:")
    report = client.get(f"{job}/report?system=A&metric=mwe&style=parseme")
    assert report.text == CASE["stdout"]
    slices = client.get(f"{job}/slices?system=A&metric=mwe&by=seen").json
    assert [row["counts"]["correct"] for row in slices["slices"]] == [4, 0]
    items = client.get(f"{job}/items?system=A&metric=mwe").json["items"]
    assert items[3]["expressions"][0]["system_words"] == [1, 2, 3]
    trees = client.get(f"{job}/trees?system=A").json["items"]
    assert [tree["kind"] for tree in trees] == ["dependencies"] * 4
    page = job.replace("/v1/jobs/", "/j/")
    for address in (page, f"{page}/sentences?system=A&item=4"):
        shown = client.get(address)
        assert shown.status_code == 200, shown.text
    assert "MWE F1" in client.get(page).text


def test_a_benchmark_gives_words_alone_and_shows_teams_their_own_expressions(stage: Stage) -> None:
    task = SharedTask(
        stage,
        format="cupt",
        metrics=[METRIC],
        parts={"en": {"gold": CASE["gold"]}},
        feedback="items",
        publish_input="words",
    )
    shown = task.organiser.get(task.address).json
    assert (shown["state"], shown["main_score"]) == ("active", "mwe.f1")
    team = task.team()
    blind = team.get(f"{task.address}/parts/en/input")
    assert blind.status_code == 200
    assert "LVC" not in blind.text
    submission = task.submit(team, CASE["system"])
    found = team.get(submission).json
    assert found["state"] == "succeeded", found
    items = team.get(f"{submission}/items?metric=mwe&part=en").json["items"]
    assert items[3]["expressions"] == [
        {"system_words": [1, 2, 3], "system_form": "cut it off", "system_category": "VPC.full"}
    ]
    rows = team.get(f"{submission}/slices?metric=mwe&part=en&by=category").json["slices"]
    assert {row["value"]: row["counts"] for row in rows}["VID"] == {"system": 1, "correct": 0}
    pages = [task.address.replace("/v1/benchmarks/", "/b/"), submission.replace("/v1/submissions/", "/s/")]
    for address in [*pages, f"{pages[0]}/about", f"{pages[1]}/sentences"]:
        assert team.get(address).status_code == 200


def test_a_revision_that_changes_expressions_alone_differs(stage: Stage) -> None:
    task = SharedTask(stage, format="cupt", metrics=["mwe"], parts={"en": {"gold": CASE["gold"]}})
    changed = CASE["gold"].replace("1:LVC.full", "1:VID", 1)
    body = {"parts": {"en": {"gold": changed}}, "reason": "a category"}
    made = task.organiser.post(f"{task.address}/revisions", json=body)
    difference = task.organiser.get(f"{made.headers['Location']}/difference").json
    assert [(part["name"], part["sentences_changed"]) for part in difference["parts"]] == [("en", 1)]


def test_a_training_text_that_cannot_be_read_fails_with_its_place(stage: Stage) -> None:
    metric = {"name": "mwe", "params": {"train": "train.cupt"}}
    client = stage.client()
    system = {"name": "A", "output": CASE["system"]}
    body = {"format": "cupt", "metrics": [metric], "gold": CASE["gold"], "systems": [system]}
    refused = client.post("/v1/jobs", json=body)
    assert refused.status_code in (400, 422), refused.text
    assert refused.json["errors"][0]["pointer"] == "/metrics/0/params/train"
    metric["params"]["train"] = CASE["train"].replace("1:VPC.full", "one")
    job = client.post("/v1/jobs", json=body)
    failure = client.get(job.headers["Location"]).json["failure"]
    assert failure["errors"][0]["pointer"] == "/metrics/0/params/train"
    assert failure["errors"][0]["code"] == "cupt-bad-code"
