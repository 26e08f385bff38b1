"""Names that no database can look up are not found, on either store."""

from __future__ import annotations

from functools import partial

import pytest

from service.contract.benchmarks import BenchmarkRequest
from service.contract.submissions import SubmissionRequest
from service.contract.submissions import SubmissionRequest as SubmissionSchema
from service.errors import BadRequest, NotFound, Unprocessable
from service.store.packing import packed_text
from service.usecases.benchmarks.benchmarks import create_benchmark, part_input, view_benchmark
from service.usecases.benchmarks.revisions import view_revision
from service.usecases.benchmarks.teams import rotate_token
from service.usecases.submissions.submissions import submission_output, submit, view_submission
from service.usecases.submissions.validation import validate
from tests.fixtures.contexts import ORGANISER, work_of
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import BENCHMARK, RIGHT, SLUG, Task

STRANGE = ["\x00", "a\x00b", "\ud800", "\u202e", "x\n"]


def test_they_are_not_found(either_context):
    task = Task(either_context, work_of(either_context))
    task.make()
    lyon = task.team()
    submission = task.submit(lyon)
    for name in STRANGE:
        for look in (
            partial(view_benchmark, either_context, lyon, name),
            partial(view_revision, either_context, lyon, name, 1),
            partial(part_input, either_context, ORGANISER, SLUG, name),
            partial(view_submission, either_context, lyon, name),
            partial(submission_output, either_context, lyon, submission, name),
            partial(rotate_token, either_context, ORGANISER, SLUG, name),
        ):
            with pytest.raises(NotFound):
                look()
        with pytest.raises(Unprocessable):
            submit(either_context, lyon, SLUG, SubmissionRequest(outputs={name: packed_text(RIGHT.encode())}))
        with pytest.raises(Unprocessable):
            create_benchmark(
                either_context,
                ORGANISER,
                loaded(BenchmarkRequest, {**BENCHMARK, "id": "b", "parts": {name: {"gold": "x"}}}),
            )


HOSTILE = ["\x1b[31mred", "a\rb", "\u202eevil", "x" * 100_000, "\ud800", "", " "]
"""Control characters, overrides of the direction, what is very long, half a pair, nothing."""


def test_hostile_names_of_submissions_are_refused_before_anything_is_counted(task):
    task.make(quota={"attempts_per_day": 1})
    lyon = task.team()
    requests = [each for name in HOSTILE for each in (({"en": RIGHT}, {"name": name}), ({name: RIGHT}, {}))]
    for outputs, more in requests:
        for send in (submit, validate):
            with pytest.raises((Unprocessable, BadRequest)) as error:
                send(task.context, lyon, SLUG, loaded(SubmissionSchema, {"outputs": outputs, **more}))
            assert len(str(error.value.problems)) < 1000
    assert task.submit(lyon)


def test_markup_in_names_and_notes_is_kept_as_text(task):
    task.make()
    lyon = task.team()
    markup = {"name": "<img src=x onerror=alert(1)>", "notes": "<script>\n</script>\u05d0"}
    shown = task.shown(lyon, task.scored(lyon, **markup))
    assert {name: shown[name] for name in markup} == markup
