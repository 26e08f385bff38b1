"""A service that cannot start says why in one line, and ends with status 1."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from service.__main__ import main
from service.commands.exits import Refused, one_line
from service.commands.serve import locked
from service.store.archive import migrate
from service.store.database import Store
from tests.fixtures.schemas import make_unreleased
from tests.fixtures.service_process import PATIENCE, ROOT, free_port


def serve(folder, *more: str):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TREESCORE_")}
    command = [sys.executable, "-m", "treescore.cli.main", "serve", "--data-dir", str(folder), "--bind",
               f"127.0.0.1:{free_port()}", *more]  # fmt: skip
    done = subprocess.run(command, env=clean, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


def newer(folder):
    store = Store(f"sqlite:///{folder}/treescore.db")
    migrate(store)
    with store.write() as db:
        db.execute(text("UPDATE alembic_version SET version_num = '0999'"))
    store.close()
    for path in folder.glob("treescore.db*"):
        path.chmod(0o600)


def unreleased(folder):
    newer(folder)
    store = Store(f"sqlite:///{folder}/treescore.db")
    make_unreleased(store, "0020")
    store.close()


def damaged(folder):
    (folder / "treescore.db").write_bytes(b"no database " * 1000)
    (folder / "treescore.db").chmod(0o600)


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        pytest.param(newer, "version 0999, which is newer than this program's 0", marks=pytest.mark.slow),
        pytest.param(
            unreleased,
            "treescore.db was made by a development checkout before 0.1.0 (schema 0020)",
            marks=pytest.mark.slow,
        ),
        (damaged, "is damaged"),
    ],
)
def test_a_store_that_cannot_be_used_ends_the_start_in_one_line(tmp_path, spoil, said):
    spoil(tmp_path)
    status, out, err = serve(tmp_path)
    assert (status, out, err.count("\n")) == (1, "", 1), err
    assert said in err


def start(*arguments: str):
    done = CliRunner().invoke(main, ["serve", *arguments])
    assert isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stderr


def test_a_port_in_use_is_named(tmp_path, process_settings):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        status, err = start("--bind", f"127.0.0.1:{port}", "--data-dir", str(tmp_path))
    assert (status, err.count("\n")) == (1, 1)
    assert f"Cannot listen at 127.0.0.1:{port}" in err


def test_a_second_service_on_one_directory_is_refused(tmp_path, process_settings):
    with locked(tmp_path):
        (tmp_path / "lock").chmod(0o600)
        status, err = start("--bind", f"127.0.0.1:{free_port()}", "--data-dir", str(tmp_path))
    assert (status, err.count("\n")) == (1, 1)
    assert "is in use by another Treescore" in err


@pytest.mark.parametrize("number", [13, 28, 30])
def test_a_directory_that_cannot_be_written_is_named(tmp_path, process_settings, monkeypatch, number):
    def refused(*_, **__):
        raise OSError(number, os.strerror(number), str(tmp_path))

    monkeypatch.setattr("pathlib.Path.open", refused)
    status, err = start("--bind", f"127.0.0.1:{free_port()}", "--data-dir", str(tmp_path))
    assert (status, err.count("\n")) == (1, 1)
    assert os.strerror(number) in err


def test_a_disk_that_is_full_when_the_token_is_written_is_named(tmp_path, process_settings, monkeypatch):
    def full(*_, **__):
        raise OSError(28, os.strerror(28), str(tmp_path / "admin-token"))

    monkeypatch.setattr("service.commands.serve.kept_token", full)
    status, err = start("--bind", f"127.0.0.1:{free_port()}", "--data-dir", str(tmp_path))
    assert (status, err.count("\n")) == (1, 1)
    assert "admin-token cannot be used: No space left on device" in err


def test_a_file_that_cannot_be_used_is_named():
    with pytest.raises(Refused, match=r"here cannot be used: No space left on device\."), one_line():
        raise OSError(errno.ENOSPC, "No space left on device", "here")


def test_a_reader_that_has_read_enough_is_not_a_fault_of_a_file():
    with pytest.raises(BrokenPipeError), one_line():
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")
