"""`/readyz` names the part that is ill and is never a 500; requests say so too, and go on where they can."""

from __future__ import annotations

import random
import shutil
import socket
from contextlib import contextmanager

import pytest
import redis
from sqlalchemy import event, text

from service.app import create_app
from service.queue import BULK, LIVE, Queue
from service.store.database import FULL_BELOW, LOW_BELOW
from service.usecases.views.asking import VIEWS
from tests.fixtures.contexts import ADMIN_TOKEN
from tests.fixtures.requests import DEPENDENCIES, GOLD_CONLLU
from tests.fixtures.schemas import later_program
from workers.worker import Worker

HEADERS = {"Authorization": f"Bearer {ADMIN_TOKEN}"}


@pytest.fixture
def client(context):
    return create_app(context.config, context).test_client()


def checks(client) -> tuple[int, dict[str, str]]:
    answer = client.get("/readyz")
    return answer.status_code, answer.json["checks"]


def test_a_sound_service_is_ready(client):
    status, found = checks(client)
    assert status == 200
    none = {"workers": "none", "views": "none"}
    assert found == {"store": "ok", "queue": "ok", **none, "disk": "ok", "schema": "current"}


def test_the_process_that_makes_views_is_there_or_not(client, context):
    context.queue.beat(VIEWS)
    assert checks(client)[1]["views"] == "ok"


def test_the_least_of_the_machine_code_of_all_workers_is_told(client, context):
    assert client.get("/readyz").json["workers"] == {"ready": 0, "kernels": None}
    workers = {name: Worker(context, name) for name in (LIVE, BULK)}
    for worker in workers.values():
        worker.register_birth()
    told = []
    for live, bulk in [("compiled", "interpreted"), ("partly", "compiled"), ("interpreted", "compiled")]:
        workers[LIVE].kernels, workers[BULK].kernels = (lambda state=state: state for state in (live, bulk))
        for worker in workers.values():
            worker.heartbeat()
        told.append(client.get("/readyz").json["workers"])
    assert told == [{"ready": 1, "kernels": state} for state in ("compiled", "partly", "interpreted")]
    other = Worker(context, LIVE)
    other.kernels = lambda: "compiled"
    other.register_birth()
    assert client.get("/readyz").json["workers"] == {"ready": 2, "kernels": "interpreted"}
    assert checks(client)[1]["workers"] == "ok"


@contextmanager
def refusing(server, how: str):
    """A server that answers and does not take what is written."""
    begin, end = {
        "full": (("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0")),
        "read-only": (("REPLICAOF", "127.0.0.1", "1"), ("REPLICAOF", "NO", "ONE")),
    }[how]
    server.execute_command(*begin)
    try:
        yield
    finally:
        server.execute_command(*end)


@pytest.mark.parametrize("how", ["full", "read-only"])
def test_a_queue_that_refuses_to_write_is_away_and_work_is_accepted(client, context, how):
    with refusing(context.queue.redis, how):
        status, found = checks(client)
        assert (status, found["queue"], found["workers"], found["store"]) == (200, "away", "unknown", "ok")
        assert client.get("/readyz").json["workers"] == {"ready": None, "kernels": None}
        answer = client.post("/v1/jobs", json=DEPENDENCIES, headers=HEADERS)
        assert answer.status_code == 202
        assert client.get(f"/v1/jobs/{answer.json['id']}", headers=HEADERS).json["state"] == "queued"
        assert client.get("/metrics").status_code == 200


def test_a_queue_that_denies_is_told_from_one_that_is_away(client, context):
    context.queue.redis.config_set("requirepass", "secret")
    try:
        status, found = checks(client)
    finally:
        opened = context.queue._open(password="secret")  # noqa: S106 - of the test's server
        opened.config_set("requirepass", "")
        opened.close()
    assert (status, found["queue"], found["workers"]) == (200, "denied", "unknown")


