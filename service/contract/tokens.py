"""Tokens and their scopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from typing_extensions import TypedDict

from service.contract.common import Moment, Name, Scope
from service.contract.derive import Null
from service.contract.fields import length
from service.requests import SCOPES, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest(Request):
    """A new token.

    Attributes:
        expires_at: Expiry time in the future, with an offset from UTC; null means never.
        name: Purpose of the token. Printable characters, not only spaces.
    """

    scopes: Annotated[Sequence[Scope], length(1, len(SCOPES), "scopes")]
    expires_at: datetime | Null = None
    name: Name | Null = None


class Token(TypedDict):
    """A bearer token, without its secret.

    Attributes:
        benchmark: Benchmark of a team's token.
        team: Team of the token; null for other tokens.
    """

    id: str
    name: str | None
    scopes: Sequence[Scope]
    benchmark: str | None
    team: str | None
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Moment | None
    revoked_at: Moment | None


class NewToken(Token):
    """A token with its secret.

    Attributes:
        token: Send it as `Authorization: Bearer ...`. Shown only in this answer.
    """

    token: str
