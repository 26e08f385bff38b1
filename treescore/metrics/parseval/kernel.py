"""Compiled comparison of sentences, step by step as EVALB does it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.jit import compiled, inlined
from treescore.core.registry import ERROR, OK, SKIP, StatusArray
from treescore.core.trees import NO_TAG
from treescore.metrics.parseval.inputs import (
    FILLER,
    SHOWN,
    UNREADABLE,
    Brackets,
    Collected,
    Equal,
    Hash,
    Inputs,
    Open,
    Options,
    Scratch,
    Side,
    Sizes,
    Tables,
    alike,
    crossing,
    matched,
    merged,
)

FINE, LENGTHS_DIFFER, WORDS_DIFFER = 0, 1, 2
"""Why a sentence could not be compared."""

MATCHED, GOLD, SYSTEM, CROSSING, WORDS, CORRECT_TAGS, UNLABELLED = range(7)
"""Columns of the figures."""

LENGTH, REASON, WORD, GOLD_WORD, SYSTEM_WORD, GOLD_BRACKETS, GOLD_WORDS, SYSTEM_WORDS = range(8)
"""Columns of the facts: WORD is the first word that differs, with its string in gold and in the output, or -1."""


class Words(NamedTuple):
    """What `_keep` needs of a side and of the tables, as in `Side` and `Tables`."""

    words: IntArray
    tags: IntArray
    offsets: IntArray
    deleted: BoolArray
    uncounted: BoolArray
    compared: IntArray


class Nodes(NamedTuple):
    """What `_brackets` needs of a side and of the tables, as in `Side` and `Tables`."""

    labels: IntArray
    starts: IntArray
    ends: IntArray
    node_offsets: IntArray
    tags: IntArray
    word_offsets: IntArray
    deleted: BoolArray
    cut: IntArray
    dropped: BoolArray


@inlined
def _words(side: Side, tables: Tables) -> Words:
    return Words(side.words, side.tags, side.word_offsets, tables.deleted, tables.uncounted, tables.tags)


@inlined
def _nodes(side: Side, tables: Tables) -> Nodes:
    return Nodes(
        side.labels,
        side.starts,
        side.ends,
        side.node_offsets,
        side.tags,
        side.word_offsets,
        tables.deleted,
        tables.cut,
        tables.dropped,
    )


@inlined
def _keep(side: Words, sentence: int, copies: IntArray, kept: IntArray, words_before: IntArray) -> tuple[int, int]:
    """Write the words that are compared into `kept` and the kept words before each into `words_before`.

    Returns:
        The number of kept words, and the length of the sentence.
    """
    words, tags, offsets, deleted, uncounted, compared = side
    first, last = offsets[sentence], offsets[sentence + 1]
    count = length = 0
    for index in range(first, last):
        tag = tags[index]
        words_before[index - first] = count
        length += tag == NO_TAG or (tag >= 0 and not uncounted[tag])
        count_of_word = copies[index - first] if tag >= 0 and deleted[tag] else 1
        for _ in range(count_of_word):
            kept[count, 0] = words[index]
            kept[count, 1] = compared[tag] if tag >= 0 else tag
            count += 1
    words_before[last - first] = count
    return count, length


@compiled
def _quotes(side: Side, sentence: int, tables: Tables, words_before: IntArray, quotes: IntArray) -> int:
    """Write the words that may be quotes into `quotes`, and return how many there are."""
    first, last = side.word_offsets[sentence], side.word_offsets[sentence + 1]
    count = 0
    for index in range(first, last):
        tag = side.tags[index]
        if tag >= 0 and tables.quote_tags[tag] and tables.quote_words[side.words[index]]:
            quotes[count, 0], quotes[count, 1], quotes[count, 2] = tag, words_before[index - first], index - first
            count += 1
    return count


@compiled
def _repair(gold: IntArray, golds: int, system: IntArray, systems: int, deleted: BoolArray, copies: IntArray) -> None:
    """Put back a quote that was deleted on one side only, as EVALB does: count it in `copies`.

    EVALB's quirk is kept: of two quotes deleted side by side the first is put back twice. A quote put back moves all
    later ones of its side, which are those that are still to be looked at: one sum a side says how far. Of the quotes
    at one place only the last is kept, so that at most one of them is put back or puts one back.
    """
    low = kept = gold_moved = system_moved = 0
    for index in range(systems):
        words_before = system[index, 1] + system_moved
        while low < golds and gold[low, 1] + gold_moved < words_before:
            low += 1
        if deleted[system[index, 0]]:
            kept = max(kept, low)
            while kept < golds and deleted[gold[kept, 0]]:
                kept += 1
            if kept < golds and gold[kept, 1] + gold_moved == words_before:
                copies[1, system[index, 2]] += 1
                system_moved += 1
        elif low < golds and gold[low, 1] + gold_moved == words_before and deleted[gold[low, 0]]:
            copies[0, gold[low, 2]] += 1
            gold_moved += 1


@compiled
def _repaired(inputs: Inputs, sentence: int, scratch: Scratch, inserted: IntArray) -> tuple[int, int]:
    """Put quotes back into a sentence: count them in `inserted` and keep its words again; return how many are kept."""
    gold, system, tables, _, _, _ = inputs
    copies, words_before, quotes = scratch.copies, scratch.words_before, scratch.quotes
    golds = _quotes(gold, sentence, tables, words_before[0], quotes[0])
    systems = _quotes(system, sentence, tables, words_before[1], quotes[1])
    _repair(quotes[0], golds, quotes[1], systems, tables.deleted, copies)
    inserted[0], inserted[1] = copies[0].sum(), copies[1].sum()
    golds, _ = _keep(_words(gold, tables), sentence, copies[0], scratch.kept[0], words_before[0])
    systems, _ = _keep(_words(system, tables), sentence, copies[1], scratch.kept[1], words_before[1])
    copies[0, : gold.word_offsets[sentence + 1] - gold.word_offsets[sentence]] = 0
    copies[1, : system.word_offsets[sentence + 1] - system.word_offsets[sentence]] = 0
    return golds, systems


@inlined
def _brackets(
    side: Nodes, sentence: int, words_before: IntArray, inserted: int, options: Options, rows: IntArray
) -> int:
    """Write the brackets that are compared into `rows`, in pre-order, and return how many there are.

    A node left open (end below 0) ends where EVALB's memory puts it: at -1, moved by the `inserted` quotes.
    """
    labels, starts, ends, node_offsets, tags, word_offsets, deleted, cut, dropped = side
    first_word = word_offsets[sentence]
    words = word_offsets[sentence + 1] - first_word
    last_node = node_offsets[sentence + 1]
    count = word = outer_end = 0
    for node in range(node_offsets[sentence], last_node + 1):
        next_start = starts[node] if node < last_node else words
        while options.preterminals and word < next_start:
            tag = tags[first_word + word]
            if tag >= 0 and not deleted[tag] and not dropped[cut[tag]]:
                rows[count, 0], rows[count, 1], rows[count, 2] = words_before[word], words_before[word] + 1, cut[tag]
                count += 1
            word += 1
        if node == last_node:
            break
        if starts[node] >= outer_end:
            if labels[node] == 0 and not options.outer_bracket:
                continue
            outer_end = ends[node] if ends[node] >= 0 else words
        start, label = words_before[starts[node]], cut[labels[node]]
        end = words_before[ends[node]] if ends[node] >= 0 else inserted - 1
        if start != end and not dropped[label]:
            rows[count, 0], rows[count, 1], rows[count, 2] = start, end, label
            count += 1
    return count


@inlined
def _difference(gold: IntArray, golds: int, system: IntArray, systems: int, equal: Equal) -> tuple[int, int]:
    """Return why the words differ, and the first word at which they do."""
    if golds != systems:
        return LENGTHS_DIFFER, -1
    for index in range(golds):
        if gold[index, 0] != system[index, 0] and not alike(gold[index, 0], system[index, 0], equal):
            return WORDS_DIFFER, index
    return FINE, -1


@inlined
def _right_tags(gold: IntArray, golds: int, system: IntArray, systems: int, equal: Equal) -> tuple[int, int]:
    """Count gold's kept words that are no fillers, and those of them whose tag the system has."""
    words = right = 0
    for index in range(golds):
        tag = gold[index, 1]
        if tag != FILLER:
            words += 1
            right += index < systems and (tag == system[index, 1] or alike(tag, system[index, 1], equal))
    return words, right