def test_a_disk_that_failed_under_the_queue_is_a_queue_that_is_away(client, monkeypatch):
    def fail(*_, **__):
        raise redis.ResponseError("MISCONF Errors writing to the AOF file: No space left on device")

    monkeypatch.setattr(redis.Redis, "execute_command", fail)
    assert checks(client)[1]["queue"] == "away"


@pytest.mark.parametrize(
    ("pragma", "kind", "title"),
    [("max_page_count=1", "store-full", "full"), ("query_only=ON", "store-read-only", "read-only")],
)
def test_a_store_that_cannot_be_written_is_503_and_reads_go_on(client, context, pragma, kind, title):
    context.store.close()
    event.listen(context.store.engine, "connect", lambda connection, _: connection.execute(f"PRAGMA {pragma}"))
    # large, and of no use to compression
    gold = f"# note = {random.Random(1).randbytes(60_000).hex()}\n{GOLD_CONLLU}"  # noqa: S311
    answer = client.post("/v1/jobs", json={**DEPENDENCIES, "gold": gold}, headers=HEADERS)
    assert (answer.status_code, answer.json["type"]) == (503, f"/problems/{kind}")
    assert title in answer.json["title"]
    assert answer.headers["Retry-After"]
    assert client.get("/v1/jobs", headers=HEADERS).status_code == 200
    assert checks(client)[0] == 200


@pytest.mark.parametrize("bad", [b"no database " * 500, b""])
def test_a_damaged_file_is_503_everywhere_and_never_500(client, context, tmp_path, bad):
    context.store.close()
    for path in tmp_path.glob("treescore.db-*"):
        path.unlink()
    (tmp_path / "treescore.db").write_bytes(bad)
    status, found = checks(client)
    assert (status, found["store"]) == (503, "away")
    for path in ("/v1/jobs", "/v1/benchmarks", "/v1/jobs/job_x", "/metrics"):
        answer = client.get(path, headers={"Authorization": "Bearer ts_unknown"} if "jobs" in path else {})
        assert answer.status_code == 503, path
        assert answer.content_type == "application/problem+json"
    assert client.get("/livez").status_code == 200


@pytest.mark.parametrize(("stored", "state"), [("0999", "newer"), ("0020", "unreleased")])
def test_a_schema_of_another_version_is_not_ready(client, context, stored, state):
    with context.store.write() as db:
        db.execute(text("UPDATE alembic_version SET version_num = :stored"), {"stored": stored})
    status, found = checks(client)
    assert (status, found["schema"], found["store"]) == (503, state, "ok")


def test_a_store_that_needs_a_migration_is_not_ready(client, context, tmp_path):
    with later_program(tmp_path):
        status, found = checks(client)
    assert (status, found["schema"], found["store"]) == (503, "needed", "ok")


@pytest.mark.parametrize(
    ("free", "state", "status"), [(FULL_BELOW - 1, "full", 503), (FULL_BELOW, "low", 200), (LOW_BELOW, "ok", 200)]
)
def test_the_disk_is_ill_before_it_is_full(client, monkeypatch, free, state, status):
    usage = shutil.disk_usage("/")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage._replace(free=free))
    found = checks(client)
    assert (found[0], found[1]["disk"]) == (status, state)


def test_a_queue_that_hangs_is_away_before_health_checks_give_up(client, context, monkeypatch):
    monkeypatch.setattr("service.queue.PROBE_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hung = Queue(f"redis://127.0.0.1:{silent.getsockname()[1]}")
        opened, limits = hung._open, []
        monkeypatch.setattr(
            hung, "_open", lambda **options: limits.append(options["socket_timeout"]) or opened(**options)
        )
        monkeypatch.setattr(context.queue, "state", hung.state)
        status, found = checks(client)
    assert (status, found["queue"], found["workers"]) == (200, "away", "unknown")
    assert limits == [0.1]  # and so answered in that time: the queue never answers
