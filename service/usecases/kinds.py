"""Which use-case does which kind of work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from service.context import Context
from service.store.runs import Run
from service.usecases.benchmarks import work as revision_work
from service.usecases.benchmarks.benchmarks import REVISION_KIND
from service.usecases.boards import work as board_work
from service.usecases.comparisons import work as comparison_work
from service.usecases.comparisons.ask import COMPARISON_KIND
from service.usecases.jobs import jobs
from service.usecases.jobs import work as job_work
from service.usecases.submissions import validation
from service.usecases.submissions import work as submission_work
from service.usecases.submissions.views import SUBMISSION_KIND


@dataclass(frozen=True, slots=True)
class Handler:
    """How one kind of work is done, and how it is given up."""

    run: Callable[[Context, Run], None]
    fail: Callable[[Context, Run, Mapping[str, Any]], None]


HANDLERS: Mapping[str, Handler] = {
    jobs.KIND: Handler(job_work.score_job, job_work.fail_job),
    REVISION_KIND: Handler(revision_work.check_revision, revision_work.fail_revision),
    SUBMISSION_KIND: Handler(submission_work.score_submission, submission_work.fail_submission),
    validation.VALIDATION_KIND: Handler(validation.validate_outputs, validation.fail_validation),
    board_work.BOARD_KIND: Handler(board_work.make_board_comparisons, board_work.fail_board_comparisons),
    COMPARISON_KIND: Handler(comparison_work.answer_comparison, comparison_work.fail_comparison),
}
