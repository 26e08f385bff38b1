"""Items of submissions: kept without what their counts tell already, which is nine tenths of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection

from service.store import artifacts, score_records
from service.store.score_records import artifact_name
from treescore.core.registry import Outcome
from treescore.core.scores import ScoreTable
from treescore.core.trees import Treebank
from treescore.core.values import with_values
from treescore.evaluation.document import item_details


def item_pages(outcome: Outcome, gold: Treebank) -> Iterator[bytes]:
    """The items of an outcome, packed page by page; `load_items` completes them."""
    for start in range(0, len(outcome.rows), ITEMS_PER_PAGE):
        stop = min(start + ITEMS_PER_PAGE, len(outcome.rows))
        yield artifacts.pack_json(item_details(outcome, gold, start, stop))


def load_items(
    db: Connection,
    table: ScoreTable,
    submission_id: str,
    revision: int,
    place: tuple[int, int],
    start: int,
    stop: int,
) -> list[dict[str, Any]]:
    """Items `start` to `stop` (from 0), as `treescore.evaluation.document.item_documents` makes them.

    Args:
        db: the store.
        table: of the metric entry.
        submission_id: whose.
        revision: number of the revision.
        place: part and metric entry, both by position.
        start: first item.
        stop: one past the last; what is beyond the end is left out.

    Returns:
        Documents that hold gold: they go out through service.policy.gate. Empty for a part that was not scored.
    """
    counts = score_records.counts(db, submission_id, revision, *place)
    if counts is None or start >= stop:
        return []
    name = artifact_name(revision, "items", *place)
    documents: list[dict[str, Any]] = []
    for page in range(start // ITEMS_PER_PAGE, (stop - 1) // ITEMS_PER_PAGE + 1):
        body = artifacts.get(db, submission_id, name, page)
        if body is None:
            break
        documents += artifacts.unpack_json(body)
    chosen = [document for document in documents if start < document["item"] <= stop]
    return with_values(table, counts[start : start + len(chosen)], chosen)


ITEMS_PER_PAGE = 100
"""Items in one stored page."""
