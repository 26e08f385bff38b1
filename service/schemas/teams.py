"""Load requests for teams."""

from __future__ import annotations

from service import requests
from service.schemas.base import Name, Slug, Strict


class TeamRequest(Strict[requests.TeamRequest]):
    """A new team."""

    into = requests.TeamRequest

    id = Slug(required=True)
    name = Name(required=True)
