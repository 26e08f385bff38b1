"""The leaderboard as a view: scores at once, significance as soon as a worker has compared the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.policy import gate
from service.policy.figures import Release
from service.policy.gate import Level
from service.render import LEADERBOARD_FORMATS, render_leaderboard
from service.render.documents import BoardDocument, IntervalDocument, RowDocument
from service.requests import LeaderboardQuery
from service.store import boards, teams
from service.store.benchmarks import Benchmark
from service.store.boards import RowDetails
from service.store.submissions import links_document
from service.usecases.boards.board import Board, rows_of
from service.usecases.boards.considered import numbers_considered
from service.usecases.boards.details import row_details
from service.usecases.boards.missing import missing_of_row, missing_parts_of
from service.usecases.boards.released import release_of_board, require_board
from service.usecases.boards.rows import BoardRow, named
from service.usecases.boards.significance import Finding, significance_of
from service.usecases.boards.systems import details_of, runs_document
from service.usecases.boards.viewing import Sheet, Viewer, sheet_view
from service.usecases.runs.views import View, moment
from service.usecases.scoring.coverage import coverage_of

VERSION = 6
"""Version of the document; part of its ETag."""
MOST_ROWS = 2000
"""Maximum number of rows in one answer."""


def leaderboard(context: Context, caller: Caller, slug: str, query: LeaderboardQuery, etag: str | None = None) -> View:
    """Return the board, ready to send; see `sheet_view`."""
    return sheet_view(context, caller, slug, SHEET, query, etag)


def board_document(db: Connection, benchmark: Benchmark, board: Board, viewer: Viewer, start: int) -> BoardDocument:
    """Return the whole answer, with rows after the first `start`.

    Raises:
        Forbidden: the viewer's level does not show the score, the part or the revision.
    """
    shown = viewer.level >= Level.ROUNDED
    release = release_of_board(db, benchmark, board, viewer.level)
    if shown:
        require_board(db, benchmark, board, viewer.level)
    rows = rows_of(db, board, release.ranking) if shown else []
    finding = significance_of(db, benchmark, board, rows, release.level)
    changed = boards.last_change(db, benchmark.id, viewer.until) if shown else None
    stop = start + MOST_ROWS
    return BoardDocument(
        benchmark=benchmark.id,
        title=benchmark.title,
        revision=board.revision.number,
        active=board.active,
        score=board.score,
        higher_is_better=board.scored_by[1].higher_is_better,
        part=board.part,
        parts=board.chosen_names,
        pick=board.pick,
        split=board.share,
        feedback=release.level.name.lower(),
        rounding=viewer.step,
        anonymous=not viewer.named,
        frozen=viewer.until is not None,
        as_of=moment(viewer.until or changed),
        significance=finding.document,
        scores=[address for address in board.scoring.addresses if address in release.listed],
        total_rows=len(rows),
        next=str(stop) if stop < len(rows) else None,
        rows=_rows(db, board, replace(finding, rows=finding.rows[start:stop]), viewer, release),
    )


def _rows(db: Connection, board: Board, finding: Finding, viewer: Viewer, release: Release) -> list[RowDocument]:
    ids = [each for row in finding.rows for each in {row.entry.id, *row.entry.runs}]
    details = row_details(db, board, ids)
    missing = missing_parts_of(db, board, (row.entry for row in finding.rows))
    parts = board.chosen_names
    team_ids = {row.entry.team_id for row in finding.rows if row.entry.team_id is not None}
    names = teams.names(db, board.benchmark_id, team_ids) if viewer.named else {}
    considered = numbers_considered(db, board, finding.rows) if release.level >= Level.SCORES else {}
    documents = []
    for row in finding.rows:
        covered = coverage_of(row.entry.covered, board.parts, frozenset(parts))
        document = _row(board, row, details_of(row.entry, details), names, finding)
        document["considered"] = considered.get(row.entry.id)
        document["covered"] = None if covered is None else str(covered)
        lacks = missing_of_row(parts, row.entry, missing)
        document["missing_parts"], document["scored_parts"] = lacks["missing_parts"], lacks["scored_parts"]
        documents.append(cast("RowDocument", gate.row_view(release, document)))
    return documents


def _row(board: Board, row: BoardRow, details: RowDetails, names: Mapping[str, str], finding: Finding) -> RowDocument:
    entry = row.entry
    return RowDocument(
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
        ci95=finding.intervals.get(entry.id) or _interval(details),
        p_next=row.p_next,
        detectable=row.detectable,
        considered=None,
        runs=runs_document(entry),
        tested=row.tested,
        reason=finding.untested.get(entry.id),
    )


def _interval(details: RowDetails) -> IntervalDocument | None:
    if details.interval is None:
        return None
    return IntervalDocument(low=details.interval.low, high=details.interval.high)


SHEET = Sheet("leaderboard", VERSION, LEADERBOARD_FORMATS, board_document, render_leaderboard)
