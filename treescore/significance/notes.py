"""What is to be said of a comparison; replaced by the words of the page."""

from __future__ import annotations

from collections.abc import Mapping

from treescore.core.params import Json


def notes(document: Mapping[str, Json]) -> list[str]:
    """Return the notes of a comparison."""
    return []
