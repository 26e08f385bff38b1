"""Revisions of benchmarks, and their parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson
from sqlalchemy import Connection, func, insert, select, update

from service.store import artifacts, benchmarks, packing, tables
from service.store.tables import json_text, one, owned_texts, parts, record_of, revisions
from treescore.core.arrays import IntArray

CHECKING, RESCORING, ACTIVE = "checking", "rescoring", "active"
SUPERSEDED, FAILED, READY = "superseded", "failed", "ready"
"""States; a dry run ends as `ready`."""
FINAL_STATES = (ACTIVE, SUPERSEDED, FAILED, READY)
NEVER_ACTIVE = (FAILED, READY)
READABLE = (ACTIVE, SUPERSEDED)
"""States of revisions that have boards."""
DRY_RUNS = 1_000_000
"""Numbers above it are those of dry runs, which count by themselves: the numbers of revisions have no gaps."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One row. Gold texts are stored under `id`, named `parts/<part>` or `parts/<part>/<field>`."""

    benchmark_id: str
    number: int
    id: str
    scoring: dict[str, object]
    reason: str | None
    public_reason: str | None
    dry_run: bool
    state: str
    failure: dict[str, object] | None
    moved: list[dict[str, object]] | None
    created_at: datetime
    activated_at: datetime | None


@dataclass(frozen=True, slots=True)
class Part:
    """One test file of a revision. Members that are None are set when gold has been checked.

    Attributes:
        name: of the part.
        position: from 0, in the organiser's order.
        sentences, words: numbers of gold.
        gold_key: keyed digest of gold; without the key it cannot confirm a guess.
    """

    name: str
    position: int
    sentences: int | None
    words: int | None
    gold_key: str | None


@dataclass(frozen=True, slots=True)
class Digests:
    """What is kept of one part's gold to compare revisions.

    Attributes:
        gold_key: keyed digest of the whole.
        sentences: keyed digests of its sentences, (columns, sentences). Both are None before gold was checked.
    """

    gold_key: str | None
    sentences: list[list[int]] | None


def add(db: Connection, revision: Revision, part_names: Sequence[str]) -> None:
    """Store a revision and its parts. Its run and gold texts are stored in the same transaction."""
    db.execute(insert(revisions).values(tables.columns_of(revision, scoring=json_text(revision.scoring))))
    db.execute(
        insert(parts),
        [{"revision_id": revision.id, "name": name, "position": position} for position, name in enumerate(part_names)],
    )


def get(db: Connection, benchmark_id: str, number: int) -> Revision | None:
    """Return one revision, or None."""
    query = select(revisions).where(revisions.c.benchmark_id == benchmark_id, revisions.c.number == number)
    return one(db, query, _revision)


def active(db: Connection, benchmark: benchmarks.Benchmark) -> Revision | None:
    """Return the active revision of a benchmark, or None before the first."""
    return None if benchmark.active_revision is None else get(db, benchmark.id, benchmark.active_revision)


def by_id(db: Connection, revision_id: str) -> Revision | None:
    """Return one revision by its id, which is also the id of its run, or None."""
    return one(db, select(revisions).where(revisions.c.id == revision_id), _revision)


def next_number(db: Connection, benchmark_id: str, *, dry_run: bool) -> int:
    """Return the number of the next revision, or of the next dry run."""
    c = revisions.c
    query = select(func.max(c.number)).where(c.benchmark_id == benchmark_id, c.dry_run.is_(dry_run))
    return (tables.count(db, query) or (DRY_RUNS if dry_run else 0)) + 1


def listing(
    db: Connection, benchmark_id: str, before: int | None, limit: int, *, dry_runs: bool = True
) -> Sequence[Revision]:
    """List revisions before a given number, newest first; all dry runs come before the others."""
    query = select(revisions).where(revisions.c.benchmark_id == benchmark_id)
    query = query if dry_runs else query.where(revisions.c.dry_run.is_(False))
    return [_revision(row) for row in db.execute(tables.page_down(query, revisions.c.number, before, limit))]


def active_before(db: Connection, benchmark_id: str, revision: Revision) -> Revision | None:
    """Return the revision that was active before another one, or would be replaced by it; None where there is none."""
    c = revisions.c
    earlier = c.created_at <= revision.created_at if revision.dry_run else c.number < revision.number
    query = select(revisions).where(c.benchmark_id == benchmark_id, earlier, c.state.in_(READABLE))
    return one(db, query.order_by(c.number.desc()).limit(1), _revision)


