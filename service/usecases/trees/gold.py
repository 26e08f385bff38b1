"""Gold's trees: stored once for each part of a revision, and once for each job."""

from __future__ import annotations

from service.context import Context
from service.store import artifacts, revisions, runs
from service.store.revisions import Part, Revision
from service.usecases.trees.writing import TREES, Packed, TreesKey, pack_trees
from treescore.core.trees import Treebank

JOB_GOLD = TreesKey("gold")


def gold_key(position: int) -> TreesKey:
    """Return the names of the gold trees of a part."""
    return TreesKey(f"{position}/gold")


def pack_gold_trees(part: Part, gold: Treebank) -> Packed:
    """Return what is stored of the gold trees of a part."""
    return pack_trees(gold_key(part.position), gold)


def keep_gold_trees(context: Context, revision: Revision, part: Part, gold: Treebank) -> None:
    """Store the gold trees of a part unless they are, or gold was deleted."""
    name = gold_key(part.position).name(TREES)
    with context.store.read() as db:
        if artifacts.get(db, revision.id, name) is not None:
            return
    packed = pack_gold_trees(part, gold)
    with context.store.write() as db:
        # two workers may find none, and a deleted benchmark keeps nothing of its gold
        runs.get(db, revision.id, lock=True)
        if revisions.scored_under(db, [revision.id]) and artifacts.get(db, revision.id, name) is None:
            artifacts.put(db, revision.id, packed)
