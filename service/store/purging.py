"""Select what is purged, delete it, and let nothing of it stay in the database's files."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson
from sqlalchemy import ColumnElement, Connection, Table, delete, event, func, or_, select, text, update

from service.store import artifacts, benchmarks, jobs, revisions, runs, score_records, submissions, tables, texts
from service.store import tokens as token_rows
from service.store.database import Store
from service.store.tables import artifacts as artifacts_table
from service.store.tables import jobs as jobs_table
from service.store.tables import revisions as revisions_table
from service.store.tables import runs as runs_table
from service.store.tables import submissions as submissions_table

_BATCH = 500
PATIENCE_MS = 5000
"""Milliseconds for which the rewriting of a file waits for another process."""


@dataclass(frozen=True, slots=True)
class Selected:
    """Ids of what is purged.

    Attributes:
        submissions, revisions, comparisons, jobs: by id; validations are jobs.
        benchmark: slug, where all of it is purged.
    """

    submissions: Sequence[str] = ()
    revisions: Sequence[str] = ()
    comparisons: Sequence[str] = ()
    jobs: Sequence[str] = ()
    benchmark: str | None = None

    @property
    def owners(self) -> list[str]:
        """Return the owners of texts and artifacts."""
        return [*self.submissions, *self.revisions, *self.comparisons, *self.jobs]


def of_benchmark(db: Connection, slug: str) -> Selected:
    """Select everything of a benchmark."""
    c = submissions_table.c
    return Selected(
        submissions=list(db.scalars(select(c.id).where(c.benchmark_id == slug).order_by(c.id))),
        revisions=revisions.ids_of(db, slug),
        comparisons=list(db.scalars(select(tables.comparisons.c.id).where(tables.comparisons.c.benchmark_id == slug))),
        jobs=list(db.scalars(select(tables.validations.c.id).where(tables.validations.c.benchmark_id == slug))),
        benchmark=slug,
    )


def of_team(db: Connection, slug: str, team_id: str) -> Selected:
    """Select the submissions and validations of a team, and the comparisons that its submissions are in."""
    c = submissions_table.c
    own = list(db.scalars(select(c.id).where(c.benchmark_id == slug, c.team_id == team_id).order_by(c.id)))
    query = select(tables.comparisons.c.id, tables.comparisons.c.question).where(
        tables.comparisons.c.benchmark_id == slug
    )
    asked = [row.id for row in db.execute(query) if not set(own).isdisjoint(orjson.loads(row.question)["submissions"])]
    sent = (tables.validations.c.benchmark_id == slug) & (tables.validations.c.team_id == team_id)
    checked = list(db.scalars(select(tables.validations.c.id).where(sent)))
    return Selected(submissions=own, comparisons=asked, jobs=checked)


def ended_before(db: Connection, moment: datetime) -> Selected:
    """Select jobs, comparisons and submissions that ended before a moment and still have texts or results."""
    c, ended = submissions_table.c, runs_table.c.finished_at < moment
    return Selected(
        submissions=list(
            db.scalars(select(c.id).where(c.finished_at < moment, c.output_deleted_at.is_(None)).order_by(c.id))
        ),
        comparisons=list(
            db.scalars(
                select(tables.comparisons.c.id)
                .join(runs_table, runs_table.c.id == tables.comparisons.c.run_id)
                .where(ended)
            )
        ),
        jobs=list(
            db.scalars(
                select(jobs_table.c.id)
                .join(runs_table, runs_table.c.id == jobs_table.c.id)
                .where(ended, jobs_table.c.deleted_at.is_(None))
            )
        ),
    )


def counted(db: Connection, selected: Selected) -> dict[str, int]:
    """Count what would be deleted: rows of each kind, and bytes as they are stored."""
    numbers = {
        "submissions": len(selected.submissions),
        "comparisons": len(selected.comparisons),
        "jobs": len(selected.jobs),
        "texts": 0,
        "artifacts": 0,
        "artifact_bytes": 0,
    }
    for owners in _batches(selected.owners):
        numbers["texts"] += _number(db, tables.owned_texts, tables.owned_texts.c.owner.in_(owners))
        c = artifacts_table.c
        query = select(func.count(), func.coalesce(func.sum(func.length(c.body)), 0)).where(c.owner.in_(owners))
        number, size = db.execute(query).one()
        numbers["artifacts"] += number
        numbers["artifact_bytes"] += int(size)
    if selected.benchmark is not None:
        of_it = {
            "teams": tables.teams,
            "tokens": tables.tokens,
            "boards": tables.board_comparisons,
            "webhooks": tables.webhooks,
        }
        for name, table in of_it.items():
            numbers[name] = _number(db, table, table.c.benchmark_id == selected.benchmark)
    return numbers


def unfinished_runs(db: Connection, selected: Selected) -> list[str]:
    """List the unfinished runs of what is selected."""
    found: list[str] = []
    for ids in _batches(selected.owners):
        of_them = or_(
            runs_table.c.id.in_(ids),
            runs_table.c.id.in_(select(submissions_table.c.run_id).where(submissions_table.c.id.in_(ids))),
            runs_table.c.id.in_(select(tables.comparisons.c.run_id).where(tables.comparisons.c.id.in_(ids))),
        )
        found += db.scalars(select(runs_table.c.id).where(runs.is_unfinished(), of_them))
    if selected.benchmark is not None:
        boards = select(tables.board_runs.c.run_id).where(tables.board_runs.c.benchmark_id == selected.benchmark)
        found += db.scalars(select(runs_table.c.id).where(runs.is_unfinished(), runs_table.c.id.in_(boards)))
    return found


def drop_benchmark(db: Connection, selected: Selected, slug: str, now: datetime) -> None:
    """Delete everything of a benchmark but the ids, which answer 410. Its runs have ended."""
    drop_comparisons(db, selected.comparisons)
    for ids in _batches(selected.submissions):
        submissions.erase(db, ids, now)
    blank = {"outputs": "{}", "outputs_digest": "", "failures": "[]"}
    of_it = submissions_table.c.benchmark_id == slug
    db.execute(update(submissions_table).where(of_it).values(blank))
    stopped = {"state": runs.CANCELLED, "finished_at": now}
    db.execute(update(submissions_table).where(of_it, submissions_table.c.state == runs.QUEUED).values(stopped))
    for ids in _batches(selected.revisions):
        texts.drop(db, ids)
        artifacts.drop(db, ids)
        db.execute(
            update(revisions_table)
            .where(revisions_table.c.id.in_(ids))
            .values(reason=None, public_reason=None, failure=None, moved=None)
        )
        db.execute(
            update(tables.parts).where(tables.parts.c.revision_id.in_(ids)).values(gold_key=None, sentence_keys=None)
        )
    for ids in _batches(selected.jobs):
        jobs.erase(db, ids, now)
    for table in (tables.board_comparisons, tables.board_runs, tables.comparison_asks, tables.invites, tables.ladders):
        db.execute(delete(table).where(table.c.benchmark_id == slug))
    hooks = select(tables.webhooks.c.id).where(tables.webhooks.c.benchmark_id == slug)
    db.execute(delete(tables.deliveries).where(tables.deliveries.c.webhook_id.in_(hooks)))
    db.execute(delete(tables.webhooks).where(tables.webhooks.c.benchmark_id == slug))
    token_rows.revoke_all(db, slug, None, now)
    db.execute(update(tables.tokens).where(tables.tokens.c.benchmark_id == slug).values(name=None))
    erased = {"name": benchmarks.ERASED_NAME, "contact": None, "erased_at": now}
    db.execute(update(tables.teams).where(tables.teams.c.benchmark_id == slug).values(erased))
    benchmarks.mark_deleted(db, slug, now)
    benchmarks.forget(db, slug)


def drop_team(db: Connection, selected: Selected, slug: str, team_id: str, now: datetime) -> None:
    """Delete what a team's outputs were compared and validated with. Its submissions are left."""
    drop_comparisons(db, selected.comparisons)
    for ids in _batches(selected.jobs):
        jobs.erase(db, ids, now)
    db.execute(delete(tables.ladders).where(tables.ladders.c.benchmark_id == slug, tables.ladders.c.team_id == team_id))


