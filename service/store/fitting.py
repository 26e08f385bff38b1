"""Read what the report on fitting needs of a team's submissions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from service.store.runs import SUCCEEDED
from service.store.tables import scores, submissions

MOST = 2_000
"""Submissions of one team, and outputs of several teams, that are read; the newest."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A submission of a team, deleted or not.

    Attributes:
        id: of the submission; ids sort by time.
        outputs_digest: of all outputs together, by part.
        scored: whether it was scored.
        main: its main score under the revision; None where it is undefined or not kept.
        rung: of the team's ladder; 0 where the ladder holds the scores.
        private_main: the main score over the private share, where `main` is over the public one; else None.
    """

    id: str
    outputs_digest: str
    scored: bool
    main: float | None
    rung: int | None
    private_main: float | None


def sent(db: Connection, benchmark_id: str, team_id: str, revision: int) -> list[Sent]:
    """List a team's submissions, oldest first."""
    c = submissions.c
    query = (
        select(c.id, c.outputs_digest, c.state, scores.c.main, scores.c.rung, scores.c.private_main)
        .join(scores, (scores.c.submission_id == c.id) & (scores.c.revision == revision), isouter=True)
        .where(c.benchmark_id == benchmark_id, c.team_id == team_id)
        .order_by(c.id.desc())
        .limit(MOST)
    )
    rows = list(db.execute(query))[::-1]
    return [
        Sent(row.id, row.outputs_digest, row.state == SUCCEEDED, row.main, row.rung, row.private_main) for row in rows
    ]


def equal_outputs(db: Connection, benchmark_id: str, team_ids: Sequence[str]) -> dict[str, list[dict[str, str]]]:
    """Return the submissions whose outputs, part by part, another team sent too: by team, with the other one."""
    c = submissions.c
    in_benchmark = (c.benchmark_id == benchmark_id) & c.team_id.is_not(None) & (c.outputs_digest != "")
    shared = (
        select(c.outputs_digest)
        .where(in_benchmark)
        .group_by(c.outputs_digest)
        .having(func.count(c.team_id.distinct()) > 1)
    )
    query = (
        select(c.id, c.team_id, c.outputs_digest)
        .where(in_benchmark, c.outputs_digest.in_(shared))
        .order_by(c.id.desc())
        .limit(MOST)
    )
    first: dict[str, dict[str, str]] = {}
    for row in list(db.execute(query))[::-1]:
        first.setdefault(row.outputs_digest, {}).setdefault(row.team_id, row.id)
    found: dict[str, list[dict[str, str]]] = {team: [] for team in team_ids}
    for senders in first.values():
        for team in senders.keys() & found.keys():
            found[team] += [
                {"submission": senders[team], "other_team": other, "other_submission": submission}
                for other, submission in senders.items()
                if other != team
            ]
    return found
