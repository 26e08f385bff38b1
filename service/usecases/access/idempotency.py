"""Requests that their sender has named: sent again, they make nothing twice."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from service.caller import Caller
from service.errors import Unprocessable
from service.store import idempotency


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A client's key for one request, and the digest of that request."""

    key: str
    digest: str


def claim_key(
    db: Connection, caller: Caller, idempotency_key: IdempotencyKey | None, made: str, now: datetime
) -> str | None:
    """What an earlier request under this key made; None for a first one, which from now on stands for `made`.

    Raises:
        Unprocessable: the earlier one was another request.
        IntegrityError: another first one is being taken at this moment.
    """
    if idempotency_key is None:
        return None
    known = idempotency.find(db, caller.owner, idempotency_key.key)
    if known is None:
        idempotency.remember(db, caller.owner, idempotency_key.key, idempotency_key.digest, made, now)
        return None
    digest, resource = known
    if digest != idempotency_key.digest:
        raise Unprocessable(
            "This Idempotency-Key was used for another request. Take a new key for each new request.",
            slug="idempotency-key-reused",
            title="The Idempotency-Key belongs to another request",
        )
    return resource
