"""Items of a submission are those that a job would show, though less is kept of them."""

from __future__ import annotations

import numpy as np
import orjson
import pytest

from service.requests import ItemsQuery, SubmissionItemsQuery, SubmissionSlicesQuery
from service.schemas.jobs import JobRequest
from service.store import artifacts, revisions, score_records
from service.store.packing import pack_array
from service.usecases.jobs.jobs import submit_job
from service.usecases.jobs.results import job_items
from service.usecases.scoring.config import scoring_config
from service.usecases.scoring.results import ITEMS_PER_PAGE, ArtifactKey, load_items
from service.usecases.submissions.results import submission_items, submission_slices
from tests.fixtures.contexts import SCORER
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import RIGHT, SLUG, WRONG

MANY = "".join(RIGHT.replace("s1", f"a{number}").replace("s2", f"b{number}") for number in range(60))
TREES = "(TOP (S (NP (DT the) (NN dog)) (VP (VBD barked)) (. .)))\n(TOP (S (NP (PRP she)) (VP (VBD slept)) (. .)))\n"
SYSTEM = MANY.replace("2\tobj", "1\tnmod", 3)


@pytest.mark.parametrize("metric", ["ud", "attachment", "leaf_ancestor"])
def test_they_are_those_of_a_job(task, context, metric):
    task.make(metrics=[metric], main_score=None, parts={"en": {"gold": MANY}})
    submission = task.scored(task.team(), SYSTEM)
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
    with context.store.read() as db:
        table = scoring_config(revisions.get(db, SLUG, 1).scoring).spec.entries[0].metric.table
        for start, stop in ((0, 120), (0, 1), (95, 105), (100, 120), (119, 500), (7, 7), (500, 600)):
            found = load_items(db, submission, ArtifactKey(0, 0, 1), table, start, stop)
            assert found == expected[start:stop]


@pytest.mark.parametrize("metric", ["attachment", "parseval"])
def test_items_that_an_earlier_version_stored_complete_are_still_shown(context, work, metric):
    gold, system = (TREES, TREES.replace("VP", "XP", 1)) if metric == "parseval" else (MANY, SYSTEM)
    form = "bracketed" if metric == "parseval" else "conllu"
    request = {"format": form, "gold": gold, "systems": [{"name": "A", "output": system}], "metrics": [metric]}
    job, *_ = submit_job(context, SCORER, loaded(JobRequest, request))
    work()
    expected = [*job_items(context, SCORER, job, ItemsQuery(system="A", metric=metric, limit=200)).items]
    key = ArtifactKey(0, 0)
    with context.store.write() as db:
        # counts of that version may have other columns
        counts = pack_array(np.zeros((len(expected), 2), np.int64))
        artifacts.drop(db, [job])
        pages = {
            (key.name("items"), page): artifacts.pack_json(expected[start : start + ITEMS_PER_PAGE])
            for page, start in enumerate(range(0, len(expected), ITEMS_PER_PAGE))
        }
        artifacts.put(db, job, {(key.name("counts"), 0): counts, **pages})
    assert [*job_items(context, SCORER, job, ItemsQuery(system="A", metric=metric, limit=200)).items] == expected
    rest = job_items(context, SCORER, job, ItemsQuery(system="A", metric=metric, cursor="1", limit=5))
    assert [*rest.items] == expected[1:6]
    assert rest.next == ("6" if len(expected) > 6 else None)


def test_items_of_jobs_are_stored_without_what_their_counts_say(context, work):
    request = {"format": "conllu", "gold": MANY, "systems": [{"name": "A", "output": SYSTEM}], "metrics": ["ud"]}
    job, *_ = submit_job(context, SCORER, loaded(JobRequest, request))
    work()
    with context.store.read() as db:
        stored = artifacts.unpack_json(artifacts.get(db, job, ArtifactKey(0, 0).name("items")))
    assert len(stored) == ITEMS_PER_PAGE
    assert not {"scores", "counts"} & set(stored[0])


def test_a_part_that_was_not_scored_has_none(task, context):
    task.make(parts={"en": {"gold": RIGHT}, "de": {"gold": RIGHT}})
    submission = task.scored(task.team(), {"en": WRONG})
    with context.store.read() as db:
        table = scoring_config(revisions.get(db, SLUG, 1).scoring).spec.entries[0].metric.table
        assert score_records.counts(db, submission, 1, 1, 0) is not None
        assert load_items(db, submission, ArtifactKey(1, 0, 1), table, 0, 10) == []


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


@pytest.mark.parametrize("transform", ["drop-punctuation", "black", "drop-traces", "delete-labels", "flatten"])
def test_a_team_sees_no_brackets_where_gold_decides_which_words_go(task, context, transform):
    params = {"labels": ["."], "words": True} if transform == "delete-labels" else {}
    lyon, submission = bracketed(task, transforms=[{"name": transform, "params": params, "on": "both"}])
    found = submission_items(context, lyon, submission, SubmissionItemsQuery(limit=10)).items
    assert found == [{"item": number, "status": "ok", "scores": {}, "counts": {}} for number in (1, 2)]
    slices = orjson.loads(submission_slices(context, lyon, submission, SubmissionSlicesQuery()).body)
    assert slices["groupings"] == []
