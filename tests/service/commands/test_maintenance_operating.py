"""The commands by their exit statuses and what they print; the service is down, or another holds the lock."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from service.__main__ import main
from service.commands.serve import locked
from service.errors import Unauthorized
from service.store import database
from service.store.database import _prepare_sqlite
from service.usecases import retention
from service.usecases.access import authenticate
from tests.fixtures.schemas import LATER, UNRELEASED, later_program, make_unreleased
from tests.fixtures.tasks import SLUG, Task


@pytest.fixture
def run(config, monkeypatch, process_settings):
    """Runs a command on the test's store: exit status, standard output, standard error."""
    for name in ("DATA_DIR", "REDIS_URL", "DATABASE_URL"):
        monkeypatch.setenv(f"TREESCORE_{name}", str(getattr(config, name.lower())))

    def command(*arguments):
        done = CliRunner().invoke(main, [str(each) for each in arguments])
        assert "Traceback" not in done.output
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stdout, done.stderr

    return command


@pytest.fixture
def private(tmp_path):
    """A data directory as the service makes it."""
    tmp_path.chmod(0o700)
    return tmp_path


def close_files(folder: Path) -> None:
    for path in folder.glob("treescore.db*"):
        path.chmod(0o600)


EVERY = (["backup", "x"], ["check"], ["migrate", "--check"], ["purge", "--benchmark", "x"],
         ["token", "list"])  # fmt: skip


@pytest.mark.parametrize("command", EVERY, ids=lambda command: command[0])
def test_without_a_store_a_command_cannot_tell_and_creates_none(run, monkeypatch, tmp_path, command):
    monkeypatch.setenv("TREESCORE_DATA_DIR", str(tmp_path / "missing"))
    monkeypatch.setenv("TREESCORE_DATABASE_URL", f"sqlite:///{tmp_path}/missing/treescore.db")
    status, out, err = run(*command)
    assert (status, out) == (2, "")
    assert err.startswith("Error: ")
    assert len([line for line in err.splitlines() if not line.startswith("{")]) == 1  # the others are of the log
    assert not (tmp_path / "missing").exists()


NEWER = [*EVERY, ["migrate"], ["api"], ["worker"], ["views"], ["sweeper"], ["token", "revoke", "x"],
         ["purge", "--before", "2026-01-01"]]  # fmt: skip


@pytest.mark.parametrize("command", NEWER, ids=" ".join)
def test_a_newer_store_is_refused_with_both_versions(run, context, command):
    with context.store.write() as db:
        db.execute(text("UPDATE alembic_version SET version_num = '0999'"))
    status, out, err = run(*command)
    assert status == 1
    assert "version 0999, which is newer than this program's 0" in out + err


@pytest.mark.parametrize("command", [*NEWER, ["restore"]], ids=" ".join)
def test_a_file_that_is_no_database_is_refused_in_one_line(run, config, private, command):
    Path(config.database_url.removeprefix("sqlite:///")).write_bytes(b"no database " * 1000)
    close_files(private)
    if command == ["restore"]:
        command = ["restore", private / "treescore.db", "--data-dir", private / "new"]
    if command[0] in ("api", "worker", "views", "sweeper"):
        return  # they wait for a store that may come back, as the next test shows
    status, out, err = run(*command)
    assert status == 1
    assert "not a database" in out + err
    assert err.count("\n") == 1


def test_migrate_says_whether_it_is_needed(run, context, tmp_path):
    status, out, _ = run("migrate", "--check")
    assert (status, out.startswith("The store's schema is current: version 0")) == (0, True)
    with later_program(tmp_path):
        status, out, _ = run("migrate", "--check", "--json")
    assert (status, json.loads(out)["schema"], json.loads(out)["stored"]) == (1, "needed", "0001")


def test_migrate_backs_up_first_and_says_where(run, context, tmp_path):
    with context.store.write() as db:
        db.execute(text("INSERT INTO secrets VALUES ('gold', x'00')"))
    with later_program(tmp_path):
        status, out, err = run("migrate")
        assert (status, out) == (0, "")
        (made,) = tmp_path.glob("before-schema-*.backup")
        assert str(made) in err
        assert f"from schema 0001 to {LATER}" in err
        assert run("migrate")[2] == ""


