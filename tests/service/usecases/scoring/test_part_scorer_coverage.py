"""What an output lacks costs its full weight on a benchmark, unless the organiser says otherwise; boards show it."""

from __future__ import annotations

import csv
import io
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from service.contract.submissions import SubmissionItemsQuery
from service.policy.figures import rounded_score
from service.store import artifacts, score_records
from service.store.database import Store
from service.usecases.boards import compare
from service.usecases.submissions.results import submission_items
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import ANYONE, SLUG, Task, column
from treescore.core.wording import DIFFERENT_SENTENCES

SENTENCES = [
    f"(S (NP (DT the) (NN dog{number})) (VP (VBZ barks) (PP (IN at) (NP (NN night)))))\n" for number in range(10)
]
GOLD = "".join(SENTENCES)
HONEST = "".join(
    tree if at < 2 else tree.replace("(PP (IN at) (NP (NN night)))", "(NP (IN at) (NN night))")
    for at, tree in enumerate(SENTENCES)
)
FORMAT = {"name": "bracketed", "layout": "lines", "unreadable": "sentence"}
TREES = {
    "id": SLUG,
    "title": "Trees",
    "format": FORMAT,
    "metrics": ["parseval", "leaf_ancestor", "conformance"],
    "parts": {"en": {"gold": GOLD}},
    "feedback": "scores",
    "quota": {"scored_per_day": None, "scored_total": None, "attempts_per_day": None},
}
FAILURES = {
    "empty brackets": "()\n",
    "blank line": "\n",
    "unreadable line": "(S (NP\n",
    "other words": "(S (NP (NN other)) (VP (VBD words)))\n",
}
QUICK = ("empty brackets", "other words")
"""One failure of each kind, of reading and of comparing."""
every_failure = pytest.mark.parametrize(
    "failure",
    [pytest.param(text, id=name, marks=() if name in QUICK else pytest.mark.slow) for name, text in FAILURES.items()],
)


def one_good(failure: str) -> str:
    """The attack: one good sentence, and a failure elsewhere."""
    return SENTENCES[0] + failure * (len(SENTENCES) - 1)


def teams_with(task: Task, outputs: dict[str, Any], **changes: Any) -> None:
    task.make(TREES, **changes)
    for name, output in outputs.items():
        task.scored(task.team(name), output)
    task.settle()


def all_boards(task: Task) -> dict[str, dict[str, Any]]:
    """The board of every score."""
    return {score: task.leaderboard(score=score) for score in task.leaderboard()["scores"]}


DEPENDENCIES = [
    f"1\tdog{n}\t_\tN\t_\t_\t2\tnsubj\t2:nsubj\t_\n2\tbarks\t_\tV\t_\t_\t0\troot\t0:root\t_\n\n" for n in range(10)
]
DAMAGES = {
    "few-columns": ("\t2:nsubj", ""),
    "wrong-head": ("\t2\tnsubj", "\t-2\tnsubj"),
    "bad-id": ("1\tdog", "x\tdog"),
}


def test_dependencies_that_cannot_be_read_stand_first_on_no_board(task):
    honest = "".join(each.replace("nsubj", "obj") if n < 6 else each for n, each in enumerate(DEPENDENCIES))
    attacks = {
        name: DEPENDENCIES[0] + "".join(each.replace(*damage) for each in DEPENDENCIES[1:])
        for name, damage in DAMAGES.items()
    }
    teams_with(
        task,
        {"honest": honest, **attacks},
        format={"name": "conllu", "unreadable": "sentence"},
        metrics=["attachment", "enhanced", "dependency_relations", "leaf_ancestor"],
        parts={"en": {"gold": "".join(DEPENDENCIES)}},
    )
    main = task.leaderboard()
    assert column(main, "team") == ["honest", *attacks]
    assert column(main, "covered") == ["10/10", *["1/10"] * 3]
    assert column(main, "score")[1:] == [rounded_score(1 / 10)] * 3
    for score, board in all_boards(task).items():
        rows = {row["team"]: row["score"] for row in board["rows"]}
        assert all(rows[attack] <= rows["honest"] for attack in attacks), score


@every_failure
def test_failures_improve_no_shown_score_and_stand_first_on_no_board(task, failure):
    changed = HONEST.splitlines(keepends=True)
    changed[3] = failure
    teams_with(task, {"honest": HONEST, "attack": one_good(failure), "changed": "".join(changed)})
    rows = {row["team"]: row for row in task.leaderboard()["rows"]}
    assert {name: row["covered"] for name, row in rows.items()} == {
        "honest": "10/10", "changed": "9/10", "attack": "1/10",
    }  # fmt: skip
    assert rows["attack"]["score"] == rounded_score(1 / 10)
    for score, board in all_boards(task).items():
        values = dict(zip(column(board, "team"), column(board, "score"), strict=True))
        sign = 1 if board["higher_is_better"] else -1
        assert sign * (values["attack"] - values["honest"]) < 0, score
        assert sign * (values["changed"] - values["honest"]) <= 0, score
    shown = {row["team"]: row["score"] for row in task.leaderboard(score="parseval.labelled_precision")["rows"]}
    assert shown["attack"] == rounded_score(1 / 10)


