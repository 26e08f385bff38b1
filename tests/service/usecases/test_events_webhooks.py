"""Webhooks: signed, repeated, given up, never sent to private addresses, telling no more than their reader may see."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, wait
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import orjson
import pytest

from service import outbound
from service.contract.access import EventsQuery, TokenRequest, WebhookRequest
from service.contract.common import PageQuery
from service.errors import Conflict, NotFound, Unprocessable
from service.monitoring import DELIVERIES
from service.outbound import BadAddress, NoAnswer, check_url, post, public
from service.store import events as store
from service.usecases import events
from service.usecases.access import authenticate
from service.usecases.benchmarks import teams
from service.usecases.events import (
    DELIVERIES_IN_A_ROW,
    DELIVERY_ATTEMPTS,
    DELIVERY_LEASE,
    DELIVERY_PAUSES,
    create_webhook,
    delete_webhook,
    list_events,
    list_webhooks,
    record_event,
    signature,
)
from service.usecases.tokens import create_token, revoke_token
from tests.fixtures.contexts import ORGANISER, deliver_due, later, with_config
from tests.fixtures.processes import log_lines
from tests.fixtures.tasks import OTHER_WORDS, SLUG, once
from workers.entry import do

URL = "https://example.org/hook"


class Receiver:
    """Stands for the world: takes what is sent, answers as told."""

    def __init__(self, status: int | None = 200) -> None:
        self.status = status
        self.got: list[tuple[str, bytes, dict[str, str]]] = []

    def __call__(self, url, body, headers):
        self.got.append((url, body, dict(headers)))
        if self.status is None:
            raise NoAnswer
        return self.status

    @property
    def types(self):
        return [orjson.loads(body)["type"] for _, body, _ in self.got]


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


def hook(context, caller=ORGANISER, **more):
    return create_webhook(context, caller, WebhookRequest(url=URL, **more))


@once
def organiser(task):
    """An organiser with a token in the store, and a benchmark."""
    task.make()
    made = create_token(task.context, ORGANISER, TokenRequest(scopes=["organise"]))
    return authenticate(task.context, made["token"])


def deliver_all(context, send):
    while deliver_due(context, send):
        pass


def shown(context, caller):
    return list_webhooks(context, caller, PageQuery(limit=10)).items


def test_the_token_of_a_team_watches_its_own_benchmark_and_no_other(context, task):
    task.make()
    lyon = task.team("lyon")
    assert hook(context, lyon)["benchmark"] == hook(context, lyon, benchmark=SLUG)["benchmark"] == SLUG
    with pytest.raises(Unprocessable) as refused:
        hook(context, lyon, benchmark="another")
    assert [each.pointer for each in refused.value.problems] == ["/benchmark"]


def test_an_event_is_sent_signed_and_thin(context, organiser, task, receiver):
    made = hook(context, organiser, kinds=["submission.scored"])
    assert made["secret"].startswith("whsec_")
    assert "secret" not in shown(context, organiser)[0]
    submission = task.scored(task.team())
    assert deliver_due(context, receiver) == 1
    url, body, headers = receiver.got[0]
    assert url == URL
    document = orjson.loads(body)
    event = list_events(context, ORGANISER, EventsQuery(limit=100)).items[-1]
    assert document == {
        "type": "submission.scored",
        "timestamp": event["at"],
        "data": {"event": event["id"], "benchmark": SLUG, "team": "lyon", "subject": submission},
    }
    assert headers["webhook-id"] == event["id"]
    key = base64.b64decode(made["secret"].removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == expected
    assert deliver_due(later(context, days=10), receiver) == 0


def test_each_attempt_is_counted_and_has_a_line_with_the_id_of_what_it_is_about(context, organiser, task):
    hook(context, organiser, kinds=["submission.scored"])
    submission = task.scored(task.team())
    context.meters.take()
    with log_lines() as logs:
        deliver_due(context, Receiver(503))
        deliver_due(later(context, seconds=6), Receiver(204))
    told = [(line["run"], line["outcome"], line["status"]) for line in logs if line["event"] == "delivery"]
    assert told == [(submission, "failed", 503), (submission, "delivered", 204)]
    counted = {field for field in context.meters.take() if field.startswith(DELIVERIES.name)}
    assert {outcome for _, outcome, _ in (field.split("\x1f") for field in counted)} == {"failed", "delivered"}


def test_the_signature_is_that_of_the_standards_own_example():
    secret = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    found = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_what_fails_is_sent_again_under_the_same_name_after_growing_pauses(context, organiser, task):
    hook(context, organiser, kinds=["submission.scored"])
    task.scored(task.team())
    receiver = Receiver(500)
    at = timedelta(0)
    for pause in DELIVERY_PAUSES:
        now = later(context, seconds=at.total_seconds())
        assert deliver_due(now, receiver) == 1
        assert deliver_due(later(context, seconds=(at + pause).total_seconds() - 2), receiver) == 0
        at += pause + timedelta(seconds=2)
    assert len({headers["webhook-id"] for _, _, headers in receiver.got}) == 1
    assert len({headers["webhook-timestamp"] for _, _, headers in receiver.got}) == len(DELIVERY_PAUSES)


def test_gone_disables_at_once(context, organiser, task):
    hook(context, organiser, kinds=["submission.created"])
    task.submit(task.team())
    deliver_due(context, Receiver(410))
    assert shown(context, organiser)[0]["disabled_at"] is not None


def test_a_dead_one_is_disabled_with_an_event(context, organiser, task):
    made = hook(context, organiser, kinds=["submission.scored"])
    task.scored(task.team())
    receiver = Receiver(None)
    for attempt in range(DELIVERY_ATTEMPTS):
        assert shown(context, organiser)[0]["disabled_at"] is None
        deliver_due(later(context, days=2 * attempt), receiver)
    assert len(receiver.got) == DELIVERY_ATTEMPTS
    assert shown(context, organiser)[0]["disabled_at"] is not None
    event = list_events(context, ORGANISER, EventsQuery(limit=100)).items[-1]
    assert (event["type"], event["subject"]) == ("webhook.disabled", made["id"])
    task.scored(task.team("oslo"))
    assert deliver_due(later(context, days=60), receiver) == 0


def test_one_that_is_never_taken_does_not_disable_what_takes_others(context, organiser, task):
    hook(context, organiser, kinds=["submission.scored", "submission.created"])
    lyon = task.team()
    task.scored(lyon)

    def picky(_url, body, _headers):
        return 500 if orjson.loads(body)["type"] == "submission.created" else 200

    for attempt in range(DELIVERY_ATTEMPTS + 1):
        deliver_due(later(context, days=2 * attempt), picky)
        do(context, task.submit(lyon))
    assert shown(context, organiser)[0]["disabled_at"] is None


def test_a_sender_that_dies_leaves_it_to_the_next(context, organiser, task, receiver):
    hook(context, organiser, kinds=["submission.created"])
    task.submit(task.team())

    def killed(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        deliver_due(context, killed)
    assert deliver_due(context, receiver) == 0
    assert deliver_due(later(context, seconds=DELIVERY_LEASE.total_seconds() + 1), receiver) == 1


def test_two_senders_share_the_work(context, organiser, task, receiver):
    hook(context, organiser, kinds=["submission.created"])
    task.submit(task.team())

    def meanwhile(url, body, headers):
        assert deliver_due(context, receiver) == 0
        return receiver(url, body, headers)

    assert deliver_due(context, meanwhile) == 1
    assert len(receiver.got) == 1


def test_a_failure_puts_off_the_others_of_that_webhook_unsent(context, organiser, task):
    hook(context, organiser, kinds=["submission.created"])
    lyon = task.team()
    for _ in range(DELIVERIES_IN_A_ROW):
        task.submit(lyon)
    receiver = Receiver(500)
    assert deliver_due(context, receiver) == 1
    receiver.status = 200
    assert deliver_due(later(context, seconds=10), receiver) == DELIVERIES_IN_A_ROW


def test_webhooks_that_do_not_answer_hold_up_no_other(context, organiser, task, monkeypatch):
    monkeypatch.setattr(events, "LOOKED_AT", 6)  # fewer than are due to them
    lyon, oslo = task.team(), task.team("oslo")
    for number in range(5):
        create_webhook(context, lyon, WebhookRequest(url=f"{URL}/{number}", kinds=["submission.created"]))
    for _ in range(3):
        task.submit(lyon)
    create_webhook(context, oslo, WebhookRequest(url=URL, kinds=["submission.created"]))
    task.submit(oslo)
    answered, receiver = threading.Event(), Receiver()

    def send(url, body, headers):
        if url != URL:
            assert answered.wait(60)
            receiver.got.append((url, body, headers))
            return 500
        return receiver(url, body, headers)

    postman = events.Postman(context, send)
    turns = postman.begin_turns()
    assert len(turns) == context.config.max_deliveries // events.SHARE_EACH + 1
    [done] = wait(turns, return_when=FIRST_COMPLETED).done
    assert (done.result(), [url for url, _, _ in receiver.got]) == (1, [URL])
    assert postman.begin_turns() == []
    answered.set()
    assert [turn.result() for turn in turns] == [1, 1, 1]  # each rests after it has failed
    assert [turn.result() for turn in postman.begin_turns()] == [1, 1]
    assert len({url for url, _, _ in receiver.got}) == 5


def test_a_team_gets_its_own_and_public_events_only(context, organiser, task, receiver):
    lyon, oslo = task.team(), task.team("oslo")
    hook(context, oslo)
    task.scored(lyon)
    task.scored(oslo)
    deliver_all(context, receiver)
    told = [orjson.loads(body)["data"] for _, body, _ in receiver.got]
    assert {event["team"] for event in told} <= {None, "oslo"}
    assert "submission.scored" in receiver.types


def test_nothing_is_told_above_the_level(context, organiser, task, receiver):
    task.patch(feedback="none")
    lyon = task.team()
    hook(context, lyon)
    task.scored(lyon)
    task.scored(lyon, OTHER_WORDS)
    deliver_all(context, receiver)
    assert receiver.types.count("submission.created") == 2
    assert not {"submission.scored", "submission.failed"}.intersection(receiver.types)


def test_a_teams_webhook_outlives_its_token_and_ends_with_the_team(context, organiser, task, receiver):
    lyon = task.team()
    hook(context, lyon, kinds=["submission.created"])
    teams.rotate_token(context, ORGANISER, SLUG, "lyon")
    task.submit(lyon)
    assert deliver_due(context, receiver) == 1
    task.submit(lyon)
    teams.erase_team(context, ORGANISER, SLUG, "lyon")
    assert deliver_due(context, receiver) == 0
    assert len(receiver.got) == 1


def test_an_organisers_webhook_ends_with_its_token(context, organiser, task, receiver):
    hook(context, organiser, kinds=["submission.created"])
    revoke_token(context, ORGANISER, organiser.token_id)
    task.submit(task.team())
    assert deliver_due(context, receiver) == 0
    assert shown(context, ORGANISER)[0]["disabled_at"] is not None


def test_others_webhooks_are_not_there(context, organiser, task, receiver):
    lyon, oslo = task.team(), task.team("oslo")
    made = hook(context, lyon)
    assert shown(context, oslo) == []
    with pytest.raises(NotFound):
        delete_webhook(context, oslo, made["id"])
    task.submit(lyon)
    delete_webhook(context, lyon, made["id"])
    assert shown(context, lyon) == []
    assert deliver_due(context, receiver) == 0  # though something was on its way


def test_there_is_a_bound_on_their_number(context, organiser, monkeypatch):
    monkeypatch.setattr("service.usecases.events.MOST_WEBHOOKS", 1)
    hook(context, organiser)
    with pytest.raises(Conflict):
        hook(context, organiser)


PRIVATE = [
    "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0", "localhost:8000", "a.localhost", "10.1.2.3", "192.168.0.1",
    "172.16.0.1", "169.254.169.254", "[::1]", "[fe80::1]", "[fd00::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]",
    "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "100.64.0.1", "224.0.0.1", "0.0.0.0", "255.255.255.255",  # noqa: S104
    "192.0.0.192", "[fec0::1]", "metadata.google.internal", "printer.local", "redis:6379",
]  # fmt: skip
NO_URLS = [
    "ftp://example.org/", "https:///path", "https://user@example.org/", "https://example.org/#a",
    "https://exa mple.org/", "https://example.org:0/", "https://example.org:99999/", "https://[::1/", "not a url", "",
    "https://bücher.example/", "https://[v1.x]/", "https://[fe80::1%25eth0]/",
    "https://example.org/" + "a" * 1000, "https://example.org/\r\nX: y",
]  # fmt: skip


@pytest.mark.parametrize("url", [*(f"http://{host}/" for host in PRIVATE), *NO_URLS])
def test_private_addresses_and_what_is_no_url_are_refused(context, url):
    with pytest.raises(Unprocessable) as caught:
        create_webhook(context, ORGANISER, WebhookRequest(url=url))
    assert [(problem.code, problem.pointer) for problem in caught.value.problems] == [("bad-webhook-url", "/url")]


def test_private_ones_are_taken_where_the_configuration_says_so(context):
    free = with_config(context, webhooks_private=True)
    assert create_webhook(free, ORGANISER, WebhookRequest(url="http://127.0.0.1:9/"))["url"] == "http://127.0.0.1:9/"


def test_the_parts_of_a_good_url_are_read():
    assert check_url("https://example.org:8443/a?b", private=False).port == 8443


SPECIAL = """
0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.255 169.254.0.0
169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.8 192.0.0.9 192.0.0.170 192.0.0.192 192.0.0.255 192.0.2.1
192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.0 192.168.255.255 192.175.48.1 198.18.0.0 198.19.255.255 198.51.100.1
203.0.113.1 224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.255
:: ::1 ::8.8.8.8 ::ffff:10.0.0.1 ::ffff:192.0.0.192 ::ffff:0:8.8.8.8 64:ff9b::10.0.0.1 64:ff9b::192.0.0.192
64:ff9b:1::8.8.8.8 64:ff9b:1:ffff::1 100::1 100:0:0:1::1 2001::1 2001:0:808:808::1 2001:1::1 2001:2::1 2001:3::1
2001:4:112::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff:ffff::1 2001:db8::1 2001:db8:ffff::1 2002:7f00:1::
2002:808:808::1 2620:4f:8000::1 3ffe::1 3fff::1 3fff:fff::1 4000::1 5f00::1 8000::1 fc00::1 fdff::1 fe00::1 fe80::1
fe80::1%eth0 febf::1 fec0::1 feff::1 ff02::1
"""
PUBLIC = """
1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 172.15.255.255
172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
93.184.216.34 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2000::1 2001:200::1 2001:db7::1 2001:db9::1 2003::1
2606:2800:220:1:248:1893:25c8:1946 2620:4f:8001::1 3ffd::1 3fff:1000::1
"""


def test_addresses_of_special_ranges_are_not_public():
    assert [address for address in SPECIAL.split() if public(address)] == []
    assert [address for address in PUBLIC.split() if not public(address)] == []


def names(monkeypatch, *addresses):
    """A name server that says in turn what a name leads to."""
    asked = []

    def lookup(host, port, *_, **more):
        if more.get("flags") == socket.AI_NUMERICHOST:
            raise socket.gaierror
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (addresses[min(len(asked), len(addresses)) - 1], port))]

    monkeypatch.setattr(outbound.socket, "getaddrinfo", lookup)
    return asked


def test_a_name_that_leads_to_a_private_address_is_not_sent_to(monkeypatch):
    names(monkeypatch, "127.0.0.1")
    with pytest.raises(BadAddress):
        post("http://example.org/", b"", {}, private=False)


def test_what_was_checked_is_what_is_connected_to(monkeypatch):
    asked = names(monkeypatch, "93.184.216.34", "127.0.0.1")
    reached = []

    def connect(address, _timeout):
        reached.append(address)
        raise OSError

    monkeypatch.setattr(outbound.socket, "create_connection", connect)
    with pytest.raises(NoAnswer):
        post("http://example.org/", b"", {}, private=False)
    assert (asked, reached) == (["example.org"], [("93.184.216.34", 80)])


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self.server.got.append((self.path, self.rfile.read(length), dict(self.headers)))
        self.server.answer(self)

    def log_message(self, *_):
        pass


def _answer(status, **headers):
    def answer(handler):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()

    return answer


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    made = HTTPServer(("127.0.0.1", 0), _Handler)
    made.got, made.answer = [], _answer(204)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def url_of(server, path="/hook?a=b"):
    return f"http://127.0.0.1:{server.server_port}{path}"


def test_a_real_server_gets_the_body_and_its_redirects_are_not_followed(server):
    assert post(url_of(server), b"{}", {"X-Test": "1"}, private=True) == 204
    path, body, headers = server.got[0]
    assert (path, body, headers["X-Test"], headers["Host"]) == (
        "/hook?a=b", b"{}", "1", f"127.0.0.1:{server.server_port}",
    )  # fmt: skip
    server.answer = _answer(302, Location=url_of(server, "/elsewhere"))
    assert post(url_of(server), b"{}", {}, private=True) == 302
    assert [path for path, _, _ in server.got] == ["/hook?a=b"] * 2


def test_a_server_that_drips_is_left_in_time():
    listener = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def drip():
        connection, _ = listener.accept()
        while not stop.wait(0.05):
            try:
                connection.sendall(b"H")
            except OSError:
                break
        connection.close()

    thread = threading.Thread(target=drip)
    thread.start()
    with pytest.raises(NoAnswer):
        post(f"http://127.0.0.1:{listener.getsockname()[1]}/", b"", {}, private=True, timeout=0.4)
    stop.set()
    thread.join()
    listener.close()


def test_a_server_that_speaks_no_http_or_no_tls_is_no_answer():
    listener = socket.create_server(("127.0.0.1", 0))

    def babble():
        for _ in range(2):
            connection, _ = listener.accept()
            connection.sendall(b"what?\r\n\r\n")
            connection.close()

    thread = threading.Thread(target=babble)
    thread.start()
    port = listener.getsockname()[1]
    for scheme in ("http", "https"):
        with pytest.raises(NoAnswer):
            post(f"{scheme}://127.0.0.1:{port}/", b"", {}, private=True, timeout=5)
    thread.join()
    listener.close()
    with pytest.raises(NoAnswer):
        post(f"http://127.0.0.1:{port}/", b"", {}, private=True)


def test_delivery_works_on_either_database(either_context, receiver):
    made = create_token(either_context, ORGANISER, TokenRequest(scopes=["organise"]))
    organiser = authenticate(either_context, made["token"])
    hook(either_context, organiser, kinds=["token.created"])
    with either_context.store.write() as db:
        record_event(db, either_context, "token.created", None, subject="tok_new")
    assert deliver_due(either_context, receiver) == 1
    with either_context.store.read() as db:
        assert store.due_deliveries(db, either_context.now() + timedelta(days=1), 10, 10) == []
