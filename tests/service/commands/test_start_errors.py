"""A service that cannot start says why in one line, and ends with status 1."""

from __future__ import annotations

import errno
import os
import socket

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from service.__main__ import main
from service.commands.processes import Refused, one_line
from service.commands.serve import locked
from service.store.archive import migrate
from service.store.database import Store
from tests.fixtures.schemas import make_unreleased
from tests.fixtures.service_process import free_port


def start(folder, bind=None, children=lambda: ""):
    """The one line that `serve`, or a child of it, says on standard error before it ends."""
    bind = bind or f"127.0.0.1:{free_port()}"
    done = CliRunner().invoke(main, ["serve", "--bind", bind, "--data-dir", str(folder)])
    assert isinstance(done.exception, SystemExit), done.exception
    said = done.stderr + children()
    assert (done.exit_code, done.stdout, said.count("\n")) == (1, "", 1), said
    return said


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


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        pytest.param(newer, "version 0999, which is newer than this program's 0", marks=pytest.mark.slow),
        pytest.param(unreleased, "treescore.db was made by a development checkout before", marks=pytest.mark.slow),
        (damaged, "is damaged"),
    ],
)
def test_a_store_that_cannot_be_used_ends_the_start_in_one_line(tmp_path, process_settings, capfd, spoil, said):
    spoil(tmp_path)
    assert said in start(tmp_path, children=lambda: capfd.readouterr().err)


def test_a_port_in_use_is_named(tmp_path, process_settings):
    with socket.create_server(("127.0.0.1", 0)) as other:
        bind = f"127.0.0.1:{other.getsockname()[1]}"
        assert f"Cannot listen at {bind}" in start(tmp_path, bind)


def test_a_second_service_on_one_directory_is_refused(tmp_path, process_settings):
    with locked(tmp_path):
        (tmp_path / "lock").chmod(0o600)
        assert "is in use by another Treescore" in start(tmp_path)


NOT_USABLE, NOT_USED = "The data directory {0} is not usable: {1}", "{0}/token cannot be used: {1}"
WRITTEN = [*((number, "pathlib.Path.open", NOT_USABLE) for number in (13, 28, 30))]
WRITTEN.append((28, "service.commands.serve.kept_token", NOT_USED))


@pytest.mark.parametrize(("number", "what", "said"), WRITTEN)
def test_what_cannot_be_written_is_named(tmp_path, process_settings, monkeypatch, number, what, said):
    def refused(*_, **__):
        raise OSError(number, os.strerror(number), str(tmp_path / "token"))

    monkeypatch.setattr(what, refused)
    assert said.format(tmp_path, os.strerror(number)) in start(tmp_path)


def test_a_file_that_cannot_be_used_is_named():
    with pytest.raises(Refused, match=r"here cannot be used: No space left on device\."), one_line():
        raise OSError(errno.ENOSPC, "No space left on device", "here")


def test_a_reader_that_has_read_enough_is_not_a_fault_of_a_file():
    with pytest.raises(BrokenPipeError), one_line():
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")
