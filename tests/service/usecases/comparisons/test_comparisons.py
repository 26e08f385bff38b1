"""Comparisons as stored resources: one id for one question, answered from counts, shown by policy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from service.caller import Caller
from service.errors import Conflict, Forbidden, Gone, NotFound, TooManyRequests, Unauthorized, Unprocessable
from service.policy.figures import rounded_p
from service.queue import BULK, LIVE
from service.requests import (
    DifferingQuery,
    LeaderboardQuery,
    PageQuery,
    SubmissionChanges,
    SubmissionItemsQuery,
    SubmissionSlicesQuery,
)
from service.schemas.submissions import ComparisonRequest
from service.store import runs
from service.usecases.boards.leaderboard import leaderboard
from service.usecases.comparison_views import list_comparisons, view_comparison, wait_for_comparison
from service.usecases.comparisons import ask, comparison_items
from service.usecases.submissions.results import submission_items, submission_slices
from service.usecases.submissions.submissions import delete_submission, patch_submission
from tests.fixtures.contexts import ORGANISER, give_up
from tests.fixtures.requests import GOLD_CONLLU, loaded
from tests.fixtures.tasks import ANYONE, LONG, SLUG, TWO_PARTS, Task, spoilt
from treescore.render.forms import FORMATS


@pytest.fixture
def two(board: Task) -> tuple[Caller, str, str]:
    """Two scored submissions of one team; the second is better in four sentences."""
    lyon = board.team()
    found = board.submit(lyon, spoilt(6)), board.submit(lyon, spoilt(2))
    board.settle()
    return (lyon, *found)


def answered(task: Task, caller: Caller, **question: Any) -> dict[str, Any]:
    name = ask(task.context, caller, SLUG, loaded(ComparisonRequest, question))
    task.settle()
    return shown(task, caller, name)


def shown(task: Task, caller: Caller, name: str) -> dict[str, Any]:
    return orjson.loads(view_comparison(task.context, caller, name).body)


def test_two_submissions_are_tested_from_their_counts(board, two):
    lyon, worse, better = two
    document = answered(board, lyon, submissions=[worse, better])
    assert document["state"] == "succeeded"
    assert (document["score"], document["test"], document["units"]) == ("attachment.las", "permutation", "sentence")
    (pair,) = document["pairs"]
    assert {pair["a"], pair["b"]} == {worse, better}
    assert pair["p"] == 0.12
    (exact,) = shown(board, ORGANISER, document["id"])["pairs"]
    assert (exact["p"], exact["p_kind"]) == (pytest.approx(2 / 2**4), "exact")
    assert document["labels"][worse] == {"team": "lyon", "team_name": "lyon Parsing Group", "name": "biaffine-7"}
    assert document["gold_digest"].startswith("hmac-sha256:")


def test_the_same_question_has_the_same_id(board, two):
    lyon, worse, better = two
    names = {
        ask(board.context, lyon, SLUG, loaded(ComparisonRequest, {"submissions": [worse, better]})),
        ask(
            board.context, ORGANISER, SLUG, loaded(ComparisonRequest, {"submissions": [better, worse], "test": "auto"})
        ),
        ask(
            board.context,
            lyon,
            SLUG,
            loaded(ComparisonRequest, {"submissions": [worse, better], "score": "attachment", "revision": 1}),
        ),
    }
    assert len(names) == 1
    one_sided = {
        ask(board.context, ORGANISER, SLUG, loaded(ComparisonRequest, {"submissions": order, "alternative": "greater"}))
        for order in ([worse, better], [better, worse])
    }
    assert len(one_sided) == 2
    assert not one_sided & names


def test_one_sided_questions_keep_the_order_in_which_they_were_asked(board, two):
    _, worse, better = two
    greater = answered(board, ORGANISER, submissions=[better, worse], alternative="greater")["pairs"][0]
    assert (greater["a"], greater["p"]) == (better, pytest.approx(1 / 2**4))
    assert answered(board, ORGANISER, submissions=[worse, better], alternative="greater")["pairs"][0]["p"] == 1.0


@pytest.mark.parametrize(
    "settings",
    [
        {"test": "permutation", "seed": 1},
        {"test": "bootstrap", "interval": "bca"},
        {"test": "mcnemar"},
        {"test": "mcnemar", "unit": "token"},
        {"test": "auto", "correction": "bh", "clusters": "greedy", "seed": 3},
    ],
)
def test_every_test_of_the_significance_module_can_be_asked(board, two, settings):
    _, worse, better = two
    document = answered(board, ORGANISER, submissions=[worse, better], **settings)
    assert document["state"] == "succeeded"
    assert len(document["pairs"]) == 1
    assert document["settings"]["test"] == settings["test"].replace("auto", "permutation")


def test_documents_as_units_come_from_gold(task):
    blocks = [f"doc{number // 4}" for number in range(24)]
    task.make(parts={"en": {"gold": LONG, "items": {"blocks": blocks}}})
    lyon = task.team()
    pair = [task.submit(lyon, spoilt(6)), task.submit(lyon, spoilt(0))]
    task.settle()
    document = answered(task, ORGANISER, submissions=pair, unit="block")
    assert (document["state"], document["unit_count"]) == ("succeeded", 6)


def test_tokens_are_units_of_mcnemars_test_alone(board, two):
    _, worse, better = two
    request = loaded(ComparisonRequest, {"submissions": [worse, better], "unit": "token"})
    with pytest.raises(Unprocessable) as error:
        ask(board.context, ORGANISER, SLUG, request)
    (problem,) = error.value.problems
    assert (problem.code, problem.pointer) == ("bad-parameter", "/unit")
    assert "Use sentence or block" in problem.detail


NEW_OF_A_PAIR = (
    *("p_error", "p_parts", "p_unselected", "difference_tested", "detectable", "ci_simultaneous", "noninferiority"),
)


def as_before(document: dict[str, Any]) -> dict[str, Any]:
    """An answer as the version before wrote it."""
    pairs = [
        {**{name: value for name, value in pair.items() if name not in NEW_OF_A_PAIR}, "metric": document["score"]}
        for pair in document["pairs"]
    ]
    kept = {name: value for name, value in document.items() if name != "assumed"}
    return {**kept, "metric": document["score"], "pairs": pairs}


def test_a_unit_that_gold_does_not_have_is_refused(board, two):
    _, worse, better = two
    with pytest.raises(Unprocessable) as refused:
        answered(board, ORGANISER, submissions=[worse, better], unit="block")
    assert [problem.code for problem in refused.value.problems] == ["no-blocks"]


def test_over_parts_the_mean_of_the_parts_is_tested_within_each(task):
    task.make(TWO_PARTS)
    lyon = task.team()
    second = TWO_PARTS["parts"]["de"]["gold"]
    whole = task.submit(lyon, {"en": GOLD_CONLLU, "de": second})
    spoiled = task.submit(lyon, {"en": GOLD_CONLLU.replace("2\tobj", "1\tnmod"), "de": second})
    half = task.submit(lyon, {"en": GOLD_CONLLU})
    task.settle()
    document = answered(task, ORGANISER, submissions=[whole, spoiled, half])
    assert document["statistic"] == "macro-average of ratio-of-sums"
    assert document["part_names"] == ["en", "de"]
    assert {system["name"] for system in document["systems"]} == {whole, spoiled, half}
    assert document["untested"] == []
    assert "A missing part counts as the worst value and as one unit." in document["assumed"]
    right_as_a_whole = answered(task, ORGANISER, submissions=[whole, half], test="mcnemar")
    reason = "without a scored output for: de, which mcnemar cannot take as one unit"
    assert right_as_a_whole["untested"] == [{"name": half, "reason": reason}]
    assert set(document["pairs"][0]["parts"]) == {"a_better", "b_better"}
    assert len(document["pairs"][0]["parts"]["a_better"]["p"]) == 2
    pooled = answered(task, ORGANISER, submissions=[whole, spoiled], part="pooled")
    assert pooled["statistic"] == "ratio-of-sums"
    assert pooled["unit_count"] == 4
    single = answered(task, ORGANISER, submissions=[whole, half], part="en")
    assert single["pairs"][0]["p"] == 1.0


def test_the_whole_leaderboard_finds_what_the_board_has(board, two):
    lyon = two[0]
    board.submit(board.team("prague"), spoilt(11))
    board.settle()
    name = ask(board.context, lyon, SLUG, loaded(ComparisonRequest, {"submissions": "leaderboard"}))
    document = shown(board, lyon, name)
    assert document["state"] == "succeeded"
    on_board = orjson.loads(leaderboard(board.context, ANYONE, SLUG, LeaderboardQuery()).body)
    assert on_board["significance"]["comparison"] == name
    assert on_board["rows"][0]["p_next"] == rounded_p(document["pairs"][0]["p_adjusted"])


def test_large_questions_do_not_hold_up_submissions(board, context):
    lyon = board.team()
    ids = [board.submit(lyon, spoilt(number)) for number in range(11)]
    board.settle()
    names = [
        ask(context, ORGANISER, SLUG, loaded(ComparisonRequest, {"submissions": chosen})) for chosen in (ids, ids[:2])
    ]
    with context.store.read() as db:
        assert [runs.get(db, name).queue for name in names] == [BULK, LIVE]


@pytest.mark.parametrize("form", FORMATS)
def test_every_form_shows_names(board, two, form):
    lyon, worse, better = two
    patch_submission(board.context, lyon, better, SubmissionChanges(name="transition-9"))
    name = ask(board.context, lyon, SLUG, loaded(ComparisonRequest, {"submissions": [worse, better]}))
    if form != "json":
        with pytest.raises(Unprocessable):
            view_comparison(board.context, lyon, name, form)
    board.settle()
    view = view_comparison(board.context, lyon, name, form)
    assert view.content_type.split(";")[0] == FORMATS[form].split(";")[0]
    assert b"transition-9" in view.body


def test_equal_names_are_told_apart_by_their_ids(board, two):
    lyon, worse, better = two
    name = ask(board.context, lyon, SLUG, loaded(ComparisonRequest, {"submissions": [worse, better]}))
    board.settle()
    words = view_comparison(board.context, lyon, name, "text").body.decode()
    assert worse in words
    assert better in words


@pytest.mark.parametrize(
    "wrong",
    [
        {"submissions": ["sub_x", "sub_y"]},
        {"submissions": "leaderboard", "score": "attachment.f1"},
        {"submissions": "leaderboard", "alpha": 2},
        {"submissions": "leaderboard", "unit": "token"},
    ],
)
def test_questions_that_make_no_sense_are_refused(board, two, wrong):
    with pytest.raises(Unprocessable):
        ask(board.context, two[0], SLUG, loaded(ComparisonRequest, wrong))


def test_a_submission_is_named_once_and_has_scores(board, two):
    lyon, worse, _ = two
    waiting = board.submit(lyon, spoilt(3))
    for chosen in ([worse, worse], [worse, waiting]):
        with pytest.raises(Unprocessable):
            ask(board.context, lyon, SLUG, loaded(ComparisonRequest, {"submissions": chosen}))


def test_a_board_of_one_cannot_be_compared(board):
    lyon = board.team()
    board.scored(lyon, spoilt(1))
    with pytest.raises(Unprocessable):
        ask(board.context, lyon, SLUG, loaded(ComparisonRequest, {"submissions": "leaderboard"}))


def test_what_a_team_asked_is_nobody_elses(board, two):
    lyon, worse, better = two
    prague = board.team("prague")
    name = ask(board.context, lyon, SLUG, loaded(ComparisonRequest, {"submissions": [worse, better]}))
    assert shown(board, lyon, name)["id"] == name
    with pytest.raises(NotFound):
        view_comparison(board.context, prague, name)
    with pytest.raises(Unprocessable):
        ask(board.context, prague, SLUG, loaded(ComparisonRequest, {"submissions": [worse, better]}))
    assert list_comparisons(board.context, prague, SLUG, PageQuery(limit=10)).items == []
    assert [each["id"] for each in list_comparisons(board.context, lyon, SLUG, PageQuery(limit=10)).items] == [name]
    delete_submission(board.context, lyon, better)
    with pytest.raises(NotFound):
        view_comparison(board.context, lyon, name)
    with pytest.raises(Gone):
        view_comparison(board.context, ORGANISER, name)


def test_asking_needs_a_token_and_a_level_that_shows_significance(board, two):
    lyon, worse, better = two
    with pytest.raises(Unauthorized):
        ask(board.context, ANYONE, SLUG, loaded(ComparisonRequest, {"submissions": [worse, better]}))
    name = ask(board.context, lyon, SLUG, loaded(ComparisonRequest, {"submissions": [worse, better]}))
    board.patch(feedback="rounded")
    for refused in (
        lambda: ask(board.context, lyon, SLUG, loaded(ComparisonRequest, {"submissions": [worse, better]})),
        lambda: view_comparison(board.context, lyon, name),
        lambda: list_comparisons(board.context, lyon, SLUG, PageQuery(limit=10)),
    ):
        with pytest.raises(Forbidden):
            refused()


def test_an_anonymous_board_names_one_s_own_only(board, two):
    lyon, worse, better = two
    board.patch(leaderboard={"anonymous": True})
    name = ask(board.context, lyon, SLUG, loaded(ComparisonRequest, {"submissions": [worse, better]}))
    assert shown(board, lyon, name)["labels"][worse]["team"] == "lyon"
    prague = board.team("prague")
    board.scored(prague, spoilt(9))
    board.settle()
    whole = ask(board.context, prague, SLUG, loaded(ComparisonRequest, {"submissions": "leaderboard"}))
    assert shown(board, prague, whole)["labels"][better] == {"team": None, "team_name": None, "name": None}


def test_pages_of_comparisons(board, two):
    _, worse, better = two
    names = sorted(
        ask(board.context, ORGANISER, SLUG, loaded(ComparisonRequest, {"submissions": [worse, better], "seed": seed}))
        for seed in range(5)
    )
    first = list_comparisons(board.context, ORGANISER, SLUG, PageQuery(limit=3))
    second = list_comparisons(board.context, ORGANISER, SLUG, PageQuery(cursor=first.next, limit=3))
    assert [each["id"] for each in (*first.items, *second.items)] == names
    assert second.next is None


def test_only_so_many_questions_wait(board, two, monkeypatch):
    lyon, worse, better = two
    monkeypatch.setattr("service.usecases.comparisons.MOST_WAITING", 2)

    def question(score):
        return loaded(ComparisonRequest, {"submissions": [worse, better], "score": f"attachment.{score}"})

    first, _ = (ask(board.context, lyon, SLUG, question(score)) for score in ("las", "uas"))
    with pytest.raises(TooManyRequests):
        ask(board.context, lyon, SLUG, question("label_accuracy"))
    assert ask(board.context, lyon, SLUG, question("las")) == first
    assert ask(board.context, ORGANISER, SLUG, question("label_accuracy"))
    board.settle()
    assert ask(board.context, lyon, SLUG, question("exact_match"))


def test_a_fault_of_the_service_is_asked_again(board, two, context):
    lyon, worse, better = two
    name = ask(context, lyon, SLUG, loaded(ComparisonRequest, {"submissions": [worse, better]}))
    give_up(context, name)
    assert shown(board, lyon, name)["state"] == "failed"
    assert ask(context, lyon, SLUG, loaded(ComparisonRequest, {"submissions": [worse, better]})) == name
    assert shown(board, lyon, name)["state"] == "queued"
    board.settle()
    assert wait_for_comparison(context, lyon, name, 1).state == "succeeded"


def test_sentences_where_two_differ_most(board, two):
    lyon, worse, better = two
    name = ask(board.context, lyon, SLUG, loaded(ComparisonRequest, {"submissions": [worse, better]}))
    with pytest.raises(Forbidden):
        comparison_items(board.context, lyon, name, DifferingQuery(limit=10))
    board.patch(feedback="items")
    page = comparison_items(board.context, lyon, name, DifferingQuery(a=worse, b=better, limit=3))
    assert [item["item"] for item in page.items] == [5, 7, 9]
    assert [item["difference"] for item in page.items] == [-0.25] * 3
    assert page.items[0]["a"]["submission"] == worse
    rest = comparison_items(board.context, lyon, name, DifferingQuery(a=worse, b=better, cursor=page.next, limit=3))
    assert [item["item"] for item in rest.items] == [11]
    assert rest.next is None
    with pytest.raises(Unprocessable):
        comparison_items(board.context, lyon, name, DifferingQuery(a=worse, limit=3))
    with pytest.raises(NotFound):
        comparison_items(board.context, lyon, name, DifferingQuery(a=worse, b="sub_none", limit=3))
    with pytest.raises(NotFound):
        comparison_items(board.context, board.team("prague"), name, DifferingQuery(limit=3))


def test_items_and_slices_of_a_submission_by_policy(board, two):
    lyon, worse, _ = two
    with pytest.raises(Forbidden):
        submission_items(board.context, lyon, worse, SubmissionItemsQuery(part="en", metric="attachment", limit=10))
    board.patch(feedback="items")
    page = submission_items(board.context, lyon, worse, SubmissionItemsQuery(part="en", metric="attachment", limit=20))
    rest = submission_items(board.context, lyon, worse, SubmissionItemsQuery(cursor=page.next, limit=20))
    assert [item["item"] for item in (*page.items, *rest.items)] == list(range(1, 25))
    assert rest.next is None
    query = SubmissionSlicesQuery(part="en", metric="attachment")
    groupings = orjson.loads(submission_slices(board.context, lyon, worse, query).body)
    assert groupings["groupings"] != []
    slices = orjson.loads(
        submission_slices(
            board.context,
            ORGANISER,
            worse,
            replace(query, by=groupings["groupings"][0]),
        ).body
    )
    assert slices["slices"] != []
    for wrong in (("fr", None), ("en", "ud")):
        with pytest.raises(NotFound):
            submission_items(board.context, lyon, worse, SubmissionItemsQuery(part=wrong[0], metric=wrong[1]))
    with pytest.raises(NotFound):
        submission_slices(board.context, lyon, worse, replace(query, by="moon"))
    with pytest.raises(NotFound):
        submission_items(board.context, board.team("prague"), worse, SubmissionItemsQuery(part="en", limit=10))


def test_a_submission_without_scores_has_no_items(board, two):
    waiting = board.submit(two[0], spoilt(3))
    with pytest.raises(Conflict):
        submission_items(board.context, ORGANISER, waiting, SubmissionItemsQuery(part="en", limit=10))


def test_tokens_of_other_benchmarks_are_strangers(board, two):
    lyon, worse, better = two
    name = ask(board.context, lyon, SLUG, loaded(ComparisonRequest, {"submissions": [worse, better]}))
    patch_submission(board.context, lyon, worse, SubmissionChanges(withdrawn=True))
    with pytest.raises(NotFound):
        view_comparison(board.context, replace(lyon, benchmark="other"), name)
