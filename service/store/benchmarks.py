"""Benchmarks: their settings, and which revision is active; their teams, and invites.

An invite is a secret, hashed, with which strangers make teams.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson
from sqlalchemy import Connection, insert, select, update

from service.store import tables
from service.store.tables import benchmarks, columns_of, invites, json_text, one, record_of, submissions, teams


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One row.

    Attributes:
        id: the slug.
        title: for people.
        series: joins the phases of one shared task.
        settings: everything else that PATCH may change, checked and complete (see usecases.benchmarks.settings).
        closed_from: the first moment at which it is closed: of a `closes_at` that was over when it was set, that moment
            or when it had closed before; None for no end.
        created_at, updated_at: when the benchmark itself was created and last changed.
        version: counts its changes.
        board_version: counts changes of everything that its leaderboard shows.
        active_revision: number of the active revision; None before the first.
        deleted_at: when it was deleted.
    """

    id: str
    title: str
    series: str | None
    settings: dict[str, Any]
    closed_from: datetime | None
    created_at: datetime
    updated_at: datetime
    version: int
    board_version: int
    active_revision: int | None
    deleted_at: datetime | None

    @property
    def opens_at(self) -> datetime | None:
        """Return when submissions open; None for at once."""
        return _time(self.settings["opens_at"])

    @property
    def closes_at(self) -> datetime | None:
        """Return the last moment at which submissions are accepted; None for no end."""
        return _time(self.settings["closes_at"])

    @property
    def after_closing(self) -> datetime | None:
        """Return the first moment after `closes_at`; None for no end."""
        return None if self.closes_at is None else self.closes_at + timedelta(seconds=1)

    @property
    def leaderboard(self) -> Mapping[str, Any]:
        """Return the settings of the leaderboard."""
        leaderboard: Mapping[str, Any] = self.settings["leaderboard"]
        return leaderboard

    @property
    def tracks(self) -> Mapping[str, Sequence[str]]:
        """Return the named groups of parts."""
        tracks: Mapping[str, Sequence[str]] = self.settings["tracks"]
        return tracks

    @property
    def private_share(self) -> float | None:
        """Return which part of the test set is kept for the final board; None where it is not split."""
        split = self.leaderboard["split"]
        return None if split is None else split["private"]

    @property
    def frozen_at(self) -> datetime | None:
        """Return the moment at which the leaderboard is frozen for teams, or None."""
        return _time(self.leaderboard["frozen_at"])

    def opened(self, now: datetime) -> bool:
        """Return whether submissions have opened."""
        return self.opens_at is None or now >= self.opens_at

    def closed(self, now: datetime) -> bool:
        """Return whether submissions have closed. The closing second itself is still open."""
        return self.closes_at is not None and now.replace(microsecond=0) > self.closes_at


_COUNTED = {"version": benchmarks.c.version + 1, "board_version": benchmarks.c.board_version + 1}


def add(db: Connection, benchmark: Benchmark) -> None:
    """Store a new benchmark. The primary key refuses a slug that exists."""
    db.execute(insert(benchmarks).values(columns_of(benchmark, settings=json_text(benchmark.settings))))


def get(db: Connection, slug: str, *, lock: bool = False, exclusive: bool = False) -> Benchmark | None:
    """Return one benchmark, deleted or not, or None.

    A transaction that locks more rows than the benchmark's locks that row first, then submissions, then teams: without
    this order two transactions could wait for each other.

    Args:
        db: the transaction.
        slug: of the benchmark.
        lock: keep others from changing the benchmark and its board; submissions can still be added.
        exclusive: keep others from adding submissions too.
    """
    query = select(benchmarks).where(benchmarks.c.id == slug)
    if lock or exclusive:
        query = query.with_for_update(key_share=not exclusive)
    return one(db, query, _benchmark)


def listing(db: Connection, after: str | None, limit: int, series: str | None = None) -> Sequence[Benchmark]:
    """List benchmarks by slug, after a given one, without deleted ones."""
    query = tables.narrowed(select(benchmarks).where(benchmarks.c.deleted_at.is_(None)), (benchmarks.c.series, series))
    return [_benchmark(row) for row in db.execute(tables.page_from(query, benchmarks.c.id, after, limit))]


