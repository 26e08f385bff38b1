"""openapi.yaml is a valid document, names the routes that there are, and is served as it stands."""

from __future__ import annotations

import re
from typing import Any

import yaml
from flask import Flask
from openapi_spec_validator import validate

from service.pages.answers import BLUEPRINTS
from tests.contract.checking import ROOT, by_id, contract, operations, resolved
from tests.contract.stage import Stage


def routes(app: Flask) -> set[tuple[str, str, str]]:
    return {
        (method, re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), rule.endpoint.rpartition(".")[2])
        for rule in app.url_map.iter_rules()
        if not rule.endpoint.startswith(BLUEPRINTS)  # pages are for people: no contract promises their markup
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }


def test_the_document_is_valid() -> None:
    assert contract()["openapi"].startswith("3.1.")
    validate(contract())


def test_its_routes_are_the_apps_and_operations_are_named_as_their_functions(stage: Stage) -> None:
    documented = {(method, path, operation["operationId"]) for method, path, operation in operations()}
    assert documented == routes(stage.app)


def test_operation_ids_are_unique() -> None:
    assert len(by_id()) == sum(1 for _ in operations())


def test_every_operation_says_what_it_is() -> None:
    tags = {tag["name"] for tag in contract()["tags"]}
    for _, path, operation in operations():
        assert operation["summary"].endswith("."), path
        assert set(operation["tags"]) <= tags, path
        assert set(re.findall(r"\{(\w+)\}", path)) == {
            parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "path"
        }


def test_scopes_of_operations_are_scopes_of_tokens() -> None:
    scopes = set(contract()["components"]["schemas"]["Scope"]["enum"])
    for _, path, operation in operations():
        for alternative in operation["security"]:
            assert set(alternative) <= {"bearer"}, path
            assert set(alternative.get("bearer", ())) <= scopes, path


def test_every_component_is_used() -> None:
    used: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            used.update([value["$ref"]] if isinstance(value.get("$ref"), str) else [])
            for member in value.values():
                walk(member)
        elif isinstance(value, list):
            for member in value:
                walk(member)

    walk(contract())
    for kind, members in contract()["components"].items():
        if kind != "securitySchemes":
            assert {f"#/components/{kind}/{name}" for name in members} <= used


def test_every_get_may_answer_304_and_every_answer_with_a_body_is_typed() -> None:
    for method, path, operation in operations():
        assert (method == "GET") == ("304" in operation["responses"]), path
        for status, response in operation["responses"].items():
            if status not in ("204", "304"):
                assert resolved(response)["content"], (path, status)


def test_it_is_served_as_written(stage: Stage) -> None:
    client = stage.client(None)
    served = client.get("/openapi.yaml").data
    assert served == (ROOT / "openapi.yaml").read_bytes()
    assert client.get("/openapi.json").json == yaml.load(served, yaml.CSafeLoader)
