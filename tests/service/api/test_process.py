"""An API process: what it loads, for its memory is the service's twice over, and what gunicorn refuses by itself."""

import json
import socket
import subprocess
import sys
from pathlib import Path

from service.gunicorn_conf import write_problem

ROOT = Path(__file__).parents[3]
PROGRAM = "import sys, service.wsgi; print(*sys.modules)"


def test_an_api_process_draws_nothing_and_does_no_work(tmp_path: Path) -> None:
    environment = {"TREESCORE_DATA_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert "service.api.status" in modules
    assert not {name for name in modules if name.startswith("service.openapi")}
    loaded = {name.partition(".")[0] for name in modules}
    assert {"flask", "service", "treescore"} <= loaded
    assert not loaded & {"workers", "alembic", "apispec", "pytest"}


def test_a_request_that_is_no_http_gets_a_problem() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        write_problem(ours, 414, "URI Too Long", "Request Line is too large (10014 > 8190)")
        head, _, body = theirs.recv(10_000).partition(b"\r\n\r\n")
    document = json.loads(body)
    assert head.startswith(b"HTTP/1.1 414 ")
    assert f"Content-Length: {len(body)}".encode() in head
    assert document["type"] == "/problems/uri-too-long"
    assert document["instance"].startswith("urn:request:req_")
