"""Submissions are stored, scored part by part, and shown to their team."""

from __future__ import annotations

import numpy as np
import orjson
import pytest
from sqlalchemy import select

from service.caller import Caller
from service.contract.benchmarks import BenchmarkRequest
from service.contract.jobs import JobRequest
from service.contract.submissions import SubmissionRequest, SubmissionsQuery
from service.errors import Conflict, Forbidden, Gone, NotFound, Unprocessable
from service.requests import MACRO, POOLED
from service.store import revisions, score_records
from service.store.score_records import PARTS
from service.store.tables import results
from service.usecases.access import IdempotencyKey
from service.usecases.benchmarks.benchmarks import create_benchmark
from service.usecases.jobs import submit_job
from service.usecases.scoring.config import scoring_config
from service.usecases.submissions.submissions import (
    cancel_submission,
    delete_submission,
    list_submissions,
    retry_submission,
    submission_output,
    submit,
    view_submission,
    wait_for_submission,
)
from service.usecases.submissions.validation import validate
from tests.fixtures.contexts import ORGANISER, SCORER, at, give_up, later, with_config
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import BENCHMARK, ONE_SENTENCE, OTHER_WORDS, RIGHT, SECOND_PART, SLUG, WRONG
from workers.sweeper import Sweeper


def test_a_submission_is_scored_as_a_job_would_be(task, lyon):
    task.patch(feedback="items")
    document = task.shown(lyon, task.scored(lyon, WRONG))
    found = document["scores"]["metrics"]["attachment"]
    assert document["state"] == "succeeded"
    assert (document["team"], document["role"]) == ("lyon", "system")
    assert found["scores"]["las"] == found["macro"]["las"] == found["parts"]["en"]["scores"]["las"] == 5 / 6
    assert found["counts"]["correct_both"] == 5
    # logit t of 3 of 4 and 2 of 2 words: S = 5/6, V = (1/18)² (3 + 3/2), one degree of freedom: t = 12.706
    assert found["ci95"]["las"] == {
        "low": pytest.approx(1.0388e-4, rel=1e-4),
        "high": pytest.approx(0.99999584, rel=1e-7),
    }
    assert document["outputs"]["en"]["words"] == 6
    assert document["scores"]["revision"] == 1


def test_scores_are_pooled_over_parts_and_averaged_over_parts(task, pair, context):
    submission = task.scored(pair, {"en": WRONG, "de": SECOND_PART})
    found = task.shown(ORGANISER, submission)["scores"]["metrics"]["attachment"]
    assert found["scores"]["las"] == 11 / 12
    assert found["macro"]["las"] == pytest.approx((5 / 6 + 1) / 2)
    with context.store.read() as db:
        its = score_records.of_submissions([submission])
        addresses = scoring_config(revisions.get(db, SLUG, 1).scoring).addresses
        asked = score_records.Asked(SLUG, 1, None, addresses, "attachment.las")
        _, stored = score_records.selected(db, its, asked, (MACRO, POOLED, PARTS))
        [rows] = score_records.counts(db, submission, 1, [0], 0)
    assert stored[MACRO].tolist() == [[pytest.approx((5 / 6 + 1) / 2)]]
    assert stored[POOLED].tolist() == [[11 / 12]]
    assert stored[PARTS].tolist() == [[[5 / 6, 1.0]]]
    assert rows.shape[0] == 2


@pytest.mark.parametrize(("outputs", "state"), [({"en": WRONG}, "missing"), ({"en": WRONG, "de": RIGHT}, "failed")])
def test_a_part_that_is_missing_or_fails_counts_as_worst_and_says_why(task, pair, context, outputs, state):
    submission = task.scored(pair, outputs)
    document = task.shown(ORGANISER, submission)
    assert document["state"] == "succeeded"
    assert document["scores"]["metrics"]["attachment"]["macro"]["las"] == pytest.approx(5 / 12)
    assert document["scores"]["metrics"]["attachment"]["scores"]["las"] == 5 / 12
    assert document["scores"]["covered"] == "2/4"
    assert document["scores"]["parts"]["de"]["state"] == state
    failure = document["scores"]["parts"]["de"]["failure"]
    assert (failure is None) == (state == "missing")
    with context.store.read() as db:
        [rows] = score_records.counts(db, submission, 1, [1], 0)
    assert rows.shape == (2, 7)
    tokens, *right, sentences, exact, unlabelled = rows.sum(axis=0).tolist()
    assert (tokens, right, sentences, exact, unlabelled) == (6, [0, 0, 0], 2, 0, 0)


def test_where_lower_is_better_a_missing_part_counts_as_the_highest(task):
    alignment = {"gold": "1-1 2p2\n"}
    task.make(
        format="pharaoh", metrics=["alignment"], main_score="alignment.aer", parts={"a": alignment, "b": alignment},
        feedback="items",
    )  # fmt: skip
    lyon = task.team()
    found = task.shown(lyon, task.scored(lyon, {"a": "1-1\n"}))["scores"]["metrics"]["alignment"]
    assert found["scores"]["aer"] == pytest.approx(1 - (1 + 1) / (3 + 2))
    assert found["macro"]["aer"] == 0.5


