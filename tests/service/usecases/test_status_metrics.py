"""Who sees which metrics: what follows a success only the monitoring."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from service.app import create_app
from service.context import Context
from service.contract.access import TokenRequest
from service.queue import BULK, LIVE, Queue
from service.store import runs
from service.usecases.status import private_metrics_text
from service.usecases.tokens import create_token
from tests.fixtures.contexts import ADMIN_TOKEN, ORGANISER, busy_worker, later
from tests.fixtures.service_process import free_port
from workers.worker import Worker

PUBLIC = {
    "treescore_info", "treescore_runs", "treescore_wait_seconds", "treescore_queue_length", "treescore_redis_up",
}  # fmt: skip


def names(text: bytes) -> set[str]:
    """The metrics of a scrape."""
    return set(re.findall(r"^# TYPE (\w+) ", text.decode(), re.MULTILINE))


def value(text: bytes, sample: str) -> float:
    """The number of one sample."""
    return float(next(line for line in text.decode().splitlines() if line.startswith(sample + " ")).split()[-1])


@pytest.fixture
def client(context: Context) -> FlaskClient:
    return create_app(context.config, context).test_client()


@pytest.fixture
def token(context: Context) -> Callable[..., dict[str, str]]:
    """The headers of a token with some scopes."""

    def made(*scopes: str) -> dict[str, str]:
        request = TokenRequest(scopes=list(scopes))
        return {"Authorization": f"Bearer {create_token(context, ORGANISER, request)['token']}"}

    return made


def test_all_but_the_public_part_needs_the_scope(client, token):
    assert names(client.get("/metrics").data) == PUBLIC
    for others in ("read", "score", "submit"):
        assert names(client.get("/metrics", headers=token(others)).data) == PUBLIC
    everything = names(client.get("/metrics", headers=token("metrics")).data)
    assert everything == PUBLIC | {
        "treescore_waiting", "treescore_running", "treescore_oldest_waiting_seconds", "treescore_workers",
        "treescore_request_seconds", "treescore_run_seconds", "treescore_view_seconds", "treescore_board_delay_seconds",
        "treescore_database_round_trips_total", "treescore_redis_round_trips_total",
        "treescore_webhook_deliveries_total",
    }  # fmt: skip
    assert names(client.get("/metrics", headers={"Authorization": f"Bearer {ADMIN_TOKEN}"}).data) == everything


def test_the_scope_opens_nothing_else(client, token):
    headers = token("metrics")
    for path in ("/v1/jobs", "/v1/tokens", "/v1/webhooks"):
        assert client.get(path, headers=headers).status_code == 403, path
    assert client.post("/v1/benchmarks", json={}, headers=headers).status_code == 403


def test_requests_are_counted_by_route_whichever_way_they_are_answered(client, context, token):
    headers = token("metrics", "score")
    job = {"format": "conllu", "gold": "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n", "metrics": ["attachment"],
           "systems": [{"name": "a", "output": "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"}]}  # fmt: skip
    made = client.post("/v1/jobs", json=job, headers=headers).json["id"]
    with context.store.read() as db:
        assert runs.get(db, made) is not None
    for way in ({}, {"Prefer": "wait=0"}):
        assert client.get(f"/v1/jobs/{made}", headers={**headers, **way}).status_code == 200
    client.get("/no/such/page")
    client.open("/v1/jobs", method="BREW")
    text = client.get("/metrics", headers=headers).data
    count = "treescore_request_seconds_count"
    assert value(text, count + '{method="GET",route="/v1/jobs/<job_id>",status="2xx"}') == 2
    assert value(text, count + '{method="POST",route="/v1/jobs",status="2xx"}') == 1
    assert value(text, count + '{method="GET",route="none",status="4xx"}') == 1
    assert b"BREW" not in text
    assert made.encode() not in text


def test_waiting_and_running_work_and_the_age_of_the_oldest(context):
    now = context.now()
    with context.store.write() as db:
        runs.add(db, "sub_1", "submission", LIVE, now - timedelta(seconds=50), "team:x")
        runs.add(db, "job_1", "job", LIVE, now - timedelta(seconds=90), "tok")
        runs.add(db, "brd_1", "board", BULK, now - timedelta(seconds=70), "b", not_before=now + timedelta(seconds=30))
        runs.claim(db, "sub_1", now)
    text = private_metrics_text(context)
    assert value(text, 'treescore_waiting{kind="job",queue="live"}') == 1
    assert value(text, 'treescore_waiting{kind="board",queue="bulk"}') == 1
    assert value(text, 'treescore_running{kind="submission",queue="live"}') == 1
    assert value(text, 'treescore_waiting{kind="submission",queue="live"}') == 0
    assert 90 <= value(text, 'treescore_oldest_waiting_seconds{queue="live"}') < 91
    assert value(text, 'treescore_oldest_waiting_seconds{queue="bulk"}') == 0
    assert value(private_metrics_text(later(context, seconds=40)), 'treescore_oldest_waiting_seconds{queue="bulk"}') > 9


def test_workers_are_counted_while_they_send_heartbeats(context):
    workers = [Worker(context, queue) for queue in (LIVE, LIVE, BULK)]
    for worker in workers:
        worker.register_birth()
    busy_worker(context, "sub_1")
    context.queue.redis.delete(workers[0].key)  # as Redis does after a while without
    text = private_metrics_text(context)
    assert value(text, 'treescore_workers{queue="live",state="busy"}') == 1
    assert value(text, 'treescore_workers{queue="live",state="idle"}') == 1
    assert value(text, 'treescore_workers{queue="bulk",state="idle"}') == 1


def test_without_redis_the_numbers_of_the_store_are_shown(context: Any):
    away = type(context)(
        context.config, context.store, Queue(f"redis://127.0.0.1:{free_port()}/0"), context.now, context.meters
    )
    shown = names(private_metrics_text(away))
    assert shown == {"treescore_waiting", "treescore_running", "treescore_oldest_waiting_seconds"}
