"""Items of a submission are those that a job would show, though less is kept of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import orjson
import pytest

from service.contract.jobs import ItemsQuery, JobRequest
from service.contract.submissions import SubmissionItemsQuery, SubmissionSlicesQuery
from service.store import artifacts, revisions, score_records
from service.store.packing import unpack_columns
from service.usecases.jobs import job_items, submit_job
from service.usecases.scoring import results
from service.usecases.scoring.config import scoring_config
from service.usecases.scoring.results import ArtifactKey, StoredItems, load_output_items, pages
from service.usecases.submissions.results import submission_items, submission_slices
from tests.fixtures.contexts import SCORER
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import RIGHT, SLUG, WRONG
from treescore.core.registry import Outcome, all_ok
from treescore.evaluation.spec import parse_spec

MANY = "".join(RIGHT.replace("s1", f"a{number}").replace("s2", f"b{number}") for number in range(60))
TREES = "(TOP (S (NP (DT the) (NN dog)) (VP (VBD barked)) (. .)))\n(TOP (S (NP (PRP she)) (VP (VBD slept)) (. .)))\n"
SYSTEM = MANY.replace("2\tobj", "1\tnmod", 3)


def without(item, *names):
    return {name: value for name, value in item.items() if name not in names}


def spied(monkeypatch, module, name):
    """List the calls of a function of a module from now on."""
    calls, real = [], getattr(module, name)

    def called(*args):
        calls.append(args)
        return real(*args)

    monkeypatch.setattr(module, name, called)
    return calls


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
            found = load_output_items(db, submission, ArtifactKey(0, 0, 1), table, start, stop)
            assert found == expected[start:stop]


def test_pages_hold_so_many_items_and_no_more_than_their_size_allows(monkeypatch):
    monkeypatch.setattr(results, "ITEMS_PER_PAGE", 3)
    monkeypatch.setattr(results, "VALUES_PER_PAGE", 10)
    eight = Outcome(rows=np.zeros((8, 1), np.int64), status=all_ok(8))
    assert [*pages(eight)] == [(0, 3), (3, 6), (6, 8)]
    heavy = replace(eight, sizes=np.array([1, 9, 1, 99, 0, 0, 0, 0]))
    assert [*pages(heavy)] == [(0, 2), (2, 3), (3, 4), (4, 7), (7, 8)]
    assert [*pages(Outcome(rows=np.zeros((0, 1), np.int64), status=all_ok(0)))] == []


def test_a_request_reads_the_pages_of_its_items_only_which_hold_nothing_that_counts_say(context, work, monkeypatch):
    monkeypatch.setattr(results, "ITEMS_PER_PAGE", 50)
    request = {"format": "conllu", "gold": MANY, "systems": [{"name": "A", "output": SYSTEM}], "metrics": ["ud"]}
    job, *_ = submit_job(context, SCORER, loaded(JobRequest, request))
    work()
    table = parse_spec(request).entries[0].metric.table
    with context.store.read() as db:
        stored = StoredItems(db, job, ArtifactKey(0, 0), table)
        columns = unpack_columns(artifacts.get(db, job, ArtifactKey(0, 0).name("columns")))
        assert [*columns.members] == ["item", "sent_id", "status", "words"]
        whole = stored.read(0, 200)
        assert [item["item"] for item in whole] == [*range(1, 121)]
        read = spied(monkeypatch, results, "unpack_columns")
        assert stored.read(60, 61) == whole[60:61]
        assert stored.read(61, 70) == whole[61:70]
        assert len(read) == 1
        assert stored.read(99, 101) == whole[99:101]
        assert len(read) == 3
        assert stored.read(120, 130) == []
        assert len(read) == 3


def test_a_part_that_was_not_scored_has_none(task, context):
    task.make(parts={"en": {"gold": RIGHT}, "de": {"gold": RIGHT}})
    submission = task.scored(task.team(), {"en": WRONG})
    with context.store.read() as db:
        table = scoring_config(revisions.get(db, SLUG, 1).scoring).spec.entries[0].metric.table
        assert all(counts is not None for counts in score_records.counts(db, submission, 1, [0, 1], 0))
        assert load_output_items(db, submission, ArtifactKey(1, 0, 1), table, 0, 10) == []


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
