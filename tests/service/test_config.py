"""Wrong configuration is told at once, in one line, to whoever starts the service."""

from __future__ import annotations

import socket

import pytest
from click.testing import CliRunner

from service.__main__ import main
from service.commands.serve import clear_run_directory, socket_path
from service.config import ConfigError, load_config

pytestmark = pytest.mark.usefixtures("process_settings")

WRONG = {
    "TREESCORE_WORKERS": "many",
    "TREESCORE_MAX_JOB_SECONDS": "-5",
    "TREESCORE_MAX_SYSTEMS": "9" * 5000,
    "TREESCORE_ANONYMOUS_JOBS": "perhaps",
    "TREESCORE_BIND": "nowhere",
    "TREESCORE_DATABASE_URL": "a database",
    "TREESCORE_REDIS_URL": "localhost",
    "TREESCORE_LOG_FORMAT": "colours",
    "TREESCORE_LOG_LEVEL": "loud",
}


@pytest.mark.parametrize(("variable", "value"), WRONG.items())
def test_a_wrong_variable_is_named(variable, value):
    with pytest.raises(ConfigError, match=variable):
        load_config({variable: value})


@pytest.mark.parametrize("name", ["THREADS", "API_PROCESSES", "HEADER_SECONDS", "BODY_SECONDS", "MAX_UNFINISHED"])
def test_a_service_that_would_answer_nothing_is_refused(name):
    with pytest.raises(ConfigError, match=f"TREESCORE_{name} is 0, .* set 1 or more"):
        load_config({f"TREESCORE_{name}": "0"})


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite+pysqlite:///:memory:"])
def test_a_store_in_memory_is_refused(url):
    with pytest.raises(ConfigError, match="TREESCORE_DATABASE_URL names no file"):
        load_config({"TREESCORE_DATABASE_URL": url})


@pytest.mark.parametrize("bind", ["127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:", ":8000", "127.0.0.1:x"])
def test_an_address_needs_host_and_port(bind):
    with pytest.raises(ConfigError, match="HOST:PORT"):
        load_config({"TREESCORE_BIND": bind})


def refused(*arguments, **environment):
    printed = CliRunner().invoke(main, ["serve", *map(str, arguments)], env=environment)
    assert printed.exit_code == 1
    assert printed.output.startswith("Error: ")
    assert len(printed.output.splitlines()) == 1
    return printed.output


def test_serve_says_in_one_line_what_is_wrong(tmp_path):
    for variable, value in WRONG.items():
        assert variable in refused("--data-dir", tmp_path, **{variable: value})


def test_serve_refuses_an_address_in_use_before_it_starts_anything(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        assert address in refused("--data-dir", tmp_path / "data", "--bind", address)
    assert not (tmp_path / "data").exists()


def test_serve_says_that_a_data_directory_is_none(tmp_path):
    (tmp_path / "file").touch()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert "--data-dir" in refused("--data-dir", tmp_path / "file", "--bind", f"127.0.0.1:{port}")


def test_the_run_directory_of_a_long_path_is_removed_and_a_data_directory_is_not(tmp_path):
    long_path = tmp_path / ("x" * 100)
    made = socket_path(long_path)
    assert made.parent.is_dir()
    clear_run_directory(made, long_path)
    assert not made.parent.exists()
    clear_run_directory(tmp_path / "redis.sock", tmp_path)
    assert tmp_path.is_dir()
