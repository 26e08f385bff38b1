"""Align the words of two segmentations of one text; tokens and words are spans of its characters.

The method is that of conll18_ud_eval.py (Zeman et al. 2018): characters are those of all tokens' surface forms without
spaces (Unicode category Zs); sentences, tokens and words are spans of them. Words outside multiword tokens align where
their spans are equal; around multiword tokens, the longest common subsequence of lower-cased forms decides: it is found
without a full table (compiled).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treescore.core.arrays import BoolArray, IntArray, offsets_of, ones_in
from treescore.core.jit import compiled, interpreted, unless_interpreted, weighing
from treescore.core.registry import Fields
from treescore.core.trees import DependencyTreebank
from treescore.core.wording import told_apart
from treescore.errors import InputError, Problem
from treescore.formats.shared.lines import short, without_spaces

Bits = NDArray[np.uint64]

_ALL = 0xFFFFFFFFFFFFFFFF

PLAIN_CELLS = 10_000
"""Cells of a table that Python fills in some 2 ms."""
PLAIN_CELLS_IN_ALL = 2_000_000
"""Cells that Python fills in the time in which the compiler is loaded (with 120 MB)."""


class Spans(NamedTuple):
    """The w words of one side in order.

    Attributes:
        starts, ends: characters of the token that each word belongs to, half-open, int64 (w,).
        multiword: whether the word is part of a multiword token, bool (w,).
        keys: equal numbers for words that align inside multiword tokens, int64 (w,).
    """

    starts: IntArray
    ends: IntArray
    multiword: BoolArray
    keys: IntArray


@compiled
@weighing(0.25)  # views of arrays are quick
def align_words(gold: Spans, system: Spans, max_steps: int) -> IntArray:  # noqa: C901, PLR0912, PLR0915 - the original's one walk, over arrays
    """Return the pairs of aligned words, int64 (a, 2); of stretches beyond `max_steps` the equal beginnings alone."""
    gold_starts, gold_ends, gold_multi, gold_keys = gold
    system_starts, system_ends, system_multi, system_keys = system
    golds, systems = len(gold_starts), len(system_starts)
    pairs = np.empty((min(golds, systems), 2), np.int64)
    aligned = 0
    g = s = 0
    while g < golds and s < systems:
        if not (gold_multi[g] or system_multi[s]):
            if gold_starts[g] == system_starts[s] and gold_ends[g] == system_ends[s]:
                pairs[aligned, 0] = g
                pairs[aligned, 1] = s
                aligned += 1
                g += 1
                s += 1
            elif gold_starts[g] <= system_starts[s]:
                g += 1
            else:
                s += 1
            continue
        # The smallest stretch from here that no multiword token leaves.
        if gold_multi[g]:
            end = gold_ends[g]
            if not system_multi[s] and system_starts[s] < gold_starts[g]:
                s += 1
        else:
            end = system_ends[s]
            if not gold_multi[g] and gold_starts[g] < system_starts[s]:
                g += 1
        first_gold, first_system = g, s
        while True:
            gold_beyond = g >= golds or (gold_starts[g] >= end if gold_multi[g] else gold_ends[g] > end)
            system_beyond = s >= systems or (system_starts[s] >= end if system_multi[s] else system_ends[s] > end)
            if gold_beyond and system_beyond:
                break
            if g < golds and (s >= systems or gold_starts[g] <= system_starts[s]):
                if gold_multi[g] and gold_ends[g] > end:
                    end = gold_ends[g]
                g += 1
            else:
                if system_multi[s] and system_ends[s] > end:
                    end = system_ends[s]
                s += 1
        # Equal beginnings always align; this completes nearly every stretch.
        while first_gold < g and first_system < s and gold_keys[first_gold] == system_keys[first_system]:
            pairs[aligned, 0] = first_gold
            pairs[aligned, 1] = first_system
            aligned += 1
            first_gold += 1
            first_system += 1
        if first_gold < g and first_system < s:
            steps = (g - first_gold) * ((s - first_system) // 64 + 1)
            if steps > max_steps:
                continue
            max_steps -= steps
            found = common_subsequence(gold_keys[first_gold:g], system_keys[first_system:s])
            for index in range(len(found)):
                pairs[aligned, 0] = first_gold + found[index, 0]
                pairs[aligned, 1] = first_system + found[index, 1]
                aligned += 1
    return pairs[:aligned]


class PlainTables:
    """`common_subsequence` for the stretches of one text in Python; it leaves long ones, and many, to the compiler."""

    def __init__(self) -> None:
        self._left = PLAIN_CELLS_IN_ALL

    def __call__(self, first: memoryview, second: memoryview) -> IntArray:
        """Return the pairs (l, 2) of `common_subsequence`."""
        cells = len(first) * len(second)
        self._left -= cells
        if cells > PLAIN_CELLS or self._left < 0:
            return common_subsequence(np.asarray(first), np.asarray(second))
        return np.array(plain_subsequence(first.tolist(), second.tolist()), np.int64).reshape(-1, 2)


def plain_subsequence(first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pairs that `common_subsequence` aligns, read from the whole table."""
    lengths = [[0] * (len(second) + 1)]  # of the longest common subsequences of the rests, last row of the table first
    for element in reversed(first):
        below, row = lengths[-1], [0]
        for s in range(len(second) - 1, -1, -1):
            row.append(below[s + 1] + 1 if element == second[s] else max(below[s], row[-1]))
        lengths.append(row[::-1])
    lengths.reverse()
    pairs = []
    g = s = 0
    while g < len(first) and s < len(second):
        if first[g] == second[s]:
            pairs.append((g, s))
            g += 1
            s += 1
        elif lengths[g + 1][s] == lengths[g][s]:
            g += 1
        else:
            s += 1
    return pairs


