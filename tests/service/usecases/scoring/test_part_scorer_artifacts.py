"""Items of a submission are those that a job would show, and are made from its texts."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from service.contract.jobs import ItemsQuery, JobRequest
from service.contract.submissions import SubmissionItemsQuery, SubmissionSlicesQuery, SubmissionTreesQuery
from service.errors import Gone
from service.store import artifacts, score_records, submissions
from service.store.packing import pack_array, unpack_array
from service.usecases.jobs import job_items, submit_job
from service.usecases.scoring.part_scorer import ArtifactKey
from service.usecases.submissions.results import submission_items, submission_slices, submission_trees
from tests.fixtures.contexts import SCORER
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import RIGHT, WRONG

MANY = "".join(RIGHT.replace("s1", f"a{number}").replace("s2", f"b{number}") for number in range(60))
TREES = "(TOP (S (NP (DT the) (NN dog)) (VP (VBD barked)) (. .)))\n(TOP (S (NP (PRP she)) (VP (VBD slept)) (. .)))\n"
SYSTEM = MANY.replace("2\tobj", "1\tnmod", 3)


@pytest.mark.parametrize("metric", ["ud", "attachment", "leaf_ancestor"])
def test_they_are_those_of_a_job(task, context, metric):
    task.make(metrics=[metric], main_score=None, parts={"en": {"gold": MANY}}, feedback="gold")
    team = task.team()
    submission = task.scored(team, SYSTEM)
    job, *_ = submit_job(
        context,
        SCORER,
        loaded(
            JobRequest,
            {"format": "conllu", "gold": MANY, "systems": [{"name": "A", "output": SYSTEM}], "metrics": [metric]},
        ),
    )
    task.work()
    expected = [*job_items(context, SCORER, job, ItemsQuery(system="A", metric=metric, limit=200)).items]
    assert len(expected) == 120
    for start, limit in ((0, 120), (0, 1), (95, 10), (100, 20), (119, 200), (500, 100)):
        query = SubmissionItemsQuery(limit=limit, cursor=str(start))
        found = submission_items(context, team, submission, query)
        assert found.items == expected[start : start + limit]
        assert found.next == (str(start + limit) if start + limit < 120 else None)


def test_a_part_that_was_not_scored_has_none(task, context):
    task.make(parts={"en": {"gold": RIGHT}, "de": {"gold": RIGHT}}, feedback="items")
    team = task.team()
    submission = task.scored(team, {"en": WRONG})
    with context.store.read() as db:
        assert all(counts is not None for counts in score_records.counts(db, submission, 1, [0, 1], 0))
    for wrong in (None, "any"):
        query = SubmissionItemsQuery(limit=10, part="de", wrong=wrong)
        assert submission_items(context, team, submission, query).items == []


def test_without_the_output_items_have_the_figures_and_no_words(task, context):
    task.make(metrics=["attachment"], parts={"en": {"gold": MANY}}, feedback="gold")
    team = task.team()
    submission = task.scored(team, SYSTEM)
    query = SubmissionItemsQuery(limit=50, cursor="40")
    before = submission_items(context, team, submission, query)
    with context.store.write() as db:
        submissions.drop_outputs(db, [submission], context.now())
    after = submission_items(context, team, submission, query)
    names = ("item", "status", "scores", "counts")
    assert after.items == [{name: item[name] for name in names} for item in before.items]
    assert after.next == before.next
    for ask, another in (
        (submission_items, replace(query, wrong="any", cursor=None)),
        (submission_slices, SubmissionSlicesQuery()),
        (submission_trees, SubmissionTreesQuery(limit=5)),
    ):
        with pytest.raises(Gone):
            ask(context, team, submission, another)


def test_what_was_scored_by_another_version_is_not_shown_by_this_one(task, context):
    task.make(parts={"en": {"gold": RIGHT}}, feedback="gold")
    team = task.team()
    submission = task.scored(team, WRONG)
    name = ArtifactKey(0, 0, 1).name("counts")
    with context.store.write() as db:
        rows = unpack_array(artifacts.get(db, submission, name))
        artifacts.drop(db, [submission])
        artifacts.put(db, submission, {name: pack_array(rows + 1)})
    with pytest.raises(Gone, match="another version"):
        submission_items(context, team, submission, SubmissionItemsQuery(limit=5))


def bracketed(task, **changes):
    task.make(
        format="bracketed",
        metrics=[{"name": "parseval", "params": {"preset": "plain"}}],
        main_score=None,
        parts={"en": {"gold": TREES}},
        feedback="items",
        **changes,
    )
    lyon = task.team()
    return lyon, task.scored(lyon, TREES.replace("(. .)", "(NN .)").replace("VP", "XP", 1))


def test_a_team_sees_its_own_brackets(task, context):
    lyon, submission = bracketed(task)
    [first, _] = submission_items(context, lyon, submission, SubmissionItemsQuery(limit=10)).items
    assert "XP" in first["system_tree"]


@pytest.mark.parametrize(
    "transform",
    [
        "drop-punctuation", *(pytest.param(each, marks=pytest.mark.slow) for each in ("drop-traces", "flatten")),
        "black", "delete-labels",
    ],
)  # fmt: skip
def test_a_team_sees_no_brackets_where_gold_decides_which_words_go(task, context, transform):
    params = {"labels": ["."], "words": True} if transform == "delete-labels" else {}
    lyon, submission = bracketed(task, transforms=[{"name": transform, "params": params, "on": "both"}])
    found = submission_items(context, lyon, submission, SubmissionItemsQuery(limit=10)).items
    assert found == [{"item": number, "status": "ok", "scores": {}, "counts": {}} for number in (1, 2)]
    slices = orjson.loads(submission_slices(context, lyon, submission, SubmissionSlicesQuery()).body)
    assert slices["groupings"] == []
