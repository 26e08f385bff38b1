"""Standard output that takes nothing: one line and a status, for every command; nothing where its reader went away."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from service.__main__ import main as service
from treescore.cli.exits import UNWRITTEN, WritingGroup
from treescore.cli.main import main

ROOT = Path(__file__).parents[3]
FULL = Path("/dev/full")
TREE = "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
COMMANDS = [
    ("treescore.cli.main", "score", "--format", "conllu", "--metric", "ud", "gold.conllu", "gold.conllu"),
    ("treescore.cli.main", "--version"),
    ("service", "--help"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gold.conllu").write_text(TREE)
    return tmp_path


@pytest.fixture
def pipe_without_reader() -> Iterator[int]:
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


def ended(folder: Path, module: str, *arguments: str, to: int | None = None) -> tuple[int, str]:
    """Return status and standard error of a command whose standard output is the descriptor `to`, or closed."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        stdout=to,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=(lambda: os.close(1)) if to is None else None,
    )
    return done.returncode, done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_full_disk_is_one_line(folder: Path, command: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        status, errors = ended(folder, *command, to=full.fileno())
    assert (status, errors) == (UNWRITTEN, "Error: Standard output cannot be written: No space left on device.\n")


@pytest.mark.parametrize("command", COMMANDS[:1], ids=" ".join)
def test_a_closed_output_is_one_line(folder: Path, command: tuple[str, ...]) -> None:
    assert ended(folder, *command) == (UNWRITTEN, "Error: Standard output cannot be written: it is closed.\n")


@pytest.mark.parametrize("command", COMMANDS[:2], ids=" ".join)
def test_a_reader_that_went_away_is_no_word(folder: Path, pipe_without_reader: int, command: tuple[str, ...]) -> None:
    status, errors = ended(folder, *command, to=pipe_without_reader)
    assert status != 0
    assert errors == ""


def test_every_command_is_in_such_a_group() -> None:
    assert isinstance(main, WritingGroup)
    assert isinstance(service, WritingGroup)


def test_an_error_of_a_named_file_is_not_one_of_the_output() -> None:
    @click.group(cls=WritingGroup)
    def group() -> None:
        """Have one command."""

    @group.command()
    def absent() -> None:
        """Open a file that is not there."""
        Path("/no/such/file").open().close()

    with pytest.raises(FileNotFoundError):
        group(["absent"])
