"""Create and show revisions: changes of gold or metrics, each stored once and never changed.

What a revision changes against the one that was active before it, and who moves, is shown also before it is active.
"""

from collections.abc import Mapping
from typing import cast

from sqlalchemy import Connection

from service.caller import Caller, new_id, principal_of
from service.context import Context
from service.contract import benchmarks as contract
from service.contract.benchmarks import PartGold, RevisionRequest
from service.contract.common import PageQuery
from service.errors import SOON, Conflict, NotFound, invalid, refuse, unprocessable
from service.policy import figures, gate
from service.policy.release import Release
from service.queue import BULK, LIVE
from service.requests import MAX_PARTS
from service.store import benchmarks, revisions, runs, texts
from service.store.revisions import Digests, Revision
from service.usecases.access import IdempotencyKey, active_revision, benchmark_of, claim_key, cursor_number
from service.usecases.benchmarks.benchmarks import REVISION_KIND, part_document, parts_texts, shown_revision
from service.usecases.benchmarks.settings import moves_shown, require_two_sides, revision_warnings
from service.usecases.boards.viewing import released
from service.usecases.events import record_event
from service.usecases.runs import Page, Shown, moment, shown_members, wait_for
from service.usecases.scoring.config import MEMBERS, check_scoring, counts_shown, scoring_config
from service.usecases.scoring.gold import GOLD, items_name, names_of
from treescore.core.params import Json, escape
from treescore.core.wording import did_you_mean
from treescore.errors import Problem, ProblemList, ScoringError


def create_revision(
    context: Context, caller: Caller, slug: str, request: RevisionRequest, idempotency_key: IdempotencyKey | None = None
) -> tuple[int, bool]:
    """Store a revision, which a worker checks and re-scores. Return its number, and whether it is new.

    What the request does not give stays as in the active revision (before there is one, in the newest). A part that is
    null is left out.

    Raises:
        Conflict: another revision is in progress, or a dry run has no leaderboard to compare with.
        Unprocessable: the request is invalid, with pointers.
    """
    caller.require("organise", of=slug)
    now = context.now()
    with context.store.write() as db:
        benchmark = benchmark_of(db, slug, lock=True)
        number = revisions.next_number(db, slug, dry_run=bool(request.dry_run))
        earlier = claim_key(db, caller, idempotency_key, str(number), now)
        if earlier is not None:
            return int(earlier), False
        under_way = revisions.unfinished(db, slug)
        if under_way is not None:
            detail = f"Revision {under_way.number} is {under_way.state}. Retry once it has settled."
            raise Conflict(detail, slug="revision-under-way", headers=SOON)
        base = _base(db, benchmark, request)
        scoring = _scoring(base, request)
        require_two_sides(scoring, benchmark.leaderboard)
        gold, carried = _new_and_kept_gold(db, benchmark, base, request)
        problems = ProblemList()
        named = parts_texts(problems, gold, scoring, context.config.max_run_bytes)
        refuse(problems)
        revision_id = new_id("rev", now)
        queue = LIVE if benchmark.active_revision is None else BULK
        if request.dry_run:
            active_revision(db, benchmark)
        runs.add(db, revision_id, REVISION_KIND, queue, now, principal_of(slug))
        fresh = Revision(
            slug, number, revision_id, scoring, request.reason, request.public_reason, request.dry_run,
            revisions.CHECKING, None, None, now, None,
        )  # fmt: skip
        revisions.add(db, fresh, [*carried, *(name for name in gold if name not in carried)])
        choice = scoring_config(scoring).spec.format
        kept = [
            name for part in carried if part not in gold for name in (*names_of(GOLD, part, choice), items_name(part))
        ]
        texts.share(db, base.id, revision_id, kept)
        texts.put_packed(db, revision_id, named)
        data = {"revision": number, "dry_run": request.dry_run}
        record_event(db, context, "revision.created", slug, actor=caller.owner, subject=revision_id, data=data)
    context.queue.put(revision_id, queue)
    return number, True


def view_revision(context: Context, caller: Caller, slug: str, number: int) -> Shown[contract.Revision]:
    """Show a revision.

    Raises:
        NotFound: no revision has this number.
    """
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug, caller)
        revision = revision_of(db, caller, slug, number)
        document = _revision_document(db, context, caller, benchmark, revision)
    return Shown(
        cast("contract.Revision", document), final=revision.state in revisions.FINAL_STATES, state=revision.state
    )


def wait_for_revision(
    context: Context, caller: Caller, slug: str, number: int, seconds: float, etag: str | None = None
) -> Shown[contract.Revision]:
    """Show a revision once it has settled, or differs from `etag`, or the time is over."""
    with context.store.read() as db:
        benchmark_of(db, slug, caller)
        revision = revision_of(db, caller, slug, number)
    return wait_for(context, revision.id, lambda: view_revision(context, caller, slug, number), seconds, etag)


