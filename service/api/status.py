"""Serve what the service is: liveness, readiness, metrics, the catalogue of scorers, and the contract.

The contract is openapi.yaml as it is, and as JSON.
"""

from dataclasses import asdict
from functools import cache, lru_cache
from pathlib import Path

import yaml
from flask import Blueprint, Response, request

from service import errors, requests
from service.api import answers, calls
from service.api.calls import answer, publishes
from service.contract.service import Catalogue, Document, Liveness, Readiness, Scorer
from service.usecases import runs, status
from treescore.core.params import Json

health_blueprint = Blueprint("health", __name__)
METRICS_TEXT = "text/plain; version=0.0.4; charset=utf-8"


@health_blueprint.get("/livez")
@publishes(answer("The process answers.", Liveness))
def get_livez() -> Response:
    """Check that the API process answers.

    It checks neither store nor queue.
    """
    return answers.conditional(runs.Shown({"status": "ok"}))


@health_blueprint.get("/readyz")
@publishes(answer("The service is ready.", Readiness), also="unready")
def get_readyz() -> Response:
    """Check whether work is accepted, and which part of the service is ill.

    The answer is 503 if the store does not answer, its disk is full or its schema is not that of this version. Without
    the queue or the workers requests are accepted, and done once they are back; without the process of views, items,
    slices and trees that were not asked for lately are answered 503.
    """
    ready, checks, workers = status.ready(calls.context())
    details = {"checks": checks, "workers": asdict(workers), "server": calls.load_of_process().document()}
    if ready:
        return answers.conditional(runs.Shown({"status": "ready", **details}))
    return answers.of_service_error(errors.Unavailable("A part of the service does not work. See `checks`."), **details)


@health_blueprint.get("/metrics")
@publishes(answer("Prometheus text, version 0.0.4.", "text/plain"))
def get_metrics() -> Response:
    """Get metrics for Prometheus.

    Numbers of runs, how long they waited, and queue lengths. With a token of the scope `metrics` also what tells of
    results: latency by route, waiting and running work, workers, seconds of runs, round trips, delay of boards, webhook
    deliveries.
    """
    context = calls.context()
    private = calls.caller().allowed("metrics")
    text = status.metrics_text(context) + (status.private_metrics_text(context) if private else b"")
    return answers.conditional(runs.Shown(None, text, content_type=METRICS_TEXT))


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
def _as_json(place: str) -> runs.Shown[object]:
    return runs.Shown({**document(), "servers": [{**server, "url": place} for server in document()["servers"]]})


@contract_blueprint.get("/openapi.yaml")
@publishes(answer("The document.", "application/yaml"))
def get_openapi_yaml() -> Response:
    """Get this document.

    The committed file, byte for byte.
    """
    place = request.script_root or "/"
    body = written().replace(b"\n  - url: /\n", b"\n  - url: %b\n" % place.encode())
    return answers.conditional(runs.Shown(None, body, content_type=YAML), kind=answers.Kind.PUBLIC)


@contract_blueprint.get("/openapi.json")
@publishes(answer("The document.", Document))
def get_openapi_json() -> Response:
    """Get this document as JSON.

    The same content as `/openapi.yaml`.
    """
    return answers.conditional(_as_json(request.script_root or "/"), kind=answers.Kind.PUBLIC)


scorer_blueprint = Blueprint("scorers", __name__, url_prefix="/v1/scorers")


@scorer_blueprint.get("")
@publishes(answer("The catalogue.", Catalogue))
def list_scorers() -> Response:
    """List all metrics, formats and transforms.

    Each entry has the JSON Schema of the parameters.
    """
    calls.query(requests.Query)
    return answers.conditional(status.scorers(), kind=answers.Kind.PUBLIC)


@scorer_blueprint.get("/<name>")
@publishes(answer("The entry with its kind.", Scorer), also="found")
def get_scorer(name: str) -> Response:
    """Get one metric, format or transform.

    Names are unique in the catalogue.
    """
    calls.query(requests.Query)
    return answers.conditional(status.scorer(name), kind=answers.Kind.PUBLIC)
