"""Show submissions and the quotas of teams; everything passes service.policy.gate.

Quotas count attempts, scored submissions and questions, in days of UTC. A submission says by `run_of` of which other
one of its team it is another training run.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast

from sqlalchemy import Connection

from service import errors
from service.caller import Caller
from service.context import Context
from service.contract import submissions as contract
from service.policy import documents, gate
from service.policy.release import ANYONE, Release
from service.queue import REDIS_ERRORS
from service.store import benchmarks, boards, comparisons, revisions, runs, score_records, submissions, tokens
from service.store.runs import Run
from service.store.submissions import ANNOTATION, Submission
from service.usecases.access import benchmark_of, team_of
from service.usecases.boards import ranking, viewing
from service.usecases.runs import Shown, moment, shown_members
from service.usecases.scoring import config
from treescore.core.params import Json


def system_of(db: Connection, benchmark_id: str, team_id: str | None, name: str, outputs_digest: str) -> str:
    """Return the first submission of the system of this name, of which a new submission is another run.

    Args:
        db: the transaction that stores the new submission.
        benchmark_id: the slug.
        team_id: None for a baseline.
        name: what `run_of` says.
        outputs_digest: of the new submission.

    Raises:
        Unprocessable: the team has none of this name, or several, or it is a further run itself; or the outputs are
            those of another run, which one more copy would make look certain.
    """
    shown = name[: errors.LONGEST_SHOWN]
    found = boards.runs_named(db, benchmark_id, team_id, name)
    first = [each.id for each in found if each.run_of is None]
    if not first and found:
        known = boards.names_of(db, [each.run_of for each in found if each.run_of is not None])
        heads = ", ".join(sorted(set(known.values())))
        detail = f"The submission {shown!r} is itself a further training run. Name the first one: {heads}."
        raise errors.invalid("run-of-a-run", "/run_of", detail)
    if not first:
        detail = f"Unknown submission {shown!r} of your team. Its first training run comes first, and names no other."
        raise errors.invalid("unknown-system", "/run_of", detail)
    if len(first) > 1:
        detail = f"{len(first)} submissions are named {shown!r}. Give them different names, and name one."
        raise errors.invalid("ambiguous-system", "/run_of", detail)
    equal = boards.run_with_outputs(db, first[0], outputs_digest)
    if equal is not None:
        detail = f"These are the outputs of {equal}. A further training run has outputs of its own."
        raise errors.invalid("equal-run", "/outputs", detail)
    return first[0]


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


def quotas_of(db: Connection, benchmark: benchmarks.Benchmark, team_id: str, now: datetime) -> list[Quota]:
    """Return a team's quotas. They are exact if this transaction has locked the row of the team."""
    day = utc_day(now)
    used = submissions.quota_use(db, benchmark.id, team_id, day, blind=Release.of(benchmark, ANYONE, now).blind)
    attempts = used.attempts_today + submissions.charged_validations(db, benchmark.id, team_id, day)
    limits = benchmark.settings["quota"]
    return [
        Quota(SCORED_PER_DAY, limits[SCORED_PER_DAY], used.scored_today, daily=True),
        Quota(SCORED_TOTAL, limits[SCORED_TOTAL], used.scored, daily=False),
        Quota(ATTEMPTS, limits[ATTEMPTS], attempts, daily=True),
        questions_of(db, benchmark, team_id, now),
    ]


def questions_of(db: Connection, benchmark: benchmarks.Benchmark, team_id: str, now: datetime) -> Quota:
    """Return a team's quota of new comparisons. It is exact if this transaction has locked the row of the team."""
    used = comparisons.charged_on(db, benchmark.id, team_id, utc_day(now))
    return Quota(QUESTIONS, benchmark.settings["quota"][QUESTIONS], used, daily=True)


def require_question(quota: Quota, now: datetime) -> None:
    """Refuse one more new comparison if the quota is used up.

    Raises:
        TooManyRequests: names the quota, and when it is reset.
    """
    _require([quota], [quota], now, "Comparisons that you asked before stay readable.")


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
    team = benchmarks.get_team(db, slug, team_id, lock=True)
    if team is None or team.erased_at is not None:
        raise errors.NotFound(f"Unknown team {team_id!r} of benchmark {slug!r}.")
    if caller.organises(slug):
        return
    # the benchmark is read again: its quota may have changed while this transaction waited
    _require_one_more(db, slug, team_id, now, scored=scored)


