"""Trees whose constituents may have gaps: put their nodes in order, compare their yields, make them of other trees."""

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of, sums_by
from treescore.core.structure import NONE, gather, sizes_before, structure_of, sums_above
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
    parents, node_offsets, anchors, word_offsets = links
    size, nodes, words = len(node_offsets) - 1, len(parents), len(anchors)
    owners = owners_of(node_offsets)
    depths, endless = sums_above(parents, np.ones(nodes, np.int64))
    cycles, empty = np.full((2, size), NONE, np.int64)
    lost = np.flatnonzero(endless)
    sentences, firsts = np.unique(owners[lost], return_index=True)
    cycles[sentences] = [_in_cycle(parents, node) for node in lost[firsts].tolist()]
    tops = endless | (parents == NONE)
    above = np.where(tops, NONE, parents)
    depths[endless] = 0
    firsts = np.full(nodes, words)
    anchored = anchors != NONE
    np.minimum.at(firsts, anchors[anchored], np.flatnonzero(anchored))
    sizes = np.ones(nodes, np.int64)
    gather(np.minimum, above, depths, firsts)
    gather(np.add, above, depths, sizes)
    wordless = np.flatnonzero(firsts == words)
    firsts[wordless] += wordless  # they follow the others
    empty[owners[wordless[::-1]]] = wordless[::-1]  # the first, which is assigned last, stays
    empty[cycles != NONE] = NONE
    lowest = np.zeros(size, np.int64)
    np.maximum.at(lowest, owners, depths)
    lowest[cycles != NONE] = 0
    roots = node_offsets[:-1] + np.arange(size)
    below_root = np.where(tops, nodes + owners, above)
    numbers = roots[owners] + sums_above(above, 1 + sizes_before(below_root, firsts, sizes))[0]
    places = np.append(numbers, NONE)
    found = np.full(nodes + size, NONE, np.int64)
    found[numbers] = np.where(tops, roots[owners], places[above])
    return Arranged(
        numbers=numbers,
        parents=found,
        node_offsets=node_offsets + np.arange(size + 1),
        anchors=np.where(anchored, places[anchors], np.repeat(roots, np.diff(word_offsets))),
        cycles=cycles,
        empty=empty,
        depths=lowest + 1,
    )


def _in_cycle(parents: IntArray, node: int) -> int:
    """Return the first node of a cycle on the way up from a node."""
    seen: set[int] = set()
    while node not in seen:
        seen.add(node)
        node = int(parents[node])
    return node


def same_yields(gold: DiscontinuousTreebank, other: DiscontinuousTreebank) -> tuple[Spans, Spans]:
    """Return the yields of both sides so that they can be compared, after Day 1985.

    In gold's tree as it is drawn without crossing branches, each node is over a stretch of leaves. A set of words is
    the yield of a node of gold only if it is such a stretch.

    Args:
        gold: trees.
        other: trees of as many sentences; a sentence with another number of words has no yield of gold.
    """
    ranks = _ranks(gold)
    lengths = np.diff(other.word_offsets)
    shifts = np.where(lengths == np.diff(gold.word_offsets), gold.word_offsets[:-1] - other.word_offsets[:-1], _OTHER)
    places = np.arange(len(other.words)) + np.repeat(shifts, lengths)
    of_words = ranks, np.where(places >= 0, ranks[np.maximum(places, 0)], NONE) if len(ranks) else places
    of_gold, of_other = (_spans(side, own) for side, own in zip((gold, other), of_words, strict=True))
    none = of_other.starts == NONE
    of_other.ends[none] = NONE - of_other.ends[none]
    return of_gold, of_other


def _ranks(treebank: DiscontinuousTreebank) -> IntArray:
    """Return the place of each word among the leaves of its sentence, a node's own after those below: int64 (w,)."""
    parents, anchors = treebank.parents, treebank.anchors
    depths, _ = sums_above(parents, np.ones(len(parents), np.int64))
    own = np.bincount(anchors, minlength=len(parents))
    sizes = own.copy()
    gather(np.add, parents, depths, sizes)
    beside = sizes_before(parents, np.arange(len(parents)), sizes)
    beside[parents == NONE] = 0
    begins = sums_above(parents, beside)[0] + sizes - own
    words = np.arange(len(anchors))
    return begins[anchors] + sizes_before(anchors, words, np.ones_like(words))


def _spans(treebank: DiscontinuousTreebank, ranks: IntArray) -> Spans:
    """Return the spans of one side; nodes without words get NONE to their number."""
    anchors, known = treebank.anchors, ranks >= 0
    nodes = np.arange(len(treebank.parents))
    starts = np.full(len(nodes), 1 + int(ranks.max(initial=0)), np.int64)  # behind all
    ends = np.zeros(len(nodes), np.int64)
    # a word that gold has not counts twice: in no node above it are there as many leaves
    sizes = np.bincount(anchors, minlength=len(nodes)) + np.bincount(anchors[~known], minlength=len(nodes))
    np.minimum.at(starts, anchors[known], ranks[known])
    np.maximum.at(ends, anchors[known], ranks[known] + 1)
    _gather_all(treebank, (np.minimum, starts), (np.maximum, ends), (np.add, sizes))
    foreign = ends - starts != sizes
    return Spans(np.where(foreign, NONE, starts), np.where(foreign, nodes, ends))


def _gather_all(treebank: DiscontinuousTreebank, *values: tuple[np.ufunc, IntArray]) -> None:
    depths, _ = sums_above(treebank.parents, np.ones(len(treebank.parents), np.int64))
    for how, each in values:
        gather(how, treebank.parents, depths, each)


def extents_of(treebank: DiscontinuousTreebank) -> Extents:
    """Return where the nodes of trees begin and end."""
    nodes, words = len(treebank.labels), np.arange(len(treebank.words))
    found = Extents(np.full(nodes, len(words)), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64))
    every = (np.minimum, found.firsts, words), (np.maximum, found.lasts, words), (np.add, found.sizes, 1)
    for how, values, of_words in every:
        how.at(values, treebank.anchors, of_words)
    _gather_all(treebank, *(each[:2] for each in every))
    return found


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
    single = (sums_by(node_owners[tops], size) == 1) & (sums_by(word_owners[links.anchors == NONE], size) == 0)
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
