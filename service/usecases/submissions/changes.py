"""What can be done with a submission that is there: change, cancel, retry, delete, get its output back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from service.caller import Caller
from service.context import Context
from service.errors import Conflict, Forbidden, Gone, NotFound, refuse
from service.policy import gate
from service.queue import LIVE
from service.store import runs, submissions, teams, texts
from service.store.submissions import Submission
from service.usecases.access.access import locked_submission, submission_of
from service.usecases.benchmarks.settings import check_name, check_notes
from service.usecases.boards.work import board_changed, put_board
from service.usecases.events.record import record_event
from service.usecases.runs.views import View, etag_of
from service.usecases.scoring.part_texts import OUTPUTS
from service.usecases.submissions import quotas
from service.usecases.submissions.requests import require_open
from service.usecases.submissions.views import SUBMISSION_KIND, view_of
from treescore.errors import Problem, ProblemList

CHANGEABLE = ("name", "notes", "chosen", "withdrawn")


def patch_submission(context: Context, caller: Caller, submission_id: str, changes: Mapping[str, Any]) -> View:
    """Change name and notes, choose a submission for the board, withdraw it or bring it back.

    Raises:
        Conflict: a closed benchmark's board is not chosen any more by teams.
        Unprocessable: with pointers.
    """
    caller.require("submit")
    now = context.now()
    with context.store.write() as db:
        submission, benchmark = locked_submission(db, caller, submission_id)
        _check(submission, changes, blind=gate.blind(benchmark, now) and not caller.organiser)
        if "chosen" in changes or changes.get("withdrawn") is False:
            require_open(benchmark, caller, now)
        values: dict[str, Any] = {name: changes[name] for name in ("name", "notes", "chosen") if name in changes}
        if "withdrawn" in changes:
            values["withdrawn_at"] = (submission.withdrawn_at or now) if changes["withdrawn"] else None
        if values:
            submissions.change(db, submission_id, **values)
        if changes.get("chosen") and submission.team_id is not None:
            submissions.unchoose_others(db, submission.benchmark_id, submission.team_id, submission_id)
        scheduled = board_changed(db, context, submission.benchmark_id)
        _tell(context, db, caller, "submission.changed", submission, {"members": sorted(changes)})
        view = view_of(db, context, caller, benchmark, submission_of(db, caller, submission_id))
    put_board(context, scheduled)
    return view


def cancel_submission(context: Context, caller: Caller, submission_id: str) -> View:
    """Stop a submission that is not finished; it costs no quota then.

    Raises:
        Conflict: it has ended already.
    """
    caller.require("submit")
    now = context.now()
    with context.store.write() as db:
        submission, benchmark = locked_submission(db, caller, submission_id)
        if not runs.finish(db, submission.run_id, runs.CANCELLED, now):
            raise Conflict(f"The submission {submission_id} has ended already; a final state never changes.")
        submissions.change(db, submission_id, state=runs.CANCELLED, finished_at=now)
        _tell(context, db, caller, "submission.cancelled", submission)
        view = view_of(db, context, caller, benchmark, submission_of(db, caller, submission_id))
    context.queue.take_out(submission.run_id)
    context.queue.wake(submission.run_id)
    return view


def retry_submission(context: Context, caller: Caller, submission_id: str) -> View:
    """A new attempt at what failed through a fault of the service; the record of the failed one stays.

    Raises:
        Conflict: there is nothing of that kind to retry.
        Gone: its outputs are not kept any more.
        TooManyRequests: the quota was used up meanwhile.
    """
    caller.require("submit")
    now = context.now()
    with context.store.write() as db:
        submission, benchmark = locked_submission(db, caller, submission_id)
        if submission.state != runs.FAILED or submission.failure_kind != "service":
            raise Conflict(
                f"There is nothing to retry in {submission_id}. Only what failed through a fault of the service can "
                "be retried; mend an output and submit it anew.",
                slug="not-retryable",
                title="There is nothing to retry",
            )
        if submission.output_deleted_at is not None:
            raise Gone(f"The outputs of {submission_id} are not kept any more. Submit them anew.")
        if submission.team_id is not None and not caller.organiser:
            # a fault of ours was free, so the new attempt is counted like a new submission
            teams.get(db, benchmark.id, submission.team_id, lock=True)
            quotas.require(quotas.quotas_of(db, benchmark, submission.team_id, now), now)
        attempt = submission.attempt + 1
        run_id = f"{submission.id}-{attempt}"
        runs.add(db, run_id, SUBMISSION_KIND, LIVE, now)
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
        _tell(context, db, caller, "submission.retried", submission, {"attempt": attempt})
        view = view_of(db, context, caller, benchmark, submission_of(db, caller, submission_id))
    context.queue.put(run_id, LIVE)
    return view


def delete_submission(context: Context, caller: Caller, submission_id: str) -> None:
    """Erase a submission: outputs, scores, name. Afterwards it answers 410; its quota stays used.

    Raises:
        Forbidden: a team cannot delete once the benchmark has closed.
    """
    caller.require("submit")
    now = context.now()
    with context.store.write() as db:
        submission, benchmark = locked_submission(db, caller, submission_id)
        if benchmark.closed(now) and not caller.organiser:
            raise Forbidden("The benchmark has closed: only its organisers delete now. You may still withdraw.")
        runs.finish(db, submission.run_id, runs.CANCELLED, now)
        if submission.state == runs.QUEUED:
            submissions.change(db, submission_id, state=runs.CANCELLED, finished_at=now)
        submissions.erase(db, [submission_id], now)
        scheduled = board_changed(db, context, submission.benchmark_id)
        _tell(context, db, caller, "submission.deleted", submission)
    put_board(context, scheduled)
    context.queue.take_out(submission.run_id)
    context.queue.wake(submission.run_id)


def submission_output(context: Context, caller: Caller, submission_id: str, part: str | None) -> View:
    """One part of what was sent, byte for byte; several texts as a JSON object of them.

    Where one part was sent it need not be named.

    Raises:
        NotFound: that part was not sent, or it is not said which.
        Gone: outputs are not kept any more.
    """
    with context.store.read() as db:
        submission = submission_of(db, caller, submission_id)
        if submission.output_deleted_at is not None:
            raise Gone(f"The outputs of {submission_id} are not kept any more; its scores are.")
        if part is None and len(submission.outputs) == 1:
            part = next(iter(submission.outputs))
        if part not in submission.outputs:
            said = "Name the part." if part is None else f"It has no output for part {part[:80]!r}."
            sent = list(submission.outputs)
            raise NotFound(f"{said} There are: {', '.join(sent[:20])}{' ...' if len(sent) > 20 else ''}.")
        prefix = f"{OUTPUTS}/{part}"
        wanted = [name for name in texts.names(db, submission_id) if name == prefix or name.startswith(prefix + "/")]
        stored = texts.read(db, submission_id, wanted)
    if prefix in stored:
        body = stored[prefix][1]
        return View(body, etag_of(body), content_type="text/plain; charset=utf-8")
    sides = {name.removeprefix(prefix + "/"): text.decode("utf-8", "replace") for name, (_, text) in stored.items()}
    body = orjson.dumps(sides)
    return View(body, etag_of(body))


def _check(submission: Submission, changes: Mapping[str, Any], *, blind: bool) -> None:
    problems = ProblemList()
    for name in changes:
        if name not in CHANGEABLE:
            detail = f"A submission never changes but for {', '.join(CHANGEABLE)}."
            problems.add(Problem(code="not-changeable", pointer=f"/{name}", detail=detail))
    if "name" in changes:
        check_name(problems, changes["name"], "/name")
    if changes.get("notes"):
        check_notes(problems, changes["notes"], "/notes")
    for name in ("chosen", "withdrawn"):
        if name in changes and type(changes[name]) is not bool:
            problems.add(Problem(code="bad-value", pointer=f"/{name}", detail="This is true or false."))
    refuse(problems)
    # whoever may not know how it ended may choose it all the same: only what has scores stands on the board
    unfit = submission.team_id is None or (submission.state != runs.SUCCEEDED and not blind)
    if changes.get("chosen") and unfit:
        raise Conflict(f"The submission {submission.id} has no scores of a team, so it cannot be chosen.")


def _tell(
    context: Context,
    db: Any,
    caller: Caller,
    kind: str,
    submission: Submission,
    data: Mapping[str, Any] | None = None,
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
