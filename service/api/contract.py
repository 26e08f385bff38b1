"""The contract itself: openapi.yaml as it was written, as JSON, and as a page for people."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from flask import Blueprint, Response

from service.api import answers
from service.api.docs import page
from service.usecases.runs.views import View, etag_of, json_view

blueprint = Blueprint("contract", __name__)
PUBLISHED = Path(__file__).parents[2] / "openapi.yaml"
YAML = "application/yaml"
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@cache
def written() -> bytes:
    """openapi.yaml, byte for byte."""
    return PUBLISHED.read_bytes()


@cache
def document() -> dict[str, Any]:
    """The contract as a value."""
    loaded: dict[str, Any] = yaml.load(written(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - safe
    return loaded


@cache
def _as_json() -> View:
    return json_view(document())


@cache
def _as_page() -> View:
    body = page(document()).encode()
    return View(body, etag_of(body), content_type="text/html; charset=utf-8")


@blueprint.get("/openapi.yaml")
def get_openapi_yaml() -> Response:
    """The contract."""
    return answers.conditional(View(written(), etag_of(written()), content_type=YAML))


@blueprint.get("/openapi.json")
def get_openapi_json() -> Response:
    """The contract as JSON."""
    return answers.conditional(_as_json())


@blueprint.get("/docs")
def get_docs() -> Response:
    """The contract as a page, made here: it loads nothing from anywhere."""
    response = answers.conditional(_as_page())
    response.headers["Content-Security-Policy"] = PAGE_POLICY
    return response
