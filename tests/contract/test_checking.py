"""The check of answers refuses members that the contract does not name, at every depth, and leaves no object out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema_rs import ValidationError

from service.usecases.status import Workers
from tests.contract.checking import check_answer, check_value, operations, resolved
from tests.contract.stage import Stage

SENTENCES = {"total": 1, "error": 0, "skip": 0}
LOAD = {"threads": 32, "busy": 1, "waiting": 0}
PART = {"scores": {"las": 1.0}, "counts": {"words": 2}, "sentences": SENTENCES}
CHECKS = {"store": "ok", "queue": "away", "workers": "unknown", "views": "unknown", "disk": "low", "schema": "current"}
WORKERS = {"ready": None, "kernels": None}
GOOD = {
    "Team": {"id": "lyon", "name": "Lyon", "contact": None, "created_at": "2026-11-20T12:00:00Z"},
    "TeamPage": {
        "items": [{"id": "lyon", "name": "Lyon", "contact": None, "created_at": "2026-11-20T12:00:00Z"}],
        "next": None,
    },
    "PartResult": {**PART, "extra": {"anything": {"at": "all"}}},
    "Scores": {"las": None, "cutoff": {"labelled_f1": 1.0}},
    "Intervals": {"las": {"low": 0.5, "high": 1.0}, "uas": None, "cutoff": {"labelled_f1": {"low": 0.5, "high": 1.0}}},
    "Readiness": {"status": "ready", "checks": CHECKS, "workers": WORKERS, "server": LOAD},
}
UNKNOWN = [
    ("Readiness", {"status": "ready", "checks": {**CHECKS, "more": "ok"}, "workers": WORKERS, "server": LOAD}),
    ("PartResult", {**PART, "more": 1}),
    ("PartResult", {**PART, "sentences": {**SENTENCES, "more": 1}}),
    ("Intervals", {"las": {"low": 0.5, "high": 1.0, "level": 0.95}}),
    ("Comparisons", {"items": [{"score": "ud.las_f1", "pairs": [], "terms": [{"one_plus": True}]}]}),
]
"""Answers with one member too many: in the answer itself, in an object in it, in a map, in a branch, in a list."""


def reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


@pytest.mark.parametrize("name", GOOD)
def test_an_answer_with_known_members_passes(name: str) -> None:
    check_answer(reference(name), GOOD[name])


@pytest.mark.parametrize(("name", "answer"), UNKNOWN)
def test_clients_may_meet_an_unknown_member_but_the_tests_refuse_it(name: str, answer: Any) -> None:
    check_value(reference(name), answer)
    with pytest.raises(ValidationError):
        check_answer(reference(name), answer)


def test_the_client_refuses_an_answer_with_an_unknown_member(stage: Stage) -> None:
    stage.client().get("/readyz")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("service.usecases.status.ready", lambda _: (True, {**CHECKS, "x": "ok"}, Workers()))
        with pytest.raises(ValidationError, match="'x' was unexpected"):
            stage.client().get("/readyz")


def schemas_of_answers() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each schema that JSON answers are made of, with its place; no component twice."""
    known: set[str] = set()

    def below(place: str, schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        if "$ref" in schema:
            if schema["$ref"] in known:
                return
            known.add(schema["$ref"])
            place, schema = schema["$ref"].rpartition("/")[2], resolved(schema)
        yield place, schema
        inner = [
            *schema.get("oneOf", ()),
            *schema.get("anyOf", ()),
            schema.get("items"),
            schema.get("additionalProperties"),
        ]
        for each in inner:
            if isinstance(each, dict):
                yield from below(place, each)
        for name, member in schema.get("properties", {}).items():
            yield from below(f"{place}/{name}", member)

    for _, path, operation in operations():
        for response in operation["responses"].values():
            for media, content in resolved(response).get("content", {}).items():
                if "json" in media and "ndjson" not in media:
                    yield from below(path, content["schema"])


def test_every_object_of_an_answer_names_its_members_or_says_why_not() -> None:
    for place, schema in schemas_of_answers():
        assert "allOf" not in schema, f"{place}: the check does not read allOf"
        kinds = schema.get("type", () if {"$ref", "oneOf", "anyOf", "enum", "const"} & set(schema) else "object")
        if "object" in kinds:
            assert "properties" in schema or "additionalProperties" in schema, f"{place} says nothing of its members"
        if schema.get("additionalProperties") is True:
            assert "description" in schema, f"{place} does not say what its members are"
