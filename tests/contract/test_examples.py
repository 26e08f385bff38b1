"""Examples are executed: requests are sent, answers are what comes back (names and times aside)."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.contract.checking import by_id, check_value, contract, operations, resolved
from tests.contract.stage import JOB, Stage

VARYING = {
    *("id", "created_at", "started_at", "finished_at", "expires_at", "updated_at", "activated_at", "utc_day"),
    *("refilled_at", "instance", "version"),
}


def covers(example: Any, actual: Any, place: str = "") -> None:
    """Everything in the example is in the actual document; what the example leaves out of objects is left open."""
    if isinstance(example, dict):
        assert isinstance(actual, dict), place
        for name, member in example.items():
            if name not in VARYING:
                assert name in actual, f"{place}/{name}"
                covers(member, actual[name], f"{place}/{name}")
    elif isinstance(example, list):
        assert isinstance(actual, list), place
        assert len(example) == len(actual), place
        for number, (mine, theirs) in enumerate(zip(example, actual, strict=True)):
            covers(mine, theirs, f"{place}/{number}")
    elif isinstance(example, str) and example.endswith("…"):
        assert str(actual).startswith(example[:-1]), place
    else:
        assert example == actual, place


def request_examples() -> list[tuple[str, str, Any]]:
    return [
        (operation_id, name, resolved(example)["value"])
        for operation_id, operation in by_id().items()
        for name, example in operation.get("requestBody", {})
        .get("content", {})
        .get("application/json", {})
        .get("examples", {})
        .items()
    ]


ORDER = (
    *("submit_job", "create_token", "create_benchmark", "patch_benchmark", "create_team", "submit", "ask_comparison"),
    *("create_invite", "join", "patch_submission", "create_webhook", "create_revision"),
)
"""A story: what an example speaks of was made by the one before."""


@pytest.fixture(scope="module")
def told(stage: Stage) -> dict[tuple[str, str], TestResponse]:
    """Every example request, sent to where the examples before it have led; the answers by operation and name."""
    organiser, answers, made = stage.client(), {}, {"team": stage.client()}
    client = organiser
    for operation_id in ORDER:
        for asked, name, body in request_examples():
            if asked != operation_id:
                continue
            method, path = next((method, path) for method, path, op in operations() if op["operationId"] == asked)
            headers = {"Prefer": "wait=20"}
            if method == "PATCH" and asked == "patch_benchmark":
                headers["If-Match"] = organiser.get(path.format(**made)).headers["ETag"]
            client = made["team"] if asked in ("submit", "patch_submission") else organiser
            if asked == "ask_comparison":
                baseline = {"name": "baseline", "outputs": body_of("submit")["outputs"]}
                organiser.post(f"/v1/benchmarks/{made['benchmark']}/submissions", json=baseline)
            if asked == "join":
                body["invite"] = made["invite"]
            answer = client.open(path.format(**made), method=method, json=body, headers=headers)
            answers[asked, name] = answer
            if asked == "create_team" and "token" in answer.json:
                made["team"] = stage.client(answer.json["token"])
            elif asked == "create_invite":
                made["invite"] = answer.json["secret"]
            elif asked in ("create_benchmark", "submit"):
                made[{"create_benchmark": "benchmark"}.get(asked, "submission")] = answer.json["id"]
    return answers


def body_of(operation_id: str) -> Any:
    return next(body for asked, _, body in request_examples() if asked == operation_id)


@pytest.mark.parametrize(("operation_id", "name"), [(asked, name) for asked, name, _ in request_examples()])
def test_an_example_request_is_answered_as_its_example_answer_says(
    operation_id: str, name: str, told: dict[tuple[str, str], TestResponse]
) -> None:
    answer = told[operation_id, name]
    assert answer.status_code == (200 if operation_id.startswith("patch_") else 201), answer.text
    assert answer.json.get("state", "succeeded") in ("succeeded", "active"), answer.json["failure"]
    status = resolved(by_id()[operation_id]["responses"][str(answer.status_code)])
    examples = status["content"]["application/json"].get("examples", {})
    if name in examples:
        covers(resolved(examples[name])["value"], answer.json)


def test_example_problems_are_what_the_service_says(stage: Stage) -> None:
    without = stage.client().post("/v1/jobs", json={name: JOB[name] for name in JOB if name != "metrics"})
    covers(contract()["components"]["examples"]["MissingMetrics"]["value"], without.json)


def test_every_example_answer_is_executed() -> None:
    """Each example of an answer belongs to a request of the same name, or to a test above."""
    above = {"missingMetrics"}
    sent = {name for _, name, _ in request_examples()}
    for operation in by_id().values():
        for response in operation["responses"].values():
            for content in resolved(response).get("content", {}).values():
                assert set(content.get("examples", {})) <= sent | above


def test_example_parameters_are_taken(stage: Stage) -> None:
    for operation in by_id().values():
        for parameter in operation["parameters"]:
            if "example" in parameter:
                check_value(parameter["schema"], parameter["example"])
    assert stage.client().get("/v1/scorers/attachment").status_code == 200
    waited = stage.client().get(stage.job(), headers={"Prefer": "wait=20"})
    assert waited.headers["Preference-Applied"] == "wait=20"
