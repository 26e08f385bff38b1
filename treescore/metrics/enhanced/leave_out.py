"""Kinds of enhancement that are not scored, as the switches of the IWPT 2020 script leave them out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of
from treescore.core.trees import DependencyTreebank
from treescore.metrics.shared.words import without_subtypes

_NO_HEAD = -(1 << 62)
"""Stands for the HEAD of the root and of NOWHERE."""
ROOT, NOWHERE = -1, -2
"""Heads that are no words: the root; and the head of a root's basic edge, which no other edge has."""

_CASE_RELATIONS = frozenset(("obl", "nmod", "conj", "advcl"))
_UNIVERSAL_SUBTYPES = frozenset(("pass", "relcl", "xsubj"))


class Arcs(NamedTuple):
    """The e enhanced edges of a text, those of a word together, by head and relation.

    Attributes:
        words: the dependent, over the whole text, int64 (e,).
        heads: the head, over the whole text, ROOT or NOWHERE, int64 (e,).
        labels: the relation or path of relations, numbers of strings, int64 (e,).
    """

    words: IntArray
    heads: IntArray
    labels: IntArray

    def kept(self, mask: BoolArray | IntArray) -> Arcs:
        """Return some of the edges: those of a mask, or of these numbers."""
        return Arcs(*(column[mask] for column in self))

    def with_basic(self, mask: BoolArray, basic: Arcs) -> Arcs:
        """Return the edges, some of them replaced by the basic edges of their words."""
        heads = np.where(mask, basic.heads[self.words], self.heads)
        return Arcs(self.words, heads, np.where(mask, basic.labels[self.words], self.labels))


class _Text(NamedTuple):
    """What the kinds look at beside the edges.

    Attributes:
        treebank: of the edges.
        basic: the basic edge of each word, without its subtype.
        positions: of each word in its sentence, from 0, int64 (w,).
    """

    treebank: DependencyTreebank
    basic: Arcs
    positions: IntArray

    def labels(self, arcs: Arcs, test: Callable[[str], bool]) -> BoolArray:
        """Return the edges whose label passes a test, bool (e,)."""
        return np.asarray(self.treebank.vocabulary.table(arcs.labels, test)[arcs.labels] > 0, np.bool_)

    def head_relation(self, arcs: Arcs, test: Callable[[str], bool]) -> BoolArray:
        """Return the edges from a word whose relation, without its subtype, passes a test, bool (e,)."""
        passes = self.treebank.vocabulary.table(self.basic.labels, test)[self.basic.labels] > 0
        return of_heads(passes, arcs, 0) > 0


def of_heads(column: IntArray | BoolArray, arcs: Arcs, root: int) -> IntArray:
    """Return what a column of words (w,) has for the head of each edge, `root` for edges from the root: int64 (e,)."""
    return np.where(arcs.heads >= 0, column[np.maximum(arcs.heads, 0)], root).astype(np.int64)


def left_out(treebank: DependencyTreebank, arcs: Arcs, kinds: Collection[str]) -> Arcs:
    """Return the edges without these kinds of enhancement.

    Args:
        treebank: of the edges.
        arcs: after collapsing, none twice.
        kinds: names in KINDS; they are applied in its order.
    """
    if not kinds:
        return arcs
    text = _Text(treebank, _basic(treebank), _positions(treebank))
    for name, leave_out in KINDS.items():
        if name in kinds:
            arcs = leave_out(text, arcs)
    return arcs


def _basic(treebank: DependencyTreebank) -> Arcs:
    offsets, heads = treebank.word_offsets, treebank.heads
    owners = owners_of(offsets)
    inside = (heads > 0) & (heads <= np.diff(offsets)[owners])
    above = np.where(inside, offsets[owners] + heads - 1, NOWHERE)
    return Arcs(np.arange(len(heads), dtype=np.int64), above, without_subtypes(treebank).deprels)


def _positions(treebank: DependencyTreebank) -> IntArray:
    owners = owners_of(treebank.word_offsets)
    return np.arange(len(owners), dtype=np.int64) - treebank.word_offsets[owners]


def _gapping(text: _Text, arcs: Arcs) -> Arcs:
    """Replace each path by the basic edge, even where it is repeated; drop single edges that repeat one before them."""
    paths = text.labels(arcs, lambda label: ">" in label)
    places = np.arange(len(arcs.words))
    first = np.full(len(text.positions), len(places))
    np.minimum.at(first, arcs.words[paths], places[paths])
    basic = text.basic
    repeats = (arcs.heads == basic.heads[arcs.words]) & (arcs.labels == basic.labels[arcs.words])
    repeats &= ~paths & (first[arcs.words] < places)
    return arcs.with_basic(paths, basic).kept(~repeats)


def _shared_parents(text: _Text, arcs: Arcs) -> Arcs:
    """Keep of a conjunct the last edge of one step that begins with `conj`."""
    conjuncts = np.flatnonzero(text.labels(arcs, lambda label: label.startswith("conj") and ">" not in label))
    last = np.full(len(text.positions), -1)
    last[arcs.words[conjuncts]] = conjuncts
    own = last[arcs.words]
    return arcs.kept(np.asarray((own < 0) | (own == np.arange(len(own))), np.bool_))


def _shared_dependents(_text: _Text, arcs: Arcs) -> Arcs:
    """Return all edges: the script compares a word with a string here, which are never equal."""
    return arcs


def _control(text: _Text, arcs: Arcs) -> Arcs:
    """Drop subjects of words whose relation is `xcomp`."""
    subjects = text.labels(arcs, lambda label: any(step.startswith("nsubj") for step in label.split(">")))
    return arcs.kept(~(subjects & text.head_relation(arcs, "xcomp".__eq__)))


def _relative_clauses(text: _Text, arcs: Arcs) -> Arcs:
    """Replace `ref` by the basic edge; drop edges from a clause whose head is the word before this one.

    The script means the edge from a relative clause to its antecedent, but counts this word from 0 and the head of the
    clause from 1.
    """
    references = text.labels(arcs, lambda label: label.partition(">")[0] == "ref")
    above = of_heads(text.treebank.heads, arcs, _NO_HEAD)
    external = text.head_relation(arcs, lambda relation: relation.startswith("acl")) & ~references
    external &= above == text.positions[arcs.words]
    return arcs.with_basic(references, text.basic).kept(~external)


def _case_information(text: _Text, arcs: Arcs) -> Arcs:
    """Cut the only subtype of `obl`, `nmod`, `conj` and `advcl`, unless it is a universal one."""
    vocabulary = text.treebank.vocabulary

    def cut(label: str) -> int:
        return vocabulary.number(">".join(map(_without_case, label.split(">"))))

    return arcs._replace(labels=vocabulary.table(arcs.labels, cut)[arcs.labels])


def _without_case(step: str) -> str:
    relation, *subtypes = step.split(":")
    if relation in _CASE_RELATIONS and len(subtypes) == 1 and subtypes[0] not in _UNIVERSAL_SUBTYPES:
        return relation
    return step


KINDS: Mapping[str, Callable[[_Text, Arcs], Arcs]] = {
    "gapping": _gapping,
    "shared_parents": _shared_parents,
    "shared_dependents": _shared_dependents,
    "control": _control,
    "relative_clauses": _relative_clauses,
    "case_information": _case_information,
}
"""The kinds in the order of the script's switches 1 to 6, in which they are left out."""
