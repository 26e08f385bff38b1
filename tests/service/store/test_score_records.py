"""Scores are selected as they were computed, all of them or one, on either database."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sqlalchemy import update

from service.requests import MACRO, POOLED, PUBLIC
from service.store import revisions, score_records
from service.store.score_records import PARTS, macro_of, of_benchmark, of_submissions, selected
from service.store.tables import results
from service.usecases.scoring.config import scoring_config
from tests.fixtures.tasks import SECOND_PART, SLUG, TWO_PARTS, WRONG, once
from treescore.core.scores import member_at


@partial(once, either=True)
def sent(task):
    """A whole submission, one that lacks a part, and one of another team; their ids."""
    task.make(TWO_PARTS, metrics=["attachment", "ud"])
    lyon, whole = task.team(), {"en": WRONG, "de": SECOND_PART}
    task.ids = [task.scored(lyon, whole), task.scored(lyon, WRONG), task.scored(task.team("oslo"), whole)]
    return task


def addresses_of(db):
    """All scores of the revision."""
    return scoring_config(revisions.get(db, SLUG, 1).scoring).addresses


def number(document, address, *path):
    """A score of a document, by its address; NaN where it is undefined."""
    key, _, name = address.partition(".")
    found = member_at(document["metrics"][key][path[0]], name)
    found = found if len(path) == 1 or found is None else found[path[1]]
    return np.nan if found is None else found


def test_scores_are_those_of_the_document(sent):
    columns = (MACRO, "macro_low", POOLED, "pooled_high")
    with sent.context.store.read() as db:
        addresses = addresses_of(db)
        ids, found = selected(db, of_benchmark(SLUG), 1, None, addresses, columns, parts=[[0], [1]])
        documents = [score_records.get(db, each, 1, None).document for each in ids]
    assert ids == sent.ids
    for column, path in zip(columns, (("macro",), ("macro_ci95", "low"), ("scores",), ("ci95", "high")), strict=True):
        expected = [[number(document, address, *path) for address in addresses] for document in documents]
        np.testing.assert_array_equal(found[column], expected)
    assert found[PARTS].shape == (2, 3, len(addresses))
    assert np.isnan(found[PARTS][1, 1]).all()
    for address, whole in zip(addresses, found[PARTS][0, 1], strict=True):
        key, _, name = address.partition(".")
        stored = member_at(documents[1]["metrics"][key]["parts"]["en"]["scores"], name)
        assert stored == pytest.approx(whole) or (stored is None and np.isnan(whole))


def test_one_score_is_that_of_all(sent):
    with sent.context.store.read() as db:
        addresses = addresses_of(db)
        _, of_all = selected(db, of_benchmark(SLUG), 1, None, addresses, (MACRO,), parts=[[0], [1]])
        for at, address in enumerate(addresses):
            its = of_submissions(sent.ids)
            _, of_one = selected(db, its, 1, None, addresses, (MACRO,), score=address, parts=[[1], [0]])
            np.testing.assert_array_equal(of_one[MACRO][:, 0], of_all[MACRO][:, at])
            np.testing.assert_array_equal(of_one[PARTS][::-1, :, 0], of_all[PARTS][:, :, at])


def test_of_several_parts_the_mean_is_selected_however_many_rows_are_read_at_once(sent, monkeypatch):
    with sent.context.store.read() as db:
        asked = of_benchmark(SLUG), 1, None, addresses_of(db), ()
        ids, at_once = selected(db, *asked, parts=[[0], [1], [0, 1]], worst=0.0)
        monkeypatch.setattr(score_records, "_AT_ONCE", 2)
        assert selected(db, *asked, parts=[[0, 1]], worst=0.0)[0] == ids
        np.testing.assert_array_equal(selected(db, *asked, parts=[[0, 1]], worst=0.0)[1][PARTS][0], at_once[PARTS][2])
    first, second, mean = at_once[PARTS]
    np.testing.assert_array_equal(mean, (first + np.nan_to_num(second)) / 2)


def test_only_those_are_selected_that_are_chosen(sent):
    with sent.context.store.read() as db:
        asked = 1, None, addresses_of(db), "attachment.las"
        assert list(macro_of(db, of_submissions(sent.ids[1:2]), *asked)) == sent.ids[1:2]
        assert list(macro_of(db, of_benchmark(SLUG, "oslo"), *asked)) == sent.ids[2:]
        assert macro_of(db, of_benchmark(SLUG), 2, *asked[1:]) == {}
        assert macro_of(db, of_benchmark(SLUG), 1, PUBLIC, *asked[2:]) == {}
        assert macro_of(db, of_submissions([]), *asked) == {}


def test_a_lost_score_is_noticed(sent):
    with sent.context.store.write() as db:
        addresses = addresses_of(db)
        its = results.c.submission_id == sent.ids[0]
        whole = db.scalars(results.select().with_only_columns(results.c.macro).where(its)).one()
        db.execute(update(results).where(its).values(macro=whole[:-8]))
        with pytest.raises(ValueError, match="reshape"):
            selected(db, of_benchmark(SLUG), 1, None, addresses, (MACRO,))
