"""Answers with members that few requests bring up; the client holds them against openapi.yaml."""

from __future__ import annotations

from typing import Any

import pytest

from service.policy import gate
from tests.contract.shared_task import FIX, SharedTask
from tests.contract.stage import Stage
from tests.fixtures.requests import GOLD_CONLLU, GOLD_TREE, ONE_WRONG, OTHER_TREE

TWO = [{"name": "A", "output": GOLD_TREE * 4}, {"name": "B", "output": OTHER_TREE * 2 + GOLD_TREE * 2}]
PUNCTUATION = "1\t.\t_\tPUNCT\t_\t_\t0\troot\t_\t_\n\n"
JOBS: dict[str, dict[str, Any]] = {
    "McNemar": {"significance": {"test": "mcnemar"}},
    "McNemar of nothing": {"significance": {"test": "mcnemar"}, "systems": [TWO[0], {**TWO[0], "name": "B"}]},
    "compare_pl": {"significance": {"test": "compare_pl"}},
    "bootstrap": {"significance": {"test": "bootstrap", "interval": "bca"}},
    "no interval": {"significance": {"interval": "none"}},
    "blocks": {"significance": {"unit": "block"}, "items": {"blocks": ["a", "a", "b", "b"]}},
    "greedy clusters": {"significance": {"clusters": "greedy"}},
    "runs": {"systems": [TWO[0], *({**TWO[1], "name": name, "run_of": "B"} for name in ("B1", "B2"))]},
    "runs of both": {
        "systems": [
            {"name": f"{name}{run}", "output": output, "run_of": name}
            for name, outputs in (("A", (GOLD_TREE * 4, OTHER_TREE + GOLD_TREE * 3)), ("B", (OTHER_TREE * 4,) * 2))
            for run, output in enumerate(outputs)
        ]
    },
    "a one-sided question": {"significance": {"alternative": "greater"}},
    "transforms": {"transforms": ["black"]},
    "several scores": {"significance": {"scores": ["parseval.labelled_f1", "parseval.unlabelled_f1"]}},
    "a margin": {"significance": {"margin": 0.1}},
    "agreement": {"agreement": [["parseval.labelled_f1", "parseval.unlabelled_f1"]]},
    "undefined scores": {
        "format": "conllu",
        "gold": PUNCTUATION,
        "systems": [{"name": name, "output": PUNCTUATION} for name in "AB"],
        "metrics": [{"name": "attachment", "params": {"punctuation": False}}],
    },
}


@pytest.mark.parametrize("what", JOBS)
def test_a_job(what: str, stage: Stage) -> None:
    done = stage.client().get(stage.job(**{"gold": GOLD_TREE * 4, "systems": TWO, **JOBS[what]})).json
    assert done["state"] == "succeeded", done["failure"]
    assert len(done["results"]["comparisons"][0]["pairs"]) == 1


def test_texts_that_are_odd_or_wrong(stage: Stage) -> None:
    odd, other_words = GOLD_TREE.replace(") (VP", ")\r(VP"), GOLD_TREE.replace("dog", "cat")
    at = stage.job(systems=[{"name": "A", "output": odd}, {"name": "B", "output": other_words}])
    assert stage.client().get(at).json["warnings"][0].keys() >= {"system", "line", "column"}
    assert "problem" in stage.client().get(f"{at}/items?system=B&metric=parseval").json["items"][0]
    task = SharedTask(stage, format="bracketed", metrics=["parseval"], parts={"en": {"gold": GOLD_TREE}})
    team = task.team()
    assert team.get(task.submit(team, odd)).json["warnings"][0]["part"] == "en"
    assert "problem" in team.get(f"{task.submit(team, other_words)}/items").json["items"][0]


def test_a_failure_names_the_sentence(stage: Stage) -> None:
    beyond = [{"name": "A", "output": GOLD_CONLLU.replace("\t2\tnsubj", "\t9\tnsubj", 1)}]
    at = stage.job(format="conllu", gold=GOLD_CONLLU, systems=beyond, metrics=["ud"])
    assert stage.client().get(at).json["failure"]["errors"][0]["sent_id"] == "s1"


def test_a_comparison_of_means_of_parts(stage: Stage) -> None:
    metric = {"name": "attachment", "key": "words", "params": {"punctuation": False}, "transforms": []}
    task = SharedTask(stage, parts={part: {"gold": GOLD_CONLLU} for part in ("en", "de")}, metrics=[metric])
    two = [task.submit(outputs={"en": text, "de": GOLD_CONLLU}).rpartition("/")[2] for text in (GOLD_CONLLU, ONE_WRONG)]
    asked = task.organiser.post(f"{task.address}/comparisons", json={"submissions": two, "part": "macro"})
    answer = task.organiser.get(asked.headers["Location"]).json
    assert answer["part_names"] == ["en", "de"]
    assert "a_better" in answer["pairs"][0]["parts"]
    assert task.organiser.get(f"{task.address}/comparisons").json["items"]
    for part in ("en", "macro", "pooled"):
        assert task.organiser.get(f"{task.address}/leaderboard?part={part}").json["rows"]


