"""The leaderboard as a view: current scores at once, significance as soon as a worker has caught up."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import Forbidden, Unauthorized, Unprocessable
from service.policy import gate
from service.policy.gate import Level
from service.render import LEADERBOARD_FORMATS, render_leaderboard
from service.store import benchmarks, boards, teams
from service.store.benchmarks import Benchmark
from service.store.boards import Shown
from service.usecases.access.access import benchmark_of, item_number
from service.usecases.boards.board import Board, board_of, places_of
from service.usecases.boards.cache import cache_of
from service.usecases.boards.significance import Finding, significance_of
from service.usecases.runs.views import View, etag_of, moment
from treescore.core.version import __version__

VERSION = 1
"""Of the document; part of its validator."""
MOST_ROWS = 2000
"""Rows in one answer."""
ONE_STATE = 3
"""Times that a board is read where something changes while it is read."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks of a board: see `leaderboard`. Rows from after number `start` on."""

    score: str | None
    pick: str | None
    revision: int | None
    part: str | None
    start: int


@dataclass(frozen=True, slots=True)
class Viewer:
    """What decides how a board looks to a caller.

    Attributes:
        level: no higher than `scores`: a board shows nothing beyond.
        step: to which scores are rounded; None for not at all.
        until: when the board was frozen for this viewer; None where it is not.
        named: whether teams have their names.
    """

    level: Level
    step: float | None
    until: datetime | None
    named: bool

    def see(self, value: float | None) -> float | None:
        """A score as the viewer may see it."""
        return gate.visible(self.level, value, self.step)


def viewer_of(benchmark: Benchmark, caller: Caller, now: datetime) -> Viewer:
    """How a caller sees a board. Organisers see it with names and as it stands now.

    Raises:
        Unauthorized, Forbidden: the board is not public, and the caller has no part in the benchmark.
    """
    require_reader(benchmark, caller)
    level = min(gate.level_of(benchmark, caller, now), Level.SCORES)
    frozen_at = benchmark.frozen_at
    until = None if caller.organiser or frozen_at is None or now < frozen_at else frozen_at
    step = gate.step_of(benchmark) if level is Level.ROUNDED else None
    return Viewer(level, step, until, named=caller.organiser or not benchmark.leaderboard["anonymous"])


def require_reader(benchmark: Benchmark, caller: Caller) -> None:
    """Refuse whoever may not see the board.

    Raises:
        Unauthorized, Forbidden: it is not public, and the caller has no part in the benchmark.
    """
    if benchmark.leaderboard["public"] or caller.organiser:
        return
    if caller.token_id is None:
        raise Unauthorized(f"The leaderboard of {benchmark.id!r} is not public. Send a token of the benchmark.")
    if caller.benchmark not in (None, benchmark.id) or not caller.allowed("submit", "read"):
        raise Forbidden(f"The leaderboard of {benchmark.id!r} is for its own teams and organisers.")


def leaderboard(
    context: Context,
    caller: Caller,
    slug: str,
    *,
    score: str | None = None,
    pick: str | None = None,
    revision: int | None = None,
    part: str | None = None,
    form: str = "json",
    etag: str | None = None,
    cursor: str | None = None,
) -> View:
    """The board, ready to send.

    Args:
        context: the parts to work with.
        caller: who looks.
        slug: of the benchmark.
        score: by which to rank; the main score unless given.
        pick: `best`, `last`, `chosen` or `all` of each team; as the benchmark has it unless given.
        revision: the one that rules unless given.
        part: a part's name, `macro` (the mean of the parts) or `pooled`.
        form: one of `service.render.LEADERBOARD_FORMATS`.
        etag: what the caller has: the view has no body then where it still holds.
        cursor: `next` of a board with more rows than one answer holds.

    Raises:
        NotFound: no such benchmark, revision or part.
        Unprocessable: no such score, pick or format.
        Unauthorized, Forbidden: the board is not for the caller.
    """
    if form not in LEADERBOARD_FORMATS:
        raise Unprocessable(f"There is no format {form!r}. There are: {', '.join(LEADERBOARD_FORMATS)}.")
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug)
    viewer = viewer_of(benchmark, caller, context.now())
    asked = Asked(score, pick, revision, part, item_number(cursor))
    tag = _tag(benchmark, viewer, asked, form)
    cache = cache_of(context.store)
    if etag == tag:
        known = cache.get(tag)
        return View(b"", tag, final=known is None or known.final, content_type=LEADERBOARD_FORMATS[form])
    if form == "json":
        return cache.get_or_build(tag, lambda: _built(context, benchmark, viewer, asked, tag))
    source = _tag(benchmark, viewer, asked, "json")
    json = cache.get_or_build(source, lambda: _built(context, benchmark, viewer, asked, source))

    def render() -> View:
        shown = render_leaderboard(orjson.loads(json.body), form)
        name = tag if json.etag == source else etag_of(shown.content)
        return View(shown.content, name, json.final, content_type=shown.media_type)

    return cache.get_or_build(tag, render)


