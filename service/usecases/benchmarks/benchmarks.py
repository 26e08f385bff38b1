"""Benchmarks: make, show, list, change, delete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from service.caller import Caller
from service.context import Context
from service.errors import Conflict, NotFound, PreconditionFailed, PreconditionRequired, refuse, unprocessable
from service.ids import new_id
from service.policy import gate
from service.policy.gate import Level
from service.queue import LIVE
from service.store import artifacts, benchmarks, revisions, runs, submissions, texts, tokens
from service.store.benchmarks import Benchmark
from service.store.revisions import Part, Revision
from service.usecases.access.access import benchmark_of, check_cursor
from service.usecases.access.idempotency import IdempotencyKey, claim_key
from service.usecases.benchmarks.settings import DEFAULTS, check_name, check_part_name, check_slug, checked_settings
from service.usecases.boards.work import put_board, schedule_board_comparison
from service.usecases.events.record import record_event
from service.usecases.runs.views import Page, View, etag_of, json_view, moment
from service.usecases.runs.waiting import wait_for
from service.usecases.scoring.config import check_scoring, scoring_config
from service.usecases.scoring.part_texts import GOLD, items_name, named_texts
from treescore.errors import Problem, ProblemList, ScoringError

REVISION_KIND = "revision"
MAX_PARTS = 1000
PATCHABLE = ("title", "series", *DEFAULTS)


def create_benchmark(
    context: Context,
    caller: Caller,
    request: Mapping[str, Any],
    texts_given: Mapping[str, Any] | None = None,
    idempotency_key: IdempotencyKey | None = None,
) -> tuple[str, bool]:
    """Store a benchmark with its first revision, whose gold a worker will check: (the slug, whether it is new).

    Args:
        context: the parts to work with.
        caller: an organiser.
        request: as in the contract; a part's gold is a string or bytes, or an object of them, and beside it may stand
            `items` as in a job (blocks, attributes, lengths).
        texts_given: gold by part, where it does not stand in the request.
        idempotency_key: the client's key for this request.

    Raises:
        Unprocessable: the request makes no sense, with pointers.
        Conflict: the slug is taken.
    """
    caller.require("organise")
    gold = gold_of(request, texts_given)
    settings = checked_settings(request)
    try:
        scoring = check_scoring(request)
    except ScoringError as error:
        raise unprocessable(error) from error
    named = _checked_names(request, gold, scoring)
    now = context.now()
    slug = str(request["id"])
    revision_id = new_id("rev", now)
    benchmark = Benchmark(slug, request["title"], request.get("series"), settings, now, now, 1, 1, None, None)
    first = Revision(slug, 1, revision_id, scoring, None, False, revisions.CHECKING, None, None, now, None)
    try:
        with context.store.write() as db:
            known = claim_key(db, caller, idempotency_key, slug, now)
            if known is not None:
                return known, False
            if benchmarks.get(db, slug) is not None:
                raise _taken(slug)
            runs.add(db, revision_id, REVISION_KIND, LIVE, now)
            benchmarks.add(db, benchmark)
            revisions.add(db, first, list(gold))
            texts.put(db, revision_id, named)
            record_event(db, context, "benchmark.created", slug, actor=caller.owner)
    except IntegrityError as error:
        raise _taken(slug) from error
    context.queue.put(revision_id, LIVE)
    return slug, True


def gold_of(request: Mapping[str, Any], texts_given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Gold by part, in the order in which parts are named."""
    found = {name: part.get("gold") for name, part in (request.get("parts") or {}).items()}
    for name, text in (texts_given or {}).items():
        found[name] = text.get("gold", text) if isinstance(text, Mapping) else text
    return found


def view_benchmark(context: Context, caller: Caller, slug: str) -> View:
    """The benchmark as it stands."""
    with context.store.read() as db:
        return _view(db, context, caller, benchmark_of(db, slug))


def wait_for_benchmark(context: Context, caller: Caller, slug: str, seconds: float, etag: str | None = None) -> View:
    """The benchmark once no revision of it is being checked, or it has moved on from `etag`, or when time is over."""
    with context.store.read() as db:
        benchmark_of(db, slug)
        newest = revisions.listing(db, slug, None, 1)
    return wait_for(context, newest[0].id, lambda: view_benchmark(context, caller, slug), seconds, etag)


def list_benchmarks(
    context: Context, caller: Caller, cursor: str | None, limit: int, series: str | None = None
) -> Page:
    """All benchmarks (of a series), by slug."""
    check_cursor(cursor)
    check_cursor(series)
    with context.store.read() as db:
        rows = benchmarks.listing(db, cursor, limit + 1, series)
        items = [_document(db, context, caller, row) for row in rows[:limit]]
    return Page(items, items[-1]["id"] if len(rows) > limit else None)


