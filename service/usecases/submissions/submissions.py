"""Create, show, await, list, change, cancel, retry and delete submissions, and return their outputs."""

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from service import queue, requests
from service.caller import Caller, new_id
from service.context import Context
from service.contract import submissions as contract
from service.contract.common import TextsByName
from service.contract.submissions import SubmissionChanges, SubmissionRequest, SubmissionsQuery
from service.errors import LONGEST_SHOWN, SOON, Conflict, Forbidden, Gone, NotFound, invalid, refuse
from service.policy import gate
from service.policy.release import Release
from service.store import benchmarks, boards, comparisons, packing, revisions, runs, submissions, texts
from service.usecases import access, events
from service.usecases.boards.work import board_changed, let_board_begin
from service.usecases.runs import TEXT_TYPE, Page, Shown, add_run, page_of, queue_runs, wait_for
from service.usecases.scoring.config import scoring_config
from service.usecases.scoring.gold import OUTPUTS, named_texts
from service.usecases.submissions import views
from treescore.core import params, wording
from treescore.core.text import digest_of
from treescore.errors import Problem, ProblemList


def submit(
    context: Context,
    caller: Caller,
    slug: str,
    request: SubmissionRequest,
    idempotency_key: access.IdempotencyKey | None = None,
) -> tuple[str, bool]:
    """Store a submission, then queue it. Return its id, and whether it is new.

    Raises:
        Conflict: the benchmark is not open, or has no active revision.
        Unprocessable: the request is invalid, with pointers; nothing is charged.
        TooManyRequests: a quota is used up, or too many runs of the team are queued.
    """
    caller.require("submit")
    now = context.now()
    submission_id = new_id("sub", now)
    with context.store.read() as db:
        benchmark = access.benchmark_of(db, slug, caller)
        revision = access.active_revision(db, benchmark)
        team_id, role = team_and_role(db, caller, slug, request)
        checked = check_outputs(db, revision, request, context.config.max_run_bytes)
    document = {part: _described(named) for part, named in checked.items()}
    digest = digest_of("\n".join(f"{part} {document[part]['digest']}" for part in sorted(document)).encode())
    fresh = submissions.Submission(
        id=submission_id,
        benchmark_id=slug,
        team_id=team_id,
        name=request.name or f"Submission of {now:%Y-%m-%d %H:%M:%S} UTC",
        notes=request.notes,
        links={} if request.links is None else request.links.over({}),
        role=role,
        created_at=now,
        utc_day=views.utc_day(now),
        run_id=submission_id,
        state=runs.QUEUED,
        outputs=document,
        outputs_digest=digest,
    )
    try:
        with context.store.write() as db:
            earlier = access.claim_key(db, caller, idempotency_key, submission_id, now)
            if earlier is not None:
                return earlier, False
            if team_id is not None:
                views.count_one(db, caller, slug, team_id, now)
            if request.run_of is not None:
                system = views.system_of(db, slug, team_id, request.run_of, digest)
                fresh = replace(fresh, run_of=system)
            add_run(db, context, caller, submission_id, views.SUBMISSION_KIND, queue.LIVE, now)
            submissions.add(db, fresh)
            # from here on the benchmark cannot be deleted; before, it may have been deleted or closed
            access.require_open(access.benchmark_of(db, slug), caller, now)
            texts.put_packed(db, submission_id, ChainMap(*checked.values()))
            events.record_event_of(db, context, "submission.created", fresh, caller.owner)
    except IntegrityError as error:
        raise Conflict("An equal request is in progress. Retry.", headers=SOON) from error
    context.queue.put(submission_id, queue.LIVE)
    return submission_id, True


def view_submission(context: Context, caller: Caller, submission_id: str) -> Shown[contract.Submission]:
    """Show a submission, as far as the caller may see it.

    Raises:
        NotFound: it does not exist, or belongs to another team.
        Gone: it was deleted.
    """
    with context.store.read() as db:
        submission = access.submission_of(db, caller, submission_id)
        return views.view_of(db, context, caller, access.benchmark_of(db, submission.benchmark_id), submission)


def wait_for_submission(
    context: Context, caller: Caller, submission_id: str, seconds: float, etag: str | None = None
) -> Shown[contract.Submission]:
    """Show a submission once it is final, or differs from `etag`, or the time is over."""
    with context.store.read() as db:
        run_id = access.submission_of(db, caller, submission_id).run_id
    return wait_for(context, run_id, lambda: view_submission(context, caller, submission_id), seconds, etag)


