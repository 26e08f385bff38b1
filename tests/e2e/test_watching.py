"""What operators see of a running service: one id through the log, every metric of the dashboard and of the alerts."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
import yaml

from tests.e2e.test_shared_task import WAIT, join, make, settled_board
from tests.fixtures.requests import DEPENDENCIES, GOLD_CONLLU, ONE_WRONG
from tests.fixtures.service_process import ROOT, ServiceProcess, free_port, running, until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
OPERATE = ROOT / "docs" / "operate"
LABELS = re.compile(r"by \(([^)]*)\)|\{([^}]*)\}")


def panels() -> list[Any]:
    """The panels of the dashboard."""
    return json.loads((OPERATE / "grafana.json").read_text())["panels"]


def queries() -> list[str]:
    """All queries of the dashboard and of the alerts, as Prometheus gets them."""
    shown = [target["expr"].replace("$__rate_interval", "1m") for panel in panels() for target in panel["targets"]]
    groups = yaml.safe_load((OPERATE / "alerts.yml").read_text())["groups"]
    return [*shown, *(rule["expr"] for group in groups for rule in group["rules"])]


def labels_in(query: str) -> set[str]:
    """The labels that a query names."""
    found: set[str] = set()
    for by, matched in LABELS.findall(query):
        found |= {name.strip() for name in by.split(",") if name.strip()}
        found |= {matcher.partition("=")[0].strip("!~ ") for matcher in matched.split(",") if matcher}
    return found


@pytest.fixture(scope="module")
def scored(served: ServiceProcess) -> tuple[str, str]:
    """A submission of a request with a name of its own, looked at and on a board that is compared; and its board."""
    with served.client() as organiser:
        benchmark = make(organiser, f"watched-{os.getpid()}")
        headers = {**join(organiser, benchmark, "lyon"), **WAIT, "Request-Id": "watched-request"}
        join(organiser, benchmark, "oslo")
        made = organiser.post(f"{benchmark}/submissions", json={"outputs": {"en": ONE_WRONG}}, headers=headers)
        assert made.status_code == 201, made.text
        other = {"outputs": {"en": GOLD_CONLLU}, "team": "oslo"}
        assert organiser.post(f"{benchmark}/submissions", json=other, headers=WAIT).status_code == 201
        settled_board(organiser, benchmark)
        items = {"part": "en", "metric": "attachment"}
        assert organiser.get(f"/v1/submissions/{made.json()['id']}/items", params=items).status_code == 200
        assert organiser.get("/v1/no-such-page").status_code == 404
    return made.json()["id"], benchmark


@pytest.fixture(scope="module")
def monitoring(served: ServiceProcess) -> str:
    """A token of the monitoring."""
    with served.client() as organiser:
        made = organiser.post("/v1/tokens", json={"scopes": ["metrics"], "name": "prometheus"})
    return str(made.json()["token"])


def lines_with(served: ServiceProcess, name: str) -> list[dict[str, Any]]:
    """The lines of the log that have an id."""
    return [orjson.loads(line) for line in served.log.read_bytes().splitlines() if name.encode() in line]


def test_one_id_follows_a_submission_through_every_line(served: ServiceProcess, scored: tuple[str, str]) -> None:
    name, _ = scored

    def told() -> list[dict[str, Any]] | None:
        lines = lines_with(served, name)
        return lines if any(line["event"] == "board" for line in lines) else None

    lines = until(told, "the log tells of the board")
    own = {line["event"]: line for line in lines if line.get("run") == name}
    assert {"request", "began", "ended"} <= set(own)
    assert {line["request_id"] for line in own.values()} == {"watched-request"}
    assert own["request"]["route"] == "/v1/benchmarks/<benchmark>/submissions"
    assert (own["ended"]["state"], own["ended"]["metric"]) == ("succeeded", "attachment")
    [board] = [line for line in lines if line["event"] == "board"]
    assert name in board["submissions"]
    about_board = lines_with(served, board["run"])
    assert {"began", "ended"} <= {line["event"] for line in about_board}


ENDS = """
import atexit, warnings
def end():
    warnings.warn("the end")
    raise KeyError("a secret")
