"""Configure gunicorn, which serves the API with threads; no control socket, because nothing uses it.

Probes and scrapes may have a port of their own, and are answered there in threads of their own. The server's log has no
text of requests: a line, a header or a query may hold a token.
"""

import gc
import logging
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterable
from http import HTTPStatus
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import orjson
from gunicorn import util  # type: ignore[import-untyped]
from ulid import ULID

from service.config import listening_at, load_config, public_path
from service.errors import problem_head, type_of_status
from service.logs import HANDLER, Log, configure_logs, fault
from service.process import UMASK, private_umask

_config = load_config()
_REFUSED = re.compile(r"Invalid request from ip=(\S*): ")
_FAILED = "Error handling request"

log = Log("server")
_probes: list[socket.socket] = []
"""Where the processes answer probes apart; bound once, before they are forked."""


def quotes_nothing(record: logging.LogRecord) -> bool:
    """Return whether gunicorn may log this; what quotes a request is logged here, by its kind.

    gunicorn logs both in the handler of the exception, so that it is known here.
    """
    text = str(record.msg)
    refused = _REFUSED.match(text)
    if refused is None and not text.startswith(_FAILED):
        return True
    kind, _, trace = sys.exc_info()
    if refused is None:
        fault(kind or Exception, trace)
    else:
        log.warning("invalid-request", client=refused[1], kind=None if kind is None else kind.__name__)
    return False


def _service_log() -> logging.Handler:
    configure_logs(_config)
    return HANDLER


PROBED = ("/livez", "/readyz", "/metrics")
PROBER_PATIENCE = 5.0
"""Seconds for which a prober may be silent."""

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    timeout = PROBER_PATIENCE

    def log_message(self, *_: object) -> None:
        """Log nothing: the application does."""


def answer_probes(listener: socket.socket, app: Wsgi) -> None:
    """Answer probes on a socket, in a thread that ends with the process, also while all others are taken."""
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
        if environ["PATH_INFO"] not in PROBED:
            start_response("404 Not Found", [("Content-Type", "text/plain")])
            return [f"Here are {', '.join(PROBED)} only.\n".encode()]
        # those who ask name the machine, not the service
        return app({**environ, "HTTP_HOST": "localhost"}, start_response)

    return answer


bind = [_config.bind]
workers = _config.api_processes
worker_class = "gthread"
threads = _config.threads
worker_connections = 1_000
control_socket_disable = True
timeout = 120
graceful_timeout = 10
keepalive = 75
accesslog = None
logconfig_dict = {
    "filters": {"quotes-nothing": {"()": lambda: quotes_nothing}},
    "formatters": {},
    "handlers": {"service": {"()": _service_log}},
    "loggers": {"gunicorn.error": {"level": "INFO", "filters": ["quotes-nothing"], "propagate": True}},
    "root": {"level": "WARNING", "handlers": ["service"]},
}
umask = UMASK
forwarder_headers = ""
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
limit_request_line = 8190


def on_starting(_server: object) -> None:
    """Close what the processes of the API make to other users, also where gunicorn is started by itself."""
    private_umask()
    if _config.probe_bind:
        family, address = listening_at(_config.probe_bind)
        _probes.append(socket.create_server(address, family=family))  # several processes answer on it


def post_worker_init(worker: Any) -> None:
    """Warm up, and begin to hand on what a process of the API counts."""
    # the arbiter loads nothing of the application
    from service.context import report_counts  # noqa: PLC0415
    from service.usecases.jobs import prepare_statements  # noqa: PLC0415

    context = worker.wsgi.extensions["treescore"]
    prepare_statements(context)
    worker.ends = report_counts(context), context.store.close
    for listener in _probes:
        answer_probes(listener, worker.wsgi)
    gc.freeze()  # the collector would hold up all requests of the process while it looks at what was loaded


def worker_exit(_server: object, worker: Any) -> None:
    """Hand on the rest, and close what is frozen, if the process had begun."""
    for end in getattr(worker, "ends", ()):
        end()


def write_problem(sock: socket.socket, status_int: int, reason: str, mesg: str) -> None:
    """Answer with a problem document if gunicorn cannot pass a request on (line too long, unknown HTTP version)."""
    document = {**problem_head(type_of_status(status_int)), "status": status_int, "detail": mesg or reason}
    document["type"] = f"{public_path(_config.public_url)}{document['type']}"
    body = orjson.dumps({**document, "instance": f"urn:request:req_{ULID()}"})
    head = (
        f"HTTP/1.1 {status_int} {HTTPStatus(status_int).phrase}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/problem+json\r\n"
        "Cache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    util.write_nonblock(sock, head.encode("latin-1") + body)


# gunicorn has no setting for it; a worker class would have to repeat its list of errors
util.write_error = write_problem
