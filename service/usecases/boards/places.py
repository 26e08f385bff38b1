"""How a team stands on a board: the rank of its row, as a badge says it, and how it came there.

A board of the past, made again of what is stored now, would show attempts that never were a row: a better one may have
been withdrawn since, or scores were hidden then. So others see of a team the row that stands now. The team itself sees
all of its submissions whose scores it sees, and organisers see the rank that each had when it was scored.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.contract.leaderboards import BadgeQuery, HistoryEntry, HistoryQuery
from service.policy.figures import not_shown
from service.policy.gate import Level, whole_second
from service.policy.release import Release
from service.render import badge_svg
from service.store import benchmarks
from service.store.submissions import BoardEntry
from service.usecases.access import benchmark_of, item_number, storable, team_of
from service.usecases.boards import ranking, viewing
from service.usecases.boards.ranking import Board
from service.usecases.runs import Page, Shown, moment


def badge(context: Context, caller: Caller, slug: str, query: BadgeQuery) -> Shown[None]:
    """Return the rank of a team's row among the rows with a rank, as SVG; an unknown team has none.

    Raises:
        NotFound: unknown benchmark, or it has no board yet.
        Forbidden: the main score is not shown; or the board is anonymous, and the team is another one.
    """
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug, caller)
        release = Release.of(benchmark, caller, context.now(), board=True)
        _require_named(release, caller, slug, query.team)
        team = _known(db, slug, query.team)

        def build() -> Shown[None]:
            return Shown(None, badge_svg(*_place(db, benchmark, release, team)), content_type="image/svg+xml")

        if release.early:
            return build()
        versions = benchmark.created_at, benchmark.version, benchmark.board_version
        depends = "badge", benchmark.id, versions, release.tag, team
        return viewing.cache_of(context.store).get_or_make(repr(depends), build)


def _require_named(release: Release, caller: Caller, slug: str, team: str) -> None:
    if not release.named and team_of(caller, slug) != team:
        raise not_shown("An anonymous leaderboard shows no team where it stands but the own one.")


def _known(db: Connection, slug: str, team: str) -> str | None:
    """Return the id of a team; None for one that does not exist or was erased, whose rows have no team."""
    found = benchmarks.get_team(db, slug, team) if storable(team) else None
    return None if found is None or found.erased_at is not None else team


def _place(
    db: Connection, benchmark: benchmarks.Benchmark, release: Release, team: str | None
) -> tuple[int | None, int]:
    """Return the rank of a team, None without one, and how many rows have a rank."""
    board = ranking.board_of(db, benchmark, until=release.until, share=release.share)
    release = viewing.released(db, benchmark, release, board.revision, board.tracks)
    if not release.shows(Level.ROUNDED):
        return None, 0
    release.require(board.score, board.part)
    rows = [row for row in ranking.rows_of(db, board, release.ranking) if row.rank is not None]
    own = [row.rank for row in rows if team is not None and row.entry.team_id == team]
    return next(iter(own), None), len(rows)


def history(context: Context, caller: Caller, slug: str, query: HistoryQuery) -> Page:
    """Return a page of the scores and ranks of a team, oldest first; below level `rounded` it is empty.

    Raises:
        NotFound: unknown benchmark, or it has no board yet.
        Unprocessable: unknown score.
        Forbidden: the score is not shown; or the board is anonymous, and the team is another one.
    """
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug, caller)
        release = Release.of(benchmark, caller, context.now(), board=True)
        _require_named(release, caller, slug, query.team)
        board = ranking.board_of(db, benchmark, score=query.score, until=release.until, share=release.share)
        release = viewing.released(db, benchmark, release, board.revision, board.tracks)
        if not release.shows(Level.ROUNDED) or _known(db, slug, query.team) is None:
            return Page([])
        release.require(board.score, board.part)
        shown, seen = board, release
        if caller.organises(slug) or team_of(caller, slug) == query.team:  # its own, as their own documents show them
            of_own = Release.of(benchmark, caller, context.now())
            seen = viewing.released(db, benchmark, of_own, board.revision, board.tracks)
            shown = replace(board, pick="all", until=None, share=of_own.share if board.share else None)
        known = ranking.rows_of(db, shown, release.ranking)
        found = sorted((row.entry for row in known if row.entry.team_id == query.team), key=lambda entry: entry.id)
        scored = [entry for entry in found if entry.value is not None and entry.finished_at is not None]
        start = item_number(query.cursor)
        stop = start + query.limit
        ranked = _ranked(db, board, release, scored[start:stop], past=caller.organises(slug))
        items = [_entry(entry, seen.score(entry.value), rank) for entry, rank in ranked]
    return Page(items, str(stop) if stop < len(scored) else None)


def _ranked(
    db: Connection, board: Board, release: Release, entries: list[BoardEntry], *, past: bool
) -> Iterator[tuple[BoardEntry, int | None]]:
    """Yield scored submissions of a team with their ranks: with `past` those of then, else those of now alone."""
    standings = ranking.standings_of(db, board, release.ranking)
    now = [] if past else standings.rows()
    for entry in entries:
        rows = standings.rows(entry.finished_at) if past else now
        yield entry, next((row.rank for row in rows if row.entry.id == entry.id), None)


def _entry(entry: BoardEntry, score: float | None, rank: int | None) -> HistoryEntry:
    at = None if entry.finished_at is None else whole_second(entry.finished_at)
    return HistoryEntry(at=cast("str", moment(at)), submission=entry.id, score=score, rank=rank)