def drop_comparisons(db: Connection, ids: Sequence[str]) -> None:
    """Delete comparisons with their answers; asked again, they are computed again."""
    for some in _batches(ids):
        attempts = db.execute(
            select(tables.comparisons.c.id, tables.comparisons.c.attempt).where(tables.comparisons.c.id.in_(some))
        ).all()
        run_ids = [*some, *(f"{row.id}-{number}" for row in attempts for number in range(2, row.attempt + 1))]
        artifacts.drop(db, some)
        db.execute(delete(tables.comparisons).where(tables.comparisons.c.id.in_(some)))
        # the same question has the same id, which must be free
        db.execute(delete(runs_table).where(runs_table.c.id.in_(run_ids)))


def drop_old(db: Connection, selected: Selected, now: datetime) -> None:
    """Delete jobs and comparisons, and of submissions everything but scores and counts."""
    drop_comparisons(db, selected.comparisons)
    for ids in _batches(selected.jobs):
        jobs.erase(db, ids, now)
    for ids in _batches(selected.submissions):
        submissions.drop_outputs(db, ids, now)
        artifacts.drop_all_but_counts(db, ids)
        score_records.strip(db, ids)
        db.execute(update(submissions_table).where(submissions_table.c.id.in_(ids)).values(failures="[]"))


def overwrite_freed(store: Store) -> None:
    """Let SQLite write zeros over what is deleted from now on; a database server cannot."""
    if store.sqlite:
        event.listen(store.engine, "connect", lambda connection, _: connection.execute("PRAGMA secure_delete=ON"))
        store.engine.dispose()


def rewrite(store: Store) -> bool:
    """Write the database's files again without what was deleted; return whether that was possible now.

    SQLite's journal can only be emptied while no other process reads an older state. A database server locks each
    table while it is written again.
    """
    with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
        if not store.sqlite:
            for table in tables.metadata.sorted_tables:
                db.execute(text(f"VACUUM FULL {table.name}"))
            return True
        raw = db.connection.cursor()
        raw.execute(f"PRAGMA busy_timeout={PATIENCE_MS}")
        try:
            raw.execute("VACUUM")
            busy, _, _ = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:
            return False
        return not busy


def _number(db: Connection, table: Table, where: ColumnElement[bool]) -> int:
    return int(db.scalar(select(func.count()).select_from(table).where(where)) or 0)


def _batches(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return (ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH))