@pytest.mark.parametrize(
    ("command", "version"), [*((each, "0020") for each in NEWER), *((["check"], each) for each in UNRELEASED)]
)
def test_a_store_of_a_checkout_before_the_first_release_is_refused_in_one_line(run, context, private, command, version):
    make_unreleased(context.store, version)
    close_files(private)  # of open ones the log warns
    status, out, err = run(*command)
    assert status == 1
    said = [line for line in (out + err).splitlines() if "development checkout before 0.1.0" in line]
    assert len(said) == 1
    assert f"{private}/treescore.db was made by" in said[0]
    assert "TREESCORE_DATA_DIR" in said[0]
    if command[0] not in ("check", "migrate", "api"):
        assert (out, err.splitlines()) == ("", said)
    assert not list(private.glob("*.backup"))


def test_a_backup_of_a_checkout_before_the_first_release_is_refused_in_one_line(run, context, tmp_path):
    make_unreleased(context.store, "0020")
    old = {"schema_versions": lambda: ("0020",)}
    with patch.multiple(database, OF_CHECKOUTS=("0001",), **old), patch.multiple(retention, **old):
        assert run("backup", tmp_path / "old.backup")[0] == 0
    status, out, err = run("restore", tmp_path / "old.backup", "--data-dir", tmp_path / "new")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "old.backup was made by a development checkout before 0.1.0 (schema 0020) and cannot be restored" in err
    assert not (tmp_path / "new" / "treescore.db").exists()


def test_backup_and_restore_say_what_they_did(run, context, tmp_path):
    task = Task(context, lambda: 0)
    task.make()
    task.team()
    file = tmp_path / "one.backup"
    status, out, _ = run("backup", file, "--json")
    document = json.loads(out)
    assert (status, document["rows"]["benchmarks"], document["digest"][:7]) == (0, 1, "sha256:")
    status, _, err = run("backup", file)
    assert (status, "replaces no file" in err) == (1, True)
    new = tmp_path / "new"
    url = f"sqlite:///{new}/treescore.db"
    status, out, _ = run_with(run, url, "restore", file, "--data-dir", new)
    assert status == 0
    assert "1 unfinished runs are done after the start" in out
    assert "1 valid token. " in out
    assert f"team {SLUG}/lyon" in out
    assert "Revoke those again: treescore token revoke ID" in out
    status, _, err = run_with(run, url, "restore", file, "--data-dir", new)
    assert (status, "is not empty" in err) == (1, True)


