"""Plain names, runs of boards in a table of their own, and attempts as columns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import orjson
import sqlalchemy as sa
import zstandard
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

AT_ONCE = 500
"""Keys read at once. Documents are read one by one: each may be large."""
OLD_NAMES = (b'"trials"', b'"rank_range"')
COMMENTS = {
    "texts": "each text once, by the digest of its bytes",
    "runs": "the work of workers, past and present; the id is that of its resource",
    "owned_texts.name": "gold, systems/0, gold/source, ...",
    "artifacts.name": "counts, items, slices, report of a metric",
    "artifacts": "results that a worker stored for later requests",
    "secrets": "random keys of this store, created on first use",
    "revisions": "gold and metrics, immutable; gold texts are stored under the id",
    "submissions.team_id": "null for a baseline of the organisers",
    "submissions.utc_day": "the day to whose quota it is charged",
    "submissions.state": "queued until final; the run has more",
    "submissions.output_deleted_at": "outputs expire",
    "submissions": "outputs are stored under the id",
    "scores.figures": "float64, see figures.py",
    "scores.document": "JSON, zstd: the whole result",
    "board_comparisons.key": "which board: score, part, pick, frozen or not",
    "board_comparisons.run_id": "the run that made it",
}
"""Of tables and columns, in plain English. SQLite keeps none."""

JOBS = sa.table("jobs", sa.column("id"), sa.column("document"), sa.column("etag"))
COMPARISONS = sa.table("comparisons", sa.column("id"), sa.column("document"), sa.column("etag"))
BOARDS = sa.table(
    "board_comparisons", sa.column("benchmark_id"), sa.column("revision"), sa.column("key"), sa.column("document")
)


def upgrade() -> None:
    """Upgrade from 0002."""
    op.alter_column("revisions", "ruler", new_column_name="scoring")
    op.alter_column("board_comparisons", "score", new_column_name="key")
    _add_board_runs()
    for table in ("submissions", "comparisons"):
        _add_attempt(table)
    _rename_in_jobs()
    _rename_in_comparisons()
    _rename_in_boards()
    if op.get_bind().dialect.name == "postgresql":
        for name, words in COMMENTS.items():
            kind = "COLUMN" if "." in name else "TABLE"
            op.execute(f"COMMENT ON {kind} {name} IS '{words}'")


def _add_board_runs() -> None:
    """Move the rows without a score, which only named a run, into a table."""
    op.create_table(
        "board_runs",
        sa.Column("benchmark_id", sa.String(length=64), nullable=False),
        sa.Column("revision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmarks.id"], name=op.f("fk_board_runs_benchmark_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_board_runs_run_id")),
        sa.PrimaryKeyConstraint("benchmark_id", "revision", name=op.f("pk_board_runs")),
        comment="the last run that makes or made the comparisons of a revision's boards",
    )
    op.create_index(op.f("ix_board_runs_run_id"), "board_runs", ["run_id"], unique=False)
    op.execute(
        "INSERT INTO board_runs (benchmark_id, revision, run_id) "
        "SELECT benchmark_id, revision, run_id FROM board_comparisons WHERE key = '' AND run_id IS NOT NULL"
    )
    op.execute("DELETE FROM board_comparisons WHERE key = ''")


def _add_attempt(table: str) -> None:
    """Number the current attempt: so far only the suffix of its run's id has the number (`sub_x-2`)."""
    # a column with a default is added in place: SQLite would otherwise copy the table, which others refer to
    op.add_column(
        table,
        sa.Column("attempt", sa.Integer(), nullable=False, server_default="1", comment="number of the current attempt"),
    )
    op.execute(
        f"UPDATE {table} SET attempt = CAST(substr(run_id, length(id) + 2) AS INTEGER) "  # noqa: S608 - fixed names
        "WHERE length(run_id) > length(id) + 1"
    )


def _rename_in_jobs() -> None:
    for (job_id,) in _keys(JOBS, JOBS.c.id):
        where = JOBS.c.id == job_id
        old = _document(JOBS, where)
        if not any(name in old for name in OLD_NAMES):
            continue
        document = orjson.loads(old)
        results = document.get("results") or {}
        if results.get("comparisons"):
            results["comparisons"] = [_renamed(comparison) for comparison in results["comparisons"]]
        new = orjson.dumps(document)
        if new != old:
            op.execute(JOBS.update().where(where).values(document=new, etag=_etag(new)))


def _rename_in_comparisons() -> None:
    for (name,) in _keys(COMPARISONS, COMPARISONS.c.id):
        where = COMPARISONS.c.id == name
        body = _changed(_document(COMPARISONS, where))
        if body is not None:
            op.execute(COMPARISONS.update().where(where).values(document=_packed(body), etag=_etag(body)))


def _rename_in_boards() -> None:
    c = BOARDS.c
    for benchmark, number, key in _keys(BOARDS, c.benchmark_id, c.revision, c.key):
        where = sa.and_(c.benchmark_id == benchmark, c.revision == number, c.key == key)
        body = _changed(_document(BOARDS, where))
        if body is not None:
            op.execute(BOARDS.update().where(where).values(document=_packed(body)))


def _keys(table: sa.TableClause, *columns: sa.ColumnClause[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the keys of the rows with a document, a bounded number at once."""
    query = sa.select(*columns).where(table.c.document.is_not(None)).order_by(*columns).limit(AT_ONCE)
    key = sa.tuple_(*columns)
    rows = op.get_bind().execute(query).all()
    while rows:
        yield from (tuple(row) for row in rows)
        rows = op.get_bind().execute(query.where(key > sa.tuple_(*(sa.literal(each) for each in rows[-1])))).all()


def _document(table: sa.TableClause, where: sa.ColumnElement[bool]) -> bytes:
    return bytes(op.get_bind().execute(sa.select(table.c.document).where(where)).scalar_one())


def _changed(packed: bytes) -> bytes | None:
    """Return a packed document with the new names, unpacked; None where nothing changes."""
    body = zstandard.ZstdDecompressor().decompress(packed)
    if not any(name in body for name in OLD_NAMES):
        return None
    document = orjson.loads(body)
    document["comparison"] = _renamed(document["comparison"])
    return orjson.dumps(document)


def _renamed(comparison: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a comparison with the new names; the order of members stays."""
    if comparison is None:
        return None
    changed = dict(comparison)
    if comparison.get("signature"):
        changed["signature"] = _renamed_member(comparison["signature"], "trials", "shuffles")
    if comparison.get("systems"):
        changed["systems"] = [_renamed_member(each, "rank_range", "rank_interval") for each in comparison["systems"]]
    return changed


def _renamed_member(document: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if name == old else name: value for name, value in document.items()}


def _packed(body: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=3, write_content_size=True).compress(body)


def _etag(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=16).hexdigest()
