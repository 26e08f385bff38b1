"""Names that no database can look up are not found, on either store."""

from __future__ import annotations

import pytest

from service.errors import NotFound, Unprocessable
from service.requests import SubmissionRequest
from service.schemas.benchmarks import BenchmarkRequest
from service.usecases.benchmarks.benchmarks import create_benchmark, part_input, view_benchmark
from service.usecases.benchmarks.revisions import view_revision
from service.usecases.benchmarks.teams import rotate_token
from service.usecases.submissions.changes import submission_output
from service.usecases.submissions.submissions import submit, view_submission
from tests.fixtures.contexts import ORGANISER, work_of
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import BENCHMARK, RIGHT, SLUG, Task

STRANGE = ["\x00", "a\x00b", "\ud800", "\u202e", "x\n"]


@pytest.mark.parametrize("name", STRANGE)
def test_they_are_not_found(either_context, name):
    task = Task(either_context, work_of(either_context))
    task.make()
    lyon = task.team()
    submission = task.submit(lyon)
    for look in (
        lambda: view_benchmark(either_context, lyon, name),
        lambda: view_revision(either_context, lyon, name, 1),
        lambda: part_input(either_context, ORGANISER, SLUG, name),
        lambda: view_submission(either_context, lyon, name),
        lambda: submission_output(either_context, lyon, submission, name),
        lambda: rotate_token(either_context, ORGANISER, SLUG, name),
    ):
        with pytest.raises(NotFound):
            look()
    with pytest.raises(Unprocessable):
        submit(either_context, lyon, SLUG, SubmissionRequest(outputs={name: RIGHT}))
    with pytest.raises(Unprocessable):
        create_benchmark(
            either_context,
            ORGANISER,
            loaded(BenchmarkRequest, {**BENCHMARK, "id": "b", "parts": {name: {"gold": "x"}}}),
        )
