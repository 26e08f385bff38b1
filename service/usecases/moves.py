"""Who moves on the leaderboard when another revision comes to rule."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.store.submissions import BASELINE, Standing


@dataclass(frozen=True, slots=True)
class Place:
    """A row of a leaderboard: which submission, its rank (None where unranked) and its score."""

    submission: str
    rank: int | None
    score: float | None


def moved(
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
                "submission": None if comes is None else comes.submission,
                "submission_before": None if was is None else was.submission,
                "rank_before": None if was is None else was.rank,
                "rank_after": None if comes is None else comes.rank,
                "score_before": None if was is None else was.score,
                "score_after": None if comes is None else comes.score,
                "difference": _difference(was, comes),
            }
        )
    rows.sort(key=_distance, reverse=True)
    return rows


def places(
    standings: Sequence[Standing], pick: str, mains: Mapping[str, float | None], *, higher_is_better: bool
) -> dict[str, Place]:
    """The rows of a board: who stands where. Baselines and undefined scores have no rank; ties share one."""
    sign = 1.0 if higher_is_better else -1.0

    def value(standing: Standing) -> float:
        score = mains.get(standing.id)
        return -math.inf if score is None else sign * score

    rows: dict[str, Standing] = {}
    for standing in standings:
        if standing.id not in mains:
            continue
        key = _key(standing, pick)
        known = rows.get(key)
        if known is None or _goes_before(standing, known, pick, value(standing), value(known)):
            rows[key] = standing
    ranked = sorted(
        (value(row) for row in rows.values() if row.role != BASELINE and mains.get(row.id) is not None), reverse=True
    )
    rank_of: dict[float, int] = {}
    for position, score in enumerate(ranked, 1):
        rank_of.setdefault(score, position)
    return {
        key: Place(row.id, None if row.role == BASELINE else rank_of.get(value(row)), mains.get(row.id))
        for key, row in rows.items()
    }


def _key(standing: Standing, pick: str) -> str:
    alone = pick == "all" or standing.team_id is None
    return standing.id if alone else f"team {standing.team_id}"


def _goes_before(one: Standing, other: Standing, pick: str, value: float, other_value: float) -> bool:
    """Whether one submission of a team stands on the board rather than an earlier one."""
    if pick == "chosen" and one.chosen != other.chosen:
        return one.chosen
    return value > other_value if pick == "best" else one.id > other.id


def _difference(was: Place | None, comes: Place | None) -> float | None:
    if was is None or comes is None or was.score is None or comes.score is None:
        return None
    return comes.score - was.score


def _distance(row: Mapping[str, Any]) -> tuple[int, float]:
    ranks = (row["rank_before"], row["rank_after"])
    steps = abs(ranks[0] - ranks[1]) if None not in ranks else 1
    return steps, abs(row["difference"] or 0.0)
