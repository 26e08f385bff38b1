"""The module that does each kind of work."""

from __future__ import annotations

from collections.abc import Mapping

from service.usecases import comparisons as comparison_work
from service.usecases import jobs
from service.usecases.benchmarks import work as revision_work
from service.usecases.benchmarks.benchmarks import REVISION_KIND
from service.usecases.boards import work as board_work
from service.usecases.comparisons import COMPARISON_KIND
from service.usecases.runs import Kind
from service.usecases.submissions import validation
from service.usecases.submissions import work as submission_work
from service.usecases.submissions.views import SUBMISSION_KIND

KINDS: Mapping[str, Kind] = {
    jobs.KIND: jobs,
    REVISION_KIND: revision_work,
    SUBMISSION_KIND: submission_work,
    jobs.VALIDATION_KIND: validation,
    board_work.BOARD_KIND: board_work,
    COMPARISON_KIND: comparison_work,
}
