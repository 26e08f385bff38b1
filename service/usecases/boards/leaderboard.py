"""The leaderboard as a view: scores at once, significance as soon as a worker has compared the rows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

import orjson
from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.policy import gate
from service.policy.figures import Release, step_of
from service.policy.gate import Level
from service.policy.questions import require_own_pick
from service.policy.split import chosen_share, shown_share
from service.render import LEADERBOARD_FORMATS, render_leaderboard
from service.render.documents import BoardDocument, IntervalDocument, RowDocument
from service.requests import PRIVATE, LeaderboardQuery
from service.store import benchmarks, boards, teams
from service.store.benchmarks import Benchmark
from service.store.boards import RowDetails
from service.usecases.access.access import benchmark_of, item_number
from service.usecases.boards.board import Board, board_of, rows_of
from service.usecases.boards.cache import cache_of
from service.usecases.boards.considered import numbers_considered
from service.usecases.boards.released import release_of_board, require_board
from service.usecases.boards.rows import BoardRow
from service.usecases.boards.significance import Finding, significance_of
from service.usecases.boards.systems import details_of, runs_document
from service.usecases.runs.views import View, etag_of, links_document, moment
from service.usecases.scoring.coverage import coverage_of
from treescore.core.version import __version__

VERSION = 6
"""Version of the document; part of its ETag."""
MOST_ROWS = 2000
"""Maximum number of rows in one answer."""
ONE_STATE = 3
"""Attempts at reading a board while it does not change."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """What decides how a caller sees a board.

    Attributes:
        level: of the caller.
        step: of rounding; None where scores are not rounded to steps.
        until: when the board was frozen for this viewer; None where it is not.
        named: whether the names of teams are shown.
        held: whether boards that are requested by another pick show what a ladder holds.
        share: which is shown without a choice; None where the test set is not split.
    """

    level: Level
    step: float | None
    until: datetime | None
    named: bool
    held: bool = False
    share: str | None = None


def viewer_of(benchmark: Benchmark, caller: Caller, now: datetime) -> Viewer:
    """Return how a caller sees a board. Organisers see names and the current state.

    A board that was frozen before the benchmark closed continues to show the public share.
    """
    level = gate.level_of(benchmark, caller, now)
    frozen_at = benchmark.frozen_at
    until = None if caller.organiser or frozen_at is None or now < frozen_at else frozen_at
    step = step_of(benchmark) if level is Level.ROUNDED else None
    named = caller.organiser or not benchmark.leaderboard["anonymous"]
    share = shown_share(benchmark, until or now)
    return Viewer(level, step, until, named=named, held=caller.organiser, share=share)


def leaderboard(context: Context, caller: Caller, slug: str, query: LeaderboardQuery, etag: str | None = None) -> View:
    """Return the board, ready to send.

    Args:
        context: store, queue and configuration.
        caller: the viewer.
        slug: of the benchmark.
        query: which board: by default the active revision, its main score, the benchmark's own pick, JSON.
        etag: of the caller's copy; where it is current, the view has no body.

    Raises:
        NotFound: unknown benchmark, revision or part.
        Unprocessable: unknown score, or a share of a test set that is not split.
        Forbidden: the benchmark does not show the score, the part, the revision or the share, or not with another pick.
    """
    form = query.format or "json"
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug, caller)
    require_own_pick(benchmark, caller, query.pick)
    viewer = viewer_of(benchmark, caller, context.now())
    share = chosen_share(benchmark, query.split, viewer.share, organiser=caller.organiser)
    if share == PRIVATE and viewer.share != PRIVATE:
        return _early(context, benchmark, replace(viewer, share=share), query, form)
    viewer = replace(viewer, share=share)
    tag = _tag(benchmark, viewer, query, form)
    cache = cache_of(context.store)
    if etag == tag and viewer.until is None:
        known = cache.get(tag)
        return View(b"", tag, final=known is None or known.final, content_type=LEADERBOARD_FORMATS[form])
    if form == "json":
        return cache.get_or_build(tag, lambda: _built(context, benchmark, viewer, query, tag))
    source = _tag(benchmark, viewer, query, "json")
    json = cache.get_or_build(source, lambda: _built(context, benchmark, viewer, query, source))

    def render() -> View:
        shown = render_leaderboard(orjson.loads(json.body), form)
        name = tag if json.etag == source else etag_of(shown.content)
        return View(shown.content, name, json.final, content_type=shown.media_type)

    return cache.get_or_build(tag, render)


def _early(context: Context, benchmark: Benchmark, viewer: Viewer, query: LeaderboardQuery, form: str) -> View:
    """Return the private share's board before it is shown, which no version counts: that of the board would tell."""
    view = _built(context, benchmark, viewer, query, "")
    body = view.body if form == "json" else render_leaderboard(orjson.loads(view.body), form).content
    return view._replace(content=body, etag=etag_of(body), content_type=LEADERBOARD_FORMATS[form])


