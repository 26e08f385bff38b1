"""Which run begins next: principals take turns, each run begins once, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from sqlalchemy import func, select

from service.store import runs, tables
from service.store.database import Store
from tests.fixtures.contexts import empty_store

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
LYON, OSLO = "team:fr/lyon", "team:fr/oslo"


class Line:
    """The live queue of a store; each run is created a second after the one before."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._seconds = count()

    def add(self, principal: str, *names: str, kind: str = "submission", queue: str = "live") -> None:
        with self.store.write() as db:
            for name in names:
                moment = NOW + timedelta(seconds=next(self._seconds))
                runs.add(db, name, kind, queue, moment, principal)

    def begin(self, anonymous: int = runs.NO_LIMIT) -> str | None:
        with self.store.write() as db:
            run = runs.claim_next(db, "live", NOW, anonymous=anonymous)
        return None if run is None else run.id

    def end(self, name: str) -> None:
        with self.store.write() as db:
            runs.finish(db, name, runs.SUCCEEDED, NOW)

    def begin_all(self) -> list[str]:
        found = []
        while (name := self.begin()) is not None:
            found.append(name)
        return found

    def ahead(self, name: str) -> int:
        with self.store.read() as db:
            return runs.ahead(db, runs.get(db, name))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def line(request: pytest.FixtureRequest, tmp_path) -> Iterator[Line]:
    store = empty_store(request, request.param, tmp_path)
    yield Line(store)
    store.close()


def names(letter: str, number: int) -> list[str]:
    return [f"{letter}{each}" for each in range(1, number + 1)]


ORDERS = {
    "one principal is served in the order of creation": ([("add", LYON, *names("a", 4))], "a1 a2 a3 a4"),
    "principals take turns": (
        [("add", LYON, *names("a", 4)), ("add", OSLO, *names("b", 2)), ("add", "tok_1", "c1")], "a1 b1 c1 a2 b2 a3 a4"
    ),
    "a newcomer does not pass those who came before": (
        [("add", LYON, *names("a", 3)), ("begin",), ("add", "tok_0", "b0"), ("add", "tok_1", "b1"),
         ("add", "tok_2", "b2")], "b0 b1 b2 a2 a3"
    ),
    "cancelled runs do not begin": ([("add", LYON, "a1", "a2"), ("end", "a1")], "a2"),
    "cancelled runs cost their principal no turn": (
        [("add", LYON, *names("a", 20)), ("add", OSLO, *names("b", 3)), *(("end", name) for name in names("a", 20)),
         ("add", LYON, "a21")], "b1 a21 b2 b3"
    ),
    "submissions go before jobs that are no submissions": (
        [("add", "anonymous:192.0.2.1", *names("j", 3), "job"), ("add", LYON, "a1"), ("add", LYON, "v1", "validation")],
        "a1 v1 j1 j2 j3",
    ),
    "queues are apart": ([("add", "benchmark:fr", "brd_1", "board"), ("add", LYON, "a1")], "a1"),
}  # fmt: skip


@pytest.mark.parametrize("case", ORDERS)
def test_the_order_in_which_runs_begin(line, case):
    steps, expected = ORDERS[case]
    for what, *given in steps:
        kind = given.pop() if given and given[-1] in ("job", "validation", "board") else "submission"
        more = {"kind": kind, "queue": "bulk" if kind == "board" else "live"} if what == "add" else {}
        getattr(line, what)(*given, **more)
    assert line.begin_all() == expected.split()


def test_a_flood_delays_another_principal_by_no_more_than_what_is_under_way(line):
    line.add(LYON, *names("a", 1000))
    assert [line.begin() for _ in range(3)] == ["a1", "a2", "a3"]
    line.add(OSLO, "b1")
    assert line.begin() == "b1"
    assert line.begin() == "a4"
    line.add(OSLO, "b2")
    assert line.begin() == "b2"


def test_who_comes_again_and_again_does_not_pass_those_who_wait(line):
    line.add(LYON, "a1", "a2")
    line.begin()
    begun = []
    for number in range(4):
        line.add(OSLO, f"b{number}")
        begun.append(line.begin())
    assert begun == ["b0", "a2", "b1", "b2"]