def test_a_truncated_output_and_the_easy_part_alone_rank_by_what_they_lack(task):
    parts = {"en": {"gold": GOLD}, "de": {"gold": GOLD}}
    outputs = {
        "honest": {"en": HONEST, "de": HONEST},
        "truncated": {"en": GOLD, "de": "".join(SENTENCES[:-1])},
        "easy": {"en": GOLD},
    }
    teams_with(task, outputs, parts=parts)
    for part in ("macro", "pooled"):
        for score in task.leaderboard()["scores"]:
            board = task.leaderboard(score=score, part=part)
            values = {row["team"]: row["score"] for row in board["rows"]}
            assert values["truncated"] == values["easy"]
            if score.endswith("mean_crossing"):
                assert values["easy"] > values["honest"]
            elif not score.endswith("crossing") and values["easy"] is not None:
                assert values["easy"] == pytest.approx(0.5), score
    board = task.leaderboard(part="pooled")
    assert {row["team"]: row["covered"] for row in board["rows"]} == {
        "honest": "20/20", "truncated": "10/20", "easy": "10/20"
    }  # fmt: skip
    tested = {row["team"]: (row["tested"], row["reason"]) for row in task.leaderboard()["rows"]}
    assert tested == dict.fromkeys(outputs, (True, None))


@pytest.mark.parametrize("scores", [["parseval.labelled_f1", "parseval.mean_crossing"],
                                    pytest.param(None, marks=pytest.mark.slow)])  # fmt: skip
def test_a_missing_part_is_tested_where_a_worst_value_and_charges_say_what_it_costs(task, scores):
    outputs = {"honest": {"en": HONEST, "de": HONEST}, "other": {"en": GOLD, "de": HONEST}, "easy": {"en": GOLD}}
    teams_with(task, outputs, parts={"en": {"gold": GOLD}, "de": {"gold": GOLD}})
    for score in scores or task.leaderboard()["scores"]:
        for part in ("macro", "pooled"):
            document = task.compared(score=score, part=part)
            rows = {row["submission"]: row for row in task.leaderboard(ORGANISER, score=score, part=part)["rows"]}
            (easy,) = (row for row in rows.values() if row["team"] == "easy")
            assert easy["tested"] is not score.endswith("mean_crossing"), score
            if not easy["tested"]:
                assert easy["reason"] == "without a scored output for: de, and the score has no worst value"
            for system in document["systems"]:
                assert system["score"] == pytest.approx(rows[system["name"]]["score"], rel=1e-12), (score, part)
    with task.context.store.read() as db:
        whole, lacking = (rows.sum(axis=0) for rows in score_records.counts(db, easy["submission"], 1, [0, 1], 0))
    assert (whole[:3].tolist(), lacking[:3].tolist()) == ([50, 50, 50], [0, 50, 50])


def test_a_submission_that_lacks_a_part_is_not_tested_where_errors_are_excluded(task):
    outputs = {"honest": {"en": HONEST, "de": HONEST}, "easy": {"en": GOLD}}
    teams_with(task, outputs, parts={"en": {"gold": GOLD}, "de": {"gold": GOLD}}, errors="exclude")
    for part in ("macro", "pooled"):
        board = task.leaderboard(part=part)
        assert column(board, "team") == ["honest", "easy"]
        assert column(board, "tested") == [True, False]
        assert column(board, "rank_interval") == [[1, 2], None]
        reason = "without a scored output for: de, which the score leaves out"
        charged = "With `errors: zero`, which charges them, it has 50.00."
        assert board["rows"][1]["reason"] == f"{reason}. {charged}"


def test_an_undefined_part_does_not_lift_the_mean(task):
    """The output of the second part has no bracket: its precision is undefined, and counts as 0."""
    flat = "".join(f"(TOP (DT the) (NN dog{number}) (VBZ barks) (IN at) (NN night))\n" for number in range(10))
    teams_with(task, {"flat": {"en": GOLD, "de": flat}}, parts={"en": {"gold": GOLD}, "de": {"gold": GOLD}})
    board = task.leaderboard(score="parseval.labelled_precision")
    assert column(board, "score") == [0.5]


