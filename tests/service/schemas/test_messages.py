"""No message of marshmallow's own is shown, and each message has a code and says what to write."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from marshmallow import Schema, ValidationError, fields, validate

from service.contract.build import query_classes, request_classes
from service.errors import Unprocessable
from service.schemas import benchmarks, queries, submissions, teams
from service.schemas.base import Fault
from tests.contract.bodies import BODIES
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import BENCHMARK

TOKEN = {"scopes": ["read"]}
HOOK = {"url": "https://example.org/"}
SCHEMAS = {**request_classes(), **query_classes()}


def test_every_bad_body_gets_messages_of_the_service_only():
    for name, bodies in BODIES.items():
        for body in bodies.bad:
            with pytest.raises(ValidationError) as error:
                SCHEMAS[name]().load(body)
            assert all(isinstance(message, Fault) for message in messages(error.value.messages)), (name, body)


def messages(found: object) -> Iterator[object]:
    if isinstance(found, dict):
        for below in found.values():
            yield from messages(below)
    elif isinstance(found, list):
        for below in found:
            yield from messages(below)
    else:
        yield found


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_field_has_messages_of_the_service(name):
    for field in all_fields(SCHEMAS[name]()):
        shown = {key: text for key, text in field.error_messages.items() if key not in NEVER_SHOWN}
        assert all(isinstance(text, Fault) for text in shown.values()), (field, shown)
        for check in field.validators:
            if isinstance(check, validate.Length | validate.Range | validate.Regexp):
                assert isinstance(check.error, Fault), (field, check)


NEVER_SHOWN = ("validator_failed", "format")
"""Of checks that return false, and of dates that are written: the service has neither."""


def all_fields(schema: Schema) -> Iterator[fields.Field]:
    for field in schema.fields.values():
        yield field
        if isinstance(field, fields.List):
            yield field.inner


@pytest.mark.parametrize(
    ("schema", "document", "code", "words"),
    [
        (teams.TokenRequest, {**TOKEN, "expires_at": "tomorrow"}, "bad-moment", "as in 2026-10-01T00:00:00Z"),
        (teams.TokenRequest, {**TOKEN, "expires_at": "2030-01-01T00:00:00"}, "bad-moment", "The time has no zone."),
        (teams.TokenRequest, {**TOKEN, "expires_at": 7}, "bad-moment", "ISO 8601"),
        (teams.TokenRequest, {"scopes": ["reed"]}, "bad-value", "Did you mean 'read'?"),
        (teams.TokenRequest, {"scopes": [{}]}, "wrong-type", "This must be a string."),
        (teams.TokenRequest, {"scopes": "read"}, "wrong-type", "This must be a list."),
        (teams.TokenRequest, {}, "missing-field", "Add it."),
        (teams.TokenRequest, {"scopes": None}, "null-field", "must not be null"),
        (teams.TokenRequest, {**TOKEN, "scopse": 1}, "unknown-field", "Did you mean 'scopes'?"),
        (teams.TokenRequest, {**TOKEN, "zzzzzz": 1}, "unknown-field", "Known fields: expires_at, name, scopes."),
        (teams.WebhookRequest, {**HOOK, "kinds": ["submission.score"]}, "bad-value", "'submission.scored'"),
        (teams.WebhookRequest, {"url": ""}, "bad-value", "Give 1 to 1000 characters."),
        (benchmarks.BenchmarkRequest, {**BENCHMARK, "metrics": []}, "bad-value", "Give 1 to 50 metrics."),
        (benchmarks.BenchmarkChanges, {"titel": "x"}, "not-changeable", "Did you mean 'title'?"),
        (submissions.SubmissionChanges, {"nmae": "x"}, "not-changeable", "Did you mean 'name'?"),
        (queries.PageQuery, {"limit": "many"}, "bad-value", "a whole number from 1 to 1000"),
        (queries.PageQuery, {"limit": "1" * 5000}, "bad-value", "a whole number from 1 to 1000"),
        (queries.PageQuery, {"cursor": "<"}, "bad-value", "the `next` value of the previous page"),
        (queries.ItemsQuery, {"system": "A"}, "missing-field", "Add it."),
        (queries.JobsQuery, {"state": "runing"}, "bad-value", "Did you mean 'running'?"),
        (submissions.JobRequest, {"agreement": [["a"]]}, "bad-value", "Give 2 addresses of scores."),
    ],
)
def test_a_message_says_what_to_write(schema, document, code, words):
    with pytest.raises(Unprocessable) as error:
        loaded(schema, document)
    assert (code, True) in [(problem.code, words in problem.detail) for problem in error.value.problems]


def test_braces_in_a_value_are_shown_as_they_are():
    with pytest.raises(Unprocessable) as error:
        loaded(teams.TokenRequest, {"scopes": ["{0.__class__}"]})
    assert "'{0.__class__}'" in error.value.problems[0].detail


def test_a_value_of_any_length_is_shown_in_part():
    with pytest.raises(Unprocessable) as error:
        loaded(teams.TokenRequest, {"scopes": ["x" * 100_000]})
    assert len(error.value.problems[0].detail) < 300