def patch_benchmark(
    context: Context, caller: Caller, slug: str, changes: Mapping[str, Any], if_match: str | None
) -> View:
    """Change what cannot change a score, if the benchmark still is as the caller saw it.

    Raises:
        PreconditionRequired: there is no If-Match.
        PreconditionFailed: the benchmark has changed meanwhile.
        Unprocessable: a member cannot be changed, or its value makes no sense.
    """
    caller.require("organise")
    now = context.now()
    with context.store.write() as db:
        benchmark = benchmark_of(db, slug, lock=True)
        if if_match is None:
            raise PreconditionRequired("Send If-Match with the ETag of the benchmark as you have seen it.")
        if not _matches(if_match, _view(db, context, caller, benchmark).etag):
            raise PreconditionFailed(f"The benchmark {slug!r} is not as you saw it. Get it again, then repeat.")
        changed = _changed(benchmark, changes)
        benchmarks.change(db, replace(changed, updated_at=now))
        record_event(db, context, "benchmark.changed", slug, actor=caller.owner, data={"members": sorted(changes)})
        scheduled = schedule_board_comparison(db, context, slug)
        view = _view(db, context, caller, benchmark_of(db, slug))
    put_board(context, scheduled)
    return view


def delete_benchmark(context: Context, caller: Caller, slug: str) -> None:
    """Erase a benchmark without submissions: gold, teams' tokens, everything but the fact that it was.

    Raises:
        Conflict: it has submissions.
    """
    caller.require("organise")
    now = context.now()
    with context.store.write() as db:
        benchmark_of(db, slug, alone=True)
        number = submissions.count(db, slug)
        if number:
            raise Conflict(
                f"The benchmark {slug!r} has {number} submissions. Delete them first, or set closes_at to close it.",
                slug="has-submissions",
                title="The benchmark has submissions",
            )
        ids = revisions.ids_of(db, slug)
        for revision_id in ids:
            runs.finish(db, revision_id, runs.CANCELLED, now)
        texts.drop(db, ids)
        artifacts.drop(db, ids)
        tokens.revoke_of(db, slug, None, now)
        benchmarks.mark_deleted(db, slug, now)
        record_event(db, context, "benchmark.deleted", slug, actor=caller.owner)
    for revision_id in ids:
        context.queue.take_out(revision_id)
        context.queue.wake(revision_id)


def part_input(context: Context, caller: Caller, slug: str, part: str) -> View:
    """The words of a part without any annotation, where the organisers publish them.

    Raises:
        NotFound: there is no such part, or its words are not given out (yet).
    """
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug)
        revision = shown_revision(db, benchmark)
        found = next((each for each in revisions.parts_of(db, revision.id) if each.name == part), None)
        if found is None:
            raise NotFound(f"The benchmark {slug!r} has no part {part!r}.")
        kind = input_kind(benchmark, revision)
        if not caller.organiser and (kind is None or not benchmark.opened(context.now())):
            when = "" if kind is None else f" before it opens at {benchmark.settings['opens_at']}"
            raise NotFound(f"The words of part {part!r} are not given out{when}.")
        made = {
            name: artifacts.get(db, revision.id, input_name(found.position, name)) for name in _input_names(revision)
        }
    chosen = kind or "words"
    bodies = {name: artifacts.unpack_json(body) for name, body in made.items() if body is not None}
    if chosen in bodies:
        text = bodies[chosen].encode()
        return View(text, etag_of(text), content_type="text/plain; charset=utf-8")
    sides = {name.partition("/")[0]: text for name, text in bodies.items() if name.endswith("/" + chosen)}
    if not sides:
        raise NotFound(f"There is nothing to give out of part {part!r}: its gold is not checked, or holds no words.")
    return json_view(sides)


def input_name(position: int, name: str) -> str:
    """Where the worker that checks gold puts what may be given out of it."""
    return f"input/{position}/{name}"


def blocks_name(position: int) -> str:
    """Where that worker puts the block (document) of each sentence, where blocks are known."""
    return f"blocks/{position}/of_sentences"


def input_kind(benchmark: Benchmark, revision: Revision) -> str | None:
    """Whether words or running text are given out; None for neither.

    Where a metric scores tokenization, words would give its answers away: then `true` means running text.
    """
    chosen = benchmark.settings["publish_input"]
    if chosen is not True:
        return chosen or None
    spec = scoring_config(revision.scoring).spec
    return "text" if any(entry.metric.own_segmentation for entry in spec.entries) else "words"


def shown_revision(db: Connection, benchmark: Benchmark) -> Revision:
    """The revision that rules; before there is one, the newest."""
    if benchmark.active_revision is not None:
        found = revisions.get(db, benchmark.id, benchmark.active_revision)
    else:
        found = next(iter(revisions.listing(db, benchmark.id, None, 1)), None)
    if found is None:
        raise NotFound(f"There is no benchmark {benchmark.id!r}.")
    return found


