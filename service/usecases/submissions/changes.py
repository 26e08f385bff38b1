"""Change, cancel, retry and delete submissions, and return their outputs."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import Conflict, Forbidden, Gone, NotFound
from service.policy import gate
from service.policy.split import shown_share
from service.queue import LIVE
from service.requests import MISSING, PRIVATE, SubmissionChanges
from service.store import comparisons, runs, submissions, texts
from service.store.packed_texts import is_apart, unpack_text
from service.store.submissions import Submission
from service.usecases.access.access import locked_submission, require_open, submission_of
from service.usecases.boards.work import board_changed, let_board_begin
from service.usecases.events.record import record_event
from service.usecases.runs.adding import add_run
from service.usecases.runs.ending import queue_runs
from service.usecases.runs.views import TEXT_TYPE, View, json_view
from service.usecases.scoring.part_texts import OUTPUTS
from service.usecases.submissions import quotas
from service.usecases.submissions.views import SUBMISSION_KIND, view_of


def patch_submission(context: Context, caller: Caller, submission_id: str, changes: SubmissionChanges) -> View:
    """Change name, notes and links, choose a submission for the board, withdraw it or bring it back.

    Raises:
        Conflict: the benchmark is not open, or the submission has no scores of a team.
    """
    caller.require("submit")
    now = context.now()
    with context.store.write() as db:
        submission, benchmark = locked_submission(db, caller, submission_id)
        given = changes.given()
        # at level `none`, teams may choose any submission: only what has scores is on the board
        blind = gate.blind(benchmark, now) and not caller.organiser
        unfit = submission.team_id is None or (submission.state != runs.SUCCEEDED and not blind)
        if changes.chosen is True and unfit:
            raise Conflict(f"The submission {submission.id} has no scores of a team, so it cannot be chosen.")
        if changes.chosen is not MISSING or changes.withdrawn is False:
            require_open(benchmark, caller, now)
        values = {name: value for name, value in given.items() if name not in ("withdrawn", "links")}
        if changes.links is not MISSING:
            values["links"] = {} if changes.links is None else changes.links.over(submission.links)
        if changes.withdrawn is not MISSING:
            values["withdrawn_at"] = (submission.withdrawn_at or now) if changes.withdrawn else None
        if values:
            submissions.change(db, submission_id, **values)
        if changes.chosen is True and submission.team_id is not None:
            submissions.unchoose_others(db, submission.benchmark_id, submission.team_id, submission_id)
        scheduled = board_changed(db, context, submission.benchmark_id)
        _record(context, db, caller, "submission.changed", submission, {"members": sorted(given)})
        view = view_of(db, context, caller, benchmark, submission_of(db, caller, submission_id))
    queue_runs(context, scheduled, submission.benchmark_id)
    return view


def cancel_submission(context: Context, caller: Caller, submission_id: str) -> View:
    """Cancel an unfinished submission; before a worker claims it, this returns its quota.

    Raises:
        Conflict: it has finished.
        Forbidden: the private share is shown, and the caller is a team: the scores of its others could tell it which
            ones to cancel.
    """
    caller.require("submit")
    now = context.now()
    with context.store.write() as db:
        submission, benchmark = locked_submission(db, caller, submission_id)
        if shown_share(benchmark, now) == PRIVATE and not caller.organiser:
            raise Forbidden(
                "The benchmark has closed and shows its private share, so only organisers may cancel. You may still "
                "withdraw."
            )
        if not runs.finish(db, submission.run_id, runs.CANCELLED, now):
            raise Conflict(f"The submission {submission_id} has finished. Only unfinished ones can be cancelled.")
        submissions.change(db, submission_id, state=runs.CANCELLED, finished_at=now)
        freed = let_board_begin(db, submission.benchmark_id)
        _record(context, db, caller, "submission.cancelled", submission)
        view = view_of(db, context, caller, benchmark, submission_of(db, caller, submission_id))
    queue_runs(context, freed)
    context.queue.stop(submission.run_id)
    return view


def retry_submission(context: Context, caller: Caller, submission_id: str) -> None:
    """Start a new attempt after an internal error; the record of the failed attempt stays.

    Raises:
        Conflict: it did not fail through an internal error.
        Gone: its outputs were deleted.
        TooManyRequests: the quota is used up, or too many runs of the team are queued.
    """
    caller.require("submit")
    now = context.now()
    with context.store.write() as db:
        submission, benchmark = locked_submission(db, caller, submission_id)
        if submission.state != runs.FAILED or submission.failure_kind != "service":
            raise Conflict(
                f"The submission {submission_id} did not fail through an internal error. Correct its outputs and "
                "submit them again.",
                slug="not-retryable",
            )
        if submission.output_deleted_at is not None:
            raise Gone(f"The outputs of {submission_id} were deleted. Submit them again.")
        if submission.team_id is not None:
            # the failed attempt used no quota, so the new one is counted like a new submission
            quotas.count_one(db, caller, benchmark.id, submission.team_id, now)
        attempt = submission.attempt + 1
        run_id = f"{submission.id}-{attempt}"
        add_run(db, context, caller, run_id, SUBMISSION_KIND, LIVE, now)
        submissions.change(
            db,
            submission_id,
            run_id=run_id,
            attempt=attempt,
            utc_day=quotas.utc_day(now),
            state=runs.QUEUED,
            failure_kind=None,
            finished_at=None,
        )
        _record(context, db, caller, "submission.retried", submission, {"attempt": attempt})
    context.queue.put(run_id, LIVE)


def delete_submission(context: Context, caller: Caller, submission_id: str) -> None:
    """Delete outputs, scores and name of a submission. Afterwards it answers 410; this returns no quota.

    Raises:
        Forbidden: the benchmark has closed, and the caller is a team.
    """
    caller.require("submit")
    now = context.now()
    with context.store.write() as db:
        submission, benchmark = locked_submission(db, caller, submission_id)
        if benchmark.closed(now) and not caller.organiser:
            raise Forbidden("The benchmark has closed, so only organisers may delete. You may still withdraw.")
        runs.finish(db, submission.run_id, runs.CANCELLED, now)
        if submission.state == runs.QUEUED:
            submissions.change(db, submission_id, state=runs.CANCELLED, finished_at=now)
        submissions.erase(db, [submission_id], now)
        comparisons.erase(db, comparisons.naming(db, submission.benchmark_id, submission_id), now)
        scheduled = board_changed(db, context, submission.benchmark_id)
        _record(context, db, caller, "submission.deleted", submission)
    queue_runs(context, scheduled, submission.benchmark_id)
    context.queue.stop(submission.run_id)


def submission_output(context: Context, caller: Caller, submission_id: str, part: str | None) -> View:
    """Show the output of one part, byte for byte; several texts as a JSON object.

    The part may be omitted if there is only one.

    Raises:
        NotFound: the part has no output, or is not named.
        Gone: the outputs were deleted.
    """
    with context.store.read() as db:
        submission = submission_of(db, caller, submission_id)
        if submission.output_deleted_at is not None:
            raise Gone(f"The outputs of {submission_id} were deleted. Its scores are kept.")
        if part is None and len(submission.outputs) == 1:
            part = next(iter(submission.outputs))
        if part not in submission.outputs:
            reason = "Set `part`." if part is None else f"No output for part {part[:80]!r}."
            sent = list(submission.outputs)
            raise NotFound(f"{reason} Parts with outputs: {', '.join(sent[:20])}{' ...' if len(sent) > 20 else ''}.")
        prefix = f"{OUTPUTS}/{part}"
        alone = texts.packed(db, submission_id, prefix)
        if alone is not None:
            digest, body = alone
            apart = is_apart(body)
            return View(unpack_text(body) if apart else body, digest, content_type=TEXT_TYPE, packed=not apart)
        wanted = [name for name in texts.names(db, submission_id) if name.startswith(prefix + "/")]
        stored = texts.read_texts(db, submission_id, wanted)
    sides = {name.removeprefix(prefix + "/"): text.decode("utf-8", "replace") for name, (_, text) in stored.items()}
    return json_view(sides)


def _record(
    context: Context,
    db: Connection,
    caller: Caller,
    kind: str,
    submission: Submission,
    data: Mapping[str, object] | None = None,
) -> None:
    record_event(
        db,
        context,
        kind,
        submission.benchmark_id,
        actor=caller.owner,
        team_id=submission.team_id,
        subject=submission.id,
        data=data,
    )