def change(db: Connection, benchmark: Benchmark) -> None:
    """Store title, series and settings of a locked benchmark, and count both versions up."""
    changed = {name: getattr(benchmark, name) for name in ("title", "series", "closed_from", "updated_at")}
    changed |= {"settings": json_text(benchmark.settings), **_COUNTED}
    db.execute(update(benchmarks).where(benchmarks.c.id == benchmark.id).values(changed))


def touch_board(db: Connection, slug: str) -> None:
    """Count a change of the board's rows, or of the comparisons behind it."""
    db.execute(update(benchmarks).where(benchmarks.c.id == slug).values(board_version=benchmarks.c.board_version + 1))


def activate(db: Connection, slug: str, number: int, now: datetime) -> None:
    """Make a revision the active one."""
    changed = {"active_revision": number, "updated_at": now, **_COUNTED}
    db.execute(update(benchmarks).where(benchmarks.c.id == slug).values(changed))


def mark_deleted(db: Connection, slug: str, now: datetime) -> None:
    """Mark as deleted. The row stays, so that the slug answers 410."""
    deleted = {"deleted_at": now, "updated_at": now, "version": benchmarks.c.version + 1}
    db.execute(update(benchmarks).where(benchmarks.c.id == slug).values(deleted))


def forget(db: Connection, slug: str) -> None:
    """Delete the title of a deleted benchmark, and what it says of itself."""
    known = get(db, slug)
    if known is not None:
        said = ("about", "notice")
        settings = json_text({name: value for name, value in known.settings.items() if name not in said})
        db.execute(update(benchmarks).where(benchmarks.c.id == slug).values(title="", series=None, settings=settings))


def _benchmark(row: tables.AnyRow) -> Benchmark:
    return record_of(Benchmark, row, settings=orjson.loads(row.settings))


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


ERASED_NAME = ""


@dataclass(frozen=True, slots=True)
class Team:
    """One row. An erased team has neither name nor contact. `invite_id` is that of the invite with which it joined."""

    benchmark_id: str
    id: str
    name: str
    contact: str | None
    created_at: datetime
    erased_at: datetime | None
    invite_id: str | None = None


def add_team(db: Connection, team: Team) -> None:
    """Store a new team. The primary key refuses an id that exists."""
    db.execute(insert(teams).values(columns_of(team)))


def get_team(db: Connection, benchmark_id: str, team_id: str, *, lock: bool = False) -> Team | None:
    """Return one team, erased or not, or None. `lock` keeps others from counting its quota in this transaction."""
    query = select(teams).where(teams.c.benchmark_id == benchmark_id, teams.c.id == team_id)
    return one(db, query.with_for_update() if lock else query, lambda row: record_of(Team, row))


def existing_teams(db: Connection, benchmark_id: str, team_ids: Sequence[str]) -> set[str]:
    """Return which of some ids teams have, erased or not."""
    found: set[str] = set()
    for some in tables.batches(team_ids):
        found.update(db.scalars(select(teams.c.id).where(teams.c.benchmark_id == benchmark_id, teams.c.id.in_(some))))
    return found


def teams_of(db: Connection, benchmark_id: str, after: str | None, limit: int | None) -> Sequence[Team]:
    """List teams by id, after a given one, without erased ones; all of them without a limit."""
    query = select(teams).where(teams.c.benchmark_id == benchmark_id, teams.c.erased_at.is_(None))
    return [record_of(Team, row) for row in db.execute(tables.page_from(query, teams.c.id, after, limit))]


def team_names(db: Connection, benchmark_id: str, team_ids: Iterable[str] | None = None) -> dict[str, str]:
    """Return the names of teams that are not erased, by id: of these, or of all of a benchmark."""
    query = select(teams.c.id, teams.c.name).where(teams.c.benchmark_id == benchmark_id, teams.c.erased_at.is_(None))
    if team_ids is not None:
        query = query.where(teams.c.id.in_(list(team_ids)))
    return dict(db.execute(query).cursor.fetchall())


