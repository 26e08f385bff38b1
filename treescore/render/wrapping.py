"""Break the words of a picture into lines: each as full as fits, broken where little passes to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

LINE_WIDTH = 880.0
"""Width in pixels at which a sentence is wrapped."""
_LAST_QUARTER = 0.75


class HasWidth(Protocol):
    """A line that has been placed."""

    @property
    def width(self) -> float:
        """Its width in pixels."""


L = TypeVar("L", bound=HasWidth)


def wrapped_lines(
    passing: Sequence[int],
    most: Callable[[int], int],
    place: Callable[[int, int], L],
    reach: Callable[[L, int, int], float],
) -> Iterator[L]:
    """Yield the lines of a sentence.

    Args:
        passing: how many arcs or constituents pass before each word, and after the last.
        most: where a line that begins with a word ends if nothing but words needs room.
        place: returns the line of the words from one to another, without the last.
        reach: of a line, its first word and one before which it may end: how far its words up to there reach.
    """
    start, total = 0, len(passing) - 1
    while start < total:
        stop = most(start)
        line = place(start, stop)
        while line.width > LINE_WIDTH and stop - start > 1:
            fewer = start - int(-(stop - start) * LINE_WIDTH // line.width)
            stop = max(start + 1, min(stop - 1, fewer))
            line = place(start, stop)
        better = stop
        for word in reversed(range(start + 1, stop)) if stop < total else ():
            if reach(line, start, word) < _LAST_QUARTER * LINE_WIDTH:
                break
            if passing[word] < passing[better]:
                better = word
        # What is cut leaves to the edge, which may take more room than before.
        shorter = line if better == stop else place(start, better)
        if shorter.width <= LINE_WIDTH:
            line, stop = shorter, better
        yield line
        start = stop
