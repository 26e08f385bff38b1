"""Comparison of sentences, step by step as EVALB does it; each step with whole arrays, over all sentences of a part.

It is given options, tables over the vocabulary, and treebanks as arrays. Brackets that match are found by sorting,
crossing ones by maxima over ranges of words whose widths are powers of 2. The time grows with the text, not with the
square of a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of, paired_rows, sums_by
from treescore.core.columns import ranges_of
from treescore.core.registry import ERROR, OK, SKIP, StatusArray
from treescore.core.structure import NONE, crossing_spans, gather, structure_of
from treescore.core.trees import ConstituentTreebank, Vocabulary
from treescore.formats.shared.bracket_reader import UnbalancedLine
from treescore.metrics.parseval.choices import Choices
from treescore.metrics.shared.constituents import listed


class Equal(NamedTuple):
    """Strings that count as equal.

    Attributes:
        paired: whether a string stands in a pair, bool (vocabulary,).
        pairs: strings taken as equal in both directions, not transitively, int64 (p, 2).
    """

    paired: BoolArray
    pairs: IntArray


READABLE, SHOWN, UNREADABLE = 0, 1, 2
"""Faults of a sentence: none; brackets that do not balance; a sentence that could not be read at all."""

FILLER = -2
"""Tag of the word that stands for an emptied constituent."""


class Side(NamedTuple):
    """The columns of a `ConstituentTreebank`, all int64; the end of a node left open is -1."""

    labels: IntArray
    starts: IntArray
    ends: IntArray
    node_offsets: IntArray
    words: IntArray
    tags: IntArray
    word_offsets: IntArray

    def part(self, start: int, stop: int) -> Side:
        """Return the sentences from `start` to `stop`."""
        nodes, words = self.node_offsets[start : stop + 1], self.word_offsets[start : stop + 1]
        of_nodes, of_words = slice(nodes[0], nodes[-1]), slice(words[0], words[-1])
        columns = [column[of_nodes] for column in self[:3]]
        columns += [nodes - nodes[0], self.words[of_words], self.tags[of_words], words - words[0]]
        return Side(*columns)


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


class Inputs(NamedTuple):
    """Two treebanks of n sentences and how to compare them; `faults` is uint8 (n,)."""

    gold: Side
    system: Side
    tables: Tables
    choices: Choices
    faults: NDArray[np.uint8]

    def part(self, start: int, stop: int) -> Inputs:
        """Return the sentences from `start` to `stop`."""
        gold, system = (side.part(start, stop) for side in (self.gold, self.system))
        return self._replace(gold=gold, system=system, faults=self.faults[start:stop])


class Collected(NamedTuple):
    """Every bracket of both sides.

    Attributes:
        gold: columns start, end, label, label of the system's bracket that matched or -1, int64 (4, g).
        system: columns start, end, label, 1 where it matched, int64 (4, s).
        offsets: where the brackets of each sentence begin, int64 (2, n + 1).
    """

    gold: IntArray
    system: IntArray
    offsets: IntArray


QUOTES = ("'", '"', "/")


def inputs_of(choices: Choices, gold: ConstituentTreebank, system: ConstituentTreebank) -> Inputs:
    """Prepare the comparison of two treebanks of one vocabulary."""
    faults = np.full(len(gold), READABLE, np.uint8)
    for treebank in (gold, system):
        for sentence, problem in treebank.sentences.unreadable.items():
            fault = SHOWN if isinstance(problem, UnbalancedLine) else UNREADABLE
            faults[sentence] = max(faults[sentence], fault)
    if choices.empty_constituents == "word":
        gold, system = fill_empty(gold), fill_empty(system)
    if choices.bare_spans:
        gold, system = _without_words(choices, gold, system)
    return Inputs(_side(gold), _side(system), _tables(choices, gold, system), choices, faults)


def _without_words(
    choices: Choices, gold: ConstituentTreebank, system: ConstituentTreebank
) -> tuple[ConstituentTreebank, ConstituentTreebank]:
    """Delete words by gold's tags; from the output where it has as many words as gold, else it lacks them already."""
    deleted = _by_tag(listed(gold.vocabulary, choices.delete_labels if choices.delete_words else ()), gold.tags)
    lengths, others = (np.diff(each.word_offsets) for each in (gold, system))
    alike = lengths == others
    of_system = np.zeros(len(system.tags), np.bool_)
    of_system[np.repeat(alike, others)] = deleted[np.repeat(alike, lengths)]
    made = []
    for trees, gone in ((gold, deleted), (system, of_system)):
        before = offsets_of((~gone).astype(np.int64))
        firsts = trees.word_offsets[owners_of(trees.node_offsets)]
        starts, ends = (before[firsts + bound] - before[firsts] for bound in (trees.starts, trees.ends))
        words, tags = trees.words[~gone], trees.tags[~gone]
        offsets = before[trees.word_offsets]
        made.append(replace(trees, starts=starts, ends=ends, words=words, tags=tags, word_offsets=offsets))
    return made[0], made[1]


