"""Shared tasks over HTTP: forms, preconditions, repeats, forms of answers, who sees what, and what makes no sense."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest
from werkzeug.test import TestResponse

from service.contract.access import TokenRequest
from service.usecases.tokens import create_token
from tests.contract.shared_task import BENCHMARK, SharedTask
from tests.contract.stage import Stage
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG

TREEBANKS = [f"tb_{number}" for number in range(12)]


@pytest.fixture
def stage(kept_stage: Stage) -> Stage:
    """The tests leave each other alone: each has benchmarks of its own."""
    return kept_stage


@pytest.fixture
def task(stage: Stage) -> SharedTask:
    """A benchmark whose gold is checked."""
    return SharedTask(stage)


def form(meta: Any, files: Mapping[str, str | bytes]) -> dict[str, Any]:
    """The data of a multipart body."""
    texts = {name: text if isinstance(text, bytes) else text.encode() for name, text in files.items()}
    parts = {name: (io.BytesIO(text), f"{name}.conllu") for name, text in texts.items()}
    return {"meta": json.dumps(meta), **parts}


def first_pointer(answer: TestResponse) -> str:
    assert answer.status_code == 422, answer.text
    return str(answer.json["errors"][0]["pointer"])


def test_many_treebanks_are_files_of_one_form(stage: Stage) -> None:
    meta = {key: value for key, value in BENCHMARK.items() if key != "parts"} | {"id": "many"}
    files = {f"parts/{name}" if number % 2 else name: GOLD_CONLLU for number, name in enumerate(TREEBANKS)}
    client = stage.client()
    made = client.post("/v1/benchmarks", data=form(meta, files), headers={"Prefer": "wait=20"})
    assert made.status_code == 201, made.text
    assert (made.json["state"], list(made.json["parts"])) == ("active", TREEBANKS)
    files = {f"outputs/{name}" if number % 2 else name: ONE_WRONG for number, name in enumerate(TREEBANKS[:-1])}
    sent = client.post(
        "/v1/benchmarks/many/submissions", data=form({"name": "b"}, files), headers={"Prefer": "wait=20"}
    )
    assert sent.status_code == 201, sent.text
    assert sent.json["scores"]["parts"][TREEBANKS[-1]]["state"] == "missing"


def test_a_form_and_json_are_the_same_request(task: SharedTask) -> None:
    at, key = f"{task.address}/submissions", {"Idempotency-Key": "k"}
    by_form = task.organiser.post(at, data=form({"name": "b"}, {"en": ONE_WRONG}), headers=key)
    by_json = task.organiser.post(at, json={"name": "b", "outputs": {"en": ONE_WRONG}}, headers=key)
    assert by_form.headers["Location"] == by_json.headers["Location"]
    assert by_json.headers["Idempotent-Replayed"] == "true"
    for other in ({"name": "c", "outputs": {"en": ONE_WRONG}}, {"name": "b", "outputs": {"en": GOLD_CONLLU}}):
        assert task.organiser.post(at, json=other, headers=key).status_code == 422


def test_repeated_requests_for_benchmarks_and_revisions_say_so(task: SharedTask) -> None:
    gold = {"en": {"gold": GOLD_CONLLU}}
    again = {**BENCHMARK, "id": "again", "parts": gold}
    for at, body in (("/v1/benchmarks", again), (f"{task.address}/revisions", {"reason": "r", "parts": gold})):
        key = {"Idempotency-Key": at, "Prefer": "wait=20"}
        first, second = (task.organiser.post(at, json=body, headers=key) for _ in range(2))
        assert (first.status_code, "Idempotent-Replayed" in first.headers) == (201, False), first.text
        assert (second.status_code, second.headers["Idempotent-Replayed"]) == (201, "true")
        assert (second.headers["Location"], second.data) == (first.headers["Location"], first.data)
        other = task.organiser.post(at, json={**body, "parts": {"en": {"gold": ONE_WRONG}}}, headers=key)
        assert other.json["type"] == "/problems/idempotency-key-reused"


def test_what_ends_by_itself_is_refused_with_the_time_to_come_back(task: SharedTask) -> None:
    gold = {"en": {"gold": GOLD_CONLLU}}
    finished = task.submit(task.team())
    job = task.organiser.get(task.stage.waiting_job() + "/items?system=A&metric=parseval")
    items = task.organiser.get(task.waiting() + "/items")
    with task.stage.asleep():
        task.organiser.post("/v1/benchmarks", json={**BENCHMARK, "id": "newest", "parts": gold})
        early = task.organiser.post("/v1/benchmarks/newest/submissions", json={"outputs": {"en": ONE_WRONG}})
        task.organiser.post(f"{task.address}/revisions", json={"parts": gold})
        second = task.organiser.post(f"{task.address}/revisions", json={"parts": gold})
    for refused in (job, items, early, second):
        assert (refused.status_code, refused.headers.get("Retry-After")) == (409, "1"), refused.text
    ended = task.organiser.post(finished + "/cancel")
    assert (ended.status_code, "Retry-After" in ended.headers) == (409, False)


def test_the_list_of_tokens_tells_which_belongs_to_whom(task: SharedTask) -> None:
    made = task.organiser.post("/v1/tokens", json={"scopes": ["read"], "name": "dashboard"}).json
    assert (made["benchmark"], made["team"]) == (None, None)
    task.organiser.post(f"{task.address}/teams", json={"id": "oslo", "name": "Oslo"})
    listed = task.organiser.get("/v1/tokens").json["items"]
    slug = task.address.rpartition("/")[2]
    assert (slug, "oslo") in [(token["benchmark"], token["team"]) for token in listed]


def test_what_is_odd_in_a_benchmarks_parameters_is_told_once_for_all_parts(stage: Stage) -> None:
    metrics = [{"name": "parseval", "params": {"prm": "FOO 1\nLABELED 1\n"}}]
    trees = dict.fromkeys(("en", "de"), "(S (N a))\n")
    gold = {part: {"gold": text} for part, text in trees.items()}
    meta = {
        **BENCHMARK,
        "id": "trees",
        "format": "bracketed",
        "metrics": metrics,
        "main_score": "parseval",
        "parts": gold,
    }
    client = stage.client()
    assert client.post("/v1/benchmarks", json=meta, headers={"Prefer": "wait=20"}).json["state"] == "active"
    at = "/v1/benchmarks/trees/submissions"
    sent = client.post(at, json={"outputs": trees}, headers={"Prefer": "wait=20"}).json
    assert [(warning["code"], warning["pointer"]) for warning in sent["warnings"]] == [
        ("prm-unknown-key", "/metrics/0/params/prm")
    ]


@pytest.mark.parametrize(
    ("meta", "files", "pointer"),
    [
        ({"outputs": []}, {}, "/outputs"),
        ({}, {"fr": "x"}, "/outputs/fr"),
        ({"outputs": {"en": "x"}}, {"en": "x"}, "/outputs/en"),
        ({}, {"en": "x", "parts/en": "x"}, "/outputs/en"),
        ({}, {"en": "x", "parts/a~b/c": b"\xff"}, "/outputs/a~0b~1c"),
        ({}, {}, "/outputs"),
    ],
)
def test_forms_of_submissions_that_make_no_sense(task: SharedTask, meta: Any, files: Any, pointer: str) -> None:
    answer = task.organiser.post(
        f"{task.address}/submissions", data=form(meta, files), content_type="multipart/form-data"
    )
    assert first_pointer(answer) == pointer


def test_of_two_changes_at_once_one_is_refused(task: SharedTask) -> None:
    seen = {"If-Match": task.organiser.get(task.address).headers["ETag"]}
    first = task.organiser.patch(task.address, json={"title": "first"}, headers=seen)
    second = task.organiser.patch(task.address, json={"title": "second"}, headers=seen)
    assert (first.status_code, second.status_code) == (200, 412)
    assert task.organiser.get(task.address).headers["ETag"] == first.headers["ETag"]
    assert task.organiser.get(task.address).json["title"] == "first"


def test_gold_does_not_change_by_patch(task: SharedTask) -> None:
    answer = task.organiser.patch(task.address, json={"parts": {}}, headers={"If-Match": "*"})
    assert answer.json["errors"][0]["code"] == "not-changeable"


def test_another_teams_submission_is_not_there(task: SharedTask) -> None:
    lyon, oslo = task.team("lyon"), task.team("oslo")
    at = task.submit(lyon)
    for below in ("", "/items", "/slices", "/output"):
        assert lyon.get(at + below).status_code == 200
        assert oslo.get(at + below).status_code == 404
    assert oslo.patch(at, json={"name": "mine"}).status_code == 404
    assert oslo.delete(at).status_code == 404
    assert oslo.post(f"{at}/cancel").status_code == 404
    assert oslo.get(f"{task.address}/submissions").json["items"] == []


def test_a_quota_is_told_before_and_when_it_is_used_up(stage: Stage) -> None:
    task = SharedTask(stage, quota={"scored_per_day": 1})
    client = task.team()
    at, body = f"{task.address}/submissions", {"outputs": {"en": ONE_WRONG}}
    assert client.get(at).headers["RateLimit-Remaining"] == "1"
    taken, refused = client.post(at, json=body), client.post(at, json=body)
    assert (taken.headers["RateLimit-Limit"], taken.headers["RateLimit-Remaining"]) == ("1", "0")
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 86_400
    assert refused.headers["RateLimit-Reset"] == refused.headers["Retry-After"]


def test_an_expired_token_is_no_token(stage: Stage) -> None:
    now = stage.context.now()
    past = replace(stage.context, now=lambda: now - timedelta(seconds=1))
    made = create_token(past, ORGANISER, TokenRequest(scopes=["read"], expires_at=now))
    assert stage.client(made["token"]).get("/v1/benchmarks").status_code == 401


ACCEPTED = {
    "*/*": "application/json", "text/html, */*;q=0.1": "application/json", "text/csv": "text/csv",
    "text/tab-separated-values": "text/tab-separated-values", "text/markdown;q=0.9, text/csv;q=0.5": "text/markdown",
    "application/x-latex": "application/x-latex", "image/svg+xml": "image/svg+xml",
}  # fmt: skip


def test_the_board_is_shown_as_accept_has_it(task: SharedTask) -> None:
    task.two()
    client, at = task.stage.client(None), f"{task.address}/leaderboard"
    for accept, media in ACCEPTED.items():
        shown = client.get(at, headers={"Accept": accept})
        assert (shown.status_code, shown.mimetype) == (200, media)
        assert "Accept" in shown.headers["Vary"]
        again = {"Accept": accept, "If-None-Match": shown.headers["ETag"]}
        assert client.get(at, headers=again).status_code == 304


def test_the_query_goes_before_accept(task: SharedTask) -> None:
    shown = task.organiser.get(f"{task.address}/leaderboard?format=csv", headers={"Accept": "application/json"})
    assert shown.mimetype == "text/csv"
    assert task.organiser.get(f"{task.address}/leaderboard?format=xls").status_code == 400


def test_items_are_pages_of_json_of_lines_and_of_rows(task: SharedTask) -> None:
    at = task.submit(task.team()) + "/items"
    page = task.organiser.get(f"{at}?limit=1")
    lines = task.organiser.get(f"{at}?limit=1", headers={"Accept": "application/x-ndjson"})
    rows = task.organiser.get(f"{at}?limit=1&format=csv")
    assert page.headers["Link"] == f'<{at}?limit=1&cursor=1>; rel="next"'
    assert lines.headers["Link"] == page.headers["Link"]
    assert [orjson.loads(line) for line in lines.data.splitlines()] == page.json["items"]
    [row] = csv.DictReader(io.StringIO(rows.text))
    assert row["item"] == "1"
    last = task.organiser.get(f"{at}?cursor=1").json
    assert ([item["item"] for item in last["items"]], last["next"]) == ([2], None)


def test_lists_are_pages_with_links(task: SharedTask) -> None:
    for name in ("a", "b", "c"):
        task.team(name)
    first = task.organiser.get(f"{task.address}/teams?limit=2")
    assert [team["id"] for team in first.json["items"]] == ["a", "b"]
    link = first.headers["Link"].partition(">")[0][1:]
    assert [team["id"] for team in task.organiser.get(link).json["items"]] == ["c"]
    events = task.organiser.get("/v1/events?limit=2")
    link = events.headers["Link"].partition(">")[0][1:]
    assert task.organiser.get(link).json["items"][0] not in events.json["items"]


def test_a_board_of_more_rows_than_one_answer_holds_links_to_the_next(
    task: SharedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.usecases.boards.viewing.MOST_ROWS", 1)
    first, second = task.two()
    board = task.organiser.get(f"{task.address}/leaderboard")
    link = board.headers["Link"].partition(">")[0][1:]
    rows = board.json["rows"] + task.organiser.get(link).json["rows"]
    assert [row["submission"] for row in rows] == [first, second]
    assert "Link" not in task.organiser.get(link).headers


def test_what_was_sent_comes_back_byte_for_byte(task: SharedTask) -> None:
    at = task.submit(task.team()) + "/output"
    for query in ("", "?part=en"):
        sent = task.organiser.get(at + query)
        assert (sent.text, sent.mimetype) == (ONE_WRONG, "text/plain")
    assert task.organiser.get(f"{at}?part=de").status_code == 404


def test_the_same_question_has_the_same_address(task: SharedTask) -> None:
    question = {"submissions": task.two()}
    first, second = (task.organiser.post(f"{task.address}/comparisons", json=question) for _ in range(2))
    assert first.headers["Location"] == second.headers["Location"]
    for form_asked, media in (("csv", "text/csv"), ("latex", "application/x-latex"), ("text", "text/plain")):
        shown = task.organiser.get(f"{first.headers['Location']}?format={form_asked}")
        assert shown.mimetype == media


@pytest.mark.parametrize("number", ["0", "2", "x", "-1", "1.0", "9" * 30, "\u0661"])
def test_a_revision_that_is_none_is_not_there(task: SharedTask, number: str) -> None:
    assert task.organiser.get(f"{task.address}/revisions/{number}").status_code == 404


TABLE = 'id,name,contact\r\noslo,"Oslo, Parsers",=cmd@example.org\r\nmetz,Metz,\r\n'


def test_a_table_and_json_are_answered_in_json_unless_a_table_is_preferred(task: SharedTask) -> None:
    at = f"{task.address}/teams"
    assert [
        team["id"] for team in task.organiser.post(at, data=TABLE, content_type="text/csv; charset=utf-8").json["teams"]
    ] == ["oslo", "metz"]
    body = {"teams": [{"id": "lyon", "name": "Lyon"}]}
    preferred = task.organiser.post(at, json=body, headers={"Accept": "application/json;q=0.5, text/csv"})
    assert preferred.text.startswith("id,name,contact,token\r\nlyon,Lyon,,ts_")
    body = {"teams": [{"id": "nice", "name": "Nice"}]}
    assert task.organiser.post(at, json=body, headers={"Accept": "*/*"}).json["teams"][0]["id"] == "nice"


def test_a_table_with_faults_makes_no_team(task: SharedTask) -> None:
    at = f"{task.address}/teams"
    faulty = task.organiser.post(at, data="id,name\nlyon,Lyon\na b,\n", content_type="text/csv")
    assert faulty.status_code == 422
    assert [(each["code"], each["line"], each["column"]) for each in faulty.json["errors"]] == [
        ("bad-id", 3, 1),
        ("bad-name", 3, 2),
    ]
    twice = task.organiser.post(at, data="id,name\nlyon,Lyon\n\nlyon,Lyon\n", content_type="text/csv")
    assert [(each["code"], each["line"]) for each in twice.json["errors"]] == [("repeated-id", 4)]
    task.team("lyon")
    taken = task.organiser.post(at, data="id,name\noslo,Oslo\nlyon,Lyon\n", content_type="text/csv")
    assert (taken.status_code, taken.json["type"].rpartition("/")[2]) == (409, "id-taken")
    assert [(each["code"], each["line"]) for each in taken.json["errors"]] == [("taken-id", 3)]
    assert [team["id"] for team in task.organiser.get(at).json["items"]] == ["lyon"]
    assert task.organiser.post(at, data=TABLE, content_type="text/csv; charset=latin-1").status_code == 415
    assert task.organiser.post(at, data="x" * 200_001, content_type="text/csv").status_code == 413