def run_with(run, url, *arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREESCORE_DATABASE_URL", url)
        return run(*arguments)


def test_restore_is_refused_while_a_service_holds_the_directory(run, context, tmp_path):
    assert run("backup", tmp_path / "one.backup")[0] == 0
    with locked(tmp_path / "new"):
        status, _, err = run("restore", tmp_path / "one.backup", "--data-dir", tmp_path / "new")
    assert (status, "is in use by another Treescore" in err) == (1, True)


def test_check_has_the_exit_statuses_of_its_page(run, context, private):
    close_files(private)
    status, out, _ = run("check", "--json", "--all")
    assert (status, json.loads(out)["state"]) == (0, "warn")  # no worker runs in this test
    with context.store.write() as db:
        db.execute(text("INSERT INTO artifacts VALUES ('job_lost', 'counts/0/0', x'00')"))
    status, out, _ = run("check")
    assert status == 1
    assert "artifacts-without-owner" in out
    assert "artifact-unreadable" in out


def test_a_store_that_does_not_answer_is_not_called_wrong(run, context, monkeypatch):
    monkeypatch.setenv(
        "TREESCORE_DATABASE_URL", "postgresql+psycopg://treescore:secret@127.0.0.1:1/x?connect_timeout=2"
    )
    status, out, err = run("check")
    assert status == 2
    assert "does not answer" in out + err
    assert "secret" not in out + err


def test_tokens_are_made_listed_replaced_and_revoked_while_the_service_is_down(run, context):
    status, out, _ = run("token", "create", "--scopes", "score,read", "--name", "CI", "--json")
    made = json.loads(out)
    assert status == 0
    assert authenticate(context, made["token"]).scopes == {"score", "read"}
    status, out, _ = run("token", "list", "--json")
    (shown,) = json.loads(out)["tokens"]
    assert (shown["name"], shown["state"], made["token"] in out) == ("CI", "valid", False)
    replaced = json.loads(run("token", "rotate", made["id"], "--json")[1])
    with pytest.raises(Unauthorized):
        authenticate(context, made["token"])
    assert authenticate(context, replaced["token"]).scopes == {"score", "read"}
    assert run("token", "revoke", replaced["id"])[0] == 0
    with pytest.raises(Unauthorized):
        authenticate(context, replaced["token"])
    status, _, err = run("token", "revoke", replaced["id"])
    assert (status, "Unknown or revoked" in err) == (1, True)
    with context.store.read() as db:
        kinds = db.execute(text("SELECT kind, actor FROM events ORDER BY seq")).all()
    assert kinds == [("token.created", "operator"), ("token.revoked", "operator")] * 2


def test_a_teams_token_belongs_to_the_team(run, context):
    task = Task(context, lambda: 0)
    task.make()
    task.team("lyon")
    status, out, _ = run("token", "create", "--benchmark", SLUG, "--team", "lyon", "--expires", "2999-01-01", "--json")
    caller = authenticate(context, json.loads(out)["token"])
    assert (status, caller.team, caller.benchmark, caller.scopes) == (0, "lyon", SLUG, {"read", "submit"})
    assert run("token", "create", "--benchmark", SLUG, "--team", "oslo")[0] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["token", "create"],
        ["token", "create", "--scopes", "root"],
        ["token", "create", "--scopes", "read", "--team", "lyon"],
        ["token", "create", "--scopes", "read", "--expires", "soon"],
        ["purge"],
        ["purge", "--benchmark", "x", "--before", "2026-01-01"],
        ["purge", "--team", "lyon"],
        ["backup"],
        ["restore", "missing"],
        ["check", "--every"],
    ],
    ids=" ".join,
)
def test_a_malformed_call_is_2(run, context, arguments):
    assert run(*arguments)[0] == 2


def test_purge_lists_without_yes(run, context):
    Task(context, lambda: 0).make()
    status, out, _ = run("purge", "--benchmark", SLUG)
    assert (status, "Would delete" in out, "Nothing was deleted" in out) == (0, True, True)
    status, out, _ = run("purge", "--benchmark", SLUG, "--yes", "--json")
    assert (status, json.loads(out)["overwritten"]) == (0, True)
    assert run("purge", "--benchmark", SLUG)[0] == 1


def test_a_full_disk_ends_a_command_in_one_line(run, context, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", str(tmp_path / "one.backup"))

    monkeypatch.setattr("os.fsync", full)
    status, _, err = run("backup", tmp_path / "one.backup")
    assert (status, err.count("\n")) == (1, 1)
    assert "No space left on device" in err
    assert not list(tmp_path.glob("*one.backup*"))


@pytest.fixture
def little_space(context):
    """Lets no file grow beyond 100 kB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("little_space")
def test_a_backup_that_outgrows_its_disk_ends_in_one_line_and_leaves_nothing(run, tmp_path):
    status, _, err = run("backup", tmp_path / "one.backup")
    assert (status, err.count("\n")) == (1, 1)
    assert err.startswith("Error: The backup cannot be written: ")
    assert not list(tmp_path.glob("*one.backup*"))


@pytest.mark.parametrize(
    ("pragma", "said"), [("query_only=ON", "it is read-only"), ("max_page_count=1", "its disk is full")]
)
def test_a_store_that_cannot_be_written_ends_a_command_in_one_line(run, context, monkeypatch, pragma, said):
    def limited(connection, record):
        _prepare_sqlite(connection, record)
        connection.execute(f"PRAGMA {pragma}")

    monkeypatch.setattr("service.store.database._prepare_sqlite", limited)
    status, _, err = 1, "", ""
    for _ in range(40):  # a page may have room for some
        status, _, err = run("token", "create", "--scopes", "read", "--name", "x" * 200)
        if status:
            break
    assert (status, err.count("\n")) == (1, 1)
    assert said in err
