"""Trees whose constituents may have gaps: put their nodes in order, compare their yields, make them of other trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of, sums_by
from treescore.core.jit import compiled
from treescore.core.structure import NONE, structure_of
from treescore.core.trees import NO_TAG, ConstituentTreebank, DiscontinuousTreebank

ROOT = "ROOT"
"""Label of a root that no text names."""

_NO_FUNCTION = "=0123456789"
_OTHER = -(1 << 62)
"""A shift that leaves no word of a sentence at a place."""


class Links(NamedTuple):
    """What is above the m nodes and w words of n sentences; their roots are not among the nodes.

    Attributes:
        parents: the node above each node, counted over the whole file, NONE below the root, int64 (m,).
        node_offsets: int64 (n + 1,).
        anchors: the node directly above each word, counted likewise, NONE below the root, int64 (w,).
        word_offsets: int64 (n + 1,).
    """

    parents: IntArray
    node_offsets: IntArray
    anchors: IntArray
    word_offsets: IntArray


class Arranged(NamedTuple):
    """The nodes in the order of a `DiscontinuousTreebank`: each sentence begins with its root.

    Attributes:
        numbers: new number of each node of the links, over the whole file, int64 (m,).
        parents: of all nodes with the roots, as in the treebank, int64 (m + n,).
        node_offsets: int64 (n + 1,).
        anchors: int64 (w,).
        cycles: in each sentence a node above itself (the rest says nothing of the sentence then), else NONE, (n,).
        empty: in each sentence the first node without words, else NONE, int64 (n,).
        depths: in each sentence the nodes from the root to the lowest one, int64 (n,).
    """

    numbers: IntArray
    parents: IntArray
    node_offsets: IntArray
    anchors: IntArray
    cycles: IntArray
    empty: IntArray
    depths: IntArray


class Spans(NamedTuple):
    """Yields as spans over the words in the order in which gold's tree has them as leaves: int64 (m,) each.

    Nodes of gold and of the other side with equal starts and ends have the same words. A yield that gold cannot
    have, or that has no words, has NONE as its start and an end that no other has.
    """

    starts: IntArray
    ends: IntArray


class Extents(NamedTuple):
    """First and last word of each node, counted over the whole file, and how many it has; int64 (m,) each.

    A node with words between its first and last one that are not its own has a gap. Nodes without words have size 0.
    """

    firsts: IntArray
    lasts: IntArray
    sizes: IntArray


def divided(label: str) -> tuple[str, str]:
    """Divide a label into category and function: `NP-SBJ` into NP and SBJ, `NP=2` and `NP-2` into NP and nothing.

    `NP-SBJ-1` has the function `SBJ-`, as disco-dop reads it: SBJ and an empty one.

    A `-` or `=` that is the first character divides nothing (`-NONE-`).
    """
    place, function = label.find("-"), ""
    if place > 0:
        label, function = label[:place], label[place + 1 :].rstrip(_NO_FUNCTION)
    place = label.find("=")
    return (label[:place] if place > 0 else label), function


def arranged(links: Links) -> Arranged:
    """Put nodes in order: before those below them, these in the order of their first words."""
    size, nodes = len(links.node_offsets) - 1, len(links.parents)
    found = Arranged(
        numbers=np.zeros(nodes, np.int64),
        parents=np.full(nodes + size, NONE, np.int64),
        node_offsets=links.node_offsets + np.arange(size + 1),
        anchors=np.zeros(len(links.anchors), np.int64),
        cycles=np.full(size, NONE, np.int64),
        empty=np.full(size, NONE, np.int64),
        depths=np.ones(size, np.int64),
    )
    longest = int(np.diff(links.node_offsets).max(initial=0)) + 1
    _arrange(links, found, np.empty((4, longest), np.int64))
    return found


@compiled
def _arrange(links: Links, found: Arranged, scratch: IntArray) -> None:
    """Fill `found` sentence by sentence; `scratch` is int64 (4, most nodes of a sentence and its root)."""
    parents, node_offsets, anchors, word_offsets = links
    depths, below, last, beside = scratch[0], scratch[1], scratch[2], scratch[3]
    for sentence in range(len(node_offsets) - 1):
        first, size = node_offsets[sentence], node_offsets[sentence + 1] - node_offsets[sentence]
        found.cycles[sentence] = _depths(parents, first, size, depths, below)
        if found.cycles[sentence] != NONE:
            continue
        for node in range(size):
            found.depths[sentence] = max(found.depths[sentence], depths[node] + 1)
        below[: size + 1], last[: size + 1], beside[: size + 1] = NONE, NONE, NONE
        for word in range(word_offsets[sentence], word_offsets[sentence + 1]):
            node = anchors[word] - first if anchors[word] != NONE else size
            while node != size and depths[node] > 0:
                above = parents[first + node] - first if parents[first + node] != NONE else size
                _append(node, above, below, last, beside)
                depths[node] = 0  # it has words
                node = above
        for node in range(size):
            if depths[node] > 0:
                above = parents[first + node] - first if parents[first + node] != NONE else size
                _append(node, above, below, last, beside)
                if found.empty[sentence] == NONE:
                    found.empty[sentence] = first + node
        _number(links, found, sentence, below, beside)


@compiled
def _depths(parents: IntArray, first: int, size: int, depths: IntArray, path: IntArray) -> int:
    """Fill the depths of the nodes of a sentence below its root, from 1; return a node above itself, else NONE."""
    depths[:size] = 0
    for start in range(size):
        node, steps = start, 0
        while node != NONE and depths[node] == 0:
            depths[node] = -1
            path[steps] = node
            steps += 1
            node = parents[first + node] - first if parents[first + node] != NONE else NONE
        if node != NONE and depths[node] < 0:
            return int(first + node)
        depth = 0 if node == NONE else depths[node]
        for step in range(steps - 1, -1, -1):
            depth += 1
            depths[path[step]] = depth
    return NONE


@compiled
def _append(node: int, above: int, below: IntArray, last: IntArray, beside: IntArray) -> None:
    """Make a node the last one below another."""
    if last[above] == NONE:
        below[above] = node
    else:
        beside[last[above]] = node
    last[above] = node


@compiled
def _number(links: Links, found: Arranged, sentence: int, below: IntArray, beside: IntArray) -> None:
    """Number the nodes of a sentence from its root on, each before those below it and beside it."""
    parents, node_offsets, anchors, word_offsets = links
    first, size = node_offsets[sentence], node_offsets[sentence + 1] - node_offsets[sentence]
    root = first + sentence
    number, node = root + 1, below[size]
    while node != NONE:
        found.numbers[first + node] = number
        above = parents[first + node]
        found.parents[number] = root if above == NONE else found.numbers[above]
        number += 1
        following = below[node]
        while following == NONE and node != size:
            following = beside[node]
            if following == NONE:
                node = parents[first + node] - first if parents[first + node] != NONE else size
        node = following
    for word in range(word_offsets[sentence], word_offsets[sentence + 1]):
        found.anchors[word] = root if anchors[word] == NONE else found.numbers[anchors[word]]


def same_yields(gold: DiscontinuousTreebank, other: DiscontinuousTreebank) -> tuple[Spans, Spans]:
    """Return the yields of both sides so that they can be compared; in linear time, after Day 1985.

    In gold's tree as it is drawn without crossing branches, each node is over a stretch of leaves. A set of words is
    the yield of a node of gold only if it is such a stretch.

    Args:
        gold: trees.
        other: trees of as many sentences; a sentence with another number of words has no yield of gold.
    """
    ranks = np.empty(len(gold.words), np.int64)
    sides = [Spans(*np.full((2, len(each.labels)), NONE, np.int64)) for each in (gold, other)]
    sizes = np.zeros((2, max(len(gold.labels), len(other.labels), 1)), np.int64)
    _rank(gold.parents, gold.anchors, gold.node_offsets, gold.word_offsets, ranks, sizes)
    lengths = np.diff(other.word_offsets)
    shifts = np.where(lengths == np.diff(gold.word_offsets), gold.word_offsets[:-1] - other.word_offsets[:-1], _OTHER)
    places = np.arange(len(other.words)) + np.repeat(shifts, lengths)
    of_words = ranks, np.where(places >= 0, ranks[np.maximum(places, 0)], NONE) if len(ranks) else places
    for side, own, spans in zip((gold, other), of_words, sides, strict=True):
        _spans(side.parents, side.anchors, own, spans, sizes[0])
    of_gold, of_other = sides
    none = of_other.starts == NONE
    of_other.ends[none] = NONE - of_other.ends[none]
    return of_gold, of_other


@compiled
def _rank(
    parents: IntArray,
    anchors: IntArray,
    node_offsets: IntArray,
    word_offsets: IntArray,
    ranks: IntArray,
    sizes: IntArray,
) -> None:
    """Fill the place of each word among the leaves of its sentence; `sizes` is zeros, int64 (2, m or more)."""
    counts, free = sizes
    for word in range(len(anchors)):
        counts[anchors[word]] += 1
    for node in range(len(parents) - 1, -1, -1):
        if parents[node] != NONE:
            counts[parents[node]] += counts[node]
    for sentence in range(len(node_offsets) - 1):
        for node in range(node_offsets[sentence], node_offsets[sentence + 1]):
            # A node begins where its parent has room; its own words come after the nodes below it.
            above = parents[node]
            free[node] = 0 if above == NONE else free[above]
            if above != NONE:
                free[above] += counts[node]
        for word in range(word_offsets[sentence], word_offsets[sentence + 1]):
            ranks[word] = free[anchors[word]]
            free[anchors[word]] += 1


@compiled
def _spans(parents: IntArray, anchors: IntArray, ranks: IntArray, spans: Spans, sizes: IntArray) -> None:
    """Fill the spans of one side; nodes without words get NONE to 0."""
    starts, ends = spans
    sizes[: len(parents)] = 0
    ends[:] = 0
    for word in range(len(anchors)):
        node, rank = anchors[word], ranks[word]
        if rank < 0:
            sizes[node] += 2  # more than there are leaves, in the nodes above too
            continue
        sizes[node] += 1
        starts[node] = rank if starts[node] == NONE else min(starts[node], rank)
        ends[node] = max(ends[node], rank + 1)
    for node in range(len(parents) - 1, -1, -1):
        above = parents[node]
        if above != NONE and sizes[node]:
            sizes[above] += sizes[node]
            if starts[above] == NONE or NONE < starts[node] < starts[above]:
                starts[above] = starts[node]
            ends[above] = max(ends[above], ends[node])
    for node in range(len(parents)):
        if ends[node] - starts[node] != sizes[node]:
            starts[node], ends[node] = NONE, node


def extents_of(treebank: DiscontinuousTreebank) -> Extents:
    """Return where the nodes of trees begin and end, in linear time."""
    nodes = len(treebank.labels)
    found = Extents(np.full(nodes, len(treebank.words), np.int64), *np.zeros((2, nodes), np.int64))
    _extend(treebank.parents, treebank.anchors, found)
    return found


@compiled
def _extend(parents: IntArray, anchors: IntArray, found: Extents) -> None:
    firsts, lasts, sizes = found
    for word in range(len(anchors)):
        node = anchors[word]
        firsts[node], lasts[node] = min(firsts[node], word), max(lasts[node], word)
        sizes[node] += 1
    for node in range(len(parents) - 1, -1, -1):
        above = parents[node]
        if above != NONE and sizes[node]:
            firsts[above], lasts[above] = min(firsts[above], firsts[node]), max(lasts[above], lasts[node])
            sizes[above] += sizes[node]


def with_gaps(treebank: ConstituentTreebank | DiscontinuousTreebank) -> DiscontinuousTreebank:
    """Return trees as trees that may have gaps."""
    return discontinuous_of(treebank) if isinstance(treebank, ConstituentTreebank) else treebank


def discontinuous_of(treebank: ConstituentTreebank) -> DiscontinuousTreebank:
    """Return the trees as trees that could have gaps; labels and tags are divided into category and function.

    A bracket that is around the whole sentence is its root, else there is a root labelled ROOT above what there is. New
    strings are added to the vocabulary.
    """
    size, links = len(treebank), structure_of(treebank)
    node_owners, word_owners = owners_of(treebank.node_offsets), owners_of(treebank.word_offsets)
    tops = links.parents == NONE
    outside = sums_by(word_owners[links.anchors == NONE], size)
    single = (sums_by(node_owners[tops], size) == 1) & (outside == 0)
    is_root: BoolArray = tops & single[node_owners]
    rest = ~is_root
    places = np.append(np.where(rest, np.cumsum(rest) - 1, NONE), NONE)  # NONE, the last, stays NONE
    below = Links(
        parents=places[links.parents[rest]],
        node_offsets=np.append(0, np.cumsum(rest))[treebank.node_offsets],
        anchors=places[links.anchors],
        word_offsets=treebank.word_offsets,
    )
    found = arranged(below)
    numbers = np.empty(len(treebank.labels), np.int64)
    numbers[rest] = found.numbers
    numbers[is_root] = found.node_offsets[:-1][node_owners[is_root]]
    vocabulary = treebank.vocabulary
    labels = np.full(len(found.parents), vocabulary.number(ROOT), np.int64)
    functions = np.zeros(len(found.parents), np.int64)
    tags = treebank.tags.copy()
    word_functions = np.zeros(len(tags), np.int64)
    tagged = tags != NO_TAG
    labels[numbers], functions[numbers] = _divided_numbers(treebank, treebank.labels)
    tags[tagged], word_functions[tagged] = _divided_numbers(treebank, tags[tagged])
    none = np.zeros(len(tags), np.int64)
    return DiscontinuousTreebank(
        vocabulary=vocabulary,
        labels=labels,
        functions=functions,
        parents=found.parents,
        node_offsets=found.node_offsets,
        words=treebank.words,
        tags=tags,
        word_functions=word_functions,
        lemmas=none,
        morphs=none,
        anchors=found.anchors,
        word_offsets=treebank.word_offsets,
        lines=treebank.lines,
        sentences=treebank.sentences,
    )


def _divided_numbers(treebank: ConstituentTreebank, labels: IntArray) -> tuple[IntArray, IntArray]:
    """Return category and function of labels, all numbers of strings."""
    vocabulary = treebank.vocabulary
    distinct = vocabulary.distinct(labels)
    parts = [divided(vocabulary.strings[number]) for number in distinct.tolist()]
    tables = np.zeros((2, len(vocabulary)), np.int64)
    for table, strings in zip(tables, zip(*parts, strict=True), strict=False):
        table[distinct] = vocabulary.numbers(strings)
    return tables[0][labels], tables[1][labels]