def test_a_split_test_set(stage: Stage) -> None:
    many = "".join(GOLD_CONLLU.replace("= s", f"= {number}.s") for number in range(20))
    split = {"closes_at": "2026-12-01T00:00:00Z", "feedback": "scores", "leaderboard": {"split": {"private": 0.5}}}
    task = SharedTask(stage, parts={"en": {"gold": many}}, **split)
    lyon, oslo = task.team(), task.team("oslo")
    own = task.submit(lyon, many)
    task.submit(oslo, many.replace("\tnsubj", "\tobl"))
    board, private = f"{task.address}/leaderboard", f"{task.address}/leaderboard?split=private"
    assert [client.get(private).status_code for client in (task.organiser, lyon, stage.client(None))] == [200, 403, 403]
    assert (lyon.get(board).json["split"], lyon.get(own).json["scores"]["split"]) == ("public", "public")
    report = task.organiser.get(f"{task.address}/fitting").json["items"][0]["public_less_private"]
    assert report["mean"] == report["best"]["difference"] == 0.0
    tag = task.organiser.get(task.address).headers["ETag"]
    closed = {"json": {"closes_at": "2026-11-01T00:00:00Z"}, "headers": {"If-Match": tag}}
    assert task.organiser.patch(task.address, **closed).status_code == 200
    assert [stage.client(None).get(each).json["split"] for each in (board, private)] == ["private", "private"]
    assert lyon.get(own).json["scores"]["split"] == "private"
    behind = lyon.get(board).json["significance"]["comparison"]
    assert lyon.get(f"/v1/comparisons/{behind}").json["split"] == "private"
    closed["headers"]["If-Match"] = task.organiser.get(task.address).headers["ETag"]
    closed["json"] = {"closes_at": "2027-01-01T00:00:00Z"}
    assert task.organiser.patch(task.address, **closed).json["errors"][0]["code"] == "reopened-split"


def test_rank_changes_and_events(stage: Stage) -> None:
    task = SharedTask(stage)
    task.two()
    task.organiser.post(f"{task.faulty()}/retry")
    tag = task.organiser.get(task.address).headers["ETag"]
    task.organiser.patch(task.address, json={"title": "x"}, headers={"If-Match": tag})
    made = task.organiser.post(f"{task.address}/revisions", json=FIX, headers={"Prefer": "wait=20"})
    assert made.json["moved"]
    known: set[str] = set()
    for event in task.organiser.get(f"/v1/events?benchmark={task.slug}").json["items"]:
        known |= set(event["data"])
    assert known == {"members", "attempt", "revision", "dry_run"}


@pytest.mark.parametrize("feedback", gate.LEVELS)
def test_every_level(feedback: str, stage: Stage) -> None:
    task = SharedTask(stage, feedback=feedback)
    team = task.team()
    own, other = (task.submit(team, text) for text in (ONE_WRONG, GOLD_CONLLU))
    checked = team.post(f"{task.address}/submissions?validate_only=true", json={"outputs": {"en": ONE_WRONG}})
    asked = {"submissions": [address.rpartition("/")[2] for address in (own, other)]}
    compared = task.organiser.post(f"{task.address}/comparisons", json=asked).headers["Location"]
    team.post(f"{task.address}/comparisons", json=asked)
    for client in (team, task.organiser):
        listed = client.get(f"{task.address}/submissions")
        shown = [client.get(f"{task.address}{below}") for below in ("", "/leaderboard", "/revisions/1")]
        assert {answer.status_code for answer in (listed, *shown)} == {200}
        slices = f"{own}/slices?by=deprel"
        seen = [client.get(below).status_code for below in (f"{own}/items", slices, compared)]
        full = client is task.organiser or feedback == "gold"
        assert set(seen) == {200} if full else set(seen) <= {200, 403, 404}
    assert team.get(checked.headers["Location"]).status_code == 200


def test_comparisons_of_several_scores_are_one_family_of_a_job(stage: Stage) -> None:
    at = stage.job(gold=GOLD_TREE * 4, systems=TWO, **JOBS["several scores"])
    whole = stage.client().get(f"{at}/comparisons").json
    assert whole["across"]["family"]["size"] == 2
    assert whole["across"] == stage.client().get(at).json["results"]["across"]
    assert "across" not in stage.client().get(f"{at}/comparisons?score=parseval.labelled_f1").json
    assert "as one family" in stage.client().get(f"{at}/comparisons?format=text").text
