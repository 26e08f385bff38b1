"""Who asked which comparison, comparisons that can be deleted, a quota of questions, and boards tested with new seeds."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson
import sqlalchemy as sa
from alembic import op
from ulid import ULID

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

QUESTIONS_A_DAY = 20
TIME = sa.DateTime(timezone=True)
BENCHMARKS = sa.table("benchmarks", *(sa.column(name) for name in ("id", "settings", "active_revision", "deleted_at")))
BOARD_RUNS = sa.table("board_runs", *(sa.column(name) for name in ("benchmark_id", "revision", "run_id")))
RUNS = sa.table(
    "runs", *(sa.column(name) for name in ("id", "kind", "queue", "state", "attempts")), sa.column("created_at", TIME)
)


def upgrade() -> None:
    """Add the table and columns. Comparisons that were asked before belong to the organisers."""
    op.create_table(
        "comparison_asks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("comparison_id", sa.String(length=64), nullable=False, comment="stored in the same transaction"),
        sa.Column("benchmark_id", sa.String(length=64), nullable=False),
        sa.Column("team_id", sa.String(length=64), nullable=True, comment="null for organisers"),
        sa.Column("utc_day", sa.String(length=10), nullable=False, comment="the day to whose quota it is charged"),
        sa.Column("charged", sa.Boolean(), nullable=False),
        sa.Column("asked_at", TIME, nullable=False),
        sa.Column("dropped_at", TIME, nullable=True, comment="the asker deleted it; the charge stays"),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmarks.id"], name=op.f("fk_comparison_asks_benchmark_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comparison_asks")),
        comment="who asked which comparison",
    )
    op.create_index(op.f("ix_comparison_asks_comparison_id"), "comparison_asks", ["comparison_id"])
    op.create_index("ix_comparison_asks_team", "comparison_asks", ["benchmark_id", "team_id", "utc_day"])
    op.drop_column("comparisons", "etag")
    op.add_column(
        "comparisons",
        sa.Column("deleted_at", TIME, nullable=True, comment="the row stays: the question may be asked again"),
    )
    op.add_column(
        "board_comparisons",
        sa.Column("comparison_id", sa.String(length=64), nullable=True, comment="of its question"),
    )
    op.create_index(op.f("ix_board_comparisons_comparison_id"), "board_comparisons", ["comparison_id"])
    for row in op.get_bind().execute(sa.select(BENCHMARKS)).all():
        _limit_questions(row.id, row.settings)
        if row.active_revision is not None and row.deleted_at is None:
            _compare_again(row.id, row.active_revision)


def _limit_questions(benchmark: str, stored: str) -> None:
    settings = orjson.loads(stored)
    settings["quota"] = {**settings["quota"], "comparisons_per_day": QUESTIONS_A_DAY}
    changed = orjson.dumps(settings).decode()
    op.execute(BENCHMARKS.update().where(BENCHMARKS.c.id == benchmark).values(settings=changed))


def _compare_again(benchmark: str, number: int) -> None:
    """Store a run that compares the rows of a board: those compared before answer another question."""
    now = datetime.now(UTC)
    run_id = f"brd_{ULID.from_datetime(now)}"
    board = sa.and_(BOARD_RUNS.c.benchmark_id == benchmark, BOARD_RUNS.c.revision == number)
    earlier = op.get_bind().execute(
        sa.select(RUNS.c.state).where(RUNS.c.id.in_(sa.select(BOARD_RUNS.c.run_id).where(board)))
    )
    if set(earlier.scalars()) & {"queued", "running"}:
        return
    run = {"id": run_id, "kind": "board", "queue": "bulk", "state": "queued", "attempts": 0, "created_at": now}
    op.execute(RUNS.insert().values(run))
    op.execute(BOARD_RUNS.delete().where(board))
    op.execute(BOARD_RUNS.insert().values(benchmark_id=benchmark, revision=number, run_id=run_id))
