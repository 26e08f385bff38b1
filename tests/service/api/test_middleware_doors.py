"""Doors: hosts, pages of other sites, odd paths, callers without a token, failed authentications, the log."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from redis import RedisError
from werkzeug.test import EnvironBuilder, TestResponse, run_wsgi_app

from service.caller import new_id
from tests.contract.stage import ADMIN, JOB, Stage, close_stage, open_stage
from tests.fixtures.contexts import NOON
from tests.fixtures.processes import log_lines
from tests.fixtures.servers import Valkey

BEARER = {"Authorization": f"Bearer {ADMIN}"}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, valkey: Valkey) -> Iterator[Stage]:
    """A service on loopback that is also reached at https://tree.example."""
    folder = tmp_path_factory.mktemp("doors")
    stage = open_stage(folder, valkey.url, TREESCORE_PUBLIC_URL="https://tree.example:443/")
    yield stage
    close_stage(stage)


@pytest.fixture
def opened(tmp_path: Path, valkey: Valkey) -> Iterator[Any]:
    """Opens a stage with variables of the test's own."""

    @contextmanager
    def opening(**environment: str) -> Iterator[Stage]:
        stage = open_stage(tmp_path, valkey.url, **environment)
        yield stage
        close_stage(stage)

    return opening


def ask(stage: Stage, path: str = "/v1/scorers", method: str = "GET", **options: Any) -> TestResponse:
    """An answer that is not held against the contract, which names no operation for these."""
    return FlaskClient(stage.app, response_wrapper=stage.app.response_class).open(path, method=method, **options)


def status_of(stage: Stage, path: str, **environ: str) -> int:
    """The status of a request whose environment is given to the letter."""
    given = {**EnvironBuilder("/").get_environ(), "PATH_INFO": path, "RAW_URI": path, **environ}
    given = {name: value for name, value in given.items() if value is not None}
    return int(run_wsgi_app(stage.app, given)[1].split()[0])


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:9", "[::1]:80", "[::1]"])
def test_loopback_names_are_answered(stage: Stage, host: str) -> None:
    assert ask(stage, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "evil-localhost", "127.0.0.1.evil.example", "localhost.", "127.0.0.2",
     "0.0.0.0", "[::]", "notlocalhost:80"],  # noqa: S104 - compared only
)  # fmt: skip
def test_a_name_that_was_rebound_to_this_machine_is_refused(stage: Stage, host: str) -> None:
    answer = ask(stage, headers={"Host": host})
    assert (answer.status_code, answer.mimetype) == (421, "application/problem+json")
    assert answer.json["type"] == "/problems/unknown-host"


@pytest.mark.parametrize(
    "host", ["", " ", "a,b", "localhost,localhost", "user@localhost", "localhost:x", "[::1", "a/b"]
)
def test_a_host_that_is_missing_or_none_is_a_bad_request(stage: Stage, host: str) -> None:
    assert status_of(stage, "/v1/scorers", HTTP_HOST=host) == 400
    assert status_of(stage, "/livez", HTTP_HOST=host) == 400


def test_probes_are_answered_for_any_host(stage: Stage) -> None:
    for path in ("/livez", "/readyz"):
        assert ask(stage, path, headers={"Host": "10.1.2.3:8000"}).status_code == 200
        assert status_of(stage, path, HTTP_HOST="", SERVER_PROTOCOL="HTTP/1.0") == 200
        bare = {"HTTP_HOST": "", "SERVER_PROTOCOL": "HTTP/1.0", "REQUEST_METHOD": "POST"}
        assert status_of(stage, path, **bare) == 405
        assert status_of(stage, path, **bare, HTTP_ORIGIN="http://evil.example") == 403
    assert ask(stage, "/metrics", headers={"Host": "10.1.2.3:8000"}).status_code == 421


def test_configured_hosts_are_whole_names(opened: Any) -> None:
    hosts = "Scores.Example.org, metrics:9100"
    with opened(TREESCORE_ALLOWED_HOSTS=hosts, TREESCORE_PUBLIC_URL="https://tree.example") as stage:
        for host, status in {
            "scores.example.org": 200, "scores.example.org:444": 200, "tree.example": 200, "tree.example:443": 200,
            "metrics:9100": 200, "metrics": 421, "metrics:91000": 421, "scores.example.org.evil": 421,
            "a.scores.example.org": 421, "tree.example.evil": 421, "xtree.example": 421,
        }.items():  # fmt: skip
            assert ask(stage, headers={"Host": host}).status_code == status, host


