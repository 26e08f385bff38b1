"""Artifacts of one output under one metric: counts, slices, items, token bits, reports.

Items are stored without scores and counts, nine tenths of their size: `load_items` adds them from the count array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from service.errors import NotFound
from service.store import artifacts
from service.store.packing import pack_array, unpack_array
from service.store.score_records import PackedArtifacts, artifact_name
from service.usecases.runs.views import View, json_view
from treescore.core.registry import Outcome
from treescore.core.scores import ScoreTable
from treescore.core.trees import Treebank
from treescore.core.values import with_values
from treescore.evaluation.document import item_details
from treescore.evaluation.spec import Entry

ITEMS_PER_PAGE = 100
"""Items in one stored page."""

Slices = dict[str, list[dict[str, object]]]


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


def scores_of(entry: Entry) -> frozenset[str]:
    """Return the names of a metric's scores, to the first dot: as they stand in items."""
    return frozenset(score.name.partition(".")[0] for score in entry.metric.table.scores)


def pack_outcome(
    key: ArtifactKey, entry: Entry, outcome: Outcome, gold: Treebank, *, tokens: bool = False, reports: bool = False
) -> PackedArtifacts:
    """Return what is stored of an outcome: (name, page) -> packed body; token bits and reports where asked for."""
    packed = {
        (key.name("counts"), 0): pack_array(outcome.rows),
        (key.name("slices"), 0): artifacts.pack_json(dict(outcome.slices())),
    }
    if reports:
        texts = {style: entry.metric.report(style, outcome) for style in entry.metric.styles}
        packed[key.name("reports"), 0] = artifacts.pack_json(texts)
    size = len(outcome.rows)
    for page, start in enumerate(range(0, size, ITEMS_PER_PAGE)):
        details = item_details(outcome, gold, start, min(start + ITEMS_PER_PAGE, size))
        packed[key.name("items"), page] = artifacts.pack_json(details)
    for number, (score, bits) in enumerate(sorted(outcome.tokens.items()) if tokens else ()):
        packed[key.name(f"tokens/{score}"), 0] = pack_array(bits.bits.astype(np.int64))
        if not number:
            packed[key.name("tokens"), 0] = pack_array(bits.offsets)
    return packed


def load_items(
    db: Connection, owner: str, key: ArtifactKey, table: ScoreTable, start: int, stop: int
) -> Sequence[dict[str, object]]:
    """Return items `start` to `stop` (from 0); those beyond the end are left out.

    They hold gold: items of submissions (`owner`) leave the service through `service.policy.gate` only.
    """
    counts = artifacts.get(db, owner, key.name("counts"))
    if counts is None or start >= stop:
        return []
    documents: list[dict[str, object]] = []
    for page in range(start // ITEMS_PER_PAGE, (stop - 1) // ITEMS_PER_PAGE + 1):
        body = artifacts.get(db, owner, key.name("items"), page)
        if body is None:
            break
        documents += artifacts.unpack_json(body)
    skipped = start % ITEMS_PER_PAGE
    chosen = documents[skipped : skipped + stop - start]
    if chosen and "scores" in chosen[0]:
        # a job of a version that stored items complete
        return chosen
    return with_values(table, unpack_array(counts)[start : start + len(chosen)], chosen)


def slices_view(
    head: Mapping[str, object], names: Sequence[str], by: str | None, rows_of: Callable[[str], object]
) -> View:
    """Return the rows of the grouping `by` beside the members of `head`; without `by`, the names of the groupings.

    Raises:
        NotFound: `by` is none of `names`.
    """
    if by is None:
        return json_view({**head, "groupings": names})
    if by not in names:
        raise NotFound(f"Unknown grouping {by!r}. Known groupings: {', '.join(names) or 'none'}.")
    return json_view({**head, "by": by, "slices": rows_of(by)})


def load_slices(db: Connection, owner: str, key: ArtifactKey) -> Slices | None:
    """Return the rows of every grouping, or None where nothing was kept."""
    body = artifacts.get(db, owner, key.name("slices"))
    if body is None:
        return None
    slices: Slices = artifacts.unpack_json(body)
    return slices
