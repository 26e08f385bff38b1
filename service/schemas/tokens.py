"""Tokens."""

from __future__ import annotations

from marshmallow import fields, validate

from service.schemas.base import Name, Strict, sensible

SCOPES = ("organise", "submit", "score", "read")


class TokenRequest(Strict):
    """A new token."""

    scopes = fields.List(
        fields.String(validate=validate.OneOf(SCOPES)), required=True, validate=validate.Length(min=1, max=len(SCOPES))
    )
    expires_at = fields.AwareDateTime(format="iso", allow_none=True, validate=sensible)
    name = Name(allow_none=True)
