"""Organisers make benchmarks, and change of them what cannot change a score."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import orjson
import pytest
from sqlalchemy import select

from service.contract.benchmarks import BenchmarkChanges, BenchmarkRequest, BenchmarksQuery
from service.errors import (
    Conflict,
    Forbidden,
    Gone,
    NotFound,
    PreconditionFailed,
    PreconditionRequired,
    Unauthorized,
    Unprocessable,
)
from service.store import artifacts, revisions, tables, texts
from service.usecases.access import IdempotencyKey
from service.usecases.benchmarks import benchmarks
from service.usecases.benchmarks.benchmarks import (
    create_benchmark,
    delete_benchmark,
    list_benchmarks,
    part_input,
    patch_benchmark,
    view_benchmark,
)
from service.usecases.scoring.shares import blocks_name
from tests.fixtures.contexts import ORGANISER, SCORER
from tests.fixtures.requests import GOLD_CONLLU, GOLD_TREE, loaded
from tests.fixtures.tasks import ANYONE, BENCHMARK, LONG, SLUG, TWO_PARTS

SEVERAL = {"source": "x", "target": "x", "alignment": "1-1"}


def test_gold_is_checked_by_a_worker_and_the_first_revision_becomes_active(task, context):
    create_benchmark(context, ORGANISER, loaded(BenchmarkRequest, BENCHMARK))
    before = task.benchmark()
    assert (before["state"], before["active_revision"]) == ("checking", None)
    assert not view_benchmark(context, ORGANISER, SLUG).final
    task.work()
    after = task.benchmark()
    assert (after["state"], after["revision"], after["active_revision"]) == (
        "active",
        {"number": 1, "state": "active"},
        1,
    )
    assert after["main_score"] == "attachment.las"
    assert after["parts"]["en"]["sentences"] == 2
    assert after["parts"]["en"]["words"] == 6


def test_the_main_score_is_the_first_metrics_unless_another_is_named(task):
    request = {name: value for name, value in BENCHMARK.items() if name != "main_score"}
    task.make({**request, "metrics": ["ud"]})
    assert task.benchmark()["main_score"] == "ud.las_f1"


def test_faulty_gold_is_told_to_organisers_alone(task, context):
    task.make(parts={"en": {"gold": GOLD_CONLLU.replace("2\tnsubj", "9\tnsubj")}, "de": {"gold": "1\tx\n"}})
    document = task.benchmark()
    assert (document["state"], document["active_revision"]) == ("failed", None)
    assert {error["part"] for error in document["failure"]["errors"]} == {"en", "de"}
    assert document["failure"]["kind"] == "input"
    assert task.benchmark(ANYONE)["failure"] is None


def test_digests_of_gold_are_keyed_and_the_key_is_this_stores(task, context):
    task.make(TWO_PARTS)
    shown = orjson.dumps(task.benchmark(ANYONE)).decode()
    with context.store.read() as db:
        plain = [digest for digest, _ in texts.read_texts(db, revisions.get(db, SLUG, 1).id).values()]
    assert plain
    assert all(digest.removeprefix("sha256:") not in shown for digest in plain)
    assert "hmac-sha256:" in shown
    assert [task.benchmark(ANYONE)["parts"]["en"][size] for size in ("words", "sentences")] == [None, None]


def test_a_request_that_makes_no_sense_is_refused_with_a_pointer(context):
    opens = "2027-01-01T00:00:00Z"
    for changes, code, pointer in (
        ({"parts": {}}, "no-parts", "/parts"),
        ({"parts": {"..": {"gold": "x"}}}, "bad-part-name", "/parts"),
        ({"parts": {"pooled": {"gold": "x"}}}, "bad-part-name", "/parts"),
        ({"parts": {"en": {"gold": SEVERAL}}}, "wrong-text-shape", "/parts/en"),
        ({"opens_at": opens, "closes_at": "2026-01-01T00:00:00Z"}, "closes-before-opening", "/closes_at"),
        ({"opens_at": opens, "closes_at": "2027-01-01T11:00:00+11:00"}, "closes-before-opening", "/closes_at"),
        ({"metrics": ["no-such-metric"]}, "unknown-metric", "/metrics/0"),
        ({"main_score": "attachment.nothing"}, "unknown-score", "/main_score"),
        ({"format": "bracketed"}, "metric-format-mismatch", "/metrics/0"),
    ):
        with pytest.raises(Unprocessable) as error:
            create_benchmark(context, ORGANISER, loaded(BenchmarkRequest, {**BENCHMARK, **changes}))
        assert (code, pointer) in {(problem.code, problem.pointer) for problem in error.value.problems}


def test_ends_that_are_over_when_they_are_set_and_wide_margins_are_warned_of(task):
    def warned(caller=ORGANISER):
        return [(each["code"], each["pointer"]) for each in task.benchmark(caller)["warnings"]]

    past, wanted = "2020-01-01T00:00:00Z", ("closed-from-the-start", "/closes_at")
    task.make(closes_at=past, parts={"en": {"gold": LONG}})
    assert warned() == [wanted]
    assert warned(ANYONE) == []
    task.patch(closes_at=None, leaderboard={"frozen_at": past})
    assert warned() == [("frozen-from-the-start", "/leaderboard/frozen_at")]
    made = task.benchmark()["created_at"]
    task.patch(closes_at=made, opens_at=past, leaderboard={"frozen_at": made})
    assert warned() == []
    task.patch(closes_at="2020-01-01T00:00:00+14:00", opens_at=None)
    assert warned() == [wanted]
    task.patch(closes_at=None, leaderboard={"margin": 0.5})
    assert warned() == [("wide-margin", "/leaderboard/margin")]
    task.patch(leaderboard={"margin": 0.1})
    later = task.context.now() + timedelta(days=3)
    task.context = replace(task.context, now=lambda: later)
    task.patch(closes_at=(later - timedelta(days=1)).isoformat())
    assert warned() == [("closed-in-the-past", "/closes_at")]
    task.patch(title="Another", closes_at=(later - timedelta(days=1)).isoformat())
    assert warned() == [("closed-in-the-past", "/closes_at")]
    task.patch(closes_at=later.isoformat())
    task.context = replace(task.context, now=lambda: later + timedelta(days=1))
    task.patch(title="After closing", closes_at=later.isoformat())
    assert warned() == []


def test_a_slug_is_taken_once_and_for_ever(task, context):
    task.make()
    with pytest.raises(Conflict, match="taken"):
        create_benchmark(context, ORGANISER, loaded(BenchmarkRequest, BENCHMARK))
    delete_benchmark(context, ORGANISER, SLUG)
    with pytest.raises(Conflict, match="taken"):
        create_benchmark(context, ORGANISER, loaded(BenchmarkRequest, BENCHMARK))


def test_only_organisers_make_benchmarks_and_a_repeated_request_finds_its_own(context):
    for caller, error in ((SCORER, Forbidden), (ANYONE, Unauthorized)):
        with pytest.raises(error):
            create_benchmark(context, caller, loaded(BenchmarkRequest, BENCHMARK))
    repeat = IdempotencyKey("key-1", "digest-1")
    assert create_benchmark(context, ORGANISER, loaded(BenchmarkRequest, BENCHMARK), repeat) == (SLUG, True)
    assert create_benchmark(context, ORGANISER, loaded(BenchmarkRequest, BENCHMARK), repeat) == (SLUG, False)
    with pytest.raises(Unprocessable, match="another request"):
        create_benchmark(
            context,
            ORGANISER,
            loaded(BenchmarkRequest, {**BENCHMARK, "id": "other"}),
            IdempotencyKey("key-1", "digest-2"),
        )


LATE = GOLD_CONLLU + GOLD_CONLLU.replace("# sent_id = s1", "# newdoc id = two\n# sent_id = s3")


@pytest.mark.parametrize(("part", "blocks"), [
    ({"gold": GOLD_CONLLU, "items": {"blocks": ["one", "two"]}}, ["one", "two"]),
    ({"gold": "# newdoc id = one\n" + GOLD_CONLLU}, ["one", "one"]),
    ({"gold": LATE}, [None, None, "two", "two"]),
    ({"gold": GOLD_CONLLU}, []),
], ids=["named with it", "marked in it", "marked late", "unmarked"])  # fmt: skip
def test_documents_of_gold_are_its_blocks(task, context, part, blocks):
    task.make(parts={"en": part})
    with context.store.read() as db:
        body = artifacts.get(db, revisions.get(db, SLUG, 1).id, blocks_name(0))
    assert artifacts.unpack_json(body) == blocks


def test_items_that_do_not_fit_gold_fail_its_check(task):
    task.make(parts={"en": {"gold": GOLD_CONLLU, "items": {"blocks": ["one"]}}})
    document = task.benchmark()
    assert document["state"] == "failed"
    assert document["failure"]["errors"][0]["code"] == "item-count-mismatch"


class TestPatch:
    """PATCH goes from one known state to the next."""

    def test_it_needs_the_state_it_goes_from_and_of_two_at_once_one_is_refused(self, task, context):
        task.make()
        etag = f'"{view_benchmark(context, ORGANISER, SLUG).etag}"'
        new = loaded(BenchmarkChanges, {"title": "New"})
        with pytest.raises(PreconditionRequired):
            patch_benchmark(context, ORGANISER, SLUG, new, None)
        patched = patch_benchmark(context, ORGANISER, SLUG, loaded(BenchmarkChanges, {"title": "First"}), etag)
        for known in (etag, '"0123"'):
            with pytest.raises(PreconditionFailed):
                patch_benchmark(context, ORGANISER, SLUG, new, known)
        assert task.benchmark()["title"] == "First"
        assert patched.etag == view_benchmark(context, ORGANISER, SLUG).etag

    def test_members_of_quota_and_leaderboard_change_one_by_one(self, task):
        task.make(quota={"scored_per_day": 5}, leaderboard={"anonymous": True}, opens_at="2026-01-01T00:00:00Z")
        before = task.benchmark()
        task.patch(quota={"scored_total": 9}, leaderboard={"pick": "last"}, closes_at="2027-11-01T23:59:59-12:00")
        document = task.benchmark()
        assert document["quota"] == {
            "scored_per_day": 5, "scored_total": 9, "attempts_per_day": 20, "comparisons_per_day": 20
        }  # fmt: skip
        assert document["leaderboard"] == {**before["leaderboard"], "pick": "last"}
        assert before["leaderboard"] == {
            "public": True, "anonymous": True, "pick": "best", "frozen_at": None, "ladder": False, "split": None,
            "scores": None, "margin": None, "unit": "auto", "accept_one_sided": False,
        }  # fmt: skip
        assert document["closes_at"] == "2027-11-02T11:59:59.000Z"
        # what makes no sense changes nothing
        with pytest.raises(Unprocessable):
            task.patch(title="New", closes_at="2025-01-01T00:00:00Z")
        assert task.benchmark() == document


def test_a_score_that_is_won_without_an_analysis_ranks_only_where_the_organiser_says_so(task, context):
    accepted = {"leaderboard": {"accept_one_sided": True}}
    won = {"metrics": ["ud"], "main_score": "ud.upos_aligned_accuracy"}

    def refusal(ask):
        with pytest.raises(Unprocessable) as error:
            ask()
        return [(problem.code, problem.pointer) for problem in error.value.problems]

    wanted = [("one-sided-score", "/main_score")]
    assert refusal(lambda: task.make(**won)) == wanted
    task.make(**won, **accepted)
    assert task.leaderboard()["one_sided"]
    assert "one-sided" in task.board(format="markdown").body.decode()
    assert refusal(lambda: task.patch(leaderboard={"accept_one_sided": False})) == wanted
    task.revise({}, metrics=["ud"])
    assert not task.leaderboard()["one_sided"]
    task.patch(leaderboard={"accept_one_sided": False})
    assert refusal(lambda: task.revise({}, main_score="ud.upos_aligned_accuracy")) == wanted


class TestDelete:
    """DELETE erases gold, and nothing that somebody has submitted."""

    def test_a_benchmark_with_submissions_stays(self, task, context):
        task.make()
        task.scored(task.team())
        with pytest.raises(Conflict, match="1 submission"):
            delete_benchmark(context, ORGANISER, SLUG)

    def test_a_deleted_one_is_gone_with_its_gold_and_its_tokens(self, task, context):
        task.make()
        revision = "".join(benchmarks.revisions.ids_by_number(context.store.engine.connect(), SLUG).values())
        delete_benchmark(context, ORGANISER, SLUG)
        with pytest.raises(Gone):
            view_benchmark(context, ORGANISER, SLUG)
        with context.store.read() as db:
            assert texts.read_texts(db, revision) == {}
            assert not db.execute(select(tables.artifacts)).all()
        assert list_benchmarks(context, ANYONE, BenchmarksQuery(limit=10)).items == []


class TestInput:
    """The words of gold, where organisers give them out."""

    def test_it_is_given_out_only_where_organisers_say_so_and_once_it_is_open(self, task, context):
        task.make()
        with pytest.raises(NotFound):
            part_input(context, ANYONE, SLUG, "en")
        task.patch(publish_input=True)
        body = part_input(context, ANYONE, SLUG, "en").body.decode()
        assert body.splitlines()[0] == "1\tShe" + "\t_" * 8
        for annotation in ("nsubj", "PRON", "see", "s1"):
            assert annotation not in body
        with pytest.raises(NotFound):
            part_input(context, ANYONE, SLUG, "fr")
        task.patch(opens_at="2999-01-01T00:00:00Z")
        with pytest.raises(NotFound, match="opens"):
            part_input(context, ANYONE, SLUG, "en")
        assert part_input(context, ORGANISER, SLUG, "en").body.startswith(b"1\tShe\t")

    @pytest.mark.parametrize(("changes", "shown"), [
        ({"metrics": ["ud"], "publish_input": True}, b"She saw stars . Go home\n"),
        ({"format": "bracketed", "metrics": ["parseval"], "parts": {"en": {"gold": GOLD_TREE}},
          "publish_input": "words"}, b"the dog saw it\n"),
    ], ids=["where tokenization is scored", "of trees"])  # fmt: skip
    def test_it_is_words_alone(self, task, context, changes, shown):
        task.make({**BENCHMARK, "main_score": None, **changes})
        assert part_input(context, ANYONE, SLUG, "en").body == shown


def test_lists_are_paged_by_slug_and_filtered_by_series(task, context):
    for slug, series in (("b", "x"), ("a", "x"), ("c", "y")):
        create_benchmark(context, ORGANISER, loaded(BenchmarkRequest, {**BENCHMARK, "id": slug, "series": series}))

    def listed(**query):
        return [item["id"] for item in list_benchmarks(context, ANYONE, BenchmarksQuery(**query)).items]

    page = list_benchmarks(context, ANYONE, BenchmarksQuery(limit=2))
    assert [item["id"] for item in page.items] == ["a", "b"]
    assert listed(cursor=page.next, limit=2) == listed(limit=9, series="y") == ["c"]
