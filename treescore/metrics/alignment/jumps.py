"""What an output's links say of its words: which are linked, how often, and where the order of the text breaks.

Jumps as the alignment scripts of Zenkel, Wuebker & DeNero 2019 count them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import IntArray, sums_by
from treescore.core.params import Json
from treescore.metrics.alignment.link_sets import Links, without_null


class Groups(NamedTuple):
    """The g linked words of one side.

    Attributes:
        starts: index of the first link of each, among the links sorted by pair, this side's word, the other's word.
        rows: sentence pair of each.
        words: position of each.
        links: links of each.
    """

    starts: IntArray
    rows: IntArray
    words: IntArray
    links: IntArray


def word_counts(links: Links, pairs: int, lengths: IntArray | None) -> IntArray:
    """Count linked words, jumps and words of each pair: int64 (n, 6), columns as WORD_COUNTS.

    Args:
        links: the output's. Those to NULL, and those of sentences that gold lacks, say nothing here.
        pairs: number of sentence pairs.
        lengths: words of source and target side, int64 (n, 2), or None.
    """
    known = _between_words(links)
    by_source = _groups(known.rows, known.source, known.target)
    order = np.lexsort((known.source, known.target, known.rows))
    by_target = _groups(known.rows, known.target, known.source)
    sources = known.source[order]
    first, last = sources[by_target.starts], sources[by_target.starts + by_target.links - 1]
    internal = last - first + 1 != by_target.links
    columns = (
        sums_by(by_source.rows, pairs),
        sums_by(by_target.rows, pairs),
        sums_by(by_target.rows[internal], pairs),
        sums_by(by_target.rows[:-1][_external(by_target, sources, first)], pairs),
    )
    words = np.zeros((pairs, 2), np.int64) if lengths is None else lengths
    return np.concatenate([np.stack(columns, axis=1), words], axis=1)


def fertility(links: Links, lengths: IntArray | None) -> list[Mapping[str, Json]]:
    """Count the words of each side by how many links they have: rows `links`, `source_words`, `target_words`.

    Words without links are counted where `lengths`, int64 (n, 2), are known.
    """
    known = _between_words(links)
    sides = [
        np.bincount(_groups(known.rows, own, other).links, minlength=1)
        for own, other in ((known.source, known.target), (known.target, known.source))
    ]
    if lengths is not None:
        for side, counts in enumerate(sides):
            counts[0] = int(lengths[:, side].sum()) - int(counts.sum())
    width = max(map(len, sides))
    source, target = (np.pad(counts, (0, width - len(counts))) for counts in sides)
    return [
        {"links": number, "source_words": int(source[number]), "target_words": int(target[number])}
        for number in np.flatnonzero(source + target).tolist()
    ]


def _between_words(links: Links) -> Links:
    return without_null(links.only(links.in_gold))


def _groups(rows: IntArray, own: IntArray, other: IntArray) -> Groups:
    """Group links by the word of one side; no link stands twice."""
    order = np.lexsort((other, own, rows))
    rows, own = rows[order], own[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (rows[1:] != rows[:-1]) | (own[1:] != own[:-1])
    starts = np.flatnonzero(begins)
    return Groups(starts, rows[starts], own[starts], np.diff(starts, append=len(order)))


def _external(groups: Groups, sources: IntArray, first: IntArray) -> IntArray:
    """Find the linked target words after which the source words do not go on: indices of all groups but the last.

    Args:
        groups: linked target words.
        sources: source word of each link, in the order of the groups.
        first: smallest source word of each group.
    """
    if len(first) < 2:
        return np.zeros(0, np.int64)
    before = np.repeat(np.concatenate([first[:1], first[:-1]]), groups.links)
    near = np.logical_or.reduceat(np.abs(sources - before) <= 1, groups.starts)
    adjacent = (groups.rows[1:] == groups.rows[:-1]) & (groups.words[1:] == groups.words[:-1] + 1)
    return np.flatnonzero(adjacent & ~near[1:])
