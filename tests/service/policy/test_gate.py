"""The gate, level by level: what is on no list is not shown."""

from __future__ import annotations

import orjson
import pytest

from service.contract.leaderboards import LeaderboardQuery
from service.contract.submissions import SubmissionChanges, SubmissionsQuery
from service.errors import Conflict, Forbidden, error_record, failure_document
from service.policy import documents as items
from service.policy import gate
from service.policy.gate import Level
from service.usecases.benchmarks.benchmarks import view_benchmark
from service.usecases.boards.viewing import leaderboard
from service.usecases.status import metrics_text
from service.usecases.submissions import submissions, views
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.requests import GOLD_TREE
from tests.fixtures.tasks import ANYONE, BENCHMARK, OTHER_WORDS, RIGHT, SLUG, WRONG
from treescore.core.registry import METRICS, NOTHING_DISCLOSED, Example, Metric
from treescore.core.scores import with_values
from treescore.errors import Problem
from treescore.evaluation.document import item_details
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec

LEVELS = ["none", "status", "rounded", "scores", "items", "gold"]
OTHER_TREE = "(TOP (S (NP (DT the)) (VP (NN dog) (VBD saw) (NX (PRP it)))))\n"


@pytest.mark.parametrize("feedback", LEVELS)
def test_each_level_shows_what_it_says(task, feedback):
    task.make(feedback=feedback, rounding=0.1, publish_input=True)
    level = gate.LEVELS[feedback]
    lyon = task.team()
    shown = task.shown(lyon, task.scored(lyon, WRONG))
    assert shown["state"] == ("received" if level is Level.NONE else "succeeded")
    assert (shown["finished_at"] is not None) == (level >= Level.STATUS)
    assert (shown["scores"] is not None) == (level >= Level.ROUNDED)
    if shown["scores"] is None:
        return
    metric = shown["scores"]["metrics"]["attachment"]
    exact = task.shown(ORGANISER, shown["id"])["scores"]["metrics"]["attachment"]["scores"]["las"]
    shortened = {Level.ROUNDED: round(exact, 1), Level.SCORES: 0.8333}
    assert metric["scores"]["las"] == shortened.get(level, exact)
    assert ("ci95" in metric) == (level >= Level.SCORES)
    assert ("counts" in metric) == ("sentences" in metric) == (level >= Level.ITEMS)
    assert metric["signature"]["gold"].startswith("hmac-sha256:")
    assert "extra" not in orjson.dumps(shown).decode()


CONFUSED = {**BENCHMARK, "metrics": [{"name": "attachment", "params": {"words": "warn", "confusion": True}}]}


@pytest.mark.parametrize("feedback", ["rounded", "scores", "items"])
def test_who_may_not_read_gold_sees_no_confusions_and_no_place_of_changed_words(task, feedback):
    task.make(CONFUSED, feedback=feedback, publish_input=True)
    lyon = task.team()
    shown = task.shown(lyon, task.scored(lyon, OTHER_WORDS))
    part = task.shown(ORGANISER, shown["id"])["scores"]["metrics"]["attachment"]["parts"]["en"]
    assert part["extra"]["confusion"][0]["examples"]
    assert b"confusion" not in orjson.dumps(shown["scores"]["metrics"]["attachment"]["parts"])
    assert "extra" not in orjson.dumps(shown).decode()
    warnings = [warning for warning in shown["warnings"] if warning["code"] == "other-words"]
    assert len(warnings) == (feedback != "rounded")
    for warning in warnings:
        assert not {"sentence", "sent_id", "line", "column"} & set(warning)
        assert warning["detail"].startswith("Words differ from gold in form or part of speech. All words are scored")
    [known] = [each for each in task.shown(ORGANISER, shown["id"])["warnings"] if each["code"] == "other-words"]
    assert known["line"] == 4
    assert "at 1 word, first at word 3 of sentence 1" in known["detail"]


def test_nobody_can_tell_at_level_none_how_a_submission_ended(task, context):
    task.make(feedback="none", quota={"scored_per_day": 9, "attempts_per_day": 9})
    lyon, oslo = task.team(), task.team("oslo")
    ids = task.scored(lyon, RIGHT), task.scored(oslo, OTHER_WORDS)
    seen = []
    for caller, submission in zip((lyon, oslo), ids, strict=True):
        shown = task.shown(caller, submission)
        listed = submissions.list_submissions(context, caller, SLUG, SubmissionsQuery(limit=10)).items
        view = submissions.view_submission(context, caller, submission)
        submissions.patch_submission(context, caller, submission, SubmissionChanges(chosen=True))
        with pytest.raises(Conflict) as retried:
            submissions.retry_submission(context, caller, submission)
        varying = ("id", "team", "created_at", "outputs")
        seen.append(
            (
                {name: value for name, value in shown.items() if name not in varying},
                [{name: value for name, value in row.items() if name not in varying} for row in listed],
                view.final,
                retried.value.detail.replace(submission, "it"),
                views.rate_limits(context, caller, SLUG),
            )
        )
        assert set(shown["outputs"]["en"]) == {"digest", "bytes"}
    assert seen[0] == seen[1]


