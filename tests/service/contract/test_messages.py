"""No message of marshmallow's own is shown, and each message has a code and says what to write."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from marshmallow import Schema, ValidationError, fields, validate

from service.contract.access import TokenRequest, WebhookRequest
from service.contract.benchmarks import BenchmarkChanges, BenchmarkRequest
from service.contract.common import PageQuery
from service.contract.derive import schema_of
from service.contract.fields import Fault
from service.contract.jobs import ItemsQuery, JobRequest, JobsQuery
from service.contract.submissions import SubmissionChanges
from service.errors import Unprocessable
from service.openapi.build import noun_types
from service.requests import Query
from tests.contract.bodies import BODIES
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import BENCHMARK

TOKEN = {"scopes": ["read"]}
HOOK = {"url": "https://example.org/"}


def queries(kind: type[Query]) -> Iterator[type[Query]]:
    yield kind
    for each in kind.__subclasses__():
        yield from queries(each)


SCHEMAS = {**{name: noun_types()[name] for name in BODIES}, **{kind.__name__: kind for kind in queries(Query)}}


def test_every_bad_body_gets_messages_of_the_service_only():
    for name, bodies in BODIES.items():
        for body in bodies.bad:
            with pytest.raises(ValidationError) as error:
                schema_of(SCHEMAS[name]).load(body)
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
    for field in all_fields(schema_of(SCHEMAS[name])):
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
        (TokenRequest, {**TOKEN, "expires_at": "tomorrow"}, "bad-moment", "as in 2026-10-01T00:00:00Z"),
        (TokenRequest, {**TOKEN, "expires_at": "2030-01-01T00:00:00"}, "bad-moment", "The time has no zone."),
        (TokenRequest, {**TOKEN, "expires_at": 7}, "bad-moment", "ISO 8601"),
        (TokenRequest, {"scopes": ["reed"]}, "bad-value", "Did you mean 'read'?"),
        (TokenRequest, {"scopes": [{}]}, "wrong-type", "This must be a string."),
        (TokenRequest, {"scopes": "read"}, "wrong-type", "This must be a list."),
        (TokenRequest, {}, "missing-field", "Add it."),
        (TokenRequest, {"scopes": None}, "null-field", "must not be null"),
        (TokenRequest, {**TOKEN, "scopse": 1}, "unknown-field", "Did you mean 'scopes'?"),
        (TokenRequest, {**TOKEN, "zzzzzz": 1}, "unknown-field", "Known fields: benchmark, expires_at, name, scopes."),
        (WebhookRequest, {**HOOK, "kinds": ["submission.score"]}, "bad-value", "'submission.scored'"),
        (WebhookRequest, {"url": ""}, "bad-value", "Give 1 to 1000 characters."),
        (BenchmarkRequest, {**BENCHMARK, "metrics": []}, "bad-value", "Give 1 to 50 metrics."),
        (BenchmarkChanges, {"titel": "x"}, "not-changeable", "Did you mean 'title'?"),
        (SubmissionChanges, {"nmae": "x"}, "not-changeable", "Did you mean 'name'?"),
        (PageQuery, {"limit": "many"}, "bad-value", "a whole number from 1 to 1000"),
        (PageQuery, {"limit": "1" * 5000}, "bad-value", "a whole number from 1 to 1000"),
        (PageQuery, {"cursor": "<"}, "bad-value", "the `next` value of the previous page"),
        (ItemsQuery, {"system": "A"}, "missing-field", "Add it."),
        (JobsQuery, {"state": "runing"}, "bad-value", "Did you mean 'running'?"),
        (JobRequest, {"agreement": [["a"]]}, "bad-value", "Give 2 addresses of scores."),
    ],
)
def test_a_message_says_what_to_write(schema, document, code, words):
    with pytest.raises(Unprocessable) as error:
        loaded(schema, document)
    assert (code, True) in [(problem.code, words in problem.detail) for problem in error.value.problems]


def test_braces_in_a_value_are_shown_as_they_are():
    with pytest.raises(Unprocessable) as error:
        loaded(TokenRequest, {"scopes": ["{0.__class__}"]})
    assert "'{0.__class__}'" in error.value.problems[0].detail


def test_a_value_of_any_length_is_shown_in_part():
    with pytest.raises(Unprocessable) as error:
        loaded(TokenRequest, {"scopes": ["x" * 100_000]})
    assert len(error.value.problems[0].detail) < 300
