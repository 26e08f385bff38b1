"""The module that does each kind of work."""

from collections.abc import Mapping

from service.usecases import comparisons, jobs, runs
from service.usecases.benchmarks import work as revision_work
from service.usecases.benchmarks.benchmarks import REVISION_KIND
from service.usecases.boards import work as board_work
from service.usecases.submissions import validation, views
from service.usecases.submissions import work as submission_work

KINDS: Mapping[str, runs.Kind] = {
    jobs.KIND: jobs,
    REVISION_KIND: revision_work,
    views.SUBMISSION_KIND: submission_work,
    jobs.VALIDATION_KIND: validation,
    board_work.BOARD_KIND: board_work,
    comparisons.COMPARISON_KIND: comparisons,
}