def _tag(benchmark: Benchmark, viewer: Viewer, asked: Asked, form: str) -> str:
    """Names the bytes without reading them: everything that they depend on is counted by the versions."""
    # a board without rows must not tell by its name when something was scored
    board_version = benchmark.board_version if viewer.level >= Level.ROUNDED else 0
    depends = (
        VERSION, __version__, benchmark.id, moment(benchmark.created_at), benchmark.version,
        board_version, int(viewer.level), viewer.step, moment(viewer.until), viewer.named, asked, form,
    )  # fmt: skip
    return hashlib.blake2b(repr(depends).encode(), digest_size=16).hexdigest()


def _built(context: Context, benchmark: Benchmark, viewer: Viewer, asked: Asked, tag: str) -> View:
    """The board of one state of the store; bytes read while it went on changing have a validator of their own."""
    for _ in range(ONE_STATE):
        with context.store.read() as db:
            board = board_of(
                db,
                benchmark,
                score=asked.score,
                pick=asked.pick,
                revision=asked.revision,
                part=asked.part,
                until=viewer.until,
            )
            document = board_document(db, benchmark, board, viewer, asked)
            after = benchmarks.get(db, benchmark.id)
        body = orjson.dumps(document)
        settled = not document["significance"]["pending"]
        if after is None or (after.version, after.board_version) == (benchmark.version, benchmark.board_version):
            return View(body, tag, settled, next=document["next"])
        benchmark = after
    return View(body, etag_of(body), settled, next=document["next"])


def board_document(db: Connection, benchmark: Benchmark, board: Board, viewer: Viewer, asked: Asked) -> dict[str, Any]:
    """The whole answer."""
    score = board.scored_by[1]
    places = places_of(db, board, viewer.see) if viewer.level >= Level.ROUNDED else []
    finding = significance_of(db, benchmark, board, places, viewer.level)
    changed = boards.last_change(db, benchmark.id, viewer.until) if viewer.level >= Level.ROUNDED else None
    stop = asked.start + MOST_ROWS
    return {
        "benchmark": benchmark.id,
        "title": benchmark.title,
        "revision": board.revision.number,
        "active": board.active,
        "score": board.score,
        "higher_is_better": score.higher_is_better,
        "part": board.part,
        "pick": board.pick,
        "feedback": viewer.level.name.lower(),
        "rounding": viewer.step,
        "anonymous": not viewer.named,
        "frozen": viewer.until is not None,
        "as_of": moment(viewer.until or changed),
        "significance": finding.document,
        "scores": list(board.scoring.addresses) if viewer.level >= Level.ROUNDED else [],
        "total_rows": len(places),
        "next": str(stop) if stop < len(places) else None,
        "rows": _rows(db, board, replace(finding, places=finding.places[asked.start : stop]), viewer),
    }


def _rows(db: Connection, board: Board, finding: Finding, viewer: Viewer) -> list[dict[str, Any]]:
    places = finding.places
    size, columns = len(board.parts), len(board.scoring.addresses)
    interval = board.interval_rows
    first, count = (size, 6) if interval is not None else (board.row, 1)
    ids = [place.entrant.id for place in places]
    shown = boards.shown(db, ids, board.revision.number, columns, first, count)
    team_ids = {place.entrant.team_id for place in places if place.entrant.team_id is not None}
    names = teams.names(db, board.benchmark_id, team_ids) if viewer.named else {}
    rows = []
    for place in places:
        details = shown[place.entrant.id]
        team = place.entrant.team_id
        # whoever is not named has no id either; an erased team has lost both
        named = team if team in names else None
        row = {
            "rank": place.rank,
            "rank_interval": place.rank_interval,
            "cluster": place.cluster,
            "role": place.entrant.role,
            "team": named,
            "team_name": None if team is None else names.get(team),
            "submission": place.entrant.id,
            "name": details.name if named is not None or team is None else None,
            "created_at": moment(details.created_at),
            "score": place.entrant.value,
            "scores": _scores(board, details, board.row - first),
            "ci95": finding.intervals.get(place.entrant.id) or _interval(board, details, first, viewer),
            "p_next": place.p_next,
            "tested": place.tested,
            "reason": finding.untested.get(place.entrant.id),
        }
        rows.append(gate.row_view(viewer.level, row, rounding=viewer.step))
    return rows


def _scores(board: Board, details: Shown, row: int) -> dict[str, float | None]:
    if details.figures is None:
        return {}
    values = (value if math.isfinite(value) else None for value in details.figures[row].tolist())
    return dict(zip(board.scoring.addresses, values, strict=True))


def _interval(board: Board, details: Shown, first: int, viewer: Viewer) -> dict[str, float] | None:
    if board.interval_rows is None or details.figures is None or viewer.level < Level.SCORES:
        return None
    low, high = (float(details.figures[row - first, board.column]) for row in board.interval_rows)
    return {"low": low, "high": high} if math.isfinite(low) and math.isfinite(high) else None
