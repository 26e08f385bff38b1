"""The store keeps what it is given, once, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection, MetaData, bindparam, func, inspect, make_url, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.schema import CreateIndex, CreateTable

from service.store import artifacts, jobs, runs, tables, texts, tokens
from service.store.archive import migrate
from service.store.database import VERSION_TABLE, Fault, Store, fault_of, place_of_url
from service.store.tables import metadata
from service.store.tables import runs as runs_table
from service.store.tables import texts as texts_table
from tests.fixtures.contexts import empty_store

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, tmp_path) -> Iterator[Store]:
    opened = empty_store(request, request.param, tmp_path)
    yield opened
    opened.close()


def add_job(store: Store, job_id: str, named: dict[str, bytes]) -> None:
    with store.write() as db:
        runs.add(db, job_id, "job", "live", NOW, "tok_a")
        jobs.add(db, job_id, "tok_a", {"metrics": ["attachment"]})
        texts.put(db, job_id, named)


def described(db: Connection) -> dict[str, object]:
    """All that the database says of each table but that of the version."""
    ask = inspect(db)
    looks = (ask.get_pk_constraint, ask.get_foreign_keys, ask.get_unique_constraints, ask.get_indexes)
    return {
        name: [
            [{**column, "type": str(column["type"])} for column in ask.get_columns(name)],
            *(sorted(look(name), key=str) if look != ask.get_pk_constraint else look(name) for look in looks),
            ask.get_table_comment(name) if db.dialect.supports_comments else None,
        ]
        for name in ask.get_table_names()
        if name != VERSION_TABLE
    }


def test_migrations_make_exactly_the_tables_that_the_code_uses(store):
    migrate(store)  # again, which changes nothing
    assert store.alive()
    with store.write() as db:
        migrated = described(db)
        found = MetaData()
        found.reflect(db)
        found.drop_all(db)
        metadata.create_all(db)
        assert migrated == described(db)
    assert set(migrated) == set(metadata.tables)


FIRST_TABLES = "c957fc01d12a9839"
"""The beginning of a digest of their statements."""


def test_the_first_migration_makes_the_tables_of_the_first_release():
    made = [str(CreateTable(table).compile(dialect=sqlite.dialect())) for table in metadata.sorted_tables]
    made += sorted(str(CreateIndex(index)) for table in metadata.sorted_tables for index in table.indexes)
    digest = hashlib.sha256("".join(" ".join(made).split()).encode()).hexdigest()[: len(FIRST_TABLES)]
    assert digest == FIRST_TABLES, (
        "The tables differ from those of migration 0001, which makes what service.store.tables names. Before the first "
        "release, write the new digest here. Afterwards write out in 0001 what it has made until now, delete this test "
        "and add a migration with the change."
    )


def test_equal_texts_are_stored_once_and_go_with_their_last_owner(store):
    add_job(store, "job_1", {"gold": b"same", "systems/0": b"same", "systems/1": b"other"})
    add_job(store, "job_2", {"gold": b"same"})

    def stored() -> int:
        with store.read() as db:
            return db.scalar(select(func.count()).select_from(texts_table))

    assert stored() == 2
    with store.write() as db:
        texts.drop(db, ["job_1"])
    assert stored() == 1
    with store.read() as db:
        assert texts.read_texts(db, "job_2")["gold"][1] == b"same"
        assert texts.read_texts(db, "job_1") == {}


def test_a_run_becomes_final_once(store):
    add_job(store, "job_1", {})
    with store.write() as db:
        first = runs.claim(db, "job_1", NOW)
        again = runs.claim(db, "job_1", NOW + timedelta(seconds=5))
    assert (first.attempts, again.attempts) == (1, 2)
    assert again.started_at == NOW
    with store.write() as db:
        assert runs.finish(db, "job_1", runs.SUCCEEDED, NOW)
        assert not runs.finish(db, "job_1", runs.FAILED, NOW)
        assert runs.claim(db, "job_1", NOW) is None
        assert not runs.note_progress(db, "job_1", 1, 2, "late")
        assert runs.get(db, "job_1").state == runs.SUCCEEDED


def test_a_look_at_a_run_shows_what_a_transaction_reads(store):
    assert runs.look(store, "job_1") is None
    add_job(store, "job_1", {})
    steps = (
        lambda _db: None,
        lambda db: runs.claim(db, "job_1", NOW),
        lambda db: runs.note_progress(db, "job_1", 1, 2, "scoring"),
        lambda db: runs.finish(db, "job_1", runs.CANCELLED, NOW),
    )
    for step in steps:
        with store.write() as db:
            step(db)
        with store.read() as db:
            assert runs.look(store, "job_1") == runs.get(db, "job_1")


def test_what_is_unfinished_is_found_oldest_first(store):
    with store.write() as db:
        for number, age in ((1, 10), (2, 30), (3, 0)):
            runs.add(db, f"job_{number}", "job", "live", NOW - timedelta(seconds=age), "tok_a")
        runs.add(db, "job_4", "job", "live", NOW - timedelta(seconds=40), "tok_a")
        runs.finish(db, "job_4", runs.CANCELLED, NOW)
        found = runs.unfinished(db, NOW - timedelta(seconds=5))
    assert [run.id for run in found] == ["job_2", "job_1"]


def test_a_failed_transaction_leaves_nothing_behind(store):
    add_job(store, "job_1", {"gold": b"text"})

    def add_two() -> None:
        with store.write() as db:
            runs.add(db, "job_2", "job", "live", NOW, "tok_a")
            runs.add(db, "job_1", "job", "live", NOW, "tok_a")

    with pytest.raises(IntegrityError):
        add_two()
    with store.read() as db:
        assert runs.get(db, "job_2") is None


def test_an_error_of_the_store_tells_nothing_of_what_was_to_be_stored(store):
    def put_twice() -> None:
        with store.write() as db:
            for _ in range(2):
                artifacts.put(db, "rev_1", {"input/0/words": b"marker-of-gold"})

    with pytest.raises(IntegrityError) as error:
        put_twice()
    assert "marker-of-gold" not in str(error.value)


def test_an_idempotency_key_belongs_to_one_request_under_concurrency(store):
    def remember(number: int) -> bool:
        try:
            with store.write() as db:
                tokens.add_key(db, "tok_a", "key", "digest", f"job_{number}", NOW)
        except IntegrityError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(remember, range(16))) == 1


def test_an_erased_job_keeps_only_the_fact_that_it_was(store):
    add_job(store, "job_1", {"gold": b"secret"})
    with store.write() as db:
        artifacts.put(db, "job_1", {"reports/0/0": artifacts.pack_json([1])})
        jobs.save_answer(db, "job_1", "succeeded", b"{}", "etag")
        jobs.erase(db, ["job_1"], NOW)
    with store.read() as db:
        assert not db.execute(select(tables.artifacts)).all()
        assert texts.read_texts(db, "job_1") == {}
    answer = jobs.answer(store, "job_1")
    assert answer.deleted_at
    assert answer.document is None


def test_times_come_back_as_they_went_in(store):
    with store.write() as db:
        expires_at = datetime.fromisoformat("2026-11-21T23:59:59-12:00")
        tokens.add(db, tokens.Token("tok_1", "h", "score", None, NOW, expires_at=expires_at))
        row = tokens.by_id(db, "tok_1")
    assert row.created_at == NOW
    assert row.expires_at == datetime(2026, 11, 22, 11, 59, 59, tzinfo=UTC)


def test_a_hot_query_tells_that_the_store_is_away_like_any_other(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 'empty.db'}")
    with pytest.raises(OperationalError):
        store.lookup(select(runs_table.c.id).where(runs_table.c.id == bindparam("id")), id="job_x")
    store.close()


def test_a_store_that_cannot_be_opened_for_want_of_space_is_full():
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE  # as SQLite has it on a full disk
    assert fault_of(OperationalError("SELECT 1", (), error)) is Fault.FULL


HERE = "postgresql://a:b@host/db"
FILE = "sqlite:////data/treescore.db"


def test_each_database_has_a_place_of_its_own_that_is_one_for_all_its_users() -> None:
    for url, same_as in (
        ("postgresql+psycopg://c:d@host/db", HERE), ("sqlite:////data/../data/treescore.db", FILE)
    ):  # fmt: skip
        assert place_of_url(make_url(url)) == place_of_url(make_url(same_as))
    urls = [HERE, FILE, "sqlite:////other/treescore.db", "postgresql://host/other", "postgresql://host2/db",
            "postgresql://host:5433/db", "postgresql:///db?host=/one", "postgresql:///db?host=/two"]  # fmt: skip
    assert len({place_of_url(make_url(url)) for url in urls}) == len(urls)
