"""A private benchmark tells nobody but its own: whatever an outsider asks, it answers as one that does not exist."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.contract.checking import operations
from tests.contract.shared_task import FIX, SharedTask
from tests.contract.stage import ADMIN, Stage
from tests.contract.walking import Known, Request, requests
from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG

MARK = "zqprivate"
"""In the title, the names of the part and of the team, and in both reasons."""
UNKNOWN = {"benchmark": "b-unknown", "submission": "sub_unknown", "comparison": "cmp_unknown", "part": "nothing",
           "team": "nobody", "number": "7", "series_id": "s-unknown"}  # fmt: skip
MADE = re.compile(r"Content-Length', '\d+'|ETag', '[^']+'|whk_\w+|whsec_[\w+/=]+|\d{4}-\d\d-\d\dT[\d:.]+Z")
"""What follows from the length of ids, and what each request makes."""
ADDRESSED = {"benchmark", "submission", "comparison", "series_id"}


@pytest.fixture
def private(stage: Stage) -> dict[str, str]:
    """A private benchmark with all that one can have: name of a place in a path -> its id."""
    task = SharedTask(
        stage, title=MARK, feedback="scores", leaderboard={"public": False}, publish_input="words",
        parts={f"{MARK}-part": {"gold": GOLD_CONLLU * 10}}, series="alone",
    )  # fmt: skip
    outputs = [{f"{MARK}-part": text * 10} for text in (GOLD_CONLLU, ONE_WRONG)]
    at = f"{task.address}/submissions"
    lyon, oslo = task.team(MARK), task.team("oslo")
    sent = [
        client.post(at, json={"outputs": each}).json["id"] for client, each in zip((lyon, oslo), outputs, strict=True)
    ]
    revised = {"parts": {f"{MARK}-part": FIX["parts"]["en"]}, "reason": MARK, "public_reason": MARK}
    assert task.organiser.post(f"{task.address}/revisions", json=revised).status_code in (201, 202)
    compared = task.organiser.post(f"{task.address}/comparisons", json={"submissions": sent}).json["id"]
    return {"benchmark": task.slug, "submission": sent[0], "comparison": compared, "part": f"{MARK}-part",
            "team": MARK, "number": "2", "series_id": "alone"}  # fmt: skip


def outsiders(stage: Stage) -> dict[str, str | None]:
    """The tokens of those who are no part of it, among them a team of another benchmark."""
    made = stage.client().post(f"{SharedTask(stage).address}/teams", json={"id": "metz", "name": "Metz"})
    return {"nobody": None, "team": made.json["token"], **{scope: stage.token(scope) for scope in ("score", "submit")}}


def known(places: dict[str, str]) -> Known:
    question = {"score": "attachment.las", "submissions": [places["submission"], "sub_other"]}
    return Known(
        {name: [value] for name, value in places.items()},
        {
            "benchmark": [places["benchmark"]],
            "part": [places["part"]],
            "metric": ["attachment"],
            "a": [MARK],
            "b": ["oslo"],
        },
        {
            "submit": [{"outputs": {places["part"]: GOLD_CONLLU}}, {"outputs": {}}],
            "ask_comparison": [question, {"submissions": "leaderboard"}],
            "patch_submission": [{"chosen": True}],
            "create_webhook": [{"url": "https://93.184.215.14/hook", "benchmark": places["benchmark"]}],
        },
    )


def answer(stage: Stage, token: str | None, request: Request, places: dict[str, str]) -> tuple[Any, ...]:
    """Status, headers and body, without the ids and what is made at random."""
    headers = {"Request-Id": "walk"} | ({} if token is None else {"Authorization": f"Bearer {token}"})
    headers |= {} if request.accept is None else {"Accept": request.accept}
    response = FlaskClient(stage.app).open(request.path, method=request.method, json=request.body, headers=headers)
    told = f"{response.status_code} {sorted(response.headers.items())} {response.text}"
    assert MARK not in told.replace(places["part"], "").replace(f"teams/{MARK}", "")
    for name in ("part", "benchmark", "submission", "comparison", "series_id", "team"):
        told = told.replace(places[name], f"<{name}>")
    return response.status_code, MADE.sub("", told)


def test_no_operation_answers_an_outsider_otherwise_than_for_unknown_ids(stage, private):
    walked = set()
    for who, token in outsiders(stage).items():
        for one, other in zip(requests(known(private)), requests(known(UNKNOWN)), strict=True):
            asks = any(private[name] in f"{one.path} {one.body}" for name in ADDRESSED)
            if not asks:
                continue
            walked.add(one.operation)
            found, unknown = answer(stage, token, one, private), answer(stage, token, other, UNKNOWN)
            assert found == unknown, f"{who}: {one.name}"
    addressed = {operation["operationId"] for _, path, operation in operations() if "{benchmark}" in path}
    assert addressed <= walked


def test_no_list_and_no_event_tells_an_outsider_of_it(stage, private):
    for token in outsiders(stage).values():
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        for path in ("/v1/benchmarks?limit=1000", "/v1/benchmarks?limit=1", "/v1/events?limit=1000", "/v1/webhooks"):
            shown = FlaskClient(stage.app).get(path, headers=headers).text
            assert MARK not in shown
            assert f'"{private["benchmark"]}"' not in shown


def test_its_own_teams_organisers_and_readers_know_of_it(stage, private):
    at = f"/v1/benchmarks/{private['benchmark']}"
    team = stage.client().post(f"{at}/teams/oslo/token").json["token"]
    for token in (ADMIN, team, stage.token("read")):
        client = stage.client(token)
        assert client.get(at).json["title"] == MARK
        assert client.get(f"{at}/leaderboard").json["rows"]
        assert private["benchmark"] in client.get("/v1/events?limit=1000").text
    assert client.get(f"{at}/submissions").status_code == 403  # a token that reads reads no submissions


def test_a_deleted_private_benchmark_is_as_unknown_as_before(stage):
    task = SharedTask(stage, leaderboard={"public": False})
    task.delete()
    for token in outsiders(stage).values():
        assert stage.client(token).get(task.address).status_code == 404
    assert stage.client(ADMIN).get(task.address).status_code == 410
