"""Check that gold and system have the same words, sentence by sentence, as EVALB does."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of
from treescore.core.registry import ERROR, OK, SKIP
from treescore.core.trees import ConstituentTreebank, DependencyTreebank, DiscontinuousTreebank
from treescore.core.wording import counted, told_apart
from treescore.errors import Problem

Words = ConstituentTreebank | DependencyTreebank | DiscontinuousTreebank


class WordCheck(NamedTuple):
    """How the words of n sentences compare.

    Attributes:
        status: of each sentence, uint8 (n,).
        unanswered: sentences with words in gold whose status is not OK, bool (n,).
        problems: why some are errors.
    """

    status: Any
    unanswered: BoolArray
    problems: Mapping[int, Problem]


def check_words(gold: Words, system: Words) -> WordCheck:
    """Compare the words of two treebanks of one length n.

    A sentence is skipped where the system has no word; else it is an error where it could not be read, where the
    numbers of words differ, or where a word differs (the first difference is reported).
    """
    gold_lengths, system_lengths = np.diff(gold.word_offsets), np.diff(system.word_offsets)
    status = np.full(len(gold), OK, np.uint8)
    same = gold_lengths == system_lengths
    first = first_differences(forms_of(gold), gold.word_offsets, forms_of(system), system.word_offsets)
    status[~same | (first >= 0)] = ERROR
    status[system_lengths == 0] = SKIP
    for side in (gold, system):
        status[[sentence for sentence in side.sentences.unreadable if sentence < len(gold)]] = ERROR
    unanswered = (status != OK) & (gold_lengths > 0)
    unanswered[list(gold.sentences.unreadable)] = False
    return WordCheck(status, unanswered, _WordProblems(gold, system, np.flatnonzero(status == ERROR), first))


def forms_of(treebank: Words) -> IntArray:
    """Return the word forms, int64 (w,)."""
    return treebank.forms if isinstance(treebank, DependencyTreebank) else treebank.words


def paired_words(a: Words, b: Words, same: Any) -> tuple[IntArray, IntArray]:
    """Return the words of the sentences in `same`, bool (n,), of equal lengths, on both sides: two int64 (k,)."""
    lengths = np.diff(a.word_offsets)[: len(same)][same]
    steps = np.arange(lengths.sum(), dtype=np.int64) - np.repeat(offsets_of(lengths)[:-1], lengths)
    words = [np.repeat(side.word_offsets[:-1][: len(same)][same], lengths) + steps for side in (a, b)]
    return words[0], words[1]


def first_differences(a: IntArray, a_offsets: IntArray, b: IntArray, b_offsets: IntArray) -> IntArray:
    """Find the first differing word of each sentence, -1 if none: int64 (n,).

    Sentences of different lengths are compared as far as both go.
    """
    lengths = np.minimum(np.diff(a_offsets), np.diff(b_offsets))
    offsets = offsets_of(lengths)
    words = np.arange(offsets[-1])
    different = np.flatnonzero(
        a[words + np.repeat(a_offsets[:-1] - offsets[:-1], lengths)]
        != b[words + np.repeat(b_offsets[:-1] - offsets[:-1], lengths)]
    )
    first = np.full(len(lengths), -1, np.int64)
    owners = np.searchsorted(offsets, different, "right") - 1
    first[owners[::-1]] = (different - offsets[owners])[::-1]  # of a sentence's the last that is assigned stays
    return first


class _WordProblems(Mapping[int, Problem]):
    """Sentence -> its problem, made on demand: a wholly wrong file would otherwise cost a million objects."""

    def __init__(self, gold: Words, system: Words, sentences: IntArray, first: IntArray) -> None:
        self._gold, self._system, self._sentences, self._first = gold, system, sentences, first

    def __len__(self) -> int:
        return len(self._sentences)

    def __iter__(self) -> Iterator[int]:
        return iter(self._sentences.tolist())

    def __getitem__(self, sentence: int) -> Problem:
        index = int(np.searchsorted(self._sentences, sentence))
        if index == len(self._sentences) or self._sentences[index] != sentence:
            raise KeyError(sentence)
        return self._problem(sentence)

    def _problem(self, sentence: int) -> Problem:
        unreadable = self._system.sentences.unreadable.get(sentence)
        if unreadable is not None:
            return unreadable
        if sentence in self._gold.sentences.unreadable:
            gold_detail = self._gold.sentences.unreadable[sentence].detail
            detail = "Gold cannot be read here."
            return Problem("gold-unreadable", detail, sentence=sentence + 1, gold_detail=gold_detail)
        gold, system = self._forms(self._gold, sentence), self._forms(self._system, sentence)
        if len(gold) != len(system):
            return Problem(
                "word-count-mismatch",
                f"The sentence has {counted(len(system), 'word')}, which is not the number of gold. "
                "Send a tree over exactly the words that were given out.",
                sentence=sentence + 1,
                gold_detail=f"The sentence has {counted(len(system), 'word')}, gold has {len(gold)}.",
            )
        word = int(self._first[sentence])
        wrong = self._system.vocabulary.strings[system[word]]
        right = self._gold.vocabulary.strings[gold[word]]
        detail = (
            f"Word {word + 1}, {wrong!r}, is not gold's word. Send the words as they were given out, in their order."
        )
        gold_detail = f"Word {word + 1} is {wrong!r}, in gold it is {right!r}.{told_apart(wrong, right)}"
        return Problem("word-mismatch", detail, sentence=sentence + 1, gold_detail=gold_detail)

    @staticmethod
    def _forms(treebank: Words, sentence: int) -> IntArray:
        return forms_of(treebank)[treebank.word_offsets[sentence] : treebank.word_offsets[sentence + 1]]
