"""Align the words of two segmentations of one text; tokens and words are spans of its characters.

The method is that of conll18_ud_eval.py (Zeman et al. 2018): characters are those of all tokens' surface forms without
spaces (Unicode category Zs); sentences, tokens and words are spans of them. Words outside multiword tokens align
where their spans are equal; around multiword tokens, the longest common subsequence of lower-cased forms decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of
from treescore.core.disclosure import Fields
from treescore.core.jit import interpreted, unless_interpreted
from treescore.core.trees import DependencyTreebank
from treescore.errors import InputError, LimitError, Problem
from treescore.formats.shared.lines import short, without_spaces
from treescore.metrics.shared.align import PlainTables, Spans, align_words


@dataclass(frozen=True, slots=True)
class Segmentation:
    """A treebank over the characters of its text, n sentences, t tokens, w words.

    Attributes:
        treebank: the treebank itself.
        text: the characters.
        token_starts, token_ends: half-open spans, int64 (t,).
        token_of_word: int64 (w,).
        multiword: whether a word is part of a multiword token, bool (w,).
        sentence_starts, sentence_ends: spans of the sentences, int64 (n,).
        token_words: first word of each token, int64 (t,).
    """

    treebank: DependencyTreebank
    text: str
    token_starts: IntArray
    token_ends: IntArray
    token_of_word: IntArray
    multiword: BoolArray
    sentence_starts: IntArray
    sentence_ends: IntArray
    token_words: IntArray


@dataclass(frozen=True, slots=True)
class Alignment:
    """The a pairs of aligned words, in order.

    Attributes:
        gold, system: the segmentations.
        gold_words, system_words: the pairs, words over the whole text, int64 (a,).
        gold_of: gold word of each system word, UNALIGNED where it has none, int64 (system words,).
        system_of: system word of each gold word, UNALIGNED where it has none, int64 (gold words,).
    """

    gold: Segmentation
    system: Segmentation
    gold_words: IntArray
    system_words: IntArray
    gold_of: IntArray
    system_of: IntArray

    def sentences_of(self, starts: IntArray) -> IntArray:
        """Return the gold sentence that contains each character of `starts`: int64, the same shape."""
        return np.searchsorted(self.gold.sentence_starts, starts, "right").astype(np.int64) - 1


UNALIGNED = -2
"""Partner of a word without a partner; -1 means the root."""

MAX_STEPS = 1_000_000_000
"""Limit on the work of aligning multiword stretches, in steps of 64 cells."""


def aligned_fields(*columns: str) -> Fields:
    """Show the output's own words by sentence and word, with these columns; gold's unaligned words are not shown."""
    numbers = {"system_sentence": "sentence", "system_word": "word"}
    return Fields({**numbers, **{f"system_{name}": f"system_{name}" for name in columns}}, required="system_word")


def segmentation_of(treebank: DependencyTreebank) -> Segmentation:
    """Map a treebank to the characters of its text. Every surface form must have a character that is not a space."""
    words = len(treebank.forms)
    edges = np.zeros(words + 1, np.int64)
    edges[treebank.mwt_starts] += 1
    edges[treebank.mwt_ends] -= 1
    multiword = np.cumsum(edges[:-1]) > 0
    starts_token = ~multiword
    starts_token[treebank.mwt_starts] = True
    surface = treebank.forms.copy()
    surface[treebank.mwt_starts] = treebank.mwt_forms
    token_words = np.flatnonzero(starts_token)
    surface = surface[token_words]
    vocabulary = treebank.vocabulary
    distinct = vocabulary.distinct(surface).tolist()
    stripped = {number: without_spaces(vocabulary.strings[number]) for number in distinct}
    lengths = np.zeros(len(vocabulary), np.int64)
    lengths[distinct] = [len(stripped[number]) for number in distinct]
    bounds = offsets_of(lengths[surface])
    sentence_bounds = bounds[np.searchsorted(token_words, treebank.word_offsets)]
    return Segmentation(
        treebank=treebank,
        text="".join(map(stripped.__getitem__, surface.tolist())),
        token_starts=bounds[:-1],
        token_ends=bounds[1:],
        token_of_word=np.cumsum(starts_token) - 1,
        multiword=multiword,
        sentence_starts=sentence_bounds[:-1],
        sentence_ends=sentence_bounds[1:],
        token_words=token_words,
    )


def alignment_of(gold: DependencyTreebank, system: DependencyTreebank) -> Alignment:
    """Align the words of two treebanks of one text.

    Raises:
        InputError: `text-mismatch`, the texts differ; with the place of the first difference on both sides.
        LimitError: overlapping multiword tokens form a stretch that is too long to align.
    """
    sides = segmentation_of(gold), segmentation_of(system)
    if sides[0].text != sides[1].text:
        raise InputError(_difference(*sides))
    if any(side.multiword.any() for side in sides):
        gold_words, system_words = _with_multiwords(*sides)
    else:
        gold_words, system_words = _same_spans(*sides)
    gold_of = np.full(len(system.forms), UNALIGNED, np.int64)
    system_of = np.full(len(gold.forms), UNALIGNED, np.int64)
    gold_of[system_words] = gold_words
    system_of[gold_words] = system_words
    return Alignment(sides[0], sides[1], gold_words, system_words, gold_of, system_of)


def _same_spans(gold: Segmentation, system: Segmentation) -> tuple[IntArray, IntArray]:
    """Pair the words with the same characters, where every word is a token."""
    indices = np.searchsorted(system.token_starts, gold.token_starts)
    indices = np.minimum(indices, len(system.token_starts) - 1)
    same = (system.token_starts[indices] == gold.token_starts) & (system.token_ends[indices] == gold.token_ends)
    return np.flatnonzero(same), indices[same]


def _with_multiwords(gold: Segmentation, system: Segmentation) -> tuple[IntArray, IntArray]:
    """Pair the words in the order of the text as the original program does. Raises LimitError."""
    keys = _keys(gold, system)
    gold_spans, system_spans = _spans(gold, keys[0]), _spans(system, keys[1])
    found = unless_interpreted(align_words, gold_spans, system_spans, MAX_STEPS)
    if found is None:
        walk = interpreted(align_words, common_subsequence=PlainTables())
        found = walk(_views(gold_spans), _views(system_spans), MAX_STEPS)
    pairs, complete = found
    if not complete:
        detail = (
            "Overlapping multiword tokens of gold and output form a stretch that is too long to align. "
            "Check the ranges (3-4) in the ID column."
        )
        raise LimitError(Problem("multiword-stretch-too-long", detail))
    gold_words, system_words = np.ascontiguousarray(pairs.T)
    return gold_words, system_words


def _spans(side: Segmentation, keys: IntArray) -> Spans:
    return Spans(side.token_starts[side.token_of_word], side.token_ends[side.token_of_word], side.multiword, keys)


def _views(spans: Spans) -> Spans:
    """Wrap the arrays that Python reads number by number: it reads a view of an array as fast as a list."""
    columns: list[Any] = list(spans)
    return Spans._make(map(memoryview, columns))


def _keys(gold: Segmentation, system: Segmentation) -> tuple[IntArray, IntArray]:
    """Number forms, equal ones in lower case alike; words that are tokens lose their spaces first."""
    lowered: dict[str, int] = {}

    def key_of_token(form: str) -> int:
        return lowered.setdefault(without_spaces(form).lower(), len(lowered))

    def key_of_part(form: str) -> int:
        return lowered.setdefault(form.lower(), len(lowered))

    keys_of_sides = []
    for side in (gold, system):
        forms, vocabulary = side.treebank.forms, side.treebank.vocabulary
        inside = side.multiword
        keys = np.empty(len(forms), np.int64)
        keys[inside] = vocabulary.table(forms[inside], key_of_part)[forms[inside]]
        keys[~inside] = vocabulary.table(forms[~inside], key_of_token)[forms[~inside]]
        keys_of_sides.append(keys)
    return keys_of_sides[0], keys_of_sides[1]


def _difference(gold: Segmentation, system: Segmentation) -> Problem:
    if not gold.text or not system.text:  # trees without words have dependencies without words
        detail = "The output has no words." if gold.text else "The output has words, but gold has none."
        return Problem("text-mismatch", f"{detail} Keep every character of the text.")
    position = _common_prefix(gold.text, system.text)
    (gold_place, _, _), (system_place, sentence, line) = _place(gold, position), _place(system, position)
    system_text = f"has {short(system.text[position:], 20)!r}" if position < len(system.text) else "ends there"
    beginning = (
        f"The words of the output differ from gold's text. The first difference is at character {position + 1} "
        f"(without spaces): {system_place} of the output, which {system_text}"
    )
    gold_text = f"has {short(gold.text[position:], 20)!r}" if position < len(gold.text) else "ends there"
    detail = f"{beginning}. Keep every character of the text when tokenizing."
    return Problem(
        "text-mismatch",
        detail,
        line=line,
        column=2 if line else None,
        sentence=sentence,
        gold_detail=f"{beginning}, and {gold_place} of gold, which {gold_text}.",
    )


def _place(side: Segmentation, position: int) -> tuple[str, int, int | None]:
    """Return the place of a character: in words, its sentence from 1, and its line where known."""
    position = min(position, len(side.text) - 1)
    token = int(np.searchsorted(side.token_starts, position, "right")) - 1
    word = int(side.token_words[token])
    sentence = int(np.searchsorted(side.treebank.word_offsets, word, "right"))
    line = int(side.treebank.lines[word]) or None
    return f"sentence {sentence}" + (f", line {line}" if line else ""), sentence, line


def _common_prefix(first: str, second: str) -> int:
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
