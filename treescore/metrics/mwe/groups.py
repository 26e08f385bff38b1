"""Subsets of expressions, each side's by its own annotation, and the counts of each subset.

Some subsets depend on which expressions a training text has: by their lemmas, and word for word. Items hold the
expressions of sentences that are not the same on both sides, with their subsets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of, owners_of, sums_by
from treescore.core.columns import (
    Column,
    Documents,
    Joined,
    Lists,
    Numbers,
    Records,
    Strings,
    column_of,
    counts_and_scores,
    listed,
    nullable,
    stacked_rows,
    strings_of,
)
from treescore.core.scores import ScoreTable
from treescore.core.text import Limits
from treescore.core.trees import NO_CATEGORY, ExpressionTreebank, Vocabulary
from treescore.errors import LimitError, Problem, placed
from treescore.formats.cupt import read_cupt
from treescore.metrics.mwe.kernel import ALONE, Distinct, Pairs, Side, pairs_of, places_of

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
        treebank = read_cupt(data, Vocabulary(), limits, ranges=not compat, any_heads=True)
        side = check_spans(treebank)
    strings = Vocabulary()
    names = treebank.vocabulary.strings
    used = np.unique(np.concatenate([treebank.expression_words, _covered(side)]))

    def own(words: IntArray) -> IntArray:
        numbers = np.zeros(len(words), np.int64)
        numbers[used] = strings.numbers([names[number] for number in words[used].tolist()])
        return numbers

    lemmas = frozenset(_lemma_keys(treebank, own(_lemmas(treebank, fill=True))))
    return Training(strings, lemmas, frozenset(_span_keys(side, own(treebank.forms))), compat)


def check_spans(treebank: ExpressionTreebank) -> Side:
    """Check that what expressions stretch over can be compared. Raises LimitError: `too-long-expressions`."""
    side = Side(treebank, np.zeros(len(treebank.expression_ids), np.int64))
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
    return side


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


UNLABELED = "<unlabeled>"
"""The category of expressions that have none, as the original program prints it."""
CATEGORY, CONTINUITY, TOKENS, SEEN, VARIANT = "category", "continuity", "tokens", "seen", "variant"

HALVES = ("seen", "unseen")
"""The values of SEEN."""
_AS_NONE = "None"
"""Where the original program sorts expressions without a category."""


class Grouping(NamedTuple):
    """A division of expressions.

    Attributes:
        values: names of the groups.
        groups: of gold's expressions and of the output's, int64 (k,) and (l,).
        chosen: which of them are in a group; None for all.
    """

    values: list[str]
    groups: tuple[IntArray, IntArray]
    chosen: tuple[BoolArray | None, BoolArray | None] = (None, None)


def groupings_of(gold: Side, system: Side, training: Training | None) -> dict[str, Grouping]:
    """Return the divisions by name; those by the training text where there is one."""
    sides = gold, system
    found = {
        CATEGORY: _categories(gold, system),
        CONTINUITY: _halves(["continuous", "discontinuous"], *(side.continuous for side in sides)),
        TOKENS: _halves(["multi-token", "single-token"], *(np.asarray(side.sizes > 1, np.bool_) for side in sides)),
    }
    if training is not None:
        seen = training.seen(gold), training.seen(system)
        variants = (~training.identical(side) for side in sides)
        found[SEEN] = _halves([*HALVES], *seen)
        found[VARIANT] = _halves(["variant", "identical"], *variants)._replace(chosen=seen)
    return found


def counts_by_group(pairs: Pairs, owners: tuple[IntArray, IntArray], size: int) -> IntArray:
    """Count right, gold's and the output's expressions, then right, gold's and the output's words.

    Args:
        pairs: of sets.
        owners: the row at which each of gold's and of the output's sets is counted.
        size: number of rows.

    Returns:
        int64 (size, 6).
    """
    golds, systems = owners
    columns = [
        sums_by(golds, size, pairs.equal),
        sums_by(golds, size),
        sums_by(systems, size),
        sums_by(golds, size, pairs.common),
        sums_by(golds, size, pairs.golds.sizes),
        sums_by(systems, size, pairs.systems.sizes),
    ]
    return np.stack(columns, axis=1)


def seen_counts(gold: Side, system: Side, training: Training, sentences: int) -> IntArray:
    """Count right, gold's and the output's expressions of each sentence, first the seen, then the unseen.

    Returns:
        int64 (sentences, 6).
    """
    halves = _halves([*HALVES], training.seen(gold), training.seen(system))
    pairs = pairs_of(gold, system, halves.groups)
    owners = [side.sentences * len(HALVES) + side.groups for side in (pairs.golds, pairs.systems)]
    counts = counts_by_group(pairs, (owners[0], owners[1]), len(HALVES) * sentences)[:, :3]
    return np.ascontiguousarray(counts).reshape(sentences, -1)


def slices_of(gold: Side, system: Side, training: Training | None, table: ScoreTable) -> dict[str, Documents]:
    """Return the rows of all groupings."""
    groupings = groupings_of(gold, system, training)
    totals = []
    for grouping in groupings.values():
        pairs = pairs_of(gold, system, grouping.groups, grouping.chosen)
        totals.append(counts_by_group(pairs, (pairs.golds.groups, pairs.systems.groups), len(grouping.values)))
    values = {name: column_of(grouping.values) for name, grouping in groupings.items()}
    return stacked_rows(values, *counts_and_scores(table, np.concatenate(totals)))


def _categories(gold: Side, system: Side) -> Grouping:
    vocabulary = gold.treebank.vocabulary
    sides = gold.treebank.categories, system.treebank.categories
    names = {number: vocabulary.strings[number] for number in vocabulary.distinct(np.concatenate(sides)).tolist()}
    order = sorted(names, key=lambda number: _AS_NONE if number == NO_CATEGORY else names[number])
    rank = np.zeros(len(vocabulary), np.int64)
    rank[order] = np.arange(len(order))
    values = [UNLABELED if number == NO_CATEGORY else names[number] for number in order]
    return Grouping(values, (rank[sides[0]], rank[sides[1]]))


def _halves(values: list[str], gold: BoolArray, system: BoolArray) -> Grouping:
    """Divide into those that have a property, bool (k,) and (l,), and the others."""
    return Grouping(values, ((~gold).astype(np.int64), (~system).astype(np.int64)))


class _Rows(NamedTuple):
    """What differs, in the order of the text: gold's set or ALONE, the output's or ALONE, words in common."""

    sentences: IntArray
    golds: IntArray
    systems: IntArray
    common: IntArray


class ItemRows:
    """Makes the member `expressions` of the items of a range of sentences."""

    def __init__(self, pairs: Pairs, sentences: int) -> None:
        self._pairs = pairs
        self._size = sentences

    @cached_property
    def _found(self) -> tuple[_Rows, IntArray]:
        """What differs, and where that of each sentence begins."""
        rows = _pair_rows(self._pairs)
        return rows, np.searchsorted(rows.sentences, np.arange(self._size + 1))

    def __call__(self, start: int, stop: int) -> Records:
        """Return the member of the items of sentences `start` to `stop`."""
        rows, offsets = self._found
        first, last = int(offsets[start]), int(offsets[stop])
        golds, systems, common = (column[first:last] for column in (rows.golds, rows.systems, rows.common))
        members = {
            **_members("gold", self._pairs.golds, golds),
            **_members("system", self._pairs.systems, systems),
            "common": Numbers(common),
        }
        return Records({"expressions": listed(np.arange(first, last), offsets[start : stop + 1], Records(members))})


def _pair_rows(pairs: Pairs) -> _Rows:
    """Return gold's sets that the output lacks, with their partners, and the output's that have none."""
    golds = np.flatnonzero(~pairs.equal)
    alone = np.ones(len(pairs.systems.groups), np.bool_)
    alone[pairs.partners[pairs.partners != ALONE]] = False
    extra = np.flatnonzero(alone)
    systems = np.concatenate([pairs.partners[golds], extra])
    golds = np.concatenate([golds, np.full(len(extra), ALONE)])
    common = np.concatenate([pairs.common[golds[: len(golds) - len(extra)]], np.zeros(len(extra), np.int64)])
    first_words = np.where(systems != ALONE, _firsts(pairs.systems)[systems], _firsts(pairs.golds)[golds])
    sentences = np.where(systems != ALONE, _sentences(pairs.systems)[systems], _sentences(pairs.golds)[golds])
    order = np.lexsort((golds, systems, first_words, sentences))
    return _Rows(*(column[order] for column in (sentences, golds, systems, common)))


def _firsts(sets: Distinct) -> IntArray:
    """Return the first word of each set, and one more number for ALONE."""
    treebank = sets.side.treebank
    return np.append(treebank.expression_words[treebank.expression_offsets[sets.expressions]], 0)


def _sentences(sets: Distinct) -> IntArray:
    return np.append(sets.sentences, 0)


def _members(side: str, sets: Distinct, chosen: IntArray) -> dict[str, Column]:
    """Return the columns of one side, null where it has nothing."""
    known = np.asarray(chosen != ALONE, np.bool_)
    own = chosen[known]
    treebank, vocabulary = sets.side.treebank, sets.side.treebank.vocabulary
    words, _ = sets.words_of(own)
    sizes = sets.sizes[own]
    offsets = offsets_of(sizes)
    begins = np.repeat(treebank.word_offsets[sets.sentences[own]], sizes)
    categories = treebank.categories[sets.expressions[own]]
    names = [UNLABELED, *(vocabulary.strings[number] for number in np.unique(categories).tolist())]
    numbers = np.where(categories == NO_CATEGORY, 0, np.searchsorted(np.unique(categories), categories) + 1)
    columns: dict[str, Column] = {
        "words": Lists(offsets, Numbers(words - begins + 1)),
        "form": Joined(Lists(offsets, strings_of(treebank.forms[words], vocabulary))),
        "category": Strings(numbers, names),
    }
    return {f"{side}_{name}": nullable(known, column) for name, column in columns.items()}
