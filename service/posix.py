"""Tie processes together and stop them through the operating system."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15


def stop_signal() -> threading.Event:
    """Return an event that SIGINT and SIGTERM set from now on."""
    stop = threading.Event()
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda *_: stop.set())
    return stop


def die_with_parent(sign: signal.Signals = signal.SIGKILL, parent: int | None = None) -> None:
    """End this process when its parent ends (Linux; elsewhere the next start clears what is left).

    Args:
        sign: the signal to receive then.
        parent: the parent's process id, if known: a parent that ended already is noticed.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(sign), 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), sign)


def name_process(name: str) -> None:
    """Set the name under which `ps` and `top` list this process (Linux), at most 15 bytes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode(), 0, 0, 0)
