"""Boards as views: how a caller sees one, and its bytes by validators that are known before they are made.

What of a board's figures is shown depends on its revision: one with gold too near to that of another one is not. Boards
that are ready to send stand in a cache, bounded in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock
from typing import Any, TypedDict
from weakref import WeakKeyDictionary

import numpy as np
import orjson
from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context, LruCache
from service.policy import figures, gate
from service.policy.figures import Release, chosen_share, not_shown, release_of, require_own_pick, shown_share, step_of
from service.policy.gate import Level
from service.requests import MACRO, PRIVATE, BoardQuery
from service.store import benchmarks, boards, revisions
from service.store.benchmarks import Benchmark
from service.store.boards import RowDetails
from service.store.database import Store
from service.store.revisions import Revision
from service.store.score_records import finite
from service.store.submissions import BoardEntry
from service.usecases.access import benchmark_of, item_number
from service.usecases.boards.board import Board, board_of, track_means
from service.usecases.runs import View, board_name, changed, etag_of, moment, wait_for
from service.usecases.scoring.config import scoring_config
from service.usecases.scoring.shares import golds_of, sizes_of
from treescore.core.version import __version__
from treescore.render.forms import Rendered


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
    return number not in figures.hidden_revisions(benchmark.active_revision or 0, golds)


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
            f"a later one in fewer than {figures.LEAST_SENTENCES} sentences, or it is not known in how many, or in its "
            "parts, some of which are small."
        )


MOST_BYTES = 64 * 2**20
_STRIPES = 16


class BoardCache:
    """Views by their validator."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._views = LruCache[View](most_bytes, lambda view: len(view.content))
        self._building = [Lock() for _ in range(_STRIPES)]

    def get(self, etag: str) -> View | None:
        """Return a cached view, or None."""
        return self._views.get(etag)

    def get_or_build(self, etag: str, build: Callable[[], View]) -> View:
        """Return a view, built where it is not cached. Other threads that need the same view wait for it."""
        view = self.get(etag)
        if view is not None:
            return view
        with self._building[hash(etag) % _STRIPES]:
            view = self.get(etag)
            if view is None:
                view = build()
                self._views.put(view.etag, view)
            return view


_CACHES: WeakKeyDictionary[Store, BoardCache] = WeakKeyDictionary()
_LOCK = Lock()


def cache_of(store: Store) -> BoardCache:
    """Return the cache of a store."""
    with _LOCK:
        return _CACHES.setdefault(store, BoardCache())


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


class Missing(TypedDict):
    """What a row lacks; None where it has no scores."""

    missing_parts: list[str] | None
    scored_parts: int | None


def missing_parts_of(db: Connection, board: Board, entries: Iterable[BoardEntry]) -> dict[str, list[str]]:
    """Return the chosen parts that entries with scores lack, of training runs each by itself; by submission.

    A part is missing that has no score at all. Only where no sentence of a part is covered are figures
    read: those of a large board are many.
    """
    layout = board.layout
    at = [(name, layout.row(name)) for name in board.chosen_names]
    lacking: dict[str, list[str]] = {}
    unsure: list[str] = []
    for entry in entries:
        runs = entry.runs or (entry.id,)
        if entry.covered is None or any(entry.covered[row] == 0 for _, row in at):
            unsure += runs
        else:
            lacking |= {run: [] for run in runs}
    for each, values in boards.part_figures(db, unsure, board.revision.number, layout).items():
        undefined = np.isnan(values)
        lacking[each] = [name for name, row in at if undefined[row].all()]
    return lacking


def missing_of_row(parts: Sequence[str], entry: BoardEntry, missing: Mapping[str, Sequence[str]]) -> Missing:
    """Return what a row lacks of the chosen parts, of several training runs what any of them lacks."""
    runs = entry.runs or (entry.id,)
    if not any(run in missing for run in runs):
        return Missing(missing_parts=None, scored_parts=None)
    lacking = {name for run in runs for name in missing.get(run, ())}
    names = [name for name in parts if name in lacking] if lacking else []
    return Missing(missing_parts=names, scored_parts=len(parts) - len(names))


ONE_STATE = 3
"""Attempts at reading a board while it does not change."""

Document = Mapping[str, Any]


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