atexit.register(end)
"""
"""A process that begins with this warns at its end, and fails."""


def test_every_line_of_every_process_is_json(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(ENDS)
    with running(workers=1, PYTHONPATH=f"{tmp_path}:{ROOT}") as service:
        with service.client() as client:
            assert client.post("/v1/jobs", json=DEPENDENCIES, headers=WAIT).status_code == 201
            assert client.post("/v1/jobs", json={}).status_code == 422
            assert client.get("/v1/scorers").status_code == 200
        with socket.create_connection(("127.0.0.1", service.port)) as connection:
            connection.sendall(b"no request\r\n\r\n")
            assert connection.recv(4096).startswith(b"HTTP/1.1 400")
        assert service.stop() == 0
        lines = [orjson.loads(line) for line in service.log.read_bytes().splitlines()]
    assert all({"timestamp", "level", "logger", "event"} <= set(line) for line in lines)
    told = Counter((line["logger"], line["event"], line["level"]) for line in lines)
    processes = 7  # `serve`, `migrate`, the sweeper, the views, the worker, gunicorn and its API process
    assert told["py.warnings", "notice", "warning"] == told["treescore.process", "fault", "error"] >= processes
    expected = {("gunicorn.error", "notice", "info"), ("treescore.server", "invalid-request", "warning")}
    assert {("treescore.api", "request", "info"), ("treescore.runs", "ended", "info"), *expected} <= set(told)
    assert not [each for each in lines if each.get("method") == "GET" and each["status"] < 400]
    assert "a secret" not in str(lines)


def test_every_query_names_what_the_service_has(served: ServiceProcess, scored: Any, monitoring: str) -> None:
    headers = {"Authorization": f"Bearer {monitoring}"}

    def scraped() -> dict[str, set[str]] | None:
        text = httpx.get(f"{served.address}/metrics", headers=headers).text
        found: dict[str, set[str]] = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                name, _, labels = line.rpartition(" ")[0].partition("{")
                found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
        return found if {"4xx", "made"} <= set(re.findall(r'stat(?:us|e)="(\w+)"', text)) and "board" in text else None

    known = until(scraped, "the metrics count a refusal, a view and a board")
    asked = queries()
    for query in asked:
        names = set(re.findall(r"\btreescore_\w+", query))
        assert names, query
        assert names <= set(known), query
        assert labels_in(query) <= {"le"}.union(*(known[name] for name in names)), query
    in_panels = " ".join(target["expr"] for panel in panels() for target in panel["targets"])
    bases = {re.sub("_(bucket|count|sum|created)$", "", name) for name in known} - {"treescore_info"}
    assert not [name for name in bases if name not in in_panels]


def test_legends_name_labels_of_their_queries() -> None:
    for panel in panels():
        for target in panel["targets"]:
            assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= labels_in(target["expr"]), target


@pytest.mark.hosts
def test_prometheus_answers_every_query(served: ServiceProcess, scored: Any, monitoring: str, tmp_path: Path) -> None:
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("prometheus was not found; install Debian's package prometheus")
    (tmp_path / "token").write_text(monitoring)
    job = {
        "job_name": "treescore",
        "authorization": {"credentials_file": str(tmp_path / "token")},
        "static_configs": [{"targets": [f"127.0.0.1:{served.port}"]}],
    }
    configuration = {
        "global": {"scrape_interval": "1s"},
        "rule_files": [str(OPERATE / "alerts.yml")],
        "scrape_configs": [job],
    }
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(configuration))
    port = free_port()
    command = [program, f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data",
               f"--web.listen-address=127.0.0.1:{port}"]  # fmt: skip
    with (tmp_path / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as server:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1") as client:
                until(
                    lambda: _answers(client, "count_over_time(treescore_info[1m]) > 2"), "Prometheus has three samples"
                )
                shown = [target["expr"] for panel in panels() for target in panel["targets"]]
                for query in shown:
                    until(
                        lambda query=query: _answers(client, query.replace("$__rate_interval", "1m")),
                        f"{query} has a value",
                    )
                rules = client.get("/rules").json()["data"]["groups"][0]["rules"]
                assert [rule["health"] for rule in rules if rule["health"] not in ("ok", "unknown")] == []
        finally:
            server.terminate()


def _answers(client: httpx.Client, query: str) -> bool:
    try:
        answer = client.get("/query", params={"query": query})
    except httpx.TransportError:
        return False
    if answer.status_code == 503:
        return False
    assert answer.json()["status"] == "success", answer.text
    return bool(answer.json()["data"]["result"])
