"""Links made of columns: heads of words, parents of nodes, the lowest node over each word, edges of graphs.

HEAD fields are numbers where they are plain numbers, else kept as written. Edges and tops of semantic dependency graphs
are in the order in which they are compared, stored and drawn.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treescore.core import trees
from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of
from treescore.core.jit import compiled

MAX_DIGITS = 18


def plain_number(string: str) -> int | None:
    """Return the value of ASCII digits (leading zeros allowed, capped at 10^18), None for anything else."""
    if not (string.isascii() and string.isdigit()):
        return None
    digits = string.lstrip("0")
    return 10**MAX_DIGITS if len(digits) > MAX_DIGITS else int(digits or "0")


def heads_of(numbers: IntArray, vocabulary: trees.Vocabulary) -> IntArray:
    """Turn numbers of HEAD strings into heads as `DependencyTreebank.heads` holds them: int64, the same shape."""
    heads: IntArray = vocabulary.table(numbers, lambda string: _head(string, vocabulary))[numbers]
    return heads


def head_string(head: int, vocabulary: trees.Vocabulary) -> str:
    """Return a head as it was written."""
    if head == trees.NO_HEAD:
        return "_"
    return vocabulary.strings[trees.ODD_HEAD - head] if head <= trees.ODD_HEAD else str(head)


def resolved_heads(treebank: trees.DependencyTreebank, start: int = 0, end: int | None = None) -> IntArray:
    """Read heads with leading zeros as numbers (`02` is 2); other strings stay below 0.

    Args:
        treebank: of w words.
        start: the first word.
        end: the word after the last one; None: w.

    Returns:
        int64 (end - start,).
    """
    given = treebank.heads[start:end]
    odd = given <= trees.ODD_HEAD
    if not odd.any():
        return given
    strings = treebank.vocabulary.strings
    heads = given.copy()
    for word in np.flatnonzero(odd).tolist():
        value = plain_number(strings[trees.ODD_HEAD - heads[word]])
        if value is not None:
            heads[word] = value
    return heads


def _head(string: str, vocabulary: trees.Vocabulary) -> int:
    if string == "_":
        return trees.NO_HEAD
    value = plain_number(string)
    return value if value is not None and str(value) == string else trees.ODD_HEAD - vocabulary.number(string)


NONE = -1
"""Number of a parent or node that does not exist."""


class Structure(NamedTuple):
    """The links of a constituent treebank of m nodes and w words.

    Attributes:
        parents: node above each node, counted over the whole file, NONE at the top, int64 (m,).
        depths: nodes from each node to the top, both included, int64 (m,).
        anchors: lowest node over each word, NONE for a word below no node, int64 (w,).
    """

    parents: IntArray
    depths: IntArray
    anchors: IntArray


def structure_of(treebank: trees.ConstituentTreebank) -> Structure:
    """Compute the links of a treebank. A node without words is below the lowest node that touches its position."""
    nodes, words = len(treebank.labels), len(treebank.words)
    structure = Structure(np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(words, np.int64))
    link_nodes(treebank.starts, treebank.ends, treebank.node_offsets, treebank.word_offsets, structure)
    return structure


@compiled
def link_nodes(
    starts: IntArray, ends: IntArray, node_offsets: IntArray, word_offsets: IntArray, structure: Structure
) -> None:
    """Fill `structure` in one pass over nodes and words in pre-order."""
    parents, depths, anchors = structure
    for sentence in range(len(node_offsets) - 1):
        first, words = word_offsets[sentence], word_offsets[sentence + 1] - word_offsets[sentence]
        top, word = NONE, 0
        for node in range(node_offsets[sentence], node_offsets[sentence + 1]):
            while word < starts[node]:
                while top != NONE and ends[top] <= word:
                    top = parents[top]
                anchors[first + word] = top
                word += 1
            reach = starts[node] + 1 if ends[node] > starts[node] else starts[node]
            while top != NONE and ends[top] < reach:
                top = parents[top]
            parents[node] = top
            depths[node] = 1 if top == NONE else depths[top] + 1
            top = node
        while word < words:
            while top != NONE and ends[top] <= word:
                top = parents[top]
            anchors[first + word] = top
            word += 1


def ordered_children(treebank: trees.ConstituentTreebank, links: Structure) -> tuple[IntArray, IntArray]:
    """Return the nodes and words that are below a node, and for each that node, in whose order they are: int64 (c,).

    Words are numbered after the nodes. Those below one node are in the order of the text, a node before the word at
    which it starts.
    """
    starts = treebank.starts + treebank.word_offsets[owners_of(treebank.node_offsets)]
    parents = np.concatenate([links.parents, links.anchors])
    order = np.lexsort((np.arange(len(parents)), np.concatenate([starts, np.arange(len(links.anchors))]), parents))
    children = order[parents[order] != NONE]
    return children, parents[children]


def nearest_kept(parents: IntArray, kept: BoolArray) -> IntArray:
    """Return the nearest node that is kept, bool (m,), at or above each node, and last NONE: int64 (m + 1,)."""
    found = np.append(np.where(kept, np.arange(len(parents)), parents), NONE)  # NONE, the last, stays NONE
    while not np.array_equal(found, further := found[found]):
        found = further
    return found


def head_links(treebank: trees.DependencyTreebank) -> IntArray:
    """Return the head of each word as its number in the file, NONE for the root and unknown words: int64 (w,)."""
    lengths = np.diff(treebank.word_offsets)
    firsts = np.repeat(treebank.word_offsets[:-1], lengths)
    heads = resolved_heads(treebank)
    return np.where((heads >= 1) & (heads <= np.repeat(lengths, lengths)), heads - 1 + firsts, NONE)


def chain_lengths(parents: IntArray) -> IntArray:
    """Count the words from each word to its root, both included; a cycle counts once: int64 (w,)."""
    lengths, endless = sums_above(parents, np.ones(len(parents), np.int64))
    lengths[endless] = 0
    for start in np.flatnonzero(endless).tolist():
        path: list[int] = []
        word = start
        while lengths[word] == 0:
            path.append(word)
            # A negative length is the position of a word in the walk in progress.
            lengths[word] = -len(path)
            word = int(parents[word])
        length = int(lengths[word])
        if length < 0:
            cycle = path[-length - 1 :]
            lengths[cycle] = length = len(cycle)
            del path[-length:]
        lengths[path] = np.arange(len(path), 0, -1) + length
    return lengths


def sums_above(parents: IntArray, values: IntArray) -> tuple[IntArray, BoolArray]:
    """Sum the values of each node and of those above it, int64 (m,), in steps that double.

    Also returns which nodes are below no top, but in a cycle or below one, bool (m,); their sums say nothing.
    """
    sums, above = np.append(values, 0), np.append(parents, NONE)  # NONE, the last, stays NONE
    for _ in range(len(parents).bit_length() + 1):
        if (above == NONE).all():
            break
        sums += sums[above]
        above = above[above]
    return sums[:-1], above[:-1] != NONE


def sizes_before(parents: IntArray, keys: IntArray, sizes: IntArray) -> IntArray:
    """Sum for each node the sizes of those below the same parent that come before it, by their keys: int64 (m,)."""
    order = np.lexsort((keys, parents))
    sums, ordered = offsets_of(sizes[order])[:-1], parents[order]
    beside = np.empty(len(order), np.int64)
    beside[order] = sums - sums[np.searchsorted(ordered, ordered)]
    return beside


def gather(how: np.ufunc, parents: IntArray, depths: IntArray, values: IntArray) -> None:
    """Take the value of each node into that of the node above it, the lowest nodes first: sums, or least values.

    Args:
        how: `np.add`, `np.minimum` or `np.maximum`.
        parents: int64 (m,).
        depths: nodes from each node to the top, both included, int64 (m,).
        values: changed; int64 (m,).
    """
    order = np.argsort(depths, kind="stable")
    bounds = np.searchsorted(depths[order], np.arange(2, int(depths.max(initial=0)) + 2)).tolist()
    for start, stop in reversed([*pairwise(bounds)]):
        level = order[start:stop]
        how.at(values, parents[level], values[level])


ROOT = -1
"""Predicate of a top: the root, which stands for no word."""
TOP = "(top)"
"""Label of a top."""


class Edges(NamedTuple):
    """The edges and tops of a side, those of each word together: a top first, then by predicate.

    Attributes:
        predicates: word of each, counted over the whole file, ROOT of a top, int64 (e,).
        arguments: word of each, counted over the whole file, int64 (e,).
        labels: role of each, that of TOP for a top, numbers of strings, int64 (e,).
    """

    predicates: IntArray
    arguments: IntArray
    labels: IntArray


def edges_of(treebank: trees.SemanticTreebank, words: tuple[int, int] | None = None) -> Edges:
    """Return the edges and tops of a treebank, or of the words from the first to before the second of two."""
    first, last = words or (0, len(treebank.tops))
    chosen = slice(*np.searchsorted(treebank.edge_arguments, [first, last]).tolist())
    tops = np.flatnonzero(treebank.tops[first:last]) + first
    predicates = np.concatenate([np.full(len(tops), ROOT), treebank.edge_predicates[chosen]])
    arguments = np.concatenate([tops, treebank.edge_arguments[chosen]])
    labels = np.concatenate([np.full(len(tops), treebank.vocabulary.number(TOP)), treebank.edge_labels[chosen]])
    order = np.lexsort((predicates, arguments))
    return Edges(predicates[order], arguments[order], labels[order])


def places_in_sentences(edges: Edges, word_offsets: IntArray) -> tuple[IntArray, IntArray]:
    """Return the positions of predicates, 0 of the root, and of arguments, from 1: int64 (e,) each."""
    firsts = word_offsets[np.searchsorted(word_offsets, edges.arguments, "right") - 1]
    predicates = np.where(edges.predicates == ROOT, 0, edges.predicates - firsts + 1)
    return predicates, edges.arguments - firsts + 1


def crossing_spans(starts: IntArray, ends: IntArray, others: IntArray) -> BoolArray:
    """Tell which of n spans cross one of m others, in O((n + m) log m): a sentence may have tens of thousands.

    Args:
        starts: int64 (n,).
        ends: int64 (n,).
        others: their starts and ends, int64 (m, 2).
    """
    size = 2 + max(int(ends.max(initial=0)), int(others.max(initial=0)))
    furthest, nearest = np.full(size, -1, np.int64), np.full(size, size, np.int64)
    np.maximum.at(furthest, others[:, 0], others[:, 1])
    np.minimum.at(nearest, others[:, 1], others[:, 0])
    # of those that begin, or end, strictly inside
    beyond = (-least_between(-furthest, starts + 1, ends) > ends) | (least_between(nearest, starts + 1, ends) < starts)
    return np.asarray((ends - starts > 1) & beyond, np.bool_)


def heights_of_spans(starts: IntArray, ends: IntArray) -> IntArray:
    """Return 1 + the height of the highest one inside, of spans that do not cross, outer ones first: int64 (n,).

    Args:
        starts: ascending, int64 (n,).
        ends: above the starts, int64 (n,).
    """
    numbers = np.arange(len(starts))
    depths = numbers - np.searchsorted(np.sort(ends), starts, "right")
    return -least_between(-np.append(depths, 0), numbers, np.searchsorted(starts, ends)) - depths + 1


def least_between(values: IntArray, starts: IntArray, ends: IntArray) -> IntArray:
    """Return the least of the values from each start to before its end; of none, any."""
    levels = np.frexp(np.maximum(ends - starts, 1))[1] - 1
    least = np.empty(len(starts), np.int64)
    for level in range(int(levels.max(initial=0)) + 1):
        here, width = levels == level, 1 << level
        # values are the least of `width` each: two of them cover a range
        least[here] = np.minimum(values[starts[here]], values[np.maximum(ends[here] - width, starts[here])])
        values = np.concatenate([np.minimum(values[:-width], values[width:]), values[-width:]])
    return least
