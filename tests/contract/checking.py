"""A test client that holds every answer against openapi.yaml, and the small document tools the contract tests share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import yaml
from flask.testing import FlaskClient
from jsonschema_rs import Draft202012Validator
from werkzeug.exceptions import HTTPException
from werkzeug.test import EnvironBuilder, TestResponse

from service.pages.answers import BLUEPRINTS, FRAMED, POLICY

ROOT = Path(__file__).parents[2]
METHODS = ("get", "post", "put", "patch", "delete")


@cache
def contract() -> Any:
    """openapi.yaml."""
    return yaml.load((ROOT / "openapi.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)


def resolved(value: Any) -> Any:
    """What a local reference stands for; members beside it win."""
    while isinstance(value, dict) and "$ref" in value:
        found: Any = contract()
        for step in value["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        value = {**found, **{key: member for key, member in value.items() if key != "$ref"}}
    return value


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method, path and operation, the path's own parameters put in front of the operation's."""
    for path, item in contract()["paths"].items():
        for method in METHODS:
            if method in item:
                parameters = [*item.get("parameters", ()), *item[method].get("parameters", ())]
                yield method.upper(), path, {**item[method], "parameters": [resolved(one) for one in parameters]}


@cache
def by_id() -> dict[str, dict[str, Any]]:
    """Operations by operationId."""
    return {operation["operationId"]: operation for _, _, operation in operations()}


def check_value(schema: Any, value: Any) -> None:
    """A JSON value against a schema of the contract."""
    _validator(orjson.dumps(schema), closed=False).validate(value)


@cache
def _validator(schema: bytes, *, closed: bool) -> Draft202012Validator:
    """The compiled form of a schema, which takes longer to make than to use."""
    components = closed_components() if closed else contract()["components"]
    return Draft202012Validator({**orjson.loads(schema), "components": components}, validate_formats=not closed)


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose objects have no members but those that it names; maps and objects that it calls open stay so.

    Branches of `allOf` are not read: what they name would have to be known together.
    """
    read = dict(schema)
    for word in ("oneOf", "anyOf"):
        if word in schema:
            read[word] = [closed(each) for each in schema[word]]
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), dict):
            read[word] = closed(schema[word])
    if "properties" in schema:
        read["properties"] = {name: closed(member) for name, member in schema["properties"].items()}
    if "additionalProperties" not in schema:
        read["unevaluatedProperties"] = False
    return read


@cache
def closed_components() -> dict[str, Any]:
    """The schemas of the contract, closed."""
    return {"schemas": {name: closed(schema) for name, schema in contract()["components"]["schemas"].items()}}


def check_answer(schema: dict[str, Any], value: Any) -> None:
    """A JSON answer against a schema of the contract, and each of its members against what the schema names.

    The contract leaves answers open, since clients must accept members of later versions; the tests know this version.
    """
    check_value(schema, value)
    _validator(orjson.dumps(closed(schema)), closed=True).validate(value)


def check_headers(documented: dict[str, Any], response: TestResponse) -> None:
    """Headers that must be there are, and all documented ones are of their schema."""
    for name, reference in documented.items():
        header = resolved(reference)
        given = response.headers.get(name)
        if given is None:
            assert not header.get("required"), f"{name} is missing from {response.status}"
            continue
        check_value(header["schema"], int(given) if header["schema"].get("type") == "integer" else given)


def check_response(operation_id: str | None, method: str, response: TestResponse) -> None:
    """A response against what the contract says of its operation; an unknown address answers with a problem."""
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Request-Id"]
    if operation_id is None:
        assert response.status_code in (400, 404, 405), response.status
        assert (response.status_code == 405) == ("Allow" in response.headers)
        documented: Any = resolved({"$ref": "#/components/responses/BadRequest"})
    else:
        answers = by_id()[operation_id]["responses"]
        assert str(response.status_code) in answers, f"{operation_id} answered {response.status}: {response.text[:500]}"
        documented = resolved(answers[str(response.status_code)])
    check_headers(documented.get("headers", {}), response)
    if "content" not in documented:
        assert response.data == b""
        return
    assert response.mimetype in documented["content"], response.mimetype
    if method == "HEAD":
        assert response.data == b""
    elif response.is_json:
        check_answer(documented["content"][response.mimetype]["schema"], response.json)


def check_page(response: TestResponse) -> None:
    """A page, of which no contract says anything: it loads nothing from other hosts, and no fault shows as a page."""
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Request-Id"]
    assert response.status_code < 500, response.status
    if response.mimetype == "text/html":
        framed = response.request.path.startswith("/embed/") and response.status_code == 200
        assert response.headers["Content-Security-Policy"] == (FRAMED if framed else POLICY)
        assert " style=" not in response.text
        assert "<style" not in response.text


class CheckedClient(FlaskClient):
    """Holds every response against the contract."""

    def open(self, *args: Any, **options: Any) -> TestResponse:
        """Send a request, check what comes back."""
        response = super().open(*args, **options)
        method = response.request.method
        endpoint = self._endpoint(response)
        if endpoint is not None and endpoint.startswith(BLUEPRINTS):
            check_page(response)
        elif method != "OPTIONS":
            check_response(None if endpoint is None else endpoint.rpartition(".")[2], method, response)
        return response

    def _endpoint(self, response: TestResponse) -> str | None:
        adapter = self.application.url_map.bind_to_environ(EnvironBuilder(response.request.path).get_environ())
        try:
            endpoint, _ = adapter.match(method=response.request.method)
        except HTTPException:
            return None
        return str(endpoint)
