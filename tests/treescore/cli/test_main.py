"""The command as a whole: its help, unknown commands, Ctrl-C, and the statuses with which it ends."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from treescore.cli import exits
from treescore.cli.main import COMMANDS, KNOW, RUN, SCORE, SEND, main

ROOT = Path(__file__).parents[3]
OWN = [name for name, entry in COMMANDS.items() if entry.module]


def command_of(name: str) -> click.Command:
    command: click.Command = getattr(importlib.import_module(f"treescore.cli.{COMMANDS[name].module}"), name)
    return command


def help_of(*words: str, width: int = 80) -> str:
    done = CliRunner().invoke(main, [*words, "--help"], prog_name="treescore", env={"COLUMNS": str(width)})
    assert done.exit_code == 0, done.output
    return done.output


def test_the_help_has_the_commands_in_sections() -> None:
    text = help_of()
    places = [text.index(f"{section}:\n") for section in (SCORE, KNOW, SEND, RUN)]
    assert places == sorted(places)
    for name, entry in COMMANDS.items():
        found = re.search(rf"^  {name} ", text[text.index(f"{entry.section}:\n") :], re.MULTILINE)
        assert found, name


@pytest.mark.parametrize("name", ["", *OWN])
def test_help_fits_a_terminal_of_80_columns(name: str) -> None:
    for line in help_of(*name.split()).splitlines():
        assert len(line) <= 80, line


@pytest.mark.parametrize("name", OWN)
def test_each_help_has_the_exit_statuses_that_every_command_has(name: str) -> None:
    text = help_of(name)
    for status in (exits.OK, exits.WRONG_INPUT):
        assert re.search(rf"^ +{status}  ", text[text.index("Exit status:") :], re.MULTILINE), status


@pytest.mark.parametrize("name", OWN)
def test_the_examples_of_a_help_are_commands(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is parsed with its files not there: what is wrong is the file, never an option."""
    monkeypatch.setenv("TREESCORE_URL", "http://127.0.0.1:9")
    epilog = command_of(name).epilog
    assert epilog is not None
    examples = re.findall(r"^  (treescore .*)$", epilog, re.MULTILINE)
    assert examples
    for example in examples:
        words = shlex.split(example.partition(" > ")[0])[1:]
        assert words[0] == name
        context = command_of(name).make_context(name, words[1:])
        context.close()


@pytest.mark.parametrize("status", sorted(exits.MEANINGS))
def test_every_status_has_a_meaning_that_some_help_can_say(status: int) -> None:
    assert f"{status}  " in exits.epilog(**{f"status_{status}": exits.MEANINGS[status]})


@pytest.mark.parametrize(
    ("typed", "meant"), [("scroe", "score"), ("comapre", "compare"), ("metric", "metrics"), ("sumbit", "submit")]
)
def test_an_unknown_command_is_a_usage_error_that_names_a_similar_one(typed: str, meant: str) -> None:
    done = CliRunner().invoke(main, [typed])
    assert done.exit_code == exits.WRONG_INPUT
    assert f"Unknown command {typed!r}. Did you mean {meant!r}?" in done.stderr


@pytest.mark.parametrize("name", ["-dash.conllu", "--dash.conllu", "-1.conllu", "-help.conllu"])
@pytest.mark.parametrize("command", ["score", "submit"])
def test_a_file_that_is_read_as_an_option_is_told_from_one(command: str, name: str) -> None:
    done = CliRunner().invoke(main, [command, "gold.conllu", name])
    assert done.exit_code == exits.WRONG_INPUT
    assert f"For a file of this name write ./{name}, or -- before it." in done.stderr


def test_a_file_that_is_read_as_the_name_of_an_output_is_told_from_one() -> None:
    done = CliRunner().invoke(main, ["score", "gold.mrg", "mine.mrg", "-out.mrg"])
    assert done.exit_code == exits.WRONG_INPUT
    assert "For a file of this name write ./-out.mrg, or -- before it." in " ".join(done.stderr.split())


@pytest.mark.parametrize("name", ["-out.json", "-out", "--json.mrg"])
def test_a_file_that_is_there_is_not_taken_for_an_option(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for each in ("gold.mrg", name):
        Path(each).write_text("(S (NP (N a)) (VP (V b)))\n", encoding="utf-8")
    for command in ("score", "compare", "errors", "diff", "slices"):
        done = CliRunner().invoke(main, [command, "gold.mrg", "gold.mrg", name])
        assert done.exit_code == exits.WRONG_INPUT
        assert f"For a file of this name write ./{name}, or -- before it." in done.stderr
    assert CliRunner().invoke(main, ["score", "--format", "bracketed", "--", "gold.mrg", name]).exit_code == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["gold.mrg", name])


def test_an_unknown_option_is_a_usage_error_that_names_a_similar_one() -> None:
    done = CliRunner().invoke(main, ["score", "--metrc", "ud", "a", "b"])
    assert done.exit_code == exits.WRONG_INPUT
    assert "Did you mean '--metric'?" in done.stderr


def test_a_module_is_the_command_too() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "treescore", "nothing"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == exits.WRONG_INPUT
    assert done.stderr.startswith("Usage: treescore [OPTIONS]")


@pytest.fixture
def heard_interrupt() -> Iterator[None]:
    """A process that is started hears Ctrl-C; a suite in the background of a shell inherits that it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_interrupt")
def test_ctrl_c_ends_a_command_without_a_traceback(tmp_path: Path) -> None:
    pipe = tmp_path / "gold.conllu"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-m", "treescore", "score", str(pipe), str(pipe)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        try:
            with pipe.open("wb"):  # opened once the command reads gold; closed, a read that begins just now ends too
                process.send_signal(signal.SIGINT)
            printed, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, printed, said) == (exits.INTERRUPTED, "", "Interrupted.\n")


def test_a_wrong_variable_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREESCORE_MAX_WORDS", "many")
    gold = str(ROOT / "examples" / "dependencies" / "gold.conllu")
    done = CliRunner().invoke(main, ["score", gold, gold])
    assert done.exit_code == exits.WRONG_INPUT
    assert "TREESCORE_MAX_WORDS is 'many'. Set it to a whole number, as 1000." in done.stderr


def test_what_needs_the_service_stands_apart_and_names_what_brings_it() -> None:
    lines = CliRunner().invoke(main, ["--help"], env={"COLUMNS": "80"}).stdout.splitlines()
    at = lines.index("Run the service (in a checkout: pip install -e . --group service):")
    assert all(any(line.split()[:1] == [name] for line in lines[at:]) for name in ("serve", "demo", "check"))
    assert max(map(len, lines)) <= 80
