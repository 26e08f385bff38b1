"""Boards as views: how a caller sees one, and its bytes by validators that are known before they are made."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.policy import gate
from service.policy.figures import step_of
from service.policy.gate import Level
from service.policy.questions import require_own_pick
from service.policy.split import chosen_share, shown_share
from service.requests import PRIVATE, BoardQuery
from service.store import benchmarks
from service.store.benchmarks import Benchmark
from service.usecases.access.access import benchmark_of, item_number
from service.usecases.boards.board import Board, board_of
from service.usecases.boards.cache import cache_of
from service.usecases.runs.views import View, etag_of, moment
from service.usecases.runs.waiting import board_name, changed, wait_for
from treescore.core.version import __version__
from treescore.render.comparisons import Rendered

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