@dataclass(frozen=True, slots=True)
class Sheet:
    """One way to look at boards.

    Attributes:
        name, version: of its documents; part of their ETags.
        formats: name -> media type, `json` among them.
        document: makes it of a board, for a viewer, with rows after the first so many.
        render: writes it in a format other than JSON.
    """

    name: str
    version: int
    formats: Mapping[str, str]
    document: Callable[[Connection, Benchmark, Board, Viewer, int], Document]
    render: Callable[[Any, str], Rendered]


def sheet_view(
    context: Context, caller: Caller, slug: str, sheet: Sheet, query: BoardQuery, etag: str | None = None
) -> View:
    """Return a board as a sheet shows it, ready to send.

    Args:
        context: store, queue and configuration.
        caller: the viewer.
        slug: of the benchmark.
        sheet: how it is shown.
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
        return _early(context, sheet, benchmark, replace(viewer, share=share), query, form)
    viewer = replace(viewer, share=share)
    tag = _tag(sheet, benchmark, viewer, query, form)
    cache = cache_of(context.store)
    if etag == tag and viewer.until is None:
        known = cache.get(tag)
        return View(b"", tag, final=known is None or known.final, content_type=sheet.formats[form])
    if form == "json":
        return cache.get_or_build(tag, lambda: _built(context, sheet, benchmark, viewer, query, tag))
    source = _tag(sheet, benchmark, viewer, query, "json")
    json = cache.get_or_build(source, lambda: _built(context, sheet, benchmark, viewer, query, source))

    def render() -> View:
        shown = sheet.render(orjson.loads(json.body), form)
        name = tag if json.etag == source else etag_of(shown.content)
        return View(shown.content, name, json.final, content_type=shown.media_type, next=json.next)

    return cache.get_or_build(tag, render)


def wait_for_sheet(
    context: Context, caller: Caller, slug: str, sheet: Sheet, query: BoardQuery, seconds: float, etag: str | None
) -> View:
    """Return a board once it differs from the caller's copy, without one once its significance is there; or late."""
    name = board_name(slug)
    return wait_for(
        context, name, lambda: sheet_view(context, caller, slug, sheet, query, etag), seconds, etag, changed
    )


def _early(context: Context, sheet: Sheet, benchmark: Benchmark, viewer: Viewer, query: BoardQuery, form: str) -> View:
    """Return the private share's board before it is shown, which no version counts: that of the board would tell."""
    view = _built(context, sheet, benchmark, viewer, query, "")
    body = view.body if form == "json" else sheet.render(orjson.loads(view.body), form).content
    return view._replace(content=body, etag=etag_of(body), content_type=sheet.formats[form])


def _tag(sheet: Sheet, benchmark: Benchmark, viewer: Viewer, query: BoardQuery, form: str) -> str:
    """Return a validator of the bytes without reading them: versions count every change that they depend on."""
    # the validator of a board without rows must not reveal when something was scored, nor that of rounded scores which
    # rows were compared again
    versions = {Level.NONE: 0, Level.STATUS: 0, Level.ROUNDED: benchmark.rows_version}
    board_version = versions.get(viewer.level, benchmark.board_version)
    depends = (
        sheet.name, sheet.version, __version__, benchmark.id, moment(benchmark.created_at), benchmark.version,
        board_version, int(viewer.level), viewer.step, moment(viewer.until), viewer.named,
        viewer.held, viewer.share, replace(query, format=form),
    )  # fmt: skip
    return hashlib.blake2b(repr(depends).encode(), digest_size=16).hexdigest()


def _built(context: Context, sheet: Sheet, benchmark: Benchmark, viewer: Viewer, query: BoardQuery, tag: str) -> View:
    """Read the board from one state of the store. Bytes read while it kept changing get a validator of their own."""
    for _ in range(ONE_STATE):
        with context.store.read() as db:
            board = board_of(
                db, benchmark, score=query.score, pick=query.pick, revision=query.revision, part=query.part,
                until=viewer.until, held=viewer.held, share=viewer.share,
            )  # fmt: skip
            document = sheet.document(db, benchmark, board, viewer, item_number(query.cursor))
            after = benchmarks.get(db, benchmark.id)
        body = orjson.dumps(document)
        settled = not document.get("significance", {}).get("pending")
        if after is None or (after.version, after.board_version) == (benchmark.version, benchmark.board_version):
            # versions count what is scored after freezing too, which the viewer may not know of
            name = tag if viewer.until is None else etag_of(body)
            return View(body, name, settled, next=document["next"])
        benchmark = after
    return View(body, etag_of(body), settled, next=document["next"])