@compiled
def _in_any_order(
    gold: Brackets, system: Brackets, words: int, inputs: Inputs, scratch: Scratch, sentence: int
) -> tuple[int, int, int]:
    """Return what `merged` returns, for brackets in any order, and leave the same partners."""
    labels = inputs.tables.equal_labels
    spans, other_spans = scratch.spans
    for index in range(gold.size):
        spans[index, 0], spans[index, 1] = gold.rows[index, 0], gold.rows[index, 1]
    for index in range(system.size):
        other_spans[index, 0], other_spans[index, 1] = system.rows[index, 0], system.rows[index, 1]
    # All spans have label 0, which must count as equal to nothing else.
    none = Equal(labels.paired[:1], labels.pairs[:0])
    first, second = Brackets(spans, gold.size), Brackets(other_spans, system.size)
    same = right = matched(first, second, none, scratch.table, 2 * sentence + 1)
    if inputs.options.labelled:
        right = matched(gold, system, labels, scratch.table, 2 * sentence + 2)
    return same, right, crossing(gold, system, words, scratch.reach)


@compiled
def _judge(
    inputs: Inputs, scratch: Scratch, figures: IntArray, status: StatusArray, facts: IntArray, out: Collected
) -> None:
    """Compare every sentence: fill figures, facts and status, and `out` where it has room for offsets.

    What is called for each sentence is given few arrays: compiled code counts the references of each.
    """
    tables, options, faults = inputs.tables, inputs.options, inputs.faults
    gold_words, system_words = _words(inputs.gold, tables), _words(inputs.system, tables)
    gold_nodes, system_nodes = _nodes(inputs.gold, tables), _nodes(inputs.system, tables)
    (copies, other_copies), (kept, other_kept) = scratch.copies, scratch.kept
    (before, other_before), (rows, other_rows) = scratch.words_before, scratch.brackets
    labels, partners, inserted = tables.equal_labels, scratch.table.partners, np.zeros(2, np.int64)
    labelled, collecting = 1 if options.labelled else 0, out.offsets.size > 0
    for sentence in range(len(faults)):
        fault = faults[sentence]
        inserted[:] = 0
        golds, length = _keep(gold_words, sentence, copies, kept, before)
        systems, _ = _keep(system_words, sentence, other_copies, other_kept, other_before)
        judged, reason, word = OK, FINE, -1
        if fault == UNREADABLE:
            judged = ERROR
        elif options.check_words and systems == 0:
            judged = SKIP
        elif options.check_words:
            if golds != systems and options.quotes:
                golds, systems = _repaired(inputs, sentence, scratch, inserted)
            reason, word = _difference(kept, golds, other_kept, systems, tables.equal_words)
            if reason != FINE or fault == SHOWN:
                judged = ERROR
        elif fault == SHOWN:
            judged = ERROR
        size = _brackets(gold_nodes, sentence, before, inserted[0], options, rows)
        facts[sentence, LENGTH], facts[sentence, REASON], facts[sentence, WORD] = length, reason, word
        facts[sentence, GOLD_WORD] = kept[word, 0] if word >= 0 else -1
        facts[sentence, SYSTEM_WORD] = other_kept[word, 0] if word >= 0 else -1
        facts[sentence, GOLD_BRACKETS], facts[sentence, GOLD_WORDS], facts[sentence, SYSTEM_WORDS] = (
            size,
            golds,
            systems,
        )
        status[sentence] = judged
        other_size = 0
        if judged == OK or (fault == SHOWN and judged == ERROR and reason == FINE):
            other_size = _brackets(system_nodes, sentence, other_before, inserted[1], options, other_rows)
            gold, system = Brackets(rows, size), Brackets(other_rows, other_size)
            same = right = crossed = -1
            if fault != SHOWN:
                same, right, crossed = merged(gold, system, labels, scratch.open, partners, labelled)
            if same < 0:
                same, right, crossed = _in_any_order(gold, system, max(golds, systems), inputs, scratch, sentence)
            figures[sentence, GOLD], figures[sentence, SYSTEM] = size, other_size
            figures[sentence, CROSSING] = crossed
            figures[sentence, WORDS], figures[sentence, CORRECT_TAGS] = _right_tags(
                kept, golds, other_kept, systems, labels
            )
            figures[sentence, UNLABELLED], figures[sentence, MATCHED] = same, right
        if collecting:
            if judged != OK:
                size = _brackets(gold_nodes, sentence, before, 0, options, rows)
                other_size = _brackets(system_nodes, sentence, other_before, 0, options, other_rows)
                partners[:size] = -1
            _write(out, sentence, Brackets(rows, size), Brackets(other_rows, other_size), partners)


