"""Brackets compared, sentence by sentence: what `parseval` compiles.

Matching is a hash of (start, end, label), crossing a range maximum over blocks of words: the time grows with the
text, not with the square of a sentence.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treescore.core.jit import compiled, inlined
from treescore.core.registry import ERROR, OK, SKIP
from treescore.core.trees import NO_TAG

FINE, LENGTHS_DIFFER, WORDS_DIFFER = 0, 1, 2
"""Why a sentence could not be compared."""

MATCHED, GOLD, SYSTEM, CROSSING, WORDS, CORRECT_TAGS, UNLABELLED = range(7)
"""Columns of the figures."""

OUTER_BRACKET, PRETERMINALS, CHECK_WORDS, LABELLED, QUOTES = range(5)
"""Places in the options: 1 where these matter, or where there is something to repair."""

READABLE, SHOWN, UNREADABLE = 0, 1, 2
"""Faults of a sentence: none; brackets that do not balance; nothing that could be read."""

FILLER = -2
"""Tag of the word that stands for an emptied constituent."""

_BLOCK = 64


@inlined
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


@inlined
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


@compiled
def _matched(gold: Any, golds: int, system: Any, systems: int, paired: Any, pairs: Any, table: Any, epoch: int) -> int:
    """How many gold brackets find a system bracket, each taking the first one left, in pre-order (EVALB's way).

    `gold` and `system` are int64 (room, 3), rows start, end, label, the first `golds` and `systems` of them;
    `paired` says whether a label stands in one of the `pairs` (p, 2); `table` is the hash's (stamps, keys, heads,
    next, partners), where `epoch` was never stamped before; partners become the system bracket that each gold
    bracket took, or -1.
    """
    stamps, keys, heads, following, partners = table
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
        partners[index] = -1
        if best >= 0:
            partners[index] = heads[best]
            heads[best] = following[heads[best]]
            matched += 1
    return matched


@compiled
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


@compiled
def _keep(side: Any, sentence: int, tables: Any, again: Any, kept: Any, places: Any) -> tuple[int, int]:
    """The words that are compared: their numbers and tags into `kept`, kept words before each into `places`.

    `again` says how often a deleted word is put back. Returns how many words there are, and the length.
    """
    words, tags, first, last = side[4], side[5], side[6][sentence], side[6][sentence + 1]
    deleted, uncounted = tables[0], tables[1]
    count = length = 0
    for index in range(first, last):
        tag = tags[index]
        places[index - first] = count
        length += tag == NO_TAG or (tag >= 0 and not uncounted[tag])
        copies = again[index - first] if tag >= 0 and deleted[tag] else 1
        for _ in range(copies):
            kept[count, 0] = words[index]
            kept[count, 1] = tag
            count += 1
    places[last - first] = count
    return count, length


@compiled
def _quotes(side: Any, sentence: int, tables: Any, places: Any, found: Any) -> int:
    """The words that may be quotes into `found`: tag, kept words before, place in the sentence."""
    words, tags, first, last = side[4], side[5], side[6][sentence], side[6][sentence + 1]
    count = 0
    for index in range(first, last):
        tag = tags[index]
        if tag >= 0 and tables[6][tag] and tables[7][words[index]]:
            found[count, 0], found[count, 1], found[count, 2] = tag, places[index - first], index - first
            count += 1
    return count


@compiled
def _repair(gold: Any, golds: int, system: Any, systems: int, deleted: Any, again: Any) -> None:
    """EVALB's repair: a quote deleted on one side only is put back, into `again` (2, words): gold's, the system's.

    With its quirk: of two quotes deleted side by side the first is put back twice.
    """
    low = 0
    for index in range(systems):
        tag, place = system[index, 0], system[index, 1]
        while low < golds and gold[low, 1] < place:
            low += 1
        other = low
        while other < golds and gold[other, 1] == place:
            gold_tag = gold[other, 0]
            if gold_tag != tag and deleted[gold_tag] != deleted[tag]:
                if deleted[gold_tag]:
                    again[0, gold[other, 2]] += 1
                    gold[other:golds, 1] += 1
                else:
                    again[1, system[index, 2]] += 1
                    system[index:systems, 1] += 1
            other += 1


@compiled
def _brackets(side: Any, sentence: int, tables: Any, places: Any, inserted: int, options: Any, out: Any) -> int:
    """The brackets that are compared, in pre-order, into `out`: start, end, label.

    A node left open (end below 0) ends where EVALB's memory says: at -1, moved by what was `inserted`.
    """
    labels, starts, ends, node_offsets, _, tags, word_offsets = side
    deleted, _, cut, dropped = tables[:4]
    first_word = word_offsets[sentence]
    words = word_offsets[sentence + 1] - first_word
    last_node = node_offsets[sentence + 1]
    count = word = outer_end = 0
    for node in range(node_offsets[sentence], last_node + 1):
        upto = starts[node] if node < last_node else words
        while options[PRETERMINALS] and word < upto:
            tag = tags[first_word + word]
            if tag >= 0 and not deleted[tag] and not dropped[cut[tag]]:
                out[count, 0], out[count, 1], out[count, 2] = places[word], places[word] + 1, cut[tag]
                count += 1
            word += 1
        if node == last_node:
            break
        if starts[node] >= outer_end:
            if labels[node] == 0 and not options[OUTER_BRACKET]:
                continue
            outer_end = ends[node] if ends[node] >= 0 else words
        start, label = places[starts[node]], cut[labels[node]]
        end = places[ends[node]] if ends[node] >= 0 else inserted - 1
        if start != end and not dropped[label]:
            out[count, 0], out[count, 1], out[count, 2] = start, end, label
            count += 1
    return count


@compiled
def _difference(gold: Any, golds: int, system: Any, systems: int, paired: Any, pairs: Any) -> tuple[int, int]:
    """Why the words differ, and the first word at which they do."""
    if golds != systems:
        return LENGTHS_DIFFER, -1
    for index in range(golds):
        if not _alike(gold[index, 0], system[index, 0], paired, pairs):
            return WORDS_DIFFER, index
    return FINE, -1


@compiled
def _compared(
    gold: Any, system: Any, words: Any, tables: Any, pairs: Any, options: Any, scratch: Any, row: Any
) -> None:
    """Fill `row` from brackets and words of both sides: (brackets, how many), (words, how many)."""
    brackets_gold, golds = gold
    brackets_system, systems = system
    kept_gold, words_gold, kept_system, words_system = words
    hashed, reach, spans, epoch = scratch
    row[GOLD], row[SYSTEM] = golds, systems
    row[CROSSING] = _crossing(brackets_gold, golds, brackets_system, systems, max(words_gold, words_system), reach)
    for word in range(words_gold):
        row[WORDS] += kept_gold[word, 1] != FILLER
        if word < words_system and kept_gold[word, 1] != FILLER:
            row[CORRECT_TAGS] += _alike(kept_gold[word, 1], kept_system[word, 1], tables[4], pairs[0])
    spans[0, :golds, :2] = brackets_gold[:golds, :2]
    spans[1, :systems, :2] = brackets_system[:systems, :2]
    row[UNLABELLED] = _matched(spans[0], golds, spans[1], systems, tables[4][:1], pairs[0][:0], hashed, 2 * epoch + 1)
    row[MATCHED] = row[UNLABELLED]
    if options[LABELLED]:
        row[MATCHED] = _matched(
            brackets_gold, golds, brackets_system, systems, tables[4], pairs[0], hashed, 2 * epoch + 2
        )


@compiled
def _judged(
    gold: Any, system: Any, sentence: int, fault: int, tables: Any, pairs: Any, options: Any, scratch: Any, row: Any
) -> Any:
    """Compare one sentence as EVALB does, step by step: status, length, reason, word, gold's brackets and words."""
    kept, places, brackets, quotes, again, hashed, reach, spans = scratch
    inserted_gold = inserted_system = 0
    golds, length = _keep(gold, sentence, tables, again[0], kept[0], places[0])
    systems, _ = _keep(system, sentence, tables, again[1], kept[1], places[1])
    status, reason, word = OK, FINE, -1
    if fault == UNREADABLE:
        status = ERROR
    elif options[CHECK_WORDS] and systems == 0:
        status = SKIP
    elif options[CHECK_WORDS]:
        if golds != systems and options[QUOTES]:
            found_gold = _quotes(gold, sentence, tables, places[0], quotes[0])
            found_system = _quotes(system, sentence, tables, places[1], quotes[1])
            _repair(quotes[0], found_gold, quotes[1], found_system, tables[0], again)
            inserted_gold, inserted_system = again[0].sum(), again[1].sum()
            golds, _ = _keep(gold, sentence, tables, again[0], kept[0], places[0])
            systems, _ = _keep(system, sentence, tables, again[1], kept[1], places[1])
            again[0, : gold[6][sentence + 1] - gold[6][sentence]] = 0
            again[1, : system[6][sentence + 1] - system[6][sentence]] = 0
        reason, word = _difference(kept[0], golds, kept[1], systems, tables[5], pairs[1])
        if reason != FINE or fault == SHOWN:
            status = ERROR
    elif fault == SHOWN:
        status = ERROR
    found = _brackets(gold, sentence, tables, places[0], inserted_gold, options, brackets[0])
    if status == OK or (fault == SHOWN and status == ERROR and reason == FINE):
        others = _brackets(system, sentence, tables, places[1], inserted_system, options, brackets[1])
        sides = (kept[0], golds, kept[1], systems)
        _compared(
            (brackets[0], found),
            (brackets[1], others),
            sides,
            tables,
            pairs,
            options,
            (hashed, reach, spans, sentence),
            row,
        )
    first, second = (kept[0, word, 0], kept[1, word, 0]) if word >= 0 else (-1, -1)
    return status, (length, reason, word, first, second, found, golds, systems)


