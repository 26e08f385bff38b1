"""Delete what is kept no longer, so that nothing of it stays in the database's files. Backups keep it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from service.context import Context
from service.errors import NotFound
from service.store import purging, runs, teams
from service.store.purging import Selected
from service.usecases.access.access import benchmark_of, storable, unknown_team
from service.usecases.benchmarks.teams import erase_team
from service.usecases.events.events import record_event
from service.usecases.scoring import gold
from service.usecases.tokens import OPERATOR


@dataclass(frozen=True, slots=True)
class Scope:
    """What to purge: exactly one of these.

    Attributes:
        benchmark: slug; everything of it.
        team: benchmark and id; its name, texts, items and comparisons. Scores stay as rows without a name.
        before: jobs, comparisons, outputs and items that ended earlier. Scores stay.
    """

    benchmark: str | None = None
    team: tuple[str, str] | None = None
    before: datetime | None = None


def listed(context: Context, scope: Scope) -> dict[str, int]:
    """Count what would be deleted.

    Raises:
        NotFound: the benchmark or the team does not exist.
        Gone: the benchmark was deleted.
    """
    with context.store.read() as db:
        return purging.counted(db, _selected(db, scope))


def purge(context: Context, scope: Scope) -> tuple[dict[str, int], bool]:
    """Delete; return what was deleted, and whether every file is free of it.

    Raises:
        NotFound: the benchmark or the team does not exist.
        Gone: the benchmark was deleted.
    """
    purging.overwrite_freed(context.store)
    numbers = _purge(context, scope) if scope.team is None else _purge_team(context, *scope.team)
    return numbers, purging.rewrite(context.store)


def _purge_team(context: Context, slug: str, team_id: str) -> dict[str, int]:
    with context.store.write() as db:
        selected = _selected(db, Scope(team=(slug, team_id)))
        numbers = purging.counted(db, selected)
        stopped = _end_runs(db, context, selected)
        purging.drop_team(db, selected, slug, team_id, context.now())
    for run_id in stopped:
        context.queue.stop(run_id)
    erase_team(context, OPERATOR, slug, team_id)
    return numbers


def _purge(context: Context, scope: Scope) -> dict[str, int]:
    now = context.now()
    with context.store.write() as db:
        if scope.benchmark is not None:
            benchmark_of(db, scope.benchmark, exclusive=True)
        selected = _selected(db, scope)
        numbers = purging.counted(db, selected)
        stopped = []
        if selected.benchmark is not None:
            stopped = _end_runs(db, context, selected)
            purging.drop_benchmark(db, selected, selected.benchmark, now)
            record_event(db, context, "benchmark.deleted", selected.benchmark, actor=OPERATOR.owner)
        else:
            purging.drop_old(db, selected, now)
    gold.drop_gold(context, selected.revisions)
    for run_id in stopped:
        context.queue.stop(run_id)
    return numbers


def _selected(db: Connection, scope: Scope) -> Selected:
    if scope.team is not None:
        slug, team_id = scope.team
        benchmark_of(db, slug)
        known = teams.get(db, slug, team_id) if storable(team_id) else None
        if known is None or known.erased_at is not None:
            raise NotFound(unknown_team(db, slug, team_id))
        return purging.of_team(db, slug, team_id)
    if scope.benchmark is not None:
        benchmark_of(db, scope.benchmark)
        return purging.of_benchmark(db, scope.benchmark)
    if scope.before is None:
        raise ValueError("a purge needs a benchmark, a team or a time")
    return purging.ended_before(db, scope.before)


def _end_runs(db: Connection, context: Context, selected: Selected) -> list[str]:
    """Cancel what is unfinished, so that no worker saves anything of it afterwards."""
    unfinished = purging.unfinished_runs(db, selected)
    for run_id in unfinished:
        runs.finish(db, run_id, runs.CANCELLED, context.now())
    return unfinished
