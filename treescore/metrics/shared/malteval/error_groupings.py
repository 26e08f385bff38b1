"""Group words by the errors nearby, as MaltEval's `PreAndPost`, `Clustering` and `Clustering2` do.

These groupings show whether errors cluster. A metric decides what is an error (LAS unless another is named). Words that
do not score are ignored: arrays are over the w scoring words, `right` bool (w,) whether each is right and `owners`
int64 (w,) its sentence, ascending.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.columns import Numbers, Strings
from treescore.core.grouping import ranked
from treescore.metrics.shared.groupings import Groups

ERROR_GROUPINGS = ("PreAndPost", "Clustering", "Clustering2")
SPAN = 10
"""The number of words that Clustering looks at on either side."""

_TYPES = ("First", "Follow")


def pre_and_post(right: BoolArray, owners: IntArray) -> Groups:
    """Group words as `First` (up to and with the first error of a sentence) and `Follow` (after it)."""
    errors = (~right).astype(np.int64)
    errors_before: IntArray = np.cumsum(errors) - errors
    follow: IntArray = (errors_before > errors_before[_starts(owners)]).astype(np.int64)
    return Groups(follow, follow, len(_TYPES), lambda chosen: Strings(chosen, _TYPES), ordered=True, empty_rows=True)


def clustering_2(right: BoolArray, owners: IntArray) -> Groups:
    """Group words by their distance from the last right word before them; the start of a sentence counts as right.

    Words in group k have k - 1 wrong words directly before them. MaltEval never counts the first word of the text.
    """
    indices = np.arange(len(right), dtype=np.int64)
    last_right = np.full(len(right), -1, np.int64)
    last_right[1:] = np.maximum.accumulate(np.where(right, indices, -1))[:-1]
    distances = indices - np.maximum(last_right, _starts(owners) - 1)
    distinct, groups = ranked(distances)
    return Groups(groups, groups, len(distinct), lambda chosen: Numbers(distinct[chosen]), ordered=True)


def clustering(
    right: BoolArray, owners: IntArray, columns: Mapping[str, BoolArray]
) -> Iterator[tuple[int, int, dict[str, int]]]:
    """Count the words at each distance, -10 to 10, from a right word of the same sentence.

    Args:
        right: which words are right.
        owners: their sentences.
        columns: what is counted of the other words, bool (w,) each.

    Yields:
        For each distance with any pairs: the distance, the number of pairs of a right word and a word at this
        distance to its right (negative: left), and how often each column is true of the latter.
    """
    for distance in (*range(-SPAN, 0), *range(1, SPAN + 1)):
        steps = abs(distance)
        earlier, later = slice(None, max(len(owners) - steps, 0)), slice(steps, None)
        right_words, counted_words = (earlier, later) if distance > 0 else (later, earlier)
        pairs = right[right_words] & (owners[earlier] == owners[later])
        total = int(np.count_nonzero(pairs))
        if total:
            yield (
                distance,
                total,
                {name: int(np.count_nonzero(pairs & bits[counted_words])) for name, bits in columns.items()},
            )


def _starts(owners: IntArray) -> IntArray:
    """Return the index of the first word of each word's sentence."""
    first = np.ones(len(owners), np.bool_)
    first[1:] = owners[1:] != owners[:-1]
    starts: IntArray = np.maximum.accumulate(np.where(first, np.arange(len(owners)), 0))
    return starts
