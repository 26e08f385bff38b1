"""What a team does with a submission that is there: change it, cancel it, retry it, delete it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.contract.access import WebhookRequest
from service.contract.submissions import SubmissionChanges, SubmissionsQuery
from service.errors import Conflict, Gone, NotFound, TooManyRequests
from service.store import runs, score_records, texts
from service.usecases.events import create_webhook
from service.usecases.submissions.submissions import (
    cancel_submission,
    delete_submission,
    list_submissions,
    patch_submission,
    retry_submission,
    submission_output,
    view_submission,
)
from tests.fixtures.contexts import ORGANISER, give_up, later, with_config
from tests.fixtures.tasks import ONE_SENTENCE, RIGHT, SLUG, WRONG


class TestChanges:
    """What a team does with a submission that is there."""

    def test_names_notes_choice_and_withdrawal_change(self, task, lyon):
        first, second = task.scored(lyon, WRONG), task.scored(lyon, RIGHT)
        task.change(lyon, first, chosen=True, name="new", notes="why")
        task.change(lyon, second, chosen=True)
        assert task.shown(lyon, first)["chosen"] is False
        assert task.shown(lyon, first)["name"] == "new"
        task.change(lyon, second, withdrawn=True)
        assert task.shown(lyon, second)["withdrawn_at"] is not None
        task.change(lyon, second, withdrawn=False)
        assert task.shown(lyon, second)["withdrawn_at"] is None

    def test_only_what_the_board_shows_begins_a_run_of_the_board(self, task, lyon):
        submission = task.scored(lyon)
        while task.work():
            pass
        for change, value, begun in (
            ("notes", "why", 0),
            ("name", "new", 1),
            ("name", "new", 0),
            ("withdrawn", True, 1),
        ):
            task.change(lyon, submission, **{change: value})
            assert task.work() == begun

    def test_a_token_makes_so_many_changes_in_an_hour(self, task, lyon, context):
        submission = task.scored(lyon)
        scarce, notes = with_config(context, max_changes=4), SubmissionChanges(notes="why")
        for _ in range(3):  # after the event of the submission
            patch_submission(scarce, lyon, submission, notes)
        for caller in (lyon, ORGANISER):
            create_webhook(context, caller, WebhookRequest(url="https://example.org/hook"))
        for change in (
            lambda: patch_submission(scarce, lyon, submission, notes),
            lambda: create_webhook(scarce, lyon, WebhookRequest(url="https://example.org/hook")),
        ):
            with pytest.raises(TooManyRequests) as error:
                change()
            assert (error.value.type_slug, 3500 < int(error.value.headers["Retry-After"]) <= 3600) == (
                "too-many-changes", True,
            )  # fmt: skip
        of_one = replace(ORGANISER, benchmark=SLUG)
        for _ in range(5):
            patch_submission(scarce, ORGANISER, submission, notes)
            patch_submission(scarce, of_one, submission, notes)
        patch_submission(later(scarce, seconds=3601), lyon, submission, notes)
        patch_submission(with_config(context, max_changes=0), lyon, submission, notes)

    def test_nothing_is_chosen_without_scores_or_after_closing(self, task, lyon):
        with pytest.raises(Conflict):
            task.change(lyon, task.submit(lyon, WRONG), chosen=True)
        submission = task.scored(lyon)
        task.patch(closes_at="2026-01-01T00:00:00Z")
        with pytest.raises(Conflict):
            task.change(lyon, submission, chosen=True)
        task.change(lyon, submission, withdrawn=True)
        with pytest.raises(Conflict):
            task.change(lyon, submission, withdrawn=False)

    def test_the_output_of_a_cancelled_one_comes_back_byte_for_byte_and_is_never_scored(self, task, lyon, context):
        submission = task.submit(lyon, WRONG)
        assert submission_output(context, lyon, submission, "en").body == WRONG.encode()
        with pytest.raises(NotFound):
            submission_output(context, lyon, submission, "fr")
        view = cancel_submission(context, lyon, submission)
        assert (view.state, view.final) == ("cancelled", True)
        task.work()
        assert task.shown(lyon, submission)["scores"] is None
        with pytest.raises(Conflict):
            cancel_submission(context, lyon, submission)

    def test_at_none_only_what_waits_is_cancelled(self, task, lyon, context):
        task.patch(feedback="none")
        begun = task.submit(lyon)
        with context.store.write() as db:
            assert runs.claim(db, begun, context.now()) is not None
        refused = []
        for _ in range(2):
            with pytest.raises(Conflict) as error:
                cancel_submission(context, lyon, begun)
            refused.append(error.value.detail)
            task.work()
        assert task.shown(ORGANISER, begun)["state"] == "succeeded"
        assert refused[0] == refused[1]
        waiting = cancel_submission(context, lyon, task.submit(lyon))
        assert waiting.state == "cancelled"
        assert b'"finished_at":null' in waiting.body

    def test_a_deleted_one_is_gone_with_its_texts(self, task, lyon, context):
        submission = task.scored(lyon)
        delete_submission(context, lyon, submission)
        with pytest.raises(Gone):
            view_submission(context, lyon, submission)
        with context.store.read() as db:
            assert texts.read_texts(db, submission) == {}
            assert score_records.get(db, submission, 1, None) is None
        assert list_submissions(context, lyon, SLUG, SubmissionsQuery(limit=10)).items == []


class TestRetry:
    """What failed through a fault of the service is tried again, beside the record of the failure."""

    @pytest.fixture
    def broken(self, task, lyon, context):
        submission = task.submit(lyon, WRONG)
        give_up(context, submission)
        return submission

    def test_a_new_attempt_stands_beside_the_failed_one(self, task, lyon, context, broken):
        assert task.shown(lyon, broken)["failure"]["kind"] == "service"
        retry_submission(context, lyon, broken)
        task.work()
        document = task.shown(lyon, broken)
        assert (document["state"], document["attempt"], document["failure"]) == ("succeeded", 2, None)
        assert [failure["kind"] for failure in document["failures"]] == ["service"]
        with context.store.read() as db:
            assert runs.get(db, broken).state == runs.FAILED
            assert runs.get(db, broken + "-2").state == runs.SUCCEEDED

    def test_only_such_failures_are_retried(self, task, lyon, context):
        for output in (RIGHT, ONE_SENTENCE):
            submission = task.scored(lyon, output)
            with pytest.raises(Conflict):
                retry_submission(context, lyon, submission)
