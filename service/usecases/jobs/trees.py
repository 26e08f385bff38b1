"""The trees of a job: those of one system beside gold's. Both are the caller's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import NotFound, Unprocessable
from service.requests import JobTreesQuery
from service.usecases.jobs.results import NOT_KEPT as ITEMS_NOT_KEPT
from service.usecases.jobs.results import system_number
from service.usecases.runs.views import Page
from service.usecases.trees.choosing import DIFFERS, differing
from service.usecases.trees.documents import Document
from service.usecases.trees.gold import JOB_GOLD
from service.usecases.trees.listing import NOT_KEPT, Asked, listed, tree_page
from service.usecases.trees.sentences import OutputTrees
from service.usecases.trees.window import Window, window
from service.usecases.trees.writing import TreesKey
from treescore.core.arrays import BoolArray


def job_trees(context: Context, caller: Caller, job_id: str, query: JobTreesQuery) -> Page:
    """Return the trees of one system, from after `cursor`; or of one item.

    Raises:
        NotFound: unknown system or item; no trees are stored.
        Conflict: the job has not finished, or has no results.
        Unprocessable: the cursor is invalid, or the systems cannot be compared.
    """
    with context.store.read() as db:
        trees, asked, shown = _chosen(db, context, caller, job_id, query)
        return tree_page(listed(trees, asked, beside_gold=trees.beside_gold), shown)


def job_window(context: Context, caller: Caller, job_id: str, query: JobTreesQuery) -> Window:
    """Return the sentence `query.item` of one system, by default the first chosen one, among those around it.

    Raises:
        NotFound, Conflict, Unprocessable: as `job_trees`.
    """
    with context.store.read() as db:
        trees, asked, shown = _chosen(db, context, caller, job_id, query)
        beside = trees.beside_gold
        return window(trees, asked, shown, partial(trees.outline, beside_gold=beside, marks=beside), beside_gold=beside)


def _chosen(
    db: Connection, context: Context, caller: Caller, job_id: str, query: JobTreesQuery
) -> tuple[OutputTrees, Asked, Callable[[int], Document]]:
    """Return the trees of one system, what of them is asked, and what shows a sentence."""
    number = system_number(context, caller, job_id, query.system)
    other = None if query.differs_from is None else system_number(context, caller, job_id, query.differs_from)
    trees = _stored(db, job_id, number)
    only = None if other is None else _differing(trees, _stored(db, job_id, other))
    owner = (job_id, str(number), *(() if other is None else (DIFFERS, str(other))))
    asked = Asked(owner, query.choice, query.cursor, query.limit, query.item, only)
    return trees, asked, trees.both if trees.beside_gold else lambda sentence: trees.own(sentence, marks=False)


def job_output(db: Connection, job_id: str, number: int) -> OutputTrees:
    """Return the trees of one system of a job, by position."""
    return OutputTrees(db, job_id, TreesKey(number), (job_id, JOB_GOLD))


def _stored(db: Connection, job_id: str, number: int) -> OutputTrees:
    trees = job_output(db, job_id, number)
    if not len(trees.text):
        raise NotFound(f"{ITEMS_NOT_KEPT} {NOT_KEPT}")
    return trees


def _differing(one: OutputTrees, other: OutputTrees) -> BoolArray:
    if not (one.beside_gold and other.beside_gold):
        raise Unprocessable("The two systems were not compared with gold tree by tree.")
    return differing(one, other)
