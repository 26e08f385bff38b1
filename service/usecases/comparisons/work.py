"""The worker's half of a comparison that was asked for: answer it, save the answer once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from service.context import Context
from service.errors import failure_record
from service.store import benchmarks, comparisons, runs
from service.usecases.boards.compare import compare_submissions
from service.usecases.runs.views import etag_of
from treescore.errors import ScoringError


def answer_comparison(context: Context, run: runs.Run) -> None:
    """Answer a claimed question. What cannot be asked of these submissions is an answer too."""
    with context.store.read() as db:
        comparison = comparisons.of_run(db, run.id)
    if comparison is None:
        return
    try:
        document = compare_submissions(context, comparison.question)
    except ScoringError as error:
        fail_comparison(context, run, failure_record(error.kind, error.problems, error.total))
        return
    _save(context, run, runs.SUCCEEDED, {"comparison": document, "failure": None})


def fail_comparison(context: Context, run: runs.Run, failure: Mapping[str, Any]) -> None:
    """Save a failure as the answer."""
    _save(context, run, runs.FAILED, {"comparison": None, "failure": dict(failure)})


def _save(context: Context, run: runs.Run, state: str, answer: dict[str, Any]) -> None:
    with context.store.write() as db:
        # whoever comes second changes nothing: the work may have run twice
        comparison = comparisons.of_run(db, run.id)
        if comparison is None or not runs.finish(db, run.id, state, context.now()):
            return
        comparisons.save_answer(db, comparison.id, answer, etag_of(orjson.dumps(answer)))
        # it may be what a board waits for
        benchmarks.touch_board(db, comparison.benchmark_id)
    context.queue.wake(run.id)
