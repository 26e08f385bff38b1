"""Boards as views: how a caller sees one, and its bytes, kept under what they depend on.

What of a board's figures is shown depends on its revision: one with gold too near to that of another one is not. Boards
that are ready to send stand in a cache, bounded in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock
from typing import Any, Generic, TypedDict, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import orjson
from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context, LruCache
from service.contract.leaderboards import BoardQuery
from service.policy import figures, gate
from service.policy.figures import Release, chosen_share, not_shown, release_of, require_own_pick, shown_share, step_of
from service.policy.gate import Level
from service.requests import MACRO, PRIVATE
from service.store import benchmarks, boards, revisions
from service.store.benchmarks import Benchmark
from service.store.boards import RowDetails
from service.store.database import Store
from service.store.revisions import Revision
from service.store.score_records import finite
from service.store.submissions import BoardEntry
from service.usecases.access import benchmark_of, item_number
from service.usecases.boards.board import Board, board_of, track_means
from service.usecases.runs import Shown, board_name, changed, wait_for
from service.usecases.scoring.config import scoring_config
from service.usecases.scoring.shares import golds_of, sizes_of
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
_CACHES: WeakKeyDictionary[Store, LruCache[Shown[Any]]] = WeakKeyDictionary()
_LOCK = Lock()


def cache_of(store: Store) -> LruCache[Shown[Any]]:
    """Return the bytes of a store's boards, by what their bytes depend on."""
    with _LOCK:
        return _CACHES.setdefault(store, LruCache[Shown[Any]](MOST_BYTES, lambda shown: len(shown.content)))


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

Document = TypeVar("Document", bound=Mapping[str, Any])


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
class Sheet(Generic[Document]):
    """One way to look at boards.

    Attributes:
        name: of its documents.
        formats: name -> media type, `json` among them.
        document: makes it of a board, for a viewer, with rows after the first so many.
        render: writes it in a format other than JSON.
    """

    name: str
    formats: Mapping[str, str]
    document: Callable[[Connection, Benchmark, Board, Viewer, int], Document]
    render: Callable[[Any, str], Rendered]


def sheet_view(
    context: Context, caller: Caller, slug: str, sheet: Sheet[Document], query: BoardQuery
) -> Shown[Document]:
    """Return a board as a sheet shows it: its bytes, which are kept.

    Its validator is the digest of its bytes: one that counted what they depend on would tell of attempts that are not
    picked, of what is scored after freezing, and of which of two rounded scores is the better one.

    Args:
        context: store, queue and configuration.
        caller: the viewer.
        slug: of the benchmark.
        sheet: how it is shown.
        query: which board: by default the active revision, its main score, the benchmark's own pick, JSON.

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
    early = share == PRIVATE and viewer.share != PRIVATE
    viewer = replace(viewer, share=share)
    cache = cache_of(context.store)

    def build() -> Shown[Document]:
        return _built(context, sheet, benchmark, viewer, query)

    def render() -> Shown[Document]:
        shown = sheet.render(json.document, form)
        return replace(json, kept=shown.content, content_type=shown.media_type)

    if early:  # no version counts it: that of the board would tell of the private share
        json = build()
        return json if form == "json" else render()
    versions = benchmark.created_at, benchmark.version, benchmark.board_version
    json = cache.get_or_make(repr((sheet.name, benchmark.id, versions, viewer, replace(query, format=None))), build)
    return json if form == "json" else cache.get_or_make(f"{json.etag}.{form}", render)


def wait_for_sheet(
    context: Context,
    caller: Caller,
    slug: str,
    sheet: Sheet[Document],
    query: BoardQuery,
    seconds: float,
    etag: str | None,
) -> Shown[Document]:
    """Return a board once it differs from the caller's copy, without one once its significance is there; or late."""
    name = board_name(slug)
    return wait_for(context, name, lambda: sheet_view(context, caller, slug, sheet, query), seconds, etag, changed)


def _built(
    context: Context, sheet: Sheet[Document], benchmark: Benchmark, viewer: Viewer, query: BoardQuery
) -> Shown[Document]:
    """Read the board, from one state of the store unless it keeps changing."""
    for _ in range(ONE_STATE):
        with context.store.read() as db:
            board = board_of(
                db, benchmark, score=query.score, pick=query.pick, revision=query.revision, part=query.part,
                until=viewer.until, held=viewer.held, share=viewer.share,
            )  # fmt: skip
            document = sheet.document(db, benchmark, board, viewer, item_number(query.cursor))
            after = benchmarks.get(db, benchmark.id)
        if after is None or (after.version, after.board_version) == (benchmark.version, benchmark.board_version):
            break
        benchmark = after
    final = not document.get("significance", {}).get("pending")
    return Shown(None, orjson.dumps(document), final=final, next=document["next"])
