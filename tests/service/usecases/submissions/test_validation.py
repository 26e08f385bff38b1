"""Validation tells whether outputs fit, costs nothing and leaves nothing behind."""

from __future__ import annotations

import orjson
import pytest

from service.errors import TooManyRequests
from service.requests import SubmissionsQuery
from service.schemas.submissions import SubmissionRequest
from service.store import texts
from service.usecases.jobs.jobs import view_job
from service.usecases.submissions.submissions import list_submissions
from service.usecases.submissions.validation import validate
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import (
    ONE_SENTENCE,
    OTHER_WORDS,
    RIGHT,
    SECOND_PART,
    SLUG,
    WRONG,
)


class TestValidation:
    """Validation tells of the texts alone, and leaves nothing behind."""

    def look(self, task, context, caller, outputs):
        job = validate(context, caller, SLUG, loaded(SubmissionRequest, {"outputs": outputs}))
        task.work()
        with context.store.read() as db:
            assert texts.read(db, job) == {}
        return orjson.loads(view_job(context, caller, job).body)

    def test_outputs_that_fit(self, task, pair, context):
        document = self.look(task, context, pair, {"en": WRONG})
        assert document["state"] == "succeeded"
        assert document["results"]["valid"] is True
        assert document["results"]["parts"]["en"] == {"state": "valid", "sentences": 2, "words": 6, "warnings": []}
        assert document["results"]["parts"]["de"] == {"state": "missing"}
        assert list_submissions(context, pair, SLUG, SubmissionsQuery(limit=10)).items == []

    def test_outputs_that_do_not(self, task, pair, context):
        results = self.look(task, context, pair, {"en": OTHER_WORDS, "de": SECOND_PART})["results"]
        assert results["valid"] is False
        errors = results["parts"]["en"]["failure"]["errors"]
        assert errors[0]["pointer"] == "/outputs/en"
        assert "stars" not in orjson.dumps(results).decode()
        assert results["parts"]["de"]["state"] == "valid"

    def test_where_nothing_is_told_it_tells_nothing(self, task, context):
        task.make(feedback="none")
        lyon = task.team()
        seen = [
            self.look(task, context, lyon, {"en": output})["results"] for output in (RIGHT, OTHER_WORDS, ONE_SENTENCE)
        ]
        assert seen[0] == seen[1] == seen[2]
        assert seen[0]["valid"] is None

    def test_it_costs_no_quota_but_only_some_are_done_at_once(self, task, context):
        task.make(quota={"attempts_per_day": 1})
        lyon = task.team()
        for _ in range(4):
            validate(context, lyon, SLUG, loaded(SubmissionRequest, {"outputs": {"en": RIGHT}}))
        with pytest.raises(TooManyRequests):
            validate(context, lyon, SLUG, loaded(SubmissionRequest, {"outputs": {"en": RIGHT}}))
        task.work()
        validate(context, lyon, SLUG, loaded(SubmissionRequest, {"outputs": {"en": RIGHT}}))
        assert task.submit(lyon)
