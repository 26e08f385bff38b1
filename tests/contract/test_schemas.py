"""openapi.yaml and marshmallow judge the same bodies alike, and request bodies are made of generated schemas only."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema_rs import ValidationError

from service.contract.derive import schema_of
from service.openapi.build import noun_types
from tests.contract.bodies import BODIES
from tests.contract.checking import by_id, check_value, resolved


def test_every_request_component_has_bodies_to_judge() -> None:
    assert all(len(bodies.good) >= 3 <= len(bodies.bad) for bodies in BODIES.values())


def fits_the_contract(name: str, body: Any) -> bool:
    try:
        check_value({"$ref": f"#/components/schemas/{name}"}, body)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(("name", "body"), [(name, body) for name, bodies in BODIES.items() for body in bodies.good])
def test_contract_and_schema_take_a_good_body(name: str, body: Any) -> None:
    assert fits_the_contract(name, body)
    assert schema_of(noun_types()[name]).validate(body) == {}


@pytest.mark.parametrize(("name", "body"), [(name, body) for name, bodies in BODIES.items() for body in bodies.bad])
def test_contract_and_schema_refuse_a_bad_body(name: str, body: Any) -> None:
    assert not fits_the_contract(name, body)
    assert schema_of(noun_types()[name]).validate(body)


def test_every_object_of_a_request_has_bodies_to_judge() -> None:
    """What the document's request bodies are made of."""
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            reference = value.get("$ref", "")
            if isinstance(reference, str) and reference and reference not in found:
                found.add(reference)
                walk(resolved(value))
            for key, member in value.items():
                if key != "$ref":
                    walk(member)
        elif isinstance(value, list):
            for member in value:
                walk(member)

    for operation in by_id().values():
        walk(operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {}))
    strict = {name.rpartition("/")[2] for name in found if "properties" in resolved({"$ref": name})}
    assert strict - {"SignificanceSettings"} == set(BODIES)
