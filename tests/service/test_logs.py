"""A log that cannot be written stops nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.service_process import ROOT

WRITES = """
import structlog
from service.logs import configure_logs

configure_logs()
for size in (1, 100_000, 1):
    structlog.get_logger("treescore").warning("line", detail="x" * size)
print("goes on", flush=True)
"""


@pytest.fixture(params=["full disk", "ended reader"])
def broken(request: pytest.FixtureRequest) -> int:
    """The descriptor of a standard error that takes nothing."""
    if request.param == "full disk":
        if not Path("/dev/full").exists():
            pytest.skip("this system has no full device")
        return os.open("/dev/full", os.O_WRONLY)
    read, write = os.pipe()
    os.close(read)
    return write


def test_lines_that_standard_error_does_not_take_are_lost(broken: int) -> None:
    command = [sys.executable, "-c", WRITES]
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=broken, text=True, check=False)
    os.close(broken)
    assert ended.stdout == "goes on\n"


def test_lines_are_written_as_they_come() -> None:
    command = [sys.executable, "-c", WRITES]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [len(line) > 100_000 for line in ended.stderr.splitlines()] == [False, True, False]
