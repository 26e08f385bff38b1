"""Which sentences are private: drawn by a key, by documents where they are marked, alike for all that is scored."""

from __future__ import annotations

import numpy as np
import pytest

from service.store import benchmarks, revisions
from service.usecases.scoring import shares
from service.usecases.scoring.shares import draw, split_of
from tests.fixtures.tasks import LONG, SLUG

KEY, OTHER = b"k" * 32, b"o" * 32
SPLIT = {"closes_at": "2026-12-01T00:00:00Z", "leaderboard": {"split": {"private": 0.5}}}


def sentences(number):
    return [("sentence", at) for at in range(number)]


@pytest.mark.parametrize(
    ("number", "private", "taken"), [(2, 0.01, 1), (2, 0.99, 1), (10, 0.5, 5), (10, 0.3, 3), (100, 0.999, 99)]
)
def test_so_many_units_are_private_and_each_share_has_one(number, private, taken):
    drawn = draw(KEY, "en", sentences(number), private)
    assert (len(drawn), int(drawn.sum())) == (number, taken)


@pytest.mark.parametrize("number", [0, 1])
def test_less_than_two_units_are_public(number):
    assert not draw(KEY, "en", sentences(number), 0.5).any()


def test_the_draw_depends_on_the_key_and_the_part_alone():
    drawn = draw(KEY, "en", sentences(60), 0.5)
    assert (drawn == draw(KEY, "en", sentences(60), 0.5)).all()
    assert (drawn != draw(OTHER, "en", sentences(60), 0.5)).any()
    assert (drawn != draw(KEY, "de", sentences(60), 0.5)).any()


def test_a_larger_private_share_has_all_of_a_smaller_one():
    small, large = (draw(KEY, "en", sentences(60), private) for private in (0.3, 0.6))
    assert not (small & ~large).any()


def test_every_sentence_is_drawn_about_equally_often():
    often = np.mean([draw(bytes([key]) * 32, "en", sentences(20), 0.5) for key in range(250)], axis=0)
    assert (np.abs(often - 0.5) < 5 * 0.5 / np.sqrt(250)).all()


def test_a_document_is_drawn_as_a_whole_wherever_its_sentences_stand():
    units = [("document", name) for name in "aabbccddaabbccdd"]
    drawn = draw(KEY, "en", units, 0.5)
    by_name = {
        name: {bool(each) for each, unit in zip(drawn, units, strict=True) if unit[1] == name} for name in "abcd"
    }
    assert sorted(map(len, by_name.values())) == [1] * 4
    assert sum(True in each for each in by_name.values()) == 2


def drawn_in(task, number=1):
    """The draw of a revision, part by part."""
    with task.context.store.read() as db:
        benchmark = benchmarks.get(db, SLUG)
        return split_of(db, benchmark, revisions.get(db, SLUG, number).id)


class TestOfGold:
    """The units of a benchmark's gold."""

    def test_blocks_of_the_request_are_documents(self, task):
        blocks = [name for name in "abcdef" for _ in range(4)]
        task.make(parts={"en": {"gold": LONG, "items": {"blocks": blocks}}}, **SPLIT)
        private = drawn_in(task)["en"]
        assert private.sum() == 12
        assert (private.reshape(6, 4).all(axis=1) | ~private.reshape(6, 4).any(axis=1)).all()

    def test_a_part_of_one_document_goes_by_sentence(self, task):
        task.make(parts={"en": {"gold": LONG, "items": {"blocks": ["a"] * 24}}}, **SPLIT)
        assert drawn_in(task)["en"].sum() == 12

    def test_parts_are_drawn_for_themselves(self, task):
        task.make(parts={"en": {"gold": LONG}, "de": {"gold": LONG}}, **SPLIT)
        private = drawn_in(task)
        assert private["en"].sum() == private["de"].sum() == 12
        task.patch(leaderboard={"split": None})
        assert drawn_in(task) is None
        task.patch(leaderboard=SPLIT["leaderboard"])
        assert (private["en"] != private["de"]).any()

    def test_two_stores_draw_otherwise(self, task, monkeypatch):
        task.make(parts={"en": {"gold": LONG}}, **SPLIT)
        before = drawn_in(task)["en"]
        monkeypatch.setattr(shares, "SHARE_SECRET", "another")
        with task.context.store.write() as db:
            shares.make_key(db)
        assert (before != drawn_in(task)["en"]).any()

    def test_a_process_that_begins_draws_the_same(self, task, monkeypatch):
        task.make(parts={"en": {"gold": LONG}}, **SPLIT)
        before = drawn_in(task)
        assert drawn_in(task) is before
        monkeypatch.setattr(shares, "_DRAWS", type(shares._DRAWS)())
        after = drawn_in(task)
        assert after is not before
        assert (after["en"] == before["en"]).all()

    def test_a_process_keeps_few_draws(self, task, monkeypatch):
        monkeypatch.setattr(shares, "_DRAWS", type(shares._DRAWS)())
        monkeypatch.setattr(shares, "MOST_DRAWS", 1)
        task.make(parts={"en": {"gold": LONG}}, **SPLIT)
        drawn_in(task)
        other = {"id": "other", "parts": {"en": {"gold": LONG}}, **SPLIT}
        task.make(**other)
        with task.context.store.read() as db:
            split_of(db, benchmarks.get(db, "other"), revisions.get(db, "other", 1).id)
        assert len(shares._DRAWS) == 1
