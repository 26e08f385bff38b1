"""Load requests for tokens."""

from __future__ import annotations

from service import requests
from service.requests import SCOPES
from service.schemas.base import Strict
from service.schemas.checked_fields import Name, check_year
from service.schemas.plain_fields import Listed, Moment, choice, length


class TokenRequest(Strict[requests.TokenRequest]):
    """A new token."""

    into = requests.TokenRequest

    scopes = Listed(choice(SCOPES), required=True, validate=length(1, len(SCOPES), "scopes"))
    expires_at = Moment(allow_none=True, validate=check_year)
    name = Name(allow_none=True)
