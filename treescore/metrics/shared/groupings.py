"""Group the words of a treebank: by tag, relation, direction, distance, depth ... and by MaltEval's names.

A grouping gives each word of one side a key: gold's words from gold's annotation, a system's words from its own. An arc
is projective if every word between head and dependent is below the head.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treescore.core.arrays import BoolArray, IntArray, grouped_lists, offsets_of, owners_of, placed, smallest
from treescore.core.columns import Column, Numbers, Strings, column_of, ranges_of, strings_of
from treescore.core.structure import NONE as NOTHING
from treescore.core.structure import gather, least_between, resolved_heads, sizes_before, sums_above
from treescore.core.trees import DependencyTreebank
from treescore.metrics.shared.heads import UNREACHED, Shape, positions_of, shape_of
from treescore.metrics.shared.words import universal_relations


def projective_arcs(heads: IntArray, shape: Shape, offsets: IntArray) -> BoolArray:
    """Return whether the arc into each word is projective: bool (w,); False where its heads do not reach the root.

    Words are numbered in an order in which everything below a word follows it without a gap. Then the words between
    head and dependent are below the head iff their least and greatest numbers are. The time is n log n in the words.

    Args:
        heads: int64 (w,).
        shape: of the heads.
        offsets: sentences, int64 (n + 1,).
    """
    words, reached = np.arange(len(heads)), shape.depths > 0
    firsts = offsets[shape.owners]
    above = np.where(reached & (heads > 0), firsts + heads - 1, NOTHING)
    sizes = reached.astype(np.int64)
    gather(np.add, above, shape.depths, sizes)
    tops = np.where(above == NOTHING, len(words) + shape.owners, above)
    numbers = np.where(reached, sums_above(above, 1 + sizes_before(tops, words, sizes))[0], UNREACHED)
    begins = np.append(numbers, 0)[above]
    ends = begins + np.append(sizes, len(words) + 1)[above]
    # the words between head and dependent
    lows, highs = np.minimum(firsts + heads, words + 1), np.maximum(firsts + heads - 1, words)
    apart = np.flatnonzero(reached & (lows < highs))
    least, most = (sign * least_between(sign * numbers, lows[apart], highs[apart]) for sign in (1, -1))
    reached[apart] = (least > begins[apart]) & (most < ends[apart])
    return reached


DISTANCES = ("to_root", "1", "2", "3-6", "7-...", "none")
DIRECTIONS = ("to_root", "left", "right", "self", "none")
PROJECTIVITIES = ("projective", "non-projective")

NONE = -2
"""Key of a relation length where HEAD is not a number; -1 is the root's, as in MaltEval."""

_FAR = 7
_DISTANCE_OF = np.array([5, 0, 1, 1, 2, 3, 3, 3, 3, 4])
"""Index in DISTANCES of each relation length from NONE to _FAR."""

_DIRECTION_OF = np.array([3, 2, 1])
"""Index in DIRECTIONS by the sign of head less position: 0, 1, -1."""

RELATIVE_BINS = 14

_HALF = 32
"""Bits of the lower one of two words in a number; a text has fewer words."""


