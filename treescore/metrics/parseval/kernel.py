"""Compiled comparison of sentences, step by step as EVALB does it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.jit import compiled
from treescore.core.registry import ERROR, OK, SKIP, StatusArray
from treescore.core.trees import NO_TAG
from treescore.metrics.parseval.matching import Brackets, Equal, Hash, alike, crossing, matched

FINE, LENGTHS_DIFFER, WORDS_DIFFER = 0, 1, 2
"""Why a sentence could not be compared."""

MATCHED, GOLD, SYSTEM, CROSSING, WORDS, CORRECT_TAGS, UNLABELLED = range(7)
"""Columns of the figures."""

LENGTH, REASON, WORD, GOLD_WORD, SYSTEM_WORD, GOLD_BRACKETS, GOLD_WORDS, SYSTEM_WORDS = range(8)
"""Columns of the facts: WORD is the first word that differs, with its string in gold and in the output, or -1."""

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
        dropped: labels (after the cut) whose brackets are deleted, bool (v,).
        quote_tags, quote_words: what EVALB's repair of quotes looks at, bool (v,).
        equal_labels, equal_words: strings that count as equal.
    """

    deleted: BoolArray
    uncounted: BoolArray
    cut: IntArray
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
        reach: of `crossing`.
        table: of `matched`.
    """

    kept: IntArray
    words_before: IntArray
    brackets: IntArray
    quotes: IntArray
    copies: IntArray
    spans: IntArray
    reach: IntArray
    table: Hash


class Collected(NamedTuple):
    """Every bracket of both sides.

    Attributes:
        gold: rows start, end, label, number of the system's bracket that matched or -1, int64 (g, 4).
        system: rows start, end, label, 1 where it matched, int64 (s, 4).
        offsets: where the brackets of each sentence begin, int64 (2, n + 1).
        sizes: how many brackets each sentence has, int64 (2, n).
    """

    gold: IntArray
    system: IntArray
    offsets: IntArray
    sizes: IntArray


@compiled
def _keep(
    side: Side, sentence: int, tables: Tables, copies: IntArray, kept: IntArray, words_before: IntArray
) -> tuple[int, int]:
    """Write the words that are compared into `kept` and the kept words before each into `words_before`.

    Returns:
        The number of kept words, and the length of the sentence.
    """
    first, last = side.word_offsets[sentence], side.word_offsets[sentence + 1]
    count = length = 0
    for index in range(first, last):
        tag = side.tags[index]
        words_before[index - first] = count
        length += tag == NO_TAG or (tag >= 0 and not tables.uncounted[tag])
        count_of_word = copies[index - first] if tag >= 0 and tables.deleted[tag] else 1
        for _ in range(count_of_word):
            kept[count, 0] = side.words[index]
            kept[count, 1] = tag
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
def _brackets(
    side: Side, sentence: int, tables: Tables, words_before: IntArray, inserted: int, options: Options, rows: IntArray
) -> int:
    """Write the brackets that are compared into `rows`, in pre-order, and return how many there are.

    A node left open (end below 0) ends where EVALB's memory puts it: at -1, moved by the `inserted` quotes.
    """
    labels, starts, ends = side.labels, side.starts, side.ends
    first_word = side.word_offsets[sentence]
    words = side.word_offsets[sentence + 1] - first_word
    last_node = side.node_offsets[sentence + 1]
    count = word = outer_end = 0
    for node in range(side.node_offsets[sentence], last_node + 1):
        next_start = starts[node] if node < last_node else words
        while options.preterminals and word < next_start:
            tag = side.tags[first_word + word]
            if tag >= 0 and not tables.deleted[tag] and not tables.dropped[tables.cut[tag]]:
                rows[count, 0], rows[count, 1], rows[count, 2] = (
                    words_before[word],
                    words_before[word] + 1,
                    tables.cut[tag],
                )
                count += 1
            word += 1
        if node == last_node:
            break
        if starts[node] >= outer_end:
            if labels[node] == 0 and not options.outer_bracket:
                continue
            outer_end = ends[node] if ends[node] >= 0 else words
        start, label = words_before[starts[node]], tables.cut[labels[node]]
        end = words_before[ends[node]] if ends[node] >= 0 else inserted - 1
        if start != end and not tables.dropped[label]:
            rows[count, 0], rows[count, 1], rows[count, 2] = start, end, label
            count += 1
    return count


@compiled
def _difference(gold: IntArray, golds: int, system: IntArray, systems: int, equal: Equal) -> tuple[int, int]:
    """Return why the words differ, and the first word at which they do."""
    if golds != systems:
        return LENGTHS_DIFFER, -1
    for index in range(golds):
        if not alike(gold[index, 0], system[index, 0], equal):
            return WORDS_DIFFER, index
    return FINE, -1


@compiled
def _count(
    sizes: tuple[int, int], words: tuple[int, int], inputs: Inputs, scratch: Scratch, sentence: int, row: IntArray
) -> None:
    """Fill a row of the figures from the brackets and words of both sides in `scratch`: so many of each."""
    golds, systems = sizes
    gold, system = Brackets(scratch.brackets[0], golds), Brackets(scratch.brackets[1], systems)
    labels = inputs.tables.equal_labels
    row[GOLD], row[SYSTEM] = golds, systems
    row[CROSSING] = crossing(gold, system, max(words[0], words[1]), scratch.reach)
    gold_kept, system_kept = scratch.kept[0], scratch.kept[1]
    for word in range(words[0]):
        row[WORDS] += gold_kept[word, 1] != FILLER
        if word < words[1] and gold_kept[word, 1] != FILLER:
            row[CORRECT_TAGS] += alike(gold_kept[word, 1], system_kept[word, 1], labels)
    scratch.spans[0, :golds, :2] = gold.rows[:golds, :2]
    scratch.spans[1, :systems, :2] = system.rows[:systems, :2]
    spans = Brackets(scratch.spans[0], golds), Brackets(scratch.spans[1], systems)
    # All spans have label 0, which must count as equal to nothing else.
    none = Equal(labels.paired[:1], labels.pairs[:0])
    row[UNLABELLED] = matched(spans[0], spans[1], none, scratch.table, 2 * sentence + 1)
    row[MATCHED] = row[UNLABELLED]
    if inputs.options.labelled:
        row[MATCHED] = matched(gold, system, labels, scratch.table, 2 * sentence + 2)


@compiled
def _judge(inputs: Inputs, sentence: int, scratch: Scratch, row: IntArray, facts: IntArray) -> int:
    """Compare one sentence: fill its row of the figures and its facts, and return its status."""
    gold, system, tables, options, _, _ = inputs
    kept, words_before, brackets, quotes, copies = (
        scratch.kept,
        scratch.words_before,
        scratch.brackets,
        scratch.quotes,
        scratch.copies,
    )
    fault = inputs.faults[sentence]
    inserted_gold = inserted_system = 0
    golds, length = _keep(gold, sentence, tables, copies[0], kept[0], words_before[0])
    systems, _ = _keep(system, sentence, tables, copies[1], kept[1], words_before[1])
    status, reason, word = OK, FINE, -1
    if fault == UNREADABLE:
        status = ERROR
    elif options.check_words and systems == 0:
        status = SKIP
    elif options.check_words:
        if golds != systems and options.quotes:
            gold_quotes = _quotes(gold, sentence, tables, words_before[0], quotes[0])
            system_quotes = _quotes(system, sentence, tables, words_before[1], quotes[1])
            _repair(quotes[0], gold_quotes, quotes[1], system_quotes, tables.deleted, copies)
            inserted_gold, inserted_system = copies[0].sum(), copies[1].sum()
            golds, _ = _keep(gold, sentence, tables, copies[0], kept[0], words_before[0])
            systems, _ = _keep(system, sentence, tables, copies[1], kept[1], words_before[1])
            copies[0, : gold.word_offsets[sentence + 1] - gold.word_offsets[sentence]] = 0
            copies[1, : system.word_offsets[sentence + 1] - system.word_offsets[sentence]] = 0
        reason, word = _difference(kept[0], golds, kept[1], systems, tables.equal_words)
        if reason != FINE or fault == SHOWN:
            status = ERROR
    elif fault == SHOWN:
        status = ERROR
    gold_brackets = _brackets(gold, sentence, tables, words_before[0], inserted_gold, options, brackets[0])
    if status == OK or (fault == SHOWN and status == ERROR and reason == FINE):
        system_brackets = _brackets(system, sentence, tables, words_before[1], inserted_system, options, brackets[1])
        _count((gold_brackets, system_brackets), (golds, systems), inputs, scratch, sentence, row)
    facts[LENGTH], facts[REASON], facts[WORD] = length, reason, word
    facts[GOLD_WORD] = kept[0, word, 0] if word >= 0 else -1
    facts[SYSTEM_WORD] = kept[1, word, 0] if word >= 0 else -1
    facts[GOLD_BRACKETS], facts[GOLD_WORDS], facts[SYSTEM_WORDS] = gold_brackets, golds, systems
    return status


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
    scratch = _scratch(inputs.sizes, inputs.options)
    for sentence in range(sentences):
        status[sentence] = _judge(inputs, sentence, scratch, figures[sentence], facts[sentence])
    return figures, status, facts


@compiled
def collect(inputs: Inputs, out: Collected) -> None:
    """Write the brackets that `compare` compares, of sentences of any status, into all but `out.offsets`."""
    scratch = _scratch(inputs.sizes, inputs.options)
    tables, options = inputs.tables, inputs.options
    row, facts = np.zeros(7, np.int64), np.zeros(8, np.int64)
    brackets, partners = scratch.brackets, scratch.table.partners
    for sentence in range(len(inputs.faults)):
        row[:] = 0
        status = _judge(inputs, sentence, scratch, row, facts)
        golds, systems = row[GOLD], row[SYSTEM]
        if status != OK:
            golds = _brackets(inputs.gold, sentence, tables, scratch.words_before[0], 0, options, brackets[0])
            systems = _brackets(inputs.system, sentence, tables, scratch.words_before[1], 0, options, brackets[1])
            partners[:golds] = -1
        out.sizes[0, sentence], out.sizes[1, sentence] = golds, systems
        first_gold, first_system = out.offsets[0, sentence], out.offsets[1, sentence]
        out.gold[first_gold : first_gold + golds, :3] = brackets[0, :golds]
        out.system[first_system : first_system + systems, :3] = brackets[1, :systems]
        out.system[first_system : first_system + systems, 3] = 0
        for index in range(golds):
            out.gold[first_gold + index, 3] = partners[index]
            if partners[index] >= 0:
                out.system[first_system + partners[index], 3] = 1
