"""A process that is forked before there is work for it, so that no work waits for the fork.

A fork is cheap, but the forked process then copies each page of memory that it touches, and a job touches thousands. A
process that stands by has touched them.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from service.posix import die_with_parent, name_process

STANDING_BY, AT_WORK = "standby", "work-horse"
"""The names of the process."""
_LONGEST = 4096
"""Bytes of a pipe that are written and read at once."""


class Standby:
    """A forked process that gets ready, waits, and does one piece of work.

    Attributes:
        pid: of the process.
    """

    def __init__(self, get_ready: Callable[[], None], work: Callable[[str], object]) -> None:
        """Fork.

        Args:
            get_ready: what the process does first.
            work: what it does with the name that `begin` gives it; then it ends, with status 1 where this has failed.
        """
        parent = os.getpid()
        receiving, self._sending = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(receiving)
            return
        try:
            os.close(self._sending)
            os.setpgrp()  # a signal to the group of the parent is not for this process
            die_with_parent(parent=parent)
            name_process(STANDING_BY)
            get_ready()
            name = os.read(receiving, _LONGEST).decode()
            if name:  # else the parent has ended
                name_process(AT_WORK)
                work(name)
            os._exit(os.EX_OK)
        finally:
            os._exit(1)

    def begin(self, name: str) -> bool:
        """Let the process work; call it once. False if the process has died."""
        try:
            os.write(self._sending, name.encode())
        except BrokenPipeError:
            os.waitpid(self.pid, 0)
            return False
        finally:
            os.close(self._sending)
        return True
