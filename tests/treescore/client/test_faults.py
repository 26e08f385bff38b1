"""Servers that are down, slow, break off or are something else: what happened, where, what to do, and nothing twice."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from time import monotonic

import httpx
import pytest

from tests.fixtures.service_process import free_port
from tests.treescore.client.loopback import CLOSE, FAST, RESET, awaited, head, held_server, noted_pauses, raw_server
from tests.treescore.stand_in import stand_in
from treescore import Client, RequestError, UnavailableError
from treescore.client import Backoff, answers
from treescore.client.session import Session

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
        client.call("submit_job", headers={"idempotency-key": "mine"}, json={})
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
        pytest.raises(answers.NoAnswer, match="may have been carried out"),
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
    with Client(url, backoff=FAST) as client, pytest.raises(answers.NoAnswer) as error:
        ask_team(client)
    assert url in str(error.value)
    assert "may have been" not in str(error.value)


def test_a_deletion_whose_answer_was_lost_has_happened():
    gone = head(410, b'{"type": "/problems/gone", "title": "Gone", "status": 410}')
    assert called(lambda client: client.job("job_1").delete(), [CLOSE], [gone])[0] is None
    with pytest.raises(answers.Gone):
        called(lambda client: client.job("job_1").delete(), [gone])


def test_a_server_that_drips_is_given_up_when_the_time_is_over():
    drip = [head(200, b"", Content_Length="1000"), *[b" "] * 3]
    ticks = iter(range(1000))
    with pytest.raises(answers.TimedOut, match="did not answer within 3 s"):
        called(lambda client: client.job("job_1").get(), drip, seconds=3, clock=lambda: next(ticks))


def test_a_server_that_never_answers_is_given_up():
    silent = [1]  # reads a byte and then nothing: it holds the connection until the client leaves
    with pytest.raises(UnavailableError):
        called(lambda client: client.job("job_1").get(), [*silent, CLOSE], call_seconds=0.4)


PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head></html>"


@pytest.mark.parametrize("status", [200, 403, 404, 502])
def test_a_page_is_named(status):
    with pytest.raises(answers.ClientError, match="Sign in") as error:
        called(lambda client: client.job("job_1").get(), [head(status, PAGE, Content_Type="text/html")])
    assert error.value.status == status
    assert "Check the URL" in str(error.value)


def test_a_redirect_is_not_followed_and_the_token_stays_here():
    away = head(302, b"", Location="http://127.0.0.1:9/login")
    with pytest.raises(answers.WrongAddress, match=r"points to http://127.0.0.1:9/login"):
        called(lambda client: client.job("job_1").get(), [away], token="ts_secret")  # noqa: S106


@pytest.mark.parametrize("state", [{}, {"state": 3}])
def test_a_state_that_is_missing_is_another_version_of_the_service(state):
    with pytest.raises(answers.WrongAnswer, match="speaks another version"):
        called(lambda client: client.job("job_1").wait(), [head(200, json.dumps({"id": "job_1", **state}).encode())])


def test_members_and_states_of_a_newer_service_do_no_harm():
    newer = json.dumps({"id": "job_1", "state": "superseded", "new": {"member": [1]}}).encode()
    job, _ = called(lambda client: client.job("job_1").wait(), [head(200, newer)])
    assert job.state == "superseded"
    assert job.new.member == (1,)


def test_a_member_of_a_newer_contract_is_missed_with_its_name():
    job, _ = called(lambda client: client.job("job_1").get(), [head(200, DONE)])
    with pytest.raises(answers.MissingMember, match="no member 'results'"):
        _ = job.results
    assert not hasattr(job, "results")


def test_a_bomb_is_stopped_at_the_bound(monkeypatch):
    monkeypatch.setattr(answers, "MOST", 1 << 20)
    bomb = gzip.compress(b" " * (16 << 20))
    tracemalloc.start()
    with pytest.raises(answers.WrongAnswer, match="more than 1048576 bytes"):
        called(lambda client: client.job("job_1").get(), [head(200, bomb, Content_Encoding="gzip")])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


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
    with pytest.raises(answers.WrongAnswer, match=r"unpacked|not asked for"):
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
        with pytest.raises(answers.ClientError) as error:
            client.benchmark("x").submit({"en": path})
        # where the reset of the connection overtakes the answer, there is none to read
        assert isinstance(error.value, (answers.Unauthorized, answers.NoAnswer))
    with raw_server([head(401, body, Connection="close"), CLOSE]) as (url, received):
        with Client(url, "ts_old", backoff=FAST) as client, pytest.raises(answers.Unauthorized) as error:
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
        with pytest.raises(answers.Unauthorized) as error:
            client.benchmark("x").submit({"en": TEXT}, wait=True)
        assert error.value.lines[-1] == "sub_1 was sent before and is kept: ask for it again."


def test_a_file_that_breaks_off_leaves_what_was_there(tmp_path):
    target = tmp_path / "board.csv"
    target.write_text("old", encoding="utf-8")
    whole = head(200, b"a,b\n1,2\n", Content_Type="text/csv")
    with pytest.raises(answers.NoAnswer):
        called(lambda client: client.benchmark("x").rendered_board("csv", to=target), [whole[:-3], CLOSE])
    assert [path.name for path in tmp_path.iterdir()] == ["board.csv"]
    assert target.read_text(encoding="utf-8") == "old"
    text, _ = called(lambda client: client.benchmark("x").rendered_board("csv", to=target), [whole])
    assert (text, target.read_text(encoding="utf-8")) == ("", "a,b\n1,2\n")
    with pytest.raises(answers.UnwritableTarget, match="Name a file that can be written"):
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
    pauses = noted_pauses(monkeypatch)
    called(lambda client: client.job("job_1").get(), [busy], [head(200, DONE)])
    assert pauses == [7.0]


@pytest.mark.parametrize("asked", ["soon", "-3", "", "²", "1e9"])
def test_an_unreadable_time_is_none(asked):
    busy = head(429, b'{"title": "Busy"}').replace(b"Content-Type", f"Retry-After: {asked}\r\nContent-Type".encode())
    with pytest.raises(answers.TooManyRequests) as error:
        called(lambda client: client.job("job_1").get(), [busy])
    assert error.value.retry_after is None


def test_a_quota_that_is_refilled_too_late_says_when():
    used = {"type": "/problems/quota-exceeded", "title": "The quota is used up", "detail": "Reset at midnight."}
    answer = head(429, json.dumps(used).encode(), RateLimit_Reset="3600", RateLimit_Limit="5", RateLimit_Remaining="0")
    with pytest.raises(answers.QuotaExceeded) as error:
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
    with raw_server([CLOSE]) as (url, received), pytest.raises(answers.NoAnswer, match="may have been carried out"):
        awaited(url, ask_team)
    assert len(received) == 1


TOKEN = "ts_secret"  # noqa: S105 - of no service


@pytest.mark.parametrize(
    ("call", "times"), [(lambda client: client.tokens.create([]), 1), (lambda client: client.job("job_1").delete(), 4)]
)
def test_what_may_not_be_repeated_is_sent_once(call, times):
    with raw_server([CLOSE]) as (url, received), Client(url, backoff=FAST) as client, pytest.raises(answers.NoAnswer):
        call(client)
    assert len(received) == times


@pytest.mark.parametrize("url", ["http://me:hunter2@127.0.0.1:9", "http://127.0.0.1:9/?a=1", "http://127.0.0.1:9/#a"])
def test_an_address_with_a_password_or_a_query_is_refused_and_the_password_not_shown(url):
    with pytest.raises(answers.WrongAddress) as error:
        Client(url, TOKEN)
    assert "hunter2" not in str(error.value)


def test_a_lost_answer_names_the_key_under_which_the_request_is_done_once():
    with raw_server([CLOSE]) as (url, received), Client(url, backoff=FAST) as client:
        with pytest.raises(answers.NoAnswer) as error:
            submit(client)
        assert f"sent again with the key '{keys(received)[0].decode()}', it is done once" in str(error.value)
        with pytest.raises(answers.NoAnswer) as error:
            client.jobs.submit(TEXT, {"A": TEXT}, "ud", format="conllu", key="mine")
        assert "key" not in str(error.value)


@pytest.mark.parametrize(
    "answer", [head(201, b"not gzip", Content_Encoding="gzip"), head(201, b"{", Content_Length="9")]
)
def test_an_answer_that_breaks_leaves_no_doubt_that_there_is_one(answer):
    with pytest.raises(UnavailableError, match="may have been carried out: look before you send it again"):
        called(ask_team, [answer, CLOSE])


def test_a_change_whose_answer_was_lost_may_be_why_it_is_refused():
    outdated = head(412, b'{"type": "/problems/precondition-failed", "title": "Changed", "status": 412}')

    def change(client):
        return client.benchmark("x").change({"title": "B"}, etag='"1"')

    with pytest.raises(answers.PreconditionFailed, match="earlier attempt, whose answer was lost"):
        called(change, [CLOSE], [outdated])
    with pytest.raises(answers.PreconditionFailed) as error:
        called(change, [outdated])
    assert error.value.lines == ("Changed",)


def test_work_is_named_where_the_service_fails_while_it_is_waited_for():
    with pytest.raises(answers.NoAnswer, match="job_1 was sent before and is kept"):
        called(lambda client: client.jobs.submit(TEXT, {"A": TEXT}, "ud", format="conllu", wait=True),
               [head(202, JOB, Connection="close")], [CLOSE])  # fmt: skip


@pytest.mark.parametrize("more", [{}, {"Retry_After": "0"}])
def test_a_service_that_lets_nobody_wait_is_polled_with_pauses(more, monkeypatch):
    pauses = noted_pauses(monkeypatch)
    queued = head(200, JOB, Connection="close", **more)
    called(lambda client: client.job("job_1").wait(), [queued], [queued], [head(200, DONE)])
    assert pauses == [0.001, 0.002]


def test_a_validator_that_no_request_can_carry_is_left_out():
    answer = head(200, DONE, ETag="\u00e9", Connection="close")
    _, received = called(lambda client: (client.job("job_1").get(), client.job("job_1").get()), [answer])
    assert not any(b"if-none-match" in request.lower() for request in received)


FAR = "Mon, 23 Nov 99999999999 08:00:00 GMT"


@pytest.mark.parametrize("dates", [{"Retry_After": FAR}, {"Retry_After": "Fri, 23 Nov 9000 08:00:00 GMT", "Date": FAR}])
def test_a_date_beyond_the_calendar_is_none(dates):
    with pytest.raises(answers.TooManyRequests):
        called(lambda client: client.job("job_1").get(), [head(429, b"{}", Connection="close", **dates)])


def test_a_certificate_that_is_not_trusted_is_told_and_not_asked_for_again():
    def refuse(request):
        seen.append(request)
        raise httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate")

    seen = []
    with (
        Client("https://scores.example.org", backoff=FAST, http={"transport": httpx.MockTransport(refuse)}) as client,
        pytest.raises(answers.WrongAddress, match=r"is not trusted: .*self-signed certificate"),
    ):
        client.job("job_1").get()
    assert len(seen) == 1


@pytest.mark.parametrize("place", ["mailto:x", "http://[::1", "http://h:x/"])
def test_a_redirect_to_nothing_is_told(place):
    with pytest.raises(UnavailableError, match=r"location header|invalid address"):
        called(lambda client: client.job("job_1").get(), [head(302, b"", Location=place, Connection="close")])


def test_a_304_that_was_not_asked_for_is_no_redirect():
    with pytest.raises(answers.ClientError) as error:
        called(lambda client: client.job("job_1").get(), [head(304, b"", Content_Length=None, Connection="close")])
    assert "answers 304" in str(error.value)
    assert "redirect" not in str(error.value)


def test_a_target_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    def rendered(client, to):
        return client.benchmark("x").rendered_board("csv", to=to)

    whole = head(200, b"a,b\n" * 1000, Content_Type="text/csv")
    with pytest.raises(answers.UnwritableTarget, match="directory"):
        called(lambda client: rendered(client, tmp_path), [whole])
    assert list(tmp_path.parent.glob(".*.part")) == []
    monkeypatch.setattr(answers, "MOST_OF_FILE", 100)
    with pytest.raises(answers.WrongAnswer, match="more than 100 bytes"):
        called(lambda client: rendered(client, tmp_path / "board.csv"), [whole])
    assert list(tmp_path.iterdir()) == []


def test_a_cancelled_call_closes_its_connection_and_leaves_no_file(tmp_path):
    body = head(200, b"", Content_Length="9999") + b"x" * 99

    async def cancelled(client):
        arrived = asyncio.Event()
        client._session.http.event_hooks = {"response": [lambda _: _set(arrived)]}
        task = asyncio.create_task(client.benchmark("x").rendered_board("csv", to=tmp_path / "board.csv"))
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return client._session.http._transport._pool.connections

    async def _set(arrived):
        arrived.set()

    with held_server(body) as (url, closed):
        assert awaited(url, cancelled) == []
        assert closed.wait(10)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_upload_closes_its_connection_and_is_not_sent_again(tmp_path):
    path = tmp_path / "big.conllu"
    path.write_bytes(b"x" * (1 << 20))

    def interrupt(progress):
        if progress.done > 100_000:
            raise KeyboardInterrupt

    with raw_server([CREATED]) as (url, received), Client(url, backoff=FAST) as client:
        with pytest.raises(KeyboardInterrupt):
            client.benchmark("x").submit({"en": path}, progress=interrupt)
        assert client.jobs.submit(TEXT, {"A": TEXT}, "ud", format="conllu").id == "job_1"
    assert [request.split(b" ")[1] for request in received] == [b"/v1/benchmarks/x/submissions", b"/v1/jobs"]


def test_threads_share_a_client(monkeypatch):
    monkeypatch.setattr("treescore.client.session.KNOWN_MOST", 2)
    kept = Session("http://x", None, None, 9.0, FAST, monotonic)
    answer = answers.Answer(200, {"ETag": '"1"'}, b"{}", "http://x")

    calls = [kept.call("get_job", {"job_id": f"job_{number}"}) for number in range(5)]

    def keep(number):
        for turn in range(500):
            kept.keep(calls[(number + turn) % 5], answer)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(keep, range(4)))
    assert sum(call.name in kept.known for call in calls) == 2
