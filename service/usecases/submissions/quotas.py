"""Quotas of teams: attempts and scored submissions in days of UTC."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from service.errors import TooManyRequests
from service.policy import gate
from service.store import submissions
from service.store.benchmarks import Benchmark
from service.usecases.runs.views import moment

DAY_SECONDS = 86_400
FOREVER_SECONDS = 3_153_600_000
"""The window of a quota that is never refilled, where a header needs a number."""


@dataclass(frozen=True, slots=True)
class Quota:
    """One bound and what is used of it.

    Attributes:
        name: as the benchmark names it.
        limit: None for none.
        used: by the team so far.
        daily: whether it is refilled at midnight UTC.
    """

    name: str
    limit: int | None
    used: int
    daily: bool

    @property
    def left(self) -> int | None:
        """What is left; None where there is no limit."""
        return None if self.limit is None else max(0, self.limit - self.used)


def utc_day(now: datetime) -> str:
    """The day whose quota a submission uses."""
    return now.astimezone(UTC).date().isoformat()


def next_day(now: datetime) -> datetime:
    """When daily quotas are refilled."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def quotas_of(db: Connection, benchmark: Benchmark, team_id: str, now: datetime) -> list[Quota]:
    """A team's quotas. Exact where the team's row is locked by this transaction."""
    used = submissions.used(db, benchmark.id, team_id, utc_day(now), blind=gate.blind(benchmark, now))
    limits = benchmark.settings["quota"]
    return [
        Quota("scored_per_day", limits["scored_per_day"], used.scored_today, daily=True),
        Quota("scored_total", limits["scored_total"], used.scored, daily=False),
        Quota("attempts_per_day", limits["attempts_per_day"], used.attempts_today, daily=True),
    ]


def require(quotas: list[Quota], now: datetime) -> None:
    """Refuse one more submission where a quota is used up.

    Raises:
        TooManyRequests: says which, and when it is refilled.
    """
    for quota in quotas:
        if quota.left != 0:
            continue
        headers = rate_limit_headers(quotas, now)
        when = " It is never refilled."
        if quota.daily:
            headers["Retry-After"] = str(_seconds_left(now))
            when = f" It is refilled at {moment(next_day(now))} (midnight UTC)."
        raise TooManyRequests(
            f"The quota {quota.name} of {quota.limit} is used up.{when} What fails through a fault of the service, "
            "or is cancelled, is not counted.",
            headers=headers,
        )


def quota_document(quotas: list[Quota], now: datetime) -> dict[str, Any]:
    """Quotas as a submission shows them."""
    document: dict[str, Any] = {
        quota.name: {"limit": quota.limit, "used": quota.used, "left": quota.left} for quota in quotas
    }
    return {**document, "utc_day": utc_day(now), "refilled_at": moment(next_day(now))}


def rate_limit_headers(quotas: list[Quota], now: datetime) -> dict[str, str]:
    """RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers); empty where nothing is limited.

    Beside them, for clients that know the older headers only, the quota that has least left.
    """
    limited = [quota for quota in quotas if quota.limit is not None]
    if not limited:
        return {}
    policies = [f'"{quota.name}";q={quota.limit};w={_window(quota)}' for quota in limited]
    states = [
        f'"{quota.name}";r={quota.left}' + (f";t={_seconds_left(now)}" if quota.daily else "") for quota in limited
    ]
    least = min(limited, key=lambda quota: (quota.left or 0, quota.daily))
    headers = {
        "RateLimit-Policy": ", ".join(policies),
        "RateLimit": ", ".join(states),
        "RateLimit-Limit": str(least.limit),
        "RateLimit-Remaining": str(least.left),
    }
    return {**headers, "RateLimit-Reset": str(_seconds_left(now))} if least.daily else headers


def _window(quota: Quota) -> int:
    return DAY_SECONDS if quota.daily else FOREVER_SECONDS


def _seconds_left(now: datetime) -> int:
    return max(1, math.ceil((next_day(now) - now).total_seconds()))
