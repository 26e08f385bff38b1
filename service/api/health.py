"""Serve liveness, readiness and metrics."""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls, problems
from service.errors import Unavailable
from service.usecases.runs.views import View, etag_of, json_view
from service.usecases.status import health

blueprint = Blueprint("health", __name__)
METRICS_TEXT = "text/plain; version=0.0.4; charset=utf-8"


@blueprint.get("/livez")
def get_livez() -> Response:
    """Show that this process answers."""
    return answers.conditional(json_view({"status": "ok"}))


@blueprint.get("/readyz")
def get_readyz() -> Response:
    """Show whether store and queue answer."""
    ready, checks = health.ready(calls.context())
    if ready:
        return answers.conditional(json_view({"status": "ready", "checks": checks}))
    document = {
        "type": "/problems/unavailable",
        "title": Unavailable.title,
        "status": 503,
        "detail": "A part of the service does not answer. See `checks`.",
        "checks": checks,
    }
    return problems.problem(document, {"Retry-After": "2"})


@blueprint.get("/metrics")
def get_metrics() -> Response:
    """Show metrics as Prometheus text."""
    body = health.metrics_text(calls.context())
    return answers.conditional(View(body, etag_of(body), content_type=METRICS_TEXT))
