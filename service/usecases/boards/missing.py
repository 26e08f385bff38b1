"""Which parts the rows of a board lack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

import numpy as np
from sqlalchemy import Connection

from service.store import boards
from service.store.submissions import BoardEntry
from service.usecases.boards.board import Board


class Missing(TypedDict):
    """What a row lacks; None where it has no scores."""

    missing_parts: list[str] | None
    scored_parts: int | None


def missing_parts_of(db: Connection, board: Board, entries: Iterable[BoardEntry]) -> dict[str, list[str]]:
    """Return the chosen parts that entries with scores lack, of training runs each by itself; by submission.

    A part is missing that has no score at all. Only where no sentence of a part is covered are figures
    read: those of a large board are many.
    """
    layout = board.layout
    at = [(name, layout.row(name)) for name in board.chosen_names]
    lacking: dict[str, list[str]] = {}
    unsure: list[str] = []
    for entry in entries:
        runs = entry.runs or (entry.id,)
        if entry.covered is None or any(entry.covered[row] == 0 for _, row in at):
            unsure += runs
        else:
            lacking |= {run: [] for run in runs}
    for each, values in boards.part_figures(db, unsure, board.revision.number, layout).items():
        undefined = np.isnan(values)
        lacking[each] = [name for name, row in at if undefined[row].all()]
    return lacking


def missing_of_row(parts: Sequence[str], entry: BoardEntry, missing: Mapping[str, Sequence[str]]) -> Missing:
    """Return what a row lacks of the chosen parts, of several training runs what any of them lacks."""
    runs = entry.runs or (entry.id,)
    if not any(run in missing for run in runs):
        return Missing(missing_parts=None, scored_parts=None)
    lacking = {name for run in runs for name in missing.get(run, ())}
    names = [name for name in parts if name in lacking] if lacking else []
    return Missing(missing_parts=names, scored_parts=len(parts) - len(names))