def require_room(context: Context, caller: Caller, slug: str, key: str | None, *, scored: bool) -> None:
    """Refuse a submission before its outputs are read where the quota is used up, unless it repeats an earlier one.

    Raises:
        TooManyRequests: a quota is used up.
    """
    now, team_id = context.now(), team_of(caller, slug)
    if team_id is None:
        return
    with context.store.read() as db:
        if key is not None and tokens.find_key(db, caller.owner, key) is not None:
            return
        _require_one_more(db, slug, team_id, now, scored=scored)


NOT_COUNTED = (
    "Submissions that are cancelled before they start, and those that fail through an internal error, are not counted."
)


def _require_one_more(db: Connection, slug: str, team_id: str, now: datetime, *, scored: bool) -> None:
    quotas = quotas_of(db, benchmark_of(db, slug), team_id, now)
    charged = SUBMISSIONS if scored else (ATTEMPTS,)
    _require(quotas, [quota for quota in quotas if quota.name in charged], now)


def _require(quotas: list[Quota], charged: list[Quota], now: datetime, advice: str = NOT_COUNTED) -> None:
    for quota in charged:
        if quota.left != 0:
            continue
        headers = rate_limit_headers(quotas, now)
        when = "It is never reset."
        if quota.daily:
            headers["Retry-After"] = str(_seconds_left(now))
            when = f"It is reset at {moment(next_day(now))} (midnight UTC)."
        detail = f"The quota {quota.name} of {quota.limit} is used up. {when} {advice}"
        raise errors.TooManyRequests(detail, headers=headers)


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
    policies = [
        f'"{quota.name}";q={quota.limit};w={DAY_SECONDS if quota.daily else FOREVER_SECONDS}' for quota in limited
    ]
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


def quotas_of_caller(context: Context, caller: Caller, slug: str) -> list[Quota]:
    """Return the quotas of the caller's team; none for other callers."""
    team_id = team_of(caller, slug)
    if team_id is None:
        return []
    with context.store.read() as db:
        return quotas_of(db, benchmark_of(db, slug), team_id, context.now())


def rate_limits(context: Context, caller: Caller, slug: str, *names: str) -> dict[str, str]:
    """Return the RateLimit headers of the caller's quotas, of all or of those of these names."""
    quotas = quotas_of_caller(context, caller, slug)
    return rate_limit_headers([quota for quota in quotas if not names or quota.name in names], context.now())


def _seconds_left(now: datetime) -> int:
    return max(1, math.ceil((next_day(now) - now).total_seconds()))


SUBMISSION_KIND = "submission"
LOOKED_AT = 10
"""Finished submissions whose times make the estimate for waiting ones."""


def view_of(
    db: Connection, context: Context, caller: Caller, benchmark: benchmarks.Benchmark, submission: Submission
) -> Shown[contract.Submission]:
    """Show the whole document, as far as the caller may see it."""
    now = context.now()
    run = runs.get(db, submission.run_id)
    heads = boards.names_of(db, () if submission.run_of is None else (submission.run_of,))
    document = _document(submission, run, heads)
    document["queue"] = None if run is None or run.final else _queue(db, context, run, benchmark.id)
    document["quota"] = None
    if submission.team_id is not None:
        document["quota"] = quota_document(quotas_of(db, benchmark, submission.team_id, now), now)
    record = None
    release = Release.of(benchmark, caller, now)
    if submission.state == runs.SUCCEEDED and benchmark.active_revision is not None:
        record = score_records.newest(db, submission.id, benchmark.active_revision, release.share)
    document["scores"] = None if record is None else _scores(record.document, release.share)
    document["warnings"] = [] if record is None else record.document["warnings"]
    document["failure"] = submission.failures[-1] if submission.state == runs.FAILED and submission.failures else None
    document["failures"] = list(submission.failures)
    document["released"] = None if record is None or record.rung is None else record.rung != score_records.HELD
    if not release.compared:
        document = documents.without_comparison(document)
    if release.held and document["released"] is False:
        document = documents.held_submission(document)
    if not release.fits:
        document = documents.closed_submission(document)
    revision = None if record is None else revisions.get(db, benchmark.id, record.revision)
    if revision is not None:
        release = viewing.released(db, benchmark, release, revision)
    shown = gate.submission_view(release, document)
    final = submission.state not in runs.UNFINISHED or shown["state"] == gate.RECEIVED
    return Shown(cast("contract.Submission", shown), final=final, state=str(shown["state"]))


