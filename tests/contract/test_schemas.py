"""What marshmallow takes and what openapi.yaml says it takes are the same, in both directions."""

from __future__ import annotations

from typing import Any

import pytest
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin, OpenAPIConverter
from marshmallow import Schema, fields

from service.requests import MAX_NOTES
from service.schemas import base, benchmarks, comparisons, jobs, queries, submissions, teams, tokens, webhooks
from tests.contract.checking import by_id, contract, resolved
from treescore.significance.settings import PARAMS

QUERIES: dict[str, type[Schema]] = {
    "list_jobs": queries.JobsQuery,
    "list_items": queries.ItemsQuery,
    "get_slices": queries.SlicesQuery,
    "get_report": queries.ReportQuery,
    "get_comparisons": queries.ComparisonsQuery,
    "list_tokens": queries.PageQuery,
    "list_benchmarks": queries.BenchmarksQuery,
    "list_revisions": queries.PageQuery,
    "list_teams": queries.PageQuery,
    "submit": queries.SubmitQuery,
    "list_submissions": queries.SubmissionsQuery,
    "list_submission_items": queries.SubmissionItemsQuery,
    "get_submission_slices": queries.SubmissionSlicesQuery,
    "get_output": queries.OutputQuery,
    "get_leaderboard": queries.LeaderboardQuery,
    "list_benchmark_comparisons": queries.PageQuery,
    "get_comparison": queries.ComparisonQuery,
    "list_differing_items": queries.DifferingQuery,
    "list_webhooks": queries.PageQuery,
    "list_events": queries.EventsQuery,
}
NAME = {"type": "string", "minLength": 1, "maxLength": base.MAX_NAME}
STRINGS = {"type": "array", "items": {"type": "string"}}
SECONDS = {"type": "array", "items": {"type": "number", "minimum": 0}}
COUNT = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
LENGTHS = {"type": "array", "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": COUNT}}
CUSTOM: dict[type[fields.Field[Any]], dict[str, Any]] = {
    base.Text: {"oneOf": [{"type": "string"}, {"$ref": "#/components/schemas/Texts"}]},
    jobs.Significance: {"oneOf": [{"type": "boolean"}, {"type": "object"}]},
    base.Name: NAME,
    base.Parameters: {"type": "object"},
    base.Strings: STRINGS,
    base.Seconds: SECONDS,
    base.Lengths: LENGTHS,
    base.Slug: {"type": "string", "pattern": f"^{base.Slug.pattern.pattern}$"},
    base.Flag: {"type": "boolean"},
    base.Step: {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    benchmarks.Notes: {"type": "string", "maxLength": MAX_NOTES},
    benchmarks.PublishInput: {"enum": [True, False, "words", "text"]},
    comparisons.Compared: {"oneOf": [{**STRINGS, "minItems": 2, "maxItems": 100}, {"const": "leaderboard"}]},
}
MODULES = (base, benchmarks, comparisons, jobs, submissions, teams, tokens, webhooks)
SAID = ("description", "title", "propertyNames", "examples")
"""Members that only people read, or (propertyNames) that apispec has no word for."""


def body_schemas() -> dict[str, type[Schema]]:
    modules = {module.__name__ for module in MODULES}
    waiting, found = [base.Strict], {}
    while waiting:
        for below in waiting.pop().__subclasses__():
            waiting.append(below)
            if below.__module__ in modules:
                found[below.__name__] = below
    return found


def custom(_converter: OpenAPIConverter, field: fields.Field[Any], **_options: Any) -> dict[str, Any]:
    """Our own fields in JSON Schema."""
    if isinstance(field, base.Named):
        return {"oneOf": [NAME, {"$ref": f"#/components/schemas/{type(field.schema).__name__}"}]}
    if isinstance(field, base.Columns):
        return {"type": "object", "additionalProperties": CUSTOM[type(field.column)]}
    if isinstance(field, base.Mapped):
        return {"type": "object", "additionalProperties": custom(_converter, field.inner)}
    if isinstance(field, benchmarks.PartField):
        part = {"$ref": "#/components/schemas/PartGold"}
        return {"oneOf": [part, {"type": "null"}]} if field.allow_none else part
    if isinstance(field, base.Whole):
        found: dict[str, Any] = {"type": "integer", "minimum": field.least, "maximum": field.most}
    else:
        found = next((schema for kind, schema in CUSTOM.items() if isinstance(field, kind)), {})
    return {**found, "type": [found["type"], "null"]} if found and field.allow_none else found


@pytest.fixture(scope="module")
def converter() -> OpenAPIConverter:
    plugin = MarshmallowPlugin(
        schema_name_resolver=lambda schema: type(schema).__name__ if isinstance(schema, Schema) else schema.__name__
    )
    APISpec(title="t", version="0", openapi_version="3.1.0", plugins=[plugin])
    assert plugin.converter is not None
    plugin.converter.add_attribute_function(custom)
    return plugin.converter


def plain(value: Any) -> Any:
    """A schema with its references put in, and without what only people read."""
    value = resolved(value)
    if isinstance(value, list):
        return [plain(member) for member in value]
    if isinstance(value, str):
        return value.replace(r"\A", "^").replace(r"\Z", "$")
    if not isinstance(value, dict):
        return value
    kept = {key: plain(member) for key, member in value.items() if key not in SAID and key != "properties"}
    if "properties" in value:
        kept["properties"] = {name: plain(member) for name, member in value["properties"].items()}
    for key in ("required", "enum"):
        if isinstance(kept.get(key), (list, tuple)):
            kept[key] = sorted(kept[key], key=repr)
    return kept


@pytest.mark.parametrize("name", sorted(body_schemas()))
def test_a_body_schema_is_its_component(name: str, converter: OpenAPIConverter) -> None:
    ours = plain(converter.schema2jsonschema(body_schemas()[name]()))
    theirs = plain(contract()["components"]["schemas"][name])
    if name == "JobRequest":
        settings = theirs["properties"]["significance"]["oneOf"][1]
        assert set(settings.pop("properties")) <= {"scores", *PARAMS}
    assert ours == theirs


def test_every_schema_that_refuses_unknown_members_in_a_request_is_marshmallows() -> None:
    """The other direction: what the document's request bodies are made of is made by a schema of ours."""
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
    assert strict - {"SignificanceSettings"} == set(body_schemas())


@pytest.mark.parametrize("operation_id", sorted(by_id()))
def test_a_query_is_its_parameters(operation_id: str, converter: OpenAPIConverter) -> None:
    documented = {
        parameter["name"]: (parameter.get("required", False), plain(parameter["schema"]))
        for parameter in by_id()[operation_id]["parameters"]
        if parameter["in"] == "query"
    }
    schema = converter.schema2jsonschema(QUERIES.get(operation_id, queries.NoQuery)())
    taken = {name: (name in schema.get("required", ()), plain(member)) for name, member in schema["properties"].items()}
    assert taken == documented
