"""Serve the contract: openapi.yaml as it is, as JSON, and as a page for people."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml
from flask import Blueprint, Response

from service.api import answers
from service.api.docs import PAGE_POLICY, page
from service.usecases.runs.views import View, body_view, json_view
from treescore.core.params import Json

blueprint = Blueprint("contract", __name__)
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


@cache
def _as_json() -> View:
    return json_view(document())


@cache
def _as_page() -> View:
    return body_view(page(document()).encode(), "text/html; charset=utf-8")


@blueprint.get("/openapi.yaml")
def get_openapi_yaml() -> Response:
    """Show the contract."""
    return answers.conditional(body_view(written(), YAML), kind=answers.Kind.PUBLIC)


@blueprint.get("/openapi.json")
def get_openapi_json() -> Response:
    """Show the contract as JSON."""
    return answers.conditional(_as_json(), kind=answers.Kind.PUBLIC)


@blueprint.get("/docs")
def get_docs() -> Response:
    """Show the contract as a page that loads nothing from other hosts."""
    response = answers.conditional(_as_page(), kind=answers.Kind.PUBLIC)
    response.headers["Content-Security-Policy"] = PAGE_POLICY
    return response
