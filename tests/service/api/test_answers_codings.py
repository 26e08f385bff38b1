"""Which coding a client gets, its validators, and that what shows a secret is never compressed."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
import zstandard
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import EnvironBuilder, TestResponse

from service.api import answers
from service.api.answers import SHARED, CodedBodies, accepted_codings, known_tag, plain_tags, tag_of
from service.store.packing import pack
from service.usecases.runs import Shown
from tests.contract.shared_task import SharedTask
from tests.contract.stage import ADMIN, JOB, Stage

BIG = {**JOB, "systems": [{**JOB["systems"][0], "name": f"system-{n}"} for n in range(8)]}
WINDOW = 8 * 2**20
"""Bytes that clients keep at least to decompress zstd (RFC 9659)."""


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        (None, [""]), ("", [""]), ("identity", [""]), ("br", [""]), ("gzip", ["gzip", ""]), ("GZIP", ["gzip", ""]),
        ("x-gzip", ["gzip", ""]), ("gzip, deflate, br, zstd", ["zstd", "gzip", ""]), ("*", ["zstd", "gzip", ""]),
        ("gzip;q=0.5, zstd;q=0.4", ["gzip", "zstd", ""]), ("gzip; q=0.5,identity;q=0.9", ["", "gzip"]),
        ("gzip;q=0", [""]), ("zstd, *;q=0", ["zstd"]), ("identity;q=0", []), ("*;q=0", []),
        ("identity;q=0, gzip", ["gzip"]), ("*;q=0, identity", [""]), ("*;q=0.5, zstd;q=0", ["gzip", ""]),
        ("gzip;q=2", [""]), ("gzip;q=", [""]), ("gzip;level=9", [""]), ("gzip;q=0.0001", [""]), (";;,,", [""]),
    ],
)  # fmt: skip
def test_codings_are_taken_in_the_order_of_the_clients_weights(header: str | None, wanted: list[str]) -> None:
    assert list(accepted_codings(header)) == wanted


@given(st.text(max_size=60))
def test_any_header_leaves_known_codings_each_once(header: str) -> None:
    found = accepted_codings(header)
    assert len(set(found)) == len(found) <= 3
    assert set(found) <= set(answers.ANSWER_CODINGS)


def test_a_copy_counts_in_a_coding_that_the_request_accepts() -> None:
    for coding in answers.ANSWER_CODINGS:
        tag = tag_of("abc", coding)
        for header in (f'"{tag}"', f'W/"{tag}"', f'"x", "{tag}"'):
            assert known_tag(header, (coding,), "abc") == tag
            other = "gzip" if coding != "gzip" else "zstd"
            assert known_tag(header, (other,), "abc") is None
    assert known_tag("*", ("gzip", ""), "abc") == "abc-gzip"
    assert known_tag(None, ("",), "abc") is None
    assert known_tag('"abcd"', ("",), "abc") is None


def test_who_changes_a_resource_may_have_read_it_in_any_coding() -> None:
    assert plain_tags('"abc-gzip", W/"x-zstd", "y", *') == '"abc", W/"x", "y", *'
    assert plain_tags(None) is None


def test_bodies_are_made_once_and_dropped_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(answers, "_coded", lambda body, coding: made.append(coding) or body[:600])
    coded = CodedBodies(most_bytes=1500)
    views = [Shown(None, bytes([n]) * 2000, f"tag-{n}") for n in range(3)]
    for view in (views[0], views[0], views[1], views[0], views[2], views[0], views[1]):
        assert len(coded.body(view, "gzip")) == 600
    assert len(made) == 4  # the second was dropped when the third came


@pytest.mark.parametrize("coding", answers.ANSWER_CODINGS)
@pytest.mark.parametrize("packed", [False, True])
def test_each_coding_decodes_to_the_body(coding: str, *, packed: bool) -> None:
    body = b"a body of some length, " * 90
    view = Shown(None, pack(body) if packed else body, "abc", packed=packed)
    assert (view.body, view.size) == (body, len(body))
    decode = {"": bytes, "gzip": gzip.decompress, "zstd": zstandard.ZstdDecompressor().decompress}[coding]
    sent = CodedBodies().body(view, coding)
    assert decode(sent) == body
    if coding == "zstd":
        assert zstandard.get_frame_parameters(sent).window_size <= WINDOW


def test_what_is_stored_packed_is_sent_as_it_is_however_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "LARGE", 10)
    stored = Shown(None, pack(b"x" * 2000), "abc", packed=True)
    assert CodedBodies().choose(stored, ("zstd", "")) == "zstd"
    assert CodedBodies().body(stored, "zstd") is stored.content
    assert CodedBodies().choose(stored, ("gzip", "")) == ""


def ask(stage: Stage, path: str, coding: str | None = None, token: str | None = ADMIN, **more: Any) -> TestResponse:
    """What the application answers, its body as it is sent."""
    given = {} if token is None else {"HTTP_AUTHORIZATION": f"Bearer {token}"}
    accept = {} if coding is None else {"HTTP_ACCEPT_ENCODING": coding}
    return FlaskClient(stage.app).open(EnvironBuilder(path, environ_overrides={**given, **accept}, **more))


def test_a_small_answer_is_sent_plain_unless_the_client_refuses_that(stage: Stage) -> None:
    at = stage.waiting_job()
    assert "Content-Encoding" not in ask(stage, at, "gzip, zstd").headers
    assert ask(stage, at, "gzip, identity;q=0").headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in ask(stage, at, "identity;q=0").headers


def test_the_stored_answer_of_a_job_is_sent_as_it_is_stored(stage: Stage) -> None:
    at = stage.client().post("/v1/jobs", json=BIG).headers["Location"]
    with stage.context.store.read() as db:
        stored = bytes(db.exec_driver_sql("SELECT document FROM jobs").scalar_one())
    sent, plain = ask(stage, at, "zstd"), ask(stage, at)
    assert sent.data == stored
    assert zstandard.ZstdDecompressor().decompress(stored) == plain.data
    assert sent.headers["ETag"] == plain.headers["ETag"][:-1] + '-zstd"'
    assert gzip.decompress(ask(stage, at, "gzip").data) == plain.data


def test_answers_that_show_a_secret_and_problems_are_never_compressed(stage: Stage) -> None:
    task = SharedTask(stage)
    posts: list[tuple[str, Any, str | None]] = [
        ("/v1/tokens", {"scopes": ["read"], "name": "n" * 60}, ADMIN),
        (f"{task.address}/teams", {"id": "lyon", "name": "Lyon"}, ADMIN),
        ("/v1/jobs", BIG, None),
        ("/v1/webhooks", {"url": "https://example.org/" + "x" * 1000, "events": ["*"]}, ADMIN),
    ]
    for path, body, token in posts:
        for coding in ("gzip", "zstd", "identity;q=0, *"):
            answer = ask(stage, path, coding, token, method="POST", json=body)
            assert "Content-Encoding" not in answer.headers, path
    unknown = ask(stage, "/v1/benchmarks/" + "x" * 2000, "gzip")
    assert unknown.status_code == 404
    assert "Content-Encoding" not in unknown.headers


def test_shared_caches_may_keep_what_all_may_see_where_no_token_came(stage: Stage) -> None:
    task, hidden = SharedTask(stage), SharedTask(stage, leaderboard={"public": False})
    task.two()
    board = f"{task.address}/leaderboard"
    for path in (board, f"{board}?format=csv", f"{board}?revision=1", "/v1/scorers", "/openapi.json", "/problems"):
        answer = ask(stage, path, token=None)
        assert answer.headers["Cache-Control"] == SHARED, path
        assert answer.headers["Vary"] == "Accept, Accept-Encoding, Authorization"
        again = ask(stage, path, token=None, headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.headers["Cache-Control"]) == (304, SHARED)
        if path.startswith("/v1/bench"):
            own = ask(stage, path)
            assert own.headers["Cache-Control"] == "private, no-cache"
            assert own.headers["Vary"] == answer.headers["Vary"]
    wrong = ask(stage, board, token="ts_wrong")  # noqa: S106 - no token
    assert (wrong.status_code, wrong.headers["Cache-Control"]) == (401, "no-store")
    unseen = ask(stage, f"{hidden.address}/leaderboard", token=None)
    assert (unseen.status_code, unseen.headers["Cache-Control"]) == (404, "no-store")


def test_what_belongs_to_a_caller_is_never_for_shared_caches(stage: Stage) -> None:
    anonymous = stage.client(None).post("/v1/jobs", json=BIG).headers["Location"]
    for path in (anonymous, f"{anonymous}/items?system=system-0&metric=parseval", "/v1/benchmarks", "/metrics"):
        answer = ask(stage, path, token=None)
        assert answer.status_code == 200, path
        assert answer.headers["Cache-Control"] == "private, no-cache", path
