"""Load requests for teams."""

from __future__ import annotations

from service import requests
from service.requests import MAX_TEAMS
from service.schemas.base import Strict
from service.schemas.checked_fields import Name, Slug, Whole, check_year
from service.schemas.plain_fields import Listed, Moment, Nested, String, length

MAX_SECRET = 200


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


class InviteRequest(Strict[requests.InviteRequest]):
    """A new invite."""

    into = requests.InviteRequest

    expires_at = Moment(required=True, validate=check_year)
    teams_at_most = Whole(1, MAX_TEAMS, required=True)


class JoinRequest(Strict[requests.JoinRequest]):
    """A team that its own members make."""

    into = requests.JoinRequest

    invite = String(required=True, validate=length(1, MAX_SECRET, "characters"))
    id = Slug(required=True)
    name = Name(required=True)
    contact = Name(required=True)
