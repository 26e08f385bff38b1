"""What becomes of the processes that a supervisor has started."""

from __future__ import annotations

import os
import sys

import psutil
import pytest

from service.commands.processes import Child, Supervisor


@pytest.fixture
def supervisor():
    made = Supervisor({})
    yield made
    made.stop()


def ended(supervisor: Supervisor, *, once: bool) -> int:
    """Start a child that does nothing, and wait until it has ended, without asking for its exit status."""
    child = Child("brief", [sys.executable, "-c", ""], once=once)
    supervisor.add(child)
    os.waitid(os.P_PID, child.process.pid, os.WEXITED | os.WNOWAIT)
    return child.process.pid


def test_a_process_that_ends_by_itself_leaves_no_zombie_and_is_not_started_again(supervisor):
    pid = ended(supervisor, once=True)
    supervisor.look()
    assert not psutil.pid_exists(pid)
    assert [child.process.pid for child in supervisor.children] == [pid]


def test_any_other_process_that_ends_is_started_again(supervisor):
    pid = ended(supervisor, once=False)
    supervisor.look()
    assert [child.process.pid for child in supervisor.children] != [pid]


def test_a_process_hears_no_ctrl_c_of_the_terminal_and_stands_back_by_its_nice_value(supervisor):
    pid = supervisor.add(Child("long", [sys.executable, "-c", "import signal; signal.pause()"])).pid
    assert os.getpgid(pid) == pid
    assert os.getsid(pid) == os.getsid(0)
