"""All scores of a board's rows, a line for each score of each part, in pages of whole rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.policy import gate
from service.policy.figures import Release
from service.policy.gate import Level
from service.policy.questions import require_own_pick
from service.policy.split import chosen_share
from service.requests import MACRO, POOLED, PRIVATE, ScoresQuery
from service.store import boards, teams
from service.usecases.access.access import benchmark_of, item_number
from service.usecases.boards.board import Board, board_of, rows_of, track_of
from service.usecases.boards.released import release_of_board, require_board
from service.usecases.boards.rows import BoardRow
from service.usecases.boards.viewing import Viewer, viewer_of
from service.usecases.runs.views import Page
from treescore.core.arrays import FloatArray

MOST_LINES = 50_000
"""Maximum number of lines in one answer, unless one row has more: the server keeps an answer until it is sent."""


def list_scores(context: Context, caller: Caller, slug: str, query: ScoresQuery) -> Page:
    """Return a page of the scores of a board's rows, as the caller sees them; below level `rounded` it is empty.

    Raises:
        NotFound: unknown benchmark, revision or part.
        Unprocessable: unknown score, or a share of a test set that is not split.
        Forbidden: the benchmark does not show the score, the part, the revision or the share, or not with another pick.
    """
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug, caller)
        require_own_pick(benchmark, caller, query.pick)
        viewer = viewer_of(benchmark, caller, context.now())
        share = chosen_share(benchmark, query.split, viewer.share, organiser=caller.organiser)
        board = board_of(
            db, benchmark, score=query.score, pick=query.pick, revision=query.revision, part=query.part,
            until=viewer.until, held=viewer.held, share=share,
        )  # fmt: skip
        if viewer.level < Level.ROUNDED:
            return Page([])
        require_board(db, benchmark, board, viewer.level)
        release = release_of_board(db, benchmark, board, viewer.level)
        shown = _shown_parts(board, release)
        start = item_number(query.cursor)
        stop = start + max(1, MOST_LINES // max(1, len(shown) * len(release.listed)))
        rows = rows_of(db, board, release.ranking)
        lines = _lines(db, board, viewer, release, rows[start:stop])
    return Page(lines, str(stop) if stop < len(rows) else None)


def _shown_parts(board: Board, release: Release) -> list[str]:
    """Return what has scores on a board: its parts, and what stands for several of them."""
    names = board.chosen_names
    if board.track is not None and board.part is not None:
        names.append(board.part)
    elif board.part in (MACRO, POOLED):
        names += [*board.tracks, MACRO, POOLED]
    return [name for name in names if name not in release.hidden]


def _lines(
    db: Connection, board: Board, viewer: Viewer, release: Release, rows: Sequence[BoardRow]
) -> list[Mapping[str, object]]:
    ids = [each for row in rows for each in {row.entry.id, *row.entry.runs}]
    figures = boards.part_figures(db, ids, board.revision.number, board.layout, private=board.share == PRIVATE)
    members = {row.entry.team_id for row in rows if row.entry.team_id is not None}
    names = teams.names(db, board.benchmark_id, members) if viewer.named else {}
    makers = {name: _maker(board, name) for name in _shown_parts(board, release)}
    addresses = board.layout.addresses
    lines: list[Mapping[str, object]] = []
    for row in rows:
        found = [figures[run] for run in row.entry.runs or (row.entry.id,) if run in figures]
        if not found:
            continue
        head = {
            "submission": row.entry.id,
            "team": row.entry.team_id if row.entry.team_id in names else None,
            "team_name": names.get(row.entry.team_id or ""),
        }
        for name, scores_of in makers.items():
            values = np.mean([scores_of(each) for each in found], axis=0)
            scores = dict(zip(addresses, values.tolist(), strict=True))
            lines += ({**head, "part": name, **line} for line in gate.score_lines(release, name, scores))
    return lines


def _maker(board: Board, name: str) -> Callable[[FloatArray], FloatArray]:
    """Return what takes all scores of a part, a track, POOLED or MACRO, (addresses,), out of figures."""
    if name in board.tracks:
        return track_of(board, name)
    row = board.layout.row(name)
    return lambda figures: figures[row]
