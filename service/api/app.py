"""The Flask application: blueprints, and what happens around every request."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from flask import Flask, Response
from sqlalchemy.exc import OperationalError
from werkzeug.exceptions import HTTPException, InternalServerError

from service.api import (
    access_log,
    benchmarks,
    comparisons,
    contract,
    events,
    health,
    jobs,
    leaderboard,
    problems,
    revisions,
    scorers,
    submissions,
    teams,
    tokens,
    webhooks,
)
from service.config import Config
from service.context import Context, open_context
from service.errors import ServiceError, Unavailable
from service.logs import places
from service.queue import REDIS_ERRORS

BLUEPRINTS = (
    jobs,
    benchmarks,
    revisions,
    teams,
    submissions,
    leaderboard,
    comparisons,
    webhooks,
    events,
    tokens,
    scorers,
    contract,
    health,
)

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class App(Flask):
    """Flask, but for how it tells of faults: where, and never with the text that was being read."""

    def log_exception(self, exc_info: ExcInfo) -> None:
        """One line of the log with the fault's kind and the places it went through; its message may quote a text."""
        kind, _, trace = exc_info
        access_log.fault(kind.__name__ if kind else "unknown", places(trace))

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """The function as it is: nothing here is a coroutine, and Flask would look four times in each request."""
        return func


def create_app(config: Config, context: Context | None = None) -> Flask:
    """The application. Connects to nothing before the first request, so that it can be made before a fork."""
    app = App("service.api", static_folder=None)
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.url_map.strict_slashes = True
    app.url_map.merge_slashes = False
    app.config["PROPAGATE_EXCEPTIONS"] = False
    app.extensions["treescore"] = context if context is not None else open_context(config)
    for module in BLUEPRINTS:
        app.register_blueprint(module.blueprint)
    access_log.install(app)
    app.after_request(_guard)
    app.register_error_handler(ServiceError, problems.of_service_error)
    app.register_error_handler(HTTPException, problems.of_http_error)
    app.register_error_handler(InternalServerError, lambda _fault: problems.of_fault())
    for gone in (*REDIS_ERRORS, OperationalError):
        app.register_error_handler(gone, _away)
    return app


def _away(error: Exception) -> Response:
    access_log.fault(type(error).__name__, places(error.__traceback__))
    return problems.of_service_error(Unavailable("The store or the queue does not answer at the moment. Try again."))


def _guard(response: Response) -> Response:
    response.headers.add("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("Cache-Control", "private, no-cache")
    return response
