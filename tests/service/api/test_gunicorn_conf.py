"""What gunicorn refuses by itself is a problem too."""

import json
import socket

from service.gunicorn_conf import write_problem


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
