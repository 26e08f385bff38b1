"""The seam to the events: whatever changes is told here, in the transaction that changes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from service.context import Context
from service.usecases.events import record


def happened(
    db: Connection,
    context: Context,
    kind: str,
    benchmark_id: str | None,
    *,
    actor: str | None = None,
    team_id: str | None = None,
    subject: str | None = None,
    data: Mapping[str, Any] | None = None,
) -> None:
    """Note that something has happened.

    Args:
        db: the transaction in which it happens.
        context: for the clock.
        kind: `benchmark.created`, `revision.active`, `submission.scored`, ...
        benchmark_id: where, if it is in one.
        actor: token that did it; None for a worker.
        team_id: whose it is, where it is a team's.
        subject: the resource, where it is not the benchmark itself.
        data: more, and nothing that comes from gold.
    """
    record(db, context, kind, benchmark_id, actor=actor, team_id=team_id, subject=subject, data=data)
