"""Benchmarks: what organisers may change of them, and which revision rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection, insert, select, update

from service.store.tables import benchmarks


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One row.

    Attributes:
        id: the slug.
        title: for people.
        series: joins the phases of one shared task.
        settings: everything else that PATCH may change, checked and complete (see usecases.benchmark_settings).
        created_at, updated_at: of the benchmark itself.
        version: counts its changes.
        board_version: counts changes of anything that its leaderboard shows.
        active_revision: number of the revision that rules; None before the first is active.
        deleted_at: when it was deleted.
    """

    id: str
    title: str
    series: str | None
    settings: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    version: int
    board_version: int
    active_revision: int | None
    deleted_at: datetime | None

    @property
    def opens_at(self) -> datetime | None:
        """From when submissions are taken; None for from the start."""
        return self._time("opens_at")

    @property
    def closes_at(self) -> datetime | None:
        """Until when submissions are taken, this very moment included; None for ever."""
        return self._time("closes_at")

    @property
    def leaderboard(self) -> dict[str, Any]:
        """Settings of the leaderboard."""
        chosen: dict[str, Any] = self.settings["leaderboard"]
        return chosen

    @property
    def frozen_at(self) -> datetime | None:
        """From when teams see the board as it stood then."""
        text = self.leaderboard.get("frozen_at")
        return None if text is None else datetime.fromisoformat(text)

    def opened(self, now: datetime) -> bool:
        """Whether its time has begun."""
        return self.opens_at is None or now >= self.opens_at

    def closed(self, now: datetime) -> bool:
        """Whether its time is over: the closing second itself still counts as open."""
        return self.closes_at is not None and now.replace(microsecond=0) > self.closes_at

    def _time(self, name: str) -> datetime | None:
        text = self.settings[name]
        return None if text is None else datetime.fromisoformat(text)


def add(db: Connection, benchmark: Benchmark) -> None:
    """Store a new benchmark. The primary key refuses a slug that is taken."""
    db.execute(
        insert(benchmarks).values(
            id=benchmark.id,
            title=benchmark.title,
            series=benchmark.series,
            settings=orjson.dumps(benchmark.settings).decode(),
            created_at=benchmark.created_at,
            updated_at=benchmark.updated_at,
            version=benchmark.version,
            board_version=benchmark.board_version,
            active_revision=benchmark.active_revision,
        )
    )


def get(db: Connection, slug: str, *, lock: bool = False, alone: bool = False) -> Benchmark | None:
    """One benchmark, deleted or not; None where there never was one.

    With `lock` nobody else changes it or what is on its board before the transaction ends, though submissions may be
    added; with `alone` not even that. A transaction that locks more than a benchmark's row locks that row first, then
    submissions, then teams, so that no two wait for each other.
    """
    query = select(benchmarks).where(benchmarks.c.id == slug)
    if lock or alone:
        query = query.with_for_update(key_share=not alone)
    row = db.execute(query).one_or_none()
    return None if row is None else _benchmark(row)


def listing(db: Connection, after: str | None, limit: int, series: str | None = None) -> Sequence[Benchmark]:
    """Benchmarks by slug, from after a given one; deleted ones left out."""
    query = select(benchmarks).where(benchmarks.c.deleted_at.is_(None)).order_by(benchmarks.c.id).limit(limit)
    if after is not None:
        query = query.where(benchmarks.c.id > after)
    if series is not None:
        query = query.where(benchmarks.c.series == series)
    return [_benchmark(row) for row in db.execute(query)]


def change(db: Connection, changed: Benchmark) -> bool:
    """Store title, series and settings as `changed` has them, if the row still has its version; True where it had.

    Version and board version go up by one.
    """
    result = db.execute(
        update(benchmarks)
        .where(benchmarks.c.id == changed.id, benchmarks.c.version == changed.version)
        .values(
            title=changed.title,
            series=changed.series,
            settings=orjson.dumps(changed.settings).decode(),
            updated_at=changed.updated_at,
            version=benchmarks.c.version + 1,
            board_version=benchmarks.c.board_version + 1,
        )
    )
    return result.rowcount == 1


def touch_board(db: Connection, slug: str) -> int:
    """Note that something on the board has changed: its new version."""
    statement = (
        update(benchmarks)
        .where(benchmarks.c.id == slug)
        .values(board_version=benchmarks.c.board_version + 1)
        .returning(benchmarks.c.board_version)
    )
    return int(db.execute(statement).scalar_one())


def activate(db: Connection, slug: str, number: int, now: datetime) -> None:
    """Let a revision rule from now on."""
    db.execute(
        update(benchmarks)
        .where(benchmarks.c.id == slug)
        .values(
            active_revision=number,
            updated_at=now,
            version=benchmarks.c.version + 1,
            board_version=benchmarks.c.board_version + 1,
        )
    )


def mark_deleted(db: Connection, slug: str, now: datetime) -> None:
    """Leave the fact that there was one (410)."""
    db.execute(
        update(benchmarks)
        .where(benchmarks.c.id == slug)
        .values(deleted_at=now, updated_at=now, version=benchmarks.c.version + 1)
    )


def _benchmark(row: Any) -> Benchmark:
    return Benchmark(
        id=row.id,
        title=row.title,
        series=row.series,
        settings=orjson.loads(row.settings),
        created_at=row.created_at,
        updated_at=row.updated_at,
        version=row.version,
        board_version=row.board_version,
        active_revision=row.active_revision,
        deleted_at=row.deleted_at,
    )
