"""Names that no database can look up are not found, on either store."""

from __future__ import annotations

import pytest

from service.errors import NotFound, Unprocessable
from service.usecases.benchmarks.benchmarks import create_benchmark, list_benchmarks, part_input, view_benchmark
from service.usecases.benchmarks.revisions import view_revision
from service.usecases.benchmarks.teams import list_teams, rotate_token
from service.usecases.submissions.submissions import list_submissions, submission_output, submit, view_submission
from tests.fixtures.contexts import ORGANISER, work_of
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
    outputs = {"outputs": {"en": RIGHT}}
    for ask in (
        lambda: list_benchmarks(either_context, lyon, name, 5),
        lambda: list_benchmarks(either_context, lyon, None, 5, name),
        lambda: list_teams(either_context, ORGANISER, SLUG, name, 5),
        lambda: list_submissions(either_context, lyon, SLUG, name, 5),
        lambda: list_submissions(either_context, ORGANISER, SLUG, None, 5, team=name),
        lambda: submit(either_context, ORGANISER, SLUG, {**outputs, "team": name}),
        lambda: submit(either_context, lyon, SLUG, {"outputs": {name: RIGHT}}),
        lambda: submit(either_context, lyon, SLUG, {**outputs, "name": name}),
        lambda: create_benchmark(either_context, ORGANISER, {**BENCHMARK, "id": name}),
        lambda: create_benchmark(either_context, ORGANISER, {**BENCHMARK, "id": "b", "parts": {name: {"gold": "x"}}}),
    ):
        with pytest.raises(Unprocessable):
            ask()