def test_all_anonymous_work_together_keeps_to_its_share(line):
    line.add("anonymous:192.0.2.1", "j1", "j2", kind="job")
    line.add("anonymous", "j3", kind="job")
    line.add("tok_1", "t1", "t2", kind="job")
    assert [line.begin(anonymous=1) for _ in range(4)] == ["j1", "t1", "t2", None]
    line.end("j1")
    assert [line.begin(anonymous=1) for _ in range(2)] == ["j3", None]


def test_a_run_begins_once_however_many_workers_ask(line):
    line.add(LYON, *names("a", 30))
    line.add("anonymous", *names("j", 30), kind="job")

    def work(_: int) -> list[str]:
        return list(iter(lambda: line.begin(anonymous=8), None))

    with ThreadPoolExecutor(8) as pool:
        begun = [name for found in pool.map(work, range(8)) for name in found]
    assert len(begun) == len(set(begun))
    # nothing ended, so only so many of the anonymous ones may be under way
    assert sorted(begun) == sorted([*names("a", 30), *names("j", 8)])


def test_a_run_that_is_being_cancelled_delays_no_other(line):
    line.add(LYON, "a1", "a2")
    if line.store.sqlite:
        pytest.skip("writers wait for each other")
    with line.store.write() as db:
        runs.finish(db, "a1", runs.CANCELLED, NOW)
        assert line.begin() == "a2"


def test_a_run_given_back_begins_first_and_counts_its_attempts(line):
    line.add(LYON, "a1", "a2")
    line.add(OSLO, "b1")
    assert line.begin() == "a1"
    with line.store.write() as db:
        assert runs.release(db, "a1")
        assert not runs.release(db, "a1")
    assert line.begin() == "a1"
    with line.store.write() as db:
        assert runs.get(db, "a1").attempts == 2
        runs.finish(db, "a1", runs.SUCCEEDED, NOW)
        assert not runs.release(db, "a1")


def test_a_run_that_continues_later_goes_behind_the_others(line):
    line.add(LYON, "a1")
    line.add(OSLO, "b1")
    with line.store.write() as db:
        run = runs.claim_next(db, "live", NOW)
        runs.requeue(db, run)
    assert line.begin_all() == ["b1", "a1"]


def test_what_is_ahead_is_what_begins_before(line):
    line.add(LYON, *names("a", 5))
    line.begin()
    line.add(OSLO, "b1")
    line.add("tok_1", "j1", kind="job")
    waiting = ["a2", "a3", "a4", "a5", "b1", "j1"]
    places = {name: line.ahead(name) for name in waiting}
    assert line.ahead("a1") == 0
    assert sorted(places, key=places.__getitem__) == line.begin_all()
    assert sorted(places.values()) == [1, 2, 3, 4, 5, 6]


def test_turns_that_are_over_are_forgotten_and_change_nothing(line):
    line.add(LYON, "a1")
    line.add(OSLO, *names("b", 5))
    line.begin_all()
    with line.store.write() as db:
        runs.forget_turns(db)
        kept = db.scalars(select(tables.turns.c.principal).order_by(tables.turns.c.principal)).all()
    assert kept == ["", OSLO]
    line.add(OSLO, "b6")
    line.add(LYON, "a2")
    assert line.begin_all() == ["a2", "b6"]


def test_the_queued_runs_of_a_principal_are_counted_by_one_transaction_at_a_time(line):
    def add(number: int) -> bool:
        with line.store.write() as db:
            if runs.queued_of(db, LYON) >= 5:
                return False
            runs.add(db, f"a{number}", "submission", "live", NOW, LYON)
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(add, range(24))) == 5
    with line.store.read() as db:
        assert db.scalar(select(func.count()).select_from(tables.runs)) == 5


def test_finding_the_next_run_reads_no_other_runs(line):
    if not line.store.sqlite:
        pytest.skip("the plan of PostgreSQL depends on its statistics")
    with line.store.read() as db:
        query = (
            "SELECT id FROM runs WHERE queue = 'live' AND state = 'queued' "
            "ORDER BY precedence, turn, created_at, id LIMIT 1"
        )
        plan = " ".join(row[3] for row in db.exec_driver_sql("EXPLAIN QUERY PLAN " + query))
    assert "ix_runs_next" in plan
    assert "USE TEMP B-TREE FOR ORDER BY" not in plan
