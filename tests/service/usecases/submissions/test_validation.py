"""Validation tells whether outputs fit, is an attempt, and leaves no text behind."""

from __future__ import annotations

import orjson
import pytest

from service.contract.submissions import SubmissionRequest, SubmissionsQuery
from service.errors import TooManyRequests, Unprocessable
from service.store import runs, texts
from service.usecases.access import IdempotencyKey
from service.usecases.jobs import cancel_job, delete_job, view_job
from service.usecases.submissions.submissions import list_submissions, submit
from service.usecases.submissions.validation import validate
from service.usecases.submissions.views import rate_limits
from tests.fixtures.contexts import ORGANISER, give_up
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import ONE_SENTENCE, OTHER_WORDS, RIGHT, SECOND_PART, SLUG, WRONG
from treescore.evaluation.evaluate import Evaluation


def asked(context, caller, output=RIGHT, key=None, **more):
    return validate(context, caller, SLUG, loaded(SubmissionRequest, {"outputs": {"en": output}, **more}), key)


class TestValidation:
    """Validation tells of the texts alone, and leaves nothing behind."""

    def look(self, task, context, caller, outputs):
        job, _ = validate(context, caller, SLUG, loaded(SubmissionRequest, {"outputs": outputs}))
        task.work()
        with context.store.read() as db:
            assert texts.read_texts(db, job) == {}
        return orjson.loads(view_job(context, caller, job).body)

    def test_outputs_that_fit(self, task, pair, context):
        document = self.look(task, context, pair, {"en": WRONG})
        assert document["state"] == "succeeded"
        assert document["results"]["valid"] is True
        assert document["results"]["parts"]["en"] == {"state": "valid", "sentences": 2, "words": 6, "warnings": []}
        assert document["results"]["parts"]["de"] == {"state": "missing"}
        assert list_submissions(context, pair, SLUG, SubmissionsQuery(limit=10)).items == []

    def test_what_errors_would_cost_is_counted_only_to_be_kept(self, task, context, monkeypatch):
        compared, compare = [], Evaluation.compare
        monkeypatch.setattr(Evaluation, "compare", lambda *a, **k: compared.append(1) or compare(*a, **k))
        tree = "(S (A a) (B b))\n"
        task.make(format="bracketed", metrics=["parseval"], main_score=None, errors="exclude",
                  parts={"en": {"gold": tree * 2}})  # fmt: skip
        lyon = task.team()
        self.look(task, context, lyon, {"en": f"()\n{tree}"})
        assert len(compared) == 1
        task.scored(lyon, f"()\n{tree}")
        assert len(compared) == 3

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

    def test_only_some_are_done_at_once(self, task, context):
        task.make()
        lyon = task.team()
        for _ in range(4):
            asked(context, lyon)
        with pytest.raises(TooManyRequests) as error:
            asked(context, lyon)
        assert error.value.type_slug == "too-many-validations"
        task.work()
        assert asked(context, lyon)


class TestAttempts:
    """A validation answers a question about gold, so it is an attempt of its team."""

    def test_the_quota_shows_it_as_an_attempt_alone(self, task, context):
        task.make(quota=None)
        lyon = task.team()
        for number in range(18):
            delete_job(context, lyon, asked(context, lyon, RIGHT.replace("stars", f"guess{number}"))[0])
        quota = task.shown(lyon, task.submit(lyon))["quota"]
        assert (quota["attempts_per_day"]["used"], quota["scored_per_day"]["used"]) == (19, 1)
        asked(context, lyon)
        with pytest.raises(TooManyRequests) as error:
            asked(context, lyon)
        assert error.value.detail.startswith("The quota attempts_per_day of 20 is used up.")
        assert rate_limits(context, lyon, SLUG)["RateLimit"].startswith('"scored_per_day";r=4;')

    def test_without_scored_submissions_left_it_still_validates(self, task, context):
        task.make(quota={"scored_per_day": 1})
        lyon = task.team()
        task.submit(lyon)
        assert asked(context, lyon)

    def test_what_was_not_compared_is_not_counted(self, task, context):
        task.make(quota={"attempts_per_day": 3})
        lyon = task.team()
        for outputs in ({}, {"unknown": RIGHT}, {"en": {"source": "a", "target": "b"}}):
            with pytest.raises(Unprocessable):
                validate(context, lyon, SLUG, loaded(SubmissionRequest, {"outputs": outputs}))
        for _ in range(2):
            asked(context, ORGANISER, team="lyon")
        cancel_job(context, lyon, asked(context, lyon)[0])
        give_up(context, asked(context, lyon)[0])
        key = IdempotencyKey("again", "digest")
        jobs = [asked(context, lyon, key=key) for _ in range(3)]
        assert [new for _, new in jobs] == [True, False, False]
        assert len({job for job, _ in jobs}) == 1
        quota = task.shown(lyon, task.submit(lyon))["quota"]
        assert quota["attempts_per_day"] == {"limit": 3, "used": 2, "left": 1}

    def test_the_key_of_a_submission_stands_for_no_validation(self, task, context):
        task.make()
        lyon = task.team()
        key = IdempotencyKey("again", "digest")
        submit(context, lyon, SLUG, loaded(SubmissionRequest, {"outputs": {"en": RIGHT}}), key)
        with pytest.raises(Unprocessable) as error:
            asked(context, lyon, key=key)
        assert error.value.type_slug == "idempotency-key-reused"

    def test_deleting_and_cancelling_after_the_start_are_counted(self, task, context):
        task.make(quota={"attempts_per_day": 2})
        lyon = task.team()
        delete_job(context, lyon, asked(context, lyon)[0])
        claimed, _ = asked(context, lyon)
        with context.store.write() as db:
            assert runs.claim(db, claimed, context.now()) is not None
        cancel_job(context, lyon, claimed)
        with pytest.raises(TooManyRequests):
            asked(context, lyon)
