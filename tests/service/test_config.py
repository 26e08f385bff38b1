"""Variables: wrong and unknown ones are told at once in one line; secrets come from files and are never quoted."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.__main__ import main
from service.commands.demo import ready_address
from service.commands.serve import clear_run_directory, socket_path
from service.config import ConfigError, environment, inherited, load_config, source_of

pytestmark = pytest.mark.usefixtures("process_settings")

WRONG: dict[str, tuple[str, ...]] = {
    "WORKERS": ("many",),
    "MAX_JOB_SECONDS": ("-5",),
    "MAX_SYSTEMS": ("9" * 5000,),
    "ANONYMOUS_JOBS": ("perhaps",),
    "BIND": ("nowhere", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:", ":8000", "127.0.0.1:x"),
    "DATABASE_URL": (
        "a database",
        *(f"sqlite{end}" for end in ("://", ":///", ":///:memory:", "+pysqlite:///:memory:")),
    ),
    "REDIS_URL": ("localhost",),
    "LOG_FORMAT": ("colours",),
    "LOG_LEVEL": ("loud",),
    "PUBLIC_URL": (
        "scores.example.org",
        *(
            "ftp://scores.example.org",
            "https://user@scores.example.org",
            "https://scores.example.org/../app",
            "https://scores.example.org//app",
            "https://scores.example.org/app?x",
            "https://[::1",
        ),
    ),
    "ALLOWED_HOSTS": ("*.example.org", "a.example, https://b.example"),
    "TRUSTED_PROXIES": ("true",),
    **dict.fromkeys(("THREADS", "API_PROCESSES", "BODY_SECONDS"), ("0",)),
}
SAID = {"BIND": "HOST:PORT", "THREADS": "TREESCORE_THREADS is 0; set 1 or more"}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_wrong_variable_is_named(name, value):
    with pytest.raises(ConfigError, match=f"TREESCORE_{name}") as refused:
        load_config({f"TREESCORE_{name}": value})
    assert re.search(SAID.get(name, ""), str(refused.value))


def refused(*arguments, **environment):
    printed = CliRunner().invoke(main, ["serve", *map(str, arguments)], env=environment)
    assert printed.exit_code == 1
    assert printed.output.startswith("Error: ")
    assert len(printed.output.splitlines()) == 1
    return printed.output


def test_serve_says_in_one_line_what_is_wrong(tmp_path):
    for name in ("WORKERS", "BIND", "LOG_LEVEL"):
        variable, value = f"TREESCORE_{name}", WRONG[name][0]
        assert variable in refused("--data-dir", tmp_path, **{variable: value})


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


STRONG = "Abcdefghij0123456789"


MISSPELT = {
    "WORKRES": "WORKERS", "ANONYMOUS": "ANONYMOUS_JOBS", "DATADIR": "DATA_DIR", "ADMIN_TOKENFILE": "ADMIN_TOKEN_FILE",
    "HOST": "ALLOWED_HOSTS", "PORT_NUMBER": "", "": "",
}  # fmt: skip


@pytest.mark.parametrize(("end", "meant"), MISSPELT.items())
def test_an_unknown_variable_is_refused_with_the_nearest_known_name(end: str, meant: str) -> None:
    misspelt = f"TREESCORE_{end}"
    with pytest.raises(ConfigError, match=f"TREESCORE_{meant}") as refused:
        load_config({misspelt: "a-secret-value"})
    assert misspelt in str(refused.value)
    assert "a-secret-value" not in str(refused.value)


@pytest.mark.parametrize(
    "name",
    ["TREESCORE_PORT", "TREESCORE_PORT_8000_TCP", "TREESCORE_PORT_8000_TCP_ADDR", "TREESCORE_PORT_8000_TCP_PROTO",
     "TREESCORE_SERVICE_HOST", "TREESCORE_SERVICE_PORT", "TREESCORE_SERVICE_PORT_HTTP", "TREESCORE_API_PORT",
     "TREESCORE_API_SERVICE_HOST", "TREESCORE_API_PORT_8000_TCP_PORT", "TREESCORE_CHROMIUM",
     "TREESCORE_TEST_DATABASE_URL", "TREESCORE_TOKEN", "TREESCORE_URL", "NOT_TREESCORE_X"],
)  # fmt: skip
def test_variables_of_containers_tests_and_the_command_are_passed_over(name: str) -> None:
    assert load_config({name: "tcp://10.0.0.1:8000"}) == load_config({})


@pytest.mark.parametrize("weak", ["short", "a" * 40, "abcabcabcabcabcabcabcabc", "0123456789012345678"])
@pytest.mark.parametrize("command", ["serve", "migrate", "api"])
def test_a_weak_token_is_refused_without_quoting_it(tmp_path: Path, weak: str, command: str) -> None:
    printed = CliRunner().invoke(
        main, [command], env={"TREESCORE_ADMIN_TOKEN": weak, "TREESCORE_DATA_DIR": str(tmp_path / "data")}
    )
    assert printed.exit_code == 1
    assert "TREESCORE_ADMIN_TOKEN" in printed.output
    assert weak not in printed.output
    assert not (tmp_path / "data").exists()


def test_a_token_that_no_header_can_hold_is_refused() -> None:
    for token in (f"{STRONG} x", f"{STRONG}\u00e9", f"{STRONG}\n"):
        with pytest.raises(ConfigError, match="header"):
            load_config({"TREESCORE_ADMIN_TOKEN": token})
    assert load_config({"TREESCORE_ADMIN_TOKEN": STRONG}).admin_token == STRONG
    assert load_config({"TREESCORE_ADMIN_TOKEN": ""}).admin_token == ""
    assert STRONG not in repr(load_config({"TREESCORE_ADMIN_TOKEN": STRONG}))


def test_secrets_come_from_files(tmp_path: Path) -> None:
    given = {"ADMIN_TOKEN": STRONG, "DATABASE_URL": "postgresql+psycopg://u:p@h/n", "REDIS_URL": "redis://h"}
    for name, text in given.items():
        (tmp_path / name).write_text(f"{text}\n")
    files = {f"TREESCORE_{name}_FILE": str(tmp_path / name) for name in given}
    config = load_config(files)
    assert [config.admin_token, config.database_url, config.redis_url] == list(given.values())
    assert source_of("admin_token", files) == "TREESCORE_ADMIN_TOKEN_FILE"
    with pytest.raises(ConfigError, match="Both"):
        load_config({**files, "TREESCORE_ADMIN_TOKEN": STRONG})


def test_a_file_of_a_secret_that_cannot_be_used_is_named_and_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "weak").write_text("weak-secret")
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\xff")
    for name in ("weak", "empty", "bytes", "none", "."):
        with pytest.raises(ConfigError, match="TREESCORE_ADMIN_TOKEN") as refused:
            load_config({"TREESCORE_ADMIN_TOKEN_FILE": str(tmp_path / name)})
        assert "weak-secret" not in str(refused.value)


def test_the_demo_reads_the_ready_line_with_a_token_and_without() -> None:
    line = "Treescore is ready at http://127.0.0.1:8000 (organise token"
    assert ready_address(f"{line}: ts_abc)") == ("http://127.0.0.1:8000", "ts_abc")
    assert ready_address(f"{line} from TREESCORE_ADMIN_TOKEN)") == ("http://127.0.0.1:8000", "")


def test_children_get_the_secret_and_not_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text(STRONG)
    monkeypatch.setenv("TREESCORE_ADMIN_TOKEN_FILE", str(tmp_path / "token"))
    config = load_config()
    assert load_config(inherited(config)) == config == load_config(environment(config))
    assert inherited(config)["PATH"] == os.environ["PATH"]


LOCAL = ("127.0.0.1:8000", "127.8.0.1:8000", "localhost:8000", "[::1]:8000", "unix:/run/treescore.sock")
NOT_LOCAL = ("0.0.0.0:8000", "[::]:8000", "localhost.example.org:8000", "127.example.org:8000")


@pytest.mark.parametrize("bind", [*LOCAL, *NOT_LOCAL])
def test_only_a_whole_name_or_address_is_a_loopback_bind(bind):
    assert load_config({"TREESCORE_BIND": bind}).on_loopback is (bind in LOCAL)