def _input_names(revision: Revision) -> list[str]:
    fields = scoring_config(revision.scoring).spec.format.format.fields
    return [f"{side}/{name}" if side else name for side in (fields or ("",)) for name in ("words", "text")]


def _checked_names(request: Mapping[str, Any], gold: Mapping[str, Any], scoring: Mapping[str, Any]) -> dict[str, bytes]:
    problems = ProblemList()
    check_slug(problems, request["id"], "/id")
    check_name(problems, request["title"], "/title")
    if request.get("series") is not None:
        check_slug(problems, request["series"], "/series")
    if not 1 <= len(gold) <= MAX_PARTS:
        detail = f"A benchmark has 1 to {MAX_PARTS} parts, here are {len(gold)}."
        problems.add(Problem(code="no-parts", pointer="/parts", detail=detail))
    named = parts_texts(problems, gold, scoring, request)
    refuse(problems)
    return named


def parts_texts(
    problems: ProblemList, gold: Mapping[str, Any], scoring: Mapping[str, Any], request: Mapping[str, Any]
) -> dict[str, bytes]:
    """Gold texts, and what is said of their sentences, under the names by which they are kept.

    Faults of names and shapes go to `problems`.
    """
    choice = scoring_config(scoring).spec.format
    named: dict[str, bytes] = {}
    for part, text in gold.items():
        check_part_name(problems, part, "/parts")
        named.update(named_texts(problems, GOLD, part, text, choice, "/parts"))
        items = ((request.get("parts") or {}).get(part) or {}).get("items")
        if items:
            named[items_name(part)] = orjson.dumps(items)
    return named


def _changed(benchmark: Benchmark, changes: Mapping[str, Any]) -> Benchmark:
    problems = ProblemList()
    for name in changes:
        if name not in PATCHABLE:
            problems.add(
                Problem(
                    code="not-changeable",
                    pointer=f"/{name}",
                    detail=f"A PATCH changes only what cannot change a score: {', '.join(PATCHABLE)}. "
                    "Gold and metrics change with a new revision.",
                )
            )
    if "title" in changes:
        check_name(problems, changes["title"], "/title")
    if changes.get("series") is not None:
        check_slug(problems, changes["series"], "/series")
    refuse(problems)
    return replace(
        benchmark,
        title=changes.get("title", benchmark.title),
        series=changes.get("series", benchmark.series),
        settings=checked_settings(changes, benchmark.settings),
    )


def _view(db: Connection, context: Context, caller: Caller, benchmark: Benchmark) -> View:
    document = _document(db, context, caller, benchmark)
    return json_view(document, final=document["pending_revision"] is None, state=document["state"])


def _document(db: Connection, context: Context, caller: Caller, benchmark: Benchmark) -> dict[str, Any]:
    level = gate.level_of(benchmark, caller, context.now())
    shown = shown_revision(db, benchmark)
    pending = revisions.unsettled(db, benchmark.id)
    if pending is not None and pending.dry_run and not caller.organiser:
        pending = None
    # running text tells how gold divides it no more than nothing does
    open_counts = level >= Level.GOLD or input_kind(benchmark, shown) == "words"
    return {
        "id": benchmark.id,
        "title": benchmark.title,
        "series": benchmark.series,
        **shown.scoring,
        "parts": {part.name: part_document(part, counts=open_counts) for part in revisions.parts_of(db, shown.id)},
        "state": shown.state,
        "revision": {"number": shown.number, "state": shown.state},
        "active_revision": benchmark.active_revision,
        "pending_revision": None if pending is None else pending.number,
        **benchmark.settings,
        "created_at": moment(benchmark.created_at),
        "updated_at": moment(benchmark.updated_at),
        # the problems of gold quote gold
        "failure": gate.failure_view(level, shown.failure) if shown.failure and level >= Level.GOLD else None,
    }


def part_document(part: Part, *, counts: bool) -> dict[str, Any]:
    """A part as it is shown; its size only to those who may know it."""
    return {
        "sentences": part.sentences if counts else None,
        "words": part.words if counts else None,
        "gold": part.gold_key,
    }


def _matches(if_match: str, etag: str) -> bool:
    given = [candidate.strip() for candidate in if_match.split(",")]
    return "*" in given or any(candidate.strip('"') == etag for candidate in given if not candidate.startswith("W/"))


def _taken(slug: str) -> Conflict:
    return Conflict(
        f"The id {slug!r} is taken (ids of deleted benchmarks stay taken). Choose another one.",
        slug="id-taken",
        title="The id is taken",
    )
