"""Count quotas of teams: attempts, scored submissions and questions, in days of UTC."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from service.caller import Caller
from service.errors import NotFound, TooManyRequests
from service.policy import gate
from service.store import comparisons, submissions, teams, validations
from service.store.benchmarks import Benchmark
from service.usecases.access.access import benchmark_of
from service.usecases.runs.views import moment

QUESTIONS = "comparisons_per_day"
DAY_SECONDS = 86_400
SCORED_PER_DAY, SCORED_TOTAL, ATTEMPTS = "scored_per_day", "scored_total", "attempts_per_day"
SUBMISSIONS = (SCORED_PER_DAY, SCORED_TOTAL, ATTEMPTS)
"""Quotas that a submission needs."""
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
    day = utc_day(now)
    used = submissions.quota_use(db, benchmark.id, team_id, day, blind=gate.blind(benchmark, now))
    attempts = used.attempts_today + validations.charged(db, benchmark.id, team_id, day)
    limits = benchmark.settings["quota"]
    return [
        Quota(SCORED_PER_DAY, limits[SCORED_PER_DAY], used.scored_today, daily=True),
        Quota(SCORED_TOTAL, limits[SCORED_TOTAL], used.scored, daily=False),
        Quota(ATTEMPTS, limits[ATTEMPTS], attempts, daily=True),
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


def count_one(db: Connection, caller: Caller, slug: str, team_id: str, now: datetime, *, scored: bool = True) -> None:
    """Check that a team may send one more; organisers always may.

    It locks the row of the team, so that of two transactions the second counts what the first one stored.

    Args:
        db: a writing transaction.
        caller: who sends.
        slug: of the benchmark.
        team_id: the team that is charged.
        now: the time.
        scored: whether it is to be scored; a validation is an attempt only.

    Raises:
        NotFound: the team is unknown.
        TooManyRequests: a quota is used up.
    """
    team = teams.get(db, slug, team_id, lock=True)
    if team is None or team.erased_at is not None:
        raise NotFound(f"Unknown team {team_id!r} of benchmark {slug!r}.")
    if caller.organiser:
        return
    # the benchmark is read again: its quota may have changed while this transaction waited
    quotas = quotas_of(db, benchmark_of(db, slug), team_id, now)
    charged = SUBMISSIONS if scored else (ATTEMPTS,)
    _require(quotas, [quota for quota in quotas if quota.name in charged], now)


def _require(quotas: list[Quota], charged: list[Quota], now: datetime) -> None:
    for quota in charged:
        if quota.left != 0:
            continue
        headers = rate_limit_headers(quotas, now)
        when = " It is never reset."
        if quota.daily:
            headers["Retry-After"] = str(_seconds_left(now))
            when = f" It is reset at {moment(next_day(now))} (midnight UTC)."
        raise TooManyRequests(
            f"The quota {quota.name} of {quota.limit} is used up.{when} Submissions that are cancelled before they "
            "start, and those that fail through an internal error, are not counted.",
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
