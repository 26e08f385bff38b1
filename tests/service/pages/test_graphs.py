"""Semantic dependencies over HTTP: jobs show scores, documents and pictures; teams see their own edges."""

from __future__ import annotations

import json

from tests.conftest import ROOT
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage

CASES = json.loads((ROOT / "tests/golden/field_semantic.json").read_text(encoding="utf-8"))["sdp"]
WRONG, MISSING = CASES["label_wrong"], CASES["missing_graph"]


def job_of(stage: Stage, gold: str, output: str) -> str:
    systems = [{"name": "A", "output": output}]
    return stage.job(format="sdp", metrics=["semantic_dependencies"], gold=gold, systems=systems)


def test_a_job_shows_scores_items_graphs_and_pages(stage: Stage) -> None:
    job = job_of(stage, WRONG["gold"], WRONG["system"])
    client = stage.client()
    document = client.get(job)
    assert document.json["state"] == "succeeded", document.text
    found = document.json["results"]["systems"][0]["metrics"]["semantic_dependencies"]
    assert found["counts"]["labelled"] == {"correct": 5, "gold": 6, "system": 6}
    assert found["counts"]["unlabelled"] == {"correct": 6, "gold": 6, "system": 6}
    assert found["counts"]["exact"] == {"labelled": 0, "unlabelled": 1}
    tree = client.get(f"{job}/trees?system=A").json["items"][0]
    assert (tree["kind"], tree["sent_id"], tree["line"]) == ("graph", "20000", 3)
    assert tree["system"][:2] == [
        {"predicate": "2", "argument": "1", "label": "ARG2"},
        {"predicate": "0", "argument": "2", "label": "(top)"},
    ]
    assert tree["gold"][0]["label"] == "ARG1"
    assert tree["wrong"] == tree["missed"] == ["label", None, None, None, None, None]
    item = client.get(f"{job}/items?system=A&metric=semantic_dependencies").json["items"][0]
    assert [edge["system_label"] for edge in item["edges"]] == ["ARG2"]
    slices = client.get(f"{job}/slices?system=A&metric=semantic_dependencies&by=direction").json["slices"]
    assert {row["value"]: row["counts"]["gold"] for row in slices} == {"left": 3, "right": 2, "(top)": 1}
    page = job.replace("/v1/jobs/", "/j/")
    for address in (page, f"{page}/sentences?system=A&item=1"):
        shown = client.get(address)
        assert shown.status_code == 200, shown.text
    assert "1 of 6 edges wrong" in shown.text
    assert "ARG2" in shown.text


def test_a_graph_that_an_output_lacks_is_shown_beside_gold(stage: Stage) -> None:
    job = job_of(stage, MISSING["gold"], MISSING["system"])
    client = stage.client()
    trees = client.get(f"{job}/trees?system=A").json["items"]
    assert trees[1]["words"] == trees[1]["system"] == []
    assert trees[1]["missed"] == ["link", "link"]
    assert client.get(f"{job}/items?system=A&metric=semantic_dependencies").json["items"][1]["status"] == "error"
    assert client.get(job.replace("/v1/jobs/", "/j/") + "/sentences?system=A&item=2").status_code == 200


def test_a_word_that_is_its_own_argument_is_drawn(stage: Stage) -> None:
    text = "1\tgo\tgo\tV\t+\t+\t_\tARG1\n\n"
    job = job_of(stage, text, text)
    shown = stage.client().get(job.replace("/v1/jobs/", "/j/") + "/sentences?system=A&item=1")
    assert shown.status_code == 200, shown.text


def test_a_benchmark_gives_words_alone_and_shows_teams_their_own_edges(stage: Stage) -> None:
    case = CASES["edge_missing_and_extra"]
    task = SharedTask(
        stage,
        format="sdp",
        metrics=["semantic_dependencies"],
        parts={"en": {"gold": case["gold"]}},
        feedback="items",
        publish_input="words",
    )
    team = task.team()
    blind = team.get(f"{task.address}/parts/en/input")
    assert "1\tDogs\t_\t_\t-\t-\t_\n" in blind.text
    assert "ARG" not in blind.text
    address = task.submit(team, case["system"])
    [item] = team.get(f"{address}/items?metric=semantic_dependencies&part=en").json["items"]
    assert item["edges"] == [
        {
            "argument": 3, "argument_form": "at", "predicate": 5, "predicate_form": "now", "system_label": "x",
        }
    ]  # fmt: skip
    assert set(item["scores"]) == {"labelled_precision"}
    rows = team.get(f"{address}/slices?metric=semantic_dependencies&part=en&by=label").json["slices"]
    assert {row["value"]: set(row["counts"]) for row in rows}["x"] == {"system", "correct"}
    assert "argument_pos" not in team.get(address).text
