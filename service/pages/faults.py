"""Show on the page of a form what is wrong with what was sent."""

from __future__ import annotations

from typing import Any

import orjson
from flask import Response

from service.api import problems
from service.errors import ServiceError


def problem_of(error: ServiceError) -> dict[str, Any]:
    """Return the problem document of an error."""
    document: dict[str, Any] = orjson.loads(problems.of_service_error(error).get_data())
    return document


def with_status_of(response: Response, error: ServiceError) -> Response:
    """Return the page with the status and the headers of an error, such as when to try again."""
    response.status_code = error.status
    response.headers.extend(error.headers)
    return response
