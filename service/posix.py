"""Ties between processes that the operating system keeps."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with_parent(sign: signal.Signals = signal.SIGKILL, parent: int | None = None) -> None:
    """Have this process end when its parent does (Linux; elsewhere the next start clears what was left).

    Args:
        sign: the signal to get then.
        parent: the parent's process id, where the caller knows it: a parent that is gone already is noticed.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(sign), 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), sign)