@pytest.mark.parametrize(
    ("output", "code"),
    [
        (OTHER_WORDS, "does-not-fit"),
        (ONE_SENTENCE, "does-not-fit"),
        ("", "empty-text"),
        (RIGHT.replace("2\tnsubj", "x\tnsubj"), "conllu-bad-head"),
    ],
)
def test_an_output_that_does_not_fit_fails_and_quotes_no_gold(task, lyon, output, code):
    document = task.shown(lyon, task.scored(lyon, output))
    assert (document["state"], document["scores"]) == ("failed", None)
    failure = document["failure"]
    assert (failure["kind"], failure["status"], failure["type"]) == ("input", 422, "/problems/invalid-output")
    assert 'in part "en"' in failure["detail"]
    assert code in {error["code"] for error in failure["errors"]}
    assert all(error["part"] == "en" for error in failure["errors"])
    assert b"stars" not in orjson.dumps(failure)


def test_a_request_that_makes_no_sense_is_refused_before_it_is_stored(lyon, context):
    several = {"source": "x", "target": "x", "alignment": "1-1"}
    for outputs, code in (({}, "no-outputs"), ({"fr": RIGHT}, "unknown-part"), ({"en": several}, "wrong-text-shape")):
        with pytest.raises(Unprocessable) as error:
            submit(context, lyon, SLUG, loaded(SubmissionRequest, {"outputs": outputs}))
        assert [problem.code for problem in error.value.problems] == [code]
    assert list_submissions(context, lyon, SLUG, SubmissionsQuery(limit=10)).items == []


def test_a_text_that_may_take_more_memory_than_a_run_has_is_refused_before_it_is_stored(lyon, context):
    size = len(RIGHT.encode())
    scarce = with_config(context, max_run_bytes=40 * size - 1)
    job = loaded(
        JobRequest, {"format": "conllu", "metrics": ["ud"], "gold": RIGHT, "systems": [{"name": "a", "output": RIGHT}]}
    )
    outputs = loaded(SubmissionRequest, {"outputs": {"en": RIGHT}})
    benchmark = loaded(BenchmarkRequest, {**BENCHMARK, "id": "other"})
    for send in (
        lambda: submit(scarce, lyon, SLUG, outputs),
        lambda: validate(scarce, lyon, SLUG, outputs),
        lambda: submit_job(scarce, SCORER, job),
        lambda: create_benchmark(scarce, ORGANISER, benchmark),
    ):
        with pytest.raises(Unprocessable) as error:
            send()
        assert {problem.code for problem in error.value.problems} == {"text-too-large"}
        assert f"send at most {size - 1:,} bytes" in error.value.problems[0].detail
    submit(with_config(context, max_run_bytes=40 * size), lyon, SLUG, outputs)


def test_without_an_active_revision_nothing_is_taken(task, context):
    create_benchmark(context, ORGANISER, loaded(BenchmarkRequest, BENCHMARK))
    with pytest.raises(Conflict) as error:
        task.submit(task.team())
    assert error.value.type_slug == "no-active-revision"


def test_it_takes_submissions_from_its_opening_to_the_last_moment_of_its_closing_second(task, context):
    task.make(opens_at="2026-10-01T00:00:00Z", closes_at="2026-11-01T23:59:59-12:00")
    lyon, request = task.team(), loaded(SubmissionRequest, {"outputs": {"en": RIGHT}})
    for moment in ("2026-10-01T00:00:00Z", "2026-11-02T11:59:59.999Z"):
        assert submit(at(context, moment), lyon, SLUG, request)[1]
    for moment, slug in (("2026-09-30T23:59:59.999Z", "not-open"), ("2026-11-02T12:00:00Z", "closed")):
        with pytest.raises(Conflict) as error:
            submit(at(context, moment), lyon, SLUG, request)
        assert error.value.type_slug == slug
    # organisers add baselines at any time
    assert submit(at(context, "2027-01-01T00:00:00Z"), ORGANISER, SLUG, request)[1]


