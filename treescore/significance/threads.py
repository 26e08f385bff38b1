"""Work on several pairs at once, in threads: compiled loops release the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

THREADS = 2
"""Threads of one comparison: more would take cores from the other workers of a machine."""
_PIECES = 64
"""Pieces into which the items are cut: a piece a pair would cost 0.1 ms for thousands of short ones."""

_T = TypeVar("_T")
_R = TypeVar("_R")


def mapped(function: Callable[[_T], _R], items: Sequence[_T], threads: int) -> list[_R]:
    """Return the function's results in the order of the items, the same for any number of threads."""
    if len(items) < 2 or threads < 2:
        return [function(item) for item in items]
    step = -(-len(items) // _PIECES)
    pieces = [items[start : start + step] for start in range(0, len(items), step)]
    with ThreadPoolExecutor(threads) as pool:
        found = pool.map(lambda piece: [function(item) for item in piece], pieces)
        return [result for results in found for result in results]
