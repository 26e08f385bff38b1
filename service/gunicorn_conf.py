"""Configure gunicorn: threads, because requests wait; no control socket, because nothing uses it."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable
from typing import Protocol

import orjson
from gunicorn import util  # type: ignore[import-untyped]
from ulid import ULID

from service.config import load_config
from service.files import UMASK, private_umask

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
umask = UMASK
forwarder_headers = ""
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
limit_request_line = 8190
STALLED = 30.0
"""Seconds that a client may stall while it sends a request or reads an answer: it holds a thread."""


class _Listener(Protocol):
    sock: socket.socket


class _Arbiter(Protocol):
    LISTENERS: Iterable[_Listener]


def on_starting(_server: _Arbiter) -> None:
    """Close what the processes of the API make to other users, also where gunicorn is started by itself."""
    private_umask()


def when_ready(server: _Arbiter) -> None:
    """Limit each wait for a client by options that connections inherit: gunicorn resets Python's own timeouts."""
    limit = struct.pack("ll", *divmod(round(STALLED * 1e6), 1_000_000))
    for listener in server.LISTENERS:
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            listener.sock.setsockopt(socket.SOL_SOCKET, option, limit)


def write_problem(sock: socket.socket, status_int: int, reason: str, mesg: str) -> None:
    """Answer with a problem document if gunicorn cannot pass a request on (line too long, unknown HTTP version)."""
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


# gunicorn has no setting for it; a worker class would have to repeat its list of errors
util.write_error = write_problem
