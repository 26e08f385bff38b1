"""What holds for every route: problems, names of requests, the log, tokens and scopes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy.exc import OperationalError

from tests.contract.checking import operations
from tests.contract.stage import JOB, Stage, close_stage, open_stage
from tests.fixtures.processes import log_lines
from tests.fixtures.servers import Valkey


def test_an_unknown_address_is_a_problem(stage: Stage) -> None:
    for path in ("/nowhere", "/v1", "/v1/jobs/", "/v1//jobs", "/v2/jobs", "/problems/x", "/%00%ff"):
        answer = stage.client().get(path)
        assert answer.status_code == 404, path
        assert answer.mimetype == "application/problem+json"


def test_a_method_that_is_not_taken_is_a_problem_that_names_those_that_are(stage: Stage) -> None:
    answer = stage.client().put("/v1/jobs")
    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS", "POST"}


@pytest.mark.parametrize(
    ("method", "path", "body", "media"),
    [
        ("POST", "/v1/join", b" " * 64_001, "application/json"),
        ("POST", "/v1/tokens", b" " * 64_001, "application/json"),
        ("POST", "/v1/webhooks", b" " * 64_001, "application/json"),
        ("POST", "/v1/benchmarks/x/comparisons", b" " * 64_001, "application/json"),
        ("PATCH", "/v1/benchmarks/x", b" " * 64_001, "application/json"),
        ("PATCH", "/v1/submissions/x", b" " * 64_001, "application/json"),
        ("POST", "/sign-in", b"a=" + b"b" * 64_000, "application/x-www-form-urlencoded"),
        ("POST", "/sign-in", b"a=&" * 101, "application/x-www-form-urlencoded"),
        ("POST", "/theme", b"a=&" * 101, "application/x-www-form-urlencoded"),
    ],
)
def test_what_holds_no_text_is_small(stage: Stage, method: str, path: str, body: bytes, media: str) -> None:
    assert stage.client().open(path, method=method, data=body, content_type=media).status_code == 413


def test_head_is_get_without_a_body(stage: Stage) -> None:
    for path in ("/v1/jobs", stage.job(), "/docs", "/v1/scorers"):
        head, get = stage.client().head(path), stage.client().get(path)
        assert head.data == b""
        assert head.headers["ETag"] == get.headers["ETag"]
        assert head.headers["Content-Length"] == get.headers["Content-Length"]


@pytest.mark.parametrize("name", ["abc-1.2:3_Z", "x" * 128])
def test_a_requests_name_is_taken_over(stage: Stage, name: str) -> None:
    answer = stage.client().get("/nowhere", headers={"Request-Id": name})
    assert answer.headers["Request-Id"] == name
    assert answer.json["instance"] == f"urn:request:{name}"


@pytest.mark.parametrize("name", ["", "two words", "x" * 129, '"<script>"', "caf\u00e9"])
def test_a_request_without_a_proper_name_gets_one(stage: Stage, name: str) -> None:
    answer = stage.client().get("/livez", headers={"Request-Id": name})
    assert re.fullmatch(r"req_[0-9a-f]{24}", answer.headers["Request-Id"])


def test_a_fault_of_ours_says_nothing_of_what_it_was_and_is_logged_with_its_place(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("SECRET of the gold text")

    monkeypatch.setattr("service.usecases.status.scorers", fail)
    with log_lines() as lines:
        answer = FlaskClient(stage.app).get("/v1/scorers")
    assert answer.status_code == 500
    assert answer.mimetype == "application/problem+json"
    assert "SECRET" not in answer.text
    assert "RuntimeError" not in answer.text
    [fault] = [line for line in lines if line["event"] == "fault"]
    assert fault["kind"] == "RuntimeError"
    assert any("status.py" in place for place in fault["places"])
    assert "SECRET" not in str(lines)


def test_a_store_that_does_not_answer_is_503_and_worth_another_try(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("SELECT 1", {}, OSError("disk"))

    monkeypatch.setattr("service.usecases.status.scorers", fail)
    answer = FlaskClient(stage.app).get("/v1/scorers")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]


def test_the_log_names_the_request_and_never_its_body_query_or_token(stage: Stage) -> None:
    with log_lines() as lines:
        stage.client("ts_unknown-token").post("/v1/jobs?query=1", json=JOB, headers={"Request-Id": "r-1"})
    [line] = [line for line in lines if line["event"] == "request"]
    assert (line["method"], line["route"], line["status"]) == ("POST", "/v1/jobs", 401)
    assert 0 <= line["milliseconds"] < 60_000
    assert not re.search(r"dog|query|ts_unknown", str(lines))


@pytest.mark.parametrize(
    "header", ["Basic dXNlcjpwYXNz", "Bearer", "Bearer two words", "ts_naked", "Bearer caf\u00e9", "bearer  ", ""]
)
def test_a_header_that_is_no_bearer_token_is_unauthorized(stage: Stage, header: str) -> None:
    answer = stage.client(None).get("/v1/jobs", headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")


def test_the_scheme_is_read_in_any_case(stage: Stage) -> None:
    token = stage.token("score")
    assert stage.client(None).get("/v1/jobs", headers={"Authorization": f"bearer {token}"}).status_code == 200


SCOPES = ("organise", "read", "score", "submit")


def opened_by(method: str, operation: dict[str, Any]) -> set[str]:
    """Scopes that open an operation: those that the document names; where it names none, those of jobs and tokens."""
    named = {scope for one in operation.get("security", ()) for scope in one.get("bearer", ())}
    if named:
        return {"organise", *named}
    if "jobs" in operation["tags"]:
        return {"organise", "score", "read"} if method == "GET" else {"organise", "score"}
    return {"organise"} if "tokens" in operation["tags"] else set(SCOPES)


@pytest.mark.parametrize("scope", SCOPES)
def test_a_scope_opens_what_it_names_and_nothing_else(stage: Stage, scope: str) -> None:
    client = stage.client(stage.token(scope))
    for method, path, operation in operations():
        if operation.get("security") == []:
            continue
        here = re.sub(r"\{\w+\}", "x", path)
        status = client.open(here, method=method).status_code
        assert (status == 403) is (scope not in opened_by(method, operation)), (method, path, status)


def test_a_list_that_would_always_be_empty_is_refused(stage: Stage) -> None:
    refused = stage.client(stage.token("read")).get("/v1/jobs")
    assert (refused.status_code, "score or submit; yours has: read" in refused.json["detail"]) == (403, True)


def test_a_token_is_shown_once_and_ends_at_once(stage: Stage) -> None:
    organiser = stage.client()
    made = organiser.post("/v1/tokens", json={"scopes": ["score"], "name": "CI"})
    assert made.headers["Cache-Control"] == "no-store"
    text = made.json["token"]
    assert stage.client(text).get("/v1/jobs").status_code == 200
    listed = organiser.get("/v1/tokens")
    assert text not in listed.text
    assert listed.headers["Cache-Control"] == "no-store"
    assert organiser.delete(made.headers["Location"]).status_code == 204
    assert stage.client(text).get("/v1/jobs").status_code == 401


def test_who_asks_is_checked_before_what_is_asked(stage: Stage) -> None:
    for token, status in {"no-such-token": 401, stage.token("read"): 403, stage.token("organise"): 400}.items():
        assert stage.client(token).get("/v1/tokens?colour=red").status_code == status
        assert stage.client(token).post("/v1/tokens?colour=red", data="{").status_code == status


@pytest.mark.parametrize(
    "moment", ["2020-01-01T00:00:00Z", "0178-07-27T00:32:17Z", "9999-12-31T23:59:59-12:00", "2030-01-01", "x", 7]
)
def test_a_token_ends_in_the_future_or_is_not_made(stage: Stage, moment: Any) -> None:
    answer = stage.client().post("/v1/tokens", json={"scopes": ["read"], "expires_at": moment})
    assert answer.status_code == 422
    assert answer.json["errors"][0]["pointer"] == "/expires_at"


def test_the_end_of_a_token_is_told_in_utc(stage: Stage) -> None:
    answer = stage.client().post("/v1/tokens", json={"scopes": ["read"], "expires_at": "2999-01-01T00:00:00+02:00"})
    assert answer.json["expires_at"] == "2998-12-31T22:00:00.000Z"


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=1001", "limit=x", "cursor=%20", "state=done", "limit=1&limit=2", "page=2"]
)
def test_a_wrong_query_is_a_bad_request_that_names_the_parameter(stage: Stage, query: str) -> None:
    answer = stage.client().get(f"/v1/jobs?{query}")
    assert answer.status_code == 400
    assert query.partition("=")[0] in answer.json["detail"]


def test_an_address_without_a_query_says_that_it_has_none(stage: Stage) -> None:
    answer = stage.client().get("/v1/benchmarks/demo?page=2")
    assert answer.json["detail"] == "page: Unknown field. Known fields: none."


PUBLIC = {"benchmarks", "leaderboards", "comparisons", "events"}
"""Tags under which reading needs no token where the organisers have it so."""


def test_without_anonymous_jobs_nothing_but_the_catalogue_and_public_boards_are_open(
    tmp_path: Path, valkey: Valkey
) -> None:
    stage = open_stage(tmp_path, valkey.url, TREESCORE_ANONYMOUS_JOBS="false")
    client = stage.client(None)
    for method, path, operation in operations():
        readable = method == "GET" and {} in operation.get("security", ()) and PUBLIC & set(operation["tags"])
        closed = operation.get("security") != [] and not readable
        status = client.open(re.sub(r"\{\w+\}", "x", path), method=method).status_code
        assert (status == 401) is closed, path
    close_stage(stage)
