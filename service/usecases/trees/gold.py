"""Gold's trees: stored once for each part of a revision, and once for each job."""

from __future__ import annotations

from service.store.revisions import Part
from service.usecases.trees.writing import Packed, TreesKey, pack_trees
from treescore.core.trees import Treebank

JOB_GOLD = TreesKey("gold")


def gold_key(position: int) -> TreesKey:
    """Return the names of the gold trees of a part."""
    return TreesKey(f"{position}/gold")


def pack_gold_trees(part: Part, gold: Treebank) -> Packed:
    """Return what is stored of the gold trees of a part."""
    return pack_trees(gold_key(part.position), gold)
