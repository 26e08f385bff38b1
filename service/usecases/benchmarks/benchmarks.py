"""Create, show, list, change and delete benchmarks."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from io import BytesIO
from typing import cast
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import orjson
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from service.caller import Caller, new_id, principal_of
from service.context import Context
from service.contract import benchmarks as contract
from service.contract.benchmarks import BenchmarkChanges, BenchmarkRequest, BenchmarksQuery, PartGold
from service.contract.common import TextsByName
from service.errors import Conflict, NotFound, PreconditionFailed, PreconditionRequired, invalid, refuse, unprocessable
from service.lru import LruCache
from service.policy import figures, gate
from service.policy.release import Release
from service.queue import LIVE
from service.requests import MAX_PARTS, MISSING, PRIVATE, Request
from service.store import artifacts, benchmarks, packing, revisions, runs, score_records, submissions, texts, tokens
from service.store.benchmarks import Benchmark
from service.store.revisions import Part, Revision
from service.usecases import access, events
from service.usecases.benchmarks.settings import check_part_name, complete_settings, revision_warnings, time_warnings
from service.usecases.boards.work import schedule_board_comparison
from service.usecases.runs import TEXT_TYPE, Page, Shown, moment, page_of, queue_runs, shown_members, wait_for
from service.usecases.scoring import config, gold, shares
from treescore.core import trees
from treescore.core.params import Json, escape
from treescore.core.wording import counted, did_you_mean
from treescore.errors import Problem, ProblemList, ScoringError

REVISION_KIND = "revision"
RESERVED_IDS = ("new", "see-as", "tokens", "webhooks")
"""Ids that no benchmark has: pages have these addresses below `/admin`."""


def create_benchmark(
    context: Context, caller: Caller, request: BenchmarkRequest, idempotency_key: access.IdempotencyKey | None = None
) -> tuple[str, bool]:
    """Store a benchmark with its first revision, whose gold a worker checks. Return its id, and whether it is new.

    Raises:
        Unprocessable: the request is invalid, with pointers.
        Conflict: the id is taken.
    """
    caller.require("organise")
    try:
        scoring = config.check_scoring(request.given())
    except ScoringError as error:
        raise unprocessable(error) from error
    now = context.now()
    settings = complete_settings(request, scoring, request.parts, now)
    problems = ProblemList()
    if not 1 <= len(request.parts) <= MAX_PARTS:
        detail = f"A benchmark has 1 to {MAX_PARTS} parts; the request has {len(request.parts)}."
        problems.add(Problem(code="no-parts", pointer="/parts", detail=detail))
    if request.id in RESERVED_IDS:
        detail = f"The id {request.id!r} stands for a page of organisers. Use another id."
        problems.add(Problem(code="reserved-name", pointer="/id", detail=detail))
    named = parts_texts(problems, request.parts, scoring, context.config.max_run_bytes)
    refuse(problems)
    slug = request.id
    series = None if request.series is MISSING else request.series
    revision_id = new_id("rev", now)
    benchmark = Benchmark(slug, request.title, series, settings, None, now, now, 1, 1, None, None)
    if benchmark.after_closing is not None:
        benchmark = replace(benchmark, closed_from=max(benchmark.after_closing, now))
    first = Revision(slug, 1, revision_id, scoring, None, None, False, revisions.CHECKING, None, None, now, None)
    try:
        with context.store.write() as db:
            earlier = access.claim_key(db, caller, idempotency_key, slug, now)
            if earlier is not None:
                return earlier, False
            if benchmarks.get(db, slug) is not None:
                raise _benchmark_taken(slug)
            runs.add(db, revision_id, REVISION_KIND, LIVE, now, principal_of(slug))
            benchmarks.add(db, benchmark)
            if benchmark.private_share is not None:
                shares.make_key(db)
            revisions.add(db, first, list(request.parts))
            texts.put_packed(db, revision_id, named)
            events.record_event(db, context, "benchmark.created", slug, actor=caller.owner)
    except IntegrityError as error:
        raise _benchmark_taken(slug) from error
    context.queue.put(revision_id, LIVE)
    return slug, True


def view_benchmark(context: Context, caller: Caller, slug: str) -> Shown[contract.Benchmark]:
    """Show a benchmark."""
    with context.store.read() as db:
        return _view(db, context, caller, access.benchmark_of(db, slug, caller))


def level_of(context: Context, caller: Caller, slug: str) -> str:
    """Return the name of the feedback level at which the caller sees a benchmark now."""
    with context.store.read() as db:
        return Release.of(access.benchmark_of(db, slug, caller), caller, context.now()).level.name.lower()


def wait_for_benchmark(
    context: Context, caller: Caller, slug: str, seconds: float, etag: str | None = None
) -> Shown[contract.Benchmark]:
    """Show a benchmark once no revision of it is being checked, or it differs from `etag`, or the time is over."""
    with context.store.read() as db:
        benchmark = access.benchmark_of(db, slug, caller)
        awaited = revisions.unfinished(db, slug) or shown_revision(db, benchmark)
    return wait_for(context, awaited.id, lambda: view_benchmark(context, caller, slug), seconds, etag)


def list_benchmarks(context: Context, caller: Caller, query: BenchmarksQuery) -> Page:
    """List the benchmarks that the caller may know of, or those of a series, by id."""
    known: list[Benchmark] = []
    after, more = query.cursor, True
    with context.store.read() as db:
        while more and len(known) <= query.limit:
            rows = benchmarks.listing(db, after, query.limit + 1, query.series)
            known += [row for row in rows if gate.knows(row, caller)]
            more = len(rows) > query.limit
            after = rows[-1].id if rows else after
        return page_of(known, query.limit, lambda row: _benchmark_document(db, context, caller, row))


def patch_benchmark(
    context: Context, caller: Caller, slug: str, changes: BenchmarkChanges, if_match: str | None
) -> Shown[contract.Benchmark]:
    """Change what cannot change a score, if the benchmark is still as the caller saw it.

    Raises:
        PreconditionRequired: If-Match is missing.
        PreconditionFailed: the benchmark has changed.
        Unprocessable: the settings do not fit together; the split would change after the first submission, or closing
            after the private share is shown.
        Conflict: the ladder would change after the first submission.
    """
    caller.require("organise", of=slug)
    now = context.now()
    splits = isinstance(changes.leaderboard, Request) and "split" in changes.leaderboard.given()
    with context.store.write() as db:
        # no submission comes between the check that there is none and the split
        benchmark = access.benchmark_of(db, slug, lock=True, exclusive=splits)
        if if_match is None:
            raise PreconditionRequired("Send If-Match with the ETag of the benchmark.")
        if not _matches(if_match, _view(db, context, caller, benchmark).etag):
            raise PreconditionFailed(f"The benchmark {slug!r} has changed. Get it again, then repeat the request.")
        shown = shown_revision(db, benchmark)
        names = [part.name for part in revisions.parts_of(db, shown.id)]
        changed = replace(
            benchmark,
            title=benchmark.title if changes.title is MISSING else changes.title,
            series=benchmark.series if changes.series is MISSING else changes.series,
            settings=complete_settings(changes, shown.scoring, names, now, benchmark.settings),
            updated_at=now,
        )
        if changed.closes_at != benchmark.closes_at:
            over = benchmark.closed_from if benchmark.closed(now) else now
            changed = replace(changed, closed_from=over if changed.closed(now) else changed.after_closing)
        if changed.leaderboard["ladder"] != benchmark.leaderboard["ladder"] and submissions.exist(db, slug):
            raise Conflict(
                "A ladder begins with the first submission, so that it cannot be set or removed afterwards.",
                slug="ladder-begun",
            )
        _check_split_change(db, benchmark, changed, now)
        benchmarks.change(db, changed)
        members = sorted(changes.given())
        events.record_event(db, context, "benchmark.changed", slug, actor=caller.owner, data={"members": members})
        scheduled = schedule_board_comparison(db, context, slug)
        view = _view(db, context, caller, access.benchmark_of(db, slug))
    queue_runs(context, scheduled, slug)
    return view


def _check_split_change(db: Connection, before: Benchmark, changed: Benchmark, now: datetime) -> None:
    """Check a change that touches the shares of the test set, and make ready to draw them.

    Raises:
        Unprocessable: the split changes after the first submission, or the closing time once the private share is
            shown; a part is too small to be split.
    """
    if changed.private_share != before.private_share:
        if submissions.exist(db, before.id):
            detail = "Scores over other shares have been shown. The split cannot change after the first submission."
            raise invalid("split-begun", "/leaderboard/split", detail)
        shares.make_key(db)
        refuse(shares.unsplittable(revisions.parts_of(db, shown_revision(db, before).id), changed))
    elif figures.shown_share(before, now) == PRIVATE and changed.closes_at != before.closes_at:
        detail = (
            f"The benchmark closed at {before.settings['closes_at']}, and its private share is shown since: what is "
            "submitted afterwards could be fitted to it. Create a new benchmark."
        )
        raise invalid("reopened-split", "/closes_at", detail)


def delete_benchmark(context: Context, caller: Caller, slug: str) -> None:
    """Delete a benchmark without submissions, with its gold and the tokens of its teams; its id stays taken.

    Raises:
        Conflict: it has submissions.
    """
    caller.require("organise", of=slug)
    now = context.now()
    with context.store.write() as db:
        access.benchmark_of(db, slug, exclusive=True)
        number = submissions.count(db, slug)
        if number:
            raise Conflict(
                f"The benchmark {slug!r} has {counted(number, 'submission')}. Delete them first, or set `closes_at` to "
                "close it.",
                slug="has-submissions",
            )
        ids = list(revisions.ids_by_number(db, slug).values())
        for revision_id in ids:
            runs.finish(db, revision_id, runs.CANCELLED, now)
        texts.drop(db, ids)
        artifacts.drop(db, ids)
        score_records.drop_ladders(db, slug)
        tokens.revoke_all(db, slug, None, now)
        benchmarks.mark_deleted(db, slug, now)
        events.record_event(db, context, "benchmark.deleted", slug, actor=caller.owner)
    gold.drop_gold(context, ids)
    for revision_id in ids:
        context.queue.stop(revision_id)


def part_input(context: Context, caller: Caller, slug: str, part: str) -> Shown[TextsByName]:
    """Show the words of a part without annotation, if the organisers publish them.

    Raises:
        NotFound: the part does not exist, or its words are not published (yet).
    """
    with context.store.read() as db:
        benchmark = access.benchmark_of(db, slug, caller)
        revision = shown_revision(db, benchmark)
        parts = {each.name: each for each in revisions.parts_of(db, revision.id)}
        known = parts.get(part)
        if known is None:
            raise NotFound(f"Unknown part {part!r} of benchmark {slug!r}.{did_you_mean(part, parts)}")
        kind = _published(context, caller, benchmark, revision)
        sides = _words(db, revision, known, kind)
    if sides.keys() == {""}:
        return Shown(None, sides[""].encode(), content_type=TEXT_TYPE)
    return Shown(sides)


def _published(context: Context, caller: Caller, benchmark: Benchmark, revision: Revision) -> str:
    """Return which texts of gold a caller gets: `words` or `text`.

    Raises:
        NotFound: they are not published (yet).
    """
    kind = config.input_kind(benchmark, revision)
    if not caller.organises(benchmark.id) and (kind is None or not benchmark.opened(context.now())):
        when = "" if kind is None else f" before it opens at {benchmark.settings['opens_at']}"
        raise NotFound(f"The words of benchmark {benchmark.id!r} are not published{when}.")
    return kind or "words"


def _words(db: Connection, revision: Revision, part: revisions.Part, kind: str) -> TextsByName:
    """Return the texts of a part by the names of its sides; a format of one text has one without a name.

    Raises:
        NotFound: it has none.
    """
    names = [f"{side}{name}" for side in ("", "source/", "target/") for name in ("words", "text")]
    stored = {name: artifacts.get(db, revision.id, input_name(part.position, name)) for name in names}
    bodies = {name: artifacts.unpack_json(body) for name, body in stored.items() if body is not None}
    if kind in bodies:
        return {"": bodies[kind]}
    sides = {name.partition("/")[0]: text for name, text in bodies.items() if name.endswith("/" + kind)}
    if not sides:
        raise NotFound(f"Part {part.name!r} has no words to publish: its gold is not checked yet, or contains none.")
    return sides


MOST_ZIPPED = 100
"""Parts that an archive has at most."""
MOST_ARCHIVED = 64 * 2**20
"""Characters of all texts of an archive at most, and bytes of all archives that a process keeps."""
_ARCHIVES = LruCache[Shown[None]](MOST_ARCHIVED, lambda shown: len(shown.content))
"""By what they depend on: any caller may ask for them, as often as it likes."""
_ZIPPED_AT = (1980, 1, 1, 0, 0, 0)
"""Time of its files, so that equal texts make equal bytes."""


def input_archive(context: Context, caller: Caller, slug: str) -> Shown[None]:
    """Show the words of all parts in a zip archive, as `part_input` does those of one.

    Raises:
        NotFound: as `part_input`; or they are more than an archive holds.
    """
    with context.store.read() as db:
        benchmark = access.benchmark_of(db, slug, caller)
        revision = shown_revision(db, benchmark)
        kind = _published(context, caller, benchmark, revision)
        parts = revisions.parts_of(db, revision.id)
    suffix = _input_suffix(revision, kind)
    if len(parts) > MOST_ZIPPED:
        raise NotFound(f"An archive holds at most {MOST_ZIPPED} parts. Get each by itself.")

    def make() -> Shown[None]:
        archive, left = BytesIO(), MOST_ARCHIVED
        with context.store.read() as db, ZipFile(archive, "w", ZIP_DEFLATED, compresslevel=1) as made:
            for part in parts:
                for side, text in _words(db, revision, part, kind).items():
                    left -= len(text)
                    if left < 0:
                        raise NotFound(f"An archive holds at most {MOST_ARCHIVED} characters. Get each part by itself.")
                    name = ".".join(filter(None, (part.name, side, suffix)))
                    made.writestr(ZipInfo(name, _ZIPPED_AT), text, ZIP_DEFLATED)
        return Shown(None, archive.getvalue(), content_type="application/zip")

    return _ARCHIVES.get_or_make(f"{revision.id} {kind}", make)


def input_suffix(context: Context, caller: Caller, slug: str) -> str:
    """Return how files with the words of a part are named in the end. Raises NotFound as `part_input`."""
    with context.store.read() as db:
        benchmark = access.benchmark_of(db, slug, caller)
        revision = shown_revision(db, benchmark)
        return _input_suffix(revision, _published(context, caller, benchmark, revision))


def _input_suffix(revision: Revision, kind: str) -> str:
    kinds = config.scoring_config(revision.scoring).spec.format.format.yields
    if kind == "words" and issubclass(kinds, trees.DependencyTreebank | trees.ParallelTreebank):
        return "conllu"
    return "sdp" if kind == "words" and issubclass(kinds, trees.SemanticTreebank) else "txt"


def input_name(position: int, name: str) -> str:
    """Return the name of the artifact with what may be published of a part."""
    return f"input/{position}/{name}"


def shown_revision(db: Connection, benchmark: Benchmark) -> Revision:
    """Return the active revision; before there is one, the newest."""
    revision = revisions.active(db, benchmark) or next(
        iter(revisions.listing(db, benchmark.id, None, 1, dry_runs=False)), None
    )
    if revision is None:
        raise NotFound(f"Unknown benchmark {benchmark.id!r}.")
    return revision


def parts_texts(
    problems: ProblemList, parts: Mapping[str, PartGold], scoring: Mapping[str, Json], memory: int
) -> dict[str, packing.PackedText]:
    """Return gold texts and their items under the names by which they are kept.

    Wrong names and shapes go to `problems`, and texts that are too large for the `memory` of a run.
    """
    choice = config.scoring_config(scoring).spec.format
    named: dict[str, packing.PackedText] = {}
    for part, given in parts.items():
        check_part_name(problems, part, "/parts")
        pointer = f"/parts/{escape(part)}"
        named |= gold.named_texts(problems, f"{gold.GOLD}/{part}", given.gold, choice, pointer, part, memory=memory)
        if given.items:
            named[gold.items_name(part)] = packing.packed_text(orjson.dumps(given.items))
    return named


def _view(db: Connection, context: Context, caller: Caller, benchmark: Benchmark) -> Shown[contract.Benchmark]:
    document = cast("contract.Benchmark", _benchmark_document(db, context, caller, benchmark))
    return Shown(document, final=document["pending_revision"] is None, state=document["state"])


def _benchmark_document(db: Connection, context: Context, caller: Caller, benchmark: Benchmark) -> dict[str, object]:
    release = Release.of(benchmark, caller, context.now())
    shown = shown_revision(db, benchmark)
    pending = revisions.unfinished(db, benchmark.id)
    if pending is not None and pending.dry_run and not caller.organises(benchmark.id):
        pending = None
    counts = config.counts_shown(benchmark, shown, release)
    return {
        **shown_members(benchmark, "id", "title", "series"),
        **shown.scoring,
        "parts": {part.name: part_document(part, shown, counts=counts) for part in revisions.parts_of(db, shown.id)},
        "state": shown.state,
        "revision": {"number": shown.number, "state": shown.state},
        "active_revision": benchmark.active_revision,
        "pending_revision": None if pending is None else pending.number,
        **benchmark.settings,
        "created_at": moment(benchmark.created_at),
        "updated_at": moment(gate.whole_second(benchmark.updated_at)),
        # the failure of gold quotes gold
        "failure": gate.failure_view(release.level, shown.failure) if shown.failure and release.gold else None,
        "warnings": ([*time_warnings(benchmark), *revision_warnings(db, benchmark, shown)] if release.gold else []),
    }


def part_document(part: Part, revision: Revision, *, counts: bool) -> dict[str, object]:
    """Show a part; its size only with `counts`."""
    return {**config.part_sizes(part, revision, counts=counts), "gold": part.gold_key}


def _matches(if_match: str, etag: str) -> bool:
    given = [candidate.strip() for candidate in if_match.split(",")]
    return "*" in given or any(candidate.strip('"') == etag for candidate in given if not candidate.startswith("W/"))


def _benchmark_taken(slug: str) -> Conflict:
    return Conflict(
        f"The id {slug!r} is taken (ids of deleted benchmarks stay taken). Use another id.", slug="id-taken"
    )