def test_exclude_is_written_by_the_organiser_who_is_warned_and_incomplete_rows_rank_last(task):
    teams_with(task, {"honest": HONEST, "attack": one_good("()\n")}, errors="exclude")
    board = task.leaderboard()
    assert column(board, "team") == ["honest", "attack"]
    assert column(board, "rank") == [1, 2]
    assert column(board, "score")[1] == 1.0
    assert column(board, "covered") == ["10/10", "1/10"]
    assert board["rows"][1]["reason"].startswith("ranks last")
    for form in ("csv", "markdown", "latex"):
        assert "`errors: zero`, which charges them, it has 10.00." in task.board(format=form).body.decode().replace(
            "\\", ""
        )
    (warning,) = task.benchmark()["warnings"]
    assert (warning["code"], warning["pointer"]) == ("errors-excluded", "/errors")
    assert task.benchmark(ANYONE)["warnings"] == []


def test_counts_that_are_deleted_while_they_are_read_fail_no_comparison(task, monkeypatch):
    teams_with(task, {"honest": HONEST, "attack": one_good("()\n")}, errors="exclude")
    ids = column(task.leaderboard(), "submission")
    seen, counts, read = [], compare._counts, Store.read

    def noted(db, board, subject, chosen, submission, *more, **charged):
        seen.append(submission)
        return counts(db, board, subject, chosen, submission, *more, **charged)

    @contextmanager
    def then_deleted(store):
        with read(store) as db:
            yield db
        while seen:
            with store.write() as db:
                artifacts.drop(db, [seen.pop()])

    monkeypatch.setattr(compare, "_counts", noted)
    monkeypatch.setattr(Store, "read", then_deleted)
    document = task.compared(submissions=ids, shuffles=1000)
    assert (document["state"], len(document["pairs"])) == ("succeeded", 1)
    assert document["warnings"][0].startswith(DIFFERENT_SENTENCES)


def test_a_team_is_shown_by_its_complete_submission_where_errors_are_excluded(task):
    task.make(TREES, errors="exclude")
    lyon = task.team("lyon")
    task.scored(lyon, HONEST)
    task.scored(lyon, one_good("\n"))
    task.settle()
    assert column(task.leaderboard(), "covered") == ["10/10"]


def test_a_metric_may_leave_errors_out_with_a_warning_and_evalbs_own_figure_stands_beside(task):
    evalb = {"name": "parseval", "key": "evalb", "params": {"errors": "exclude"}}
    teams_with(task, {"honest": HONEST, "attack": one_good("()\n")}, metrics=["parseval", evalb])
    (warning,) = task.benchmark()["warnings"]
    assert warning["pointer"] == "/metrics/1/params/errors"
    board = task.leaderboard()
    assert column(board, "team") == ["honest", "attack"]
    honest, attack = (row["scores"]["evalb.labelled_f1"] for row in board["rows"])
    assert honest < attack == 1.0
    beside = task.leaderboard(score="evalb.labelled_f1")
    assert column(beside, "team") == ["honest", "attack"]


def test_repeated_edges_are_warned_of(task):
    edges = {"name": "enhanced", "params": {"counting": "cross-product"}}
    gold = "1\ta\t_\tX\tX\t_\t0\troot\t0:root\t_\n\n" * 10
    task.make(TREES, format="conllu", metrics=[edges], parts={"en": {"gold": gold}})
    (warning,) = task.benchmark()["warnings"]
    assert warning["code"] == "repeats-gain"


def test_coverage_is_shown_from_rounded_on_in_every_form_and_items_show_nothing_of_gold_without_an_output(task):
    teams_with(task, {"honest": HONEST, "attack": one_good("()\n")})
    forms = {form: task.board(format=form).body.decode() for form in ("csv", "tsv", "markdown", "latex", "svg")}
    assert [row["covered"] for row in csv.DictReader(io.StringIO(forms["csv"]))] == ["10/10", "1/10"]
    assert all("1/10" in body for body in forms.values())
    submission = task.leaderboard()["rows"][1]["submission"]
    attack = replace(ORGANISER, scopes=frozenset({"submit", "read"}), team="attack", benchmark=SLUG)
    for level, shown in (("status", None), ("rounded", "1/10"), ("scores", "1/10"), ("items", "1/10")):
        task.patch(feedback=level)
        assert (task.shown(attack, submission)["scores"] or {}).get("covered") == shown
        assert column(task.leaderboard(), "covered")[1:] == ([] if shown is None else [shown])
    good, *failed = submission_items(task.context, attack, submission, SubmissionItemsQuery(metric="parseval")).items
    assert good["counts"] == {"matched": 5, "system": 5}
    assert {item["status"] for item in failed} == {"skip"}
    assert not [item for item in failed if item["counts"] or item["scores"]]


def test_a_revision_keeps_the_choice_of_the_one_before(task):
    task.make(TREES, errors="exclude")
    task.revise(GOLD)
    assert task.benchmark()["errors"] == "exclude"
