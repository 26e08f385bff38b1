"""Configure gunicorn: the worker of service.server; no control socket, because nothing uses it."""

from __future__ import annotations

import socket
from typing import Any

from gunicorn import util  # type: ignore[import-untyped]

from service.config import load_config
from service.posix import UMASK, private_umask
from service.problem_catalogue import TYPES, type_of_status
from service.server import connection
from service.server.connection import problem

_config = load_config()

bind = [_config.bind]
workers = _config.api_processes
worker_class = "service.server.worker.BufferingWorker"
threads = _config.threads
worker_connections = 100_000  # the worker refuses what is too much; gunicorn would leave it unanswered
control_socket_disable = True
timeout = 120
graceful_timeout = 10
keepalive = 75
accesslog = None
logconfig_dict = connection.gunicorn_log(_config)
umask = UMASK
forwarder_headers = ""
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
limit_request_line = 8190


def on_starting(_server: object) -> None:
    """Close what the processes of the API make to other users, also where gunicorn is started by itself."""
    private_umask()


def post_worker_init(worker: Any) -> None:
    """Warm up, and begin to hand on what a process of the API counts."""
    # the arbiter loads nothing of the application
    from service.context import report_counts  # noqa: PLC0415
    from service.usecases.jobs import prepare_statements  # noqa: PLC0415

    context = worker.wsgi.extensions["treescore"]
    prepare_statements(context)
    worker.end_counts = report_counts(context)


def worker_exit(_server: object, worker: Any) -> None:
    """Hand on the rest, if the process had begun."""
    getattr(worker, "end_counts", lambda: None)()


def write_problem(sock: socket.socket, status_int: int, reason: str, mesg: str) -> None:
    """Answer with a problem document if gunicorn cannot pass a request on (line too long, unknown HTTP version)."""
    slug, words = type_of_status(status_int), connection.REASONS.get(status_int, reason)
    util.write_nonblock(sock, problem(status_int, words, slug, TYPES[slug].title, mesg or reason))


# gunicorn has no setting for it; a worker class would have to repeat its list of errors
util.write_error = write_problem
