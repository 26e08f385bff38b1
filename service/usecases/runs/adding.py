"""Store the runs that callers ask for, up to a limit on those that wait."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import TooManyRequests
from service.store import runs

RETRY_AFTER = "5"
"""Seconds after which a refused caller may ask again: by then a waiting run may have begun."""


def add_run(
    db: Connection, context: Context, caller: Caller, run_id: str, kind: str, queue: str, now: datetime
) -> None:
    """Store a queued run for a caller. The count holds until the transaction ends, also against equal requests.

    Raises:
        TooManyRequests: as many runs of the caller wait as may wait.
    """
    most = context.config.max_queued
    if most and not caller.organiser and runs.queued_of(db, caller.principal) >= most:
        raise TooManyRequests(
            f"The limit of {most} queued runs of one team, token or address is reached. Retry once one of them has "
            "begun, or cancel one.",
            slug="too-many-queued",
            headers={"Retry-After": RETRY_AFTER},
        )
    runs.add(db, run_id, kind, queue, now, caller.principal)
