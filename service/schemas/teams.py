"""Load requests for teams."""

from __future__ import annotations

from service import requests
from service.requests import MAX_TEAMS
from service.schemas.base import Strict
from service.schemas.checked_fields import Name, Slug
from service.schemas.plain_fields import Listed, Nested, length


class TeamRequest(Strict[requests.TeamRequest]):
    """A new team."""

    into = requests.TeamRequest

    id = Slug(required=True)
    name = Name(required=True)
    contact = Name(allow_none=True)


class TeamsRequest(Strict[requests.TeamsRequest]):
    """Several new teams."""

    into = requests.TeamsRequest

    teams = Listed(Nested(TeamRequest), required=True, validate=length(1, MAX_TEAMS, "teams"))
