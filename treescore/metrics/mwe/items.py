"""The expressions of sentences that are not the same on both sides, as members of items."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import IntArray, offsets_of
from treescore.core.columns import Column, Joined, Lists, Numbers, Records, Strings, listed, nullable
from treescore.core.treebank_columns import strings_of
from treescore.core.trees import NO_CATEGORY
from treescore.metrics.mwe.groups import UNLABELED
from treescore.metrics.mwe.kernel import ALONE
from treescore.metrics.mwe.pairing import Pairs
from treescore.metrics.mwe.sets import Distinct


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
