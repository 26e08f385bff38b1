"""Place new scores on a benchmark's ladder: released if they beat the team's shown best by the paired standard error.

Scores are placed in the order in which they are saved, in the transaction that saves them. A place is never taken
back: deleting or withdrawing a submission does not lower the shown best that the next one must beat.
"""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection

from service.requests import PUBLIC
from service.store import ladders, revisions, score_records, teams
from service.store.benchmarks import Benchmark
from service.store.ladders import Ladder
from service.store.revisions import Revision
from service.store.submissions import Submission
from service.usecases.scoring.config import scoring_config
from service.usecases.scoring.shares import share_rows, split_of
from treescore.core.arrays import Counts
from treescore.significance.ladder import beats


def place(db: Connection, benchmark: Benchmark, revision: Revision, submission: Submission) -> None:
    """Decide whether the scores of a submission, just saved, are released. Scores that have a place keep it."""
    if not benchmark.leaderboard["ladder"] or submission.team_id is None:
        return
    teams.get(db, benchmark.id, submission.team_id, lock=True)
    if score_records.rung(db, submission.id, revision.number) is not None:
        return
    rows = _counts(db, benchmark, revision, submission)
    if rows is None:
        return
    shown = ladders.get(db, benchmark.id, submission.team_id, revision.number)
    if shown is not None and not _beats(revision, rows, shown.counts):
        score_records.set_rung(db, submission.id, revision.number, score_records.HELD)
        return
    rung = 1 if shown is None else shown.rung + 1
    score_records.set_rung(db, submission.id, revision.number, rung)
    ladder = Ladder(rung, np.concatenate(rows))  # type: ignore[arg-type]
    ladders.save(db, benchmark.id, submission.team_id, revision.number, ladder)


def _counts(db: Connection, benchmark: Benchmark, revision: Revision, submission: Submission) -> list[Counts] | None:
    """Read the counts of each part under the metric that ranks, of the public share; None where they are not kept."""
    scoring = scoring_config(revision.scoring)
    metric = scoring.spec.entries.index(scoring.main[0])
    split = split_of(db, benchmark, revision.id)
    parts = revisions.parts_of(db, revision.id)
    found = score_records.counts(db, submission.id, revision.number, [part.position for part in parts], metric)
    known = [counts for counts in found if counts is not None]
    if len(known) < len(parts):
        return None
    return [counts[share_rows(split, part, PUBLIC)] for counts, part in zip(known, parts, strict=True)]


def _beats(revision: Revision, rows: list[Counts], shown: Counts) -> bool:
    entry, score = scoring_config(revision.scoring).main
    sizes = [len(part) for part in rows]
    parts = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes) if len(sizes) > 1 else None
    return beats(score, entry.metric.table.count_names, np.concatenate(rows), shown, parts)  # type: ignore[arg-type]
