"""Submissions: take, show, wait, list. What else can be done with one is in submission_changes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from service.caller import Caller
from service.context import Context
from service.errors import SOON, Conflict, NotFound
from service.ids import new_id
from service.policy import gate
from service.policy.gate import Level
from service.queue import LIVE
from service.store import runs, submissions, teams, texts
from service.store.benchmarks import Benchmark
from service.store.submissions import Submission
from service.usecases.access.access import active_revision, benchmark_of, check_cursor, submission_of, team_of
from service.usecases.access.idempotency import IdempotencyKey, claim_key
from service.usecases.events.record import record_event
from service.usecases.runs.views import Page, View
from service.usecases.runs.waiting import wait_for
from service.usecases.submissions import quotas
from service.usecases.submissions.changes import (
    cancel_submission,
    delete_submission,
    patch_submission,
    retry_submission,
    submission_output,
)
from service.usecases.submissions.requests import check_outputs, check_texts, require_open, team_and_role
from service.usecases.submissions.validation import validate
from service.usecases.submissions.views import SUBMISSION_KIND, summary, view_of

__all__ = [
    "cancel_submission",
    "delete_submission",
    "list_submissions",
    "patch_submission",
    "rate_limits",
    "retry_submission",
    "submission_output",
    "submit",
    "validate",
    "view_submission",
    "wait_for_submission",
]


def submit(
    context: Context,
    caller: Caller,
    slug: str,
    request: Mapping[str, Any],
    idempotency_key: IdempotencyKey | None = None,
) -> tuple[str, bool]:
    """Store a submission, then queue it: (id, whether it is new).

    Raises:
        Conflict: the benchmark is not open, or has no revision yet.
        Unprocessable: the request makes no sense, with pointers.
        TooManyRequests: a quota is used up.
    """
    caller.require("submit")
    check_texts(request)
    now = context.now()
    submission_id = new_id("sub", now)
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug)
        revision = active_revision(db, benchmark)
        team_id, role = team_and_role(db, caller, slug, request)
        outputs = check_outputs(db, revision, request)
    packed = texts.packed(outputs.named)
    fresh = Submission(
        id=submission_id,
        benchmark_id=slug,
        team_id=team_id,
        name=request.get("name") or submission_id,
        notes=request.get("notes"),
        role=role,
        created_at=now,
        utc_day=quotas.utc_day(now),
        run_id=submission_id,
        state=runs.QUEUED,
        outputs=outputs.document,
        outputs_digest=outputs.digest,
    )
    try:
        with context.store.write() as db:
            known = claim_key(db, caller, idempotency_key, submission_id, now)
            if known is not None:
                return known, False
            if team_id is not None:
                _count(db, caller, benchmark, team_id, now)
            runs.add(db, submission_id, SUBMISSION_KIND, LIVE, now)
            submissions.add(db, fresh)
            # from here on the benchmark cannot be deleted; it may have been, or closed, until here
            require_open(benchmark_of(db, slug), caller, now)
            texts.put_packed(db, submission_id, packed)
            record_event(
                db, context, "submission.created", slug, actor=caller.owner, team_id=team_id, subject=submission_id
            )
    except IntegrityError as error:
        raise Conflict("An equal request is being taken at this moment. Try again.", headers=SOON) from error
    context.queue.put(submission_id, LIVE)
    return submission_id, True


def _count(db: Connection, caller: Caller, benchmark: Benchmark, team_id: str, now: datetime) -> None:
    """Whether the team may send one more. Whoever holds the team's row counts alone."""
    team = teams.get(db, benchmark.id, team_id, lock=True)
    if team is None or team.erased_at is not None:
        raise NotFound(f"The benchmark {benchmark.id!r} has no team {team_id!r}.")
    if not caller.organiser:
        quotas.require(quotas.quotas_of(db, benchmark_of(db, benchmark.id), team_id, now), now)


def view_submission(context: Context, caller: Caller, submission_id: str) -> View:
    """The submission as it stands, as far as the caller may see it.

    Raises:
        NotFound: there is none, or it is another team's.
        Gone: it was deleted.
    """
    with context.store.read() as db:
        submission = submission_of(db, caller, submission_id)
        return view_of(db, context, caller, benchmark_of(db, submission.benchmark_id), submission)


def wait_for_submission(
    context: Context, caller: Caller, submission_id: str, seconds: float, etag: str | None = None
) -> View:
    """The submission once it is final, or has moved on from `etag`, or when time is over."""
    with context.store.read() as db:
        run_id = submission_of(db, caller, submission_id).run_id
    return wait_for(context, run_id, lambda: view_submission(context, caller, submission_id), seconds, etag)


def list_submissions(
    context: Context,
    caller: Caller,
    slug: str,
    cursor: str | None,
    limit: int,
    team: str | None = None,
    state: str | None = None,
) -> Page:
    """The caller's team's submissions, newest first; organisers see all, or those of the team they name."""
    caller.require("submit", "read")
    check_cursor(cursor)
    check_cursor(team)
    own = team_of(caller, slug)
    with context.store.read() as db:
        level = gate.level_of(benchmark_of(db, slug), caller, context.now())
        if not caller.organiser and (own is None or team not in (None, own)):
            return Page([])
        if state is not None:
            # which ones there are of a state is as good as the state itself
            gate.require(level, Level.STATUS, "states")
        rows = submissions.listing(db, slug, cursor, limit + 1, team_id=team if caller.organiser else own, state=state)
        known = runs.many(db, [row.run_id for row in rows[:limit]])
        items = [summary(row, known.get(row.run_id), level) for row in rows[:limit]]
    return Page(items, rows[limit - 1].id if len(rows) > limit else None)


def rate_limits(context: Context, caller: Caller, slug: str) -> Mapping[str, str]:
    """RateLimit headers for the caller's team; empty for everybody else."""
    team_id = team_of(caller, slug)
    if team_id is None:
        return {}
    now = context.now()
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug)
        return quotas.rate_limit_headers(quotas.quotas_of(db, benchmark, team_id, now), now)
