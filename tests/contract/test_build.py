"""openapi.yaml is what `python -m service.openapi` builds, and holds the names that API.md fixes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from flask import Response
from typing_extensions import TypedDict

from service.api.calls import Answer, Operation, answer
from service.contract.derive import Named, field_of
from service.contract.jobs import Job
from service.openapi.build import ContractError, Generator, Route, built, contract_document, difference
from service.requests import Query
from tests.contract.checking import ROOT, contract, operations, resolved

FIXED: dict[str, Any] = json.loads((Path(__file__).parent / "fixed_names.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def published() -> str:
    """The file as it is built."""
    return built()


def test_the_committed_file_is_the_built_one(published: str) -> None:
    assert difference((ROOT / "openapi.yaml").read_text(encoding="utf-8"), published) == ""


@pytest.mark.slow  # what it compares, the test above compares too
def test_check_compares_and_writes_nothing() -> None:
    before = (ROOT / "openapi.yaml").read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "service.openapi", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert (ROOT / "openapi.yaml").read_bytes() == before


def test_a_difference_is_shown_short(published: str) -> None:
    assert difference(published, published) == ""
    changed = difference(published, published.replace("operationId: submit_job", "operationId: send_job"))
    assert "-      operationId: submit_job" in changed
    assert "+      operationId: send_job" in changed
    assert len(difference("", published).splitlines()) <= 40


def answering(query: type[Query] | None = None, *answers: Answer, also: str = "") -> Route:
    """An operation of a blueprint of tags."""

    def view() -> Response:
        """Look.

        Long.
        """
        raise NotImplementedError

    return Route(
        Operation(query, answers, also.split(), None, ("read",), anyone=False), view, "jobs", "/v1/look", "get"
    )


@dataclass(frozen=True)
class Undescribed(Query):
    """A query."""

    colour: str = "red"


class Forgotten(TypedDict):
    """A document.

    Attributes:
        gone: a member that it had.
    """

    here: str


@pytest.mark.parametrize(
    ("route", "message"),
    [
        (answering(also="scope pages"), "GET /v1/look has unknown names: pages"),
        (answering(None, answer("Done.", Job, headers="Loction")), "GET /v1/look has unknown names: Loction"),
        (answering(None, answer("Wrong.", Job, status=400)), "GET /v1/look: two answers 400"),
        (answering(Undescribed), "Undescribed: describe these parameters: colour"),
    ],
)
def test_a_slip_in_a_record_is_refused(route: Route, message: str) -> None:
    with pytest.raises(ContractError, match=re.escape(message)):
        contract_document([route])


def test_slips_in_types_are_refused() -> None:
    with pytest.raises(ContractError, match="the docstring of Forgotten has unknown names: gone"):
        Generator().component(Forgotten)
    made = Generator()
    made.field2property(field_of(Annotated[str, Named("Id")]))
    with pytest.raises(ContractError, match="Id is the name of two types"):
        made.field2property(field_of(Annotated[int, Named("Id")]))


def test_the_published_file_is_plain_yaml_without_words_of_the_builder() -> None:
    text = (ROOT / "openapi.yaml").read_text(encoding="utf-8")
    assert not re.search(r"^\s*'?x-", text, re.MULTILINE)
    assert not any(isinstance(token, yaml.AliasToken | yaml.AnchorToken) for token in yaml.scan(text))


def by_address() -> dict[str, dict[str, Any]]:
    return {f"{method} {re.sub(r'{[^}]*}', '{}', path)}": operation for method, path, operation in operations()}


@pytest.mark.parametrize("address", FIXED["operations"])
def test_a_fixed_operation_is_published(address: str) -> None:
    fixed, operation = FIXED["operations"][address], by_address()[address]
    assert set(fixed["parameters"]) <= {parameter["name"] for parameter in operation["parameters"]}
    assert set(fixed["answers"]) <= set(operation["responses"])
    assert set(fixed.get("bodies", ())) <= set(operation.get("requestBody", {}).get("content", {}))


@pytest.mark.parametrize("answer", FIXED["headers"])
def test_fixed_headers_are_published(answer: str) -> None:
    address, _, status = answer.rpartition(" ")
    assert set(FIXED["headers"][answer]) <= set(by_address()[address]["responses"][status]["headers"])


@pytest.mark.parametrize("name", FIXED["requests"])
def test_fixed_members_of_a_request_are_published(name: str) -> None:
    fixed, schema = FIXED["requests"][name], contract()["components"]["schemas"][name]
    assert set(schema.get("required", ())) == set(fixed["required"])
    assert {*fixed["required"], *fixed["members"]} <= set(schema["properties"])


@pytest.mark.parametrize("name", FIXED["answers"])
def test_fixed_members_of_an_answer_are_published(name: str) -> None:
    assert set(FIXED["answers"][name]) <= set(contract()["components"]["schemas"][name]["properties"])


def schema_at(place: str) -> Any:
    name, *members = place.split("/")
    schema = contract()["components"]["schemas"][name]
    for member in members:
        schema = resolved(schema["properties"][member])
    return schema


@pytest.mark.parametrize("place", FIXED["objects"])
def test_fixed_members_of_an_object_are_published(place: str) -> None:
    assert set(FIXED["objects"][place]) <= set(schema_at(place)["properties"])


@pytest.mark.parametrize("place", FIXED["values"])
def test_fixed_values_are_published(place: str) -> None:
    assert set(FIXED["values"][place]) <= set(schema_at(place)["enum"])