@compiled
def _write(out: Collected, sentence: int, gold: Brackets, system: Brackets, partners: IntArray) -> None:
    """Write the brackets of a sentence behind those before it."""
    golds, systems, offsets = out
    first, other_first = offsets[0, sentence], offsets[1, sentence]
    offsets[0, sentence + 1], offsets[1, sentence + 1] = first + gold.size, other_first + system.size
    for index in range(system.size):
        for column in range(3):
            systems[column, other_first + index] = system.rows[index, column]
        systems[3, other_first + index] = 0
    for index in range(gold.size):
        for column in range(3):
            golds[column, first + index] = gold.rows[index, column]
        partner = partners[index]
        golds[3, first + index] = system.rows[partner, 2] if partner >= 0 else -1
        if partner >= 0:
            systems[3, other_first + partner] = 1


@compiled
def _scratch(sizes: Sizes, options: Options) -> Scratch:
    """Allocate the memory that is used again for every sentence."""
    most_words, most_brackets = sizes.words * (2 if options.quotes else 1), sizes.brackets
    size = 16
    while size < 2 * most_brackets:
        size *= 2
    return Scratch(
        np.empty((2, most_words + 1, 2), np.int64),
        np.empty((2, most_words + 1), np.int64),
        np.empty((2, most_brackets + 1, 3), np.int64),
        np.empty((2, most_words + 1, 3), np.int64),
        np.zeros((2, most_words + 1), np.int64),
        np.zeros((2, most_brackets + 1, 3), np.int64),
        Open(
            np.empty(most_brackets + 1, np.int64),
            np.empty(most_brackets + 1, np.int64),
            np.empty(most_brackets + 1, np.bool_),
        ),
        np.empty((4, most_words + 2), np.int64),
        Hash(
            np.zeros(size, np.int64),
            np.empty(size, np.int64),
            np.empty(size, np.int64),
            np.empty(size, np.int64),
            np.empty(size, np.int64),
        ),
    )


@compiled
def compare(inputs: Inputs) -> tuple[IntArray, StatusArray, IntArray]:
    """Compare every sentence.

    Returns:
        Figures int64 (n, 7); status uint8 (n,); facts int64 (n, 8). Columns as the constants above.
    """
    sentences = len(inputs.faults)
    figures = np.zeros((sentences, 7), np.int64)
    status = np.zeros(sentences, np.uint8)
    facts = np.zeros((sentences, 8), np.int64)
    nothing = np.empty((4, 0), np.int64)
    out = Collected(nothing, nothing, np.empty((2, 0), np.int64))
    _judge(inputs, _scratch(inputs.sizes, inputs.options), figures, status, facts, out)
    return figures, status, facts


@compiled
def collect(inputs: Inputs, out: Collected) -> None:
    """Write the brackets that `compare` compares, of sentences of any status, into `out`, whose offsets are zeros."""
    sentences = len(inputs.faults)
    figures, facts = np.empty((sentences, 7), np.int64), np.empty((sentences, 8), np.int64)
    status = np.empty(sentences, np.uint8)
    _judge(inputs, _scratch(inputs.sizes, inputs.options), figures, status, facts, out)
