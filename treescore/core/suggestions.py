"""Suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?` with the nearest known name; empty where none is near."""
    near = get_close_matches(name, list(known), 1)
    return f" Did you mean {near[0]!r}?" if near else ""
