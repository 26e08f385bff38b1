"""Suggestions for names that are not known: which known one was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

_LONGEST = 60
"""Characters of a name that are compared: longer ones are no slips of the keyboard."""
_LEAST = 0.6


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return `" Did you mean 'x'?"` for the known name that is most like this one; `""` where none is like it."""
    close = closest(name, known)
    return "" if close is None else f" Did you mean {close!r}?"


def closest(name: object, known: Iterable[str]) -> str | None:
    """Return the known name that is most like this one, ignoring case; None where none is like it.

    Of an address (`ud.las_f1`) the last step alone is enough: `las_f1`, or its beginning, `las`.
    """
    if not isinstance(name, str) or not name or len(name) > _LONGEST:
        return None
    wanted = name.casefold()
    best, likeness = None, 0.0
    for candidate in known:
        found = _likeness(wanted, candidate.casefold())
        if found > likeness:
            best, likeness = candidate, found
    return best


def _likeness(wanted: str, candidate: str) -> float:
    """Return how much two names are alike, 0 to 2; 0 where they are too little so."""
    if wanted == candidate or _plain(wanted) == _plain(candidate):
        return 2.0
    last = candidate.rpartition(".")[2]
    if last != candidate and wanted == last:
        return 1.9
    if last != candidate and last.startswith(f"{wanted}_"):
        # `las` is meant to be `las_f1` rather than `las_precision`.
        return 1.5 + 0.25 * last.endswith("_f1")
    ratio = SequenceMatcher(None, wanted, candidate, autojunk=False).ratio()
    return ratio if ratio >= _LEAST else 0.0


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").replace(" ", "")