def test_which_limit_gold_and_output_reach_together_is_told_from_items_on():
    records = [failure_document("limit", [Problem(code, f"{code} of 900 s", pointer="/x")], 1, error_record)
               for code in ("job-timeout", "job-memory", "tree-distance-limit")]  # fmt: skip
    for level in Level:
        shown = [gate.failure_view(level, record) for record in records]
        codes = [each["errors"][0]["code"] for each in shown]
        if level >= Level.ITEMS:
            assert codes == ["job-timeout", "job-memory", "tree-distance-limit"]
        else:
            assert (codes[0], codes[2]) == ("job-limit", "tree-distance-limit")
            assert shown[0] == shown[1]


def test_what_everybody_may_read_does_not_move_with_how_a_submission_ends(task, context):
    task.make(feedback="none")
    lyon = task.team()
    after = []
    for output in (RIGHT, OTHER_WORDS):
        task.scored(lyon, output)
        board = leaderboard(context, ANYONE, SLUG, LeaderboardQuery())
        after.append((view_benchmark(context, ANYONE, SLUG).body, board.body, board.etag))
        assert b'state="failed"' not in metrics_text(context)
        assert b'state="succeeded"' not in metrics_text(context)
    assert after[0] == after[1]


def test_states_cannot_be_asked_for_where_they_are_not_told(task, context):
    task.make(feedback="none")
    lyon = task.team()
    with pytest.raises(Forbidden):
        submissions.list_submissions(context, lyon, SLUG, SubmissionsQuery(limit=10, state="failed"))


def test_feedback_may_open_when_the_benchmark_has_closed(task, context):
    task.make(feedback="none", feedback_after_closing="scores")
    lyon = task.team()
    submission = task.scored(lyon, WRONG)
    assert task.shown(lyon, submission)["scores"] is None
    task.patch(closes_at="2020-01-01T00:00:00Z")
    assert task.shown(lyon, submission)["scores"] is not None


TREES = Example("bracketed", ((GOLD_TREE, OTHER_TREE),))


def outcome(metric, example=None):
    chosen = example or METRICS[metric].examples[0]
    spec = parse_spec(chosen.request(metric))
    evaluation = Evaluation(spec, chosen.gold())
    found = evaluation.score(chosen.output())[0][metric]
    details = item_details(found, evaluation.gold, 0, len(found.rows))
    return found, with_values(spec.entries[0].metric.table, found.rows, details)


@pytest.mark.parametrize("metric", sorted(METRICS))
def test_items_show_own_errors_and_not_a_word_of_gold(metric):
    _, documents = outcome(metric)
    shown = gate.items_view(Level.ITEMS, metric, documents)
    text = orjson.dumps(shown).decode()
    for hidden in ("gold", "missed", "violated", "sent_id", "key"):
        assert hidden not in text
    disclosed = METRICS[metric].disclosure
    own = {name for item in shown for name in item} - {"item", "status"}
    if disclosed.members or disclosed.fields:
        assert own - {"scores", "counts"}
    elif disclosed != NOTHING_DISCLOSED:
        assert own
    assert gate.items_view(Level.GOLD, metric, documents) == documents


@pytest.mark.parametrize("metric", sorted(METRICS))
def test_a_metric_that_declares_nothing_shows_nothing(metric, monkeypatch):
    class Undeclared(Metric):
        name = "undeclared"

    monkeypatch.setitem(METRICS, "undeclared", Undeclared)
    found, documents = outcome(metric)
    assert METRICS["undeclared"].disclosure == NOTHING_DISCLOSED
    shown = gate.items_view(Level.ITEMS, "undeclared", documents)
    assert [{name: item[name] for name in item if name != "problem"} for item in shown] == [
        {"item": number, "status": document["status"], "scores": {}, "counts": {}}
        for number, document in enumerate(documents, 1)
    ]
    assert all(set(item.get("problem", {})) <= {"code"} for item in shown)
    slices = found.slices()
    assert gate.groupings_view(Level.ITEMS, "undeclared", sorted(slices)) == []
    for by in slices:
        with pytest.raises(Forbidden):
            gate.slices_view(Level.ITEMS, "undeclared", by, slices[by])