def _tag(benchmark: Benchmark, viewer: Viewer, query: LeaderboardQuery, form: str) -> str:
    """Return a validator of the bytes without reading them: versions count every change that they depend on."""
    # the validator of a board without rows must not reveal when something was scored, nor that of rounded scores which
    # rows were compared again
    versions = {Level.NONE: 0, Level.STATUS: 0, Level.ROUNDED: benchmark.rows_version}
    board_version = versions.get(viewer.level, benchmark.board_version)
    depends = (
        VERSION, __version__, benchmark.id, moment(benchmark.created_at), benchmark.version,
        board_version, int(viewer.level), viewer.step, moment(viewer.until), viewer.named,
        viewer.held, viewer.share, replace(query, format=form),
    )  # fmt: skip
    return hashlib.blake2b(repr(depends).encode(), digest_size=16).hexdigest()


def _built(context: Context, benchmark: Benchmark, viewer: Viewer, query: LeaderboardQuery, tag: str) -> View:
    """Read the board from one state of the store. Bytes read while it kept changing get a validator of their own."""
    for _ in range(ONE_STATE):
        with context.store.read() as db:
            board = board_of(
                db, benchmark, score=query.score, pick=query.pick, revision=query.revision, part=query.part,
                until=viewer.until, held=viewer.held, share=viewer.share,
            )  # fmt: skip
            document = board_document(db, benchmark, board, viewer, item_number(query.cursor))
            after = benchmarks.get(db, benchmark.id)
        body = orjson.dumps(document)
        settled = not document["significance"]["pending"]
        if after is None or (after.version, after.board_version) == (benchmark.version, benchmark.board_version):
            # versions count what is scored after freezing too, which the viewer may not know of
            name = tag if viewer.until is None else etag_of(body)
            return View(body, name, settled, next=document["next"])
        benchmark = after
    return View(body, etag_of(body), settled, next=document["next"])


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
    details = boards.details(
        db, ids, board.revision.number, board.layout, board.ranking_part, board.score, private=board.share == PRIVATE
    )
    team_ids = {row.entry.team_id for row in finding.rows if row.entry.team_id is not None}
    names = teams.names(db, board.benchmark_id, team_ids) if viewer.named else {}
    considered = numbers_considered(db, board, finding.rows) if release.level >= Level.SCORES else {}
    documents = []
    for row in finding.rows:
        document = _row(board, row, details_of(row.entry, details), names, finding)
        document["considered"] = considered.get(row.entry.id)
        documents.append(cast("RowDocument", gate.row_view(release, document)))
    return documents


def _row(board: Board, row: BoardRow, details: RowDetails, names: Mapping[str, str], finding: Finding) -> RowDocument:
    entry = row.entry
    covered = coverage_of(entry.covered, board.parts, board.ranking_part)
    # a team whose name is not shown has no id here either; an erased team has neither
    team = entry.team_id if entry.team_id in names else None
    named = team is not None or entry.team_id is None
    return RowDocument(
        rank=row.rank,
        rank_interval=row.rank_interval,
        cluster=row.cluster,
        role=entry.role,
        team=team,
        team_name=None if team is None else names[team],
        submission=entry.id,
        name=details.name if named else None,
        links=links_document(details.links) if named else None,
        created_at=moment(details.created_at),
        score=details.scores.get(board.score),
        scores=details.scores,
        covered=None if covered is None else str(covered),
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
