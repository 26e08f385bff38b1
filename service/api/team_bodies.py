"""Read new teams from a body: one or several as JSON, or a table."""

from __future__ import annotations

import io

from flask import Request

from service.api import bodies, strict_json
from service.config import Config
from service.requests import TeamRequest, TeamsRequest
from service.schemas import teams as schemas
from service.schemas.base import load
from service.schemas.team_table import load_teams

CSV = "text/csv"


def read_teams(request: Request, config: Config) -> TeamRequest | TeamsRequest:
    """Return the team of a request, or the teams.

    Raises:
        ServiceError: 400, 413, 415 or 422.
    """
    table = bodies.media_type(request, bodies.JSON, CSV) == CSV
    body = io.BufferedReader(bodies.Body(request, config.max_body_bytes), bodies.CHUNK).read()
    if table:
        return load_teams(body, config.max_problems)
    value = strict_json.parse(body)
    if isinstance(value, dict) and "teams" in value:
        return load(schemas.TeamsRequest(), value, config.max_problems)
    return load(schemas.TeamRequest(), value, config.max_problems)
