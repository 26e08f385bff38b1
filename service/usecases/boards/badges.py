"""How a team stands on a board: the rank of its row, as a badge says it."""

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.contract.leaderboards import BadgeQuery
from service.policy.figures import not_shown
from service.policy.gate import Level
from service.policy.release import Release
from service.render import badge_svg
from service.store import benchmarks
from service.usecases.access import benchmark_of, team_of
from service.usecases.boards import ranking, viewing
from service.usecases.runs import Shown


def badge(context: Context, caller: Caller, slug: str, query: BadgeQuery) -> Shown[None]:
    """Return the rank of a team's row among the rows with a rank, as SVG; an unknown team has none.

    Raises:
        NotFound: unknown benchmark, or it has no board yet.
        Forbidden: the main score is not shown; or the board is anonymous, and the team is another one.
    """
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug, caller)
        release = Release.of(benchmark, caller, context.now(), board=True)
        if not release.named and team_of(caller, slug) != query.team:
            raise not_shown("An anonymous leaderboard shows no team where it stands but the own one.")

        def build() -> Shown[None]:
            return Shown(None, badge_svg(*_place(db, benchmark, release, query.team)), content_type="image/svg+xml")

        versions = benchmark.created_at, benchmark.version, benchmark.board_version
        depends = "badge", benchmark.id, versions, release.tag, query.team
        return viewing.cache_of(context.store).get_or_make(repr(depends), build)


def _place(db: Connection, benchmark: benchmarks.Benchmark, release: Release, team: str) -> tuple[int | None, int]:
    """Return the rank of a team, None without one, and how many rows have a rank."""
    board = ranking.board_of(db, benchmark, until=release.until, share=release.share)
    release = viewing.released(db, benchmark, release, board.revision, board.tracks)
    if not release.shows(Level.ROUNDED):
        return None, 0
    release.require(board.score, board.part)
    rows = [row for row in ranking.rows_of(db, board, release.ranking) if row.rank is not None]
    return next((row.rank for row in rows if row.entry.team_id == team), None), len(rows)
