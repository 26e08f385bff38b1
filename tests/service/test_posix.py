"""A signal that asks a process to stop never stops the wait for it."""

from __future__ import annotations

import subprocess
import sys

from service.posix import Stop
from tests.fixtures.service_process import PATIENCE, ROOT

SIGNALLED_AT_EACH_LINE = """
import signal, sys
from service.posix import stop_signal

stop = stop_signal()

def ask(*_):
    signal.raise_signal(signal.SIGTERM)
    return ask

sys.settrace(ask)
asked = stop.wait(0)
sys.settrace(None)
sys.exit(0 if asked else 1)
"""


def test_a_signal_may_come_at_any_line_of_the_wait() -> None:
    # a process of its own: where the wait does not end, nothing else here would
    command = [sys.executable, "-c", SIGNALLED_AT_EACH_LINE]
    assert subprocess.run(command, cwd=ROOT, timeout=PATIENCE, check=False).returncode == 0


def test_once_asked_every_wait_ends_however_often_it_is_asked() -> None:
    stop = Stop()
    assert not stop.wait(0)
    for _ in range(1000):
        stop.set()
    assert stop.wait(60)
    assert stop.wait(60)
