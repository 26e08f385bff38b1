"""What the rows of a board show of their submissions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from service.requests import MACRO, PRIVATE
from service.store import boards
from service.store.boards import RowDetails
from service.store.figures import finite
from service.usecases.boards.board import Board, track_means


def row_details(db: Connection, board: Board, ids: Sequence[str]) -> dict[str, RowDetails]:
    """Return what rows show of their submissions; the intervals of a track are those of its comparison."""
    number, layout, private = board.revision.number, board.layout, board.share == PRIVATE
    part = MACRO if board.track is not None else board.ranking_part
    details = boards.details(db, ids, number, layout, part, board.score, private=private)
    if board.track is None:
        return details
    means = track_means(db, board, ids, private=private)
    scores = {
        each: dict(zip(layout.addresses, map(finite, values.tolist()), strict=True)) for each, values in means.items()
    }
    return {each: replace(found, scores=scores.get(each, {}), interval=None) for each, found in details.items()}
