"""Serve liveness, readiness and metrics."""

from __future__ import annotations

from dataclasses import asdict

from flask import Blueprint, Response

from service.api import answers, calls, problems
from service.errors import Unavailable
from service.usecases.runs.views import body_view, json_view
from service.usecases.status import health, metrics

blueprint = Blueprint("health", __name__)
METRICS_TEXT = "text/plain; version=0.0.4; charset=utf-8"


@blueprint.get("/livez")
def get_livez() -> Response:
    """Show that this process answers."""
    return answers.conditional(json_view({"status": "ok"}))


@blueprint.get("/readyz")
def get_readyz() -> Response:
    """Show whether work is accepted, which part is ill, and how busy this process is."""
    ready, checks, workers = health.ready(calls.context())
    details = {"checks": checks, "workers": asdict(workers), "server": calls.server().document()}
    if ready:
        return answers.conditional(json_view({"status": "ready", **details}))
    error = Unavailable("A part of the service does not work. See `checks`.")
    return problems.of_service_error(error, **details)


@blueprint.get("/metrics")
def get_metrics() -> Response:
    """Show metrics as Prometheus text: to all callers what tells nothing of results, to a monitoring token all."""
    context = calls.context()
    if not calls.caller().allowed("metrics"):
        return answers.conditional(body_view(health.metrics_text(context), METRICS_TEXT))
    return answers.conditional(body_view(health.metrics_text(context) + metrics.private_text(context), METRICS_TEXT))
