"""Find rows that do not fit together and bytes that are not what they were; select what is purged, and delete it.

Nothing of what is purged stays in the files of the database.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import orjson
import sqlalchemy as sa
import zstandard
from sqlalchemy import ColumnElement, Connection, delete, exists, func, select, update

from service.store import artifacts, benchmarks, jobs, revisions, runs, score_records, submissions, tables, tokens
from service.store import texts as stored_texts
from service.store.database import Store
from service.store.packing import unpack
from treescore.core.text import digest_of

_MOST = 1000
"""Rows named of one kind of damage."""


_UNDECLARED: Sequence[tuple[Any, Any, ColumnElement[bool]]] = (
    *(
        (table.c.team_id, tables.teams.c.id, tables.teams.c.benchmark_id == table.c.benchmark_id)
        for table in (tables.submissions, tables.tokens)
    ),
    (
        tables.benchmarks.c.active_revision,
        tables.revisions.c.number,
        tables.revisions.c.benchmark_id == tables.benchmarks.c.id,
    ),
)
"""References that no constraint declares: column, what it names, and what both have in common."""


class Flaw(NamedTuple):
    """One thing that is wrong.

    Attributes:
        code: stable name of the kind.
        subject: id of the row.
        detail: what is wrong.
    """

    code: str
    subject: str
    detail: str


def damaged_pages(db: Connection) -> Iterator[Flaw]:
    """Let SQLite read every page and index of its file; a database server looks after its own."""
    if db.dialect.name != "sqlite":
        return
    for (line,) in db.exec_driver_sql("PRAGMA integrity_check(20)"):
        if line != "ok":
            yield Flaw("database-damaged", "database", str(line).splitlines()[0])


def damaged_texts(db: Connection) -> Iterator[Flaw]:
    """Compare every stored text with its digest and its size."""
    for row in _streamed_rows(db, select(tables.texts.c.digest, tables.texts.c.size, tables.texts.c.body)):
        body = _unpacked(row.body)
        if body is None:
            yield Flaw("text-unreadable", row.digest, "The text cannot be decompressed.")
        elif digest_of(body) != row.digest or len(body) != row.size:
            yield Flaw("text-damaged", row.digest, "The text is not the one that its digest names.")


def damaged_artifacts(db: Connection) -> Iterator[Flaw]:
    """Decompress every artifact."""
    for row in _streamed_rows(db, select(tables.artifacts)):
        if _unpacked(row.body) is None:
            yield Flaw("artifact-unreadable", f"{row.owner} {row.name}", "The artifact cannot be decompressed.")


def damaged_documents(db: Connection) -> Iterator[Flaw]:
    """Decompress the stored answers of comparisons, boards and revisions, and views."""
    board = tables.board_comparisons.c
    columns = (
        (tables.comparisons.c.id, tables.comparisons.c.document),
        (board.benchmark_id + "/" + board.key, board.document),
        (tables.revisions.c.id, tables.revisions.c.moved),
        (tables.views.c.key, tables.views.c.body),
    )
    for name, document in columns:
        for subject, body in db.execute(select(name, document).where(document.is_not(None))):
            if _unpacked(body) is None:
                yield Flaw("document-unreadable", subject, f"{document.table.name}.{document.name} is not readable.")


def broken_references(db: Connection) -> Iterator[Flaw]:
    """Follow every declared reference between tables, and those that no constraint declares."""
    for table in tables.metadata.sorted_tables:
        for constraint in sorted(table.foreign_key_constraints, key=lambda each: str(each.name)):
            for element in constraint.elements:
                child, parent = element.parent, element.column
                query = select(child).where(child.is_not(None), ~_found(parent, child))
                for (value,) in db.execute(query.distinct().limit(_MOST)):
                    yield _missing(f"{table.name}.{child.name}", parent.table.name, str(value))
    for child, parent, same in _UNDECLARED:
        query = select(child.table.c.id).where(child.is_not(None), ~exists().where(parent == child, same))
        for (name,) in db.execute(query.limit(_MOST)):
            yield _missing(f"{child.table.name}.{child.name}", parent.table.name, name)


def missing_rows(db: Connection) -> Iterator[Flaw]:
    """Find what must have been stored together and is only there in part."""
    job, run, submission, part, benchmark = (
        each.c for each in (tables.jobs, tables.runs, tables.submissions, tables.parts, tables.benchmarks)
    )
    ended = select(job.id).join(tables.runs, run.id == job.id).where(~runs.is_unfinished())
    query = ended.where(job.deleted_at.is_(None), job.document.is_(None))
    yield from _flaws(db, query, "answer-missing", "The job has ended and has no answer.")
    unfinished = runs.is_unfinished()
    owners = {"job": job.id, "validation": job.id, "submission": submission.run_id, "revision": tables.revisions.c.id,
              "comparison": tables.comparisons.c.run_id}  # fmt: skip
    for kind, owner in owners.items():
        query = select(run.id).where(unfinished, run.kind == kind, ~_found(owner, run.id))
        yield from _flaws(db, query, "run-without-resource", f"The unfinished run has no {kind}.")
    query = select(submission.id).join(tables.runs, run.id == submission.run_id)
    query = query.where(submission.state == runs.QUEUED, ~unfinished)
    yield from _flaws(db, query, "state-differs", "The submission is queued, but its run has ended.")
    named = tables.owned_texts.c.name
    folder = "parts/" + part.name
    gold = exists().where(
        tables.owned_texts.c.owner == part.revision_id, (named == folder) | named.startswith(folder + "/")
    )
    query = (
        select(part.revision_id + " " + part.name)
        .join(tables.revisions, tables.revisions.c.id == part.revision_id)
        .join(tables.benchmarks, benchmark.id == tables.revisions.c.benchmark_id)
        .where(benchmark.deleted_at.is_(None), ~gold)
    )
    yield from _flaws(db, query, "gold-missing", "The part of the revision has no gold text.")
    yield from _outputs_missing(db)
    active = select(benchmark.id, benchmark.active_revision).where(
        benchmark.active_revision.is_not(None), benchmark.deleted_at.is_(None)
    )
    for slug, number in db.execute(active).all():
        for name in score_records.unscored(db, slug, number, _MOST):
            yield Flaw("scores-missing", name, f"The submission has no scores under the active revision {number}.")


def _outputs_missing(db: Connection) -> Iterator[Flaw]:
    c = tables.submissions.c
    query = select(c.id, tables.submission_outputs.c.outputs).join(tables.submission_outputs)
    query = query.where(c.deleted_at.is_(None), c.output_deleted_at.is_(None))
    for row in db.execute(query).all():
        names = stored_texts.names(db, row.id)
        for part in orjson.loads(row.outputs):
            folder = f"outputs/{part}"
            if not any(name == folder or name.startswith(folder + "/") for name in names):
                yield Flaw("output-missing", row.id, f"The output of part {part} is not stored.")


def left_over(db: Connection) -> Iterator[Flaw]:
    """Find what a crash can leave: rows that no resource owns any more."""
    without_owner = select(tables.texts.c.digest).where(~_found(tables.owned_texts.c.digest, tables.texts.c.digest))
    yield from _flaws(db, without_owner, "text-without-owner", "No job, submission or revision has the text.")
    for table in (tables.owned_texts, tables.artifacts):
        gone = ~_found(tables.runs.c.id, table.c.owner) | _erased(table.c.owner)
        query = select(table.c.owner).where(gone).distinct()
        what = "texts" if table is tables.owned_texts else "artifacts"
        yield from _flaws(db, query, f"{what}-without-owner", f"The {what} belong to nothing that is stored.")
    for slug, number in score_records.left_over(db):
        detail = "The revision never became active and still has scores; the sweeper deletes them."
        yield Flaw("scores-left-over", f"{slug} revision {number}", detail)


def score_records_count(db: Connection) -> int:
    """Count the score records."""
    return tables.count(db, select(func.count()).select_from(tables.records))


def sampled_records(db: Connection, every: int) -> Iterator[tuple[str, int]]:
    """Yield submission and revision of each n-th score record, of those under revisions that are or were active."""
    score, submission, revision = (each.c for each in (tables.records, tables.submissions, tables.revisions))
    under = (revision.benchmark_id == submission.benchmark_id) & (revision.number == score.revision)
    query = (
        select(score.submission_id, score.revision)
        .join(tables.submissions, submission.id == score.submission_id)
        .join(tables.revisions, under)
        .where(submission.deleted_at.is_(None), revision.state.not_in(revisions.NEVER_ACTIVE))
        .order_by(score.submission_id, score.revision)
    )
    for number, row in enumerate(db.execute(query).all()):
        if number % every == 0:
            yield row.submission_id, row.revision


def _erased(owner: ColumnElement[str]) -> ColumnElement[bool]:
    """Select owners that were deleted: nothing of theirs should be left."""
    revision, benchmark = tables.revisions.c, tables.benchmarks.c
    return sa.or_(
        *(
            exists().where(each.c.id == owner, each.c.deleted_at.is_not(None))
            for each in (tables.jobs, tables.submissions)
        ),
        exists().where(revision.id == owner, benchmark.id == revision.benchmark_id, benchmark.deleted_at.is_not(None)),
    )


def _found(parent: ColumnElement[str], child: ColumnElement[str]) -> ColumnElement[bool]:
    # an alias, because a table may refer to itself, and to leave the outer query alone
    table = parent.table.alias()
    return select(sa.literal(1)).where(table.c[parent.name] == child).correlate(child.table).exists()


def _missing(column: str, table: str, subject: str) -> Flaw:
    return Flaw("reference-broken", subject, f"{column} names a row of {table} that is not there.")


def _flaws(db: Connection, query: sa.Select[Any], code: str, detail: str) -> Iterator[Flaw]:
    for subject in db.scalars(query.limit(_MOST)):
        yield Flaw(code, subject, detail)


def _streamed_rows(db: Connection, query: sa.Select[Any]) -> Iterator[Any]:
    yield from db.execute(query, execution_options={"yield_per": 50})


def _unpacked(body: bytes) -> bytes | None:
    try:
        return unpack(body)
    except (zstandard.ZstdError, MemoryError):  # a damaged size may ask for any amount of memory
        return None


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


def _ids(db: Connection, table: sa.Table, *where: ColumnElement[bool]) -> list[str]:
    return list(db.scalars(select(table.c.id).where(*where).order_by(table.c.id)))


def of_benchmark(db: Connection, slug: str) -> Selected:
    """Select everything of a benchmark."""
    kinds = (tables.submissions, tables.revisions, tables.comparisons, tables.validations)
    own, numbered, asked, checked = (_ids(db, table, table.c.benchmark_id == slug) for table in kinds)
    return Selected(own, numbered, asked, checked, slug)


def of_team(db: Connection, slug: str, team_id: str) -> Selected:
    """Select the submissions and validations of a team, and the comparisons that its submissions are in."""
    own, checked = (
        _ids(db, table, table.c.benchmark_id == slug, table.c.team_id == team_id)
        for table in (tables.submissions, tables.validations)
    )
    c = tables.comparisons.c
    asked = [
        row.id
        for row in db.execute(select(c.id, c.question).where(c.benchmark_id == slug))
        if not set(own).isdisjoint(orjson.loads(row.question)["submissions"])
    ]
    return Selected(submissions=own, comparisons=asked, jobs=checked)


def ended_before(db: Connection, moment: datetime) -> Selected:
    """Select jobs, comparisons and submissions that ended before a moment and still have texts or results."""
    c, ended = tables.submissions.c, select(tables.runs.c.id).where(tables.runs.c.finished_at < moment)
    return Selected(
        submissions=_ids(db, tables.submissions, c.finished_at < moment, c.output_deleted_at.is_(None)),
        comparisons=_ids(db, tables.comparisons, tables.comparisons.c.run_id.in_(ended)),
        jobs=_ids(db, tables.jobs, tables.jobs.c.id.in_(ended), tables.jobs.c.deleted_at.is_(None)),
    )


def counted(db: Connection, selected: Selected) -> dict[str, int]:
    """Count what would be deleted: rows of each kind, and bytes as they are stored."""
    numbers = {name: len(getattr(selected, name)) for name in ("submissions", "comparisons", "jobs")}
    numbers |= dict.fromkeys(("texts", "artifacts", "artifact_bytes"), 0)
    for owners in tables.batches(selected.owners):
        numbers["texts"] += _number(db, tables.owned_texts.c.owner.in_(owners))
        c = tables.artifacts.c
        query = select(func.count(), func.coalesce(func.sum(func.length(c.body)), 0)).where(c.owner.in_(owners))
        number, size = db.execute(query).one()
        numbers["artifacts"] += number
        numbers["artifact_bytes"] += int(size)
    if selected.benchmark is not None:
        of_it = {"teams": tables.teams, "tokens": tables.tokens, "boards": tables.board_comparisons}
        of_it["webhooks"] = tables.webhooks
        for name, table in of_it.items():
            numbers[name] = _number(db, table.c.benchmark_id == selected.benchmark)
    return numbers


def unfinished_runs(db: Connection, selected: Selected) -> list[str]:
    """List the unfinished runs of what is selected."""
    found: list[str] = []
    for ids in tables.batches(selected.owners):
        of_them = sa.or_(
            tables.runs.c.id.in_(ids),
            tables.runs.c.id.in_(select(tables.submissions.c.run_id).where(tables.submissions.c.id.in_(ids))),
            tables.runs.c.id.in_(select(tables.comparisons.c.run_id).where(tables.comparisons.c.id.in_(ids))),
        )
        found += db.scalars(select(tables.runs.c.id).where(runs.is_unfinished(), of_them))
    if selected.benchmark is not None:
        boards = select(tables.board_runs.c.run_id).where(tables.board_runs.c.benchmark_id == selected.benchmark)
        found += db.scalars(select(tables.runs.c.id).where(runs.is_unfinished(), tables.runs.c.id.in_(boards)))
    return found


def drop_benchmark(db: Connection, selected: Selected, slug: str, now: datetime) -> None:
    """Delete everything of a benchmark but the ids, which answer 410. Its runs have ended."""
    drop_comparisons(db, selected.comparisons)
    for ids in tables.batches(selected.submissions):
        submissions.erase(db, ids, now)
        submissions.forget_outputs(db, ids)
    of_it = tables.submissions.c.benchmark_id == slug
    stopped = {"state": runs.CANCELLED, "finished_at": now}
    db.execute(update(tables.submissions).where(of_it, tables.submissions.c.state == runs.QUEUED).values(stopped))
    for ids in tables.batches(selected.revisions):
        stored_texts.drop(db, ids)
        artifacts.drop(db, ids)
        said = dict.fromkeys(("reason", "public_reason", "failure", "moved"))
        db.execute(update(tables.revisions).where(tables.revisions.c.id.in_(ids)).values(said))
        keys = dict.fromkeys(("gold_key", "sentence_keys"))
        db.execute(update(tables.parts).where(tables.parts.c.revision_id.in_(ids)).values(keys))
    for ids in tables.batches(selected.jobs):
        jobs.erase(db, ids, now)
    for table in (tables.board_comparisons, tables.board_runs, tables.comparison_asks, tables.invites, tables.ladders):
        db.execute(delete(table).where(table.c.benchmark_id == slug))
    hooks = select(tables.webhooks.c.id).where(tables.webhooks.c.benchmark_id == slug)
    db.execute(delete(tables.deliveries).where(tables.deliveries.c.webhook_id.in_(hooks)))
    db.execute(delete(tables.webhooks).where(tables.webhooks.c.benchmark_id == slug))
    tokens.revoke_all(db, slug, None, now)
    db.execute(update(tables.tokens).where(tables.tokens.c.benchmark_id == slug).values(name=None))
    db.execute(update(tables.teams).where(tables.teams.c.benchmark_id == slug).values(benchmarks.erased_team(now)))
    benchmarks.mark_deleted(db, slug, now)
    benchmarks.forget(db, slug)


def drop_team(db: Connection, selected: Selected, slug: str, team_id: str, now: datetime) -> None:
    """Delete what a team's outputs were compared and validated with. Its submissions are left."""
    drop_comparisons(db, selected.comparisons)
    for ids in tables.batches(selected.jobs):
        jobs.erase(db, ids, now)
    db.execute(delete(tables.ladders).where(tables.ladders.c.benchmark_id == slug, tables.ladders.c.team_id == team_id))