def test_a_concrete_address_is_answered_and_any_address_is_not(opened: Any) -> None:
    with opened(TREESCORE_BIND="10.1.2.3:8000") as stage:
        assert ask(stage, headers={"Host": "10.1.2.3:8000"}).status_code == 200
    with opened(TREESCORE_BIND="0.0.0.0:8000") as stage:
        assert ask(stage, headers={"Host": "0.0.0.0:8000"}).status_code == 421


def test_an_absolute_target_and_the_host_are_of_one_mind(stage: Stage) -> None:
    here = {"HTTP_HOST": "localhost", "PATH_INFO": "/v1/scorers"}
    assert status_of(stage, "", **here, RAW_URI="http://localhost/v1/scorers") == 200
    for target in (
        "http://evil.example/v1/scorers",
        "http://localhost:81/v1/scorers",
        "http:///v1/scorers",
        "http://[::1/",
        "v1",
    ):
        assert status_of(stage, "", **here, RAW_URI=target) == 400, target
    assert status_of(stage, "", **{**here, "HTTP_HOST": "evil.example"}, RAW_URI="http://evil.example/") == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "same-origin,cross-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"},
        {"Sec-Fetch-Site": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://localhost"},
        {"Origin": "http://localhost:8001"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": ""},
    ],
)
def test_a_page_of_another_site_changes_nothing(stage: Stage, headers: dict[str, str]) -> None:
    address = stage.job()
    for method, path in (("POST", "/v1/jobs"), ("DELETE", address), ("PATCH", "/v1/benchmarks/x"), ("PUT", "/v1/jobs")):
        answer = ask(stage, path, method, json={}, headers={**BEARER, **headers})
        assert (answer.status_code, answer.json["type"]) == (403, "/problems/cross-site"), method
    assert stage.client().get(address).status_code == 200
    assert ask(stage, address, headers={**BEARER, **headers}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://behind.a.proxy"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://localhost"},
        {"Origin": "http://localhost:8000", "Host": "localhost:8000"},
        {"Origin": "http://localhost", "Host": "localhost:80"},
        {"Origin": "https://tree.example", "Host": "tree.example"},
    ],
)
def test_programs_and_pages_of_this_service_are_let_in(stage: Stage, headers: dict[str, str]) -> None:
    made = ask(stage, "/v1/tokens", "POST", json={"scopes": ["read"]}, headers={**BEARER, **headers})
    assert made.status_code == 201


@pytest.mark.parametrize(
    "path",
    ["//", "//v1/scorers", "//evil.example/v1/scorers", "/v1//scorers", "/v1/scorers//",
     "/v1/jobs%2F..%2Fscorers", "/v1%2fscorers",
     "/v1/./scorers", "/v1/x/../scorers", "/v1/x/%2e%2e/scorers", "/v1/scorers/%2E", "/v1%5cscorers", "/docs/..",
     "/v1/scorers%00", "/v1/scorers%0a", "/v1/jobs/%00"],
)  # fmt: skip
def test_an_odd_path_leads_nowhere(stage: Stage, path: str) -> None:
    decoded = re.sub(r"%(..)", lambda found: chr(int(found[1], 16)), path)
    assert status_of(stage, decoded, RAW_URI=path, HTTP_AUTHORIZATION=f"Bearer {ADMIN}") == 404