@compiled
@weighing(20)
def common_subsequence(first: IntArray, second: IntArray) -> IntArray:  # noqa: PLR0915 - one pass down, one up
    """Return the pairs (l, 2) that reading the table of longest common subsequences from its start aligns.

    Rule: equal elements align; else the element of `first` is skipped if that loses nothing; else that of `second`.

    The table L[g, s] (length for the rests from g and s on) is kept as one bit a cell: bit j of row g is 0 where
    L[g, s] = L[g, s + 1] + 1 for s = len(second) - 1 - j, and a row follows from the one below it 64 cells at a
    time (Hyyrö 2004). Only some rows are kept; the others are computed again when the reading needs
    them: time len(first) * len(second) / 64, memory that divided by the square root of len(first).
    """
    golds, systems = len(first), len(second)
    words = (systems + 63) // 64
    order = np.argsort(second, kind="mergesort")
    ordered = second[order]
    low = np.searchsorted(ordered, first, "left")
    high = np.searchsorted(ordered, first, "right")
    slots, masks = _frequent(ordered, words, order)
    block = int(np.sqrt(golds)) + 1
    blocks = (golds + block - 1) // block
    kept = np.empty((blocks + 1, words), np.uint64)
    row = np.full(words, np.uint64(_ALL), np.uint64)
    mask = np.zeros(words, np.uint64)
    kept[blocks] = row
    for g in range(golds - 1, -1, -1):
        _row_above(row, mask, order[low[g] : high[g]], slots, masks)
        if g % block == 0:
            kept[g // block] = row
    rows = np.empty((block + 1, words), np.uint64)
    pairs = np.empty((min(golds, systems), 2), np.int64)
    aligned = 0
    g = s = 0
    loaded = -1
    gain = 0
    while g < golds and s < systems:
        if g // block != loaded:
            loaded = g // block
            begin, end = loaded * block, min(golds, loaded * block + block)
            row[:] = kept[loaded + 1]
            rows[end - begin] = row
            for above in range(end - 1, begin - 1, -1):
                _row_above(row, mask, order[low[above] : high[above]], slots, masks)
                rows[above - begin] = row
            gain = _gain(rows[g - begin], rows[g - begin + 1], systems - 1 - s)
        begin = loaded * block
        if first[g] == second[s]:
            pairs[aligned, 0] = g
            pairs[aligned, 1] = s
            aligned += 1
            g += 1
            s += 1
        elif gain == 0:
            g += 1
        else:
            # Bit j leaves the rest: subtract what it added to the length of this row and of the row below.
            place = systems - 1 - s
            shift = np.uint64(place & 63)
            here = (rows[g - begin, place >> 6] >> shift) & np.uint64(1)
            below = (rows[g - begin + 1, place >> 6] >> shift) & np.uint64(1)
            gain += int(here) - int(below)
            s += 1
            continue
        if g < golds and s < systems and g // block == loaded:
            gain = _gain(rows[g - begin], rows[g - begin + 1], systems - 1 - s)
    return pairs[:aligned]


@compiled
def _frequent(ordered: IntArray, words: int, order: IntArray) -> tuple[IntArray, Bits]:
    """Make bit masks of elements that are so frequent that setting their bits one by one would cost more than a row.

    Returns:
        For each index of `second` the row of its element's mask, -1 where it has none; the masks, at most 64.
    """
    systems = len(ordered)
    slots = np.full(systems, -1, np.int64)
    masks = np.zeros((65, words), np.uint64)
    known = 0
    start = 0
    for place in range(1, systems + 1):
        if place < systems and ordered[place] == ordered[start]:
            continue
        if place - start > words:
            for member in order[start:place]:
                slots[member] = known
                bit = systems - 1 - member
                masks[known, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
            known += 1
        start = place
    return slots, masks


@compiled
def _row_above(row: Bits, scratch: Bits, places: IntArray, slots: IntArray, masks: Bits) -> None:
    """Turn row g + 1 into row g in place; `places` are the indices of `second` with the element g of `first`."""
    systems = len(slots)
    ready = len(places) > 0 and slots[places[0]] >= 0
    mask = masks[slots[places[0]]] if ready else scratch
    if not ready:
        for place in places:
            bit = systems - 1 - place
            mask[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    carry = np.uint64(0)
    for word in range(len(row)):
        old = row[word]
        matched = old & mask[word]
        added = old + matched
        total = added + carry
        carry = np.uint64(added < old) | np.uint64(total < added)
        row[word] = total | (old & ~mask[word])
    if not ready:
        for place in places:
            mask[(systems - 1 - place) >> 6] = np.uint64(0)


@compiled
def _gain(here: Bits, below: Bits, place: int) -> int:
    """Return L[g, s] - L[g + 1, s], 0 or 1: the zero bits 0..place of the row minus those of the row below."""
    gain = 0
    last = place >> 6
    for word in range(last + 1):
        keep = np.uint64(_ALL)
        if word == last:
            keep = np.uint64(_ALL) >> np.uint64(63 - (place & 63))
        gain += int(ones_in(below[word] & keep)) - int(ones_in(here[word] & keep))
    return gain


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
"""Limit on the work of aligning multiword stretches, in steps of 64 cells. It depends on both sides, so no error tells
that it was met: what lies beyond is not aligned."""


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
    """Pair the words in the order of the text as the original program does."""
    keys = _keys(gold, system)
    gold_spans, system_spans = _spans(gold, keys[0]), _spans(system, keys[1])
    pairs = unless_interpreted(align_words, gold_spans, system_spans, MAX_STEPS)
    if pairs is None:
        walk = interpreted(align_words, common_subsequence=PlainTables())
        pairs = walk(_views(gold_spans), _views(system_spans), MAX_STEPS)
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
    apart = told_apart(*(side.text[position : position + 20] for side in (system, gold)))
    detail = f"{beginning}. Keep every character of the text when tokenizing."
    return Problem(
        "text-mismatch",
        detail,
        line=line,
        column=2 if line else None,
        sentence=sentence,
        gold_detail=f"{beginning}, and {gold_place} of gold, which {gold_text}.{apart}",
    )


def _place(side: Segmentation, position: int) -> tuple[str, int, int | None]:
    """Return the place of a character: in words, its sentence from 1, and its line where known."""
    position = min(position, len(side.text) - 1)
    token = int(np.searchsorted(side.token_starts, position, "right")) - 1
    word = int(side.token_words[token])
    sentence = int(np.searchsorted(side.treebank.word_offsets, word, "right"))
    line = int(side.treebank.lines[word])
    if line and side.multiword[word]:  # the line of the range, which holds the characters, stands before
        line -= 1
        nodes = side.treebank.empty_lines
        while (nodes == line).any():
            line -= 1
    return f"sentence {sentence}" + (f", line {line}" if line else ""), sentence, line or None


def _common_prefix(first: str, second: str) -> int:
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
