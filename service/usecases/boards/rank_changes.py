"""Who moves on the leaderboard when another revision comes to rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from service.store.submissions import Standing
from service.usecases.boards.rows import Entrant, Place, picked, ranked


def rank_changes(
    standings: Sequence[Standing],
    pick: str,
    before: tuple[Mapping[str, float | None], bool],
    after: tuple[Mapping[str, float | None], bool],
) -> list[dict[str, Any]]:
    """Teams (and baselines) whose submission, rank or main score changes, those that move farthest first.

    Args:
        standings: what may stand on the board.
        pick: which of a team's submissions does.
        before: main score of each submission under the revision that ruled so far, and whether higher is better.
        after: the same under the new one.
    """
    old, new = (places(standings, pick, mains, higher_is_better=higher) for mains, higher in (before, after))
    teams = {_key(standing, pick): standing.team_id for standing in standings}
    rows = []
    for key in {**old, **new}:
        was, comes = old.get(key), new.get(key)
        if was == comes:
            continue
        rows.append(
            {
                "team": teams[key],
                "submission": None if comes is None else comes.entrant.id,
                "submission_before": None if was is None else was.entrant.id,
                "rank_before": None if was is None else was.rank,
                "rank_after": None if comes is None else comes.rank,
                "score_before": None if was is None else was.entrant.value,
                "score_after": None if comes is None else comes.entrant.value,
                "difference": _difference(was, comes),
            }
        )
    rows.sort(key=_distance, reverse=True)
    return rows


def places(
    standings: Sequence[Standing], pick: str, mains: Mapping[str, float | None], *, higher_is_better: bool
) -> dict[str, Place]:
    """The rows of a board, by team (by submission where all of them stand there, and for baselines)."""
    entrants = [
        Entrant(standing.id, standing.team_id, standing.role, standing.chosen, mains[standing.id])
        for standing in standings
        if standing.id in mains
    ]
    rows = ranked(picked(entrants, pick, higher_is_better=higher_is_better), higher_is_better=higher_is_better)
    return {_key(row.entrant, pick): row for row in rows}


def _key(row: Standing | Entrant, pick: str) -> str:
    alone = pick == "all" or row.team_id is None
    return row.id if alone else f"team {row.team_id}"


def _difference(was: Place | None, comes: Place | None) -> float | None:
    before = None if was is None else was.entrant.value
    after = None if comes is None else comes.entrant.value
    return None if before is None or after is None else after - before


def _distance(row: Mapping[str, Any]) -> tuple[int, float]:
    ranks = (row["rank_before"], row["rank_after"])
    steps = abs(ranks[0] - ranks[1]) if None not in ranks else 1
    return steps, abs(row["difference"] or 0.0)
