"""Load requests for teams."""

from __future__ import annotations

from service import requests
from service.schemas.base import Strict
from service.schemas.checked_fields import Name, Slug


class TeamRequest(Strict[requests.TeamRequest]):
    """A new team."""

    into = requests.TeamRequest

    id = Slug(required=True)
    name = Name(required=True)
