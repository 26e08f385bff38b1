"""Jobs over HTTP: waiting, validators, repeats, pages, and requests that make no sense."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.contract.stage import JOB, Stage
from tests.fixtures.requests import GOLD_TREE, OTHER_TREE
from workers.entry import do


@pytest.fixture
def stage(kept_stage: Stage) -> Stage:
    """The tests leave each other alone."""
    return kept_stage


def test_a_job_that_finishes_within_the_wait_is_created(stage: Stage) -> None:
    answer = stage.client(None).post("/v1/jobs", json=JOB, headers={"Prefer": "respond-async, wait=5"})
    assert answer.status_code == 201
    assert answer.headers["Preference-Applied"] == "wait=5"
    assert answer.json["state"] == "succeeded"
    again = stage.client(None).get(answer.headers["Location"])
    assert answer.json == {**again.json, "key": answer.json["key"]}
    assert again.headers["ETag"] == answer.headers["ETag"]


def test_a_job_that_does_not_is_accepted_and_says_when_to_look_again(stage: Stage) -> None:
    address = stage.waiting_job()
    answer = stage.client().get(address, headers={"Prefer": "wait=0"})
    assert answer.json["state"] == "queued"
    assert answer.headers["Retry-After"] == "1"


def test_a_job_that_fails_within_the_wait_is_created_too(stage: Stage) -> None:
    broken = {**JOB, "gold": "((("}
    answer = stage.client().post("/v1/jobs", json=broken, headers={"Prefer": "wait=5"})
    assert answer.status_code == 201
    assert answer.json["state"] == "failed"
    assert answer.json["failure"]["kind"] == "input"
    [error] = answer.json["failure"]["errors"]
    assert error["pointer"] == "/gold"
    assert error["line"] == 1


@pytest.mark.parametrize("known", [False, True])
def test_a_long_poll_is_woken_when_the_job_moves(stage: Stage, known: bool) -> None:  # noqa: FBT001
    address = stage.waiting_job()
    client = stage.client()
    seen = client.get(address)
    worker = threading.Timer(0.2, do, (stage.context, seen.json["id"]))
    worker.start()
    headers = {"Prefer": "wait=30", **({"If-None-Match": seen.headers["ETag"]} if known else {})}
    answer = client.get(address, headers=headers)
    worker.join()
    assert answer.status_code == 200
    assert answer.headers["ETag"] != seen.headers["ETag"]
    assert answer.json["state"] in ({"running", "succeeded"} if known else {"succeeded"})


def test_a_long_poll_on_what_the_client_has_ends_with_304(stage: Stage) -> None:
    address = stage.waiting_job()
    seen = stage.client().get(address)
    answer = stage.client().get(
        address, headers={"Prefer": "wait=1", "If-None-Match": f'"x", W/{seen.headers["ETag"]}'}
    )
    assert answer.status_code == 304
    assert answer.headers["Retry-After"] == "1"


@pytest.mark.parametrize("prefer", ["wait=ten", "wait", "wait=-1", "return=minimal", "waits=3", ""])
def test_a_preference_that_means_nothing_is_ignored(stage: Stage, prefer: str) -> None:
    answer = stage.client().get(stage.job(), headers={"Prefer": prefer})
    assert answer.status_code == 200
    assert "Preference-Applied" not in answer.headers


def test_a_wait_is_granted_up_to_the_configured_bound(stage: Stage) -> None:
    answer = stage.client().get(stage.job(), headers={"Prefer": 'wait="999999"; x=1'})
    assert answer.headers["Preference-Applied"] == "wait=60"


def test_the_same_key_and_body_is_the_same_job(stage: Stage) -> None:
    client = stage.client()
    first = client.post("/v1/jobs", json=JOB, headers={"Idempotency-Key": "k-1"})
    shuffled = dict(reversed(JOB.items()))
    second = client.post("/v1/jobs", json=shuffled, headers={"Idempotency-Key": "k-1"})
    assert first.headers["Location"] == second.headers["Location"]
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    other = client.post("/v1/jobs", json={**JOB, "gold": OTHER_TREE}, headers={"Idempotency-Key": "k-1"})
    assert other.status_code == 422
    assert other.json["type"] == "/problems/idempotency-key-reused"
    assert client.post("/v1/jobs", json=JOB).headers["Location"] != first.headers["Location"]


@pytest.mark.parametrize("key", ["", "two words", "x" * 256, "\u00e9"])
def test_a_key_that_is_no_name_is_refused(stage: Stage, key: str) -> None:
    assert stage.client().post("/v1/jobs", json=JOB, headers={"Idempotency-Key": key}).status_code == 400


def test_jobs_are_paged_newest_first_and_belong_to_their_token(stage: Stage) -> None:
    mine, other = stage.client(stage.token("score")), stage.client(stage.token("score"))
    addresses = [mine.post("/v1/jobs", json=JOB).headers["Location"] for _ in range(5)]
    found: list[str] = []
    path: str | None = "/v1/jobs?limit=2&state=succeeded"
    while path:
        page = mine.get(path)
        found += [f"/v1/jobs/{item['id']}" for item in page.json["items"]]
        path = page.headers.get("Link", "").partition(">")[0].lstrip("<") or None
        assert (page.json["next"] is None) == (path is None)
    assert found == addresses[::-1]
    assert other.get("/v1/jobs").json["items"] == []
    assert other.get(addresses[0]).status_code == 404
    assert other.delete(addresses[0]).status_code == 404
    everything = [item["id"] for item in stage.client().get("/v1/jobs?limit=1000").json["items"]]
    assert {address.rpartition("/")[2] for address in addresses} <= set(everything)


def pointers(stage: Stage, document: Any) -> dict[str, str]:
    answer = stage.client().post("/v1/jobs", json=document)
    assert answer.status_code == 422, answer.text
    assert answer.json["errors_total"] >= len(answer.json["errors"])
    return {error.get("pointer", ""): error["code"] for error in answer.json["errors"]}


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"metric": ["parseval"]}, "/metric", "unknown-field"),
        ({"gold": None}, "/gold", "null-field"),
        ({"gold": 3}, "/gold", "wrong-type"),
        ({"gold": {"source": "", "target": ""}}, "/gold/alignment", "missing-field"),
        ({"gold": {"source": "", "target": "", "alignment": ""}}, "/gold", "wrong-text-shape"),
        ({"systems": []}, "/systems", "bad-value"),
        ({"systems": [{"name": "A"}]}, "/systems/0/output", "missing-field"),
        ({"systems": [{"name": " ", "output": ""}]}, "/systems/0/name", "bad-name"),
        ({"systems": [{"name": "a\nb", "output": ""}]}, "/systems/0/name", "bad-name"),
        ({"systems": [{"name": "A", "output": "", "formt": "x"}]}, "/systems/0/formt", "unknown-field"),
        ({"systems": [{"name": "A", "output": ""}] * 2}, "/systems/1/name", "duplicate-system-name"),
        ({"systems": [{"name": str(n), "output": ""} for n in range(1000)]}, "/systems", "too-many-systems"),
        ({"systems": [{"name": "A", "output": "", "run_of": "A"}]}, "/systems/0/run_of", "run-of-itself"),
        (
            {"systems": [{"name": a, "output": "", "run_of": b} for a, b in ("AB", "BC")]},
            "/systems/0/run_of",
            "run-of-a-run",
        ),
        ({"significance": {"runs": "some"}}, "/significance/runs", "bad-parameter"),
        ({"significance": {"runs": "random"}}, "/significance/runs", "no-training-runs"),
        ({"metrics": ["parsval"]}, "/metrics/0", "unknown-metric"),
        ({"metrics": [{"name": "parseval", "params": {"preset": 3}}]}, "/metrics/0/params/preset", "bad-parameter"),
        ({"metrics": [{"name": "parseval", "params": {"x": 3}}]}, "/metrics/0/params/x", "unknown-parameter"),
        (
            {"metrics": [{"name": "attachment", "params": {"groupings": ["Deprel", "Cpostag@-1#Wordfrom@0"]}}]},
            "/metrics/0/params/groupings/1",
            "unknown-grouping",
        ),
        ({"metrics": ["parseval", "parseval"]}, "/metrics/1", "duplicate-metric-key"),
        ({"metrics": [{"name": "parseval", "key": "a.b"}]}, "/metrics/0/key", "bad-value"),
        ({"metrics": ["attachment"]}, "/metrics/0", "metric-format-mismatch"),
        ({"format": "brackted"}, "/format", "unknown-format"),
        ({"format": {"name": "bracketed", "layuot": "x"}}, "/format/layuot", "unknown-parameter"),
        ({"transforms": [{"name": "heads", "on": "left"}]}, "/transforms/0/on", "bad-value"),
        ({"significance": {"test": "t-test"}}, "/significance/test", "bad-parameter"),
        ({"significance": 1}, "/significance", "wrong-type"),
        *(
            ({"significance": settings, "systems": [{"name": "A", "output": ""}]}, f"/significance/{place}", code)
            for settings, place, code in (
                ({"test": "t-test"}, "test", "bad-parameter"),
                ({"tset": "mcnemar"}, "tset", "unknown-parameter"),
                ({"runs": "random"}, "runs", "no-training-runs"),
                ({"scores": ["x"]}, "scores/0", "unknown-score"),
            )
        ),
        ({"items": {"blocks": ["a", 1]}}, "/items/blocks/1", "wrong-type"),
        ({"items": {"lengths": [[1, 2], [3]]}}, "/items/lengths/1", "wrong-type"),
        ({"items": {"seconds": {"A": [0.1, -1]}}}, "/items/seconds/A/1", "wrong-type"),
        ({"items": {"seconds": {"A": [0.1], "a/b": [0.1]}}}, "/items/seconds/a~1b", "unknown-system"),
    ],
)
def test_what_makes_no_sense_is_pointed_at(stage: Stage, change: Any, pointer: str, code: str) -> None:
    assert pointers(stage, {**JOB, **change})[pointer] == code


def runs(**outputs: str) -> list[dict[str, str]]:
    """Systems named by letter and number, `B2` being a run of `B`."""
    run_of = {name: {"run_of": name[0]} if name[1:] else {} for name in outputs}
    return [{"name": name, "output": output, **run_of[name]} for name, output in outputs.items()]


def compared(stage: Stage, systems: list[dict[str, str]], **settings: Any) -> Any:
    at = stage.job(gold=GOLD_TREE * 4, systems=systems, significance=settings)
    return stage.client().get(at).json["results"]["comparisons"][0]


def test_training_runs_are_compared_as_runs_of_systems(stage: Stage) -> None:
    mixed = OTHER_TREE + GOLD_TREE * 3
    systems = runs(A=GOLD_TREE * 4, A2=mixed, B1=OTHER_TREE * 4, B2=OTHER_TREE * 2 + GOLD_TREE * 2)
    comparison = compared(stage, systems, runs="random")
    assert {system["name"] for system in comparison["systems"]} == {"A", "B"}
    [pair] = comparison["pairs"]
    assert pair["p_kind"] == "t"
    assert pair["runs_test"].keys() == {"v_units", "v_runs", "df"}
    assert any("both vary" in note for note in comparison["notes"])


def test_a_run_that_cannot_be_read_fails_the_job_and_is_named(stage: Stage) -> None:
    systems = runs(A=GOLD_TREE, A2="(((", B=GOLD_TREE)
    answer = stage.client().get(stage.job(systems=systems)).json
    assert answer["state"] == "failed"
    assert answer["failure"]["errors"][0]["pointer"] == "/systems/1/output"


def test_several_faults_come_at_once_and_are_capped(stage: Stage) -> None:
    answer = stage.client().post("/v1/jobs", json={f"x{number}": 1 for number in range(500)})
    assert answer.status_code == 422
    assert len(answer.json["errors"]) == 20
    assert answer.json["errors_total"] == 504


def test_an_address_with_too_much_queued_is_refused_and_others_are_not(stage: Stage) -> None:
    here, elsewhere = stage.client(None), stage.client(None)
    here.environ_base["REMOTE_ADDR"], elsewhere.environ_base["REMOTE_ADDR"] = "127.0.0.3", "127.0.0.2"
    with stage.asleep():
        for _ in range(stage.context.config.max_queued):
            assert here.post("/v1/jobs", json=JOB).status_code == 202
        refused = here.post("/v1/jobs", json=JOB)
        assert elsewhere.post("/v1/jobs", json=JOB).status_code == 202
        assert stage.client().post("/v1/jobs", json=JOB).status_code == 202
    assert refused.status_code == 429
    assert refused.json["type"] == "/problems/too-many-queued"
    assert refused.headers["Retry-After"].isdecimal()
