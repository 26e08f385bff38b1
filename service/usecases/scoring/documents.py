"""The documents of gold's sentences, which are the units of tests and intervals: stored when a revision is checked."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from service.store import artifacts
from service.store.revisions import Part
from treescore.core.arrays import IntArray
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.report import documents_of
from treescore.significance import Settings
from treescore.significance.unit_choice import chosen_units

Names = Sequence[str | None]
"""The document of each sentence, None before the first mark; empty where gold marks none."""


def blocks_name(position: int) -> str:
    """Return the name of the artifact with the document of each sentence of a part."""
    return f"blocks/{position}/of_sentences"


def packed_documents(evaluation: Evaluation) -> bytes:
    """Return what is stored of the documents of a part."""
    return artifacts.pack_json(list(documents_of(evaluation) or ()))


def stored_documents(db: Connection, revision_id: str, part: Part) -> Names:
    """Return the document of each sentence of a part; none before gold was checked."""
    body = artifacts.get(db, revision_id, blocks_name(part.position))
    return () if body is None else artifacts.unpack_json(body)


def blocks_of_part(names: Names, sentences: int) -> IntArray | None:
    """Return the number of each sentence's document, (n,), where a part goes by document; None if by sentence."""
    return chosen_units(Settings(), names or None, None, sentences).blocks
