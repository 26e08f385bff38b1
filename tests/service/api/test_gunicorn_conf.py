"""What gunicorn refuses by itself is a problem too."""

import json
import socket
from types import SimpleNamespace

import pytest

from service import gunicorn_conf
from service.gunicorn_conf import when_ready, write_problem


def test_a_request_that_is_no_http_gets_a_problem() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        write_problem(ours, 414, "URI Too Long", "Request Line is too large (10014 > 8190)")
        head, _, body = theirs.recv(10_000).partition(b"\r\n\r\n")
    document = json.loads(body)
    assert head.startswith(b"HTTP/1.1 414 URI Too Long\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    assert document["type"] == "/problems/uri-too-long"
    assert document["instance"].startswith("urn:request:req_")


def test_a_client_that_stalls_is_waited_for_no_longer_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gunicorn_conf, "STALLED", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)  # the bound holds for the listener too, and the connection may come a little later
        when_ready(SimpleNamespace(LISTENERS=[SimpleNamespace(sock=listener)]))
        with socket.create_connection(listener.getsockname()):
            taken, _ = listener.accept()
            with taken:
                taken.setblocking(True)
                with pytest.raises(BlockingIOError):
                    taken.recv(1)
