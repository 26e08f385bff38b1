"""The bar on a terminal, seen through a pseudo-terminal; nothing of it in pipes."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from tests.treescore.cli.test_options import GOLD, GRAPH, ROOT, RULES
from treescore.cli.files import progress_bar

COMMAND = [sys.executable, "-m", "treescore", "score", "--metric", "attachment", "--csv", GOLD, RULES, GRAPH]


def on_a_terminal() -> tuple[str, str]:
    """Return what the command writes to standard output, a pipe, and to standard error, a terminal."""
    ours, its = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(COMMAND, cwd=ROOT, stdout=subprocess.PIPE, stderr=its, env=environment) as process:
        os.close(its)
        assert process.stdout is not None
        said = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            said += piece
            if not piece:
                break
        printed = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0
    return printed.decode(), said.decode()


def test_a_terminal_shows_what_is_done_and_what_is_left() -> None:
    printed, said = on_a_terminal()
    assert printed.startswith("system,")
    assert "scoring graph" in said
    assert "1/2" in said


def test_a_pipe_shows_nothing() -> None:
    done = subprocess.run(COMMAND, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout + done.stderr
    assert "scoring" not in done.stderr


def test_the_function_without_a_terminal_does_nothing(capsys) -> None:
    with progress_bar() as tell:
        tell(0, 2, "scoring A")
    assert capsys.readouterr() == ("", "")


def test_without_standard_error_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with progress_bar() as tell:
        tell(0, 1, "reading gold")
