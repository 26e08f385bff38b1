"""Scores are selected as they were computed, all of them or one, on either database."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import numpy as np
import pytest
from sqlalchemy import select, update

from service.requests import MACRO, POOLED, PUBLIC
from service.store import revisions, score_records
from service.store.score_records import PARTS, Asked, kept, macro_of, of_benchmark, of_submissions, selected
from service.store.tables import records, results
from service.usecases.scoring.config import scoring_config
from tests.fixtures.tasks import SECOND_PART, SLUG, TWO_PARTS, WRONG, once
from treescore.core.scores import member_at

LATER = datetime(2030, 1, 1, tzinfo=UTC)


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
        ids, found = selected(db, of_benchmark(SLUG), Asked(SLUG, 1, None, addresses), (*columns, PARTS))
        documents = [score_records.get(db, each, 1, None).document for each in ids]
    assert ids == sent.ids
    for column, path in zip(columns, (("macro",), ("macro_ci95", "low"), ("scores",), ("ci95", "high")), strict=True):
        expected = [[number(document, address, *path) for address in addresses] for document in documents]
        np.testing.assert_array_equal(found[column], expected)
    assert found[PARTS].shape == (3, len(addresses), 2)
    assert np.isnan(found[PARTS][1, :, 1]).all()
    for address, whole in zip(addresses, found[PARTS][1, :, 0], strict=True):
        key, _, name = address.partition(".")
        stored = member_at(documents[1]["metrics"][key]["parts"]["en"]["scores"], name)
        assert stored == pytest.approx(whole) or (stored is None and np.isnan(whole))


def test_one_score_is_that_of_all(sent):
    with sent.context.store.read() as db:
        addresses = addresses_of(db)
        _, of_all = selected(db, of_benchmark(SLUG), Asked(SLUG, 1, None, addresses), (MACRO, PARTS))
        for at, address in enumerate(addresses):
            its, asked = of_submissions(sent.ids), Asked(SLUG, 1, None, addresses, address)
            _, of_one = selected(db, its, asked, (MACRO, PARTS))
            np.testing.assert_array_equal(of_one[MACRO][:, 0], of_all[MACRO][:, at])
            np.testing.assert_array_equal(of_one[PARTS][:, 0], of_all[PARTS][:, at])
            _, swapped = kept(db, its, asked, (), [[1], [0]])
            np.testing.assert_array_equal(swapped[:, ::-1, 0], of_all[PARTS][:, at])


def test_of_several_parts_the_mean_is_selected_however_many_rows_are_read_at_once(sent, monkeypatch):
    with sent.context.store.read() as db:
        asked = of_benchmark(SLUG), Asked(SLUG, 1, None, addresses_of(db)), [MACRO]
        ids, at_once = kept(db, *asked, [[0], [1], [0, 1]], 0.0)
        monkeypatch.setattr(score_records, "_AT_ONCE", 2)
        again, mean = kept(db, *asked, [[0, 1]], 0.0)
    assert ids == again == sent.ids
    macro, first, second, _ = at_once.transpose(1, 0, 2)
    np.testing.assert_array_equal(mean, at_once[:, [0, 3]])
    np.testing.assert_array_equal(np.isnan(macro), np.isnan(first) & np.isnan(second))
    mean = mean[:, 1]
    np.testing.assert_array_equal(mean, (first + np.nan_to_num(second)) / 2)


def test_of_a_changed_board_only_new_records_are_read(sent, monkeypatch):
    read = []

    def counted(db, chosen, *asked, **options):
        ids, found = selected(db, chosen, *asked, **options)
        read.extend(ids)
        return ids, found

    def means(ids):
        read.clear()
        with sent.context.store.read() as db:
            names, found = kept(db, of_submissions(ids), Asked(SLUG, 1, None, addresses_of(db)), (MACRO,), [[0]])
        assert names == ids
        return found

    monkeypatch.setattr(score_records, "selected", counted)
    first = means(sent.ids[:2])
    assert read == sent.ids[:2]
    every = means(sent.ids)
    assert read == sent.ids[2:]
    np.testing.assert_array_equal(every[:2], first)
    scored_again = results.c.submission_id == sent.ids[0]
    with sent.context.store.write() as db:
        its = db.scalars(select(results.c.parts).where(results.c.submission_id == sent.ids[2])).one()
        db.execute(update(results).where(scored_again).values(parts=its))
        db.execute(update(records).where(records.c.submission_id == sent.ids[0]).values(created_at=LATER))
    np.testing.assert_array_equal(means(sent.ids[:1]), every[2:])
    assert read == sent.ids[:1]
    assert means([]).shape == (0, *every.shape[1:])


def test_only_those_are_selected_that_are_chosen(sent):
    with sent.context.store.read() as db:
        asked = Asked(SLUG, 1, None, addresses_of(db), "attachment.las")
        assert list(macro_of(db, of_submissions(sent.ids[1:2]), asked)) == sent.ids[1:2]
        assert list(macro_of(db, of_benchmark(SLUG, "oslo"), asked)) == sent.ids[2:]
        assert macro_of(db, of_benchmark(SLUG), asked._replace(revision=2)) == {}
        assert macro_of(db, of_benchmark(SLUG), asked._replace(share=PUBLIC)) == {}
        assert macro_of(db, of_submissions([]), asked) == {}


def test_a_lost_score_is_noticed(sent):
    with sent.context.store.write() as db:
        addresses = addresses_of(db)
        its = results.c.submission_id == sent.ids[0]
        whole = db.scalars(results.select().with_only_columns(results.c.macro).where(its)).one()
        db.execute(update(results).where(its).values(macro=whole[:-8]))
        with pytest.raises(ValueError, match="reshape"):
            selected(db, of_benchmark(SLUG), Asked(SLUG, 1, None, addresses), (MACRO,))