def list_revisions(context: Context, caller: Caller, slug: str, query: PageQuery, *, dry_runs: bool = True) -> Page:
    """List revisions, newest first, without changes of ranks; for organisers also dry runs, if `dry_runs`."""
    before = None if query.cursor is None else cursor_number(query.cursor, 9)
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug, caller)
        rows = revisions.listing(db, slug, before, query.limit + 1, dry_runs=dry_runs and caller.organises(slug))
        items = [
            {**_revision_document(db, context, caller, benchmark, row), "moved": None} for row in rows[: query.limit]
        ]
    return Page(items, str(rows[query.limit - 1].number) if len(rows) > query.limit else None)


def revision_of(db: Connection, caller: Caller, slug: str, number: int) -> Revision:
    """Return a revision that the caller may see; dry runs are for organisers.

    Raises:
        NotFound: there is none of this number.
    """
    revision = revisions.get(db, slug, number)
    if revision is None or (revision.dry_run and not caller.organises(slug)):
        raise NotFound(f"Unknown revision {number} of benchmark {slug!r}.")
    return revision


def _base(db: Connection, benchmark: benchmarks.Benchmark, request: RevisionRequest) -> Revision:
    """Return the revision whose members stay where the request gives none.

    Raises:
        Unprocessable: it would be that of a dry run which is unknown.
        Conflict: that dry run is not ready, or another revision is active since.
    """
    number = request.from_dry_run
    if number is None:
        return shown_revision(db, benchmark)
    tried = revisions.get(db, benchmark.id, number)
    if tried is None or not tried.dry_run:
        raise invalid(
            "bad-value", "/from_dry_run", f"No dry run of benchmark {benchmark.id!r} has the number {number}."
        )
    if tried.state != revisions.READY:
        raise Conflict(f"The dry run {number} is {tried.state}. Only one that is ready can become a revision.")
    before = revisions.active_before(db, benchmark.id, tried)
    if before is None or before.number != benchmark.active_revision:
        raise Conflict(
            f"It ran before another one: revision {benchmark.active_revision} is active since. Make the dry run again."
        )
    return tried


def _scoring(base: Revision, request: RevisionRequest) -> dict[str, Json]:
    given = request.given()
    wanted = {**base.scoring, **{name: given[name] for name in MEMBERS if name in given}}
    if request.metrics is not None and request.main_score is None:
        del wanted["main_score"]
    try:
        scoring = check_scoring(wanted)
    except ScoringError as error:
        raise unprocessable(error) from error
    before, after = (scoring_config(stored).spec.format.name for stored in (base.scoring, scoring))
    if before != after:
        detail = f"A revision cannot change the format {before!r} of the outputs. Create a new benchmark."
        raise invalid("format-changed", "/format", detail)
    return scoring


def _new_and_kept_gold(
    db: Connection, benchmark: benchmarks.Benchmark, base: Revision, request: RevisionRequest
) -> tuple[dict[str, PartGold], list[str]]:
    """Return new gold by part, and the parts of the base that remain, in their order."""
    given = request.parts or {}
    known = [part.name for part in revisions.parts_of(db, base.id)]
    gold = {name: part for name, part in given.items() if part is not None}
    problems = ProblemList()
    for name in given:
        if name not in known and (benchmark.active_revision is not None or given[name] is None):
            detail = f"Unknown part {name!r}. The benchmark has: {', '.join(known[:20])}.{did_you_mean(name, known)}"
            problems.add(Problem(code="unknown-part", pointer=f"/parts/{escape(name)}", part=name, detail=detail))
    for name in gold:
        if name in benchmark.tracks:
            detail = f"{name!r} is the name of a track. Parts and tracks have different names."
            problems.add(Problem(code="part-and-track", pointer=f"/parts/{escape(name)}", part=name, detail=detail))
    remaining = [name for name in known if name not in given or given[name] is not None]
    if not 1 <= len({*remaining, *gold}) <= MAX_PARTS:
        problems.add(Problem(code="no-parts", pointer="/parts", detail=f"A revision has 1 to {MAX_PARTS} parts."))
    refuse(problems)
    return gold, remaining


