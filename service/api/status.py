"""Serve what the service is: liveness, readiness, metrics, the catalogue of scorers, and the contract.

The contract is openapi.yaml as it is, and as JSON.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import cache, lru_cache
from pathlib import Path

import yaml
from flask import Blueprint, Response, request

from service.api import answers, bodies, calls
from service.contract.derive import schema_of
from service.contract.scorers import SuggestionRequest
from service.errors import Unavailable
from service.requests import Query
from service.usecases import status
from service.usecases.runs import View, body_view, json_view
from treescore.core.params import Json

health_blueprint = Blueprint("health", __name__)
METRICS_TEXT = "text/plain; version=0.0.4; charset=utf-8"


@health_blueprint.get("/livez")
def get_livez() -> Response:
    """Show that this process answers."""
    return answers.conditional(json_view({"status": "ok"}))


@health_blueprint.get("/readyz")
def get_readyz() -> Response:
    """Show whether work is accepted, which part is ill, and how busy this process is."""
    ready, checks, workers = status.ready(calls.context())
    details = {"checks": checks, "workers": asdict(workers), "server": calls.load_of_process().document()}
    if ready:
        return answers.conditional(json_view({"status": "ready", **details}))
    error = Unavailable("A part of the service does not work. See `checks`.")
    return answers.of_service_error(error, **details)


@health_blueprint.get("/metrics")
def get_metrics() -> Response:
    """Show metrics as Prometheus text: to all callers what tells nothing of results, to a monitoring token all."""
    context = calls.context()
    if not calls.caller().allowed("metrics"):
        return answers.conditional(body_view(status.metrics_text(context), METRICS_TEXT))
    return answers.conditional(
        body_view(status.metrics_text(context) + status.private_metrics_text(context), METRICS_TEXT)
    )


contract_blueprint = Blueprint("contract", __name__)
PUBLISHED = Path(__file__).parents[2] / "openapi.yaml"
YAML = "application/yaml"


@cache
def written() -> bytes:
    """Return openapi.yaml, byte for byte."""
    return PUBLISHED.read_bytes()


@cache
def document() -> dict[str, Json]:
    """Return the contract as a value."""
    loaded: dict[str, Json] = yaml.load(written(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - safe
    return loaded


@lru_cache(maxsize=4)
def _as_json(place: str) -> View:
    return json_view({**document(), "servers": [{**server, "url": place} for server in document()["servers"]]})


def _place() -> str:
    return request.script_root or "/"


@contract_blueprint.get("/openapi.yaml")
def get_openapi_yaml() -> Response:
    """Show the contract."""
    body = written().replace(b"\n  - url: /\n", b"\n  - url: %b\n" % _place().encode())
    return answers.conditional(body_view(body, YAML), kind=answers.Kind.PUBLIC)


@contract_blueprint.get("/openapi.json")
def get_openapi_json() -> Response:
    """Show the contract as JSON."""
    return answers.conditional(_as_json(_place()), kind=answers.Kind.PUBLIC)


scorer_blueprint = Blueprint("scorers", __name__, url_prefix="/v1/scorers")


@scorer_blueprint.get("")
def list_scorers() -> Response:
    """List metrics, formats and transforms."""
    calls.query(Query)
    return answers.conditional(status.scorers(), kind=answers.Kind.PUBLIC)


@scorer_blueprint.post("/suggestions")
def suggest_scorers() -> Response:
    """Tell the format of a text by its first lines, and what it can be scored with."""
    calls.query(Query)
    return answers.plain(status.suggested(calls.body(schema_of(SuggestionRequest), limit=bodies.ALONE)))


@scorer_blueprint.get("/<name>")
def get_scorer(name: str) -> Response:
    """Show one metric, format or transform."""
    calls.query(Query)
    return answers.conditional(status.scorer(name), kind=answers.Kind.PUBLIC)