def list_submissions(context: Context, caller: Caller, slug: str, query: SubmissionsQuery) -> Page:
    """List the submissions of the caller's team, newest first; organisers see all, or those of one team.

    Raises:
        Forbidden: the token belongs to no team of the benchmark, or asks for another one: its list is always empty.
    """
    caller.require("submit", "read")
    own = access.team_of(caller, slug)
    with context.store.read() as db:
        benchmark = access.benchmark_of(db, slug, caller)
        release = Release.of(benchmark, caller, context.now())
        if not caller.organises(slug):
            if own is None:
                raise Forbidden(
                    f"This token belongs to no team of benchmark {slug!r} and has no submissions to list. Send the "
                    "token of a team, or one with the scope organise."
                )
            if query.team not in (None, own):
                raise Forbidden("Only organisers list submissions of other teams. Leave `team` out to list your own.")
        if query.state is not None:
            # a list by state tells the state of each
            release.require_level(gate.Level.STATUS, "states")
        team_id = query.team if caller.organises(slug) else own
        withdrawn = query.state == requests.WITHDRAWN
        rows = submissions.listing(
            db, slug, query.cursor, query.limit + 1, team_id=team_id, state=None if withdrawn else query.state,
            withdrawn=withdrawn,
        )  # fmt: skip
        known = runs.many(db, [row.run_id for row in rows[: query.limit]])
        heads = boards.names_of(db, {row.run_of for row in rows if row.run_of is not None})
        more = views.main_scores(db, benchmark, rows[: query.limit], release) if query.include else {}

    def show(row: submissions.Submission) -> Mapping[str, object]:
        return views.summary(row, known.get(row.run_id), heads, release) | more.get(row.id, {})

    return page_of(rows, query.limit, show)


def team_and_role(db: Connection, caller: Caller, slug: str, request: SubmissionRequest) -> tuple[str | None, str]:
    """Return the team and the role of a submission. Organisers name a team, or send a baseline.

    Raises:
        Forbidden: the token belongs to no team of the benchmark, or only organisers may send this.
        Unprocessable: the team is missing or unknown.
    """
    named = request.team
    role = request.role or (submissions.BASELINE if caller.organises(slug) and named is None else submissions.SYSTEM)
    own = access.team_of(caller, slug)
    if not caller.organises(slug):
        if own is None:
            raise Forbidden(f"This token belongs to no team of benchmark {slug!r}. Ask the organisers for one.")
        if role == submissions.BASELINE or named not in (None, own):
            raise Forbidden("Only organisers may send baselines, or submit for other teams.")
        return own, submissions.SYSTEM
    if named is None:
        if role == submissions.SYSTEM:
            raise invalid("missing-field", "/team", "Set `team`, or `role` to `baseline`.")
        return None, role
    team = benchmarks.get_team(db, slug, named)
    if team is None or team.erased_at is not None:
        raise invalid("unknown-team", "/team", access.unknown_team(db, slug, named))
    return (None if role == submissions.BASELINE else named), role


def check_outputs(
    db: Connection, revision: revisions.Revision, request: SubmissionRequest, memory: int
) -> dict[str, dict[str, packing.PackedText]]:
    """Return the outputs of a request, unread: part -> its texts under the names by which they are kept.

    Raises:
        Unprocessable: a part is unknown, or a text does not have the shape of its format, or is too large for the
            `memory` of a run.
    """
    choice = scoring_config(revision.scoring).spec.format
    known = [part.name for part in revisions.parts_of(db, revision.id)]
    problems = ProblemList()
    checked: dict[str, dict[str, packing.PackedText]] = {}
    if not request.outputs:
        problems.add(Problem(code="no-outputs", pointer="/outputs", detail="Send the output of at least one part."))
    for part, value in request.outputs.items():
        # an answer does not repeat a name of any length
        pointer = f"/outputs/{params.escape(part)}" if len(part) <= LONGEST_SHOWN else "/outputs"
        if part not in known:
            suggestion = wording.did_you_mean(part, known)
            detail = f"Unknown part {part[:LONGEST_SHOWN]!r}. The benchmark has: {', '.join(known[:20])}.{suggestion}"
            problems.add(Problem(code="unknown-part", pointer=pointer, detail=detail))
            continue
        checked[part] = named_texts(problems, f"{OUTPUTS}/{part}", value, choice, pointer, part, memory=memory)
    refuse(problems)
    return checked