def summary(submission: Submission, run: Run | None, heads: Mapping[str, str], release: Release) -> dict[str, object]:
    """Show a submission in a list, as far as the caller may see it.

    Args:
        submission: what is shown.
        run: of its current attempt.
        heads: names of the submissions of which others are further training runs.
        release: what the caller sees.
    """
    document = _document(submission, run, heads)
    del document["outputs"], document["progress"]
    shown = gate.submission_view(release, {**document, "failure_kind": submission.failure_kind})
    return {name: shown[name] for name in document}


def main_scores(
    db: Connection, benchmark: benchmarks.Benchmark, rows: Sequence[Submission], release: Release
) -> dict[str, dict[str, object]]:
    """Return the main scores of submissions as their own documents show them."""
    shown: dict[str, dict[str, object]] = {row.id: {"main": None, "scored_parts": None} for row in rows}
    active = benchmark.active_revision
    if active is None or not release.shows(gate.Level.ROUNDED):
        return shown
    scored = [row.id for row in rows if row.state == runs.SUCCEEDED]
    records = score_records.newest_of(db, scored, active)
    if release.held:
        records = {name: each for name, each in records.items() if each.rung != score_records.HELD}
    for number in {each.revision for each in records.values()}:
        revision = revisions.get(db, benchmark.id, number)
        seen = None if revision is None else viewing.released(db, benchmark, release, revision)
        if revision is None or seen is None or not seen.scored:
            continue
        scoring = config.scoring_config(revision.scoring)
        of_it = score_records.of_submissions([name for name, each in records.items() if each.revision == number])
        asked = score_records.Asked(benchmark.id, number, release.share, scoring.addresses, scoring.main_score)
        found = score_records.macro_of(db, of_it, asked)
        for name, value in found.items():
            record = records[name]
            shown[name] = {
                "main": {"score": scoring.main_score, "value": seen.score(value)},
                "scored_parts": f"{record.parts - record.lacking}/{record.parts}",
            }
    return shown


def _document(submission: Submission, run: Run | None, heads: Mapping[str, str]) -> dict[str, object]:
    waits = submission.state in runs.UNFINISHED and run is not None
    return {
        **shown_members(submission, "id", "benchmark_id", "team_id", "name"),
        "run_of": heads.get(submission.run_of or ""),
        "notes": submission.notes,
        "links": ranking.links_document(submission.links),
        "role": submission.role,
        "state": run.state if waits and run is not None else submission.state,
        "attempt": submission.attempt,
        "created_at": moment(submission.created_at),
        "started_at": moment(None if run is None else run.started_at),
        "finished_at": moment(submission.finished_at),
        "progress": run.progress if waits and run is not None else None,
        "outputs": {
            part: {name: value for name, value in output.items() if name != ANNOTATION}
            for part, output in submission.outputs.items()
        },
        **shown_members(submission, "chosen", "withdrawn_at", "withdrawn_reason", "output_deleted_at"),
    }


def _scores(result: Mapping[str, Json], share: str | None) -> dict[str, object]:
    kept = {name: result[name] for name in ("revision", "metrics", "parts", "covered")}
    return {**kept, "split": share, "main": result["main"]}


def _queue(db: Connection, context: Context, run: Run, benchmark_id: str) -> dict[str, object]:
    ahead = runs.ahead(db, run)
    seconds = submissions.recent_seconds(db, benchmark_id, LOOKED_AT)
    return {"ahead": ahead, "eta_seconds": math.ceil((ahead + 1) * seconds / _workers(context, run.queue))}


def _workers(context: Context, queue: str) -> int:
    """Return how many workers share the runs that are ahead: those at work, as many as configured without Redis."""
    try:
        return max(1, context.queue.workers(queue))
    except REDIS_ERRORS:
        return max(1, context.config.workers)
