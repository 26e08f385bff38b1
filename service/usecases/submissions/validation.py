"""Validate outputs (`?validate_only=true`): would they be scored? It shows no score, uses no quota, keeps no text."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from service.caller import Caller
from service.context import Context
from service.errors import TooManyRequests
from service.ids import new_id
from service.policy import gate
from service.queue import LIVE
from service.requests import SubmissionRequest
from service.store import benchmarks, jobs, revisions, runs, texts
from service.usecases.access.access import active_revision, benchmark_of, require_open
from service.usecases.runs.ending import Ending, Failure, job_answer
from service.usecases.runs.progress import Progress
from service.usecases.scoring.part_scorer import FAILED, Scorer
from service.usecases.scoring.part_texts import OUTPUTS, text_of
from service.usecases.submissions.submissions import check_outputs, team_and_role

VALIDATION_KIND = "validation"
AT_ONCE = 4
"""Unfinished validations of one token: they use no quota, so they must not crowd out submissions."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """The stored request of a validation: slug of the benchmark, id of the revision, whether organisers ask."""

    benchmark: str
    revision: str
    organiser: bool


def validate(context: Context, caller: Caller, slug: str, request: SubmissionRequest) -> str:
    """Store a job that checks outputs against gold's text. Return its id.

    Raises:
        Conflict: the benchmark is not open, or has no active revision.
        Unprocessable: the request is invalid, with pointers.
        TooManyRequests: too many validations of this token are unfinished.
    """
    caller.require("submit")
    now = context.now()
    job_id = new_id("job", now)
    with context.store.write() as db:
        benchmark = benchmark_of(db, slug, caller)
        require_open(benchmark, caller, now)
        revision = active_revision(db, benchmark)
        team_and_role(db, caller, slug, request)
        outputs = check_outputs(db, revision, request)
        if jobs.unfinished_of(db, caller.owner, VALIDATION_KIND) >= AT_ONCE:
            detail = f"The limit of {AT_ONCE} unfinished validations of this token is reached. Wait for one of them."
            raise TooManyRequests(detail, slug="too-many-validations", headers={"Retry-After": "2"})
        runs.add(db, job_id, VALIDATION_KIND, LIVE, now)
        jobs.add(db, job_id, caller.owner, asdict(_Stored(slug, revision.id, caller.organiser)))
        texts.put(db, job_id, outputs.named)
    context.queue.put(job_id, LIVE)
    return job_id


def work(context: Context, run: runs.Run, progress: Progress) -> Ending | None:
    """Check each part of the outputs; keep the result and nothing of the texts."""
    with context.store.read() as db:
        job = jobs.get(db, run.id)
        if job is None or job.deleted_at is not None:
            return None
        stored = texts.read(db, run.id)
        request = _Stored(**job.request)
        revision = revisions.by_id(db, request.revision)
        benchmark = benchmarks.get(db, request.benchmark)
    if revision is None or benchmark is None:
        raise RuntimeError(f"the revision of {run.id} was deleted")
    scorer = Scorer(context, revision)
    choice = scorer.scoring.spec.format
    texts_of_parts = {part.name: text_of(stored, OUTPUTS, part.name, choice) for part in scorer.parts}
    outputs = {name: text for name, text in texts_of_parts.items() if text is not None}
    checked = scorer.check(outputs, progress.note)
    valid = all(part["state"] != FAILED for part in checked.values())
    results = {"benchmark": benchmark.id, "revision": revision.number, "valid": valid, "parts": checked}
    asker = Caller(None, frozenset({"organise"} if request.organiser else ()))
    # the stored answer may still be read after closing
    level = gate.lowest_level(benchmark, asker)
    return job_answer(run, runs.SUCCEEDED, {"results": gate.validation_view(level, results)}, keep_texts=False)


def fail(_context: Context, run: runs.Run, failure: Failure) -> Ending:
    """Save a failure that the outputs did not cause as the answer, without a word of gold."""
    return job_answer(run, runs.FAILED, {"failure": failure.document()}, keep_texts=False)
