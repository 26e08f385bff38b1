"""Pages of other sites read what everyone may see, and nothing else."""

from __future__ import annotations

import pytest

from service.api.middleware import PUBLIC
from service.pages.answers import BLUEPRINTS
from tests.contract.checking import operations
from tests.contract.shared_task import SharedTask
from tests.contract.stage import Stage

ORIGIN = {"Origin": "https://elsewhere.example"}
ASKING = {**ORIGIN, "Access-Control-Request-Method": "GET"}


def allowed(answer) -> dict[str, str]:
    return {name: value for name, value in answer.headers if name.startswith("Access-Control-")}


@pytest.fixture
def task(stage: Stage) -> SharedTask:
    made = SharedTask(stage, feedback="scores")
    made.two()
    return made


def places(task: SharedTask) -> list[str]:
    board = task.organiser.get(f"{task.address}/leaderboard").json
    below = ("", "/leaderboard", "/leaderboard?format=csv", "/leaderboard?part=en", "/matrix", "/scores", "/revisions",
             "/badge.svg?team=lyon", "/history?team=lyon")  # fmt: skip
    comparison = f"/v1/comparisons/{board['significance']['comparison']}"
    return [*(task.address + each for each in below), comparison, "/v1/benchmarks", "/v1/events", "/v1/scorers",
            "/openapi.json", "/problems/not-found"]  # fmt: skip


def test_public_answers_may_be_read_by_all_pages(stage: Stage, task: SharedTask) -> None:
    client = stage.client(None)
    for place in places(task):
        answer = client.get(place, headers=ORIGIN)
        assert answer.status_code == 200, place
        assert allowed(answer) == {
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Expose-Headers": "ETag, Link, Preference-Applied, Request-Id, Retry-After",
        }
        again = client.get(place, headers={**ORIGIN, "If-None-Match": answer.headers["ETag"]})
        assert again.status_code == 304
        assert allowed(again) == allowed(answer), place


def test_what_a_token_was_sent_for_may_not(stage: Stage, task: SharedTask) -> None:
    for place in places(task):
        assert not allowed(task.organiser.get(place, headers=ORIGIN)), place
        assert not allowed(stage.client("ts_wrong").get(place, headers=ORIGIN)), place


def test_refusals_of_public_addresses_may_be_read(stage: Stage, task: SharedTask) -> None:
    answer = stage.client(None).get(f"{task.address}/leaderboard?part=none", headers=ORIGIN)
    assert answer.status_code == 404
    assert allowed(answer)["Access-Control-Allow-Origin"] == "*"


def test_jobs_submissions_and_everything_that_changes_may_not(stage: Stage, task: SharedTask) -> None:
    client = stage.client(None)
    job = client.post("/v1/jobs", json={}, headers=ORIGIN)
    others = [
        client.get(place, headers=ORIGIN) for place in (stage.job(), task.submit(), "/v1/webhooks", "/livez", "/x")
    ]
    for answer in (job, *others, client.post("/v1/benchmarks", json={}), client.get("/metrics", headers=ORIGIN)):
        assert not allowed(answer)


def test_a_preflight_is_answered_for_reads_of_public_addresses_alone(stage: Stage, task: SharedTask) -> None:
    client = stage.client(None)
    board = f"{task.address}/leaderboard"
    answer = client.options(board, headers={**ASKING, "Access-Control-Request-Headers": "if-none-match,prefer"})
    assert answer.status_code == 200
    assert allowed(answer) == {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Methods": "GET, HEAD",
        "Access-Control-Allow-Headers": "If-None-Match, Prefer, Request-Id",
        "Access-Control-Max-Age": "86400",
    }
    for place, method in ((board, "DELETE"), (task.address, "PATCH"), (stage.job(), "GET"), ("/v1/jobs", "POST")):
        headers = {**ORIGIN, "Access-Control-Request-Method": method}
        assert not allowed(client.options(place, headers=headers)), place
    assert not allowed(client.options(board, headers=ORIGIN))


def test_the_addresses_are_those_that_the_contract_opens_to_everyone(stage: Stage) -> None:
    every = (rule for rule in stage.app.url_map.iter_rules() if not rule.endpoint.startswith(BLUEPRINTS))
    rules = {rule.endpoint.rpartition(".")[2]: rule.rule for rule in every}
    opened = {
        rules[operation["operationId"]]
        for method, path, operation in operations()
        if method == "GET" and (not operation["security"] or {} in operation["security"])
    }
    private = {each for each in opened if each.startswith(("/v1/jobs", "/v1/submissions"))}
    assert opened - private - PUBLIC <= {"/livez", "/readyz", "/metrics", "/docs"}
    assert PUBLIC - opened == set()