def _described(named: Mapping[str, packing.PackedText]) -> dict[str, str | int]:
    """Return digest and bytes of the output of one part."""
    digests = [text.digest for text in named.values()]
    return {
        "digest": digests[0] if len(digests) == 1 else digest_of("\n".join(digests).encode()),
        "bytes": sum(text.size for text in named.values()),
    }


def patch_submission(
    context: Context, caller: Caller, submission_id: str, changes: SubmissionChanges
) -> Shown[contract.Submission]:
    """Change name, notes and links, choose a submission for the board, withdraw it or bring it back.

    Raises:
        Conflict: the benchmark is not open, or the submission has no scores of a team.
        Forbidden: only organisers give a reason, and bring back what they withdrew with one.
        Unprocessable: a reason without a withdrawal.
        TooManyRequests: the caller has made too many changes.
    """
    caller.require("submit")
    now = context.now()
    with context.store.write() as db:
        submission, benchmark = access.locked_submission(db, caller, submission_id)
        events.require_changes_left(db, context, caller)
        given = changes.given()
        # at level `none`, teams may choose any submission: only what has scores is on the board
        blind = Release.of(benchmark, caller, now).blind
        unfit = submission.team_id is None or (submission.state != runs.SUCCEEDED and not blind)
        if changes.chosen is True and unfit:
            raise Conflict(f"The submission {submission.id} has no scores of a team, so it cannot be chosen.")
        if changes.chosen is not requests.MISSING or changes.withdrawn is False:
            access.require_open(benchmark, caller, now)
        if changes.reason is not requests.MISSING and changes.withdrawn is not True:
            raise invalid("bad-value", "/reason", "A reason is given with `withdrawn: true`, and only with it.")
        restores = changes.withdrawn is False and submission.withdrawn_reason is not None
        if (restores or changes.reason is not requests.MISSING) and not caller.organises(benchmark.id):
            raise Forbidden("Only organisers withdraw with a reason, and bring back what was withdrawn with one.")
        values = {name: value for name, value in given.items() if name not in ("withdrawn", "links", "reason")}
        if changes.links is not requests.MISSING:
            values["links"] = {} if changes.links is None else changes.links.over(submission.links)
        if changes.withdrawn is not requests.MISSING:
            values["withdrawn_at"] = (submission.withdrawn_at or now) if changes.withdrawn else None
            said = submission.withdrawn_reason if changes.reason is requests.MISSING else changes.reason
            values["withdrawn_reason"] = said if changes.withdrawn else None
        if values:
            submissions.change(db, submission_id, **values)
        if changes.chosen is True and submission.team_id is not None:
            submissions.unchoose_others(db, submission.benchmark_id, submission.team_id, submission_id)
        on_board = {
            name
            for name, value in values.items()
            if name not in ("notes", "withdrawn_reason") and getattr(submission, name) != value
        }
        scheduled = board_changed(db, context, submission.benchmark_id) if on_board else ()
        events.record_event_of(db, context, "submission.changed", submission, caller.owner, {"members": sorted(given)})
        view = views.view_of(db, context, caller, benchmark, access.submission_of(db, caller, submission_id))
    queue_runs(context, scheduled, submission.benchmark_id)
    return view


