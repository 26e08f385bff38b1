"""Who stands where on a leaderboard: rules only, over rows that were read already."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from service.store.submissions import BASELINE
from treescore.significance import ranking

TESTED = 50
"""Rows from the top whose differences are tested, together with the baselines."""
MOST_BASELINES = 50


@dataclass(frozen=True, slots=True)
class Entrant:
    """A submission that may stand on the board.

    Attributes:
        id: of the submission; ids sort by time.
        team_id: None for a baseline.
        role: `system` or `baseline`.
        chosen: whether its team chose it.
        value: the score that ranks, as the viewer may see it; None where it has none.
    """

    id: str
    team_id: str | None
    role: str
    chosen: bool
    value: float | None


@dataclass(frozen=True, slots=True)
class Place:
    """A row of the board; what comes from a comparison is None where it was not tested."""

    entrant: Entrant
    rank: int | None
    rank_interval: tuple[int, int] | None = None
    cluster: int | None = None
    p_next: float | None = None
    tested: bool = False


@dataclass(frozen=True, slots=True)
class _Pairs:
    """A comparison's pairs by the ids of their submissions."""

    p: Mapping[frozenset[str], float | None]
    better: frozenset[tuple[str, str]] = field(default_factory=frozenset)


def picked(entrants: Iterable[Entrant], pick: str, *, higher_is_better: bool) -> list[Entrant]:
    """The rows of a board: of each team its best, last or chosen submission, or all; baselines always.

    Of a team's equally good ones the first counts; where none is chosen, the last does.

    Args:
        entrants: oldest first.
        pick: `best`, `last`, `chosen` or `all`.
        higher_is_better: of the score.
    """
    if pick == "all":
        return list(entrants)
    rows: dict[str, Entrant] = {}
    for entrant in entrants:
        key = entrant.id if entrant.team_id is None else f"team {entrant.team_id}"
        known = rows.get(key)
        if known is None or _before(entrant, known, pick, higher_is_better=higher_is_better):
            rows[key] = entrant
    return list(rows.values())


def ranked(entrants: Iterable[Entrant], *, higher_is_better: bool) -> list[Place]:
    """Rows from best to worst. Equal scores share a rank, baselines have none, rows without a score stand last."""
    ordered = sorted(
        entrants, key=lambda entrant: (_loss(entrant.value, higher_is_better=higher_is_better), entrant.id)
    )
    places: list[Place] = []
    counted, rank = 0, 0
    last: float | None = None
    for entrant in ordered:
        if entrant.role == BASELINE or entrant.value is None:
            places.append(Place(entrant, None))
            continue
        counted += 1
        if entrant.value != last:
            rank, last = counted, entrant.value
        places.append(Place(entrant, rank))
    return places


def family(places: Sequence[Place]) -> list[str]:
    """The submissions whose differences are tested: the first rows with a rank, and the baselines."""
    first = [place.entrant.id for place in places if place.rank is not None][:TESTED]
    baselines = [
        place.entrant.id for place in places if place.entrant.role == BASELINE and place.entrant.value is not None
    ]
    return first + baselines[:MOST_BASELINES]


def with_significance(places: Sequence[Place], comparison: Mapping[str, Any]) -> list[Place]:
    """Rows with what a comparison of their submissions shows.

    Rank intervals and clusters are those of the tested rows with a rank; baselines have a p to the next such row.
    """
    pairs = _pairs_of(comparison)
    tested = {str(system["name"]) for system in comparison["systems"]}
    counted = [at for at, place in enumerate(places) if place.rank is not None and place.entrant.id in tested]
    ids = [places[at].entrant.id for at in counted]
    better = np.array([[(first, second) in pairs.better for second in ids] for first in ids], np.bool_)
    better = better.reshape(len(ids), len(ids))
    reach = ranking.rank_ranges(better)
    kind = (comparison.get("clusters") or {}).get("kind", "separable")
    clusters = ranking.separable(better) if kind == "separable" else ranking.greedy(better)
    decided = comparison["rank_ranges"] is not None
    found = [
        replace(place, tested=place.entrant.id in tested, p_next=_p_next(places, at, tested, pairs))
        for at, place in enumerate(places)
    ]
    for at, (low, high), cluster in zip(counted, reach, clusters, strict=True):
        if decided:
            found[at] = replace(found[at], rank_interval=(low, high), cluster=cluster)
    return found


def _pairs_of(comparison: Mapping[str, Any]) -> _Pairs:
    p = {frozenset((pair["a"], pair["b"])): pair["p_adjusted"] for pair in comparison["pairs"]}
    better = frozenset(
        (pair["a"], pair["b"]) if pair["better"] == "a" else (pair["b"], pair["a"])
        for pair in comparison["pairs"]
        if pair["significant"] and pair["better"] is not None
    )
    return _Pairs(p, better)


def _p_next(places: Sequence[Place], at: int, tested: set[str], pairs: _Pairs) -> float | None:
    """The corrected p to the next row with a rank; None where either was not tested."""
    if places[at].entrant.id not in tested:
        return None
    for below in places[at + 1 : at + 2 + MOST_BASELINES]:
        if below.rank is not None:
            return pairs.p.get(frozenset((places[at].entrant.id, below.entrant.id)))
    return None


def _before(one: Entrant, other: Entrant, pick: str, *, higher_is_better: bool) -> bool:
    """Whether one submission of a team stands on the board rather than an earlier one."""
    if pick == "best":
        return _loss(one.value, higher_is_better=higher_is_better) < _loss(
            other.value, higher_is_better=higher_is_better
        )
    return one.chosen or not other.chosen if pick == "chosen" else True


def _loss(value: float | None, *, higher_is_better: bool) -> float:
    if value is None:
        return math.inf
    return -value if higher_is_better else value
