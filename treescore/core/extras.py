"""Optional packages: what is said where one is missing."""

from __future__ import annotations


class MissingExtra(ImportError):
    """An optional package is not installed; the message names the command that installs it."""


def missing(feature: str, extra: str) -> str:
    """Return the message for a feature whose optional package is not installed.

    Args:
        feature: what needs it, as the subject of a sentence (`Drawing`, `The format "x"`).
        extra: name of the extra of this package that installs it.
    """
    return f"{feature} needs an optional package. Install it with: pip install 'treescore[{extra}]'"