def anonymous(stage: Stage, address: str = "127.0.0.1", **headers: str) -> TestResponse:
    """A job of a caller without a token, from this address."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ask(stage, "/v1/jobs", "POST", json=JOB, headers=named, environ_overrides={"REMOTE_ADDR": address})


def test_a_job_without_a_token_answers_with_a_key_once(stage: Stage) -> None:
    answer = anonymous(stage)
    assert len(answer.json["key"]) == 43
    assert answer.headers["Cache-Control"] == "no-store"
    assert "key" not in ask(stage, answer.headers["Location"]).json
    assert answer.json["key"] not in str(
        stage.context.store.engine.connect().exec_driver_sql("SELECT * FROM jobs").all()
    )
    assert "key" not in stage.client().post("/v1/jobs", json=JOB).json


@pytest.mark.parametrize("method", ["DELETE", "POST"])
def test_a_stranger_cannot_cancel_or_delete_an_anonymous_job(stage: Stage, method: str) -> None:
    with stage.asleep():
        answer, other = anonymous(stage), anonymous(stage)
    address, key = answer.headers["Location"], answer.json["key"]
    path = address + ("/cancel" if method == "POST" else "")
    wrong = (None, "", "x", key[:-1], key.swapcase(), other.json["key"], answer.json["id"])
    for given in wrong:
        refused = ask(stage, path, method, headers={} if given is None else {"Job-Key": given})
        assert (refused.status_code, refused.json["type"]) == (403, "/problems/job-key"), given
    assert stage.client(stage.token("score")).open(path, method=method).status_code == 404
    assert ask(stage, address).json["state"] == "queued"
    assert ask(stage, path, method, headers={"Job-Key": key}).status_code in (200, 204)


def test_organisers_clear_away_any_job_and_keys_open_no_jobs_of_tokens(stage: Stage) -> None:
    answer = anonymous(stage)
    assert ask(stage, stage.job(), "DELETE", headers={"Job-Key": answer.json["key"]}).status_code == 404
    assert stage.client().delete(answer.headers["Location"]).status_code == 204


def test_nobody_without_a_token_lists_jobs(stage: Stage) -> None:
    job = anonymous(stage).json["id"]
    answer = ask(stage, "/v1/jobs")
    assert answer.status_code == 401
    assert job not in answer.text
    assert job not in stage.client(stage.token("score")).get("/v1/jobs").text


def test_ids_of_one_moment_do_not_tell_each_other() -> None:
    ids = [new_id("job", NOON) for _ in range(100)]
    assert len({each[:14] for each in ids}) == 1
    assert len({each[14:26] for each in ids}) == 100


def test_an_idempotency_key_shows_no_job_of_another_anonymous_caller(opened: Any) -> None:
    with opened(TREESCORE_ANONYMOUS_JOBS="true") as stage:
        first = anonymous(stage, "10.0.0.1", Idempotency_Key="1")
        again = anonymous(stage, "10.0.0.1", Idempotency_Key="1")
        assert again.headers["Idempotent-Replayed"] == "true"
        assert again.json["id"] == first.json["id"]
        assert "key" not in again.json
        elsewhere = anonymous(stage, "10.0.0.2", Idempotency_Key="1")
        assert elsewhere.json["id"] != first.json["id"]
        other = {**JOB, "gold": JOB["gold"] * 2}
        options: dict[str, Any] = {"headers": {"Idempotency-Key": "1"}}
        answer = ask(stage, "/v1/jobs", "POST", json=other, environ_overrides={"REMOTE_ADDR": "10.0.0.1"}, **options)
        assert answer.is_json
        assert answer.json["id"] != first.json["id"]


FORWARDED = {
    "Forwarded": "for=1.2.3.4", "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "localhost", "Via": "1.1 proxy",
    "X-Forwarded-Proto": "https", "X-Real-IP": "127.0.0.1", "x-forwarded-prefix": "/",
}  # fmt: skip


@pytest.mark.parametrize("name", FORWARDED)
def test_what_a_proxy_forwards_is_not_anonymous_modes(stage: Stage, name: str) -> None:
    address = anonymous(stage).headers["Location"]
    for path, method in (("/v1/jobs", "POST"), (address, "GET"), (address, "DELETE")):
        answer = ask(stage, path, method, json=JOB, headers={name: FORWARDED[name]})
        assert answer.status_code == 401, (path, method)
    assert ask(stage, address, headers={**BEARER, name: FORWARDED[name]}).status_code == 200


def test_a_host_that_is_not_loopback_is_not_anonymous_modes(opened: Any) -> None:
    with opened(TREESCORE_PUBLIC_URL="https://tree.example") as stage:
        assert anonymous(stage, Host="tree.example").status_code == 401
        assert anonymous(stage, Host="localhost:8000").status_code == 201
        assert anonymous(stage, "192.168.0.7").status_code == 401
        assert anonymous(stage, "127.0.0.9").status_code == 201
    with opened(TREESCORE_BIND="0.0.0.0:8000") as stage:
        assert anonymous(stage).status_code == 401


def test_an_operator_may_open_jobs_to_everybody(opened: Any) -> None:
    open_to_all = {"TREESCORE_PUBLIC_URL": "https://tree.example", "TREESCORE_ANONYMOUS_JOBS": "true"}
    with opened(**open_to_all, TREESCORE_BIND="0.0.0.0:8000") as stage:
        assert anonymous(stage, "192.168.0.7", Host="tree.example", X_Forwarded_For="1.2.3.4").status_code == 201


def logged(stage: Stage, path: str = "/v1/scorers", **options: Any) -> dict[str, Any]:
    """The log's line of a request."""
    with log_lines() as lines:
        ask(stage, path, **options)
    [line] = [line for line in lines if line["event"] == "request"]
    return dict(line)


