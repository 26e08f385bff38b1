"""openapi.yaml is what `python -m service.contract` builds, and holds the names that API.md fixes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.contract.build import FOLDER, ContractError, built, difference, noun_types, read_parts
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
        [sys.executable, "-m", "service.contract", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert (ROOT / "openapi.yaml").read_bytes() == before


def test_a_difference_is_shown_short(published: str) -> None:
    assert difference(published, published) == ""
    changed = difference(published, published.replace("operationId: submit_job", "operationId: send_job"))
    assert "-      operationId: submit_job" in changed
    assert "+      operationId: send_job" in changed
    assert len(difference("", published).splitlines()) <= 40


def test_the_hand_written_parts_repeat_nothing_that_is_generated() -> None:
    parts = read_parts()
    assert not set(parts.schemas) & set(noun_types())
    assert not [name for name in parts.schemas if name.endswith("Page")]


def copy_with(folder: Path, name: str, change: str, to: str) -> Path:
    """The hand-written files with one change."""
    for path in FOLDER.glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        assert path.name != name or change in text
        (folder / path.name).write_text(text.replace(change, to) if path.name == name else text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "change", "to", "message"),
    [
        ("jobs.yaml", "x-answers: [scope, page]", "x-answers: [scope, pages]", "unknown names: pages"),
        ("jobs.yaml", "x-query: JobsQuery", "x-querry: JobsQuery", "unknown names: x-querry"),
        ("jobs.yaml", "  JobMeta:\n", "  JobRequest:\n", "JobRequest stands in both notations"),
        ("teams.yaml", "\npages:", "\npage:", "unknown names: page"),
        ("tokens.yaml", "  TokenPage: Token", "  TeamPage: Token", "pages repeats TeamPage"),
        ("common.yaml", "x-status: '404'", "x-statsu: '404'", "unknown names: x-statsu"),
    ],
)  # fmt: skip
def test_a_slip_in_a_hand_written_file_is_refused(
    tmp_path: Path, name: str, change: str, to: str, message: str
) -> None:
    folder = copy_with(tmp_path, name, change, to)
    with pytest.raises(ContractError, match=re.escape(message)):
        built(folder)


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