def unfinished(db: Connection, benchmark_id: str) -> Revision | None:
    """Return the revision that is being checked or rescored, or None."""
    c = revisions.c
    query = select(revisions).where(c.benchmark_id == benchmark_id, c.state.in_((CHECKING, RESCORING)))
    return one(db, query.limit(1), _revision)


def set_state(db: Connection, revision_id: str, state: str, **values: object) -> None:
    """Set the state of a revision, and `failure`, `moved` or `activated_at` where given."""
    columns = dict(values)
    if "failure" in columns:
        columns["failure"] = json_text(columns["failure"])
    if "moved" in columns:
        columns["moved"] = artifacts.pack_json(columns["moved"])
    db.execute(update(revisions).where(revisions.c.id == revision_id).values(state=state, **columns))


def begin_rescoring(db: Connection, revision_id: str) -> None:
    """Move a revision from checking to rescoring; in any other state it stays."""
    checking = (revisions.c.id == revision_id) & (revisions.c.state == CHECKING)
    db.execute(update(revisions).where(checking).values(state=RESCORING))


def supersede(db: Connection, benchmark_id: str, number: int) -> None:
    """Mark the active revisions other than this one as superseded."""
    c = revisions.c
    before = (c.benchmark_id == benchmark_id) & (c.number != number) & (c.state == ACTIVE)
    db.execute(update(revisions).where(before).values(state=SUPERSEDED))


def parts_of(db: Connection, revision_id: str) -> list[Part]:
    """List the parts of a revision in their order."""
    c = parts.c
    query = select(c.name, c.position, c.sentences, c.words, c.gold_key).where(c.revision_id == revision_id)
    return [Part(*row) for row in db.execute(query.order_by(c.position))]


def save_part(db: Connection, revision_id: str, part: Part, sentence_keys: IntArray) -> None:
    """Store the sizes and the digests of a part, computed by the check of gold.

    Args:
        db: the transaction.
        revision_id: of its revision.
        part: what was found.
        sentence_keys: keyed digests of the sentences, int64 (columns, sentences).
    """
    found: dict[str, object] = {"sentences": part.sentences, "words": part.words, "gold_key": part.gold_key}
    found["sentence_keys"] = packing.pack_array(sentence_keys)
    db.execute(update(parts).where(parts.c.revision_id == revision_id, parts.c.name == part.name).values(found))


def digests(db: Connection, benchmark_id: str) -> dict[int, dict[str, Digests]]:
    """Return the digests of gold of all revisions that have boards: number -> part -> digests."""
    query = (
        select(revisions.c.number, parts.c.name, parts.c.gold_key, parts.c.sentence_keys)
        .join(parts, parts.c.revision_id == revisions.c.id)
        .where(revisions.c.benchmark_id == benchmark_id, revisions.c.state.in_(READABLE))
    )
    found: dict[int, dict[str, Digests]] = {}
    for row in db.execute(query):
        found.setdefault(row.number, {})[row.name] = _digests(row.gold_key, row.sentence_keys)
    return found


def digests_of(db: Connection, revision_id: str) -> dict[str, Digests]:
    """Return the digests of gold of one revision by part."""
    query = select(parts.c.name, parts.c.gold_key, parts.c.sentence_keys).where(parts.c.revision_id == revision_id)
    return {row.name: _digests(row.gold_key, row.sentence_keys) for row in db.execute(query)}


def scored_under(db: Connection, ids: Sequence[str]) -> set[str]:
    """Return those of the ids whose revision outputs are or will be scored under, and whose gold is stored."""
    has_gold = select(owned_texts.c.owner).where(owned_texts.c.owner == revisions.c.id).exists()
    in_use = revisions.c.state.in_((CHECKING, RESCORING, ACTIVE))
    return set(db.scalars(select(revisions.c.id).where(revisions.c.id.in_(ids), in_use, has_gold)))


def ids_by_number(db: Connection, benchmark_id: str) -> dict[int, str]:
    """Return the ids of all revisions of a benchmark by their numbers."""
    query = select(revisions.c.number, revisions.c.id).where(revisions.c.benchmark_id == benchmark_id)
    return {row.number: row.id for row in db.execute(query)}


def _digests(gold_key: str | None, sentence_keys: bytes | None) -> Digests:
    return Digests(gold_key, None if sentence_keys is None else packing.unpack_array(sentence_keys).tolist())


def _revision(row: tables.AnyRow) -> Revision:
    return record_of(
        Revision,
        row,
        scoring=orjson.loads(row.scoring),
        failure=None if row.failure is None else orjson.loads(row.failure),
        moved=None if row.moved is None else artifacts.unpack_json(row.moved),
    )
