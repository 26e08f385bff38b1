"""JSON bodies: what two readers could read in two ways is refused, and the place is said."""

from typing import Any

import pytest

from service.api.bodies import parse_json
from service.errors import BadRequest
from treescore.errors import Problem


def refusal(body: bytes) -> Problem:
    with pytest.raises(BadRequest) as caught:
        parse_json(body)
    assert caught.value.status == 400
    assert caught.value.type_slug == "malformed-body"
    [problem] = caught.value.problems
    return problem


@pytest.mark.parametrize(
    ("body", "code", "place"),
    [
        (b"", "json-empty", None),
        (b" \n", "json-empty", None),
        (b'{"a": 1,\n "b" 2}', "json-syntax", (2, 6)),
        (b'{"a": 1} x', "json-syntax", (1, 10)),
        (b'{"a": 1,}', "json-syntax", (1, 9)),
        (b'\xef\xbb\xbf{"a": 1}', "json-syntax", (1, 1)),
        (b'{"a":\n "caf\xe9"}', "json-invalid-utf8", (2, 6)),
        (b'{"a": 1, "b": {"c": 2, "c": 3}}', "json-duplicate-key", None),
        (b'{"a": NaN}', "json-not-a-number", (1, 7)),
        (b'{"a":\n -Infinity}', "json-not-a-number", (2, 3)),
        (b'{"a": 1e999}', "json-huge-number", (1, 7)),
        (b'{"a": ' + b"9" * 19 + b"}", "json-huge-number", None),
        (b'{"a": ' + b"9" * 100_000 + b"}", "json-huge-number", None),
        (b'{"a": "x\\ud800y"}', "json-half-surrogate", (1, 9)),
        (b'{"a": "\\udc00"}', "json-half-surrogate", (1, 8)),
        (b'["\\ud800", 1]', "json-half-surrogate", (1, 3)),
        (b"[" * 200_000 + b"]" * 200_000, "json-too-deep", None),
        (b'{"a":' * 100_000, "json-too-deep", None),
    ],
)
def test_refused_with_code_and_place(body: Any, code: Any, place: Any) -> None:
    problem = refusal(body)
    assert problem.code == code
    if place is not None:
        assert (problem.line, problem.column) == place
    assert len(problem.detail) < 300


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a": [1, -2.5e3, true, null, ""]}', {"a": [1, -2500.0, True, None, ""]}),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\\\\ud800"', "\\ud800"),
        (b"9223372036854775807", 2**63 - 1),
        (b'{"a": {"b": 1}, "c": {"b": 1}}', {"a": {"b": 1}, "c": {"b": 1}}),
        ('"\u00e9\u4e2d"'.encode(), "\u00e9\u4e2d"),
    ],
)
def test_read(body: Any, value: Any) -> None:
    assert parse_json(body) == value
