"""Tokens."""

from __future__ import annotations

from datetime import datetime

from marshmallow import ValidationError, fields, validate

from service.schemas.base import Fault, Name, Strict

SCOPES = ("organise", "submit", "score", "read")


def _sensible(moment: datetime) -> None:
    """Far enough from the ends of the calendar that every offset from UTC stays inside it."""
    if not 1970 <= moment.year < 9000:
        raise ValidationError([Fault("bad-moment", "This must be a time between the years 1970 and 9000.")])


class TokenRequest(Strict):
    """A new token."""

    scopes = fields.List(
        fields.String(validate=validate.OneOf(SCOPES)), required=True, validate=validate.Length(min=1, max=len(SCOPES))
    )
    expires_at = fields.AwareDateTime(format="iso", allow_none=True, validate=_sensible)
    name = Name(allow_none=True)
