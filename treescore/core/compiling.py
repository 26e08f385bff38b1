"""The compiler, and what is said when it really compiles. Importing this module loads it.

Messages go to the logger `treescore.compiling`: where logging is not set up, Python prints them on standard error.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import njit
from numba.core import event

log = logging.getLogger("treescore.compiling")

NOTICE = (
    "Compiling once what scores and compares. On a server with two busy cores it took 7 s for a comparison of "
    "dependency parsers, and 35 s for scores of constituency parsers."
)
KEPT = "It is kept for the next time."
DONE = "Compiled in %.0f s."
NOT_KEPT = (
    "No folder can be written to keep it, so each process compiles it again: set NUMBA_CACHE_DIR to a folder that "
    "can be written."
)


class _Notice(event.Listener):  # type: ignore[misc]
    """Speaks when the first function is compiled that no cache holds."""

    def __init__(self) -> None:
        self.kept = True
        self.before: list[Callable[[], None]] = []
        self._said = False
        self._told = 0.0

    def on_start(self, _event: event.Event) -> None:
        if self._said:
            return
        self._said = True
        log.warning("%s %s", NOTICE, KEPT if self.kept else NOT_KEPT)
        for call in self.before:
            call()

    def on_end(self, _event: event.Event) -> None:
        """Do nothing: a later function may follow."""

    def end(self, seconds: float) -> None:
        """Say how long it took, of the seconds in all what was not said yet."""
        if seconds > self._told:
            log.warning(DONE, seconds - self._told)
            self._told = seconds


_NOTICE = _Notice()
_CLOCK = event.TimingListener()
for _listener in (_NOTICE, _CLOCK):
    event.register("numba:compile", _listener)


def say_compiled() -> None:
    """Say how many seconds compiling took, where something was compiled since it was last said."""
    if _CLOCK.done:
        _NOTICE.end(_CLOCK.duration)


def compilable(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a function that is compiled for each types of arguments when it is first called with them.

    The machine code is kept on disk, if there is a folder for it.
    """
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        _NOTICE.kept = False
        return njit(**options)(function)


@contextmanager
def before_compiling(call: Callable[[], None]) -> Iterator[None]:
    """Within this context, call something before the first function is compiled that no cache holds."""
    _NOTICE.before.append(call)
    try:
        yield
    finally:
        _NOTICE.before.remove(call)