CLIENTS = {
    0: {"9.9.9.9": "10.0.0.1"},
    1: {
        "9.9.9.9": "9.9.9.9", "6.6.6.6, 9.9.9.9": "9.9.9.9", "unknown": "10.0.0.1", 'x"\x1b[31m': "10.0.0.1",
        "::ffff:9.9.9.9": "9.9.9.9", "fe80::1%\x1b[31m": "fe80::1", "2001:DB8::0:1": "2001:db8::1",
    },
    2: {"6.6.6.6, 9.9.9.9, 8.8.8.8": "9.9.9.9", "9.9.9.9": "10.0.0.1"},
}  # fmt: skip


@pytest.mark.parametrize("hops", CLIENTS)
def test_an_address_is_what_the_trusted_proxies_say(opened: Any, hops: int) -> None:
    with opened(TREESCORE_TRUSTED_PROXIES=str(hops)) as stage:
        for forwarded, client in CLIENTS[hops].items():
            direct = {"REMOTE_ADDR": "10.0.0.1"}
            line = logged(stage, headers={"X-Forwarded-For": forwarded}, environ_overrides=direct)
            assert line["client"] == client, forwarded


def test_forwarded_headers_move_neither_host_nor_path(opened: Any) -> None:
    with opened(TREESCORE_TRUSTED_PROXIES="1") as stage:
        forged = {"X-Forwarded-Host": "localhost", "X-Forwarded-Prefix": "/v1", "X-Script-Name": "/v1"}
        assert ask(stage, headers={"Host": "evil.example", **forged}).status_code == 421
        assert ask(stage, "/scorers", headers=forged).status_code == 404


def test_failed_authentications_are_slowed_and_a_valid_token_never_is(opened: Any) -> None:
    with opened() as stage:

        def attempt(address: str, token: str = "ts_wrong") -> TestResponse:  # noqa: S107 - none
            headers = {"Authorization": f"Bearer {token}"}
            return ask(stage, "/v1/jobs", headers=headers, environ_overrides={"REMOTE_ADDR": address})

        statuses = [attempt("10.0.0.1").status_code for _ in range(22)]
        assert statuses == [401] * 20 + [429] * 2
        late = attempt("10.0.0.1")
        assert 0 < int(late.headers["Retry-After"]) <= 60
        assert late.json["type"] == "/problems/too-many-failures"
        assert attempt("10.0.0.1", ADMIN).status_code == 200
        assert attempt("10.0.0.2").status_code == 401
        assert [attempt(f"2001:db8:0:1::{number:x}").status_code for number in range(21)][-2:] == [401, 429]
        assert attempt("2001:db8:0:2::1").status_code == 401
        assert ask(stage, "/v1/scorers", environ_overrides={"REMOTE_ADDR": "10.0.0.1"}).status_code == 200
        assert {ask(stage, "/v1/jobs").status_code for _ in range(25)} == {401}  # no token is no failed attempt


def test_failures_are_counted_without_redis_too(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise RedisError("MISCONF")

    with opened() as stage:
        monkeypatch.setattr(stage.queue.redis, "pipeline", away)
        headers = {"Authorization": "Bearer ts_wrong"}
        assert [ask(stage, "/v1/jobs", headers=headers).status_code for _ in range(21)][-2:] == [401, 429]


def test_the_log_tells_who_and_never_a_secret(stage: Stage) -> None:
    text = stage.token("score")
    address = stage.client(text).post("/v1/jobs", json=JOB).headers["Location"]
    line = logged(stage, f"{address}?secret=1", headers={"Authorization": f"Bearer {text}", "Job-Key": "secret"})
    token, *_ = [item["id"] for item in stage.client().get("/v1/tokens").json["items"]]
    assert (line["client"], line["token"], line["route"]) == ("127.0.0.1", token, "/v1/jobs/<job_id>")
    assert line["bytes"] > 10
    assert not re.search(f"secret|{text}|{address}", str(line))
    assert logged(stage, "/ts_a-token-in-the-wrong-place")["route"] is None


@pytest.mark.parametrize(
    ("headers", "kept"),
    [
        ({"X-Request-Id": "abc-1"}, "abc-1"),
        ({"Request-Id": "r-1", "X-Request-Id": "x-1"}, "r-1"),
        ({"Request-Id": "two words", "X-Request-Id": "x-1"}, "x-1"),
        ({"X-Request-Id": "x" * 129}, None),
        ({"X-Request-Id": 'x"}\x1b[31m'}, None),
    ],
)
def test_a_proper_request_id_is_kept_and_a_forged_line_is_not(
    stage: Stage, headers: dict[str, str], kept: str | None
) -> None:
    answer = ask(stage, headers=headers)
    given = answer.headers["Request-Id"]
    assert given == kept or (kept is None and re.fullmatch(r"req_[0-9a-f]{24}", given))
