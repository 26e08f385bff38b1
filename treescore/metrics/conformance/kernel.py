"""Find the constituents of a key that are matched and those that are crossed, in time linear in the text (compiled)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of, sums_by
from treescore.core.jit import compiled
from treescore.core.structure import NONE, Structure
from treescore.core.trees import ConstituentTreebank
from treescore.metrics.shared.pairing import paired_rows


class Constituents(NamedTuple):
    """The k constituents of n sentences that are compared, outer before inner, left before right.

    Attributes:
        items: node of each, or number of nodes + word for a preterminal, int64 (k,).
        labels: int64 (k,).
        starts, ends: inside the sentence, start < end, int64 (k,).
        depths: 1 for the topmost that is compared, int64 (k,).
        offsets: int64 (n + 1,).
    """

    items: IntArray
    labels: IntArray
    starts: IntArray
    ends: IntArray
    depths: IntArray
    offsets: IntArray

    def where(self, mask: BoolArray) -> Constituents:
        """Return the constituents where `mask`, bool (k,), is true."""
        owners = owners_of(self.offsets)[mask]
        offsets = offsets_of(sums_by(owners, len(self.offsets) - 1))
        return Constituents._make([*(column[mask] for column in self[:5]), offsets])


class KeyMatches(NamedTuple):
    """Whether each of the k constituents of a key is matched, and whether it is crossed, bool (k,)."""

    matched: BoolArray
    crossed: BoolArray


class Scratch(NamedTuple):
    """Memory that is used again for every sentence, all int64.

    Attributes:
        starts, ends: span of the narrowest bracket around each gap between words.
        stack: the open brackets.
    """

    starts: IntArray
    ends: IntArray
    stack: IntArray


def constituents_of(
    treebank: ConstituentTreebank, links: Structure, *, preterminals: bool, outer_bracket: bool
) -> Constituents:
    """List the constituents with words: nodes, and if wanted tags and outermost brackets without a label."""
    nodes = np.arange(len(treebank.labels), dtype=np.int64)
    outer = (links.parents == NONE) & (treebank.labels == 0)
    tops = np.maximum.accumulate(np.where(links.parents == NONE, nodes, 0)) if len(nodes) else nodes
    lowered = 0 if outer_bracket else outer[tops].astype(np.int64)
    depths = links.depths - lowered
    everything = Constituents(nodes, treebank.labels, treebank.starts, treebank.ends, depths, treebank.node_offsets)
    mask = (treebank.starts < treebank.ends) & (outer_bracket | ~outer)
    if not preterminals:
        return everything.where(mask)
    tagged = np.flatnonzero(treebank.tags >= 0)
    owners = owners_of(treebank.word_offsets)[tagged]
    positions = tagged - treebank.word_offsets[owners]
    upper = everything.where(mask)
    joined = Constituents(
        items=np.concatenate([upper.items, len(nodes) + tagged]),
        labels=np.concatenate([upper.labels, treebank.tags[tagged]]),
        starts=np.concatenate([upper.starts, positions]),
        ends=np.concatenate([upper.ends, positions + 1]),
        depths=np.concatenate([upper.depths, np.append(depths, 0)[links.anchors[tagged]] + 1]),
        offsets=upper.offsets,
    )
    sentences = np.concatenate([owners_of(upper.offsets), owners])
    # A tag is below every bracket over its word: the last key sorts nodes before words.
    order = np.lexsort((joined.items, -joined.ends, joined.starts, sentences))
    offsets = offsets_of(sums_by(sentences, len(treebank)))
    return Constituents._make([*(column[order] for column in joined[:5]), offsets])


def match_constituents(key: Constituents, response: Constituents, words: IntArray, usable: BoolArray) -> KeyMatches:
    """Find the key constituents that a response has too and those that one crosses.

    Constituents are multisets: of several over the same words as many are matched as the response has.

    Args:
        key: constituents of n sentences, nested in one another.
        response: constituents of the same sentences, nested in one another.
        words: words of each sentence, int64 (n,).
        usable: sentences that are compared, bool (n,).
    """
    matches = KeyMatches(np.zeros(len(key.starts), np.bool_), np.zeros(len(key.starts), np.bool_))
    max_words = int(words.max(initial=0)) + 1
    max_constituents = int(np.diff(response.offsets).max(initial=0)) + 1
    scratch = Scratch(
        np.empty(max_words, np.int64), np.empty(max_words, np.int64), np.empty(max_constituents, np.int64)
    )
    compare_spans(key, response, words, usable, matches, scratch)
    return matches


@compiled
def compare_spans(
    key: Constituents, response: Constituents, words: IntArray, usable: BoolArray, matches: KeyMatches, scratch: Scratch
) -> None:
    """Fill `matches`, all False before.

    A bracket crosses the key [a, b) at its right end iff the narrowest bracket around the gap before word b begins
    after a, and at its left end iff the narrowest around the gap before word a ends before b.
    """
    starts, ends, stack = scratch
    for sentence in range(len(words)):
        if not usable[sentence]:
            continue
        first, last = response.offsets[sentence], response.offsets[sentence + 1]
        size = gap = 0
        for index in range(first, last + 1):
            until = words[sentence] if index == last else response.starts[index]
            while gap <= until:
                while size > 0 and response.ends[stack[size - 1]] <= gap:
                    size -= 1
                around = size > 0 and response.starts[stack[size - 1]] < gap
                starts[gap] = response.starts[stack[size - 1]] if around else -1
                ends[gap] = response.ends[stack[size - 1]] if around else words[sentence] + 1
                gap += 1
            if index < last:
                while size > 0 and response.ends[stack[size - 1]] <= response.starts[index]:
                    size -= 1
                stack[size] = index
                size += 1
        other = first
        for index in range(key.offsets[sentence], key.offsets[sentence + 1]):
            start, end = key.starts[index], key.ends[index]
            matches.crossed[index] = starts[end] > start or ends[start] < end
            while other < last and (
                response.starts[other] < start or (response.starts[other] == start and response.ends[other] > end)
            ):
                other += 1
            if other < last and response.starts[other] == start and response.ends[other] == end:
                matches.matched[index] = True
                other += 1


def labelled_matches(key: Constituents, response: Constituents, usable: BoolArray) -> IntArray:
    """Count the constituents of each sentence that agree in span and label, as multisets: int64 (n,)."""
    sides = [(owners_of(side.offsets), side.starts, side.ends, side.labels) for side in (key, response)]
    matched, _ = paired_rows(*sides)
    return sums_by(sides[0][0][matched], len(usable)) * usable


@compiled
def hash_children(
    labels: IntArray,
    tags: IntArray,
    starts: IntArray,
    node_offsets: IntArray,
    word_offsets: IntArray,
    links: Structure,
    hashes: IntArray,
) -> None:
    """Hash the labels and tags of each node's children, in order, into `hashes`, zeros before."""
    for sentence in range(len(node_offsets) - 1):
        word, end = word_offsets[sentence], word_offsets[sentence + 1]
        for node in range(node_offsets[sentence], node_offsets[sentence + 1] + 1):
            here = end if node == node_offsets[sentence + 1] else word_offsets[sentence] + starts[node]
            while word < here:
                if links.anchors[word] != NONE:
                    hashes[links.anchors[word]] = mix(hashes[links.anchors[word]], -2 - tags[word])
                word += 1
            if node < node_offsets[sentence + 1] and links.parents[node] != NONE:
                hashes[links.parents[node]] = mix(hashes[links.parents[node]], labels[node] + 1)


@compiled
def mix(value: int, more: int) -> int:
    """Mix one more value into a hash over int64."""
    product = (value ^ more) * np.int64(1099511628211)
    return int(product ^ (product >> np.int64(29)))