class WordAttributes:
    """One side of a comparison, w words, with what its groupings need, computed on first use."""

    def __init__(self, treebank: DependencyTreebank, shape: Shape | None = None) -> None:
        """Take a treebank, and its shape where it is known."""
        self.treebank = treebank
        self._shape = shape

    def keys(self, name: str) -> IntArray:
        """Return the key of each word under the grouping of a name, int64 (w,). Raises KeyError.

        Keys that are computed stay with the treebank in few bytes: gold's are then there for its next output.
        """
        grouping = GROUPINGS[name]
        if not grouping.kept:
            return grouping.keys(self)
        kept = self.treebank.kept
        if grouping not in kept:
            kept[grouping] = smallest(grouping.keys(self))
        return np.asarray(kept[grouping].astype(np.int64))

    @cached_property
    def heads(self) -> IntArray:
        """HEAD fields as numbers, int64 (w,)."""
        return resolved_heads(self.treebank)

    @cached_property
    def owners(self) -> IntArray:
        """Sentence of each word, int64 (w,)."""
        return owners_of(self.treebank.word_offsets)

    @cached_property
    def positions(self) -> IntArray:
        """Position of each word in its sentence, from 1, int64 (w,)."""
        return positions_of(self.treebank.word_offsets)

    @cached_property
    def lengths(self) -> IntArray:
        """Words of the sentence of each word, int64 (w,)."""
        return np.asarray(np.diff(self.treebank.word_offsets)[self.owners])

    @cached_property
    def shape(self) -> Shape:
        """Depths, roots and cycles."""
        return self._shape or shape_of(self.heads, self.treebank.word_offsets)

    @cached_property
    def projective(self) -> BoolArray:
        """Whether each word's arc is projective, bool (w,)."""
        return projective_arcs(self.heads, self.shape, self.treebank.word_offsets)

    @cached_property
    def relation_lengths(self) -> IntArray:
        """Words from head to dependent, -1 for the root, NONE where HEAD is not a number, int64 (w,)."""
        heads = self.heads
        lengths: IntArray = np.abs(heads - self.positions)
        lengths[heads == 0] = -1
        lengths[heads < 0] = NONE
        return lengths

    @cached_property
    def children(self) -> IntArray:
        """Number of dependents of each word, int64 (w,)."""
        words = len(self.owners)
        inside = ~self.shape.outside & (self.heads > 0)
        parents = np.where(inside, self.treebank.word_offsets[self.owners] + self.heads - 1, words)
        return np.bincount(parents, minlength=words + 1)[:words]

    def distances(self) -> IntArray:
        """Return indices of DISTANCES, int64 (w,): eval07.pl's bins, where a word that heads itself has distance 1."""
        return np.asarray(_DISTANCE_OF[np.minimum(self.relation_lengths, _FAR) - NONE])

    def directions(self) -> IntArray:
        """Return indices of DIRECTIONS, int64 (w,): `left` where the head is left of the word."""
        heads = self.heads
        indices: IntArray = _DIRECTION_OF[np.sign(heads - self.positions)]
        indices[heads == 0] = 0
        indices[heads < 0] = 4
        return indices

    def frames(self) -> IntArray:
        """Return the frame of each word as a string number, int64 (w,).

        A frame lists the relations of the dependents in order, with the word's own in asterisks at its place.
        """
        kept = self.treebank.kept
        if "frames" not in kept:
            kept["frames"] = self._frames()
        groups, texts = kept["frames"]
        return np.asarray(self.treebank.vocabulary.numbers(texts)[groups])

    def _frames(self) -> tuple[NDArray[Any], list[str]]:
        """Return the group of each word by its frame, and the frames of the groups."""
        treebank = self.treebank
        words = np.arange(len(self.owners))
        inside = ~self.shape.outside & (self.heads > 0) & (self.heads != self.positions)
        parents = (treebank.word_offsets[self.owners] + self.heads - 1)[inside]
        pairs = np.concatenate([parents << _HALF | words[inside], words << _HALF | words])
        pairs.sort(kind="stable")  # by runs: dependents are near their heads
        frames, members = pairs >> _HALF, pairs & (1 << _HALF) - 1
        codes = 2 * treebank.deprels[members] + (frames == members)
        offsets = offsets_of(np.bincount(frames, minlength=len(words)))
        groups, firsts = grouped_lists(codes, offsets)
        relations = treebank.vocabulary.strings
        places, bounds = ranges_of(offsets[firsts], np.diff(offsets)[firsts])
        shown = codes[places].tolist()
        names = {code: f"*{relations[code >> 1]}*" if code & 1 else relations[code >> 1] for code in set(shown)}
        named = list(map(names.__getitem__, shown))
        return smallest(groups), [" ".join(named[start:end]) for start, end in pairwise(bounds.tolist())]


class Grouping(NamedTuple):
    """How words are grouped.

    Attributes:
        keys: the key of each word, int64 (w,).
        values: returns keys (k,) as they are shown.
        ordered: whether rows are ordered by key instead of frequency.
        kept: whether a treebank keeps the keys: they are neither a column of it nor numbers of new strings.
    """

    keys: Callable[[WordAttributes], IntArray]
    values: Callable[[IntArray, DependencyTreebank], Column]
    ordered: bool = False
    kept: bool = True


class Groups(NamedTuple):
    """The groups of the scoring words of both sides.

    Attributes:
        gold: the group of each scoring word by gold's key, int64 (w,).
        system: the same by the system's key.
        size: how many groups there may be; some have no word.
        values: returns the keys of groups (k,) as they are shown.
        ordered: whether rows are ordered by group instead of frequency.
        own_metric: whether MaltEval's metric `self` tests that both sides agree on the group. It tests LAS where
            the group depends on words and their places alone, which both sides share.
        empty_rows: whether groups that have no word have rows too.
    """

    gold: IntArray
    system: IntArray
    size: int
    values: Callable[[IntArray], Column]
    ordered: bool = False
    own_metric: bool = False
    empty_rows: bool = False


