"""Brackets compared, sentence by sentence: what `parseval` compiles.

Matching is a hash of (start, end, label), crossing a range maximum over blocks of words: the time grows with the
text, not with the square of a sentence.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

OK, ERROR, SKIP = 0, 1, 2

FINE, LENGTHS_DIFFER, WORDS_DIFFER = 0, 1, 2
"""Why a sentence could not be compared."""

MATCHED, GOLD, SYSTEM, CROSSING, WORDS, CORRECT_TAGS, UNLABELLED = range(7)
"""Columns of the figures."""

_BLOCK = 64


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _alike(first: int, second: int, paired: Any, pairs: Any) -> bool:
    """EVALB's comparison: equal, or one of the given pairs in either direction; not transitive."""
    if first == second:
        return True
    if first < 0 or second < 0 or not paired[first]:
        return False
    for row in range(len(pairs)):
        if (pairs[row, 0] == first and pairs[row, 1] == second) or (pairs[row, 0] == second and pairs[row, 1] == first):
            return True
    return False


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _slot(start: int, end: int, label: int, brackets: Any, epoch: int, stamps: Any, keys: Any) -> int:
    """The slot of this bracket: stamped with `epoch` where it is taken, else free."""
    mask = len(stamps) - 1
    value = ((start * 1000003) ^ end) * 998244353 + label * 805306457
    slot = (value ^ (value >> 17)) & mask
    while stamps[slot] == epoch:
        key = keys[slot]
        if brackets[key, 0] == start and brackets[key, 1] == end and brackets[key, 2] == label:
            break
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _matched(gold: Any, golds: int, system: Any, systems: int, paired: Any, pairs: Any, table: Any, epoch: int) -> int:
    """How many gold brackets find a system bracket, each taking the first one left, in pre-order (EVALB's way).

    `gold` and `system` are int64 (room, 3), rows start, end, label, the first `golds` and `systems` of them;
    `paired` says whether a label stands in one of the `pairs` (p, 2); `table` is the hash's (stamps, keys, heads,
    next), where `epoch` was never stamped before.
    """
    stamps, keys, heads, following = table
    for index in range(systems - 1, -1, -1):
        slot = _slot(system[index, 0], system[index, 1], system[index, 2], system, epoch, stamps, keys)
        following[index] = heads[slot] if stamps[slot] == epoch else -1
        stamps[slot] = epoch
        keys[slot] = index
        heads[slot] = index
    matched = 0
    for index in range(golds):
        start, end, label = gold[index, 0], gold[index, 1], gold[index, 2]
        slot = _slot(start, end, label, system, epoch, stamps, keys)
        best = slot if stamps[slot] == epoch and heads[slot] >= 0 else -1
        if paired[label]:
            for row in range(len(pairs)):
                other = pairs[row, 1] if pairs[row, 0] == label else pairs[row, 0]
                if other == label or (pairs[row, 0] != label and pairs[row, 1] != label):
                    continue
                slot = _slot(start, end, other, system, epoch, stamps, keys)
                if stamps[slot] == epoch and heads[slot] >= 0 and (best < 0 or heads[slot] < heads[best]):
                    best = slot
        if best >= 0:
            heads[best] = following[heads[best]]
            matched += 1
    return matched


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _crossing(gold: Any, golds: int, system: Any, systems: int, words: int, reach: Any) -> int:
    """How many system brackets cross a gold bracket: partial overlap, neither inside the other.

    `reach` int64 (4, room): furthest end of the gold brackets that start at a word, nearest start of those that
    end there, and the same for blocks of words.
    """
    blocks = words // _BLOCK + 1
    reach[0, : words + 1] = -1
    reach[1, : words + 1] = words + 1
    reach[2, :blocks] = -1
    reach[3, :blocks] = words + 1
    for index in range(golds):
        start, end = gold[index, 0], gold[index, 1]
        if end > start:
            reach[0, start] = max(reach[0, start], end)
            reach[1, end] = min(reach[1, end], start)
            reach[2, start // _BLOCK] = max(reach[2, start // _BLOCK], end)
            reach[3, end // _BLOCK] = min(reach[3, end // _BLOCK], start)
    crossing = 0
    for index in range(systems):
        start, end = system[index, 0], system[index, 1]
        at = start + 1
        while at < end:
            if at % _BLOCK == 0 and at + _BLOCK <= end:
                block = at // _BLOCK
                if reach[2, block] > end or reach[3, block] < start:
                    crossing += 1
                    break
                at += _BLOCK
            elif reach[0, at] > end or reach[1, at] < start:
                crossing += 1
                break
            else:
                at += 1
    return crossing


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _keep(side: Any, sentence: int, tables: Any, kept: Any, places: Any) -> tuple[int, int]:
    """The words that are compared: their numbers and tags into `kept`, kept words before each into `places`.

    Returns how many there are, and the length for the cut-off.
    """
    _, _, _, _, words, tags, word_offsets = side
    first, last = word_offsets[sentence], word_offsets[sentence + 1]
    deleted, uncounted = tables[0], tables[1]
    count = length = 0
    for index in range(first, last):
        tag = tags[index]
        places[index - first] = count
        length += tag < 0 or not uncounted[tag]
        if tag < 0 or not deleted[tag]:
            kept[count, 0] = words[index]
            kept[count, 1] = tag
            count += 1
    places[last - first] = count
    return count, length


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _brackets(side: Any, sentence: int, tables: Any, places: Any, out: Any, options: Any) -> int:
    """The brackets that are compared, in pre-order, into `out`: start, end, label."""
    labels, starts, ends, node_offsets, _, tags, word_offsets = side
    cut, dropped, deleted = tables[2], tables[3], tables[0]
    outer_bracket, preterminals = options[0], options[1]
    first_word = word_offsets[sentence]
    words = word_offsets[sentence + 1] - first_word
    count = 0
    word = 0
    closed = -1
    last_node = node_offsets[sentence + 1]
    for node in range(node_offsets[sentence], last_node + 1):
        if preterminals:
            upto = starts[node] if node < last_node else words
            while word < upto:
                tag = tags[first_word + word]
                if tag >= 0 and not deleted[tag] and not dropped[cut[tag]]:
                    out[count, 0] = places[word]
                    out[count, 1] = places[word] + 1
                    out[count, 2] = cut[tag]
                    count += 1
                word += 1
        if node == last_node:
            break
        if starts[node] >= closed:
            if labels[node] == 0 and not outer_bracket:
                continue
            closed = ends[node]
        start, end, label = places[starts[node]], places[ends[node]], cut[labels[node]]
        if start != end and not dropped[label]:
            out[count, 0] = start
            out[count, 1] = end
            out[count, 2] = label
            count += 1
    return count


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _difference(gold: Any, golds: int, system: Any, systems: int, paired: Any, pairs: Any) -> tuple[int, int]:
    """Why the words differ, and the first word at which they do."""
    if golds != systems:
        return LENGTHS_DIFFER, -1
    for index in range(golds):
        if not _alike(gold[index, 0], system[index, 0], paired, pairs):
            return WORDS_DIFFER, index
    return FINE, -1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def compare(  # noqa: PLR0915 - the steps of one sentence, in EVALB's order
    gold: Any, system: Any, tables: Any, pairs: Any, options: Any, faults: Any, room: Any
) -> Any:
    """Figures of every sentence.

    Args:
        gold: (labels, starts, ends, node_offsets, words, tags, word_offsets) of gold's treebank.
        system: the same of the system's.
        tables: over the vocabulary: whether a tag's words are deleted, and not counted in the length; the cut
            label of each label; whether brackets of a (cut) label are deleted; whether a label, a word stands in
            a pair.
        pairs: equal labels (p, 2), equal words (q, 2).
        options: outer bracket, preterminals, check words, labelled: uint8 (4,).
        faults: of each sentence uint8 (n,): 0 none, 1 figures are shown but not counted, 2 unreadable.
        room: most words, most brackets of a sentence.

    Returns:
        figures int64 (n, 7), status uint8 (n,), lengths int64 (n,), why int64 (n, 2): reason and word.
    """
    sentences = len(faults)
    most_words, most_brackets = room
    figures = np.zeros((sentences, 7), np.int64)
    status = np.zeros(sentences, np.uint8)
    lengths = np.zeros(sentences, np.int64)
    why = np.zeros((sentences, 2), np.int64)
    kept_gold = np.empty((most_words + 1, 2), np.int64)
    kept_system = np.empty((most_words + 1, 2), np.int64)
    places_gold = np.empty(most_words + 1, np.int64)
    places_system = np.empty(most_words + 1, np.int64)
    brackets_gold = np.empty((most_brackets + 1, 3), np.int64)
    brackets_system = np.empty((most_brackets + 1, 3), np.int64)
    reach = np.empty((4, most_words + 2), np.int64)
    size = 16
    while size < 2 * most_brackets:
        size *= 2
    table = (np.zeros(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64))
    paired_labels, paired_words = tables[4], tables[5]
    no_pairs, unpaired = pairs[0][:0], np.zeros(1, np.bool_)
    check_words, labelled = options[2], options[3]
    for sentence in range(sentences):
        words_gold, lengths[sentence] = _keep(gold, sentence, tables, kept_gold, places_gold)
        words_system, _ = _keep(system, sentence, tables, kept_system, places_system)
        if faults[sentence] == 2:
            status[sentence] = ERROR
            continue
        if check_words:
            if words_system == 0:
                status[sentence] = SKIP
                continue
            reason, word = _difference(kept_gold, words_gold, kept_system, words_system, paired_words, pairs[1])
            if reason != FINE:
                status[sentence] = ERROR
                why[sentence, 0] = reason
                why[sentence, 1] = word
                continue
        if faults[sentence] == 1:
            status[sentence] = ERROR
        golds = _brackets(gold, sentence, tables, places_gold, brackets_gold, options)
        systems = _brackets(system, sentence, tables, places_system, brackets_system, options)
        row = figures[sentence]
        row[GOLD] = golds
        row[SYSTEM] = systems
        if labelled:
            row[MATCHED] = _matched(
                brackets_gold, golds, brackets_system, systems, paired_labels, pairs[0], table, 2 * sentence + 1
            )
        row[CROSSING] = _crossing(brackets_gold, golds, brackets_system, systems, max(words_gold, words_system), reach)
        row[WORDS] = words_gold
        for word in range(min(words_gold, words_system)):
            row[CORRECT_TAGS] += _alike(kept_gold[word, 1], kept_system[word, 1], paired_labels, pairs[0])
        brackets_gold[:golds, 2] = 0
        brackets_system[:systems, 2] = 0
        row[UNLABELLED] = _matched(
            brackets_gold, golds, brackets_system, systems, unpaired, no_pairs, table, 2 * sentence + 2
        )
        if not labelled:
            row[MATCHED] = row[UNLABELLED]
    return figures, status, lengths, why
