"""The type of each problem, and each code, is an address that explains it."""

from __future__ import annotations

import pytest

from service.errors import CODES, TYPES
from tests.contract.checking import check_page
from tests.contract.stage import JOB, Stage

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.fixture
def stage(kept_stage: Stage) -> Stage:
    """The tests leave each other alone."""
    return kept_stage


def test_every_type_and_code_has_an_address(stage):
    client = stage.client(None)
    listed = client.get("/problems").json["problems"]
    assert {each["name"] for each in listed} == {*TYPES, *CODES}
    for each in listed:
        assert client.get(each["uri"]).json == each


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/jobs/job_0", None),
        ("GET", "/nowhere", None),
        ("PUT", "/v1/jobs", None),
        ("GET", "/v1/jobs?limit=many", None),
        ("POST", "/v1/jobs", {**JOB, "metrics": ["parsval"], "formt": "x"}),
    ],
)
def test_the_type_of_a_problem_and_the_codes_of_its_errors_lead_to_entries(stage, method, path, body):
    client = stage.client()
    answer = client.open(path, method=method, json=body)
    entry = client.get(answer.json["type"]).json
    assert (entry["title"], entry["status"]) == (answer.json["title"], answer.status_code)
    for error in answer.json.get("errors", ()):
        assert client.get(f"/problems/{error['code']}").json["kind"] == "code"


@pytest.mark.parametrize("path", ["/problems", "/problems/conflict", "/problems/closes-before-opening"])
def test_a_browser_gets_a_page_of_its_own(stage, path):
    answer = stage.client(None).get(path, headers={"Accept": BROWSER})
    check_page(answer)
    assert answer.content_type == "text/html; charset=utf-8"
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert answer.headers["Vary"] == "Accept, Accept-Encoding, Authorization, Cookie"
    known = {"Accept": BROWSER, "If-None-Match": answer.headers["ETag"]}
    assert stage.client(None).get(path, headers=known).status_code == 304


def test_a_page_does_not_look_at_tokens_of_programs(stage):
    for path in ("/docs", "/problems?format=html", "/problems/conflict?format=html", "/docs/jobs", "/docs/nowhere"):
        with_none = stage.client(None).get(path)
        with_bad = stage.client("ts_wrong").get(path)
        assert with_bad.status_code == with_none.status_code == (404 if path == "/docs/nowhere" else 200), path


def test_a_program_gets_json_and_head_is_answered(stage):
    client = stage.client(None)
    for accept in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}):
        assert client.get("/problems/gone", headers=accept).json["fix"] == TYPES["gone"].fix
    head = client.head("/problems/gone")
    assert (head.status_code, head.data) == (200, b"")


def test_markup_in_an_entry_is_shown_as_text(stage):
    page = stage.client(None).get("/problems/unauthorized?format=html").text
    assert "Authorization: Bearer &lt;token&gt;" in page


def test_an_unknown_name_gets_a_suggestion_of_bounded_length(stage):
    client = stage.client(None)
    assert "Did you mean 'word-mismatch'?" in client.get("/problems/word-mismach").json["detail"]
    assert len(client.get("/problems/" + "x" * 5000).json["detail"]) < 200
    refused = client.get("/problems/%3Cscript%3E", headers={"Accept": BROWSER})
    assert (refused.status_code, refused.content_type) == (404, "application/problem+json")
