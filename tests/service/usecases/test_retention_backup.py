"""A backup holds all that was accepted before it began; restored, it answers the same bytes and ends what was open."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from service.caller import Caller, token_hash
from service.config import Config, load_config
from service.context import Context
from service.contract.jobs import JobRequest
from service.contract.leaderboards import LeaderboardQuery
from service.store import archive, runs, tokens
from service.store.archive import ArchiveError, migrate
from service.store.tokens import Token
from service.usecases.boards.viewing import leaderboard
from service.usecases.comparison_views import view_comparison
from service.usecases.jobs import submit_job, view_job
from service.usecases.retention import back_up, back_up_first, restore
from service.usecases.submissions.submissions import view_submission
from tests.fixtures.contexts import NOON, ORGANISER, SCORER, later, opened, work_of
from tests.fixtures.requests import DEPENDENCIES, loaded
from tests.fixtures.schemas import LATER, later_program
from tests.fixtures.tasks import LONG, SLUG, Task, spoilt

JOB = loaded(JobRequest, DEPENDENCIES)


class Filled:
    """A store with a bit of everything, some of it unfinished."""

    def __init__(self, context: Context) -> None:
        self.context = context
        task = Task(context, work_of(context))
        task.make(parts={"en": {"gold": LONG}})
        self.teams = [task.team(name) for name in ("lyon", "prague")]
        self.submissions = [task.submit(team, spoilt(wrong)) for team, wrong in zip(self.teams, (9, 2), strict=True)]
        task.settle()
        self.comparison = task.ask(submissions=self.submissions)
        self.job = submit_job(context, SCORER, JOB)[0]
        task.settle()
        self.open = task.submit(self.teams[0], spoilt(5))
        with context.store.write() as db:
            tokens.add(db, Token("tok_open", token_hash("ts_open"), "score", "laptop", context.now()))
            tokens.add(db, Token("tok_shut", token_hash("ts_shut"), "score", "lost", context.now()))
            tokens.revoke(db, "tok_shut", context.now())

    def answers(self, context: Context) -> list[tuple[str, bytes]]:
        """Validators and bytes of what is sent."""
        views = [view_submission(context, caller, each) for caller in (ORGANISER, self.teams[0])
                 for each in self.submissions[:1]]  # fmt: skip
        views.append(view_comparison(context, ORGANISER, self.comparison))
        views.append(view_job(context, SCORER, self.job))
        views.append(leaderboard(context, Caller(None, frozenset()), SLUG, LeaderboardQuery()))
        return [(view.etag, view.body) for view in views]


def place(request: pytest.FixtureRequest, config: Config, kind: str, folder: Path) -> Config:
    """An empty place of a kind; PostgreSQL's is emptied."""
    folder.mkdir(exist_ok=True)
    url = f"sqlite:///{folder / 'treescore.db'}"
    if kind == "postgres":
        url = request.getfixturevalue("postgres_url")
    return replace(config, data_dir=folder, database_url=url)


def empty(config: Config) -> None:
    """Drop all tables of a database server."""
    store = archive.Store(config.database_url)
    with store.write() as db:
        db.execute(text("DROP SCHEMA public CASCADE"))
        db.execute(text("CREATE SCHEMA public"))
    store.close()


POSTGRES = pytest.param("postgres", marks=pytest.mark.postgres)


