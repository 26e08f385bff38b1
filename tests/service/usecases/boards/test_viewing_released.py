"""Attacks on what boards, exports and documents show: more digits, other scores, small parts, near revisions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
import orjson
import pytest
from sqlalchemy import select, update

from service.context import Context
from service.contract.common import PageQuery
from service.contract.leaderboards import SHEET_FORMATS
from service.contract.submissions import SubmissionItemsQuery, SubmissionSlicesQuery
from service.errors import Forbidden, Unprocessable
from service.store import artifacts
from service.store import submissions as stored
from service.store.tables import parts, results
from service.usecases.benchmarks.revisions import list_revisions, view_revision
from service.usecases.submissions import submissions
from service.usecases.submissions.results import submission_items, submission_slices
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import ANYONE, LONG, RIGHT, SECOND_PART, SLUG, Task, column, once, spoilt

SMALL = {"en": {"gold": LONG}, "de": {"gold": LONG}, "fr": {"gold": LONG}, "nl": {"gold": SECOND_PART}}
"""Three parts of 24 sentences and one of two."""


def spoilt_parts(first: int) -> dict[str, str]:
    return {"en": spoilt(first), "de": spoilt(2), "fr": LONG, "nl": SECOND_PART}


def in_every_form(task: Task, **asked: Any) -> Iterator[bytes]:
    for form in SHEET_FORMATS:
        yield task.board(format=form, **asked).body


def perturb(context: Context, by: float) -> None:
    """Move every stored figure of every submission."""
    with context.store.write() as db:
        for row in db.execute(select(results)).all():
            document = artifacts.unpack_json(row.document)
            moved = {**document, "metrics": _moved(document["metrics"], by), "main": _moved(document["main"], by)}
            its = results.c.submission_id == row.submission_id
            arrays = ("macro", "macro_low", "macro_high", "pooled", "pooled_low", "pooled_high", "parts")
            values = {name: (np.frombuffer(getattr(row, name), "<f8") + by).tobytes() for name in arrays}
            db.execute(update(results).where(its).values(**values, document=artifacts.pack_json(moved)))


def _moved(value: Any, by: float) -> Any:
    if isinstance(value, dict):
        return {name: _moved(member, by) for name, member in value.items() if name != "signature"} | (
            {"signature": value["signature"]} if "signature" in value else {}
        )
    return value + by if isinstance(value, float) else value


@once
def two(task):
    """Two teams with a scored submission each, which were compared."""
    task.make(parts={"en": {"gold": LONG}})
    task.lyon = task.team()
    task.sent = task.scored(task.lyon, spoilt(3))
    task.scored(task.team("prague"), spoilt(9))
    task.settle()
    return task


def test_digits_beyond_the_fourth_are_in_no_document_and_no_export(two, context, monkeypatch):
    # the cache would answer: what it depends on has not changed
    monkeypatch.setattr("service.lru.LruCache.get", lambda *_: None)

    def told():
        document = submissions.view_submission(context, two.lyon, two.sent)
        return [*in_every_form(two), document.body, document.etag]

    before, exact = told(), two.shown(ORGANISER, two.sent)
    perturb(context, 1e-7)
    assert told() == before
    assert two.shown(ORGANISER, two.sent) != exact


def test_scores_that_are_shown_equal_share_a_rank_and_the_first_is_picked(board, context):
    lyon = board.team()
    first, later = board.scored(lyon, spoilt(3)), board.scored(lyon, spoilt(2))
    other = board.scored(board.team("prague"), spoilt(1))
    for each, value in ((first, 0.95001), (later, 0.95002), (other, 0.95003)):
        with context.store.write() as db:
            alike = np.full(len(db.scalars(select(results.c.macro)).first()) // 8, value).tobytes()
            db.execute(update(results).where(results.c.submission_id == each).values(macro=alike))
    for caller in (ANYONE, ORGANISER):
        shown = board.leaderboard(caller)
        assert column(shown, "submission") == [first, other]
        assert column(shown, "rank") == [1, 1]


def test_an_unlisted_score_is_shown_nowhere(two, context):
    two.patch(leaderboard={"scores": ["attachment.las"]})
    assert two.benchmark()["leaderboard"]["scores"] == ["attachment.las"]
    assert two.leaderboard()["scores"] == ["attachment.las"]
    assert not [body for body in in_every_form(two) if b"uas" in body]
    with pytest.raises(Forbidden, match=r"leaderboard\.scores"):
        two.leaderboard(score="attachment.uas")
    document = submissions.view_submission(context, two.lyon, two.sent).body
    assert b'"las"' in document
    assert b"uas" not in document
    assert "attachment.uas" in two.leaderboard(ORGANISER)["scores"]
    two.patch(feedback="items")
    slices = submission_slices(context, two.lyon, two.sent, SubmissionSlicesQuery(by="deprel")).body
    items = orjson.dumps(submission_items(context, two.lyon, two.sent, SubmissionItemsQuery()).items)
    assert b'"las"' in items
    assert b'"uas"' not in items + slices


def test_a_metric_without_a_listed_score_has_neither_items_nor_slices(task, context):
    task.make(metrics=["attachment", "ud"], feedback="items", leaderboard={"scores": ["attachment.las"]})
    lyon = task.team()
    sent = task.scored(lyon, RIGHT)
    assert list(task.shown(lyon, sent)["scores"]["metrics"]) == ["attachment"]
    for ask, query in ((submission_items, SubmissionItemsQuery), (submission_slices, SubmissionSlicesQuery)):
        with pytest.raises(Forbidden):
            ask(context, lyon, sent, query(metric="ud"))


def test_at_rounded_the_main_score_alone_is_shown_unless_others_are_listed(two):
    two.patch(feedback="rounded")
    assert list(two.shown(two.lyon, two.sent)["scores"]["metrics"]["attachment"]["scores"]) == ["las"]
    assert two.leaderboard()["scores"] == ["attachment.las"]
    two.patch(leaderboard={"scores": ["attachment.uas"]})
    assert two.leaderboard()["scores"] == ["attachment.las", "attachment.uas"]


def test_at_rounded_each_part_has_a_figure_of_its_own_beside_the_mean_and_the_whole(task):
    task.make(parts={name: {"gold": LONG} for name in ("en", "de", "fr")}, feedback="rounded", rounding=0.01)
    task.patch(leaderboard={"scores": ["attachment.uas"]})
    lyon = task.team()
    sent = task.scored(lyon, {"en": spoilt(3), "de": spoilt(9), "fr": LONG})
    shown = task.shown(lyon, sent)["scores"]["metrics"]["attachment"]
    cells = [shown["scores"], shown["macro"], *(part["scores"] for part in shown["parts"].values())]
    figures = [value for cell in cells for value in cell.values()]
    assert len(figures) == 2 * (3 + 2)  # m scores in c cells: docs/security.md
    assert [round(value, 2) for value in figures] == figures


def test_a_benchmark_lists_only_scores_that_it_has(task):
    with pytest.raises(Unprocessable) as refused:
        task.make(leaderboard={"scores": ["attachment.uas", "attachment.mlas", "ud"]})
    assert [problem.pointer for problem in refused.value.problems] == ["/leaderboard/scores/1", "/leaderboard/scores/2"]
    task.make()
    with pytest.raises(Unprocessable):
        task.patch(leaderboard={"scores": ["attachment.mlas"]})
    task.patch(leaderboard={"scores": ["attachment"]})
    assert task.benchmark()["leaderboard"]["scores"] == ["attachment.las"]


@once
def small(task: Task):
    """A benchmark with a part of two sentences, and a submission."""
    task.make(parts=SMALL)
    task.lyon = task.team()
    task.sent = task.scored(task.lyon, spoilt_parts(3))
    task.settle()
    return task


def test_a_small_part_and_those_that_would_give_it_are_shown_nowhere(small):
    shown = small.shown(small.lyon, small.sent)["scores"]["metrics"]["attachment"]
    assert [name for name, part in shown["parts"].items() if part is not None] == ["fr"]
    assert shown["macro"]["las"] is not None
    for part in ("nl", "en", "de"):
        for form in SHEET_FORMATS:
            with pytest.raises(Forbidden, match="fewer than 10 sentences"):
                small.board(part=part, format=form)
    assert small.leaderboard(part="fr")["rows"][0]["score"] == 1.0
    assert small.leaderboard(ORGANISER, part="nl")["rows"][0]["score"] == 1.0
    small.patch(feedback="items")
    assert small.leaderboard(part="nl")["rows"][0]["score"] == 1.0


def test_of_two_parts_neither_the_small_one_nor_its_difference_from_the_whole_is_shown(task):
    task.make(parts={"en": {"gold": LONG}, "de": {"gold": SECOND_PART}})
    lyon = task.team()
    shown = task.shown(lyon, task.scored(lyon, {"en": spoilt(3), "de": SECOND_PART}))["scores"]
    assert shown["metrics"]["attachment"]["parts"] == {"en": None, "de": None}
    assert shown["metrics"]["attachment"]["scores"] == {}
    assert shown["main"]["value"] == shown["metrics"]["attachment"]["macro"]["las"] == 0.9792
    for part in ("en", "de", "pooled"):
        with pytest.raises(Forbidden):
            task.leaderboard(part=part)
    assert task.leaderboard()["rows"][0]["score"] == 0.9792


def test_small_parts_are_warned_of_and_slices_are_not_shown_below_items_however_large(small):
    with pytest.raises(Forbidden):
        submission_slices(small.context, small.lyon, small.sent, SubmissionSlicesQuery(part="fr", by="deprel"))
    (warning,) = small.benchmark()["warnings"]
    assert (warning["code"], warning["part"], warning["pointer"]) == ("small-part", "nl", "/parts/nl")
    assert small.benchmark(ANYONE)["warnings"] == []


def test_two_revisions_that_differ_in_one_sentence_are_not_both_shown(board, context):
    lyon = board.team()
    kept = board.scored(lyon, spoilt(3))
    with context.store.write() as db:
        stored.drop_outputs(db, [kept], context.now())
    board.revise(spoilt(1), reason="Sentence 1 was wrong", public_reason="A correction")
    late = board.scored(lyon, spoilt(2))
    board.settle()
    assert board.leaderboard()["revision"] == 2
    for form in SHEET_FORMATS:
        with pytest.raises(Forbidden, match="revision 1"):
            board.board(revision=1, format=form)
    # its scores stand under revision 1, since its outputs are gone
    assert board.shown(lyon, kept)["scores"] is None
    assert board.shown(lyon, late)["scores"] is not None
    revision = orjson.loads(view_revision(context, ANYONE, SLUG, 2).body)
    assert (revision["moved"], revision["warnings"]) == (None, [])
    own = orjson.loads(view_revision(context, ORGANISER, SLUG, 2).body)
    assert [warning["code"] for warning in own["warnings"]] == ["small-difference"]
    assert own["moved"]
    assert board.leaderboard(ORGANISER, revision=1)["rows"]


def test_leaving_a_part_out_does_not_give_the_small_one(small):
    """Without `de` the mean and the sum of three parts are left: with `fr` of the first revision they give `nl`."""
    assert small.leaderboard(part="fr", revision=1)["rows"]
    small.revise({"de": None})
    assert small.leaderboard()["revision"] == 2
    for asked in ({}, {"part": "fr"}, {"part": "pooled"}):
        with pytest.raises(Forbidden, match="revision 1"):
            small.leaderboard(revision=1, **asked)


def test_a_revision_whose_gold_differs_in_ten_sentences_hides_nothing(two, context):
    two.revise(spoilt(10))
    assert two.leaderboard(revision=1)["rows"]
    assert orjson.loads(view_revision(context, ANYONE, SLUG, 2).body)["moved"]
    two.revise(spoilt(11))
    # near to revision 3, and what it moved names scores under it
    for number in (2, 3):
        assert orjson.loads(view_revision(context, ANYONE, SLUG, number).body)["moved"] is None
    assert two.leaderboard(revision=1)["rows"]
    with pytest.raises(Forbidden):
        two.leaderboard(revision=2)


def test_a_board_is_not_of_a_time_before_its_revision_was_active(two, context):
    before = two.leaderboard()["as_of"]
    two.patch(leaderboard={"frozen_at": before})
    assert two.leaderboard()["as_of"] == before
    context.now.looks = count(60_000)  # a minute later, with no new row
    two.revise(spoilt(10))
    activated = orjson.loads(view_revision(context, ANYONE, SLUG, 2).body)["activated_at"]
    assert before < two.leaderboard()["as_of"] == two.leaderboard(ORGANISER)["as_of"] == activated
    assert two.leaderboard(revision=1)["as_of"] == before


def test_a_revision_back_to_what_was_before_is_no_small_difference(two):
    two.revise(spoilt(1))
    two.revise(LONG)
    assert two.leaderboard(revision=1)["rows"]
    with pytest.raises(Forbidden):
        two.leaderboard(revision=2)


def test_gold_whose_digests_were_purged_is_taken_for_near(two, context):
    with context.store.write() as db:
        db.execute(update(parts).values(sentence_keys=None))
    two.revise(spoilt(10))
    with pytest.raises(Forbidden):
        two.leaderboard(revision=1)


def test_the_reason_of_a_revision_is_told_at_gold_and_the_public_one_to_all(board, context):
    board.revise(spoilt(1), reason="Sentence 17 had two roots", public_reason="Corrected")
    bodies = [view_revision(context, ANYONE, SLUG, 2).body, orjson.dumps(board.benchmark(ANYONE))]
    bodies.append(orjson.dumps(list_revisions(context, ANYONE, SLUG, PageQuery()).items))
    assert not [body for body in bodies if b"two roots" in body]
    assert orjson.loads(bodies[0])["public_reason"] == "Corrected"
    board.patch(feedback="gold")
    assert orjson.loads(view_revision(context, ANYONE, SLUG, 2).body)["reason"] == "Sentence 17 had two roots"


def test_equal_gold_has_unrelated_digests_in_two_benchmarks(task):
    task.make()
    task.make(id="another")
    first, second = (task.benchmark(slug=slug)["parts"]["en"]["gold"] for slug in (SLUG, "another"))
    assert first.startswith("hmac-sha256:")
    assert first != second
    with task.context.store.read() as db:
        one, other = db.scalars(select(parts.c.sentence_keys)).all()
    assert one != other
