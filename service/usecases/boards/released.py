"""What of a board's figures is shown, by its revision: one with gold too near to that of another one is not."""

from __future__ import annotations

from sqlalchemy import Connection

from service.policy import cells
from service.policy.figures import Release, release_of
from service.policy.gate import Level
from service.policy.levels import not_shown
from service.store import revisions
from service.store.benchmarks import Benchmark
from service.store.revisions import Revision
from service.usecases.boards.board import Board
from service.usecases.scoring.config import scoring_config
from service.usecases.scoring.shares import golds_of, sizes_of


def release_of_board(db: Connection, benchmark: Benchmark, board: Board, level: Level) -> Release:
    """Return what a caller of this level sees of the figures of a board."""
    sizes = sizes_of(db, benchmark, board.revision.id, board.parts, board.share)
    scoring = board.scoring
    return release_of(benchmark, level, scoring.addresses, scoring.main_score, sizes, board.tracks).on_board()


def release_of_revision(
    db: Connection, benchmark: Benchmark, revision: Revision, level: Level, share: str | None
) -> Release:
    """Return what a caller of this level sees of the figures of the caller's own submissions, in a share."""
    scoring = scoring_config(revision.scoring)
    sizes = sizes_of(db, benchmark, revision.id, revisions.parts_of(db, revision.id), share)
    return release_of(benchmark, level, scoring.addresses, scoring.main_score, sizes)


def revision_shown(db: Connection, benchmark: Benchmark, level: Level, number: int, share: str | None) -> bool:
    """Return whether a level shows the figures of a share under a revision that is or was active."""
    if level >= Level.ITEMS or benchmark.active_revision in (None, number):
        return True
    golds = golds_of(db, benchmark, share)
    return number not in cells.hidden_revisions(benchmark.active_revision or 0, golds)


def require_board(db: Connection, benchmark: Benchmark, board: Board, level: Level) -> None:
    """Refuse figures of a board, or of a comparison behind one, that a caller of this level does not see.

    Raises:
        Forbidden: the level or the benchmark does not show the score, the part or the revision.
    """
    release_of_board(db, benchmark, board, level).require(board.score, board.part)
    number = board.revision.number
    if not revision_shown(db, benchmark, level, number, board.share):
        raise not_shown(
            f"Figures under revision {number} are shown from feedback level items on: its gold differs from that of "
            f"a later one in fewer than {cells.LEAST} sentences, or it is not known in how many, or in its parts, some "
            "of which are small."
        )
