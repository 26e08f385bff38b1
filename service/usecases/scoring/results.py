"""What is stored of one output under one metric: counts, coverage, token bits, reports.

Coverage is how many sentences of gold have a scored output.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from service.errors import NotFound
from service.store import artifacts
from service.store.packing import pack_array, unpack_array
from service.store.revisions import Part
from service.store.score_records import PackedArtifacts, artifact_name
from treescore.core.registry import OK, STATUS_NAMES, Outcome
from treescore.core.scores import ScoreTable, with_values
from treescore.core.wording import did_you_mean
from treescore.evaluation.spec import Entry


@dataclass(frozen=True, slots=True)
class Coverage:
    """The sentences that a submission covers, of all in gold."""

    scored: int
    total: int

    @property
    def complete(self) -> bool:
        """Return whether every sentence has a scored output."""
        return self.scored == self.total

    def __str__(self) -> str:
        """Return it as rows of a board show it: `59/60`."""
        return f"{self.scored}/{self.total}"


def coverage_of(
    covered: Sequence[int] | None, parts: Sequence[Part], chosen: Collection[str] | None = None
) -> Coverage | None:
    """Return the coverage of some parts, or of all.

    Args:
        covered: sentences with a scored output in each part; None without a score record.
        parts: of the revision, in the same order.
        chosen: names of parts; None for all.
    """
    if covered is None:
        return None
    sizes = [
        (scored, part.sentences or 0)
        for part, scored in zip(parts, covered, strict=True)
        if chosen is None or part.name in chosen
    ]
    return Coverage(sum(scored for scored, _ in sizes), sum(total for _, total in sizes))


@dataclass(frozen=True, slots=True)
class ArtifactKey:
    """Names of the artifacts of one output under one metric entry, both by position.

    Attributes:
        output: system of a job, or part of a submission.
        metric: entry of the scoring configuration.
        revision: under which the submission was scored; None for a job.
    """

    output: int
    metric: int
    revision: int | None = None

    def name(self, kind: str) -> str:
        """Return the name of one kind of artifact."""
        if self.revision is None:
            return f"{kind}/{self.metric}/{self.output}"
        return artifact_name(self.revision, kind, self.output, self.metric)


STATUS = "counts/status"
"""Kind of the artifact that says of each sentence whether it was scored, where some were not."""


def scores_of(entry: Entry) -> frozenset[str]:
    """Return the names of a metric's scores, to the first dot: as they stand in items."""
    return frozenset(score.name.partition(".")[0] for score in entry.metric.table.scores)


def pack_outcome(
    key: ArtifactKey, entry: Entry, outcome: Outcome, *, tokens: bool = False, reports: bool = False
) -> PackedArtifacts:
    """Return what is stored of an outcome: name -> packed body; token bits and reports where asked for."""
    packed = {key.name("counts"): pack_array(outcome.rows)}
    if (outcome.status != OK).any():
        packed[key.name(STATUS)] = pack_array(outcome.status)
    if reports:
        texts = {style: entry.metric.report(style, outcome) for style in entry.metric.own_styles}
        packed[key.name("reports")] = artifacts.pack_json(texts)
    for number, (score, bits) in enumerate(sorted(outcome.tokens.items()) if tokens else ()):
        packed[key.name(f"tokens/{score}")] = pack_array(bits.bits)
        if not number:
            packed[key.name("tokens")] = pack_array(bits.offsets)
    return packed


def items_of_counts(
    db: Connection, owner: str, key: ArtifactKey, table: ScoreTable, start: int, limit: int
) -> list[dict[str, object]]:
    """Return items from number `start` (from 0) with what the stored counts say: no words, and no problems."""
    counts, status = artifacts.get_all(db, owner, [key.name("counts"), key.name(STATUS)])
    if counts is None:
        return []
    rows = unpack_array(counts)[start : start + limit]
    states = np.full(len(rows), OK) if status is None else unpack_array(status)[start : start + limit]
    numbered = enumerate(states.tolist(), start + 1)
    return with_values(table, rows, [{"item": number, "status": STATUS_NAMES[state]} for number, state in numbered])


def slices_of(names: Sequence[str], by: str | None, rows: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return the rows of the grouping `by`; without `by`, the names of the groupings.

    Raises:
        NotFound: `by` is none of `names`.
    """
    if by is None:
        return {"groupings": names}
    if by not in names:
        known = f"Known groupings: {', '.join(names) or 'none'}.{did_you_mean(by, names)}"
        raise NotFound(f"Unknown grouping {by!r}. {known}")
    return {"by": by, "slices": rows}
