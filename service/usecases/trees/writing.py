"""What a worker stores for the trees of an output: its own, and apart from them how they fit gold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from service.store.packed_named import NamedArrays, pack_named
from service.usecases.trees.pages import page_bounds, pages_of, unit_offsets
from treescore.core.arrays import BoolArray, IntArray
from treescore.core.marks import Marks, State
from treescore.core.trees import Treebank
from treescore.evaluation.tree_marks import MarkedBy

Packed = dict[tuple[str, int], bytes]
TREES, MARKS, MISSED, FIT, ERRORS = "trees", "treemarks", "treemissed", "treefit", "treeerrors"
OF_ERRORS = ("any", "head", "label", "span")
"""Kinds of errors that are counted in each sentence."""
_STATES_OF = {
    "head": (State.HEAD, State.BOTH),
    "label": (State.LABEL, State.BOTH),
    "span": (State.SPAN,),
}


@dataclass(frozen=True, slots=True)
class TreesKey:
    """Names of what is stored of the trees of one output.

    Attributes:
        output: part of a submission or system of a job, by position; `gold` for gold of a job.
        revision: under which a submission was scored; None for a job, and for gold of a revision.
    """

    output: int | str
    revision: int | None = None

    def name(self, kind: str) -> str:
        """Return the name of one kind of artifact."""
        return f"{kind}/{self.output}" if self.revision is None else f"r{self.revision}/{kind}/{self.output}"


def pack_trees(key: TreesKey, treebank: Treebank) -> Packed:
    """Return what is stored of a text alone."""
    return {(key.name(TREES), start): pack_named(page) for start, page in pages_of(treebank)}


def pack_marks(key: TreesKey, found: MarkedBy | None, gold: Treebank, system: Treebank) -> Packed:
    """Return what is stored of how an output fits gold; nothing where it was not compared."""
    if found is None:
        return {}
    marks, by = found
    golds, systems = unit_offsets(gold), unit_offsets(system)
    packed: Packed = {}
    for start, stop in page_bounds(systems):
        own = slice(int(systems[start]), int(systems[stop]))
        arrays = {"states": marks.system[own]}
        if marks.partners is not None:
            arrays["partners"] = marks.partners[own]
        packed[key.name(MARKS), start] = pack_named(NamedArrays(arrays))
    for start, stop in page_bounds(golds):
        states = marks.gold[int(golds[start]) : int(golds[stop])]
        packed[key.name(MISSED), start] = pack_named(NamedArrays({"states": states}))
    fit = _fit(marks, systems)
    if fit is not None:
        packed[key.name(FIT), 0] = pack_named(fit)
    packed[key.name(ERRORS), 0] = pack_named(_errors(marks, by, golds, systems))
    return packed


def _fit(marks: Marks, systems: IntArray) -> NamedArrays | None:
    """Return where the output's half of each sentence of gold lies; None where it is the sentence of its number."""
    if marks.firsts is not None:
        firsts = marks.firsts[:-1]
        sentences = np.maximum(np.searchsorted(systems, firsts, "right") - 1, 0)
        sentences = np.minimum(sentences, max(len(systems) - 2, 0))
        skipped = firsts - systems[sentences]
        return NamedArrays({"sentences": sentences, "skipped": skipped, "units": np.diff(marks.firsts)})
    return None if marks.sentences is None else NamedArrays({"sentences": marks.sentences})


def _errors(marks: Marks, by: str | None, golds: IntArray, systems: IntArray) -> NamedArrays:
    """Count the errors of each sentence: `own` of the output's sentences, `item` of gold's with what the output lacks.

    A word without a partner is none of the output's own errors: it would tell of gold's words.
    """
    arrays = {}
    for kind in OF_ERRORS:
        wrong = wrong_units(marks.system, kind)
        own = wrong & (marks.system != State.ALONE)
        arrays[f"own_{kind}"] = _sums(own, systems)
        lacking = wrong_units(marks.gold, kind) & (
            (marks.gold >= State.ALONE) if kind == "any" else (marks.gold == State.SPAN)
        )
        arrays[f"item_{kind}"] = _wrong_by_item(marks, wrong, systems) + _sums(lacking, golds)
    return NamedArrays(arrays, about={"metric": by})


def wrong_units(states: IntArray, kind: str) -> BoolArray:
    """Return which units of these states have an error of a kind, one of `OF_ERRORS`."""
    if kind == "any":
        return np.asarray(states != State.RIGHT, np.bool_)
    return np.isin(states, [int(state) for state in _STATES_OF[kind]])


def _wrong_by_item(marks: Marks, wrong: BoolArray, systems: IntArray) -> IntArray:
    if marks.firsts is not None:
        return _sums(wrong, marks.firsts)
    own = _sums(wrong, systems)
    if marks.sentences is None:
        return own
    return (
        np.where(marks.sentences >= 0, own[marks.sentences], 0)
        if len(own)
        else np.zeros(len(marks.sentences), np.int64)
    )


def _sums(values: BoolArray, offsets: IntArray) -> IntArray:
    before = np.concatenate([[0], np.cumsum(values)]).astype(np.int64)
    return np.diff(before[offsets])