def _revision_document(
    db: Connection, context: Context, caller: Caller, benchmark: benchmarks.Benchmark, revision: Revision
) -> dict[str, object]:
    release = Release.of(benchmark, caller, context.now(), board=True)
    run = runs.get(db, revision.id)
    counts = counts_shown(benchmark, revision, release)
    return {
        **shown_members(revision, "id", "benchmark_id", "number", "state"),
        "active": revision.number == benchmark.active_revision,
        "dry_run": revision.dry_run,
        "reason": revision.reason if release.gold else None,
        "public_reason": revision.public_reason,
        **revision.scoring,
        "parts": {
            part.name: part_document(part, revision, counts=counts) for part in revisions.parts_of(db, revision.id)
        },
        "created_at": moment(revision.created_at),
        "activated_at": moment(None if revision.activated_at is None else gate.whole_second(revision.activated_at)),
        # progress counts the scored submissions, as boards do from level scores on
        "progress": run.progress if run is not None and release.shows(gate.Level.SCORES) else None,
        "moved": moves_of(db, benchmark, revision, release),
        "warnings": revision_warnings(db, benchmark, revision) if release.gold else [],
        # the failure of gold quotes gold
        "failure": gate.failure_view(release.level, revision.failure) if revision.failure and release.gold else None,
    }


def moves_of(
    db: Connection, benchmark: benchmarks.Benchmark, revision: Revision, release: Release
) -> list[dict[str, object]] | None:
    """Return the changes of ranks as a caller may see them: others than organisers if the board shows them such."""
    if revision.moved is None or not release.whole or not release.shows(gate.Level.SCORES):
        return None
    shares = figures.shares_of(benchmark)
    # those of the public share may have been stored, and are shown after closing too
    if not release.shows(gate.Level.ITEMS) and not all(moves_shown(db, benchmark, revision, each) for each in shares):
        return None
    return gate.moves_view(released(db, benchmark, release, revision), revision.moved)


def difference(context: Context, caller: Caller, slug: str, number: int) -> Shown[contract.RevisionDifference]:
    """Return the difference of a revision. Other callers than organisers see that of revisions that are or were active.

    Raises:
        NotFound: no revision has this number, or none was active before it.
    """
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug, caller)
        revision = revision_of(db, caller, slug, number)
        if not caller.organises(slug) and revision.state not in revisions.READABLE:
            raise NotFound(f"The revision {number} of benchmark {slug!r} was never active.")
        before = revisions.active_before(db, benchmark.id, revision)
        if before is None:
            raise NotFound(f"No revision of benchmark {slug!r} was active before revision {number}.")
        release = Release.of(benchmark, caller, context.now(), board=True)
        document = {
            "benchmark": slug,
            "revision": revision.number,
            "against": before.number,
            "state": revision.state,
            "dry_run": revision.dry_run,
            "parts": _changed_parts(db, before, revision, release),
            "settings": _changed_settings(before, revision),
            "moved": moves_of(db, benchmark, revision, release),
        }
    shown, final = cast("contract.RevisionDifference", document), revision.state in revisions.FINAL_STATES
    return Shown(shown, final=final, state=revision.state)


def _changed_parts(db: Connection, before: Revision, after: Revision, release: Release) -> list[dict[str, object]]:
    """Return the parts that differ. In how many sentences they do is shown to those who may read gold."""
    old, new = (revisions.digests_of(db, each.id) for each in (before, after))
    order = {part.name: at for each in (after, before) for at, part in enumerate(revisions.parts_of(db, each.id))}
    names = sorted({*old, *new}, key=lambda name: (order.get(name, 0), name))
    changed = [name for name in names if _differ(old.get(name), new.get(name))]
    return [
        {
            "name": name,
            "change": "added" if name not in old else "removed" if name not in new else "changed",
            "sentences_before": _sentences(old.get(name)) if release.gold else None,
            "sentences_after": _sentences(new.get(name)) if release.gold else None,
            "sentences_changed": _changed(name, old, new) if release.gold else None,
        }
        for name in changed
    ]


def _differ(old: Digests | None, new: Digests | None) -> bool:
    return old is None or new is None or old.gold_key is None or old.gold_key != new.gold_key


def _sentences(gold: Digests | None) -> int | None:
    return None if gold is None or gold.sentences is None else len(gold.sentences[0])


def _changed(name: str, old: Mapping[str, Digests], new: Mapping[str, Digests]) -> int | None:
    """Return in how many sentences a part differs in the column with the most; None where that is not known."""
    counts = figures.differing(*({each: gold[each] for each in (name,) if each in gold} for gold in (old, new)))
    return None if counts is None else max(counts, default=0)


def _changed_settings(before: Revision, after: Revision) -> list[dict[str, object]]:
    """Return the members of the scoring configuration that differ."""
    old, new = (each.scoring for each in (before, after))
    return [
        {"name": name, "before": old.get(name), "after": new.get(name)}
        for name in MEMBERS
        if old.get(name) != new.get(name)
    ]
