"""What a benchmark says of itself: organisers write it, and all who may see the benchmark read it."""

from __future__ import annotations

import pytest

from service.errors import NotFound, Unprocessable
from service.store import benchmarks
from service.usecases.benchmarks.settings import DEFAULTS
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import ANYONE, SLUG

NOTHING = DEFAULTS["about"]
LINK = {"label": "Call", "url": "https://example.org/call"}


def test_all_who_see_the_benchmark_read_it(task):
    task.make(about={"description": "# A\n\ttext", "links": [LINK]})
    expected = {**NOTHING, "description": "# A\n\ttext", "links": [LINK]}
    assert task.benchmark(ORGANISER)["about"] == expected
    assert task.benchmark(ANYONE)["about"] == expected
    task.patch(leaderboard={"public": False})
    with pytest.raises(NotFound):
        task.benchmark(ANYONE)


def test_without_it_all_members_are_empty(task):
    task.make()
    assert task.benchmark()["about"] == NOTHING
    assert DEFAULTS["about"]["links"] == []


def test_members_are_changed_one_by_one_and_null_clears(task):
    task.make(about={"rules": "Be fair.", "licence": "CC BY", "links": [LINK]})
    task.patch(about={"licence": None, "contact": "a@example.org"})
    assert task.benchmark()["about"] == {**NOTHING, "rules": "Be fair.", "contact": "a@example.org", "links": [LINK]}
    task.patch(about={"links": None, "rules": None})
    assert task.benchmark()["about"] == {**NOTHING, "contact": "a@example.org"}
    task.patch(title="Another")
    assert task.benchmark()["about"]["contact"] == "a@example.org"


def test_no_character_hides_or_turns_others(task):
    for text in ("a\x00b", "a\u202eb", "a\u2066b", "\x1b[31m", "\ufeffa"):
        with pytest.raises(Unprocessable) as error:
            task.make(about={"citation": text})
        assert [(each.code, each.pointer) for each in error.value.problems] == [("bad-value", "/about/citation")]


def test_all_of_it_together_has_a_limit_in_bytes(task):
    task.make(about={"description": "é" * 9_000, "rules": "x" * 2_000})
    with pytest.raises(Unprocessable) as error:
        task.patch(about={"contact": "x"})
    assert [(each.code, each.pointer) for each in error.value.problems] == [("about-too-long", "/about")]
    with pytest.raises(Unprocessable):
        task.patch(about={"links": [LINK]})
    with pytest.raises(Unprocessable):
        task.patch(about={"dates": [{"at": "2027-11-01T12:00:00Z", "what": "x"}]})
    task.patch(about={"rules": None, "contact": "x" * 2_000})


def test_dates_are_in_order_of_time_and_in_utc(task):
    task.make(about={"dates": [
        {"at": "2027-11-01T23:59:00-12:00", "what": "Test phase ends"},
        {"at": "2027-11-02T11:00:00+01:00", "what": "Gold is frozen"},
    ]})  # fmt: skip
    expected = [
        {"at": "2027-11-02T10:00:00.000Z", "what": "Gold is frozen"},
        {"at": "2027-11-02T11:59:00.000Z", "what": "Test phase ends"},
    ]
    assert task.benchmark(ANYONE)["about"]["dates"] == expected
    task.patch(title="Another")
    assert task.benchmark()["about"]["dates"] == expected
    task.patch(about={"dates": None})
    assert task.benchmark()["about"]["dates"] == []
    with pytest.raises(Unprocessable) as error:
        task.patch(about={"dates": [{"at": "2027-11-01T12:00:00", "what": "No zone"}]})
    assert [(each.code, each.pointer) for each in error.value.problems] == [("bad-moment", "/about/dates/0/at")]


def test_a_notice_has_the_time_of_its_change(task):
    task.make()
    assert task.benchmark()["notice"] is None
    task.patch(notice="The deadline has moved.")
    first = task.benchmark(ANYONE)["notice"]
    assert first["text"] == "The deadline has moved."
    task.patch(notice="The deadline has moved.", title="Another")
    assert task.benchmark()["notice"] == first
    task.patch(notice="Gold was mended.")
    second = task.benchmark()["notice"]
    assert second["text"] == "Gold was mended."
    assert second["at"] >= first["at"]
    task.patch(leaderboard={"public": False})
    with pytest.raises(NotFound):
        task.benchmark(ANYONE)
    task.patch(notice=None)
    assert task.benchmark()["notice"] is None


def test_what_a_benchmark_said_is_forgotten_with_it(task):
    task.make(about={"rules": "Be fair."}, notice="Read this.")
    with task.context.store.write() as db:
        benchmarks.forget(db, SLUG)
        assert not {"about", "notice"} & set(benchmarks.get(db, SLUG).settings)
