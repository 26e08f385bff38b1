"""Show submissions; everything passes service.policy.gate."""

from __future__ import annotations

import math
from collections.abc import Mapping

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.policy import gate, ladder, misfits
from service.policy.figures import Release
from service.policy.split import shown_share
from service.queue import REDIS_ERRORS
from service.requests import PUBLIC
from service.store import revisions, runs, score_records, submissions, systems
from service.store.benchmarks import Benchmark
from service.store.runs import Run
from service.store.submissions import Submission, links_document
from service.usecases.boards.released import release_of_revision, revision_shown
from service.usecases.runs.views import View, json_view, moment
from service.usecases.submissions import quotas

SUBMISSION_KIND = "submission"
LOOKED_AT = 10
"""Finished submissions whose times make the estimate for waiting ones."""


def view_of(db: Connection, context: Context, caller: Caller, benchmark: Benchmark, submission: Submission) -> View:
    """Show the whole document, as far as the caller may see it."""
    now = context.now()
    run = runs.get(db, submission.run_id)
    heads = systems.names(db, () if submission.run_of is None else (submission.run_of,))
    document = _document(submission, run, heads)
    document["queue"] = None if run is None or run.final else _queue(db, context, run, benchmark.id)
    document["quota"] = None
    if submission.team_id is not None:
        document["quota"] = quotas.quota_document(quotas.quotas_of(db, benchmark, submission.team_id, now), now)
    record = None
    if submission.state == runs.SUCCEEDED and benchmark.active_revision is not None:
        record = score_records.newest(db, submission.id, benchmark.active_revision)
    share = shown_share(benchmark, now)
    document["scores"] = None if record is None else _scores(record.shown(share), share)
    document["warnings"] = [] if record is None else record.document["warnings"]
    document["failure"] = submission.failures[-1] if submission.state == runs.FAILED and submission.failures else None
    document["failures"] = list(submission.failures)
    level = gate.level_of(benchmark, caller, now)
    document["released"] = None if record is None or record.rung is None else record.rung != score_records.HELD
    if share == PUBLIC and level < gate.Level.GOLD:
        document = ladder.without_comparison(document)
    if ladder.holds(level, benchmark) and document["released"] is False:
        document = ladder.held_submission(document)
    if misfits.hidden(level, benchmark):
        document = misfits.closed_submission(document)
    release = None if record is None else _release(db, benchmark, record, level, share)
    shown = gate.submission_view(level, document, release)
    final = submission.state not in runs.UNFINISHED or shown["state"] == gate.RECEIVED
    return json_view(shown, final=final, state=str(shown["state"]))


def summary(submission: Submission, run: Run | None, heads: Mapping[str, str], level: gate.Level) -> dict[str, object]:
    """Show a submission in a list, as far as the caller may see it.

    Args:
        submission: what is shown.
        run: of its current attempt.
        heads: names of the submissions of which others are further training runs.
        level: of the caller.
    """
    document = _document(submission, run, heads)
    del document["outputs"], document["progress"]
    shown = gate.submission_view(level, {**document, "failure_kind": submission.failure_kind})
    return {name: shown[name] for name in document}


def _document(submission: Submission, run: Run | None, heads: Mapping[str, str]) -> dict[str, object]:
    waits = submission.state in runs.UNFINISHED and run is not None
    return {
        "id": submission.id,
        "benchmark": submission.benchmark_id,
        "team": submission.team_id,
        "name": submission.name,
        "run_of": heads.get(submission.run_of or ""),
        "notes": submission.notes,
        "links": links_document(submission.links),
        "role": submission.role,
        "state": run.state if waits and run is not None else submission.state,
        "attempt": submission.attempt,
        "created_at": moment(submission.created_at),
        "started_at": moment(None if run is None else run.started_at),
        "finished_at": moment(submission.finished_at),
        "progress": run.progress if waits and run is not None else None,
        "outputs": submission.outputs,
        "chosen": submission.chosen,
        "withdrawn_at": moment(submission.withdrawn_at),
        "output_deleted_at": moment(submission.output_deleted_at),
    }


def _release(
    db: Connection, benchmark: Benchmark, record: score_records.ScoreRecord, level: gate.Level, share: str | None
) -> Release | None:
    """Return what is shown of a record's figures over a share; None for nothing."""
    revision = revisions.get(db, benchmark.id, record.revision)
    if revision is None or not revision_shown(db, benchmark, level, revision.number, share):
        return None
    return release_of_revision(db, benchmark, revision, level, share)


def _scores(record: score_records.ScoreRecord, share: str | None) -> dict[str, object]:
    kept = ("revision", "metrics", "parts")
    return {
        **{name: record.document[name] for name in kept},
        "covered": record.document.get("covered"),
        "split": share,
        "main": {"score": record.document["main_score"], "value": record.main},
    }


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
