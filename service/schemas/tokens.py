"""Load requests for tokens."""

from __future__ import annotations

from marshmallow import fields, validate

from service import requests
from service.requests import SCOPES
from service.schemas.base import Strict
from service.schemas.checked_fields import Name, check_year


class TokenRequest(Strict[requests.TokenRequest]):
    """A new token."""

    into = requests.TokenRequest

    scopes = fields.List(
        fields.String(validate=validate.OneOf(SCOPES)), required=True, validate=validate.Length(min=1, max=len(SCOPES))
    )
    expires_at = fields.AwareDateTime(format="iso", allow_none=True, validate=check_year)
    name = Name(allow_none=True)
