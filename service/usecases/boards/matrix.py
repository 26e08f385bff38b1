"""The matrix of a board: the score that ranks, of every row in every part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.policy import gate
from service.policy.figures import Release
from service.policy.gate import Level
from service.render import MATRIX_FORMATS, render_matrix
from service.render.documents import MatrixDocument, MatrixPartDocument, MatrixRowDocument
from service.requests import PRIVATE, MatrixQuery
from service.store import boards, teams
from service.store.benchmarks import Benchmark
from service.store.figures import finite
from service.usecases.boards.board import Board, rows_of
from service.usecases.boards.details import row_details
from service.usecases.boards.missing import missing_of_row, missing_parts_of
from service.usecases.boards.released import release_of_board, require_board
from service.usecases.boards.rows import BoardRow, named
from service.usecases.boards.systems import details_of
from service.usecases.boards.viewing import Sheet, Viewer, sheet_view
from service.usecases.runs.views import View, moment
from service.usecases.scoring.published import counts_shown
from treescore.core.arrays import FloatArray

MATRIX_VERSION = 1
"""Version of the document; part of its ETag."""
MOST_ROWS = 2000
"""Maximum number of rows in one answer."""


def matrix(context: Context, caller: Caller, slug: str, query: MatrixQuery, etag: str | None = None) -> View:
    """Return the matrix of a board, ready to send; see `sheet_view`."""
    return sheet_view(context, caller, slug, MATRIX_SHEET, query, etag)


def matrix_document(db: Connection, benchmark: Benchmark, board: Board, viewer: Viewer, start: int) -> MatrixDocument:
    """Return the whole answer, with rows after the first `start`.

    Raises:
        Forbidden: the viewer's level does not show the score, the part or the revision.
    """
    shown = viewer.level >= Level.ROUNDED
    release = release_of_board(db, benchmark, board, viewer.level)
    if shown:
        require_board(db, benchmark, board, viewer.level)
    rows = rows_of(db, board, release.ranking) if shown else []
    changed = boards.last_change(db, benchmark.id, viewer.until) if shown else None
    stop = start + MOST_ROWS
    return MatrixDocument(
        benchmark=benchmark.id,
        title=benchmark.title,
        revision=board.revision.number,
        active=board.active,
        score=board.score,
        higher_is_better=board.scored_by[1].higher_is_better,
        part=board.part,
        pick=board.pick,
        split=board.share,
        feedback=release.level.name.lower(),
        rounding=viewer.step,
        anonymous=not viewer.named,
        frozen=viewer.until is not None,
        as_of=moment(viewer.until or changed),
        parts=_matrix_parts(benchmark, board, viewer.level),
        hidden=[name for name in board.chosen_names if name in release.hidden],
        total_rows=len(rows),
        next=str(stop) if stop < len(rows) else None,
        rows=_matrix_rows(db, board, viewer, release, rows[start:stop]),
    )


def _matrix_parts(benchmark: Benchmark, board: Board, level: Level) -> list[MatrixPartDocument]:
    counts = counts_shown(benchmark, board.revision, level)
    return [
        MatrixPartDocument(
            name=part.name, sentences=part.sentences if counts else None, words=part.words if counts else None
        )
        for part in board.chosen_parts
    ]


def _matrix_rows(
    db: Connection, board: Board, viewer: Viewer, release: Release, rows: Sequence[BoardRow]
) -> list[MatrixRowDocument]:
    ids = [each for row in rows for each in {row.entry.id, *row.entry.runs}]
    details = row_details(db, board, ids)
    missing = missing_parts_of(db, board, (row.entry for row in rows))
    values = _part_values(db, board, ids)
    parts = board.chosen_names
    members = {row.entry.team_id for row in rows if row.entry.team_id is not None}
    names = teams.names(db, board.benchmark_id, members) if viewer.named else {}
    documents = []
    for row in rows:
        entry = row.entry
        shown = details_of(entry, details)
        document = MatrixRowDocument(
            rank=row.rank,
            role=entry.role,
            **named(entry, names, shown.name),
            submission=entry.id,
            score=shown.scores.get(board.score),
            values=_means([values[run] for run in entry.runs or (entry.id,) if run in values], len(parts)),
            **missing_of_row(parts, entry, missing),
        )
        documents.append(cast("MatrixRowDocument", gate.matrix_row_view(release, document, parts)))
    return documents


def _part_values(db: Connection, board: Board, ids: Sequence[str]) -> dict[str, FloatArray]:
    """Return the score that ranks in each chosen part, (parts,), of submissions with a record."""
    layout, private = board.layout, board.share == PRIVATE
    chosen, column = [layout.row(name) for name in board.chosen_names], layout.column(board.score)
    found = boards.part_figures(db, ids, board.revision.number, layout, private=private)
    return {each: values[chosen, column] for each, values in found.items()}


def _means(of_runs: Sequence[FloatArray], parts: int) -> list[float | None]:
    """Return the scores of the parts, of several training runs their means; None where that of one is undefined."""
    if not of_runs:
        return [None] * parts
    return [finite(value) for value in np.mean(of_runs, axis=0).tolist()]


MATRIX_SHEET = Sheet("matrix", MATRIX_VERSION, MATRIX_FORMATS, matrix_document, render_matrix)
