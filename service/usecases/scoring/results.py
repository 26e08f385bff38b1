"""What is stored of one output under one metric: counts, coverage, slices, items, token bits, reports.

Items and slices are stored as columns, from which documents are made when asked. Items are stored without scores and
counts, nine tenths of their size: `load_items` adds them from the count array. Coverage is how many sentences of gold
have a scored output.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from sqlalchemy import Connection

from service.errors import NotFound
from service.store import artifacts
from service.store.packing import pack_array, pack_columns, pack_values, unpack_array, unpack_columns
from service.store.revisions import Part
from service.store.score_records import PackedArtifacts, artifact_name
from service.usecases.runs import View, json_view
from treescore.core.arrays import Counts, offsets_of
from treescore.core.columns import Documents, Lists, Records
from treescore.core.registry import Outcome
from treescore.core.scores import ScoreTable, with_values
from treescore.core.trees import Treebank
from treescore.core.wording import did_you_mean
from treescore.evaluation.document import item_columns
from treescore.evaluation.spec import Entry


def pack_slices(slices: Mapping[str, Documents]) -> bytes:
    """Pack the rows of all groupings."""
    columns = {name: rows.column for name, rows in slices.items()}
    return pack_columns(Records({name: Lists(np.array([0, len(of)]), of) for name, of in columns.items()}))


def unpack_slices(body: bytes) -> Mapping[str, Documents]:
    """Unpack what `pack_slices` has packed."""
    members = unpack_columns(body).members
    return {name: Documents(cast("Lists", rows).of) for name, rows in members.items()}


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


ITEMS_PER_PAGE = 1_000
"""Items in one stored page, whose number is that of its first item: what a request for one item reads."""
VALUES_PER_PAGE = 4_000_000
"""What the items of one page hold at most together, where metrics count it and one item alone has not more (32 MB)."""


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
        (key.name("groupings"), 0): pack_slices(outcome.slices()),
    }
    if reports:
        texts = {style: entry.metric.report(style, outcome) for style in entry.metric.own_styles}
        packed[key.name("reports"), 0] = artifacts.pack_json(texts)
    for start, stop in pages(outcome):
        packed[key.name("columns"), start] = pack_columns(item_columns(outcome, gold, start, stop))
    for number, (score, bits) in enumerate(sorted(outcome.tokens.items()) if tokens else ()):
        packed[key.name(f"tokens/{score}"), 0] = pack_values(bits.bits)
        if not number:
            packed[key.name("tokens"), 0] = pack_values(bits.offsets)
    return packed


def pages(outcome: Outcome) -> Iterator[tuple[int, int]]:
    """Divide the items of an outcome into pages: (first, the one after the last)."""
    size = len(outcome.rows)
    before = np.zeros(size + 1, np.int64) if outcome.sizes is None else offsets_of(outcome.sizes)
    start = 0
    while start < size:
        room = int(np.searchsorted(before, before[start] + VALUES_PER_PAGE, "right")) - 1
        stop = max(start + 1, min(room, start + ITEMS_PER_PAGE, size))
        yield start, stop
        start = stop


class StoredItems:
    """The items of one output under one metric.

    They hold gold: items of submissions (`owner`) leave the service through `service.policy.gate` only.
    """

    def __init__(self, db: Connection, owner: str, key: ArtifactKey, table: ScoreTable) -> None:
        self._db, self._owner, self._key, self._table = db, owner, key, table
        self._page: tuple[int, Records] | None = None

    @cached_property
    def _counts(self) -> Counts | None:
        body = artifacts.get(self._db, self._owner, self._key.name("counts"))
        return None if body is None else unpack_array(body)

    def read(self, start: int, stop: int) -> Sequence[dict[str, object]]:
        """Return items `start` to `stop` (from 0); those beyond the end are left out."""
        if self._counts is None or start >= min(stop, len(self._counts)):
            return []
        chosen: list[dict[str, object]] = []
        for first, page in self._pages(start, stop):
            chosen += page.documents(max(start - first, 0), min(stop - first, len(page)))
        return with_values(self._table, self._counts[start : start + len(chosen)], chosen)

    def each(self, numbers: Sequence[int]) -> Sequence[dict[str, object]]:
        """Return items by their numbers (from 0), in the order of these; each stored page is read once."""
        found = {number: self.read(number, number + 1) for number in sorted(set(numbers))}
        return [item for number in numbers for item in found[number]]

    def _pages(self, start: int, stop: int) -> Iterator[tuple[int, Records]]:
        if self._page is not None and self._page[0] <= start and stop <= self._page[0] + len(self._page[1]):
            yield self._page
            return
        for first, body in artifacts.get_pages(self._db, self._owner, self._key.name("columns"), start, stop):
            self._page = first, unpack_columns(body)
            yield self._page


def load_output_items(
    db: Connection, owner: str, key: ArtifactKey, table: ScoreTable, start: int, stop: int
) -> Sequence[dict[str, object]]:
    """Return items `start` to `stop` (from 0) of an output under a metric, as `StoredItems.read`."""
    return StoredItems(db, owner, key, table).read(start, stop)


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
        known = f"Known groupings: {', '.join(names) or 'none'}.{did_you_mean(by, names)}"
        raise NotFound(f"Unknown grouping {by!r}. {known}")
    return json_view({**head, "by": by, "slices": rows_of(by)})


def load_slices(db: Connection, owner: str, key: ArtifactKey) -> Mapping[str, Sequence[dict[str, object]]] | None:
    """Return the rows of every grouping, or None where nothing was kept."""
    body = artifacts.get(db, owner, key.name("groupings"))
    return None if body is None else unpack_slices(body)
