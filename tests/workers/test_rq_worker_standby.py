"""A process that stands by gets ready before it begins to work, and ends after it, or with its parent."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from typing import IO

import psutil
import pytest

from workers.worker import AT_WORK, STANDING_BY, Standby


class Heard:
    """What a forked process has said, line by line."""

    def __init__(self) -> None:
        receiving, self._sending = os.pipe()
        self._lines: IO[str] = os.fdopen(receiving)

    def say(self, line: str) -> None:
        """Called in the forked process."""
        os.write(self._sending, f"{line} {psutil.Process().name()}\n".encode())

    def next(self) -> str:
        """Called in the parent: the next line, and the name that the process had."""
        return self._lines.readline().strip()

    def close(self) -> None:
        """Close both ends."""
        self._lines.close()
        os.close(self._sending)


@pytest.fixture
def heard() -> Iterator[Heard]:
    heard = Heard()
    yield heard
    heard.close()


def standby(heard: Heard, work: Callable[[str], object]) -> Standby:
    made = Standby(lambda: heard.say("ready"), work)
    assert heard.next() == f"ready {STANDING_BY}"
    return made


def status(made: Standby) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(made.pid, 0)[1])


def test_it_works_once_and_ends(heard):
    made = standby(heard, heard.say)
    assert made.begin("job_1")
    assert heard.next() == f"job_1 {AT_WORK}"
    assert status(made) == os.EX_OK


def test_work_that_fails_ends_it_with_a_status(heard):
    made = standby(heard, lambda _: 1 / 0)
    assert made.begin("job_1")
    assert status(made) == 1


def test_one_that_has_died_cannot_begin(heard):
    made = standby(heard, heard.say)
    os.kill(made.pid, signal.SIGKILL)
    os.waitid(os.P_PID, made.pid, os.WEXITED | os.WNOWAIT)
    assert not made.begin("job_1")
    with pytest.raises(ChildProcessError):
        os.waitpid(made.pid, 0)


def test_it_ends_without_work_when_its_parent_does(heard):
    made = standby(heard, heard.say)
    os.close(made._sending)
    assert status(made) == os.EX_OK
