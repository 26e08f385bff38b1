"""Count quotas of teams: attempts, scored submissions and questions, in days of UTC."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from service.errors import TooManyRequests
from service.policy import gate
from service.store import comparisons, submissions
from service.store.benchmarks import Benchmark
from service.usecases.runs.views import moment

QUESTIONS = "comparisons_per_day"
DAY_SECONDS = 86_400
FOREVER_SECONDS = 3_153_600_000
"""The window of a quota that is never reset, for headers that need a number."""


@dataclass(frozen=True, slots=True)
class Quota:
    """One limit and its use.

    Attributes:
        name: as in the benchmark.
        limit: None for no limit.
        used: by the team so far.
        daily: whether it is reset at midnight UTC.
    """

    name: str
    limit: int | None
    used: int
    daily: bool

    @property
    def left(self) -> int | None:
        """The rest of the quota; None without a limit."""
        return None if self.limit is None else max(0, self.limit - self.used)


def utc_day(now: datetime) -> str:
    """Return the day whose quota a submission uses."""
    return now.astimezone(UTC).date().isoformat()


def next_day(now: datetime) -> datetime:
    """Return when daily quotas are reset."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def quotas_of(db: Connection, benchmark: Benchmark, team_id: str, now: datetime) -> list[Quota]:
    """Return a team's quotas. They are exact if this transaction has locked the row of the team."""
    used = submissions.quota_use(db, benchmark.id, team_id, utc_day(now), blind=gate.blind(benchmark, now))
    limits = benchmark.settings["quota"]
    return [
        Quota("scored_per_day", limits["scored_per_day"], used.scored_today, daily=True),
        Quota("scored_total", limits["scored_total"], used.scored, daily=False),
        Quota("attempts_per_day", limits["attempts_per_day"], used.attempts_today, daily=True),
        questions_of(db, benchmark, team_id, now),
    ]


def questions_of(db: Connection, benchmark: Benchmark, team_id: str, now: datetime) -> Quota:
    """Return a team's quota of new comparisons. It is exact if this transaction has locked the row of the team."""
    used = comparisons.charged_on(db, benchmark.id, team_id, utc_day(now))
    return Quota(QUESTIONS, benchmark.settings["quota"][QUESTIONS], used, daily=True)


def require_question(quota: Quota, now: datetime) -> None:
    """Refuse one more new comparison if the quota is used up.

    Raises:
        TooManyRequests: names the quota, and when it is reset.
    """
    if quota.left != 0:
        return
    headers = {**rate_limit_headers([quota], now), "Retry-After": str(_seconds_left(now))}
    raise TooManyRequests(
        f"The quota {quota.name} of {quota.limit} is used up. It is reset at {moment(next_day(now))} (midnight UTC). "
        "Comparisons that you asked before stay readable.",
        headers=headers,
    )


def require(quotas: list[Quota], now: datetime) -> None:
    """Refuse one more submission if a quota is used up.

    Raises:
        TooManyRequests: names the quota, and when it is reset.
    """
    for quota in quotas:
        if quota.left != 0 or quota.name == QUESTIONS:
            continue
        headers = rate_limit_headers(quotas, now)
        when = " It is never reset."
        if quota.daily:
            headers["Retry-After"] = str(_seconds_left(now))
            when = f" It is reset at {moment(next_day(now))} (midnight UTC)."
        raise TooManyRequests(
            f"The quota {quota.name} of {quota.limit} is used up.{when} Cancelled submissions and those that fail "
            "through an internal error are not counted.",
            headers=headers,
        )


def quota_document(quotas: list[Quota], now: datetime) -> dict[str, object]:
    """Show quotas as in a submission."""
    document = {quota.name: {"limit": quota.limit, "used": quota.used, "left": quota.left} for quota in quotas}
    return {**document, "utc_day": utc_day(now), "refilled_at": moment(next_day(now))}


def rate_limit_headers(quotas: list[Quota], now: datetime) -> dict[str, str]:
    """Return RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers); nothing without a limit.

    The older headers beside them show the quota with the least left; beside submissions not that of questions.
    """
    limited = [quota for quota in quotas if quota.limit is not None]
    if not limited:
        return {}
    policies = [f'"{quota.name}";q={quota.limit};w={_window(quota)}' for quota in limited]
    states = [
        f'"{quota.name}";r={quota.left}' + (f";t={_seconds_left(now)}" if quota.daily else "") for quota in limited
    ]
    counted = [quota for quota in limited if quota.name != QUESTIONS] or limited
    least = min(counted, key=lambda quota: (quota.left or 0, quota.daily))
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