@pytest.mark.parametrize("target", ["sqlite", POSTGRES])
@pytest.mark.parametrize("source", ["sqlite", POSTGRES])
def test_a_restored_backup_answers_the_same_bytes_and_ends_open_work_once(request, config, tmp_path, source, target):
    first = place(request, config, source, tmp_path / "first")
    if source == "postgres":
        empty(first)
    (first.data_dir / "admin-token").write_text("ts_secret\n")
    file = tmp_path / "one.backup"
    with opened(first) as context:
        filled = Filled(context)
        before = filled.answers(context)
        made = back_up(first, context.store, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert made.manifest.tables["submissions"].rows == 3
    second = place(request, config, target, tmp_path / "second")
    if target == "postgres":
        empty(second)
    restored = restore(second, file)
    assert restored.unfinished > 0
    assert {each.id for each in restored.valid_tokens} >= {"tok_open"}
    assert "tok_shut" not in {each.id for each in restored.valid_tokens}
    assert stat.S_IMODE((second.data_dir / "admin-token").stat().st_mode) == 0o600
    assert (second.data_dir / "admin-token").read_text() == "ts_secret\n"
    with opened(second) as context:
        assert filled.answers(context) == before
        task = Task(context, work_of(context))
        assert task.shown(ORGANISER, filled.open)["state"] == "queued"
        task.settle()
        assert task.shown(ORGANISER, filled.open)["state"] == "succeeded"
        with context.store.read() as db:
            assert runs.get(db, filled.open).attempts == 1
        # what counts upwards continues behind what was restored
        later_job = submit_job(later(context, hours=1), SCORER, JOB)[0]
        task.settle()
        assert view_job(context, SCORER, later_job).state == "succeeded"
        task.team("oslo")
        rows = [filled.open, filled.submissions[1]]
        task.ask(filled.teams[0], submissions=rows)


def test_a_backup_under_load_holds_everything_that_was_acknowledged_before_it(either_context, config, new, tmp_path):
    acknowledged: list[str] = []
    begun, stop = threading.Event(), threading.Event()

    def send() -> None:
        while not stop.is_set():
            acknowledged.append(submit_job(either_context, ORGANISER, JOB)[0])
            if len(acknowledged) >= 10:
                begun.set()

    threads = [threading.Thread(target=send) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(60)
    known = list(acknowledged)
    back_up(config, either_context.store, tmp_path / "one.backup")
    stop.set()
    for thread in threads:
        thread.join()
    restored = restore(new, tmp_path / "one.backup")
    with opened(new) as context:
        with context.store.read() as db:
            kept = set(db.scalars(text("SELECT id FROM jobs")))
            whole = db.scalars(text("SELECT owner FROM owned_texts"))
            assert set(whole) == kept
        assert set(known) <= kept
        assert restored.unfinished == len(kept)


@pytest.fixture(scope="module")
def kept(valkey, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    config = load_config({"TREESCORE_DATA_DIR": str(folder), "TREESCORE_REDIS_URL": valkey.url})
    with opened(config) as context:
        task = Task(context, work_of(context))
        task.make()
        task.scored(task.team())
        back_up(config, context.store, folder / "one.backup")
    return folder / "one.backup"


@pytest.fixture
def made(kept, tmp_path):
    """A backup of a benchmark with a scored submission, which the test may spoil."""
    return Path(shutil.copy(kept, tmp_path / "one.backup"))


@pytest.fixture
def new(config, tmp_path):
    """Another place, with nothing in it."""
    return replace(config, data_dir=tmp_path / "new", database_url=f"sqlite:///{tmp_path}/new/treescore.db")


def test_a_backup_replaces_no_file_and_leaves_none_behind(context, config, tmp_path):
    file = tmp_path / "one.backup"
    file.write_text("precious")
    with pytest.raises(ArchiveError, match="exists"):
        back_up(config, context.store, file)
    assert file.read_text() == "precious"
    with pytest.raises(OSError, match="No such file"):
        back_up(config, context.store, tmp_path / "missing" / "one.backup")
    assert not list(tmp_path.glob(".*partial*"))


DAMAGES = [
    "UPDATE texts SET body = zeroblob(length(body)) WHERE digest = (SELECT min(digest) FROM texts)",
    "DELETE FROM results WHERE submission_id = (SELECT min(submission_id) FROM results)",
    "UPDATE results SET macro = zeroblob(length(macro))",
    "DROP TABLE deliveries",
    "UPDATE treescore_backup SET body = CAST(replace(CAST(body AS TEXT), 'sqlite', 'sqlitf') AS BLOB)",
    "DROP TABLE treescore_backup",
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_backup_is_refused_before_anything_is_written(made, new, damage):
    with sqlite3.connect(made) as db:
        db.execute(damage)
    db.close()
    with pytest.raises(ArchiveError, match=r"damaged|not a backup"):
        restore(new, made)
    assert not new.data_dir.exists()


def test_a_flipped_byte_of_a_backup_is_noticed(made, config, tmp_path):
    body = bytearray(made.read_bytes())
    at = body.index(b"biaffine-7")
    body[at] ^= 1
    made.write_bytes(body)
    with pytest.raises(ArchiveError, match="digests of submissions differ"):
        archive.verified(made)


def test_another_file_is_refused_as_a_backup(tmp_path):
    for body in (b"", b"text", b"SQLite format 3\0" + bytes(5000)):
        (tmp_path / "file").write_bytes(body)
        with pytest.raises(ArchiveError):
            archive.verified(tmp_path / "file")


def test_a_backup_goes_into_an_empty_place_only(made, config, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    target = replace(config, data_dir=data, database_url=f"sqlite:///{data}/treescore.db")
    (data / "admin-token").write_text("another")
    with pytest.raises(ArchiveError, match="is not empty: admin-token"):
        restore(target, made)
    (data / "admin-token").unlink()
    # copies of gold in files are not state: of another store, they are never read and are deleted
    target.gold_folder.mkdir()
    restore(target, made)
    with pytest.raises(ArchiveError, match="is not empty"):
        restore(target, made)


@pytest.mark.postgres
def test_a_server_with_rows_is_no_empty_place(made, config, empty_postgres_url, tmp_path):
    server = replace(config, database_url=empty_postgres_url, data_dir=tmp_path / "new")
    restore(server, made)
    with pytest.raises(ArchiveError, match="is not empty"):
        restore(server, made)


def test_a_backup_of_a_newer_schema_is_refused_by_both_versions(made, new):
    with archive.opened(made, "rw") as copy:
        manifest = archive.verified(made)
        copy.execute("UPDATE alembic_version SET version_num = '0999'")
        copy.execute("DROP TABLE treescore_backup")
        copy.commit()
        tables = archive.contents(copy)
    archive.add_manifest(made, replace(manifest, schema="0999", tables=tables))
    with pytest.raises(ArchiveError, match="schema 0999, which is newer than this program's 0"):
        restore(new, made)


def test_a_store_of_an_older_schema_is_backed_up_before_its_migration(tmp_path, config, new):
    url = f"sqlite:///{tmp_path}/old/treescore.db"
    old = replace(config, data_dir=tmp_path / "old", database_url=url)
    store = archive.Store(url)
    migrate(store)
    with later_program(tmp_path):
        assert back_up_first(old, store, NOON) is None  # it holds nothing
        with store.write() as db:
            db.execute(text("INSERT INTO secrets VALUES ('gold', x'00')"))
        made = back_up_first(old, store, NOON)
        assert made.file.parent == tmp_path / "old"
        assert archive.verified(made.file).schema == "0001"
        migrate(store)
        assert back_up_first(old, store, NOON) is None  # it is current
        store.close()
        assert restore(new, made.file).migrated_to == LATER


def test_a_backup_that_is_used_as_a_store_can_be_backed_up(made, config, tmp_path):
    url = f"sqlite:///{tmp_path}/rolled-back/treescore.db"
    rolled_back = replace(config, data_dir=tmp_path / "rolled-back", database_url=url)
    rolled_back.data_dir.mkdir()
    shutil.copyfile(made, rolled_back.data_dir / "treescore.db")
    store = archive.Store(url)
    again = back_up(rolled_back, store, tmp_path / "again.backup")
    store.close()
    assert archive.verified(again.file).tables == archive.verified(made).tables
