"""Serve the contract: openapi.yaml as it is, and as JSON."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml
from flask import Blueprint, Response

from service.api import answers
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


@blueprint.get("/openapi.yaml")
def get_openapi_yaml() -> Response:
    """Show the contract."""
    return answers.conditional(body_view(written(), YAML), kind=answers.Kind.PUBLIC)


@blueprint.get("/openapi.json")
def get_openapi_json() -> Response:
    """Show the contract as JSON."""
    return answers.conditional(_as_json(), kind=answers.Kind.PUBLIC)
