"""Slices as they are stored: the columns of every grouping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np

from service.store.packed_columns import pack_columns, unpack_columns
from treescore.core.columns import Documents, Lists, Records


def pack_slices(slices: Mapping[str, Documents]) -> bytes:
    """Pack the rows of all groupings."""
    columns = {name: rows.column for name, rows in slices.items()}
    return pack_columns(Records({name: Lists(np.array([0, len(of)]), of) for name, of in columns.items()}))


def unpack_slices(body: bytes) -> Mapping[str, Documents]:
    """Unpack what `pack_slices` has packed."""
    members = unpack_columns(body).members
    return {name: Documents(cast("Lists", rows).of) for name, rows in members.items()}
