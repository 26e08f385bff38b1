"""Comparisons as stored resources: one id for one question, answered from counts, shown by policy."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from service.caller import Caller
from service.contract.common import PageQuery
from service.contract.comparisons import ComparisonRequest
from service.contract.submissions import SubmissionItemsQuery, SubmissionSlicesQuery
from service.errors import Conflict, Forbidden, Gone, NotFound, TooManyRequests, Unauthorized, Unprocessable
from service.policy.figures import rounded_p
from service.queue import BULK, LIVE
from service.store import runs
from service.usecases.comparison_views import list_comparisons, view_comparison, wait_for_comparison
from service.usecases.comparisons import ask
from service.usecases.submissions.results import submission_items, submission_slices
from service.usecases.submissions.submissions import delete_submission
from tests.fixtures.contexts import ORGANISER, give_up
from tests.fixtures.requests import GOLD_CONLLU, loaded
from tests.fixtures.tasks import ANYONE, LONG, SLUG, TWO_PARTS, Task, once, spoilt
from treescore.render.forms import FORMATS


@once
def two(task: Task) -> tuple[Caller, str, str]:
    """Two scored submissions of one team; the second is better in four sentences."""
    task.make(parts={"en": {"gold": LONG}})
    lyon = task.team()
    found = task.submit(lyon, spoilt(6)), task.submit(lyon, spoilt(2))
    task.settle()
    return (lyon, *found)


def test_two_submissions_are_tested_from_their_counts(task, two):
    lyon, worse, better = two
    document = task.compared(lyon, submissions=[worse, better])
    assert document["state"] == "succeeded"
    assert (document["score"], document["test"], document["units"]) == ("attachment.las", "permutation", "sentence")
    (pair,) = document["pairs"]
    assert {pair["a"], pair["b"]} == {worse, better}
    (exact,) = task.comparison(document["id"])["pairs"]
    assert pair["p"] == rounded_p(exact["p"])
    assert (exact["p"], exact["p_kind"]) == (pytest.approx(2 / 2**4), "exact")
    assert document["labels"][worse] == {"team": "lyon", "team_name": "lyon Parsing Group", "name": "biaffine-7"}
    assert document["gold_digest"].startswith("hmac-sha256:")


def test_the_same_question_has_the_same_id(task, two):
    lyon, worse, better = two
    names = {
        task.ask(lyon, submissions=[worse, better]),
        task.ask(submissions=[better, worse], test="auto"),
        task.ask(lyon, submissions=[worse, better], score="attachment", revision=1),
    }
    assert len(names) == 1
    orders = ([worse, better], [better, worse])
    one_sided = {task.ask(submissions=order, alternative="greater") for order in orders}
    assert len(one_sided) == 2
    assert not one_sided & names


def test_one_sided_questions_keep_the_order_in_which_they_were_asked(task, two):
    _, worse, better = two
    greater = task.compared(submissions=[better, worse], alternative="greater")["pairs"][0]
    assert (greater["a"], greater["p"]) == (better, pytest.approx(1 / 2**4))
    assert task.compared(submissions=[worse, better], alternative="greater")["pairs"][0]["p"] == 1.0


def test_every_test_of_the_significance_module_can_be_asked(task, two):
    _, worse, better = two
    for settings in (
        {"test": "permutation", "seed": 1},
        {"test": "t"},
        {"test": "bootstrap", "interval": "bca"},
        {"test": "mcnemar"},
        {"test": "mcnemar", "unit": "token"},
        {"test": "auto", "correction": "bh", "clusters": "greedy", "seed": 3},
    ):
        document = task.compared(submissions=[worse, better], **settings)
        assert document["state"] == "succeeded"
        assert len(document["pairs"]) == 1
        assert document["settings"]["test"] == settings["test"]


def test_tokens_are_units_of_mcnemars_test_alone(task, two):
    _, worse, better = two
    request = loaded(ComparisonRequest, {"submissions": [worse, better], "unit": "token"})
    with pytest.raises(Unprocessable) as error:
        ask(task.context, ORGANISER, SLUG, request)
    (problem,) = error.value.problems
    assert (problem.code, problem.pointer) == ("bad-parameter", "/unit")
    assert "Use sentence or block" in problem.detail


def test_over_parts_the_mean_of_the_parts_is_tested_within_each(task):
    task.make(TWO_PARTS)
    lyon = task.team()
    second = TWO_PARTS["parts"]["de"]["gold"]
    whole = task.submit(lyon, {"en": GOLD_CONLLU, "de": second})
    spoiled = task.submit(lyon, {"en": GOLD_CONLLU.replace("2\tobj", "1\tnmod"), "de": second})
    half = task.submit(lyon, {"en": GOLD_CONLLU})
    task.settle()
    document = task.compared(submissions=[whole, spoiled, half])
    assert document["statistic"] == "macro-average of ratio-of-sums"
    assert document["part_names"] == ["en", "de"]
    assert {system["name"] for system in document["systems"]} == {whole, spoiled, half}
    assert document["untested"] == []
    assert any("as one unit" in note for note in document["notes"])
    right_as_a_whole = task.compared(submissions=[whole, half], test="mcnemar")
    reason = "without a scored output for: de, which mcnemar cannot take as one unit"
    assert right_as_a_whole["untested"] == [{"name": half, "reason": reason}]
    assert set(document["pairs"][0]["parts"]) == {"a_better", "b_better"}
    assert len(document["pairs"][0]["parts"]["a_better"]["p"]) == 2
    pooled = task.compared(submissions=[whole, spoiled], part="pooled")
    assert pooled["statistic"] == "ratio-of-sums"
    assert pooled["unit_count"] == 4
    single = task.compared(submissions=[whole, half], part="en")
    assert single["pairs"][0]["p"] == 1.0


def test_the_whole_leaderboard_finds_what_the_board_has(task, two):
    lyon = two[0]
    task.submit(task.team("prague"), spoilt(11))
    task.settle()
    name = task.ask(lyon)
    document = task.comparison(name, lyon)
    assert document["state"] == "succeeded"
    on_board = task.leaderboard()
    assert on_board["significance"]["comparison"] == name
    assert on_board["rows"][0]["p_next"] == rounded_p(document["pairs"][0]["p_adjusted"])


def test_large_questions_do_not_hold_up_submissions(board, context):
    lyon = board.team()
    ids = [board.submit(lyon, spoilt(number)) for number in range(11)]
    board.settle()
    names = [board.ask(submissions=chosen) for chosen in (ids, ids[:2])]
    with context.store.read() as db:
        assert [runs.get(db, name).queue for name in names] == [BULK, LIVE]


def test_every_form_shows_names(task, two):
    lyon, worse, better = two
    task.change(lyon, better, name="transition-9")
    name = task.ask(lyon, submissions=[worse, better])
    for form in set(FORMATS) - {"json"}:
        with pytest.raises(Unprocessable):
            view_comparison(task.context, lyon, name, form)
    task.settle()
    for form, content_type in FORMATS.items():
        view = view_comparison(task.context, lyon, name, form)
        assert view.content_type.split(";")[0] == content_type.split(";")[0]
        assert b"transition-9" in view.body


def test_equal_names_are_told_apart_by_their_ids(task, two):
    lyon, worse, better = two
    name = task.ask(lyon, submissions=[worse, better])
    task.settle()
    words = view_comparison(task.context, lyon, name, "text").body.decode()
    assert worse in words
    assert better in words


def test_questions_that_make_no_sense_are_refused(task, two):
    lyon, worse, _ = two
    waiting = task.submit(lyon, spoilt(3))
    for wrong in (
        {"submissions": ["sub_x", "sub_y"]}, {"submissions": [worse, worse]}, {"submissions": [worse, waiting]},
        {"score": "attachment.f1"}, {"alpha": 2}, {"unit": "token"},
    ):  # fmt: skip
        with pytest.raises(Unprocessable):
            task.ask(lyon, **wrong)
    with pytest.raises(Conflict):
        submission_items(task.context, ORGANISER, waiting, SubmissionItemsQuery(part="en", limit=10))


def test_a_board_of_one_cannot_be_compared(board):
    lyon = board.team()
    board.scored(lyon, spoilt(1))
    with pytest.raises(Unprocessable):
        board.ask(lyon)


def test_what_a_team_asked_is_nobody_elses(task, two):
    lyon, worse, better = two
    prague = task.team("prague")
    name = task.ask(lyon, submissions=[worse, better])
    assert task.comparison(name, lyon)["id"] == name
    for stranger in (prague, replace(lyon, benchmark="other")):
        with pytest.raises(NotFound):
            view_comparison(task.context, stranger, name)
    with pytest.raises(Unprocessable):
        task.ask(prague, submissions=[worse, better])
    assert list_comparisons(task.context, prague, SLUG, PageQuery(limit=10)).items == []
    assert [each["id"] for each in list_comparisons(task.context, lyon, SLUG, PageQuery(limit=10)).items] == [name]
    delete_submission(task.context, lyon, better)
    with pytest.raises(NotFound):
        view_comparison(task.context, lyon, name)
    with pytest.raises(Gone):
        view_comparison(task.context, ORGANISER, name)


def test_asking_needs_a_token_and_a_level_that_shows_significance(task, two):
    lyon, worse, better = two
    with pytest.raises(Unauthorized):
        task.ask(ANYONE, submissions=[worse, better])
    name = task.ask(lyon, submissions=[worse, better])
    task.patch(feedback="rounded")
    for refused in (
        lambda: task.ask(lyon, submissions=[worse, better]),
        lambda: view_comparison(task.context, lyon, name),
        lambda: list_comparisons(task.context, lyon, SLUG, PageQuery(limit=10)),
    ):
        with pytest.raises(Forbidden):
            refused()


def test_an_anonymous_board_names_one_s_own_only(task, two):
    lyon, worse, better = two
    task.patch(leaderboard={"anonymous": True})
    name = task.ask(lyon, submissions=[worse, better])
    assert task.comparison(name, lyon)["labels"][worse]["team"] == "lyon"
    prague = task.team("prague")
    task.scored(prague, spoilt(9))
    task.settle()
    whole = task.ask(prague)
    assert task.comparison(whole, prague)["labels"][better] == {"team": None, "team_name": None, "name": None}


def test_pages_of_comparisons(task, two):
    _, worse, better = two
    names = sorted(task.ask(submissions=[worse, better], seed=seed) for seed in range(5))
    first = list_comparisons(task.context, ORGANISER, SLUG, PageQuery(limit=3))
    second = list_comparisons(task.context, ORGANISER, SLUG, PageQuery(cursor=first.next, limit=3))
    assert [each["id"] for each in (*first.items, *second.items)] == names
    assert second.next is None


def test_only_so_many_questions_wait(task, two, monkeypatch):
    lyon, worse, better = two
    monkeypatch.setattr("service.usecases.comparisons.MOST_WAITING", 2)

    def question(score):
        return loaded(ComparisonRequest, {"submissions": [worse, better], "score": f"attachment.{score}"})

    first, _ = (ask(task.context, lyon, SLUG, question(score)) for score in ("las", "uas"))
    with pytest.raises(TooManyRequests):
        ask(task.context, lyon, SLUG, question("label_accuracy"))
    assert ask(task.context, lyon, SLUG, question("las")) == first
    assert ask(task.context, ORGANISER, SLUG, question("label_accuracy"))
    task.settle()
    assert ask(task.context, lyon, SLUG, question("exact_match"))


def test_a_fault_of_the_service_is_asked_again(task, two, context):
    lyon, worse, better = two
    name = task.ask(lyon, submissions=[worse, better])
    give_up(context, name)
    assert task.comparison(name, lyon)["state"] == "failed"
    assert task.ask(lyon, submissions=[worse, better]) == name
    assert task.comparison(name, lyon)["state"] == "queued"
    task.settle()
    assert wait_for_comparison(context, lyon, name, 1).state == "succeeded"


def test_items_and_slices_of_a_submission_by_policy(task, two):
    lyon, worse, _ = two
    with pytest.raises(Forbidden):
        submission_items(task.context, lyon, worse, SubmissionItemsQuery(part="en", metric="attachment", limit=10))
    task.patch(feedback="items")
    page = submission_items(task.context, lyon, worse, SubmissionItemsQuery(part="en", metric="attachment", limit=20))
    rest = submission_items(task.context, lyon, worse, SubmissionItemsQuery(cursor=page.next, limit=20))
    assert [item["item"] for item in (*page.items, *rest.items)] == list(range(1, 25))
    assert rest.next is None
    query = SubmissionSlicesQuery(part="en", metric="attachment")
    groupings = orjson.loads(submission_slices(task.context, lyon, worse, query).body)
    assert groupings["groupings"] != []
    slices = orjson.loads(
        submission_slices(task.context, ORGANISER, worse, replace(query, by=groupings["groupings"][0])).body
    )
    assert slices["slices"] != []
    for wrong in (("fr", None), ("en", "ud")):
        with pytest.raises(NotFound):
            submission_items(task.context, lyon, worse, SubmissionItemsQuery(part=wrong[0], metric=wrong[1]))
    with pytest.raises(NotFound):
        submission_slices(task.context, lyon, worse, replace(query, by="moon"))
    with pytest.raises(NotFound):
        submission_items(task.context, task.team("prague"), worse, SubmissionItemsQuery(part="en", limit=10))