def shown_names(db: Connection, benchmark_id: str, but: str) -> list[str]:
    """Return ids and names of teams that are not erased, but for the team `but`, and names of baselines."""
    query = select(teams.c.id, teams.c.name).where(teams.c.benchmark_id == benchmark_id, teams.c.erased_at.is_(None))
    baselines = select(submissions.c.name).where(
        submissions.c.benchmark_id == benchmark_id, submissions.c.role == "baseline", submissions.c.deleted_at.is_(None)
    )
    of_teams = [name for row in db.execute(query) if row.id != but for name in (row.id, row.name)]
    return [*of_teams, *db.scalars(baselines)]


def erased_team(now: datetime) -> dict[str, object]:
    """Return the columns of a team that is erased now."""
    return {"name": ERASED_NAME, "contact": None, "erased_at": now}


def erase_team(db: Connection, benchmark_id: str, team_id: str, now: datetime) -> None:
    """Delete a team's name and contact. Its id stays, so that no other team can take over its rows."""
    of_it = (teams.c.benchmark_id == benchmark_id) & (teams.c.id == team_id)
    db.execute(update(teams).where(of_it).values(erased_team(now)))


@dataclass(frozen=True, slots=True)
class Invite:
    """One row.

    Attributes:
        id: `inv_...`.
        benchmark_id: of the benchmark.
        hash: of the secret, which is not stored.
        created_at: when it was made.
        expires_at: when it ends.
        teams_at_most: how many teams it may make.
        teams: how many it has made.
        deleted_at: when the organisers withdrew it.
    """

    id: str
    benchmark_id: str
    hash: str
    created_at: datetime
    expires_at: datetime
    teams_at_most: int
    teams: int = 0
    deleted_at: datetime | None = None


def add_invite(db: Connection, invite: Invite) -> None:
    """Store a new invite."""
    db.execute(insert(invites).values(columns_of(invite)))


def invite_by_hash(db: Connection, hashed: str) -> Invite | None:
    """Return the invite with this hash of its secret, withdrawn or not, or None."""
    return one(db, select(invites).where(invites.c.hash == hashed), lambda row: record_of(Invite, row))


def invites_of(db: Connection, benchmark_id: str, before: str | None, limit: int) -> Sequence[Invite]:
    """List the invites of a benchmark, newest first, without withdrawn ones."""
    query = select(invites).where(invites.c.benchmark_id == benchmark_id, invites.c.deleted_at.is_(None))
    return [record_of(Invite, row) for row in db.execute(tables.page_down(query, invites.c.id, before, limit))]


def joined_by(db: Connection, benchmark_id: str, invite_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the names of the teams that joined with each of these invites, without erased ones, oldest first."""
    c = teams.c
    its = (c.benchmark_id == benchmark_id) & c.invite_id.in_(invite_ids) & c.erased_at.is_(None)
    names: dict[str, list[str]] = {invite_id: [] for invite_id in invite_ids}
    for row in db.execute(select(c.invite_id, c.name).where(its).order_by(c.created_at, c.id)):
        names[row.invite_id].append(row.name)
    return names


def use_invite(db: Connection, invite_id: str) -> bool:
    """Count one more team; False where the invite has made all that it may."""
    c = invites.c
    result = db.execute(update(invites).where(c.id == invite_id, c.teams < c.teams_at_most).values(teams=c.teams + 1))
    return result.rowcount == 1


def withdraw_invite(db: Connection, benchmark_id: str, invite_id: str, now: datetime) -> bool:
    """Mark an invite as withdrawn; True where the benchmark had it. The row stays, so that its secret answers 410."""
    c = invites.c
    valid = (c.benchmark_id == benchmark_id) & (c.id == invite_id) & c.deleted_at.is_(None)
    return db.execute(update(invites).where(valid).values(deleted_at=now)).rowcount == 1