def _side(trees: ConstituentTreebank) -> Side:
    ends = trees.ends.copy()
    for sentence, problem in trees.sentences.unreadable.items():
        if isinstance(problem, UnbalancedLine):
            ends[np.array(problem.unclosed, np.int64) + int(trees.node_offsets[sentence])] = -1
    return Side(trees.labels, trees.starts, ends, trees.node_offsets, trees.words, trees.tags, trees.word_offsets)


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
    deleted = set() if choices.bare_spans else set(deleted_labels(choices))  # bare spans have no labels
    equal = {b if a in deleted else a for a, b in choices.equal_labels if a in deleted or b in deleted}
    alike = (
        Equal(listed(vocabulary, [name for pair in pairs for name in pair]), numbers)
        for pairs, numbers in ((choices.equal_labels, label_pairs), (choices.equal_words, word_pairs))
    )
    return Tables(
        listed(vocabulary, choices.delete_labels if choices.delete_words and not choices.bare_spans else ()),
        listed(vocabulary, choices.delete_labels_for_length),
        cut,
        cut if choices.cut_tags else np.arange(size, dtype=np.int64),
        listed(vocabulary, deleted | equal),
        listed(vocabulary, choices.quote_labels),
        listed(vocabulary, QUOTES),
        *alike,
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


def fill_empty(treebank: ConstituentTreebank) -> ConstituentTreebank:
    """Put a word of tag FILLER into every constituent that has neither words nor constituents.

    An empty constituent is below the lowest one that touches its position.
    """
    empty = treebank.starts == treebank.ends
    if not empty.any():
        return treebank
    parents, depths, _ = structure_of(treebank)
    leaves = empty.copy()
    leaves[parents[np.flatnonzero(empty & (parents != NONE))]] = False
    positions = treebank.word_offsets[:-1].repeat(np.diff(treebank.node_offsets)) + treebank.starts
    below = leaves.astype(np.int64)
    gather(np.add, parents, depths, below)
    fillers_before = offsets_of(leaves)
    before = fillers_before[:-1] - np.repeat(fillers_before[treebank.node_offsets[:-1]], np.diff(treebank.node_offsets))
    insert_at = positions[leaves]
    return replace(
        treebank,
        starts=treebank.starts + before,
        ends=treebank.ends + before + below,
        words=np.insert(treebank.words, insert_at, 0),
        tags=np.insert(treebank.tags, insert_at, FILLER),
        word_offsets=treebank.word_offsets + fillers_before[treebank.node_offsets],
    )


FINE, LENGTHS_DIFFER, WORDS_DIFFER = 0, 1, 2
"""Why a sentence could not be compared."""

MATCHED, GOLD, SYSTEM, CROSSING, WORDS, CORRECT_TAGS, UNLABELLED = range(7)
"""Columns of the figures."""

LENGTH, REASON, WORD, GOLD_WORD, SYSTEM_WORD, GOLD_BRACKETS, GOLD_WORDS, SYSTEM_WORDS = range(8)
"""Columns of the facts: WORD is the first word that differs, with its string in gold and in the output, or -1."""

PART = 200_000
"""Words and constituents of gold and of the output up to which sentences are compared together."""


class _Kept(NamedTuple):
    """The words of a side that are compared.

    Attributes:
        words, tags: of each, int64 (k,).
        before: kept words before each word of the part, and of all, int64 (w + 1,).
        offsets: those of each sentence, int64 (n + 1,).
        inserted: how many quotes were put back into each sentence, int64 (n,).
    """

    words: IntArray
    tags: IntArray
    before: IntArray
    offsets: IntArray
    inserted: IntArray

    @property
    def counts(self) -> IntArray:
        """How many words each sentence has, int64 (n,)."""
        return np.diff(self.offsets)


class _Judged(NamedTuple):
    """The n sentences of a part before their brackets are looked at: the words of both sides, and facts of each.

    Attributes:
        gold, system: their words.
        status: uint8 (n,).
        reasons: FINE or why not, int64 (n,).
        differing: the first word that differs, or -1, int64 (n,).
        compared: whether brackets are compared, bool (n,).
    """

    gold: _Kept
    system: _Kept
    status: StatusArray
    reasons: IntArray
    differing: IntArray
    compared: BoolArray


class _Brackets(NamedTuple):
    """Brackets of one side that are compared, in pre-order, int64 (b,) each; one left open may end below 0."""

    sentences: IntArray
    starts: IntArray
    ends: IntArray
    labels: IntArray

    def where(self, chosen: BoolArray | IntArray) -> _Brackets:
        return _Brackets._make(column[chosen] for column in self)


def _by_tag(table: BoolArray, tags: IntArray, *, filler: bool = False) -> BoolArray:
    """Look tags up in a table over the vocabulary, with a value for FILLER; FILLER and NO_TAG are below 0."""
    return np.asarray(np.append(table, [filler, False])[tags], np.bool_)


def _alike(first: IntArray, second: IntArray, equal: Equal) -> BoolArray:
    """Compare strings as EVALB does: the same, or one of the given pairs in either direction; not transitive."""
    same = first == second
    if len(equal.pairs):
        rest = np.flatnonzero(~same & (first >= 0) & (second >= 0))
        size = len(equal.paired)
        keys = [one * size + other for one, other in (equal.pairs.T, equal.pairs.T[::-1])]
        same[rest] = np.isin(first[rest] * size + second[rest], np.concatenate(keys))
    return np.asarray(same, np.bool_)


def _kept(side: Side, tables: Tables, copies: IntArray) -> _Kept:
    """Return the words that are compared, and deleted ones as often as `copies` says, int64 (w,)."""
    times = np.where(_by_tag(tables.deleted, side.tags), copies, 1)
    before, inserted = offsets_of(times), offsets_of(copies)[side.word_offsets]
    tags = np.append(tables.tags, [-2, -1])[side.tags]  # tags below 0 stand for themselves
    return _Kept(
        np.repeat(side.words, times), np.repeat(tags, times), before, before[side.word_offsets], np.diff(inserted)
    )


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


def _quotes(side: Side, tables: Tables, kept: _Kept) -> tuple[IntArray, IntArray]:
    """Return the words that may be quotes, and where those of each sentence begin, int64 (n + 1,).

    Rows are tag, kept words before in the sentence, and place in the part.
    """
    quotes = _by_tag(tables.quote_tags, side.tags) & tables.quote_words[side.words]
    places = np.flatnonzero(quotes)
    offsets = np.searchsorted(places, side.word_offsets)
    before = kept.before[places] - np.repeat(kept.offsets[:-1], np.diff(offsets))
    return np.stack([side.tags[places], before, places], axis=1), offsets


def _with_quotes(inputs: Inputs, gold: _Kept, system: _Kept, chosen: IntArray) -> tuple[_Kept, _Kept]:
    """Put quotes back into the chosen sentences, and return the words of all."""
    tables = inputs.tables
    sides = inputs.gold, inputs.system
    (golds, firsts), (systems, other_firsts) = (
        _quotes(side, tables, kept) for side, kept in zip(sides, (gold, system), strict=True)
    )
    copies = np.zeros((2, max(len(side.words) for side in sides)), np.int64)
    for sentence in chosen.tolist():
        own = golds[firsts[sentence] : firsts[sentence + 1]]
        others = systems[other_firsts[sentence] : other_firsts[sentence + 1]]
        if len(own) and len(others):
            _repair(own, len(own), others, len(others), tables.deleted, copies)
    kept = [_kept(side, tables, row[: len(side.words)]) for side, row in zip(sides, copies, strict=True)]
    return kept[0], kept[1]


def _judge(inputs: Inputs) -> _Judged:
    """Tell which sentences can be compared."""
    tables, choices, faults = inputs.tables, inputs.choices, inputs.faults
    gold, system = (_kept(side, tables, np.zeros(len(side.words), np.int64)) for side in (inputs.gold, inputs.system))
    status = np.full(len(faults), OK, np.uint8)
    status[faults != 0] = ERROR
    reasons, differing = np.full(len(faults), FINE, np.int64), np.full(len(faults), -1, np.int64)
    if choices.check_words:
        readable = faults != UNREADABLE
        status[readable & (system.counts == 0)] = SKIP
        chosen = readable & (status != SKIP)
        if choices.quote_labels:
            unequal = np.flatnonzero(chosen & (gold.counts != system.counts))
            if len(unequal):
                gold, system = _with_quotes(inputs, gold, system, unequal)
        unequal = chosen & (gold.counts != system.counts)
        reasons[unequal] = LENGTHS_DIFFER
        sentences = np.flatnonzero(chosen & ~unequal)
        counts = gold.counts[sentences]
        places, _ = ranges_of(gold.offsets[sentences], counts)
        others, _ = ranges_of(system.offsets[sentences], counts)
        differ = np.flatnonzero(~_alike(gold.words[places], system.words[others], tables.equal_words))
        owners, firsts = np.unique(np.repeat(sentences, counts)[differ], return_index=True)
        reasons[owners] = WORDS_DIFFER
        differing[owners] = places[differ[firsts]] - gold.offsets[owners]
        status[reasons != FINE] = ERROR
    compared = (status == OK) | ((faults == SHOWN) & (status == ERROR) & (reasons == FINE))
    return _Judged(gold, system, status, reasons, differing, compared)


def _brackets(side: Side, kept: _Kept, inserted: IntArray, inputs: Inputs) -> _Brackets:
    """Return the brackets that are compared.

    A node left open (end below 0) ends where EVALB's memory puts it: at -1, moved by the `inserted` quotes.
    """
    tables = inputs.tables
    owners = owners_of(side.node_offsets)
    begins, first_kept = side.word_offsets[owners], kept.offsets[owners]
    left_open = side.ends < 0
    starts = begins + side.starts
    ends = np.where(left_open, side.word_offsets[owners + 1], begins + side.ends)
    labels = tables.cut[side.labels]
    from_kept = kept.before[starts] - first_kept
    to_kept = np.where(left_open, inserted[owners] - 1, kept.before[ends] - first_kept)
    chosen = (from_kept != to_kept) & ~tables.dropped[labels]
    if not inputs.choices.outer_bracket:  # one without a label that is inside none with a label
        named = side.labels != 0
        chosen &= named | (starts < np.maximum.accumulate(np.where(named, ends, 0)))
    nodes = _Brackets(owners, from_kept, to_kept, labels)
    if inputs.choices.bare_spans:
        chosen = are_bare(owners, from_kept, to_kept, kept.counts, chosen)
    if not inputs.choices.preterminals:
        return nodes.where(chosen)
    word_owners = owners_of(side.word_offsets)
    tagged = side.tags >= 0
    tags = np.append(tables.cut, [0, 0])[side.tags]
    of_words = kept.before[:-1] - kept.offsets[word_owners]
    words = _Brackets(word_owners, of_words, of_words + 1, tags)
    tagged &= ~_by_tag(tables.deleted, side.tags) & ~tables.dropped[tags]
    # Each word stands before the first node that begins behind it.
    is_word = np.ones(len(starts) + len(tags), np.bool_)
    is_word[np.arange(len(starts)) + starts] = False
    order = np.empty(len(is_word), np.int64)
    order[~is_word], order[is_word] = np.arange(len(starts)), len(starts) + np.arange(len(tags))
    order = order[np.append(chosen, tagged)[order]]
    return _Brackets._make(np.append(node, word)[order] for node, word in zip(nodes, words, strict=True))


def are_bare(sentences: IntArray, starts: IntArray, ends: IntArray, words: IntArray, chosen: BoolArray) -> BoolArray:
    """Tell which brackets are of two words or more, but not of the whole sentence; of equal ones the first.

    Args:
        sentences: of brackets in pre-order, int64 (b,).
        starts: theirs.
        ends: theirs.
        words: of each sentence, int64 (n,).
        chosen: the brackets that count at all, bool (b,).
    """
    lengths = ends - starts
    places = np.flatnonzero(chosen & (lengths > 1) & (lengths < words[sentences]))
    spans = np.stack([sentences, starts, ends])[:, places]
    first = np.ones(len(places), np.bool_)
    first[1:] = (spans[:, 1:] != spans[:, :-1]).any(axis=0)  # in pre-order equal ones follow each other
    bare: BoolArray = np.zeros(len(starts), np.bool_)
    bare[places[first]] = True
    return bare


def _paired(gold: _Brackets, system: _Brackets, inputs: Inputs) -> tuple[IntArray, IntArray]:
    """Pair gold's brackets with the system's: each takes the first one left with its label, in pre-order (as EVALB)."""
    equal = inputs.tables.equal_labels
    if not inputs.choices.labelled:
        return _pairs_of_spans(gold, system)
    sides = []
    for side in (gold, system):
        often = equal.paired[side.labels]
        sides.append((np.flatnonzero(~often), np.flatnonzero(often)))
    (alone, several), (other_alone, other_several) = sides
    top = _top(gold, system)
    columns = [[*_spans(side, top), side.labels] for side in (gold.where(alone), system.where(other_alone))]
    golds, systems = paired_rows(*columns)
    more = _paired_alike(gold.where(several), system.where(other_several), equal)
    return (
        np.concatenate([alone[golds], several[more[:, 0]]]),
        np.concatenate([other_alone[systems], other_several[more[:, 1]]]),
    )


def _pairs_of_spans(gold: _Brackets, system: _Brackets) -> tuple[IntArray, IntArray]:
    top = _top(gold, system)
    return paired_rows(_spans(gold, top), _spans(system, top))


def _spans(side: _Brackets, top: int) -> list[IntArray]:
    """Return columns, 0 or more, that are equal where spans are, and rise in pre-order; no end is above `top`."""
    return [side.sentences, side.starts, top - side.ends]


def _top(gold: _Brackets, system: _Brackets) -> int:
    return max(int(side.ends.max(initial=0)) for side in (gold, system))


def _paired_alike(gold: _Brackets, system: _Brackets, equal: Equal) -> IntArray:
    """Pair brackets whose labels may count as equal to others: row numbers of gold and of the system, int64 (p, 2)."""
    alike: dict[int, set[int]] = {}
    for one, other in equal.pairs.tolist():
        alike.setdefault(one, {one}).add(other)
        alike.setdefault(other, {other}).add(one)
    left: dict[tuple[int, ...], list[int]] = {}
    for index, key in reversed(list(enumerate(zip(*(column.tolist() for column in system), strict=True)))):
        left.setdefault(key, []).append(index)
    pairs = []
    for index, (*span, label) in enumerate(zip(*(column.tolist() for column in gold), strict=True)):
        found = [stack for other in alike[label] if (stack := left.get((*span, other)))]
        if found:
            pairs.append((index, min(found, key=lambda stack: stack[-1]).pop()))
    return np.array(pairs, np.int64).reshape(-1, 2)


def _crossing(gold: _Brackets, system: _Brackets, words: IntArray) -> BoolArray:
    """Tell of each of the system's brackets whether it crosses one of gold's: they overlap, neither inside the other.

    Args:
        gold: gold's brackets.
        system: the system's.
        words: of each sentence, int64 (n,).
    """
    offsets = offsets_of(words + 1)
    spans = gold.where(gold.ends > gold.starts)
    others = offsets[spans.sentences][:, None] + np.stack([spans.starts, spans.ends], axis=1)
    crosses = np.zeros(len(system.starts), np.bool_)
    wide = np.flatnonzero(system.ends - system.starts > 1)
    places = offsets[system.sentences[wide]]
    crosses[wide] = crossing_spans(places + system.starts[wide], places + system.ends[wide], others)
    return crosses


def _right_tags(judged: _Judged, equal: Equal) -> tuple[IntArray, IntArray]:
    """Count the kept words of gold in each sentence that are no fillers, and those whose tag the system has."""
    gold, system = judged.gold, judged.system
    owners = owners_of(gold.offsets)
    places = np.arange(len(owners)) - gold.offsets[owners] + system.offsets[owners]
    real = gold.tags != FILLER
    there = np.flatnonzero(real & (places < system.offsets[owners + 1]))
    right = there[_alike(gold.tags[there], system.tags[places[there]], equal)]
    size = len(gold.counts)
    return sums_by(owners[real], size), sums_by(owners[right], size)


def _parts(inputs: Inputs) -> Iterator[tuple[slice, Inputs]]:
    """Divide the sentences into parts that are compared together: arrays of a part fit into a cache."""
    sizes = sum((side.node_offsets + side.word_offsets for side in (inputs.gold, inputs.system)), np.zeros(1, np.int64))
    start, sentences = 0, len(inputs.faults)
    while start < sentences:
        stop = max(start + 1, int(np.searchsorted(sizes, sizes[start] + PART, "right")) - 1)
        yield slice(start, stop), inputs.part(start, stop)
        start = stop


def compare(inputs: Inputs) -> tuple[IntArray, StatusArray, IntArray]:
    """Compare every sentence.

    Returns:
        Figures int64 (n, 7); status uint8 (n,); facts int64 (n, 8). Columns as the constants above.
    """
    sentences = len(inputs.faults)
    figures, facts = np.zeros((sentences, 7), np.int64), np.zeros((sentences, 8), np.int64)
    status = np.zeros(sentences, np.uint8)
    for part, its_inputs in _parts(inputs):
        judged = _judge(its_inputs)
        status[part] = judged.status
        gold = _brackets(its_inputs.gold, judged.gold, judged.gold.inserted, its_inputs)
        system = _brackets(its_inputs.system, judged.system, judged.system.inserted, its_inputs)
        figures[part] = _figures(judged, gold, system, its_inputs)
        facts[part] = _facts(judged, gold, its_inputs)
    return figures, status, facts


def _figures(judged: _Judged, gold: _Brackets, system: _Brackets, inputs: Inputs) -> IntArray:
    compared, size = judged.compared, len(judged.status)
    gold, system = (side.where(compared[side.sentences]) for side in (gold, system))
    spans, _ = _pairs_of_spans(gold, system)
    matched = _paired(gold, system, inputs)[0] if inputs.choices.labelled else spans
    crossing = _crossing(gold, system, np.maximum(judged.gold.counts, judged.system.counts))
    words, right = _right_tags(judged, inputs.tables.equal_labels)
    counted = gold.sentences[matched], gold.sentences, system.sentences, system.sentences[crossing]
    sums = [sums_by(sentences, size) for sentences in (*counted, gold.sentences[spans])]
    return np.stack([*sums[:4], words * compared, right * compared, sums[4]], axis=1)


def _facts(judged: _Judged, gold_brackets: _Brackets, inputs: Inputs) -> IntArray:
    gold, system, size = judged.gold, judged.system, len(judged.status)
    uncounted = _by_tag(inputs.tables.uncounted, inputs.gold.tags, filler=True)
    differ = np.flatnonzero(judged.differing >= 0)
    words = np.full((2, size), -1, np.int64)
    for row, side in zip(words, (gold, system), strict=True):
        row[differ] = side.words[side.offsets[differ] + judged.differing[differ]]
    length = sums_by(owners_of(inputs.gold.word_offsets)[~uncounted], size)
    brackets = sums_by(gold_brackets.sentences, size)
    return np.stack((length, judged.reasons, judged.differing, *words, brackets, gold.counts, system.counts), axis=1)


def collect(inputs: Inputs) -> Collected:
    """Return the brackets that `compare` compares, of sentences of any status."""
    columns: list[list[IntArray]] = [[], []]
    counts: list[list[IntArray]] = [[], []]
    for _, part in _parts(inputs):
        judged = _judge(part)
        fine = judged.status == OK
        gold, system = (
            _brackets(side, kept, kept.inserted * fine, part)
            for side, kept in ((part.gold, judged.gold), (part.system, judged.system))
        )
        own, others = (np.flatnonzero(fine[side.sentences]) for side in (gold, system))
        golds, systems = _paired(gold.where(own), system.where(others), part)
        partners, taken = np.full(len(gold.labels), -1, np.int64), np.zeros(len(system.labels), np.int64)
        partners[own[golds]] = system.labels[others[systems]]
        taken[others[systems]] = 1
        for number, (side, matched) in enumerate(((gold, partners), (system, taken))):
            columns[number].append(np.stack([side.starts, side.ends, side.labels, matched]))
            counts[number].append(sums_by(side.sentences, len(fine)))
    nothing = np.zeros((4, 0), np.int64), np.zeros(0, np.int64)
    sides = [np.concatenate([nothing[0], *parts], axis=1) for parts in columns]
    offsets = [offsets_of(np.concatenate([nothing[1], *parts])) for parts in counts]
    return Collected(sides[0], sides[1], np.stack(offsets))
