"""The leaderboard as a view: scores at once, significance as soon as a worker has compared the rows.

The matrix is the score that ranks, of every row in every part. All scores of the rows are a line for each score of each
part, in pages of whole rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.contract.common import Interval
from service.contract.leaderboards import (
    SHEET_FORMATS,
    Leaderboard,
    LeaderboardQuery,
    LeaderboardRow,
    Matrix,
    MatrixPart,
    MatrixQuery,
    MatrixRow,
    ScoresQuery,
    Sheet,
)
from service.policy import gate
from service.policy.figures import Release, chosen_share, require_own_pick
from service.policy.gate import Level
from service.render import render_leaderboard, render_matrix
from service.requests import MACRO, POOLED, PRIVATE
from service.store import benchmarks, boards
from service.store.benchmarks import Benchmark
from service.store.boards import RowDetails
from service.store.score_records import finite
from service.usecases.access import benchmark_of, item_number
from service.usecases.boards import viewing
from service.usecases.boards.board import (
    MOST_BASELINES,
    TESTED,
    Board,
    BoardRow,
    board_of,
    links_document,
    named,
    rows_of,
    runs_document,
    system_details,
    track_of,
)
from service.usecases.boards.compare import Finding, charged_scores, numbers_considered, significance_of
from service.usecases.runs import Page, Shown, moment
from service.usecases.scoring.config import counts_shown
from service.usecases.scoring.results import coverage_of
from treescore.core.arrays import FloatArray
from treescore.evaluation.report import charged_figure

MOST_ROWS = 2000
"""Maximum number of rows in one answer."""


def leaderboard(context: Context, caller: Caller, slug: str, query: LeaderboardQuery) -> Shown[Leaderboard]:
    """Return the board, ready to send; see `sheet_view`."""
    return viewing.sheet_view(context, caller, slug, BOARD_SHEET, query)


def board_document(
    db: Connection, benchmark: Benchmark, board: Board, viewer: viewing.Viewer, start: int
) -> Leaderboard:
    """Return the whole answer, with rows after the first `start`.

    Raises:
        Forbidden: the viewer's level does not show the score, the part or the revision.
    """
    release, rows = _shown(db, benchmark, board, viewer)
    finding = significance_of(db, benchmark, board, rows, release)
    shown = replace(finding, rows=finding.rows[start : start + MOST_ROWS])
    return Leaderboard(
        **_sheet(benchmark, board, viewer, release, rows, start),
        parts=board.chosen_names,
        significance=finding.document,
        scores=[address for address in board.scoring.addresses if address in release.listed],
        rows=_board_rows(db, board, shown, viewer, release),
    )


def _sheet(
    benchmark: Benchmark, board: Board, viewer: viewing.Viewer, release: Release, rows: Sequence[BoardRow], start: int
) -> Sheet:
    """Return what the documents of a leaderboard and of a matrix have in common."""
    stop = start + MOST_ROWS
    return Sheet(
        benchmark=benchmark.id,
        title=benchmark.title,
        revision=board.revision.number,
        active=board.active,
        score=board.score,
        higher_is_better=board.scored_by[1].higher_is_better,
        one_sided=board.scored_by[1].one_sided,
        part=board.part,
        pick=board.pick,
        split=board.share,
        feedback=release.level.name.lower(),
        rounding=viewer.step,
        anonymous=not viewer.named,
        frozen=viewer.until is not None,
        as_of=_as_of(viewer, rows),
        total_rows=len(rows),
        next=str(stop) if stop < len(rows) else None,
    )


def _shown(
    db: Connection, benchmark: Benchmark, board: Board, viewer: viewing.Viewer
) -> tuple[Release, Sequence[BoardRow]]:
    """Return what of a board is released to a viewer, and its rows."""
    release = viewing.release_of_board(db, benchmark, board, viewer.level)
    if viewer.level < Level.ROUNDED:
        return release, []
    viewing.require_board(db, benchmark, board, viewer.level)
    return release, rows_of(db, board, release.ranking)


def _as_of(viewer: viewing.Viewer, rows: Sequence[BoardRow]) -> str | None:
    """Return when the board was frozen, else when the newest of its rows was scored: not what is unpicked."""
    scored = (gate.whole_second(row.entry.finished_at) for row in rows if row.entry.finished_at is not None)
    return moment(viewer.until or max(scored, default=None))


def _board_rows(
    db: Connection, board: Board, finding: Finding, viewer: viewing.Viewer, release: Release
) -> list[LeaderboardRow]:
    ids = [each for row in finding.rows for each in {row.entry.id, *row.entry.runs}]
    details = viewing.row_details(db, board, ids)
    missing = viewing.missing_parts_of(db, board, (row.entry for row in finding.rows))
    parts = board.chosen_names
    team_ids = {row.entry.team_id for row in finding.rows if row.entry.team_id is not None}
    names = benchmarks.team_names(db, board.benchmark_id, team_ids) if viewer.named else {}
    considered = numbers_considered(db, board, finding.rows) if release.level >= Level.SCORES else {}
    charged = _charged(db, board, finding, release)
    documents = []
    for row in finding.rows:
        covered = coverage_of(row.entry.covered, board.parts, frozenset(parts))
        document = _row(board, row, system_details(row.entry, details), names, finding)
        document["considered"] = considered.get(row.entry.id)
        if row.entry.id in charged:
            document["reason"] = f"{document['reason']}. {charged[row.entry.id]}"
        document["covered"] = None if covered is None else str(covered)
        lacks = viewing.missing_of_row(parts, row.entry, missing)
        document["missing_parts"], document["scored_parts"] = lacks["missing_parts"], lacks["scored_parts"]
        documents.append(cast("LeaderboardRow", gate.row_view(release, document)))
    return documents


def _charged(db: Connection, board: Board, finding: Finding, release: Release) -> dict[str, str]:
    """Return what rows would have that rank last for what they lack; nothing where a ladder holds other scores."""
    entry, score = board.scored_by
    if release.level < Level.SCORES or board.ladder or not entry.leaves_out:
        return {}
    entries = [row.entry for row in finding.rows if row.entry.ranks_last and row.entry.id in finding.untested]
    entries = [entry for entry in entries if entry.value is not None][: TESTED + MOST_BASELINES]
    found = charged_scores(db, board, entries) if entries else {}
    return {
        name: f"With `errors: zero`, which charges them, it has {charged_figure(value, percent=score.is_share)}."
        for name, value in found.items()
    }


def _row(
    board: Board, row: BoardRow, details: RowDetails, names: Mapping[str, str], finding: Finding
) -> LeaderboardRow:
    entry = row.entry
    return LeaderboardRow(
        rank=row.rank,
        rank_interval=row.rank_interval,
        cluster=row.cluster,
        role=entry.role,
        **named(entry, names, details.name),
        submission=entry.id,
        links=links_document(details.links) if entry.team_id is None or entry.team_id in names else None,
        created_at=moment(details.created_at),
        score=details.scores.get(board.score),
        scores=details.scores,
        covered=None,
        missing_parts=None,
        scored_parts=None,
        ci95=finding.intervals.get(entry.id, _interval(details)),
        p_next=row.p_next,
        detectable=row.detectable,
        considered=None,
        runs=runs_document(entry),
        tested=row.tested,
        reason=finding.untested.get(entry.id),
    )


def _interval(details: RowDetails) -> Interval | None:
    if details.interval is None:
        return None
    return Interval(low=details.interval.low, high=details.interval.high)


BOARD_SHEET = viewing.Sheet("leaderboard", SHEET_FORMATS, board_document, render_leaderboard)


def matrix(context: Context, caller: Caller, slug: str, query: MatrixQuery) -> Shown[Matrix]:
    """Return the matrix of a board, ready to send; see `sheet_view`."""
    return viewing.sheet_view(context, caller, slug, MATRIX_SHEET, query)


def matrix_document(db: Connection, benchmark: Benchmark, board: Board, viewer: viewing.Viewer, start: int) -> Matrix:
    """Return the whole answer, with rows after the first `start`.

    Raises:
        Forbidden: the viewer's level does not show the score, the part or the revision.
    """
    release, rows = _shown(db, benchmark, board, viewer)
    return Matrix(
        **_sheet(benchmark, board, viewer, release, rows, start),
        parts=_matrix_parts(benchmark, board, viewer.level),
        hidden=[name for name in board.chosen_names if name in release.hidden],
        rows=_matrix_rows(db, board, viewer, release, rows[start : start + MOST_ROWS]),
    )


def _matrix_parts(benchmark: Benchmark, board: Board, level: Level) -> list[MatrixPart]:
    counts = counts_shown(benchmark, board.revision, level)
    return [
        MatrixPart(name=part.name, sentences=part.sentences if counts else None, words=part.words if counts else None)
        for part in board.chosen_parts
    ]


def _matrix_rows(
    db: Connection, board: Board, viewer: viewing.Viewer, release: Release, rows: Sequence[BoardRow]
) -> list[MatrixRow]:
    ids = [each for row in rows for each in {row.entry.id, *row.entry.runs}]
    details = viewing.row_details(db, board, ids)
    missing = viewing.missing_parts_of(db, board, (row.entry for row in rows))
    values = _part_values(db, board, ids)
    parts = board.chosen_names
    members = {row.entry.team_id for row in rows if row.entry.team_id is not None}
    names = benchmarks.team_names(db, board.benchmark_id, members) if viewer.named else {}
    documents = []
    for row in rows:
        entry = row.entry
        shown = system_details(entry, details)
        document = MatrixRow(
            rank=row.rank,
            role=entry.role,
            **named(entry, names, shown.name),
            submission=entry.id,
            score=shown.scores.get(board.score),
            values=_means([values[run] for run in entry.runs or (entry.id,) if run in values], len(parts)),
            **viewing.missing_of_row(parts, entry, missing),
        )
        documents.append(cast("MatrixRow", gate.matrix_row_view(release, document, parts)))
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


MATRIX_SHEET = viewing.Sheet("matrix", SHEET_FORMATS, matrix_document, render_matrix)


MOST_SCORE_LINES = 50_000
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
        viewer = viewing.viewer_of(benchmark, caller, context.now())
        share = chosen_share(benchmark, query.split, viewer.share, organiser=caller.organiser)
        board = board_of(
            db, benchmark, score=query.score, pick=query.pick, revision=query.revision, part=query.part,
            until=viewer.until, held=viewer.held, share=share,
        )  # fmt: skip
        if viewer.level < Level.ROUNDED:
            return Page([])
        viewing.require_board(db, benchmark, board, viewer.level)
        release = viewing.release_of_board(db, benchmark, board, viewer.level)
        shown = _shown_parts(board, release)
        start = item_number(query.cursor)
        stop = start + max(1, MOST_SCORE_LINES // max(1, len(shown) * len(release.listed)))
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
    db: Connection, board: Board, viewer: viewing.Viewer, release: Release, rows: Sequence[BoardRow]
) -> list[Mapping[str, object]]:
    ids = [each for row in rows for each in {row.entry.id, *row.entry.runs}]
    figures = boards.part_figures(db, ids, board.revision.number, board.layout, private=board.share == PRIVATE)
    members = {row.entry.team_id for row in rows if row.entry.team_id is not None}
    names = benchmarks.team_names(db, board.benchmark_id, members) if viewer.named else {}
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