@compiled
def _scratch(room: Any, options: Any) -> Any:
    """What is used again for every sentence."""
    most_words, most_brackets = room[0] * (2 if options[QUOTES] else 1), room[1]
    size = 16
    while size < 2 * most_brackets:
        size *= 2
    return (
        np.empty((2, most_words + 1, 2), np.int64),
        np.empty((2, most_words + 1), np.int64),
        np.empty((2, most_brackets + 1, 3), np.int64),
        np.empty((2, most_words + 1, 3), np.int64),
        np.zeros((2, most_words + 1), np.int64),
        (
            np.zeros(size, np.int64),
            np.empty(size, np.int64),
            np.empty(size, np.int64),
            np.empty(size, np.int64),
            np.empty(size, np.int64),
        ),
        np.empty((4, most_words + 2), np.int64),
        np.zeros((2, most_brackets + 1, 3), np.int64),
    )


@compiled
def compare(gold: Any, system: Any, tables: Any, pairs: Any, options: Any, faults: Any, room: Any) -> Any:
    """Figures of every sentence.

    Args:
        gold: (labels, starts, ends, node_offsets, words, tags, word_offsets) of gold's treebank; the end of a node
            left open is -1.
        system: the same of the system's.
        tables: over the vocabulary: whether a tag's words are deleted; whether they do not count in the length;
            the cut label of each label; whether brackets of a (cut) label are deleted; whether a label, whether a
            word stands in a pair; tags and words of the quote repair.
        pairs: equal labels (p, 2), equal words (q, 2).
        options: uint8 (5,), see OUTER_BRACKET and those after it.
        faults: READABLE, SHOWN (figures are shown but not counted) or UNREADABLE, uint8 (n,).
        room: most words and most brackets of a sentence.

    Returns:
        figures int64 (n, 7); status uint8 (n,); facts int64 (n, 8): length, reason, the word that differs and what it
        is in gold and in the system's output, gold's brackets, words of gold and of the system.
    """
    figures = np.zeros((len(faults), 7), np.int64)
    status = np.zeros(len(faults), np.uint8)
    facts = np.zeros((len(faults), 8), np.int64)
    scratch = _scratch(room, options)
    for sentence in range(len(faults)):
        status[sentence], found = _judged(
            gold, system, sentence, faults[sentence], tables, pairs, options, scratch, figures[sentence]
        )
        for column in range(8):
            facts[sentence, column] = found[column]
    return figures, status, facts


