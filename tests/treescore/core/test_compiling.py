"""A compilation is announced, once, on standard error, and only where something is compiled."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from treescore.core import compiling

ROOT = Path(__file__).parents[3]
PROGRAM = """
import numpy as np
from treescore.core.jit import say_compiled
from treescore.metrics.shared import align
say_compiled()
print(align._ones(np.uint64(7)), align._gain(*np.full((2, 1), 5, np.uint64), 0))
say_compiled()
say_compiled()
"""


def said(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "3 0\n"
    return done.stderr


def test_the_first_process_says_once_that_it_compiles_and_how_long_it_took(tmp_path: Path) -> None:
    before, after = said(tmp_path).splitlines()
    assert before == f"{compiling.NOTICE} {compiling.KEPT}"
    assert re.fullmatch(r"Compiled in \d+ s\.", after)
    assert said(tmp_path) == ""


@pytest.fixture
def notice(monkeypatch: pytest.MonkeyPatch) -> compiling._Notice:
    """What a new process would say."""
    made = compiling._Notice()
    monkeypatch.setattr(compiling, "_NOTICE", made)
    return made


def test_without_a_folder_functions_are_compiled_and_the_message_says_what_to_set(
    notice: compiling._Notice, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_locator(**options: object):
        if options.get("cache"):
            raise RuntimeError("cannot cache function 'double': no locator available for file 'x.py'")
        return lambda function: function

    monkeypatch.setattr(compiling, "njit", no_locator)
    assert compiling.compilable(lambda number: 2 * number, {"nogil": True})(3) == 6
    called: list[int] = []
    with caplog.at_level(logging.WARNING, "treescore.compiling"), compiling.before_compiling(lambda: called.append(1)):
        notice.on_start(None)
        notice.on_start(None)
    assert [record.getMessage() for record in caplog.records] == [f"{compiling.NOTICE} {compiling.NOT_KEPT}"]
    assert "NUMBA_CACHE_DIR" in compiling.NOT_KEPT
    assert called == [1]
    assert not notice.before


def test_another_error_of_the_compiler_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_options: object):
        raise RuntimeError("no compiler")

    monkeypatch.setattr(compiling, "njit", broken)
    with pytest.raises(RuntimeError, match="no compiler"):
        compiling.compilable(len, {})
