"""Report to organisers which teams fit their outputs to the test set.

It decides nothing, because what it counts has other causes too. All of it is computed on request, from stored counts
and rows; no text is read. The teams are in the order of what speaks against them, so that all are looked at for each
page; of each team the newest submissions alone, so that the work is bounded.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.contract.common import PageQuery
from service.policy import figures, gate
from service.policy.release import ANYONE, Release
from service.requests import MACRO, POOLED
from service.store import benchmarks, comparisons, revisions, score_records, submissions
from service.store.benchmarks import Benchmark
from service.store.revisions import Part, Revision
from service.usecases import access, runs
from service.usecases.boards.ranking import tracks_in
from service.usecases.scoring.config import ScoringConfig, scoring_config
from treescore.core.arrays import Counts
from treescore.core.scores import Score

READ = 80_000
"""Arrays of counts that are read for all teams; beyond, only the newest submissions of each are compared."""
OUTPUTS = 200_000
"""Outputs of parts that are compared between teams; the newest."""
NEAR = 3
"""Changed sentences up to which a submission is a near-duplicate of the one before."""
SHOWN = 20
"""Climbs and equal outputs that are named; all are counted."""
COMPARISONS = 2_000
"""Stored comparisons that are counted."""
PERFECT = 0.01
"""Distance of a main score from its best value below which it is suspicious, unless others are as near."""
LEAP = 0.1
"""Distance below which a submission is suspicious whose predecessors were `FARTHER` times as far away."""
FARTHER = 4.0
SCORE_BITS = 33.0
"""Of a score of 4 significant digits with an interval of 3 each."""
PAIR_BITS = 104.0
"""Of a pair: five p of 2 digits (8.5 each: p, of parts, unselected, two of a margin), four bounds of 3 digits and 4
decimals (11.9 each) and a detectable difference of 4 decimals (13.3). All come from the same counts and tell less."""

WARNING_BITS = {
    **dict.fromkeys(("conformance", "leaf_ancestor", "parseval", "tree_distance"), 2.0),
    **dict.fromkeys(("alignment", "parallel_treebank"), 3.6),
    "attachment": 1.0,
}
"""Of the warnings of one part by metric: `root-label` of each side; `alignment-swapped` and
`alignment-suspicious-indices`, of five other readings or none; `other-words`."""


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


def report(context: Context, caller: Caller, slug: str, query: PageQuery) -> runs.Page:
    """Return a page of teams, most suspicious first, with what their submissions have in common with a search.

    Teams with a jump come first, then those with outputs of other teams, then by climbs, near-duplicates and bits.

    Raises:
        Forbidden: the caller does not organise.
        NotFound, Conflict: unknown benchmark; it has no active revision.
        Unprocessable: the cursor is invalid.
    """
    caller.require("organise", of=slug)
    start = access.item_number(query.cursor)
    with context.store.read() as db:
        benchmark = access.benchmark_of(db, slug)
        revision = access.active_revision(db, benchmark)
        parts = revisions.parts_of(db, revision.id)
        names = {team.id: team.name for team in benchmarks.teams_of(db, slug, None, None)}
        checked = submissions.validations_by_team(db, slug, list(names))
        outputs = submissions.outputs_of_teams(db, slug, max(1, OUTPUTS // max(1, len(parts))))
        equal, equal_parts = _equal_outputs(outputs, names)
        scoring = scoring_config(revision.scoring)
        asked_for = slug, revision.number, scoring.addresses, scoring.main_score, figures.shares_of(benchmark)
        sent = {team: submissions.sent_by_team(db, team, *asked_for) for team in names}
        asked = [row.question["submissions"] for row in comparisons.listing(db, slug, None, COMPARISONS)]
        pairs = _pairs({each.id: team for team in names for each in sent[team]}, asked)
        jumps = _jumps(scoring.main[1], sent)
        most = max(2, READ // max(1, len(parts) * len(names)))
        items: list[dict[str, Any]] = []
        for team, name in names.items():
            steps = _steps(db, revision, parts, sent[team], most)
            charged = _Charged(sent[team], checked.get(team, 0), pairs[team])
            items.append(
                {
                    "team": team,
                    "team_name": name,
                    "jump": jumps.get(team),
                    **_numbers(sent[team], steps),
                    "validations": charged.validations,
                    "climbing_steps": [_step(step) for step in steps if step.climbs][-SHOWN:],
                    "equal_parts": equal_parts[team],
                    "equal_outputs": equal[team],
                    "bits_released": _bits(benchmark, scoring, parts, charged),
                    "public_less_private": _public_less_private(benchmark, revision, sent[team]),
                }
            )
    items.sort(key=_suspicion, reverse=True)
    stop = start + query.limit
    return runs.Page(items[start:stop], str(stop) if stop < len(items) else None)


def _suspicion(item: Mapping[str, Any]) -> tuple[float, ...]:
    kinds = (item["jump"] is not None, item["equal_parts"] > 0)
    return (*kinds, item["longest_climb"], item["climbs"], item["near_duplicates"], item["bits_released"] or 0.0)


@dataclass(frozen=True, slots=True)
class _Charged:
    """What released something to a team: submissions, validations, and pairs of stored comparisons."""

    sent: Sequence[submissions.SentSubmission]
    validations: int
    pairs: int


def _pairs(team_of: Mapping[str, str], asked: Sequence[Sequence[str]]) -> Counter[str]:
    """Count the pairs of stored comparisons with a submission of a team, by team."""
    total: Counter[str] = Counter()
    for names in asked:
        for team, mine in Counter(team_of[name] for name in names if name in team_of).items():
            total[team] += mine * (len(names) - mine) + mine * (mine - 1) // 2
    return total


def _equal_outputs(
    outputs: Sequence[tuple[str, str, Mapping[str, tuple[str, str | None]]]], names: Mapping[str, str]
) -> tuple[Mapping[str, list[dict[str, Any]]], Counter[str]]:
    """Return the outputs of parts that another team sent too, by team: whose they are, and their number."""
    # the same bytes have the same annotation, also where one of them has not been read
    read = {
        (part, digest): annotation
        for _, _, digests in outputs
        for part, (digest, annotation) in digests.items()
        if annotation
    }
    first: dict[tuple[str, str], dict[str, str]] = {}
    for submission, team, digests in outputs:
        for part, (digest, _) in digests.items():
            first.setdefault((part, read.get((part, digest), digest)), {}).setdefault(team, submission)
    found: defaultdict[str, dict[tuple[str, str], dict[str, Any]]] = defaultdict(dict)
    number: Counter[str] = Counter()
    for (part, _), senders in first.items():
        if len(senders) > 1:
            number.update(senders.keys())
            for team, own in senders.items():
                for other, sent in list(senders.items())[: SHOWN + 1]:
                    if other != team and (len(found[team]) < SHOWN or (own, sent) in found[team]):
                        said = {"submission": own, "other_team": other, "other_team_name": names.get(other)}
                        pair = found[team].setdefault((own, sent), {**said, "other_submission": sent, "parts": []})
                        pair["parts"] += [] if part in pair["parts"] else [part]
    return defaultdict(list, {team: list(pairs.values()) for team, pairs in found.items()}), number


def _jumps(score: Score, sent: Mapping[str, Sequence[submissions.SentSubmission]]) -> dict[str, dict[str, object]]:
    """Return the first submission of each team that came suddenly near to the best value of the main score.

    That is at most `PERFECT` from it and half as far as the other teams are, or at most `LEAP` and a quarter as far as
    the team was before, or as the others are if it is the team's first.
    """
    if score.best is None:
        return {}
    far = {
        team: [(abs(score.best - each.main), each) for each in own if each.main is not None]
        for team, own in sent.items()
    }
    nearest = {team: min(distance for distance, _ in own) for team, own in far.items() if own}
    found: dict[str, dict[str, object]] = {}
    for team, own in far.items():
        others = [distance for other, distance in nearest.items() if other != team]
        usual = median(others) if others else None
        before: submissions.SentSubmission | None = None
        start = usual
        for distance, each in own:
            perfect = distance <= PERFECT and (usual is None or 2 * distance <= usual)
            if perfect or (distance <= LEAP and start is not None and FARTHER * distance <= start):
                score_before = None if before is None else before.main
                found[team] = {"submission": each.id, "score": each.main, "before": score_before}
                break
            if before is None or start is None or distance < start:
                before, start = each, distance
    return found


def _numbers(sent: Sequence[submissions.SentSubmission], steps: Sequence[Step]) -> dict[str, int]:
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


def _steps(
    db: Connection, revision: Revision, parts: Sequence[Part], sent: Sequence[submissions.SentSubmission], most: int
) -> list[Step]:
    """Compare each of the newest scored submissions with the team's next; those without kept counts are left out."""
    scoring = scoring_config(revision.scoring)
    entry, score = scoring.main
    metric = scoring.spec.entries.index(entry)
    newest = [each for each in sent if each.scored][-most:]
    positions = [part.position for part in parts]
    kept: list[tuple[submissions.SentSubmission, list[Counts]]] = []
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
    benchmark: Benchmark, revision: Revision, sent: Sequence[submissions.SentSubmission]
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
    if level in (gate.Level.NONE, gate.Level.GOLD):
        return 0.0 if level is gate.Level.NONE else None
    shown = sum(each.scored and each.rung != score_records.HELD for each in charged.sent)
    bits = float(len(charged.sent) - shown + charged.validations)
    bits += shown * _bits_of_scores(level, benchmark, scoring, parts)
    if level >= gate.Level.SCORES:
        bits += PAIR_BITS * charged.pairs
    return round(bits, 1)


def _bits_of_scores(level: gate.Level, benchmark: Benchmark, scoring: ScoringConfig, parts: Sequence[Part]) -> float:
    if level is gate.Level.STATUS:
        return 1.0
    if level is gate.Level.ITEMS:
        return float(np.sum([part.words or 0 for part in parts]))
    sizes = {part.name: part.sentences for part in parts}
    tracks = tracks_in(benchmark.tracks, parts)
    release = replace(Release.of(benchmark, ANYONE, None), level=level).under(
        benchmark, benchmark.active_revision or 0, scoring.addresses, scoring.main_score, sizes, tracks
    )
    # of several parts each has its scores, and so have their means and all of them as one text
    names = {*sizes, *tracks, MACRO, POOLED} - {*release.hidden} if len(parts) > 1 else {*sizes}
    each = math.log2(1.0 / release.step) if level is gate.Level.ROUNDED else SCORE_BITS
    bits = each * len(release.listed) * len(names)
    if level is gate.Level.SCORES:
        metrics = (entry.metric for entry in scoring.spec.entries)
        warning = (WARNING_BITS.get(each.name, 0.0) for each in metrics if each.values.get("words") != "check")
        bits += len(parts) * sum(warning)
    return bits
