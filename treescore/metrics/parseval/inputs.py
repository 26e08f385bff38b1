"""What the comparison of brackets is given: options, tables over the vocabulary, and treebanks as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treescore.core.arrays import BoolArray, IntArray, offsets_of
from treescore.core.structure import NONE, gather, structure_of
from treescore.core.trees import ConstituentTreebank, Vocabulary
from treescore.formats.shared.bracket_reader import UnbalancedLine
from treescore.metrics.parseval.choices import Choices


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
        return Side(
            self.labels[of_nodes],
            self.starts[of_nodes],
            self.ends[of_nodes],
            nodes - nodes[0],
            self.words[of_words],
            self.tags[of_words],
            words - words[0],
        )


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


class Inputs(NamedTuple):
    """Two treebanks of n sentences and how to compare them; `faults` is uint8 (n,)."""

    gold: Side
    system: Side
    tables: Tables
    options: Options
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
    return Inputs(_side(gold), _side(system), tables, options, faults)


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
    return Side(
        treebank.labels,
        treebank.starts,
        ends,
        treebank.node_offsets,
        treebank.words,
        treebank.tags,
        treebank.word_offsets,
    )


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
    parents, depths, _ = structure_of(treebank)
    leaves = empty.copy()
    inside = np.flatnonzero(empty & (parents != NONE))
    leaves[parents[inside]] = False
    positions = treebank.word_offsets[:-1].repeat(np.diff(treebank.node_offsets)) + treebank.starts
    below = leaves.astype(np.int64)
    gather(np.add, parents, depths, below)
    fillers_before = offsets_of(leaves)
    lengths = np.diff(treebank.node_offsets)
    before = fillers_before[:-1] - np.repeat(fillers_before[treebank.node_offsets[:-1]], lengths)
    insert_at = positions[leaves]
    return replace(
        treebank,
        starts=treebank.starts + before,
        ends=treebank.ends + before + below,
        words=np.insert(treebank.words, insert_at, 0),
        tags=np.insert(treebank.tags, insert_at, FILLER),
        word_offsets=treebank.word_offsets + fillers_before[treebank.node_offsets],
    )
