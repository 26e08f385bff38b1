"""Rules of a leaderboard: which submissions are shown, their ranks, and what a comparison says of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from service.store.revisions import Part
from service.store.score_records import HELD
from service.store.submissions import BASELINE, BoardEntry
from service.usecases.scoring.coverage import coverage_of
from treescore.core.params import Json
from treescore.significance import ranking

TESTED = 50
"""Rows from the top whose differences are tested, together with the baselines."""
MOST_BASELINES = 50


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A row of the board. What a comparison shows is None where the row was not tested."""

    entry: BoardEntry
    rank: int | None
    rank_interval: tuple[int, int] | None = None
    cluster: int | None = None
    p_next: float | None = None
    detectable: Json = None
    tested: bool = False


class Named(TypedDict):
    """Team and name of a row's submission, as far as they are shown."""

    team: str | None
    team_name: str | None
    name: str | None


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The pairs of a comparison by both ids, and the significant ones, the better one first."""

    documents: Mapping[frozenset[str], Mapping[str, Json]]
    better: frozenset[tuple[str, str]]


def team_key(entry: BoardEntry) -> str:
    """Return what entries of one team have in common; each baseline is on its own."""
    return entry.id if entry.team_id is None else f"team {entry.team_id}"


def incomplete_last(
    entries: Iterable[BoardEntry], parts: Sequence[Part], chosen: Collection[str] | None = None
) -> list[BoardEntry]:
    """Let entries that do not cover every sentence of the chosen parts, or of all, rank below those that do.

    The rule where a score leaves out what an output lacks.
    """
    known = [(entry, coverage_of(entry.covered, parts, chosen)) for entry in entries]
    return [replace(entry, ranks_last=found is not None and not found.complete) for entry, found in known]


def picked(entries: Iterable[BoardEntry], pick: str, *, higher_is_better: bool) -> list[BoardEntry]:
    """Select each team's best, last or chosen submission, or all of them, and every baseline.

    Of equally good submissions the first is the best; where none is chosen, the last one is taken.

    Args:
        entries: oldest first.
        pick: `best`, `last`, `chosen` or `all`.
        higher_is_better: of the score.
    """
    if pick == "all":
        return list(entries)
    selected: dict[str, BoardEntry] = {}
    for entry in entries:
        key = team_key(entry)
        known = selected.get(key)
        if known is None or _preferred(entry, known, pick, higher_is_better=higher_is_better):
            selected[key] = entry
    return list(selected.values())


def released(entries: Iterable[BoardEntry]) -> list[BoardEntry]:
    """Leave out the submissions whose scores a ladder holds."""
    return [entry for entry in entries if entry.rung != HELD]


def top_rungs(entries: Iterable[BoardEntry]) -> list[BoardEntry]:
    """Select the submission of each team that its ladder released last, and every baseline.

    Args:
        entries: oldest first.
    """
    selected: dict[str, BoardEntry] = {}
    for entry in released(entries):
        known = selected.get(team_key(entry))
        if known is None or (entry.rung or 0) >= (known.rung or 0):
            selected[team_key(entry)] = entry
    return list(selected.values())


def ranked(entries: Iterable[BoardEntry], *, higher_is_better: bool) -> list[BoardRow]:
    """Return rows from best to worst. Equal scores share a rank, baselines have none, undefined scores come last."""
    ordered = sorted(entries, key=lambda entry: (*_loss(entry, higher_is_better=higher_is_better), entry.id))
    rows: list[BoardRow] = []
    counted, rank = 0, 0
    last: tuple[bool, bool, float] | None = None
    for entry in ordered:
        if entry.role == BASELINE or entry.value is None:
            rows.append(BoardRow(entry, None))
            continue
        counted += 1
        loss = _loss(entry, higher_is_better=higher_is_better)
        if loss != last:
            rank, last = counted, loss
        rows.append(BoardRow(entry, rank))
    return rows


def named(entry: BoardEntry, names: Mapping[str, str], submission: str) -> Named:
    """Return the members that name a row.

    A team whose name is not shown has no id here either; an erased team has neither.

    Args:
        entry: of the row.
        names: of the teams whose names are shown, by id.
        submission: its name.
    """
    team = entry.team_id if entry.team_id in names else None
    return Named(
        team=team,
        team_name=None if team is None else names[team],
        name=submission if team is not None or entry.team_id is None else None,
    )


def family(rows: Sequence[BoardRow]) -> list[str]:
    """Return the submissions whose differences are tested: the first rows with a rank, and the baselines."""
    first = [row.entry.id for row in rows if row.rank is not None][:TESTED]
    baselines = [row.entry.id for row in rows if row.entry.role == BASELINE and row.entry.value is not None]
    return first + baselines[:MOST_BASELINES]


def with_significance(rows: Sequence[BoardRow], comparison: Mapping[str, Json]) -> list[BoardRow]:
    """Return rows with what a comparison of their submissions shows.

    Tested rows with a rank have a rank interval among all R rows with a rank, tested or not: from 1 + the rows
    significantly better to R - the rows significantly worse (Mogstad, Romano, Shaikh & Wilhelm 2024). With p corrected
    over all pairs the intervals hold together at the level 1 - alpha. Clusters are those of the tested rows alone;
    baselines have a p, and a detectable difference, to the next row with a rank.
    """
    pairs = _pairs_of(comparison)
    tested = {str(system["name"]) for system in comparison["systems"]}
    counted = [index for index, row in enumerate(rows) if row.rank is not None and row.entry.id in tested]
    ids = [rows[index].entry.id for index in counted]
    better = np.array([[(first, second) in pairs.better for second in ids] for first in ids], np.bool_)
    better = better.reshape(len(ids), len(ids))
    intervals = ranking.rank_ranges(better, sum(row.rank is not None for row in rows))
    kind = (comparison.get("clusters") or {}).get("kind", "separable")
    clusters = ranking.separable(better) if kind == "separable" else ranking.greedy(better)
    decided = comparison["rank_ranges"] is not None
    result = []
    for index, row in enumerate(rows):
        pair = _next_pair(rows, index, tested, pairs)
        result.append(
            replace(
                row,
                tested=row.entry.id in tested,
                p_next=pair.get("p_adjusted"),
                detectable=pair.get("detectable"),
            )
        )
    for index, (low, high), cluster in zip(counted, intervals, clusters, strict=True):
        if decided:
            result[index] = replace(result[index], rank_interval=(low, high), cluster=cluster)
    return result


def _pairs_of(comparison: Mapping[str, Json]) -> _Pairs:
    documents = {frozenset((pair["a"], pair["b"])): pair for pair in comparison["pairs"]}
    better = frozenset(
        (pair["a"], pair["b"]) if pair["better"] == "a" else (pair["b"], pair["a"])
        for pair in comparison["pairs"]
        if pair["significant"] and pair["better"] is not None
    )
    return _Pairs(documents, better)


def _next_pair(rows: Sequence[BoardRow], index: int, tested: set[str], pairs: _Pairs) -> Mapping[str, Json]:
    """Return the pair of a row and the next row with a rank; nothing where either was not tested."""
    if rows[index].entry.id not in tested:
        return {}
    for below in rows[index + 1 : index + 2 + MOST_BASELINES]:
        if below.rank is not None:
            return pairs.documents.get(frozenset((rows[index].entry.id, below.entry.id)), {})
    return {}


def _preferred(one: BoardEntry, other: BoardEntry, pick: str, *, higher_is_better: bool) -> bool:
    """Return whether a team's submission is shown rather than an earlier one."""
    if pick == "best":
        return _loss(one, higher_is_better=higher_is_better) < _loss(other, higher_is_better=higher_is_better)
    return one.chosen or not other.chosen if pick == "chosen" else True


def _loss(entry: BoardEntry, *, higher_is_better: bool) -> tuple[bool, bool, float]:
    """Return what orders entries, best first: those without a score come last, before them those that rank last."""
    if entry.value is None:
        return True, entry.ranks_last, 0.0
    return False, entry.ranks_last, -entry.value if higher_is_better else entry.value
