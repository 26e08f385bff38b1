"""The reference: a page for each tag of the contract, and one for what several tags use."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Response

from service.errors import NotFound
from service.pages import answers
from service.pages.docs import contract_reading, layout
from service.pages.docs.mentions import mentions

blueprint = layout.docs_pages("reference")


@blueprint.get("/<tag>")
def show_tag(tag: str) -> Response:
    """Show the operations of a tag, and the schemas that only these use."""
    answers.query(layout.NoParameters())
    documents = {each["name"]: each for each in contract_reading.tags()}
    if tag not in documents:
        raise NotFound("Unknown page. /docs lists the pages of the documentation.")
    return layout.docs_page("docs_tag.html", "", lambda: _tag_values(documents[tag]))


@blueprint.get("/schemas")
def show_schemas() -> Response:
    """Show the schemas and headers that operations of several tags use, and where all others stand."""
    answers.query(layout.NoParameters())
    return layout.docs_page("docs_schemas.html", "", _schema_values)


def _tag_values(tag: Mapping[str, object]) -> dict[str, object]:
    name = str(tag["name"])
    return {
        "tag": tag,
        "operations": contract_reading.of_tag(name),
        "schemas": _schemas_at(name),
        "guides_of": lambda operation: mentions().get(operation.id, ()),
    }


def _schema_values() -> dict[str, object]:
    return {
        "schemas": _schemas_at(""),
        "names": {name: contract_reading.schema_address(name) for name in sorted(contract_reading.homes())},
        "request_headers": contract_reading.request_headers(),
        "answer_headers": contract_reading.answer_headers(),
    }


def _schemas_at(tag: str) -> dict[str, Mapping[str, object]]:
    schemas = contract_reading.components("schemas")
    return {name: schemas[name] for name, home in contract_reading.homes().items() if home == tag}
