"""Recognise repeated requests by their idempotency keys, so that a retry creates nothing twice."""

from __future__ import annotations

import hashlib
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
    db: Connection, caller: Caller, idempotency_key: IdempotencyKey | None, created: str, now: datetime
) -> str | None:
    """Return what an earlier request with this key created; None for a first request, which now stands for `created`.

    A key is its owner's. Callers without a token share none: their keys count together with address and request, so
    that a caller learns of another's request only by sending the same one.

    Raises:
        Unprocessable: the key was used for another request.
        IntegrityError: another first request with this key is in progress.
    """
    if idempotency_key is None:
        return None
    owner = _anonymous_owner(caller, idempotency_key) if caller.anonymous else caller.owner
    stored = idempotency.find(db, owner, idempotency_key.key)
    if stored is None:
        idempotency.add(db, owner, idempotency_key.key, idempotency_key.digest, created, now)
        return None
    digest, resource = stored
    if digest != idempotency_key.digest:
        raise Unprocessable(
            "This Idempotency-Key was used for another request. Use a new key for each new request.",
            slug="idempotency-key-reused",
        )
    return resource


def _anonymous_owner(caller: Caller, idempotency_key: IdempotencyKey) -> str:
    return hashlib.sha256(f"{caller.address} {idempotency_key.digest}".encode()).hexdigest()
