"""The client against openapi.yaml: its operations, its documents, and a class for each kind of problem."""

from __future__ import annotations

import inspect
import re
import typing
from typing import Any

import pytest

from service.problem_catalogue import TYPES
from tests.contract.checking import ROOT, by_id, contract, operations, resolved
from treescore.client import OPERATIONS, Document, answers, documents
from treescore.client.answers import BY_SLUG, RefusedError, RequestError, UnavailableError
from treescore.client.clients import AsyncClient, Client
from treescore.client.requests import Operation

OWN_HEADERS = {"Request-Id", "If-None-Match"}
"""That every operation may take: the client sets the second by itself."""


def names(operation: dict[str, Any], place: str, *, required: bool = False) -> set[str]:
    return {
        each["name"]
        for each in operation["parameters"]
        if each["in"] == place and (each.get("required") or not required)
    }


def test_the_client_knows_exactly_the_operations_of_the_contract() -> None:
    documented = {operation["operationId"]: (method, path) for method, path, operation in operations()}
    assert {each.id: (each.method, each.path) for each in OPERATIONS.values()} == documented


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=list(OPERATIONS))
def test_its_parameters_and_bodies_are_those_of_the_contract(operation: Operation) -> None:
    documented = by_id()[operation.id]
    assert set(operation.places) == names(documented, "path")
    assert set(operation.query) == names(documented, "query")
    assert set(operation.needed) == names(documented, "query", required=True)
    assert set(operation.headers) == names(documented, "header") - OWN_HEADERS
    body = resolved(documented.get("requestBody", {}))
    assert set(operation.body) == set(body.get("content", ()))


def test_every_post_that_takes_a_key_is_sent_with_one_and_no_other_is_repeated_blindly() -> None:
    for operation in OPERATIONS.values():
        keyed = "Idempotency-Key" in names(by_id()[operation.id], "header")
        assert operation.takes_key == keyed
    again = {each.id for each in OPERATIONS.values() if each.method == "POST" and each.repeatable}
    assert again == {"cancel_job", "cancel_submission", "ask_comparison", "suggest_scorers"}


def views() -> list[type[Document]]:
    return [
        each
        for each in vars(documents).values()
        if inspect.isclass(each) and issubclass(each, Document) and each is not Document
    ]


@pytest.mark.parametrize("view", views(), ids=lambda view: view.__name__)
def test_the_members_of_a_document_are_those_of_its_schema(view: type[Document]) -> None:
    schemas = contract()["components"]["schemas"]
    properties = schemas[view.__name__]["properties"]
    hints = {
        name: hint
        for kind in view.__mro__
        if issubclass(kind, Document) and kind is not Document
        for name, hint in typing.get_type_hints(kind).items()
        if name != "views"
    }
    assert set(hints) <= set(properties)
    for name, hint in hints.items():
        may_be_none = type(None) in typing.get_args(hint)
        assert may_be_none == is_nullable(properties[name]), name
    for name, kind in view.views.items():
        assert f"/{kind.__name__}'" in str(properties[name]), name


def is_nullable(schema: dict[str, Any]) -> bool:
    schema = resolved(schema)
    kinds = schema.get("type", ())
    return "null" in (kinds if isinstance(kinds, list) else [kinds]) or any(
        is_nullable(each) for word in ("oneOf", "anyOf") for each in schema.get(word, ())
    )


def test_each_problem_of_the_service_has_a_class_and_each_class_a_problem() -> None:
    assert set(BY_SLUG) == set(TYPES)


@pytest.mark.parametrize("slug", sorted(BY_SLUG))
def test_a_problem_is_an_error_of_its_status(slug: str) -> None:
    status = TYPES[slug].status
    assert BY_SLUG[slug].code == status
    base = UnavailableError if status >= 500 else RefusedError if status in answers.REFUSALS else RequestError
    assert issubclass(BY_SLUG[slug], base)


def test_what_people_do_has_a_method() -> None:
    """Each operation is called by a method, or is one of those that people of this client have no use for."""
    source = "".join((ROOT / "treescore" / "client" / f"{name}.py").read_text() for name in ("resources", "clients"))
    called = set(re.findall(r'"(\w+)"', source)) & set(OPERATIONS)
    assert set(OPERATIONS) - called == {"get_openapi_yaml", "get_docs", "get_metrics"}


def test_both_clients_have_the_same_methods() -> None:
    def public(kind: type) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    assert public(Client) == public(AsyncClient)
