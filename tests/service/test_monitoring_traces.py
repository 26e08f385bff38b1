"""One trace from the request to the saved result, sent by OTLP; and nothing of it where it is not asked for."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from service import monitoring
from service.app import create_app
from service.config import ConfigError, load_config
from service.context import Context
from tests.fixtures.contexts import ADMIN_TOKEN
from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG
from tests.fixtures.tasks import Task

HEADERS = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def collected() -> Iterator[list[bytes]]:
    """What a collector on this machine receives."""
    bodies: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="its exporter is not installed")
    server = HTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monitoring.configure_traces(f"http://127.0.0.1:{server.server_port}/", "api")
    provider = monitoring._provider
    yield bodies
    monitoring.configure_traces("", "api")
    provider.shutdown()
    server.shutdown()
    thread.join()
    server.server_close()


def spans(bodies: list[bytes]) -> list[Any]:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (  # noqa: PLC0415 - may be missing
        ExportTraceServiceRequest,
    )

    monitoring.flush_spans()
    read = [ExportTraceServiceRequest.FromString(body) for body in bodies]
    return [
        span for each in read for of in each.resource_spans for scope in of.scope_spans for span in scope.spans
    ]  # fmt: skip


def test_a_submission_is_one_trace_from_its_request_to_its_board(
    collected: list[bytes], task: Task, context: Context, work: Callable[[], int]
) -> None:
    slug = task.make()
    app = create_app(context.config, context).test_client()
    body = {"outputs": {"en": ONE_WRONG}, "team": task.team().team}
    sent = app.post(f"/v1/benchmarks/{slug}/submissions", json=body, headers={**HEADERS, "traceparent": PARENT})
    assert sent.status_code == 202, sent.text
    work()
    work()
    trace = bytes.fromhex(PARENT.split("-")[1])
    found = [span for span in spans(collected) if span.trace_id == trace]

    def below(parent: bytes) -> dict[str, Any]:
        return {span.name: span for span in found if span.parent_span_id == parent}

    request = below(bytes.fromhex(PARENT.split("-")[2]))["POST /v1/benchmarks/<benchmark>/submissions"]
    run = below(request.span_id)["run submission"]
    waiting = below(request.span_id)["waiting"]
    assert waiting.start_time_unix_nano <= waiting.end_time_unix_nano
    assert {"reading", "comparing", "saving"} <= set(below(run.span_id))
    board = below(below(run.span_id)["saving"].span_id)["run board"]
    assert {"comparing", "saving"} <= set(below(board.span_id))
    told = b"".join(collected)
    assert sent.json["id"].encode() in told
    for secret in (ADMIN_TOKEN, *GOLD_CONLLU.split("\n")[2:4]):
        assert secret.encode() not in told


def test_without_an_endpoint_nothing_is_loaded_and_nothing_stored() -> None:
    program = (
        "import sys; from service import monitoring as traces;"
        "traces.configure_traces('', 'api')\n"
        "with traces.span('x') as opened: assert opened is None and traces.traceparent() is None\n"
        "traces.flush_spans(); assert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_endpoint_without_the_packages_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(ConfigError, match="Install opentelemetry-sdk and opentelemetry-exporter-otlp-proto-http"):
        monitoring.configure_traces("http://127.0.0.1:4318", "api")


def test_an_endpoint_that_is_no_address_is_refused() -> None:
    with pytest.raises(ConfigError, match="TREESCORE_OTLP_ENDPOINT is 'collector:4318'"):
        load_config({"TREESCORE_OTLP_ENDPOINT": "collector:4318"})