def groups_by(name: str, sides: tuple[WordAttributes, WordAttributes], scoring: BoolArray) -> Groups:
    """Group the scoring words, bool (w,), by a grouping of this name. Raises KeyError."""
    grouping = GROUPINGS[name]
    keys, groups = placed(np.concatenate([side.keys(name)[scoring] for side in sides]))
    gold, system = groups.reshape(2, -1)
    treebank = sides[0].treebank
    return Groups(
        gold,
        system,
        len(keys),
        lambda chosen: grouping.values(keys[chosen], treebank),
        grouping.ordered,
        own_metric=name not in _OF_WORDS,
    )


def _string(keys: IntArray, treebank: DependencyTreebank) -> Column:
    return strings_of(keys, treebank.vocabulary)


def _number(keys: IntArray, _: DependencyTreebank) -> Column:
    return Numbers(keys)


def _name(names: tuple[str, ...]) -> Callable[[IntArray, DependencyTreebank], Column]:
    return lambda keys, _: Strings(keys, names)


def _tens(keys: IntArray, _: DependencyTreebank) -> Column:
    return column_of([f"{key * 10 + 1}-{key * 10 + 10}" for key in keys.tolist()])


def _column(name: str) -> Grouping:
    return Grouping(lambda side: np.asarray(getattr(side.treebank, name), np.int64), _string, kept=False)


_UPOS, _XPOS, _DEPREL, _FORM = map(_column, ("upos", "xpos", "deprels", "forms"))
_DIRECTION = Grouping(WordAttributes.directions, _name(DIRECTIONS), ordered=True)
_DISTANCE = Grouping(WordAttributes.distances, _name(DISTANCES), ordered=True)
_DEPTH = Grouping(lambda side: side.shape.depths, _number, ordered=True)

GROUPINGS: Mapping[str, Grouping] = {
    "upos": _UPOS,
    "xpos": _XPOS,
    "deprel": _DEPREL,
    "udeprel": Grouping(lambda side: universal_relations(side.treebank), _string, kept=False),
    "direction": _DIRECTION,
    "distance": _DISTANCE,
    "sentence_length": Grouping(lambda side: (side.lengths - 1) // 10, _tens, ordered=True),
    "projectivity": Grouping(lambda side: (~side.projective).astype(np.int64), _name(PROJECTIVITIES), ordered=True),
    "depth": _DEPTH,
    "word": _FORM,
    "Token": Grouping(lambda side: np.arange(len(side.owners)), _number, ordered=True, kept=False),
    "Wordform": _FORM,
    "Lemma": _column("lemmas"),
    "Cpostag": _UPOS,
    "Postag": _XPOS,
    "Feats": _column("feats"),
    "Deprel": _DEPREL,
    "Frame": Grouping(WordAttributes.frames, _string, kept=False),
    "Sentence": Grouping(lambda side: side.owners + 1, _number, ordered=True),
    "SentenceLength": Grouping(lambda side: side.lengths, _number, ordered=True),
    "RelationLength": Grouping(lambda side: side.relation_lengths, _number, ordered=True),
    "GroupedRelationLength": _DISTANCE,
    "StartWordPosition": Grouping(lambda side: side.positions - 1, _number, ordered=True),
    "EndWordPosition": Grouping(lambda side: side.lengths - side.positions, _number, ordered=True),
    "RelativeWordPosition": Grouping(
        lambda side: 1 + RELATIVE_BINS * side.positions // side.lengths, _number, ordered=True
    ),
    "ArcDirection": _DIRECTION,
    "ArcDepth": _DEPTH,
    "ArcProjectivity": Grouping(lambda side: (~side.projective).astype(np.int64), _number, ordered=True),
    "BranchingFactor": Grouping(lambda side: side.children, _number, ordered=True),
}
"""Groupings by name: those common in the field, then MaltEval's (Nilsson & Nivre 2008)."""

OWN_GROUPINGS = ("upos", "xpos", "deprel", "udeprel", "direction", "distance", "depth", "word")
"""Groupings whose rows, by the system's keys, depend on the output alone: participants may see these."""

_OF_WORDS = frozenset(
    {
        *("word", "sentence_length", "Token", "Wordform", "Sentence", "SentenceLength"),
        *("StartWordPosition", "EndWordPosition", "RelativeWordPosition"),
    }
)
"""Groupings by what both sides share: the words and their places."""