class TestWhose:
    """A submission belongs to the team of its token, or to the team that an organiser names."""

    def test_another_teams_submission_is_not_found(self, task, lyon, context):
        submission = task.scored(lyon)
        oslo = task.team("oslo")
        for look in (view_submission, cancel_submission, delete_submission, retry_submission):
            with pytest.raises(NotFound):
                look(context, oslo, submission)
        with pytest.raises(NotFound):
            task.change(oslo, submission, name="mine")
        with pytest.raises(NotFound):
            submission_output(context, oslo, submission, "en")
        assert list_submissions(context, oslo, SLUG, SubmissionsQuery(limit=10)).items == []
        for other in ("lyon", "unknown"):
            with pytest.raises(Forbidden, match="Leave `team` out"):
                list_submissions(context, oslo, SLUG, SubmissionsQuery(team=other))
        stranger = Caller("tok_reader", frozenset({"read"}))
        with pytest.raises(Forbidden, match="belongs to no team of benchmark"):
            list_submissions(context, stranger, SLUG, SubmissionsQuery())

    def test_a_token_of_another_benchmark_does_not_submit_here(self, task, lyon):
        task.make(id="other")
        with pytest.raises(Forbidden):
            task.submit(lyon, slug="other")
        with pytest.raises(Forbidden):
            task.submit(task.team("lyon", slug="other"))

    def test_organisers_send_baselines_or_name_a_team(self, task, lyon):
        baseline = task.shown(ORGANISER, task.scored(ORGANISER))
        assert (baseline["role"], baseline["team"], baseline["quota"]) == ("baseline", None, None)
        named = task.submit(ORGANISER, team="lyon")
        assert task.shown(lyon, named)["team"] == "lyon"
        with pytest.raises(Unprocessable):
            task.submit(ORGANISER, team="oslo")
        with pytest.raises(Unprocessable):
            task.submit(ORGANISER, role="system")

    def test_teams_send_no_baselines_and_nothing_for_others(self, task, lyon):
        with pytest.raises(Forbidden):
            task.submit(lyon, role="baseline")
        with pytest.raises(Forbidden):
            task.submit(lyon, team="oslo")


def test_a_repeated_request_finds_its_submission(lyon, context):
    request = {"outputs": {"en": RIGHT}}
    first = submit(context, lyon, SLUG, loaded(SubmissionRequest, request), IdempotencyKey("key", "digest"))
    assert submit(context, lyon, SLUG, loaded(SubmissionRequest, request), IdempotencyKey("key", "digest")) == (
        first[0],
        False,
    )
    with pytest.raises(Unprocessable):
        submit(context, lyon, SLUG, loaded(SubmissionRequest, request), IdempotencyKey("key", "other"))


def test_equal_outputs_of_one_team_reuse_its_scores(task, lyon, context, monkeypatch):
    first = task.scored(lyon, WRONG)

    def never(*_args, **_more):
        raise AssertionError("scored again")

    monkeypatch.setattr("service.usecases.scoring.part_scorer.Scorer.score", never)
    again = task.scored(lyon, WRONG)
    with context.store.read() as db:
        records = [score_records.get(db, each, 1, None) for each in (first, again)]
        columns = [column for column in results.c if column.name != "submission_id"]
        rows = [db.execute(select(*columns).where(results.c.submission_id == each)).all() for each in (first, again)]
        counts = [score_records.counts(db, each, 1, [0], 0)[0] for each in (first, again)]
    assert again != first
    assert records[0].document == records[1].document
    assert rows[0] == rows[1] != []
    assert np.array_equal(counts[0], counts[1])
    assert task.shown(lyon, again)["outputs"] == task.shown(lyon, first)["outputs"]
    with pytest.raises(AssertionError):
        task.scored(task.team("oslo"), WRONG)


def test_a_waiting_submission_says_what_is_before_it(task, lyon, context):
    task.submit(lyon)
    document = task.shown(lyon, task.submit(lyon))
    assert document["state"] == "queued"
    assert document["queue"]["ahead"] == 1
    assert document["queue"]["eta_seconds"] >= 1
    assert not view_submission(context, lyon, document["id"]).final
    task.work()
    view = wait_for_submission(context, lyon, document["id"], 5)
    assert view.final
    assert orjson.loads(view.body)["queue"] is None


def test_lists_are_newest_first_and_paged(task, lyon, context):
    sent = [task.submit(lyon) for _ in range(3)]
    page = list_submissions(context, lyon, SLUG, SubmissionsQuery(limit=2))
    assert len(page.items) == 2
    rest = list_submissions(context, ORGANISER, SLUG, SubmissionsQuery(cursor=page.next, limit=2)).items
    assert sorted(sent, reverse=True) == [item["id"] for item in [*page.items, *rest]]


def test_work_done_twice_changes_nothing(task, lyon, context):
    submission = task.scored(lyon)
    before = view_submission(context, lyon, submission)
    give_up(context, submission)
    assert view_submission(context, lyon, submission).etag == before.etag


def test_outputs_go_after_their_time_and_scores_stay(task, lyon, context):
    submission = task.scored(lyon)
    then = later(context, days=2)
    for days, kept in ((0, True), (3, True), (1, False)):
        Sweeper(with_config(then, retain_outputs_days=days)).clean_up()
        assert task.shown(lyon, submission)["scores"] is not None
        assert (task.shown(lyon, submission)["output_deleted_at"] is None) == kept
        if kept:
            assert submission_output(context, lyon, submission, "en").body == RIGHT.encode()
    with pytest.raises(Gone):
        submission_output(context, lyon, submission, "en")