@compiled
def collect(
    gold: Any, system: Any, tables: Any, pairs: Any, options: Any, faults: Any, room: Any, offsets: Any, out: Any
) -> None:
    """Write down the brackets that `compare` compares, of every sentence, whatever its status.

    `offsets` (2, n + 1) says where the brackets of a sentence begin in `out`: gold's int64 (g, 4), rows start, end,
    label, number of the system's bracket that matched or -1; the system's int64 (s, 4), with 1 where it matched;
    and how many there are of each, int64 (2, n).
    """
    out_gold, out_system, sizes = out
    scratch = _scratch(room, options)
    row = np.zeros(7, np.int64)
    for sentence in range(len(faults)):
        row[:] = 0
        status = _judged(gold, system, sentence, faults[sentence], tables, pairs, options, scratch, row)[0]
        brackets, partners = scratch[2], scratch[5][4]
        golds, systems = row[GOLD], row[SYSTEM]
        if status != OK:
            golds = _brackets(gold, sentence, tables, scratch[1][0], 0, options, brackets[0])
            systems = _brackets(system, sentence, tables, scratch[1][1], 0, options, brackets[1])
            partners[:golds] = -1
        sizes[0, sentence], sizes[1, sentence] = golds, systems
        first_gold, first_system = offsets[0, sentence], offsets[1, sentence]
        out_gold[first_gold : first_gold + golds, :3] = brackets[0, :golds]
        out_system[first_system : first_system + systems, :3] = brackets[1, :systems]
        out_system[first_system : first_system + systems, 3] = 0
        for index in range(golds):
            out_gold[first_gold + index, 3] = partners[index]
            if partners[index] >= 0:
                out_system[first_system + partners[index], 3] = 1
