"""Servers that are down, slow, break off or are something else: what happened, where, what to do, and nothing twice."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.fixtures.service_process import free_port
from tests.treescore.client.loopback import CLOSE, FAST, RESET, awaited, head, raw_server
from tests.treescore.stand_in import stand_in
from treescore import Client, RequestError, UnavailableError
from treescore.client import Backoff, answers, errors

JOB = b'{"id": "job_1", "state": "queued"}'
DONE = b'{"id": "job_1", "state": "succeeded"}'
CREATED = head(202, JOB)
TEXT = "1\ta\n"


def submit(client):
    return client.jobs.submit(TEXT, {"A": TEXT}, "ud", format="conllu")


def ask_team(client):
    return client.benchmark("x").add_team("lyon", "Lyon")


def called(call, *scripts, **options):
    """What a call gives against scripted bytes, and what each connection sent."""
    with raw_server(*scripts) as (url, received), Client(url, backoff=FAST, **options) as client:
        return call(client), received


def keys(received):
    """The idempotency keys that connections sent."""
    return [
        line.partition(b": ")[2]
        for request in received
        for line in request.split(b"\r\n")
        if line.lower().startswith(b"idempotency-key:")
    ]


@pytest.mark.parametrize("broken", [[CLOSE], [RESET], [CREATED[:40], RESET], [CREATED[:-5], CLOSE]])
def test_a_job_whose_answer_is_lost_is_sent_again_under_the_same_key(broken):
    job, received = called(submit, broken, [CREATED])
    assert job.id == "job_1"
    sent = keys(received)
    assert len(sent) == 2
    assert sent[0] == sent[1]


def test_two_jobs_have_two_keys_and_a_key_of_the_caller_is_kept():
    def twice(client):
        submit(client)
        client.jobs.submit(TEXT, {"A": TEXT}, "ud", format="conllu", key="mine")
        submit(client)

    _, received = called(twice, [CREATED])
    first, mine, last = keys(received)
    assert mine == b"mine"
    assert first != last


@pytest.mark.parametrize("broken", [[CLOSE], [RESET], [CREATED[:30], RESET], [CREATED[:-5], CLOSE]])
def test_what_has_no_key_is_not_sent_twice(broken):
    with (
        raw_server(broken) as (url, received),
        Client(url, backoff=FAST) as client,
        pytest.raises(errors.NoAnswer, match="may have been carried out"),
    ):
        ask_team(client)
    assert len(received) == 1


@pytest.mark.parametrize("status", [502, 503, 504])
def test_what_has_no_key_is_not_sent_again_to_a_busy_service(status):
    with (
        stand_in({("POST", "/v1/tokens"): [(status, {"Retry-After": "0"}, {"title": "Busy"})]}) as (url, seen),
        Client(url, backoff=FAST) as client,
        pytest.raises(UnavailableError),
    ):
        client.tokens.create(["read"])
    assert len(seen) == 1


def test_what_was_surely_not_received_is_sent_again_and_the_error_says_where():
    url = f"http://127.0.0.1:{free_port()}"
    with Client(url, backoff=FAST) as client, pytest.raises(errors.NoAnswer) as error:
        ask_team(client)
    assert url in str(error.value)
    assert "may have been" not in str(error.value)


def test_a_deletion_whose_answer_was_lost_has_happened():
    gone = head(410, b'{"type": "/problems/gone", "title": "Gone", "status": 410}')
    assert called(lambda client: client.job("job_1").delete(), [CLOSE], [gone])[0] is None
    with pytest.raises(errors.Gone):
        called(lambda client: client.job("job_1").delete(), [gone])


def test_a_server_that_drips_is_given_up_when_the_time_is_over():
    drip = [head(200, b"", Content_Length="1000"), *[b" "] * 3]
    ticks = iter(range(1000))
    with pytest.raises(errors.TimedOut, match="did not answer within 3 s"):
        called(lambda client: client.job("job_1").get(), drip, seconds=3, clock=lambda: next(ticks))


def test_a_server_that_never_answers_is_given_up():
    silent = [1]  # reads a byte and then nothing: it holds the connection until the client leaves
    with pytest.raises(UnavailableError):
        called(lambda client: client.job("job_1").get(), [*silent, CLOSE], call_seconds=0.4)


PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head></html>"


@pytest.mark.parametrize("status", [200, 403, 404, 502])
def test_a_page_is_named(status):
    with pytest.raises(errors.ClientError, match="Sign in") as error:
        called(lambda client: client.job("job_1").get(), [head(status, PAGE, Content_Type="text/html")])
    assert error.value.status == status
    assert "Check the URL" in str(error.value)


def test_a_redirect_is_not_followed_and_the_token_stays_here():
    away = head(302, b"", Location="http://127.0.0.1:9/login")
    with pytest.raises(errors.WrongAddress, match=r"points to http://127.0.0.1:9/login"):
        called(lambda client: client.job("job_1").get(), [away], token="ts_secret")  # noqa: S106


@pytest.mark.parametrize("state", [{}, {"state": 3}])
def test_a_state_that_is_missing_names_the_version_of_the_service(state):
    contract = {"openapi": "3.1.0", "info": {"version": "0.9.7"}, "paths": {}}
    script = {("GET", "/v1/jobs/job_1"): [(200, {}, {"id": "job_1", **state})],
              ("GET", "/openapi.json"): [(200, {}, contract)]}  # fmt: skip
    with (
        stand_in(script) as (url, _),
        Client(url, backoff=FAST) as client,
        pytest.raises(errors.WrongAnswer, match=r"service 0\.9\.7 speaks another version"),
    ):
        client.job("job_1").wait()


def test_members_and_states_of_a_newer_service_do_no_harm():
    newer = json.dumps({"id": "job_1", "state": "superseded", "new": {"member": [1]}}).encode()
    job, _ = called(lambda client: client.job("job_1").wait(), [head(200, newer)])
    assert job.state == "superseded"
    assert job.new.member == (1,)


def test_a_member_of_a_newer_contract_is_missed_with_its_name():
    job, _ = called(lambda client: client.job("job_1").get(), [head(200, DONE)])
    with pytest.raises(errors.MissingMember, match="no member 'results'"):
        _ = job.results
    assert not hasattr(job, "results")


def test_a_bomb_is_stopped_at_the_bound(monkeypatch):
    monkeypatch.setattr(answers, "MOST", 4 << 20)
    bomb = gzip.compress(b" " * (40 << 20))
    tracemalloc.start()
    with pytest.raises(errors.WrongAnswer, match="more than 4194304 bytes"):
        called(lambda client: client.job("job_1").get(), [head(200, bomb, Content_Encoding="gzip")])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 << 20


@pytest.mark.parametrize(
    ("body", "coding"),
    [
        (gzip.compress(DONE, mtime=0)[:-4], "gzip"),
        (b"not gzip", "gzip"),
        (DONE, "br"),
        (gzip.compress(DONE, mtime=0) + b"more", "gzip"),
    ],
)
def test_a_damaged_or_unasked_coding_is_told(body, coding):
    with pytest.raises(errors.WrongAnswer, match=r"unpacked|not asked for"):
        called(lambda client: client.job("job_1").get(), [head(200, body, Content_Encoding=coding)])


def test_a_packed_answer_is_read_also_in_several_members():
    packed = gzip.compress(DONE[:10]) + gzip.compress(DONE[10:])
    job, _ = called(lambda client: client.job("job_1").get(), [head(200, packed, Content_Encoding="gzip")])
    assert job == json.loads(DONE)


def test_a_token_that_ends_in_the_middle_of_an_upload(tmp_path):
    path = tmp_path / "big.conllu"
    path.write_bytes(b"x" * (2 << 20))
    body = b'{"type": "/problems/unauthorized", "title": "A valid token is required", "detail": "It has expired."}'
    early = [50_000, head(401, body, Connection="close"), CLOSE]
    with raw_server(early) as (url, _), Client(url, "ts_old", backoff=FAST) as client:
        with pytest.raises(errors.ClientError) as error:
            client.benchmark("x").submit({"en": path})
        # where the reset of the connection overtakes the answer, there is none to read
        assert isinstance(error.value, (errors.Unauthorized, errors.NoAnswer))
    with raw_server([head(401, body, Connection="close"), CLOSE]) as (url, received):
        with Client(url, "ts_old", backoff=FAST) as client, pytest.raises(errors.Unauthorized) as error:
            client.benchmark("x").submit({"en": path})
        assert error.value.lines == (
            "It has expired.",
            "Nothing of the upload was stored: send it again with a valid token.",
        )
        assert len(received) == 1


def test_a_token_that_ends_while_waiting_leaves_the_submission():
    refused = (401, {}, {"type": "/problems/unauthorized", "title": "A valid token is required"})
    script = {("POST", "/v1/benchmarks/x/submissions"): [(202, {}, {"id": "sub_1", "state": "queued"})],
              ("GET", "/v1/submissions/sub_1"): [refused]}  # fmt: skip
    with stand_in(script) as (url, _), Client(url, backoff=FAST) as client:
        with pytest.raises(errors.Unauthorized) as error:
            client.benchmark("x").submit({"en": TEXT}, wait=True)
        assert error.value.lines[-1] == "sub_1 was sent before and is kept: ask for it again."


def test_a_file_that_breaks_off_leaves_what_was_there(tmp_path):
    target = tmp_path / "board.csv"
    target.write_text("old", encoding="utf-8")
    whole = head(200, b"a,b\n1,2\n", Content_Type="text/csv")
    with pytest.raises(errors.NoAnswer):
        called(lambda client: client.benchmark("x").rendered_board("csv", to=target), [whole[:-3], CLOSE])
    assert [path.name for path in tmp_path.iterdir()] == ["board.csv"]
    assert target.read_text(encoding="utf-8") == "old"
    text, _ = called(lambda client: client.benchmark("x").rendered_board("csv", to=target), [whole])
    assert (text, target.read_text(encoding="utf-8")) == ("", "a,b\n1,2\n")
    with pytest.raises(errors.UnreadableUpload, match="Name a file that can be written"):
        called(lambda client: client.benchmark("x").rendered_board("csv", to=tmp_path / "no" / "x"), [whole])


def test_a_file_that_shrinks_while_it_is_sent_is_told(tmp_path):
    path = tmp_path / "big.conllu"
    path.write_bytes(b"x" * (4 << 20))

    def shrink(progress):
        if progress.done == 65_536:
            path.write_bytes(b"")

    with pytest.raises(RequestError, match="changed while it was sent"):
        called(lambda client: client.benchmark("x").submit({"en": path}, progress=shrink), [CREATED])


@pytest.mark.parametrize("as_date", [False, True])
def test_a_busy_service_is_asked_again_when_it_says(as_date, monkeypatch):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    asked = format_datetime(now + timedelta(seconds=7), usegmt=True) if as_date else "7"
    busy = head(429, b"{}", Retry_After=asked, Date=format_datetime(now, usegmt=True), Connection="close")
    pauses = []
    monkeypatch.setattr("treescore.client.drivers.BlockingDriver.pause", lambda _, seconds: pauses.append(seconds))
    called(lambda client: client.job("job_1").get(), [busy], [head(200, DONE)])
    assert pauses == [7.0]


@pytest.mark.parametrize("asked", ["soon", "-3", "", "²", "1e9"])
def test_an_unreadable_time_is_none(asked):
    busy = head(429, b'{"title": "Busy"}').replace(b"Content-Type", f"Retry-After: {asked}\r\nContent-Type".encode())
    with pytest.raises(errors.TooManyRequests) as error:
        called(lambda client: client.job("job_1").get(), [busy])
    assert error.value.retry_after is None


def test_a_quota_that_is_refilled_too_late_says_when():
    used = {"type": "/problems/quota-exceeded", "title": "The quota is used up", "detail": "Reset at midnight."}
    answer = head(429, json.dumps(used).encode(), RateLimit_Reset="3600", RateLimit_Limit="5", RateLimit_Remaining="0")
    with pytest.raises(errors.QuotaExceeded) as error:
        called(submit, [answer])
    assert error.value.retry_after == 3600
    assert str(error.value) == "Reset at midnight."


def test_pauses_grow_and_are_bounded():
    plain = Backoff(tries=9, first=1.0, most=5.0, jitter=lambda: 0.0)
    assert [plain.pause(attempt) for attempt in range(1, 6)] == [1.0, 2.0, 4.0, 5.0, 5.0]
    assert Backoff(first=1.0, jitter=lambda: 1.0).pause(1) == 0.5
    assert Backoff().pause(10_000) <= Backoff().most


@pytest.mark.parametrize("broken", [[CLOSE], [RESET], [head(503, b"{}", Retry_After="0", Connection="close")]])
def test_an_awaited_client_does_the_same(broken):
    with raw_server(broken, [CREATED]) as (url, received):
        job = awaited(url, submit)
    assert job.id == "job_1"
    assert len(set(keys(received))) == 1
    with raw_server([CLOSE]) as (url, received), pytest.raises(errors.NoAnswer, match="may have been carried out"):
        awaited(url, ask_team)
    assert len(received) == 1
