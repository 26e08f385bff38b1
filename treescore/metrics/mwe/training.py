"""Which expressions a training text has: by their lemmas, and word for word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of
from treescore.core.limits import Limits
from treescore.core.trees import ExpressionTreebank
from treescore.core.vocabulary import Vocabulary
from treescore.errors import LimitError, Problem, placed
from treescore.formats.cupt import read_cupt
from treescore.metrics.mwe.sets import Side, places_of

MAX_COVERED = 20_000_000
"""Limit on the words that the expressions of a text stretch over, gaps included, counted for each expression."""

_MISSING = "_"
_UNKNOWN = -1
"""Number of a string that no expression of the training text has."""


@dataclass(frozen=True, slots=True)
class Training:
    """The expressions of a training text.

    Attributes:
        strings: number of each lemma and form.
        lemmas: the multisets of lemmas, as sorted numbers.
        spans: the forms from the first to the last word, what stands in gaps included, as numbers.
        compat: whether a missing lemma is the form here alone, as in the original program.
    """

    strings: Vocabulary
    lemmas: frozenset[bytes]
    spans: frozenset[bytes]
    compat: bool

    def seen(self, side: Side) -> BoolArray:
        """Return which expressions have the lemmas of one of the training text, bool (k,)."""
        keys = _lemma_keys(side.treebank, self._numbers(side.treebank, _lemmas(side.treebank, fill=not self.compat)))
        return np.fromiter((key in self.lemmas for key in keys), np.bool_, len(side.sets))

    def identical(self, side: Side) -> BoolArray:
        """Return which expressions stand in the training text word for word, bool (k,)."""
        keys = _span_keys(side, self._numbers(side.treebank, side.treebank.forms))
        return np.fromiter((key in self.spans for key in keys), np.bool_, len(side.sets))

    def _numbers(self, treebank: ExpressionTreebank, words: IntArray) -> IntArray:
        """Return the numbers that strings have here, _UNKNOWN where they have none: int64 (w,)."""

        def number(string: str) -> int:
            known = self.strings.get(string)
            return _UNKNOWN if known is None else known

        return treebank.vocabulary.table(words, number)[words]


def read_training(text: str, limits: Limits, *, compat: bool) -> Training:
    """Read the training text.

    Args:
        text: in the format cupt.
        limits: on texts, and `max_training_bytes` on this one.
        compat: to read it as the original program, which ignores codes at multiword tokens here.

    Raises:
        InputError: the text cannot be read, at its place below `/train`.
        LimitError: it is too large.
    """
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > limits.max_training_bytes:
        detail = (
            f"The training text has {len(data)} bytes; the limit is {limits.max_training_bytes}. Leave out sentences "
            "without expressions, or columns but ID, FORM, LEMMA and PARSEME:MWE."
        )
        raise LimitError(Problem("training-text-too-large", detail, pointer="/train"))
    with placed("/train"):
        treebank = read_cupt(data, Vocabulary(), limits, ranges=not compat)
        side = Side(treebank, np.zeros(len(treebank.expression_ids), np.int64))
        check_spans(side)
    strings = Vocabulary()
    names = treebank.vocabulary.strings
    used = np.unique(np.concatenate([treebank.expression_words, _covered(side)]))

    def own(words: IntArray) -> IntArray:
        numbers = np.zeros(len(words), np.int64)
        numbers[used] = strings.numbers([names[number] for number in words[used].tolist()])
        return numbers

    lemmas = frozenset(_lemma_keys(treebank, own(_lemmas(treebank, fill=True))))
    return Training(strings, lemmas, frozenset(_span_keys(side, own(treebank.forms))), compat)


def check_spans(side: Side) -> None:
    """Check that what expressions stretch over can be compared. Raises LimitError: `too-long-expressions`."""
    begins, ends = side.spans
    lengths = ends - begins
    if lengths.sum() > MAX_COVERED:
        sentence = int(np.bincount(side.sentences, lengths).argmax())
        detail = (
            f"The expressions of the text stretch over {lengths.sum()} words, gaps included; {MAX_COVERED} can be "
            f"compared with the training text. Most are in sentence {sentence + 1}. Write each expression once, and "
            "only those that the sentence has."
        )
        raise LimitError(Problem("too-long-expressions", detail, sentence=sentence + 1))


def _lemmas(treebank: ExpressionTreebank, *, fill: bool) -> IntArray:
    """Return the lemma of each word, with `fill` the form where it is missing: int64 (w,)."""
    missing = treebank.lemmas == treebank.vocabulary.number(_MISSING)
    return np.where(missing, treebank.forms, treebank.lemmas) if fill else treebank.lemmas


def _covered(side: Side) -> IntArray:
    """Return the words from the first to the last of each expression, int64."""
    treebank = side.treebank
    offsets = treebank.expression_offsets
    change = np.zeros(len(treebank.forms) + 1, np.int64)
    np.add.at(change, treebank.expression_words[offsets[:-1]], 1)
    np.add.at(change, treebank.expression_words[offsets[1:] - 1] + 1, -1)
    return np.flatnonzero(np.cumsum(change)[:-1] > 0)


def _lemma_keys(treebank: ExpressionTreebank, lemmas: IntArray) -> Iterator[bytes]:
    """Yield the lemmas of each expression in one order."""
    found = lemmas[treebank.expression_words]
    order = np.lexsort((found, owners_of(treebank.expression_offsets)))
    data = found[order].tobytes()
    return (data[start:end] for start, end in pairwise((treebank.expression_offsets * found.itemsize).tolist()))


def _span_keys(side: Side, forms: IntArray) -> Iterator[bytes]:
    """Yield the forms from the first to the last word of each expression, with a mark for each empty node."""
    places = places_of(side.treebank)
    line = np.full(len(forms) + len(side.treebank.empty_after), _UNKNOWN - 1)
    line[places] = forms
    data = line.tobytes()
    begins, ends = (each * line.itemsize for each in side.spans)
    return (data[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True))
