"""Ladders: the shown best of each team under one revision. It outlives the submission that it came from."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from service.store.packing import pack_array, unpack_array
from service.store.tables import ladders
from treescore.core.arrays import Counts


@dataclass(frozen=True, slots=True)
class Ladder:
    """A team's place.

    Attributes:
        rung: how many of its scores were released.
        counts: of the last released one under the metric that ranks, (n, k), all parts one after the other.
    """

    rung: int
    counts: Counts


def get(db: Connection, benchmark_id: str, team_id: str, revision: int) -> Ladder | None:
    """Return a team's place, or None before its first score."""
    c = ladders.c
    query = select(c.rung, c.counts).where(c.benchmark_id == benchmark_id, c.team_id == team_id, c.revision == revision)
    row = db.execute(query).one_or_none()
    return None if row is None else Ladder(row.rung, unpack_array(row.counts))


def save(db: Connection, benchmark_id: str, team_id: str, revision: int, ladder: Ladder) -> None:
    """Store a team's place instead of the one before."""
    c = ladders.c
    place = {"benchmark_id": benchmark_id, "team_id": team_id, "revision": revision}
    db.execute(delete(ladders).where(c.benchmark_id == benchmark_id, c.team_id == team_id, c.revision == revision))
    db.execute(insert(ladders).values(**place, rung=ladder.rung, counts=pack_array(ladder.counts)))


def drop(db: Connection, benchmark_id: str) -> None:
    """Delete all places of a benchmark."""
    db.execute(delete(ladders).where(ladders.c.benchmark_id == benchmark_id))


def drop_revision(db: Connection, benchmark_id: str, revision: int) -> None:
    """Delete all places under a revision that never became active."""
    db.execute(delete(ladders).where(ladders.c.benchmark_id == benchmark_id, ladders.c.revision == revision))
