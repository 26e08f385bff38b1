"""Boards compared again: documents are their units where gold marks them, and submissions that lack a part are tested.

Intervals that were stored with scores stay until a submission is scored again.
"""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op
from ulid import ULID

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

BENCHMARKS = sa.table("benchmarks", *(sa.column(name) for name in ("id", "active_revision", "deleted_at")))
BOARD_RUNS = sa.table("board_runs", *(sa.column(name) for name in ("benchmark_id", "revision", "run_id")))
RUNS = sa.table(
    "runs",
    *(sa.column(name) for name in ("id", "kind", "queue", "state", "attempts", "principal")),
    sa.column("created_at", sa.DateTime(timezone=True)),
)


def upgrade() -> None:
    """Store a run for the board of every active revision, unless one is under way: it will see the new question."""
    active = sa.and_(BENCHMARKS.c.active_revision.is_not(None), BENCHMARKS.c.deleted_at.is_(None))
    for row in op.get_bind().execute(sa.select(BENCHMARKS.c.id, BENCHMARKS.c.active_revision).where(active)).all():
        _compare_again(row.id, row.active_revision)


def _compare_again(benchmark: str, number: int) -> None:
    board = sa.and_(BOARD_RUNS.c.benchmark_id == benchmark, BOARD_RUNS.c.revision == number)
    earlier = op.get_bind().execute(
        sa.select(RUNS.c.state).where(RUNS.c.id.in_(sa.select(BOARD_RUNS.c.run_id).where(board)))
    )
    if set(earlier.scalars()) & {"queued", "running"}:
        return
    now = datetime.now(UTC)
    run = {
        "id": f"brd_{ULID.from_datetime(now)}", "kind": "board", "queue": "bulk", "state": "queued", "attempts": 0,
        "principal": f"benchmark:{benchmark}", "created_at": now,
    }  # fmt: skip
    op.execute(RUNS.insert().values(run))
    op.execute(BOARD_RUNS.delete().where(board))
    op.execute(BOARD_RUNS.insert().values(benchmark_id=benchmark, revision=number, run_id=run["id"]))
