"""The first page of the documentation: what the API is, a first call, and what there is to read."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Blueprint, Response, request

from service.api import contract
from service.pages.docs import contract_reading, layout, schema_words

blueprint = Blueprint("documentation", __name__)
blueprint.before_request(layout.look)
FIRST = ("TreesRequest", "TreesAnswer")
"""Examples of the contract for the first call, and its answer."""


@blueprint.get("/docs")
def get_docs() -> Response:
    """Show the contract as pages."""
    return layout.docs_page("docs_overview.html", request.host_url, _overview_values)


def _overview_values() -> Mapping[str, object]:
    sent, answered = (contract_reading.components("examples")[name]["value"] for name in FIRST)
    return {
        "info": contract.document()["info"],
        "first_call": _call(request.host_url, schema_words.pretty(sent)),
        "first_answer": schema_words.pretty(answered),
    }


def _call(service: str, body: str) -> str:
    quoted = body.replace("'", "'\\''")
    return (
        f"curl -H 'Prefer: wait=20' -H 'Content-Type: application/json' \\\n"
        f"     {service}v1/jobs -d '{quoted}'"
    )  # fmt: skip
