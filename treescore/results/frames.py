"""Data frames of pandas or polars, whichever is installed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from treescore.core.extras import MissingExtra, missing

LIBRARIES = ("pandas", "polars")
"""In the order in which they are looked for."""


def frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Return columns of equal length as a pandas data frame, else as one of polars.

    Raises:
        MissingExtra: neither is installed.
    """
    for name in LIBRARIES:
        try:
            library = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
            continue
        return library.DataFrame(dict(columns))
    raise MissingExtra(missing("A data frame", "frames"))


def columns_of(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return rows as columns of these names; a row without a member has None there."""
    return {name: [row.get(name) for row in rows] for name in names}
