"""Validate outputs (`?validate_only=true`): would they be scored? It shows no score, is an attempt, keeps no text."""

from collections import ChainMap
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from service import errors, queue
from service.caller import Caller, new_id
from service.context import Context
from service.contract.submissions import SubmissionRequest
from service.policy import documents, gate
from service.policy.release import Release
from service.store import benchmarks, jobs, revisions, runs, score_records, submissions, texts
from service.usecases.access import IdempotencyKey, active_revision, benchmark_of, claim_key, require_open
from service.usecases.jobs import VALIDATION_KIND
from service.usecases.runs import Ending, Failure, Progress, QueuedRun, add_run, job_answer
from service.usecases.scoring import gold, part_scorer
from service.usecases.submissions import views
from service.usecases.submissions.submissions import check_outputs, team_and_role

AT_ONCE = 4
"""Unfinished validations of one token, so that they do not crowd out submissions."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """The stored request of a validation: slug of the benchmark, id of the revision, whether organisers ask."""

    benchmark: str
    revision: str
    organiser: bool


def validate(
    context: Context,
    caller: Caller,
    slug: str,
    request: SubmissionRequest,
    idempotency_key: IdempotencyKey | None = None,
) -> tuple[str, bool]:
    """Store a job that checks outputs against gold's text. Return its id, and whether it is new.

    A validation tells whether outputs fit gold, so that one of a team counts as an attempt, also if they do not.

    Raises:
        Conflict: the benchmark is not open, or has no active revision.
        Unprocessable: the request is invalid, with pointers; nothing was compared, so it is not counted.
        TooManyRequests: the attempts are used up, too many validations of this token are unfinished, or too many runs
            of the team are queued.
    """
    caller.require("submit")
    now = context.now()
    job_id = new_id("job", now)
    try:
        with context.store.write() as db:
            benchmark = benchmark_of(db, slug, caller)
            require_open(benchmark, caller, now)
            revision = active_revision(db, benchmark)
            team_id, _ = team_and_role(db, caller, slug, request)
            checked = check_outputs(db, revision, request, context.config.max_run_bytes)
            earlier = claim_key(db, caller, _own(idempotency_key), job_id, now)
            if earlier is not None:
                return earlier, False
            if jobs.unfinished_of(db, caller.owner, VALIDATION_KIND) >= AT_ONCE:
                detail = f"The limit of {AT_ONCE} unfinished validations of this token is reached. Wait for one."
                raise errors.TooManyRequests(detail, slug="too-many-validations", headers={"Retry-After": "2"})
            if team_id is not None:
                views.count_one(db, caller, slug, team_id, now, scored=False)
            add_run(db, context, caller, job_id, VALIDATION_KIND, queue.LIVE, now)
            jobs.add(db, job_id, caller.owner, asdict(_Stored(slug, revision.id, caller.organises(slug))))
            if team_id is not None and not caller.organises(slug):
                submissions.add_validation(db, job_id, slug, team_id, views.utc_day(now))
            texts.put_packed(db, job_id, ChainMap(*checked.values()))
    except IntegrityError as error:
        raise errors.Conflict("An equal request is in progress. Retry.", headers=errors.SOON) from error
    context.queue.put(job_id, queue.LIVE)
    return job_id, True


def _own(key: IdempotencyKey | None) -> IdempotencyKey | None:
    """Tell a validation from a submission of the same outputs."""
    return None if key is None else replace(key, digest=f"validation {key.digest}")


def work(context: Context, run: runs.Run, progress: Progress) -> Ending | None:
    """Check each part of the outputs; keep the result and nothing of the texts."""
    with context.store.read() as db:
        job = jobs.get(db, run.id)
        if job is None or job.deleted_at is not None:
            return None
        stored = texts.read_texts(db, run.id)
        request = _Stored(**job.request)
        revision = revisions.by_id(db, request.revision)
        benchmark = benchmarks.get(db, request.benchmark)
    if revision is None or benchmark is None:
        raise RuntimeError(f"the revision of {run.id} was deleted")
    scorer = part_scorer.Scorer(context, revision)
    progress.measures(entry.metric.name for entry in scorer.scoring.spec.entries)
    choice = scorer.scoring.spec.format
    texts_of_parts = {part.name: gold.text_of(stored, gold.OUTPUTS, part.name, choice) for part in scorer.parts}
    outputs = {name: text for name, text in texts_of_parts.items() if text is not None}
    release = _release(benchmark, request)
    # the time of a check that shows nothing would tell of gold
    checked: dict[str, dict[str, object]] = {part: {} for part in texts_of_parts}
    if not release.blind:
        checked = scorer.check(outputs, progress.note)
    valid = all(part.get("state") != score_records.FAILED for part in checked.values())
    results = {"benchmark": benchmark.id, "revision": revision.number, "valid": valid, "parts": checked}
    if not release.gold:
        results = documents.validation_of_text(results)
    if not release.fits:
        results = documents.closed_validation(results)
    shown = {"results": gate.validation_view(release.level, results)}
    return job_answer(run, runs.SUCCEEDED, shown, keep_texts=False, level=release.level)


def _release(benchmark: benchmarks.Benchmark | None, request: _Stored) -> Release:
    """Return what who asks sees at any time: the stored answer may still be read after closing."""
    asker = Caller(None, frozenset({"organise"} if request.organiser else ()))
    return Release() if benchmark is None else Release.of(benchmark, asker, None)


def fail(context: Context, run: runs.Run, failure: Failure) -> Ending:
    """Save a failure that the outputs did not cause as the answer, without a word of gold."""
    with context.store.read() as db:
        job = jobs.get(db, run.id)
        request = None if job is None else _Stored(**job.request)
        release = Release() if request is None else _release(benchmarks.get(db, request.benchmark), request)
    ending = job_answer(run, runs.FAILED, {"failure": failure.document()}, keep_texts=False, level=release.level)

    def save(db: Connection, now: datetime) -> Sequence[QueuedRun]:
        if failure.kind == "service":
            submissions.refund_validation(db, run.id)
        return ending.save(db, now)

    return replace(ending, save=save)
