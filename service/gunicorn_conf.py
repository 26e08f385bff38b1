"""gunicorn's settings: threads, because requests wait; never the control socket, because nobody asks for it."""

from __future__ import annotations

import socket
import struct
from typing import Any

import orjson
from gunicorn import util  # type: ignore[import-untyped]
from ulid import ULID

from service.config import load_config

_config = load_config()

bind = [_config.bind]
workers = _config.api_processes
worker_class = "gthread"
threads = _config.threads
control_socket_disable = True
timeout = 120
graceful_timeout = 10
keepalive = 75
accesslog = None
limit_request_line = 8190
STALLED = 30.0
"""Seconds for which a client may neither send what it has begun nor take what it asked for: it holds a thread."""


def when_ready(server: Any) -> None:
    """Bound each wait for a client, by what connections inherit: gunicorn takes back Python's own timeouts."""
    bound = struct.pack("ll", *divmod(round(STALLED * 1e6), 1_000_000))
    for listener in server.LISTENERS:
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            listener.sock.setsockopt(socket.SOL_SOCKET, option, bound)


def write_problem(sock: socket.socket, status_int: int, reason: str, mesg: str) -> None:
    """Answer what gunicorn cannot hand on (a line too long, a version of the future) as a problem too."""
    document = {
        "type": "/problems/" + reason.lower().replace(" ", "-"),
        "title": reason,
        "status": status_int,
        "detail": mesg or reason,
        "instance": f"urn:request:req_{ULID()}",
    }
    body = orjson.dumps(document)
    head = (
        f"HTTP/1.1 {status_int} {reason}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/problem+json\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    util.write_nonblock(sock, head.encode("latin-1") + body)


# There is no setting for it; a worker class of our own would have to repeat gunicorn's list of faults.
util.write_error = write_problem
