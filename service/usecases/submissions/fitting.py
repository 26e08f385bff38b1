"""Report to organisers which teams fit their outputs to the test set.

It decides nothing, because what it counts has other causes too. All of it is computed on request, from stored counts
and rows; no text is read. A page has few teams, and of each team the newest submissions alone, so that the work is
bounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.policy import gate
from service.policy.figures import release_of, step_of
from service.policy.gate import Level
from service.requests import MACRO, POOLED, PageQuery
from service.store import benchmarks, comparisons, revisions, score_records, submissions
from service.store.benchmarks import Benchmark
from service.store.revisions import Part, Revision
from service.store.submissions import SentSubmission
from service.usecases.access import active_revision, benchmark_of
from service.usecases.boards.board import tracks_in
from service.usecases.runs import Page
from service.usecases.scoring.config import ScoringConfig, scoring_config
from treescore.core.arrays import Counts

TEAMS = 20
"""Teams of one page."""
READ = 4_000
"""Arrays of counts that are read for one team; beyond, only its newest submissions are compared."""
NEAR = 3
"""Changed sentences up to which a submission is a near-duplicate of the one before."""
SHOWN = 20
"""Climbs and equal outputs that are named; all are counted."""
COMPARISONS = 2_000
"""Stored comparisons that are counted."""
SCORE_BITS = 33.0
"""Of a score of 4 significant digits with an interval of 3 each."""
PAIR_BITS = 104.0
"""Of a pair: five p of 2 digits (8.5 each: p, of parts, unselected, two of a margin), four bounds of 3 digits and 4
decimals (11.9 each) and a detectable difference of 4 decimals (13.3). All come from the same counts and tell less."""


@dataclass(frozen=True, slots=True)
class Step:
    """From one scored submission of a team to its next.

    Attributes:
        before, after: ids.
        changed: sentences whose counts under the metric that ranks differ.
        equal: whether the outputs are the same bytes.
        gain: of the main score, positive where it is better; None where one is undefined.
    """

    before: str
    after: str
    changed: int
    equal: bool
    gain: float | None

    @property
    def near(self) -> bool:
        """Whether the outputs differ in few sentences."""
        return not self.equal and self.changed <= NEAR

    @property
    def climbs(self) -> bool:
        """Whether few sentences made the score better."""
        return self.near and self.gain is not None and self.gain > 0


def report(context: Context, caller: Caller, slug: str, query: PageQuery) -> Page:
    """Return a page of teams, by id, with what their submissions have in common with a search.

    Raises:
        Forbidden: the caller does not organise.
        NotFound, Conflict: unknown benchmark; it has no active revision.
    """
    caller.require("organise")
    limit = min(query.limit, TEAMS)
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug)
        revision = active_revision(db, benchmark)
        parts = revisions.parts_of(db, revision.id)
        found = benchmarks.teams_of(db, slug, query.cursor, limit + 1)
        ids = [team.id for team in found[:limit]]
        checked = submissions.validations_by_team(db, slug, ids)
        equal = submissions.equal_outputs(db, slug, ids)
        asked = [row.question["submissions"] for row in comparisons.listing(db, slug, None, COMPARISONS)]
        items = []
        for team in found[:limit]:
            sent = submissions.sent_by_team(db, slug, team.id, revision.number)
            steps = _steps(db, revision, parts, sent)
            charged = _Charged(sent, checked.get(team.id, 0), asked)
            items.append(
                {
                    "team": team.id,
                    "team_name": team.name,
                    **_numbers(sent, steps),
                    "validations": charged.validations,
                    "climbing_steps": [_step(step) for step in steps if step.climbs][-SHOWN:],
                    "equal_outputs": equal.get(team.id, [])[:SHOWN],
                    "bits_released": _bits(benchmark, scoring_config(revision.scoring), parts, charged),
                    "public_less_private": _public_less_private(benchmark, revision, sent),
                }
            )
    return Page(items, ids[-1] if len(found) > limit else None)


@dataclass(frozen=True, slots=True)
class _Charged:
    """What released something to a team: submissions, validations, and the systems of stored comparisons."""

    sent: Sequence[SentSubmission]
    validations: int
    asked: Sequence[Sequence[str]]

    @property
    def pairs(self) -> int:
        """Pairs of stored comparisons with a submission of the team."""
        own = {each.id for each in self.sent}
        total = 0
        for names in self.asked:
            mine = sum(name in own for name in names)
            total += mine * (len(names) - mine) + mine * (mine - 1) // 2
        return total


def _numbers(sent: Sequence[SentSubmission], steps: Sequence[Step]) -> dict[str, int]:
    longest = run = 0
    for step in steps:
        run = run + 1 if step.climbs else 0
        longest = max(longest, run)
    return {
        "submissions": len(sent),
        "scored": sum(each.scored for each in sent),
        "compared_steps": len(steps),
        "repeated_outputs": sum(step.equal for step in steps),
        "near_duplicates": sum(step.near for step in steps),
        "climbs": sum(step.climbs for step in steps),
        "longest_climb": longest,
    }


def _steps(db: Connection, revision: Revision, parts: Sequence[Part], sent: Sequence[SentSubmission]) -> list[Step]:
    """Compare each scored submission with the team's next, oldest first; those without kept counts are left out."""
    scoring = scoring_config(revision.scoring)
    entry, score = scoring.main
    metric = scoring.spec.entries.index(entry)
    newest = [each for each in sent if each.scored][-max(2, READ // max(1, len(parts))) :]
    positions = [part.position for part in parts]
    kept: list[tuple[SentSubmission, list[Counts]]] = []
    for each in newest:
        rows = score_records.counts(db, each.id, revision.number, positions, metric)
        known = [part for part in rows if part is not None]
        if known and len(known) == len(rows):
            kept.append((each, known))
    direction = 1.0 if score.higher_is_better else -1.0
    steps = []
    for (one, before), (other, after) in pairwise(kept):
        changed = sum(int((a != b).any(axis=1).sum()) for a, b in zip(before, after, strict=True))
        gain = None if one.main is None or other.main is None else direction * (other.main - one.main)
        steps.append(Step(one.id, other.id, changed, one.outputs_digest == other.outputs_digest, gain))
    return steps


def _step(step: Step) -> dict[str, object]:
    return {"before": step.before, "submission": step.after, "changed_sentences": step.changed, "gain": step.gain}


def _public_less_private(
    benchmark: Benchmark, revision: Revision, sent: Sequence[SentSubmission]
) -> dict[str, object] | None:
    """Return by how much main scores over the public share exceed those over the private one; None without a split.

    A search on the public share raises its scores alone, so that the difference grows with it.
    """
    if benchmark.private_share is None:
        return None
    both = [(each, each.main, each.private_main) for each in sent]
    known = [(each, one, other) for each, one, other in both if one is not None and other is not None]
    if not known:
        return {"mean": None, "best": None}
    direction = 1.0 if scoring_config(revision.scoring).main[1].higher_is_better else -1.0
    best, public, private = max(known, key=lambda scores: direction * scores[1])
    return {
        "mean": float(np.mean([one - other for _, one, other in known])),
        "best": {"submission": best.id, "public": public, "private": private, "difference": public - private},
    }


def _bits(benchmark: Benchmark, scoring: ScoringConfig, parts: Sequence[Part], charged: _Charged) -> float | None:
    """Return an upper bound of what a team was shown, under the level of now; None where gold itself is shown.

    An attempt without scores tells whether it fits: one bit. So does a submission whose scores a ladder holds.
    """
    level = gate.LEVELS[benchmark.settings["feedback"]]
    if level in (Level.NONE, Level.GOLD):
        return 0.0 if level is Level.NONE else None
    shown = sum(each.scored and each.rung != score_records.HELD for each in charged.sent)
    bits = float(len(charged.sent) - shown + charged.validations)
    bits += shown * _bits_of_scores(level, benchmark, scoring, parts)
    if level >= Level.SCORES:
        bits += PAIR_BITS * charged.pairs
    return round(bits, 1)


def _bits_of_scores(level: Level, benchmark: Benchmark, scoring: ScoringConfig, parts: Sequence[Part]) -> float:
    if level is Level.STATUS:
        return 1.0
    if level is Level.ITEMS:
        return float(np.sum([part.words or 0 for part in parts]))
    sizes = {part.name: part.sentences for part in parts}
    tracks = tracks_in(benchmark.tracks, parts)
    release = release_of(benchmark, level, scoring.addresses, scoring.main_score, sizes, tracks)
    # of several parts each has its scores, and so have their means and all of them as one text
    names = {*sizes, *tracks, MACRO, POOLED} - {*release.hidden} if len(parts) > 1 else {*sizes}
    each = math.log2(1.0 / step_of(benchmark)) if level is Level.ROUNDED else SCORE_BITS
    return each * len(release.listed) * len(names)
