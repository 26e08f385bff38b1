"""Say numbers of things."""

from __future__ import annotations


def counted(number: int, word: str, plural: str = "") -> str:
    """Return a number with its noun: `1 pair`, `2 pairs`; `plural` where it is not the noun with an s."""
    return f"{number} {word if number == 1 else plural or word + 's'}"