@pytest.mark.parametrize("metric", sorted(METRICS))
def test_slices_go_by_what_the_output_has(metric):
    found, _ = outcome(metric)
    slices = found.slices()
    for by in gate.groupings_view(Level.ITEMS, metric, sorted(slices)):
        rows = gate.slices_view(Level.ITEMS, metric, by, slices[by])
        assert rows
        for hidden in ("gold", "recall", "key", "f1"):
            assert hidden not in orjson.dumps([[row["counts"], row["scores"]] for row in rows]).decode()
    for by in set(slices) - set(items.shown_groupings(metric)):
        with pytest.raises(Forbidden):
            gate.slices_view(Level.ITEMS, metric, by, slices[by])
    assert gate.groupings_view(Level.SCORES, metric, sorted(slices)) == []


def test_the_score_of_a_single_lineage_is_told_by_no_slice():
    found, documents = outcome("leaf_ancestor", TREES)
    [item] = gate.items_view(Level.ITEMS, "leaf_ancestor", documents)
    assert {tuple(word) for word in item["words"]} == {("word", "system_lineage", "right")}
    assert gate.groupings_view(Level.ITEMS, "leaf_ancestor", sorted(found.slices())) == []


def test_own_brackets_are_marked_right_or_wrong():
    _, documents = outcome("parseval", TREES)
    shown = gate.items_view(Level.ITEMS, "parseval", documents)[0]
    marked = dict(zip(map(tuple, shown["system_spans"]), shown["system_spans_right"], strict=True))
    assert marked == {("S", 0, 4): True, ("NP", 0, 1): False, ("VP", 1, 4): False, ("NX", 3, 4): False}


def test_sentences_of_another_division_are_the_outputs_own():
    words = [{"system_sentence": 2, "system_word": 1, "system_form": "a"}, {"system_sentence": 1, "system_word": 3}]
    lost = {"system_sentence": None, "system_word": None}
    shown = gate.items_view(Level.ITEMS, "ud", [{"item": 7, "status": "ok", "words": [*words, lost]}])
    assert shown == [
        {"item": 1, "status": "ok", "words": [{"word": 3}]},
        {"item": 2, "status": "ok", "words": [{"word": 1, "system_form": "a"}]},
    ]


def test_metrics_that_score_the_division_into_sentences_do_not_show_golds():
    assert {name for name, metric in METRICS.items() if metric.disclosure.output_sentences} == {
        "ud", "enhanced", "dependency_relations",
    }  # fmt: skip


@pytest.mark.parametrize("metric", sorted(METRICS))
def test_the_rest_of_a_long_table_and_what_the_output_lacks_are_not_shown(metric):
    found, _ = outcome(metric)
    slices = found.slices()
    for by in items.shown_groupings(metric):
        shown = gate.slices_view(Level.ITEMS, metric, by, slices[by])
        rest = [{**row, "value": None} for row in slices[by]]
        size = METRICS[metric].disclosure.slices[by].counts[0]
        lacking = [{**row, "counts": {**row["counts"], size: 0}} for row in slices[by]]
        assert gate.slices_view(Level.ITEMS, metric, by, [*rest, *lacking, *slices[by]]) == shown


def test_below_gold_the_larger_move_is_shown_first_and_what_a_move_lacks_counts_as_none():
    def move(name: str, before: int | None, after: int | None, difference: float | None) -> dict[str, object]:
        ranks = {"rank_before": before, "rank_after": after}
        scores = {"score_before": None if difference is None else 0.2, "score_after": 0.2 + (difference or 0.0)}
        whose = {"team": name, "submission": name, "submission_before": name}
        return {**whose, **ranks, **scores, "difference": difference}

    moves = [
        move("new", None, 9, None),
        move("same", 4, 4, 0.0),
        move("one", 1, 2, 0.1),
        move("down", 2, 1, -0.3),
        move("two", 6, 4, 0.0),
        move("another", 3, 4, 0.1),
        move("higher", 5, 5, 0.5),
    ]
    shown = gate.moves_view(gate.Release(Level.SCORES, 0.01, ()), moves)
    assert [each["team"] for each in shown] == ["two", "down", "another", "one", "new", "higher"]
    assert gate.moves_view(gate.Release(Level.GOLD, 0.01, ()), moves) == moves
