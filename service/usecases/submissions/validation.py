"""`?validate_only=true`: whether outputs would be scored, without a score, a quota or a trace of them afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.caller import Caller
from service.context import Context
from service.errors import TooManyRequests
from service.ids import new_id
from service.policy import gate
from service.queue import LIVE
from service.store import benchmarks, jobs, revisions, runs, texts
from service.usecases.access.access import active_revision, benchmark_of
from service.usecases.runs.ending import Ending, Failure, job_answer
from service.usecases.runs.progress import Progress
from service.usecases.scoring.part_scorer import FAILED, Scorer
from service.usecases.scoring.part_texts import OUTPUTS, text_of
from service.usecases.submissions.requests import check_outputs, check_texts, require_open, team_and_role

VALIDATION_KIND = "validation"
AT_ONCE = 4
"""Validations of one token that may wait or run: they cost no quota, so they must not crowd out submissions."""


def validate(context: Context, caller: Caller, slug: str, request: Mapping[str, Any]) -> str:
    """Have outputs checked against gold's text: the id of a job that says what is wrong with them.

    Raises:
        Conflict: the benchmark is not open, or has no revision yet.
        Unprocessable: the request makes no sense, with pointers.
        TooManyRequests: too many validations of this token are under way.
    """
    caller.require("submit")
    now = context.now()
    check_texts(request)
    job_id = new_id("job", now)
    with context.store.write() as db:
        benchmark = benchmark_of(db, slug)
        require_open(benchmark, caller, now)
        revision = active_revision(db, benchmark)
        team_and_role(db, caller, slug, request)
        outputs = check_outputs(db, revision, request)
        if jobs.unfinished_of(db, caller.owner, VALIDATION_KIND) >= AT_ONCE:
            detail = f"{AT_ONCE} validations of this token are under way. Wait for one of them."
            raise TooManyRequests(detail, slug="too-many-validations", headers={"Retry-After": "2"})
        runs.add(db, job_id, VALIDATION_KIND, LIVE, now)
        asked = {"benchmark": slug, "revision": revision.id, "organiser": caller.organiser}
        jobs.add(db, job_id, caller.owner, asked)
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
        revision = revisions.by_id(db, job.request["revision"])
        benchmark = benchmarks.get(db, job.request["benchmark"])
    if revision is None or benchmark is None:
        raise RuntimeError(f"the revision of {run.id} was deleted")
    scorer = Scorer(context, revision)
    choice = scorer.scoring.spec.format
    given = {part.name: text_of(stored, OUTPUTS, part.name, choice) for part in scorer.parts}
    outputs = {name: text for name, text in given.items() if text is not None}
    checked = scorer.check(outputs, progress.note)
    valid = all(part["state"] != FAILED for part in checked.values())
    results = {"benchmark": benchmark.id, "revision": revision.number, "valid": valid, "parts": checked}
    asker = Caller(None, frozenset({"organise"} if job.request["organiser"] else ()))
    # the stored answer may still be read after closing
    level = gate.lowest_level(benchmark, asker)
    return job_answer(run, runs.SUCCEEDED, {"results": gate.validation_view(level, results)}, keep_texts=False)


def fail(_context: Context, run: runs.Run, failure: Failure) -> Ending:
    """Save a failure that the outputs did not cause as the answer."""
    return job_answer(run, runs.FAILED, {"failure": failure.document()}, keep_texts=False)