def cancel_submission(context: Context, caller: Caller, submission_id: str) -> Shown[contract.Submission]:
    """Cancel an unfinished submission; before a worker claims it, this returns its quota.

    Raises:
        Conflict: it has finished; or, where the level does not tell, it has begun.
        Forbidden: the benchmark has closed, and the caller is a team: scores could tell it which ones to cancel.
    """
    caller.require("submit")
    now = context.now()
    with context.store.write() as db:
        submission, benchmark = access.locked_submission(db, caller, submission_id)
        if benchmark.closed(now) and not caller.organises(benchmark.id):
            raise Forbidden("The benchmark has closed, so only organisers may cancel. You may still withdraw.")
        run = runs.get(db, submission.run_id, lock=True)
        if Release.of(benchmark, caller, now).blind and (run is None or run.state != runs.QUEUED):
            raise Conflict(
                f"The submission {submission_id} does not wait for a worker. At feedback level none only those that do "
                "can be cancelled. You may still withdraw it."
            )
        if not runs.finish(db, submission.run_id, runs.CANCELLED, now):
            raise Conflict(f"The submission {submission_id} has finished. Only unfinished ones can be cancelled.")
        submissions.change(db, submission_id, state=runs.CANCELLED, finished_at=now)
        freed = let_board_begin(db, submission.benchmark_id)
        events.record_event_of(db, context, "submission.cancelled", submission, caller.owner)
        view = views.view_of(db, context, caller, benchmark, access.submission_of(db, caller, submission_id))
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
        submission, benchmark = access.locked_submission(db, caller, submission_id)
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
            views.count_one(db, caller, benchmark.id, submission.team_id, now)
        attempt = submission.attempt + 1
        run_id = f"{submission.id}-{attempt}"
        add_run(db, context, caller, run_id, views.SUBMISSION_KIND, queue.LIVE, now)
        begun = {"state": runs.QUEUED, "failure_kind": None, "finished_at": None}
        submissions.change(db, submission_id, run_id=run_id, attempt=attempt, utc_day=views.utc_day(now), **begun)
        events.record_event_of(db, context, "submission.retried", submission, caller.owner, {"attempt": attempt})
    context.queue.put(run_id, queue.LIVE)


def check_deletable(context: Context, caller: Caller, submission_id: str) -> None:
    """Refuse to ask whether a submission is to be deleted where that would be refused.

    Raises:
        Forbidden: the benchmark has closed, and the caller is a team.
    """
    with context.store.read() as db:
        submission = access.submission_of(db, caller, submission_id)
        _require_deletable(caller, access.benchmark_of(db, submission.benchmark_id), context.now())


def _require_deletable(caller: Caller, benchmark: benchmarks.Benchmark, now: datetime) -> None:
    if benchmark.closed(now) and not caller.organises(benchmark.id):
        raise Forbidden("The benchmark has closed, so only organisers may delete. You may still withdraw.")


def delete_submission(context: Context, caller: Caller, submission_id: str) -> None:
    """Delete outputs, scores and name of a submission. Afterwards it answers 410; this returns no quota.

    Raises:
        Forbidden: the benchmark has closed, and the caller is a team.
    """
    caller.require("submit")
    now = context.now()
    with context.store.write() as db:
        submission, benchmark = access.locked_submission(db, caller, submission_id)
        _require_deletable(caller, benchmark, now)
        runs.finish(db, submission.run_id, runs.CANCELLED, now)
        if submission.state == runs.QUEUED:
            submissions.change(db, submission_id, state=runs.CANCELLED, finished_at=now)
        submissions.erase(db, [submission_id], now)
        comparisons.erase(db, comparisons.naming(db, submission.benchmark_id, submission_id), now)
        scheduled = board_changed(db, context, submission.benchmark_id)
        events.record_event_of(db, context, "submission.deleted", submission, caller.owner)
    queue_runs(context, scheduled, submission.benchmark_id)
    context.queue.stop(submission.run_id)


def submission_output(context: Context, caller: Caller, submission_id: str, part: str | None) -> Shown[TextsByName]:
    """Show the output of one part, byte for byte; several texts as a JSON object.

    The part may be omitted if there is only one.

    Raises:
        NotFound: the part has no output, or is not named.
        Gone: the outputs were deleted.
    """
    with context.store.read() as db:
        submission = access.submission_of(db, caller, submission_id)
        if submission.output_deleted_at is not None:
            raise Gone(f"The outputs of {submission_id} were deleted. Its scores are kept.")
        if part is None and len(submission.outputs) == 1:
            part = next(iter(submission.outputs))
        if part not in submission.outputs:
            reason = "Set `part`." if part is None else f"No output for part {part[:80]!r}."
            sent = list(submission.outputs)
            raise NotFound(f"{reason} Parts with outputs: {', '.join(sent[:20])}{' ...' if len(sent) > 20 else ''}.")
        prefix = f"{OUTPUTS}/{part}"
        for digest, text in texts.read_texts(db, submission_id, [prefix]).values():
            # not as it is stored, which tells what became of it, and of equal ones
            return Shown(None, text, digest, content_type=TEXT_TYPE)
        wanted = [name for name in texts.names(db, submission_id) if name.startswith(prefix + "/")]
        stored = texts.read_texts(db, submission_id, wanted)
    sides = {name.removeprefix(prefix + "/"): text.decode("utf-8", "replace") for name, (_, text) in stored.items()}
    return Shown(sides)
