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

NOTICE = "Compiling the scoring kernels; this takes up to a minute."
KEPT = "It is done once: later processes find them."
NOT_KEPT = (
    "No folder can be written to keep them, so each process compiles them again: set NUMBA_CACHE_DIR to a folder that "
    "can be written."
)


class _Notice(event.Listener):  # type: ignore[misc]
    """Speaks when the first function is compiled that no cache holds."""

    def __init__(self) -> None:
        self.kept = True
        self.before: list[Callable[[], None]] = []
        self._said = False

    def on_start(self, _event: event.Event) -> None:
        if self._said:
            return
        self._said = True
        log.warning("%s %s", NOTICE, KEPT if self.kept else NOT_KEPT)
        for call in self.before:
            call()

    def on_end(self, _event: event.Event) -> None:
        """Do nothing: a later function may follow."""


_NOTICE = _Notice()
event.register("numba:compile", _NOTICE)


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
