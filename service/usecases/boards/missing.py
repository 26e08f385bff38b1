"""Which parts the rows of a board lack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def missing_parts_of(db: Connection, board: Board, ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the chosen parts that submissions with a record lack: those without any score, of the whole test set."""
    layout = board.layout
    chosen = [(name, layout.row(name)) for name in board.chosen_names]
    return {
        each: [name for name, at in chosen if np.isnan(values[at]).all()]
        for each, values in boards.part_figures(db, ids, board.revision.number, layout).items()
    }


def missing_of_row(board: Board, entry: BoardEntry, missing: Mapping[str, Sequence[str]]) -> Missing:
    """Return what a row lacks, of several training runs what any of them lacks."""
    runs = entry.runs or (entry.id,)
    if not any(run in missing for run in runs):
        return Missing(missing_parts=None, scored_parts=None)
    lacking = {name for run in runs for name in missing.get(run, ())}
    names = [name for name in board.chosen_names if name in lacking]
    return Missing(missing_parts=names, scored_parts=len(board.chosen_parts) - len(names))
