"""Changes of the leaderboard when another revision becomes active."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from service.policy.figures import rank_value
from service.store.submissions import BoardEntry
from service.usecases.boards.rows import BoardRow, picked, ranked, team_key
from service.usecases.boards.systems import with_values


class Side(NamedTuple):
    """The submissions on the board with their main scores under one revision, oldest first.

    Attributes:
        entries: with the scores by which they are picked.
        higher_is_better: of the score.
        private: the scores of the rows over the private share, where it is shown: they are ranked by these.
    """

    entries: Sequence[BoardEntry]
    higher_is_better: bool
    private: Mapping[str, float | None] | None = None


def rank_changes(pick: str, before: Side, after: Side) -> list[dict[str, object]]:
    """List the teams and baselines whose submission, rank or main score changes, the largest changes first."""
    old, new = rows_by_team(pick, before), rows_by_team(pick, after)
    pairs = [(old.get(key), new.get(key)) for key in {**old, **new}]
    changed = [(was, now) for was, now in pairs if was != now]
    changed.sort(key=_distance, reverse=True)
    return [_document(was, now) for was, now in changed]


def rows_by_team(pick: str, side: Side) -> dict[str, BoardRow]:
    """Return the rows of a board by team; by submission for baselines and where all submissions are shown.

    They are picked and ranked as on the board, and have exact scores.
    """
    higher = side.higher_is_better
    seen = [replace(entry, value=rank_value(entry.value)) for entry in side.entries]
    chosen = [each for each in picked(seen, pick, higher_is_better=higher) if not each.withdrawn]
    exact = {entry.id: entry for entry in side.entries}
    if side.private is not None:
        exact = {each.id: with_values(each, side.private) for each in chosen}
        chosen = [replace(each, value=rank_value(exact[each.id].value)) for each in chosen]
    rows = ranked(chosen, higher_is_better=higher)
    return {
        row.entry.id if pick == "all" else team_key(row.entry): replace(row, entry=exact[row.entry.id]) for row in rows
    }


def _document(was: BoardRow | None, now: BoardRow | None) -> dict[str, object]:
    row = now or was
    return {
        "team": None if row is None else row.entry.team_id,
        "submission": None if now is None else now.entry.id,
        "submission_before": None if was is None else was.entry.id,
        "rank_before": None if was is None else was.rank,
        "rank_after": None if now is None else now.rank,
        "score_before": None if was is None else was.entry.value,
        "score_after": None if now is None else now.entry.value,
        "difference": _difference(was, now),
    }


def _difference(was: BoardRow | None, now: BoardRow | None) -> float | None:
    before = None if was is None else was.entry.value
    after = None if now is None else now.entry.value
    return None if before is None or after is None else after - before


def _distance(change: tuple[BoardRow | None, BoardRow | None]) -> tuple[int, float]:
    ranks = [None if row is None else row.rank for row in change]
    steps = 1 if ranks[0] is None or ranks[1] is None else abs(ranks[0] - ranks[1])
    return steps, abs(_difference(*change) or 0.0)
