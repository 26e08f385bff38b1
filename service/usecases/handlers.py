"""Which use-case does which kind of work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from service.context import Context
from service.store.runs import Run
from service.usecases import (
    answer_comparison,
    board_comparisons,
    check_revision,
    jobs,
    score_job,
    score_submission,
    validations,
)
from service.usecases.benchmarks import REVISION_KIND
from service.usecases.comparisons import COMPARISON_KIND
from service.usecases.submission_views import SUBMISSION_KIND


@dataclass(frozen=True, slots=True)
class Handler:
    """How one kind of work is done, and how it is given up."""

    run: Callable[[Context, Run], None]
    fail: Callable[[Context, Run, Mapping[str, Any]], None]


HANDLERS: Mapping[str, Handler] = {
    jobs.KIND: Handler(score_job.score_job, score_job.fail_job),
    REVISION_KIND: Handler(check_revision.check_revision, check_revision.fail_revision),
    SUBMISSION_KIND: Handler(score_submission.score_submission, score_submission.fail_submission),
    validations.VALIDATION_KIND: Handler(validations.validate_outputs, validations.fail_validation),
    board_comparisons.BOARD_KIND: Handler(
        board_comparisons.make_board_comparisons, board_comparisons.fail_board_comparisons
    ),
    COMPARISON_KIND: Handler(answer_comparison.answer_comparison, answer_comparison.fail_comparison),
}
