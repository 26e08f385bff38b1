"""Shared by transforms: deletion of words and nodes from constituent treebanks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of, sums_by
from treescore.core.structure import NONE, structure_of
from treescore.core.trees import ConstituentTreebank, Sentences, Vocabulary
from treescore.core.word_check import paired_words
from treescore.formats.shared.bracket_reader import UnbalancedLine


def without_words(treebank: ConstituentTreebank, deleted: BoolArray) -> ConstituentTreebank:
    """Delete the words of `deleted`, bool (w,). Nodes stay, some of them without words."""
    if not deleted.any():
        return treebank
    before = offsets_of((~deleted).astype(np.int64))
    firsts = np.repeat(treebank.word_offsets[:-1], np.diff(treebank.node_offsets))
    return replace(
        treebank,
        starts=before[firsts + treebank.starts] - before[firsts],
        ends=before[firsts + treebank.ends] - before[firsts],
        words=treebank.words[~deleted],
        tags=treebank.tags[~deleted],
        word_offsets=before[treebank.word_offsets],
    )


def without_nodes(treebank: ConstituentTreebank, deleted: BoolArray) -> ConstituentTreebank:
    """Delete the nodes of `deleted`, bool (m,), and raise their children."""
    if not deleted.any():
        return treebank
    kept = ~deleted
    owners = owners_of(treebank.node_offsets)
    return replace(
        treebank,
        labels=treebank.labels[kept],
        starts=treebank.starts[kept],
        ends=treebank.ends[kept],
        node_offsets=offsets_of(sums_by(owners[kept], len(treebank))),
        sentences=_renumbered(treebank.sentences),
    )


def _renumbered(sentences: Sentences) -> Sentences:
    """Delete numbers of nodes from problems, since they no longer name the brackets that a line left open."""
    if not any(isinstance(problem, UnbalancedLine) for problem in sentences.unreadable.values()):
        return sentences
    unreadable = {
        sentence: replace(problem, unclosed=()) if isinstance(problem, UnbalancedLine) else problem
        for sentence, problem in sentences.unreadable.items()
    }
    return replace(sentences, unreadable=unreadable)


def decided_by(
    treebank: ConstituentTreebank, guide: ConstituentTreebank, decide: Callable[[ConstituentTreebank], BoolArray]
) -> BoolArray:
    """Find the words of the treebank that `decide` chooses, bool (w,).

    It looks at the guide, by position, in sentences with equally many words; at the treebank itself in others.
    """
    chosen = decide(treebank)
    if guide is treebank:
        return chosen
    sentences = min(len(treebank), len(guide))
    same = np.diff(treebank.word_offsets)[:sentences] == np.diff(guide.word_offsets)[:sentences]
    words, guide_words = paired_words(treebank, guide, same)
    chosen = chosen.copy()
    chosen[words] = decide(guide)[guide_words]
    return chosen


def empty_nodes(treebank: ConstituentTreebank) -> BoolArray:
    """Find nodes that dominate no word: bool (m,)."""
    return np.asarray(treebank.starts == treebank.ends, np.bool_)


def outer_brackets(treebank: ConstituentTreebank) -> BoolArray:
    """Find outermost brackets without a label: bool (m,)."""
    return np.asarray((structure_of(treebank).parents == NONE) & (treebank.labels == 0), np.bool_)


def numbered(vocabulary: Vocabulary, numbers: IntArray, accepts: Callable[[str], bool]) -> BoolArray:
    """Tell which numbers stand for a string that `accepts` accepts: the same shape; negative numbers never do."""
    present = np.flatnonzero(np.bincount(numbers[numbers >= 0], minlength=1)) if numbers.size else numbers
    table = np.zeros(len(vocabulary) + 1, np.bool_)
    for number in present.tolist():
        table[number] = accepts(vocabulary.strings[number])
    return np.asarray(table[np.where(numbers >= 0, numbers, len(vocabulary))], np.bool_)


def rewritten(vocabulary: Vocabulary, numbers: IntArray, rewrite: Callable[[str], str]) -> IntArray:
    """Return numbers of the rewritten strings: the same shape; negative numbers stay."""
    present = np.flatnonzero(np.bincount(numbers[numbers >= 0], minlength=1)) if numbers.size else numbers
    changes = {number: vocabulary.number(rewrite(vocabulary.strings[number])) for number in present.tolist()}
    table = np.arange(len(vocabulary) + 1, dtype=np.int64)
    for number, new in changes.items():
        table[number] = new
    return np.where(numbers >= 0, table[np.where(numbers >= 0, numbers, 0)], numbers)


def unary_nodes(treebank: ConstituentTreebank, *, keep: str = "top", over_words: bool = False) -> BoolArray:
    """Find nodes to drop so that no constituent has only one child: bool (m,).

    Of a chain of nodes over the same words the top one stays, or with `keep` "bottom" the lowest. With `over_words`
    phrases over a single word go as well, all but the topmost labelled node. An outermost bracket without label
    takes no part, nor do brackets without words: the columns do not say which of them stands in which.
    """
    links = structure_of(treebank)
    outer = (links.parents == NONE) & (treebank.labels == 0)
    # NONE picks the last place: a node at the top stands as if below an outer bracket.
    root = ~outer & np.append(outer, True)[links.parents]
    starts, ends = np.append(treebank.starts, -1)[links.parents], np.append(treebank.ends, -1)[links.parents]
    lower = ~outer & ~root & (starts == treebank.starts) & (ends == treebank.ends) & (starts < ends)
    deleted = lower
    if keep == "bottom":
        deleted = np.zeros(len(lower), np.bool_)
        deleted[links.parents[lower]] = True
    if over_words:
        single = treebank.ends - treebank.starts == 1
        deleted = np.where(single & ~outer, ~root, deleted)
    return np.asarray(deleted, np.bool_)
