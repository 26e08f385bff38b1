"""Find rows that do not fit together, and bytes that are not what they were. Reads only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson
import zstandard
from sqlalchemy import ColumnElement, Connection, Select, exists, func, literal, select

from service.store import revisions, runs, score_records, tables
from service.store import texts as owned
from service.store.packing import unpack
from service.store.tables import revisions as revisions_table
from service.store.tables import runs as runs_table
from treescore.core.text import digest_of

_MOST = 1000
"""Rows named of one kind of damage."""


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
    """Decompress the stored answers of comparisons, boards and revisions, the results of pieces, and views."""
    columns = (
        (tables.comparisons.c.id, tables.comparisons.c.document),
        (
            tables.board_comparisons.c.benchmark_id + "/" + tables.board_comparisons.c.key,
            tables.board_comparisons.c.document,
        ),
        (revisions_table.c.id, revisions_table.c.moved),
        (tables.pieces.c.id, tables.pieces.c.body),
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
    team_of = tables.submissions.c
    has_team = exists().where(tables.teams.c.benchmark_id == team_of.benchmark_id, tables.teams.c.id == team_of.team_id)
    for (name,) in db.execute(select(team_of.id).where(team_of.team_id.is_not(None), ~has_team).limit(_MOST)):
        yield _missing("submissions.team_id", "teams", name)
    of_token = exists().where(
        tables.teams.c.benchmark_id == tables.tokens.c.benchmark_id, tables.teams.c.id == tables.tokens.c.team_id
    )
    for (name,) in db.execute(
        select(tables.tokens.c.id).where(tables.tokens.c.team_id.is_not(None), ~of_token).limit(_MOST)
    ):
        yield _missing("tokens.team_id", "teams", name)
    active = exists().where(
        revisions_table.c.benchmark_id == tables.benchmarks.c.id,
        revisions_table.c.number == tables.benchmarks.c.active_revision,
    )
    for (name,) in db.execute(
        select(tables.benchmarks.c.id).where(tables.benchmarks.c.active_revision.is_not(None), ~active)
    ):
        yield _missing("benchmarks.active_revision", "revisions", name)


def missing_rows(db: Connection) -> Iterator[Flaw]:
    """Find what must have been stored together and is only there in part."""
    final_job = (tables.jobs.c.deleted_at.is_(None)) & tables.jobs.c.document.is_(None)
    query = (
        select(tables.jobs.c.id)
        .join(runs_table, runs_table.c.id == tables.jobs.c.id)
        .where(final_job, ~runs.is_unfinished())
    )
    yield from _flaws(db, query, "answer-missing", "The job has ended and has no answer.")
    unfinished = runs.is_unfinished()
    for kind, owner in (("job", tables.jobs.c.id), ("validation", tables.jobs.c.id),
                        ("submission", tables.submissions.c.run_id), ("revision", revisions_table.c.id),
                        ("comparison", tables.comparisons.c.run_id)):  # fmt: skip
        query = select(runs_table.c.id).where(unfinished, runs_table.c.kind == kind, ~_found(owner, runs_table.c.id))
        yield from _flaws(db, query, "run-without-resource", f"The unfinished run has no {kind}.")
    query = (
        select(tables.submissions.c.id)
        .join(runs_table, runs_table.c.id == tables.submissions.c.run_id)
        .where(tables.submissions.c.state == runs.QUEUED, ~unfinished)
    )
    yield from _flaws(db, query, "state-differs", "The submission is queued, but its run has ended.")
    gold = exists().where(
        tables.owned_texts.c.owner == tables.parts.c.revision_id,
        (tables.owned_texts.c.name == "parts/" + tables.parts.c.name)
        | tables.owned_texts.c.name.startswith("parts/" + tables.parts.c.name + "/"),
    )
    query = (
        select(tables.parts.c.revision_id + " " + tables.parts.c.name)
        .join(revisions_table, revisions_table.c.id == tables.parts.c.revision_id)
        .join(tables.benchmarks, tables.benchmarks.c.id == revisions_table.c.benchmark_id)
        .where(tables.benchmarks.c.deleted_at.is_(None), ~gold)
    )
    yield from _flaws(db, query, "gold-missing", "The part of the revision has no gold text.")
    yield from _outputs_missing(db)
    for slug, number in db.execute(
        select(tables.benchmarks.c.id, tables.benchmarks.c.active_revision).where(
            tables.benchmarks.c.active_revision.is_not(None), tables.benchmarks.c.deleted_at.is_(None)
        )
    ).all():
        for name in score_records.unscored(db, slug, number, _MOST):
            yield Flaw("scores-missing", name, f"The submission has no scores under the active revision {number}.")


def _outputs_missing(db: Connection) -> Iterator[Flaw]:
    c = tables.submissions.c
    query = select(c.id, c.outputs).where(c.deleted_at.is_(None), c.output_deleted_at.is_(None))
    for row in db.execute(query).all():
        names = owned.names(db, row.id)
        for part in orjson.loads(row.outputs):
            folder = f"outputs/{part}"
            if not any(name == folder or name.startswith(folder + "/") for name in names):
                yield Flaw("output-missing", row.id, f"The output of part {part} is not stored.")


def left_over(db: Connection) -> Iterator[Flaw]:
    """Find what a crash can leave: rows that no resource owns any more."""
    without_owner = select(tables.texts.c.digest).where(~_found(tables.owned_texts.c.digest, tables.texts.c.digest))
    yield from _flaws(db, without_owner, "text-without-owner", "No job, submission or revision has the text.")
    for table in (tables.owned_texts, tables.artifacts):
        gone = ~_found(runs_table.c.id, table.c.owner) | _erased(table.c.owner)
        query = select(table.c.owner).where(gone).distinct()
        what = "texts" if table is tables.owned_texts else "artifacts"
        yield from _flaws(db, query, f"{what}-without-owner", f"The {what} belong to nothing that is stored.")
    of_ended = (
        select(tables.pieces.c.id)
        .join(runs_table, runs_table.c.id == tables.pieces.c.run_id)
        .where(~runs.is_unfinished())
    )
    yield from _flaws(db, of_ended, "piece-left-over", "The run of the piece has ended.")
    for slug, number in score_records.left_over(db):
        detail = "The revision never became active and still has scores; the sweeper deletes them."
        yield Flaw("scores-left-over", f"{slug} revision {number}", detail)


def score_records_count(db: Connection) -> int:
    """Count the score records."""
    return int(db.scalar(select(func.count()).select_from(tables.scores)) or 0)


def sampled_records(db: Connection, every: int) -> Iterator[tuple[str, int]]:
    """Yield submission and revision of each n-th score record, of those under revisions that are or were active."""
    query = (
        select(tables.scores.c.submission_id, tables.scores.c.revision)
        .join(tables.submissions, tables.submissions.c.id == tables.scores.c.submission_id)
        .join(
            revisions_table,
            (revisions_table.c.benchmark_id == tables.submissions.c.benchmark_id)
            & (revisions_table.c.number == tables.scores.c.revision),
        )
        .where(tables.submissions.c.deleted_at.is_(None), revisions_table.c.state.not_in(revisions.NEVER_ACTIVE))
        .order_by(tables.scores.c.submission_id, tables.scores.c.revision)
    )
    for number, row in enumerate(db.execute(query).all()):
        if number % every == 0:
            yield row.submission_id, row.revision


def _erased(owner: ColumnElement[str]) -> ColumnElement[bool]:
    """Select owners that were deleted: nothing of theirs should be left."""
    of_deleted_benchmark = (
        exists()
        .where(revisions_table.c.id == owner)
        .where(tables.benchmarks.c.id == revisions_table.c.benchmark_id, tables.benchmarks.c.deleted_at.is_not(None))
    )
    return (
        exists().where(tables.jobs.c.id == owner, tables.jobs.c.deleted_at.is_not(None))
        | exists().where(tables.submissions.c.id == owner, tables.submissions.c.deleted_at.is_not(None))
        | of_deleted_benchmark
    )


def _found(parent: ColumnElement[str], child: ColumnElement[str]) -> ColumnElement[bool]:
    # an alias, because a table may refer to itself, and to leave the outer query alone
    table = parent.table.alias()
    return select(literal(1)).where(table.c[parent.name] == child).correlate(child.table).exists()


def _missing(column: str, table: str, subject: str) -> Flaw:
    return Flaw("reference-broken", subject, f"{column} names a row of {table} that is not there.")


def _flaws(db: Connection, query: Select[Any], code: str, detail: str) -> Iterator[Flaw]:
    for subject in db.scalars(query.limit(_MOST)):
        yield Flaw(code, subject, detail)


def _streamed_rows(db: Connection, query: Select[Any]) -> Iterator[Any]:
    yield from db.execute(query, execution_options={"yield_per": 50})


def _unpacked(body: bytes) -> bytes | None:
    try:
        return unpack(body)
    except (zstandard.ZstdError, MemoryError):  # a damaged size may ask for any amount of memory
        return None
