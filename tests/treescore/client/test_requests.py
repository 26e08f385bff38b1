"""The HTTP client: what it repeats, what it waits for, and which error says what."""

from __future__ import annotations

import ssl

import pytest

from tests.fixtures.service_process import free_port
from tests.treescore.client.loopback import FAST, noted_pauses
from tests.treescore.stand_in import stand_in
from treescore import Client, ClientError, RefusedError, RequestError, UnavailableError
from treescore.client import Progress

JOB = ("GET", "/v1/jobs/job_1")
POST = ("POST", "/v1/jobs")
NOW = {"Retry-After": "0"}


def asked(script, call, headers=None, **options):
    """What a call of a client of this server gives, and the requests that the server saw; their `headers` if asked."""
    with stand_in(script, headers) as (url, seen), Client(url, **{"backoff": FAST, **options}) as client:
        return call(client), seen


def test_the_key_of_a_job_is_kept_and_sent_to_change_it_alone():
    def change(client):
        job = client.job(client.call("submit_job", json={}).document()["id"])
        job.cancel()
        job.delete()
        job.get()
        client.job("job_9").delete()

    answers = {POST: [(201, {}, {"id": "job_1", "key": "secret"})]}
    rest = (("POST", f"{JOB[1]}/cancel"), ("DELETE", JOB[1]), JOB, ("DELETE", "/v1/jobs/job_9"))
    sent = {}
    asked({**answers, **{each: [(200, {}, {})] for each in rest}}, change, headers=sent)
    assert [sent[each].get("Job-Key") for each in (POST, *rest)] == [None, "secret", "secret", None, None]


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_service_is_asked_again(status):
    answers = [(status, NOW, {"title": "Busy"}), (status, NOW, {}), (200, {}, {"id": "job_1"})]
    document, seen = asked({JOB: answers}, lambda client: client.job("job_1").get())
    assert document == {"id": "job_1"}
    assert len(seen) == 3


def test_a_request_with_the_same_key_that_still_runs_is_asked_again():
    running = (409, NOW, {"type": "/problems/conflict", "title": "Conflict"})
    _, seen = asked({POST: [running, (201, {}, {})]}, lambda client: client.call("submit_job", json={}))
    assert seen == [POST, POST]


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, RefusedError), (403, RefusedError), (409, RefusedError), (404, RequestError), (422, RequestError),
     (500, UnavailableError)],
)  # fmt: skip
def test_an_answer_that_is_no_success_is_an_error_of_its_kind(status, kind):
    problem = {
        "title": "Wrong",
        "errors": [{"code": "bad", "detail": "It is bad.", "pointer": "/x"}],
        "errors_total": 3,
    }
    with pytest.raises(kind) as error:
        asked({JOB: [(status, {}, problem)]}, lambda client: client.job("job_1").get())
    assert isinstance(error.value, ClientError)
    assert error.value.status == status
    assert error.value.lines == ("/x: It is bad. [bad]", "... and 2 more")


def test_a_wait_that_is_not_granted_becomes_a_poll(monkeypatch):
    running = (200, {"Retry-After": "5"}, {"state": "running"})
    granted = (200, {"Retry-After": "5", "Preference-Applied": "wait=30"}, {"state": "running"})
    pauses = noted_pauses(monkeypatch)
    asked({JOB: [granted, running, (200, {}, {"state": "succeeded"})]}, lambda client: client.job("job_1").wait())
    assert pauses == [5.0]


def test_what_is_not_json_is_an_error_of_the_service():
    with pytest.raises(UnavailableError, match="JSON"):
        asked({JOB: [(200, {}, ["a list"])]}, lambda client: client.job("job_1").get())
    with pytest.raises(UnavailableError, match="does not answer"):
        Client(f"http://127.0.0.1:{free_port()}", backoff=FAST).live()


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({}, b""),
        ({}, b"\xff\0"),
        ({}, b"<html>"),
        ({}, {}),
        ({}, {"state": 7}),
        ({"Content-Encoding": "gzip"}, b"not gzip"),
    ],
)
def test_an_answer_that_no_service_gives_is_an_error_of_the_service(headers, body):
    with pytest.raises(UnavailableError):
        asked({JOB: [(200, headers, body)]}, lambda client: client.job("job_1").wait())


@pytest.mark.parametrize(
    "body", [b"<html>", [], {"errors": 5}, {"errors": ["x"], "errors_total": "many"}, {"errors": [{"code": 1}]},
             {"detail": ["x"]}, {"errors": {"a": 1}, "title": "Wrong"}]
)  # fmt: skip
@pytest.mark.parametrize(("status", "kind"), [(302, RequestError), (404, RequestError), (500, UnavailableError)])
def test_a_refusal_in_another_form_is_still_an_error_of_its_kind(status, kind, body):
    with pytest.raises(kind) as error:
        asked({JOB: [(status, {"Location": "http://127.0.0.1:9/"}, body)]}, lambda client: client.job("job_1").get())
    assert error.value.status == status
    assert str(error.value)


@pytest.mark.parametrize("token", ["a\nb", "é", "\ud800"])
def test_an_invalid_token_is_an_error_of_the_request(token):
    with pytest.raises(RequestError, match="Invalid token"):
        Client("http://127.0.0.1", token)


@pytest.mark.parametrize("url", ["http://127.0.0.1:nowhere", "127.0.0.1/x", "ftp://127.0.0.1", ""])
def test_an_invalid_url_is_an_error_of_the_request(url):
    with pytest.raises(RequestError, match="Invalid URL"):
        Client(url, seconds=5).live()


def test_waiting_polls_with_the_validator_until_the_end():
    queued = (200, {"ETag": '"1"'}, {"state": "queued", "queue": {"ahead": 3, "eta_seconds": 9}})
    running = (200, {}, {"state": "running", "progress": {"done": 1, "total": 2, "step": "scoring A"}})
    answers = [queued, (304, {}, {}), running, (200, {}, {"state": "succeeded"})]
    passed, sent = [], {}
    document, seen = asked(
        {JOB: answers}, lambda client: client.job("job_1").wait(progress=passed.append), headers=sent
    )
    assert document == {"state": "succeeded"}
    assert passed == [
        Progress("queued", ahead=3, eta_seconds=9, document=queued[2]),
        Progress("running", 1, 2, "scoring A", document=running[2]),
        Progress("succeeded", document={"state": "succeeded"}),
    ]
    assert len(seen) == 4
    assert sent[JOB]["Prefer"].startswith("wait=")


def test_waiting_ends_with_the_time_of_the_client():
    with pytest.raises(UnavailableError, match="job_1 was not finished within"):
        asked({JOB: [(200, {}, {"state": "running"})]}, lambda client: client.job("job_1").wait(), seconds=0.2)


def test_certificates_are_loaded_where_one_is_looked_at(monkeypatch):
    loaded = []

    def load(**given):
        loaded.append(given)
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    monkeypatch.setattr(ssl, "create_default_context", load)
    Client("http://127.0.0.1:9").close()
    assert loaded == []
    Client("https://127.0.0.1:9").close()
    assert len(loaded) == 1