def drop_comparisons(db: Connection, ids: Sequence[str]) -> None:
    """Delete comparisons with their answers; asked again, they are computed again."""
    for some in tables.batches(ids):
        c = tables.comparisons.c
        attempts = db.execute(select(c.id, c.attempt).where(c.id.in_(some))).all()
        run_ids = [*some, *(f"{row.id}-{number}" for row in attempts for number in range(2, row.attempt + 1))]
        artifacts.drop(db, some)
        db.execute(delete(tables.comparisons).where(tables.comparisons.c.id.in_(some)))
        # the same question has the same id, which must be free
        db.execute(delete(tables.runs).where(tables.runs.c.id.in_(run_ids)))


def drop_old(db: Connection, selected: Selected, now: datetime) -> None:
    """Delete jobs and comparisons, and of submissions everything but scores and counts."""
    drop_comparisons(db, selected.comparisons)
    for ids in tables.batches(selected.jobs):
        jobs.erase(db, ids, now)
    for ids in tables.batches(selected.submissions):
        submissions.drop_outputs(db, ids, now)
        artifacts.drop_all_but_counts(db, ids)
        score_records.strip(db, ids)
        db.execute(update(tables.submissions).where(tables.submissions.c.id.in_(ids)).values(failures="[]"))


def overwrite_freed(store: Store) -> None:
    """Let SQLite write zeros over what is deleted from now on; a database server cannot."""
    if store.sqlite:
        sa.event.listen(store.engine, "connect", lambda connection, _: connection.execute("PRAGMA secure_delete=ON"))
        store.engine.dispose()


def rewrite(store: Store) -> bool:
    """Write the database's files again without what was deleted; return whether that was possible now.

    SQLite's journal can only be emptied while no other process reads an older state. A database server locks each
    table while it is written again.
    """
    with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
        if not store.sqlite:
            for table in tables.metadata.sorted_tables:
                db.execute(sa.text(f"VACUUM FULL {table.name}"))
            return True
        raw = db.connection.cursor()
        raw.execute(f"PRAGMA busy_timeout={PATIENCE_MS}")
        try:
            raw.execute("VACUUM")
            busy, _, _ = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:
            return False
        return not busy


def _number(db: Connection, where: ColumnElement[bool]) -> int:
    return tables.count(db, select(func.count()).where(where))
