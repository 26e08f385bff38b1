"""Read what organisers see of the course of a benchmark: submissions with their runs, and validations by day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, func, select

from service.store.tables import runs, submissions, validations

MOST = 20_000
"""Submissions that are read; the newest."""


class Sent(NamedTuple):
    """A submission, deleted or not.

    Attributes:
        utc_day: the day to whose quota it is charged.
        state: of the submission.
        run_state: of its current attempt.
        attempt: the number of that, from 1.
        failures: records of failed attempts.
        queued_at, started_at, finished_at: of the current attempt.
    """

    utc_day: str
    state: str
    run_state: str
    attempt: int
    failures: Sequence[Mapping[str, Any]]
    queued_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


def sent_since(db: Connection, benchmark_id: str, first_day: str) -> list[Sent]:
    """List the submissions from a UTC day on, newest first."""
    c, r = submissions.c, runs.c
    query = (
        select(
            c.utc_day, c.state, r.state.label("run_state"), c.attempt, c.failures, r.created_at.label("queued_at"),
            r.started_at, r.finished_at,
        )
        .join(runs, r.id == c.run_id)
        .where(c.benchmark_id == benchmark_id, c.utc_day >= first_day)
        .order_by(c.id.desc())
        .limit(MOST)
    )  # fmt: skip
    return [
        Sent(
            row.utc_day, row.state, row.run_state, row.attempt, orjson.loads(row.failures), row.queued_at,
            row.started_at, row.finished_at,
        )
        for row in db.execute(query)
    ]  # fmt: skip


def validations_since(db: Connection, benchmark_id: str, first_day: str) -> dict[str, int]:
    """Count the validations from a UTC day on, by day."""
    day = validations.c.utc_day
    query = (
        select(day, func.count().label("number"))
        .where(validations.c.benchmark_id == benchmark_id, day >= first_day)
        .group_by(day)
    )
    return {row.utc_day: int(row.number) for row in db.execute(query)}
