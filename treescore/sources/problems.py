"""Errors of texts and their names, each of one problem."""

from __future__ import annotations

from treescore.errors import InputError, Problem

LONGEST_SHOWN = 80
"""Characters of a path that an error quotes."""
MOST_LISTED = 5
"""Names that an error lists; further ones are only counted."""


def wrong(code: str, detail: str, pointer: str) -> InputError:
    """Return the error of one problem."""
    return InputError(Problem(code, detail, pointer=pointer))


def shown(path: object) -> str:
    """Quote a path, shortened."""
    text = str(path)
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}...")


def listed(names: list[str]) -> str:
    """List names, the first of many."""
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more
