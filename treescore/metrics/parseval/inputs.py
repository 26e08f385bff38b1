"""What the compiled comparison of brackets is given and works in, as plain arrays; and the comparison of two lists.

Inputs are options, tables over the vocabulary, and treebanks as arrays.

Brackets of a tree in pre-order are sorted by start and then by falling end, so that two lists are merged. Where some
were left open they are not: then matching hashes (start, end, label) and crossing takes range maxima over blocks of
words. In both ways the time grows with the text, not with the square of a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.jit import compiled, inlined
from treescore.core.structure import NONE, structure_of
from treescore.core.trees import ConstituentTreebank, Vocabulary
from treescore.formats.shared.bracket_reader import UnbalancedLine
from treescore.metrics.parseval.choices import Choices

_BLOCK = 6
"""A block has 2^6 words."""

_LAST = 1 << 62
"""Start of the row after the last bracket."""

_MOST_PAIRS = 4096
"""Pairs of brackets with one span up to which each is looked at."""


class Brackets(NamedTuple):
    """Brackets of a sentence: int64 (room, 3), rows start, end, label, of which the first `size` are used; not all."""

    rows: IntArray
    size: int


class Equal(NamedTuple):
    """Strings that count as equal.

    Attributes:
        paired: whether a string stands in a pair, bool (vocabulary,).
        pairs: strings taken as equal in both directions, not transitively, int64 (p, 2).
    """

    paired: BoolArray
    pairs: IntArray


class Hash(NamedTuple):
    """Scratch memory of `matched`, all int64 (size,), size a power of 2 and at least twice the number of brackets.

    Attributes:
        stamps: the epoch in which a slot was last used.
        keys: a system bracket with the slot's start, end and label.
        heads: the first system bracket of the slot that is left, or -1.
        following: the next system bracket after each, or -1.
        partners: the system bracket that each gold bracket took, or -1.
    """

    stamps: IntArray
    keys: IntArray
    heads: IntArray
    following: IntArray
    partners: IntArray


@inlined
def alike(first: int, second: int, equal: Equal) -> bool:
    """Compare two strings as EVALB does: the same, or one of the given pairs in either direction; not transitive."""
    if first == second:
        return True
    if first < 0 or second < 0 or not equal.paired[first]:
        return False
    pairs = equal.pairs
    for row in range(len(pairs)):
        if (pairs[row, 0] == first and pairs[row, 1] == second) or (pairs[row, 0] == second and pairs[row, 1] == first):
            return True
    return False


class Open(NamedTuple):
    """Scratch memory of `merged`, as large as the brackets of a sentence.

    Attributes:
        golds, systems: ends of the brackets that hold the place of the merge, the innermost last, int64.
        taken: whether a gold bracket took a system bracket, bool.
    """

    golds: IntArray
    systems: IntArray
    taken: BoolArray


@inlined
def _first_left(
    label: int, others: IntArray, first: int, last: int, taken: BoolArray, equal: Equal, labelled: int
) -> int:
    """Return the first of some system brackets that is not taken and whose label counts as equal, or -1."""
    for partner in range(first, last):
        if not taken[partner] and (not labelled or alike(label, others[partner, 2], equal)):
            return partner
    return -1


@inlined
def merged(
    gold: Brackets, system: Brackets, equal: Equal, scratch: Open, partners: IntArray, labelled: int
) -> tuple[int, int, int]:
    """Compare brackets in the order of trees: by start, then by falling end, each list without crossing brackets.

    Args:
        gold: gold's brackets.
        system: the system's.
        equal: labels that count as equal.
        scratch: memory.
        partners: become the system bracket that each gold bracket took: the first one left of its span and label.
        labelled: 1 where labels matter, else 0.

    Returns:
        The gold brackets that find a system bracket of their span, and of their span and label, and the system brackets
        that cross a gold bracket. -1 thrice where too many brackets have one span.
    """
    rows, size = gold
    others, other_size = system
    golds, systems, taken = scratch
    rows[size, 0] = others[other_size, 0] = _LAST
    same = right = crossed = open_golds = open_systems = index = other = 0
    while index < size or other < other_size:
        start, end, other_start, other_end = rows[index, 0], rows[index, 1], others[other, 0], others[other, 1]
        if other_start < start or (other_start == start and other_end > end):
            while open_golds > 0 and golds[open_golds - 1] <= other_start:
                open_golds -= 1
            if open_golds > 0 and golds[open_golds - 1] < other_end:
                crossed += 1
            else:
                while open_systems > 0 and systems[open_systems - 1] <= other_start:
                    open_systems -= 1
                systems[open_systems] = other_end
                open_systems += 1
            other += 1
            continue
        while open_golds > 0 and golds[open_golds - 1] <= start:
            open_golds -= 1
        golds[open_golds] = end
        open_golds += 1
        while open_systems > 0 and systems[open_systems - 1] < end:
            crossed += systems[open_systems - 1] > start
            open_systems -= 1
        if other_start != start or other_end != end:
            partners[index] = -1
            index += 1
            continue
        # The brackets of this span. They cross nothing.
        last, other_last = index + 1, other + 1
        while rows[last, 0] == start and rows[last, 1] == end:
            last += 1
        while others[other_last, 0] == start and others[other_last, 1] == end:
            taken[other_last] = False
            other_last += 1
        if (last - index) * (other_last - other) > _MOST_PAIRS:
            return -1, -1, -1
        same += min(last - index, other_last - other)
        taken[other] = False
        for each in range(index, last):
            partner = _first_left(rows[each, 2], others, other, other_last, taken, equal, labelled)
            partners[each] = partner
            if partner >= 0:
                taken[partner] = True
                right += 1
        index, other = last, other_last
    return same, right, crossed


@inlined
def _hash(start: int, end: int, label: int) -> int:
    value = ((start * 1000003) ^ end) * 998244353 + label * 805306457
    return value ^ (value >> 17)


@compiled
def matched(gold: Brackets, system: Brackets, equal: Equal, table: Hash, epoch: int) -> int:
    """Count the gold brackets that find a system bracket; each takes the first one left, in pre-order (as EVALB).

    A slot stamped with `epoch` holds a bracket, any other is free. Slots are looked for in the loops themselves: a
    function that is given the arrays counts their references each time.

    Args:
        gold: gold's brackets.
        system: the system's.
        equal: labels that count as equal.
        table: scratch memory; its `partners` become the system bracket that each gold bracket took.
        epoch: a number that was never used with `table` before.
    """
    stamps, keys, heads, following, partners = table
    rows, others = gold.rows, system.rows
    paired, pairs = equal
    mask = len(stamps) - 1
    for index in range(system.size - 1, -1, -1):
        start, end, label = others[index, 0], others[index, 1], others[index, 2]
        slot = _hash(start, end, label) & mask
        head = -1
        while stamps[slot] == epoch:
            key = keys[slot]
            if others[key, 0] == start and others[key, 1] == end and others[key, 2] == label:
                head = heads[slot]
                break
            slot = (slot + 1) & mask
        following[index] = head
        stamps[slot], keys[slot], heads[slot] = epoch, index, index
    count = 0
    for index in range(gold.size):
        start, end, label = rows[index, 0], rows[index, 1], rows[index, 2]
        best = -1
        # Row -1 stands for the label itself.
        for row in range(-1, len(pairs) if paired[label] else 0):
            other = label
            if row >= 0:
                other = pairs[row, 1] if pairs[row, 0] == label else pairs[row, 0]
                if other == label or (pairs[row, 0] != label and pairs[row, 1] != label):
                    continue
            slot = _hash(start, end, other) & mask
            while stamps[slot] == epoch:
                key = keys[slot]
                if others[key, 0] == start and others[key, 1] == end and others[key, 2] == other:
                    if heads[slot] >= 0 and (best < 0 or heads[slot] < heads[best]):
                        best = slot
                    break
                slot = (slot + 1) & mask
        partners[index] = -1
        if best >= 0:
            partners[index] = heads[best]
            heads[best] = following[heads[best]]
            count += 1
    return count


@compiled
def crossing(gold: Brackets, system: Brackets, words: int, reach: IntArray) -> int:
    """Count the system brackets that cross a gold bracket: they overlap, and neither lies inside the other.

    Args:
        gold: gold's brackets.
        system: the system's.
        words: of the sentence.
        reach: scratch memory, int64 (4, more than words + 1): the furthest end of the gold brackets that start at a
            word, the nearest start of those that end there, and the same for blocks of words.
    """
    ends, starts, block_ends, block_starts = reach[0], reach[1], reach[2], reach[3]
    rows, others = gold.rows, system.rows
    for word in range(words + 1):
        ends[word], starts[word] = -1, words + 1
    for block in range((words >> _BLOCK) + 1):
        block_ends[block], block_starts[block] = -1, words + 1
    for index in range(gold.size):
        start, end = rows[index, 0], rows[index, 1]
        if end > start:
            ends[start] = max(ends[start], end)
            starts[end] = min(starts[end], start)
            block_ends[start >> _BLOCK] = max(block_ends[start >> _BLOCK], end)
            block_starts[end >> _BLOCK] = min(block_starts[end >> _BLOCK], start)
    count = 0
    for index in range(system.size):
        start, end = others[index, 0], others[index, 1]
        # The words after the first: those before the first whole block, whole blocks, those after the last.
        first_block = (start + (1 << _BLOCK)) >> _BLOCK
        head = min(end, first_block << _BLOCK)
        last_block = end >> _BLOCK
        tail = max(head, last_block << _BLOCK)
        crosses = False
        for word in range(start + 1, head):
            crosses |= (ends[word] > end) | (starts[word] < start)
        for block in range(first_block, last_block):
            crosses |= (block_ends[block] > end) | (block_starts[block] < start)
        for word in range(tail, end):
            crosses |= (ends[word] > end) | (starts[word] < start)
        count += crosses
    return count


READABLE, SHOWN, UNREADABLE = 0, 1, 2
"""Faults of a sentence: none; brackets that do not balance; a sentence that could not be read at all."""

FILLER = -2
"""Tag of the word that stands for an emptied constituent."""


class Side(NamedTuple):
    """The columns of a `ConstituentTreebank`, all int64 and contiguous; the end of a node left open is -1."""

    labels: IntArray
    starts: IntArray
    ends: IntArray
    node_offsets: IntArray
    words: IntArray
    tags: IntArray
    word_offsets: IntArray


class Tables(NamedTuple):
    """Choices as tables over the vocabulary of v strings.

    Attributes:
        deleted: tags whose words are deleted, bool (v,).
        uncounted: tags whose words do not count in the length, bool (v,).
        cut: the label that is compared for each label, int64 (v,).
        tags: the tag that is compared for each tag, int64 (v,).
        dropped: labels (after the cut) whose brackets are deleted, bool (v,).
        quote_tags, quote_words: what EVALB's repair of quotes looks at, bool (v,).
        equal_labels, equal_words: strings that count as equal.
    """

    deleted: BoolArray
    uncounted: BoolArray
    cut: IntArray
    tags: IntArray
    dropped: BoolArray
    quote_tags: BoolArray
    quote_words: BoolArray
    equal_labels: Equal
    equal_words: Equal


class Options(NamedTuple):
    """Choices that are on or off; `quotes`: whether deleted quotes are repaired."""

    outer_bracket: bool
    preterminals: bool
    check_words: bool
    labelled: bool
    quotes: bool


class Sizes(NamedTuple):
    """Most words, and most brackets with preterminals, of a sentence."""

    words: int
    brackets: int


class Inputs(NamedTuple):
    """Two treebanks of n sentences and how to compare them; `faults` is uint8 (n,)."""

    gold: Side
    system: Side
    tables: Tables
    options: Options
    faults: NDArray[np.uint8]
    sizes: Sizes


class Scratch(NamedTuple):
    """Memory that is used again for every sentence; the first axis is gold and system.

    Attributes:
        kept: words that are compared, rows word, tag, int64 (2, words, 2).
        words_before: kept words before each word, int64 (2, words).
        brackets: int64 (2, brackets, 3).
        quotes: words that may be quotes, rows tag, kept words before, place in the sentence, int64 (2, words, 3).
        copies: how often a deleted word is put back, int64 (2, words); zeros between sentences.
        spans: brackets with label 0, int64 (2, brackets, 3).
        open: of `merged`.
        reach: of `crossing`.
        table: of `matched`.
    """

    kept: IntArray
    words_before: IntArray
    brackets: IntArray
    quotes: IntArray
    copies: IntArray
    spans: IntArray
    open: Open
    reach: IntArray
    table: Hash


class Collected(NamedTuple):
    """Every bracket of both sides.

    Attributes:
        gold: columns start, end, label, label of the system's bracket that matched or -1, int64 (4, g or more).
        system: columns start, end, label, 1 where it matched, int64 (4, s or more).
        offsets: where the brackets of each sentence begin, int64 (2, n + 1).
    """

    gold: IntArray
    system: IntArray
    offsets: IntArray


_QUOTES = ("'", '"', "/")


def inputs_of(choices: Choices, gold: ConstituentTreebank, system: ConstituentTreebank) -> Inputs:
    """Prepare the comparison of two treebanks of one vocabulary."""
    faults = np.full(len(gold), READABLE, np.uint8)
    for treebank in (gold, system):
        for sentence, problem in treebank.sentences.unreadable.items():
            fault = SHOWN if isinstance(problem, UnbalancedLine) else UNREADABLE
            faults[sentence] = max(faults[sentence], fault)
    if choices.empty_constituents == "word":
        gold, system = fill_empty(gold), fill_empty(system)
    options = Options(
        outer_bracket=choices.outer_bracket,
        preterminals=choices.preterminals,
        check_words=choices.check_words,
        labelled=choices.labelled,
        quotes=bool(choices.quote_labels),
    )
    tables = _tables(choices, gold, system)
    return Inputs(_side(gold), _side(system), tables, options, faults, _sizes(gold, system))


def _side(treebank: ConstituentTreebank) -> Side:
    ends = treebank.ends
    unbalanced = [
        (int(treebank.node_offsets[sentence]), problem.unclosed)
        for sentence, problem in treebank.sentences.unreadable.items()
        if isinstance(problem, UnbalancedLine) and problem.unclosed
    ]
    if unbalanced:
        ends = ends.copy()
        for first, unclosed in unbalanced:
            ends[np.array(unclosed) + first] = -1
    side = Side(
        treebank.labels,
        treebank.starts,
        ends,
        treebank.node_offsets,
        treebank.words,
        treebank.tags,
        treebank.word_offsets,
    )
    # Transforms may leave views with strides, for which everything would be compiled again.
    return Side._make(np.ascontiguousarray(column, np.int64) for column in side)


def _sizes(gold: ConstituentTreebank, system: ConstituentTreebank) -> Sizes:
    words = brackets = 0
    for treebank in (gold, system):
        if len(treebank):
            max_words = int(np.diff(treebank.word_offsets).max())
            words = max(words, max_words)
            brackets = max(brackets, int(np.diff(treebank.node_offsets).max()) + max_words)
    return Sizes(words, brackets)


def _tables(choices: Choices, gold: ConstituentTreebank, system: ConstituentTreebank) -> Tables:
    vocabulary = gold.vocabulary
    label_pairs, word_pairs = _pairs(vocabulary, choices.equal_labels), _pairs(vocabulary, choices.equal_words)
    used = np.zeros(len(vocabulary), np.bool_)
    for treebank in (gold, system):
        used[treebank.labels] = True
        if choices.preterminals or choices.cut_tags:
            used[treebank.tags[treebank.tags >= 0]] = True
    shortened = {
        number: vocabulary.number(cut_label(vocabulary.strings[number], choices.cut_labels_at))
        for number in np.flatnonzero(used).tolist()
    }
    size = len(vocabulary)
    cut = np.arange(size, dtype=np.int64)
    cut[list(shortened)] = list(shortened.values())
    # Labels are compared with the list as they are compared with each other: pairs count as equal.
    listed = set(deleted_labels(choices))
    equal = {b if a in listed else a for a, b in choices.equal_labels if a in listed or b in listed}
    return Tables(
        deleted=_flags(vocabulary, size, choices.delete_labels if choices.delete_words else ()),
        uncounted=_flags(vocabulary, size, choices.delete_labels_for_length),
        cut=cut,
        tags=cut if choices.cut_tags else np.arange(size, dtype=np.int64),
        dropped=_flags(vocabulary, size, listed | equal),
        quote_tags=_flags(vocabulary, size, choices.quote_labels),
        quote_words=_flags(vocabulary, size, _QUOTES),
        equal_labels=Equal(
            _flags(vocabulary, size, [name for pair in choices.equal_labels for name in pair]), label_pairs
        ),
        equal_words=Equal(
            _flags(vocabulary, size, [name for pair in choices.equal_words for name in pair]), word_pairs
        ),
    )


def deleted_labels(choices: Choices) -> list[str]:
    """Return the labels whose brackets are deleted, as they are compared with labels that are cut."""
    at = choices.cut_labels_at if choices.cut_tags else ""
    return [cut_label(label, at) for label in choices.delete_labels]


def cut_label(label: str, at: str) -> str:
    """Return a label up to the first of some characters."""
    return label[: min((position for position in map(label.find, at) if position >= 0), default=len(label))]


def _pairs(vocabulary: Vocabulary, pairs: Sequence[Sequence[str]]) -> IntArray:
    numbers = [[vocabulary.number(name) for name in pair] for pair in pairs]
    return np.array(numbers, np.int64).reshape(len(numbers), 2)


def _flags(vocabulary: Vocabulary, size: int, names: Iterable[str]) -> BoolArray:
    flags = np.zeros(size, np.bool_)
    flags[[number for number in map(vocabulary.get, names) if number is not None]] = True
    return flags


def fill_empty(treebank: ConstituentTreebank) -> ConstituentTreebank:
    """Put a word of tag FILLER into every constituent that has neither words nor constituents.

    An empty constituent is below the lowest one that touches its position.
    """
    empty = treebank.starts == treebank.ends
    if not empty.any():
        return treebank
    parents = structure_of(treebank).parents
    leaves = empty.copy()
    inside = np.flatnonzero(empty & (parents != NONE))
    leaves[parents[inside]] = False
    positions = treebank.word_offsets[:-1].repeat(np.diff(treebank.node_offsets)) + treebank.starts
    starts, ends = treebank.starts.copy(), treebank.ends.copy()
    fill_spans(parents, leaves, treebank.node_offsets, starts, ends)
    insert_at = positions[leaves]
    fillers = np.add.reduceat(np.append(leaves, False), treebank.node_offsets, dtype=np.int64)[:-1]
    fillers[np.diff(treebank.node_offsets) == 0] = 0
    return replace(
        treebank,
        starts=starts,
        ends=ends,
        words=np.insert(treebank.words, insert_at, 0),
        tags=np.insert(treebank.tags, insert_at, FILLER),
        word_offsets=treebank.word_offsets + np.append(0, np.cumsum(fillers)),
    )


@compiled
def fill_spans(parents: IntArray, leaves: BoolArray, node_offsets: IntArray, starts: IntArray, ends: IntArray) -> None:
    """Widen and shift the spans of all nodes for a new word inside every leaf."""
    below = leaves.astype(np.int64)
    for node in range(len(parents) - 1, -1, -1):
        if parents[node] != NONE:
            below[parents[node]] += below[node]
    for sentence in range(len(node_offsets) - 1):
        before = 0
        for node in range(node_offsets[sentence], node_offsets[sentence + 1]):
            starts[node] += before
            ends[node] += before + below[node]
            before += leaves[node]
