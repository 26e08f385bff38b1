"""Answer probes and scrapes on a port of their own, in threads of their own, also while all others are taken."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from service.config import listening_at

PATHS = ("/livez", "/readyz", "/metrics")
PATIENCE = 5.0
"""Seconds for which a prober may be silent."""

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    timeout = PATIENCE

    def log_message(self, *_: object) -> None:
        """Log nothing: the application does."""


def listen(bind: str) -> socket.socket:
    """Return a socket that listens at an address. Several processes may answer on it.

    Raises:
        OSError: the address cannot be bound.
    """
    family, address = listening_at(bind)
    return socket.create_server(address, family=family)


def serve(listener: socket.socket, app: Wsgi) -> None:
    """Answer on a socket, in a thread that ends with the process."""
    listener.setblocking(False)  # of several processes one takes the connection
    server = _Server(listener.getsockname()[:2], _Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    server.server_name, server.server_port = listener.getsockname()[:2]
    server.setup_environ()
    server.set_app(_only_probes(app))
    threading.Thread(target=server.serve_forever, daemon=True, name="probes").start()


def _only_probes(app: Wsgi) -> Wsgi:
    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] not in PATHS:
            start_response("404 Not Found", [("Content-Type", "text/plain")])
            return [f"Here are {', '.join(PATHS)} only.\n".encode()]
        # those who ask name the machine, not the service
        return app({**environ, "HTTP_HOST": "localhost"}, start_response)

    return answer
