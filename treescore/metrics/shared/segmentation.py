"""Align the words of two segmentations of one text; tokens and words are spans of its characters.

The method is that of conll18_ud_eval.py (Zeman et al. 2018): characters are those of all tokens' surface forms without
spaces (Unicode category Zs); sentences, tokens and words are spans of them. Words outside multiword tokens align where
their spans are equal; around multiword tokens, the longest common subsequence of lower-cased forms decides: it is found
without a full table.

Both sides are in step behind each pair of tokens with the same characters. So words are aligned one by one only where
tokens around multiword tokens differ, or their words do.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of, sums_by
from treescore.core.columns import ranges_of
from treescore.core.registry import Fields
from treescore.core.trees import DependencyTreebank, Derived
from treescore.core.wording import told_apart
from treescore.errors import InputError, Problem
from treescore.formats.shared.lines import SPACES, short, without_spaces

_MASK_BITS = 1 << 28
"""Bits of the masks of elements that are kept, the most frequent first."""


Spans = Sequence[Sequence[int]]
"""Some words of one side in order, in four columns: where the characters of the token of each word start and end,
half-open; whether it is part of a multiword token; equal numbers for words that align inside multiword tokens."""


class _Steps:
    """The steps of 64 cells that are left for aligning the multiword stretches of a text."""

    def __init__(self, left: int) -> None:
        self._left = left

    def pairs(self, gold: Sequence[int], system: Sequence[int]) -> list[tuple[int, int]]:
        """Return the pairs of words of a multiword stretch by their keys: those of `common_subsequence`.

        Equal beginnings always align; where steps do not suffice, nothing behind them does.
        """
        same = 0
        while same < len(gold) and same < len(system) and gold[same] == system[same]:
            same += 1
        rest, others = gold[same:], system[same:]
        pairs = [(place, place) for place in range(same)]
        steps = len(rest) * (len(others) // 64 + 1)
        if len(rest) and len(others) and steps <= self._left:
            self._left -= steps
            pairs += [(same + g, same + s) for g, s in common_subsequence(rest, others)]
        return pairs


def align_words(gold: Spans, system: Spans, steps: _Steps) -> Iterator[tuple[int, int]]:  # noqa: PLR0912 - the original's one walk
    """Yield the pairs of aligned words; of stretches that take more steps than are left the equal beginnings alone."""
    gold_starts, gold_ends, gold_multi, gold_keys = gold
    system_starts, system_ends, system_multi, system_keys = system
    golds, systems = len(gold_starts), len(system_starts)
    g = s = 0
    while g < golds and s < systems:
        if not (gold_multi[g] or system_multi[s]):
            if gold_starts[g] == system_starts[s] and gold_ends[g] == system_ends[s]:
                yield g, s
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
        for one, other in steps.pairs(gold_keys[first_gold:g], system_keys[first_system:s]):
            yield first_gold + one, first_system + other


def common_subsequence(first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pairs that reading the table of longest common subsequences from its start aligns.

    Rule: equal elements align; else the element of `first` is skipped if that loses nothing; else that of `second`.

    The table L[g, s] (length for the rests from g and s on) is kept as one bit a cell: bit j of row g is 0 where
    L[g, s] = L[g, s + 1] + 1 for s = len(second) - 1 - j, and a row follows from the one below it by few operations
    on whole numbers (Hyyrö 2004). Only some rows are kept; the others are computed again when the reading needs
    them: time len(first) * len(second) / 30, memory that divided by the square root of len(first).
    """
    golds, systems = len(first), len(second)
    mask_of = _masks(second)

    def above(row: int, element: int, every: int) -> int:
        matched = row & mask_of(element)
        return (row + matched | row - matched) & every

    row = every = (1 << systems) - 1
    block = isqrt(golds) + 1
    kept = {}  # the row below each block
    for g in range(golds - 1, -1, -1):
        if g == golds - 1 or (g + 1) % block == 0:
            kept[g // block] = row
        row = above(row, first[g], every)
    pairs = []
    rows: list[int] = []  # of a block, the last one first
    g = s = end = gain = 0
    compared = -1  # the row for which the gain is known: L[g, s] - L[g + 1, s], 0 or 1
    while g < golds and s < systems:
        if first[g] == second[s]:
            pairs.append((g, s))
            g += 1
            s += 1
            continue
        rest = every >> s
        if g >= end:
            end = min(golds, g // block * block + block)
            rows = [kept[g // block] & rest]
            for other in range(end - 1, g - 1, -1):
                rows.append(above(rows[-1], first[other], rest))
        here, below = rows[end - g], rows[end - g - 1]
        if compared != g:
            compared, gain = g, (below & rest).bit_count() - (here & rest).bit_count()
        if gain == 0:
            g += 1
        else:
            # Bit j leaves the rest: subtract what it added to the length of this row and of the row below.
            place = systems - 1 - s
            gain += (here >> place & 1) - (below >> place & 1)
            s += 1
    return pairs


def _masks(elements: Sequence[int]) -> Callable[[int], int]:
    """Return what makes the mask of an element: bit j is set where it stands j places before the last one."""
    size, places = len(elements), dict[int, list[int]]()
    for place, element in enumerate(reversed(elements)):
        places.setdefault(element, []).append(place)
    frequent = sorted(places, key=lambda element: -len(places[element]))[: max(1, _MASK_BITS // max(1, size))]
    kept = dict.fromkeys(frequent, -1)

    def mask_of(element: int) -> int:
        known = kept.get(element, -1)
        if known >= 0 or element not in places:
            return max(known, 0)
        flags = bytearray(size // 8 + 1)
        for place in places[element]:
            flags[place >> 3] |= 1 << (place & 7)
        mask = int.from_bytes(flags, "little")
        if element in kept:
            kept[element] = mask
        return mask

    return mask_of


@dataclass(frozen=True, slots=True)
class Surface(Derived):
    """The characters of a treebank's text without spaces, and those of each of t tokens: int64 (t,)."""

    text: str
    lengths: IntArray


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

    @property
    def owners(self) -> IntArray:
        """Gold's sentence of each word of the system: that of the first character of its token, int64."""
        return self.sentences_of(self.system.token_starts)[self.system.token_of_word]

    def sentences_of(self, starts: IntArray) -> IntArray:
        """Return the gold sentence that contains each character of `starts`, ascending: int64, the same shape."""
        return owners_of(np.append(np.searchsorted(starts, self.gold.sentence_starts), len(starts)))


UNALIGNED = -2
"""Partner of a word without a partner; -1 means the root."""

MAX_STEPS = 1_000_000_000
"""Limit on the work of aligning multiword stretches, in steps of 64 cells. It depends on both sides, so no error tells
that it was met: what lies beyond is not aligned."""


def aligned_fields(*columns: str) -> Fields:
    """Show the output's own words by sentence and word, with these columns; gold's unaligned words are not shown."""
    numbers = {"system_sentence": "sentence", "system_word": "word"}
    return Fields({**numbers, **{f"system_{name}": f"system_{name}" for name in columns}}, required="system_word")


def surface_of(treebank: DependencyTreebank) -> Surface:
    """Read the text of a treebank. Every surface form must have a character that is not a space."""
    _, starts_token = _tokens(treebank)
    forms = treebank.forms.copy()
    forms[treebank.mwt_starts] = treebank.mwt_forms
    tokens = list(map(treebank.vocabulary.strings.__getitem__, forms[starts_token].tolist()))
    text = "".join(tokens)
    if any(map(text.__contains__, SPACES)):
        tokens = list(map(without_spaces, tokens))
        text = "".join(tokens)
    return Surface(text, np.fromiter(map(len, tokens), np.int64, len(tokens)))


def _tokens(treebank: DependencyTreebank) -> tuple[BoolArray, BoolArray]:
    """Return which words are part of a multiword token, and which begin a token: bool (w,) each."""
    edges = np.zeros(len(treebank.forms) + 1, np.int64)
    edges[treebank.mwt_starts] += 1
    edges[treebank.mwt_ends] -= 1
    multiword = np.cumsum(edges[:-1]) > 0
    starts_token = ~multiword
    starts_token[treebank.mwt_starts] = True
    return multiword, starts_token


def segmentation_of(treebank: DependencyTreebank) -> Segmentation:
    """Map a treebank to the characters of its text."""
    multiword, starts_token = _tokens(treebank)
    token_words = np.flatnonzero(starts_token)
    surface = treebank.keeping(surface_of)
    bounds = offsets_of(surface.lengths)
    sentence_bounds = bounds[np.searchsorted(token_words, treebank.word_offsets)]
    return Segmentation(
        treebank=treebank,
        text=surface.text,
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


def spans_in(starts: IntArray, ends: IntArray, others: IntArray, other_ends: IntArray) -> tuple[BoolArray, IntArray]:
    """Return which spans another list has too, bool, and at which place; both are sorted."""
    place_of = np.zeros(max(int(starts.max(initial=0)), int(others.max(initial=0))) + 1, np.int64)
    place_of[others[::-1]] = np.arange(len(others))[::-1]  # of equal ones the last that is assigned stays
    places = place_of[starts]
    return np.asarray((others[places] == starts) & (other_ends[places] == ends), np.bool_), places


def _same_spans(gold: Segmentation, system: Segmentation) -> tuple[IntArray, IntArray]:
    """Pair the tokens with the same characters."""
    same, places = spans_in(gold.token_starts, gold.token_ends, system.token_starts, system.token_ends)
    return np.flatnonzero(same), places[same]


class _Side:
    """The words of one side, and those of each of t tokens that the other side has over the same characters."""

    def __init__(self, side: Segmentation, tokens: IntArray) -> None:
        self.words = len(side.token_of_word)
        self.keys = np.zeros(self.words, np.int64)
        self._treebank = side.treebank
        self.firsts = side.token_words[tokens]
        self.ends = np.append(side.token_words[1:], self.words)[tokens]
        self.multiword = side.multiword
        starts, ends = side.token_starts[side.token_of_word], side.token_ends[side.token_of_word]
        columns: list[Any] = [starts, ends, side.multiword, self.keys]
        self._views = [memoryview(column) for column in columns]  # which Python reads as fast as lists

    def number(self, words: IntArray, known: dict[str, int]) -> None:
        """Give some words their keys, equal ones in lower case alike; words that are tokens lose their spaces first."""
        inside, forms = self.multiword[words].tolist(), self._treebank.forms[words].tolist()
        strings = self._treebank.vocabulary.strings
        self.keys[words] = [
            known.setdefault((strings[form] if within else without_spaces(strings[form])).lower(), len(known))
            for form, within in zip(forms, inside, strict=True)
        ]

    def rests(self, settled: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return where the words before each token, and behind all, begin and end, and how many of them are in ranges.

        They begin behind the token before; a token that is not settled, bool (t,), is among them. int64 (t + 1,) each.
        """
        begins = np.append(0, self.ends)
        stops = np.append(np.where(settled, self.firsts, self.ends), self.words)
        multiword = np.append(0, np.cumsum(self.multiword))
        return begins, stops, multiword[stops] - multiword[begins]

    def spans(self, begin: int, stop: int) -> Spans:
        """Return some of the words."""
        return [view[begin:stop] for view in self._views]


def _with_multiwords(gold: Segmentation, system: Segmentation) -> tuple[IntArray, IntArray]:
    """Pair the words in the order of the text as the original program does."""
    tokens = _same_spans(gold, system)
    one, other = (_Side(*each) for each in zip((gold, system), tokens, strict=True))
    counts = np.minimum(one.ends - one.firsts, other.ends - other.firsts)
    gold_words, offsets = ranges_of(one.firsts, counts)
    system_words, _ = ranges_of(other.firsts, counts)
    owners, known = owners_of(offsets), dict[str, int]()
    in_range = one.multiword[one.firsts] | other.multiword[other.firsts]
    asked = in_range[owners]
    one.number(gold_words[asked], known)
    other.number(system_words[asked], known)
    unlike = sums_by(owners[one.keys[gold_words] != other.keys[system_words]], len(counts))
    in_step = np.diff(tokens[0], prepend=-1) == 1
    settled = ((unlike == 0) & in_step) | ~in_range
    rests = np.stack((*one.rests(settled), *other.rests(settled)), axis=1)
    rests = rests[(rests[:, 2] + rests[:, 5]) > 0]
    one.number(ranges_of(rests[:, 0], rests[:, 1] - rests[:, 0])[0], known)
    other.number(ranges_of(rests[:, 3], rests[:, 4] - rests[:, 3])[0], known)
    steps = _Steps(MAX_STEPS)
    walked = [
        (begin + g, other_begin + s)
        for begin, stop, _, other_begin, other_stop, _ in rests.tolist()
        for g, s in align_words(one.spans(begin, stop), other.spans(other_begin, other_stop), steps)
    ]
    found = np.stack((gold_words, system_words), axis=1)[settled[owners]]
    pairs = np.concatenate([found, np.array(walked, np.int64).reshape(-1, 2)])
    gold_words, system_words = np.ascontiguousarray(pairs[np.argsort(pairs[:, 0])].T)
    return gold_words, system_words


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
