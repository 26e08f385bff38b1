"""Match two alignments: their sentence pairs, their links to NULL, and other readings of their indices.

Also what an output's links say of its words: which are linked, how often, and where the order of the text breaks. Jumps
are counted as the alignment scripts of Zenkel, Wuebker & DeNero 2019 count them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treescore.core.arrays import BoolArray, Int32Array, IntArray, offsets_of, owners_of, sums_by
from treescore.core.params import Json
from treescore.core.text import Limits
from treescore.core.trees import Alignments, LinkForm, said_of_blank_end
from treescore.core.wording import counted
from treescore.errors import InputError, LimitError, Problem, ProblemList
from treescore.formats.shared.links import base_problem, lines_of_names

MAX_TEXT = 10_000_000
"""Most words of all sentences together, where their lengths are given."""
MAX_COMPLETED = 2_000_000
"""Most of them where a link to NULL is made for each: a length is a few bytes, and may stand for 100,000 links."""
SOURCE_AND_TARGET = ("source", "target")
AT_ONCE = 1 << 18
"""Links that are looked up, or counted, at once."""


@dataclass(frozen=True, slots=True)
class Links:
    """The l links of one side over gold's sentence pairs.

    Attributes:
        rows: gold pair at which each link is counted, from 0, int32 (l,).
        source, target: positions, 0 is NULL, int32 (l,).
        sure: bool (l,).
        in_gold: whether gold has the link's sentence; other links cannot be right, bool (l,).
        lines, columns: place of the link in its text; empty where unknown.
    """

    rows: Int32Array
    source: Int32Array
    target: Int32Array
    sure: BoolArray
    in_gold: BoolArray
    lines: Int32Array
    columns: Int32Array

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, mask: BoolArray) -> Links:
        """Return the links where `mask`, bool (l,), is true."""
        return self if mask.all() else self.at(mask)

    def at(self, chosen: BoolArray | IntArray | slice) -> Links:
        """Return the chosen links."""
        return Links(*(part[chosen] if len(part) else part for part in self.parts))

    @property
    def parts(self) -> Sequence[NDArray[Any]]:
        """The columns in their order; places where they are unknown are empty."""
        return self.rows, self.source, self.target, self.sure, self.in_gold, self.lines, self.columns

    def blocks(self) -> Iterator[Links]:
        """Yield the links in the order of their pairs, some whole pairs at a time: counting takes memory for each."""
        ordered = self if _ascend(self.rows) else self.at(np.argsort(self.rows, kind="stable"))
        start = 0
        while start < len(self):
            stop = int(np.searchsorted(ordered.rows, ordered.rows[min(start + AT_ONCE, len(self)) - 1], "right"))
            yield ordered.at(slice(start, stop))
            start = stop


def links_of(alignments: Alignments, rows: IntArray | None = None) -> Links:
    """Return the links of an alignment; `rows` is the gold pair of each of its pairs, -1 for none.

    Links of sentences that gold lacks are counted at the gold sentence before them, so that no link is lost.
    """
    counts = np.diff(alignments.offsets)
    gold_rows = np.arange(len(alignments), dtype=np.int64) if rows is None else rows
    nearest_rows = np.maximum.accumulate(np.where(gold_rows >= 0, np.arange(len(gold_rows)), 0))
    counted_at = np.maximum(gold_rows[nearest_rows], 0)
    return Links(
        np.repeat(counted_at.astype(np.int32), counts),
        alignments.source,
        alignments.target,
        alignments.sure,
        np.repeat(gold_rows >= 0, counts),
        alignments.lines,
        alignments.columns,
    )


def only_sure(alignments: Alignments) -> Alignments:
    """Return the alignment without its possible links."""
    sure = alignments.sure
    names = ("source", "target", "sure", "lines", "columns")
    columns: dict[str, Any] = {name: getattr(alignments, name) for name in names}
    columns = {name: column[sure] if len(column) else column for name, column in columns.items()}
    offsets = offsets_of(sums_by(owners_of(alignments.offsets)[sure], len(alignments)))
    return replace(alignments, offsets=offsets, **columns)


def matched_pairs(gold: Alignments, system: Alignments) -> tuple[IntArray, list[Problem]]:
    """Match sentence pairs.

    Both without names: by line. Both with names: by name. One with names: a name that is a number is the line of
    that number, unless the names are a run of as many numbers as there are lines; other names are in order.

    Returns:
        The gold pair of each of the system's n pairs, int64 (n,), -1 where gold lacks the sentence; and warnings.

    Raises:
        InputError: `sentence-count-mismatch`, the pairs cannot be matched.
    """
    has_names = _named(gold), _named(system)
    warnings: list[Problem] = []
    if has_names == (True, True):
        row_of = {name: row for row, name in enumerate(gold.pair_ids)}
        rows = np.array([row_of.get(name, -1) for name in system.pair_ids], np.int64)
    elif has_names == (False, True):
        rows = lines_of_names(system.pair_ids, len(gold))
        rows = np.where(rows < len(gold), rows, -1)
    elif has_names == (True, False):
        rows = _inverse(lines_of_names(gold.pair_ids, len(system)), len(system), len(gold))
    elif len(gold) == len(system):
        rows = np.arange(len(gold), dtype=np.int64)
    else:
        raise InputError(_unequal(len(gold), len(system), said_of_blank_end(gold, len(system))))
    unmatched = np.flatnonzero((rows < 0) & (np.diff(system.offsets) > 0))
    if len(unmatched):
        warnings.append(_not_in_gold(system, unmatched))
    return rows, warnings


def _named(alignments: Alignments) -> bool:
    """Return whether the format names sentences. Other formats identify them by line and have at least one line."""
    return not len(alignments) or len(alignments.sentences.sent_ids) > 0


def _inverse(lines: IntArray, line_count: int, gold: int) -> IntArray:
    if len(lines) and int(lines.max()) >= line_count:
        raise InputError(_unequal(max(gold, int(lines.max()) + 1), line_count))
    rows = np.full(line_count, -1, np.int64)
    rows[lines] = np.arange(len(lines))
    return rows


def _unequal(gold: int, system: int, more: str = "") -> Problem:
    sizes = f"The output has {counted(system, 'sentence pair')}"
    advice = "Send one line per pair of gold, in the same order; leave the line blank where nothing is aligned."
    detail = f"{sizes}, which differs from gold. {advice}"
    return Problem("sentence-count-mismatch", detail, gold_detail=f"{sizes}, gold has {gold}. {advice}{more}")


def _not_in_gold(system: Alignments, unmatched: IntArray) -> Problem:
    first = int(unmatched[0])
    link = int(system.offsets[first])
    detail = (
        f"{counted(len(unmatched), 'sentence')} of the output {'is' if len(unmatched) == 1 else 'are'} not in gold, "
        f"the first is {system.pair_ids[first]}. "
        "Their links count as wrong."
    )
    line = int(system.lines[link]) if len(system.lines) else None
    return Problem("alignment-sentence-not-in-gold", detail, sent_id=system.pair_ids[first], line=line)


def checked_lengths(lengths: Sequence[tuple[int, int]], limits: Limits, most: int = MAX_TEXT) -> IntArray:
    """Return the lengths of a request's pairs in words, source and target: int64 (n, 2).

    Raises:
        InputError: `alignment-bad-length`, a length is negative or too large.
        LimitError: `alignment-too-many-words`.
    """
    array = np.array([(min(a, MAX_TEXT), min(b, MAX_TEXT)) for a, b in lengths], np.int64).reshape(-1, 2)
    if len(array) and (int(array.min()) < 0 or int(array.max()) > limits.max_words):
        pair = int(np.flatnonzero(((array < 0) | (array > limits.max_words)).any(axis=1))[0])
        detail = (
            f"The lengths of pair {pair + 1} are {list(lengths[pair])}. Each must be 0 to {limits.max_words} words."
        )
        raise InputError(Problem("alignment-bad-length", detail, sentence=pair + 1))
    if int(array.sum()) > most:
        detail = f"The lengths sum to {int(array.sum())} words, which exceeds {most}."
        if most < MAX_TEXT:
            detail += ' Set "null_links" to "keep" or "drop", or score fewer pairs.'
        raise LimitError(Problem("alignment-too-many-words", detail))
    return array


def out_of_range(links: Links, lengths: IntArray) -> BoolArray:
    """Find the links that point beyond their sentence: lengths int64 (n, 2) -> bool (l,)."""
    limits = lengths[links.rows]
    return np.asarray(links.in_gold & ((links.source > limits[:, 0]) | (links.target > limits[:, 1])), np.bool_)


def range_problems(links: Links, lengths: IntArray, names: Sequence[str | None], cap: int) -> ProblemList:
    """Describe each link that points beyond its sentence."""
    problems = ProblemList(cap)
    for link in np.flatnonzero(out_of_range(links, lengths)).tolist():
        row = int(links.rows[link])
        ends = int(links.source[link]), int(links.target[link])
        side = 0 if ends[0] > int(lengths[row, 0]) else 1
        detail = (
            f"The link joins source word {ends[0]} and target word {ends[1]} (counted from 1), but the "
            f"{SOURCE_AND_TARGET[side]} sentence has {counted(int(lengths[row, side]), 'word')}. Check the index base "
            'and the direction of the file (format options "base" and "reversed").'
        )
        problem = Problem("alignment-link-out-of-range", detail, sentence=row + 1)
        line, column = (int(each[link]) if len(each) else None for each in (links.lines, links.columns))
        problems.add(replace(problem, sent_id=names[row] if len(names) else None, line=line, column=column))
    return problems


def without_null(links: Links) -> Links:
    """Return the links that join two words."""
    return links.only((links.source > 0) & (links.target > 0))


def completed(links: Links, lengths: IntArray) -> Links:
    """Add a possible link to NULL for every word of either side that has no link: lengths int64 (n, 2)."""
    added = [replace(links, lines=links.lines[:0], columns=links.columns[:0])]
    for side, own in enumerate((links.source, links.target)):
        offsets = offsets_of(lengths[:, side])
        words = links.in_gold & (own > 0) & (own <= lengths[links.rows, side])
        unlinked = np.ones(int(offsets[-1]), np.bool_)
        unlinked[offsets[links.rows[words]] + own[words] - 1] = False
        rows = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths[:, side])[unlinked]
        ends = [np.zeros(len(rows), np.int32), np.zeros(len(rows), np.int32)]
        ends[side] = (np.flatnonzero(unlinked) - offsets[rows] + 1).astype(np.int32)
        possible = np.zeros(len(rows), np.bool_)
        added.append(Links(rows, ends[0], ends[1], possible, ~possible, links.lines[:0], links.columns[:0]))
    return Links(*map(np.concatenate, zip(*(each.parts for each in added), strict=True)))


class GoldIndex:
    """Gold's links, sorted for look-ups."""

    def __init__(self, links: Links) -> None:
        self.links = links
        self._width = 1 + max((int(end.max()) for end in (links.source, links.target) if len(end)), default=0)
        self._keys_in_order = self._keys(links)
        self._order: IntArray | None = None
        if not _ascend(self._keys_in_order):
            self._order = np.argsort(self._keys_in_order, kind="stable")
            self._keys_in_order = self._keys_in_order[self._order]

    def find(self, system: Links) -> Int32Array:
        """Return the index of the gold link that equals each of the system's l links, -1 for none: int32 (l,)."""
        result = np.full(len(system), -1, np.int32)
        for start in range(0, len(system) if len(self.links) else 0, AT_ONCE):
            some = system.at(slice(start, start + AT_ONCE))
            keys = self._keys(some)
            indices = np.minimum(np.searchsorted(self._keys_in_order, keys), len(self.links) - 1)
            inside = some.in_gold & (some.source < self._width) & (some.target < self._width)
            equal = np.flatnonzero(inside & (self._keys_in_order[indices] == keys))
            result[start + equal] = indices[equal] if self._order is None else self._order[indices[equal]]
        return result

    def _keys(self, links: Links) -> IntArray:
        keys = links.rows.astype(np.int64)
        for end in (links.source, links.target):
            keys *= self._width
            keys += end
        return keys


def by_row(rows: Int32Array, mask: BoolArray) -> IntArray:
    """Return the links where a mask, bool (l,), is true, in the order of their pairs."""
    chosen = np.flatnonzero(mask)
    return chosen if _ascend(rows) else chosen[np.argsort(rows[chosen], kind="stable")]


def _ascend(values: IntArray | Int32Array) -> bool:
    return bool((values[1:] >= values[:-1]).all())


class Reading(NamedTuple):
    """Another way to read a system's indices.

    Attributes:
        shift: added to both positions.
        reversed: whether source and target are exchanged.
    """

    shift: int
    reversed: bool

    @property
    def inverse(self) -> Reading:
        """The reading of gold under which it fits the output as it is."""
        return self._replace(shift=-self.shift)

    def has_form(self, read: LinkForm) -> bool:
        """Tell whether a format has this reading of a text."""
        return read.base - self.shift in (0, 1)

    def form(self, read: LinkForm) -> LinkForm:
        """Return the form of a text that is read so, from how it was read."""
        return read.with_base(read.base - self.shift, turned=self.reversed)

    @property
    def fault(self) -> str:
        """What the output does wrong if this reading is right."""
        faults = []
        if self.shift:
            faults.append(f"counts words from {int(self.shift < 0)} where {int(self.shift > 0)} was expected")
        if self.reversed:
            faults.append("writes the other side's word first")
        return " and ".join(faults)

    def apply(self, links: Links) -> Links:
        """Return the links under this reading."""
        ends = links.source + self.shift, links.target + self.shift
        source, target = reversed(ends) if self.reversed else ends
        return replace(links, source=source, target=target)


READINGS = tuple(Reading(shift, turned) for turned in (False, True) for shift in (0, -1, 1))[1:]


def readings(links: Links) -> Iterator[tuple[Reading, Links]]:
    """Yield every other reading under which no position is negative."""
    lowest = min((int(end.min()) for end in (links.source, links.target) if len(end)), default=0)
    for reading in READINGS:
        if lowest + reading.shift >= 0:
            yield reading, reading.apply(links)


def check_range(links: Links, lengths: IntArray, names: Sequence[str | None], cap: int, form: LinkForm | None) -> None:
    """Check that no link points beyond its sentence.

    Raises:
        InputError: `alignment-base-not-stated`, another reading of the indices explains the links, and the base is not
            stated; `alignment-link-out-of-range`, each link.
    """
    beyond = np.flatnonzero(out_of_range(links, lengths))
    if not len(beyond):
        return
    problems = range_problems(links, lengths, names, cap)
    if form is not None and not form.stated:
        for reading, read in readings(links):
            if reading.has_form(form) and not out_of_range(read, lengths).any():
                first = problems.problems[0]
                ends = f"{int(links.source[beyond[0]])} and {int(links.target[beyond[0]])}"
                many = counted(len(beyond), "link points", "links point")
                sign = f"{many} beyond their sentence, the first joins words {ends} (counted from 1)"
                detail = base_problem(sign, form, reading.form(form)).detail
                raise InputError(replace(first, code="alignment-base-not-stated", detail=detail))
    problems.raise_if_any()


PUNCTUATION = frozenset(".,!?;:()")


def punctuated(links: Links, words: Sequence[tuple[str, str]]) -> BoolArray:
    """Find the links of which one end is a punctuation mark and the other another word, bool (l,).

    Args:
        links: links over gold's pairs; a position beyond its sentence has no word.
        words: source and target sentence of each pair, words separated by spaces.
    """
    found = np.zeros(len(links), np.bool_)
    candidates = np.flatnonzero(links.in_gold & (links.source > 0) & (links.target > 0))
    source_at, target_at = links.source.tolist(), links.target.tolist()
    split: dict[int, tuple[list[str], list[str]]] = {}
    for link in candidates.tolist():
        row = int(links.rows[link])
        if row not in split:
            source, target = words[row]
            split[row] = source.split(), target.split()
        ends = [side[end - 1 : end] for side, end in zip(split[row], (source_at[link], target_at[link]), strict=True)]
        found[link] = ends[0] != ends[1] and any(word in PUNCTUATION for end in ends for word in end)
    return found


class Groups(NamedTuple):
    """The g linked words of one side.

    Attributes:
        starts: index of the first link of each, among the links sorted by pair, this side's word, the other's word.
        rows: sentence pair of each.
        words: position of each.
        links: links of each.
    """

    starts: IntArray
    rows: Int32Array
    words: Int32Array
    links: IntArray


def word_counts(links: Links, pairs: int, lengths: IntArray | None) -> IntArray:
    """Count linked words, jumps and words of each pair: int64 (n, 6), columns as WORD_COUNTS.

    Args:
        links: the output's. Those to NULL, and those of sentences that gold lacks, say nothing here.
        pairs: number of sentence pairs.
        lengths: words of source and target side, int64 (n, 2), or None.
    """
    words = np.zeros((pairs, 2), np.int64) if lengths is None else lengths
    counts = np.zeros((pairs, 4), np.int64)
    for block in _between_words(links).blocks():
        first, last = int(block.rows[0]), int(block.rows[-1]) + 1
        counts[first:last] += _counts_of_block(replace(block, rows=block.rows - first), last - first)
    return np.concatenate([counts, words], axis=1)


def _counts_of_block(known: Links, pairs: int) -> IntArray:
    by_source = _groups(known.rows, known.source, known.target)
    order = np.lexsort((known.source, known.target, known.rows))
    by_target = _groups(known.rows, known.target, known.source)
    sources = known.source[order]
    first, last = sources[by_target.starts], sources[by_target.starts + by_target.links - 1]
    internal = last - first + 1 != by_target.links
    external = by_target.rows[:-1][_external(by_target, sources, first)]
    counted = by_source.rows, by_target.rows, by_target.rows[internal], external
    return np.stack([sums_by(rows, pairs) for rows in counted], axis=1)


def fertility(links: Links, lengths: IntArray | None) -> list[Mapping[str, Json]]:
    """Count the words of each side by how many links they have: rows `links`, `source_words`, `target_words`.

    Words without links are counted where `lengths`, int64 (n, 2), are known.
    """
    sides = [np.zeros(1, np.int64), np.zeros(1, np.int64)]
    for block in _between_words(links).blocks():
        for side, (own, other) in enumerate(((block.source, block.target), (block.target, block.source))):
            found = np.bincount(_groups(block.rows, own, other).links, minlength=len(sides[side]))
            found[: len(sides[side])] += sides[side]
            sides[side] = found
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


def _groups(rows: Int32Array, own: Int32Array, other: Int32Array) -> Groups:
    """Group links by the word of one side; no link stands twice."""
    order = np.lexsort((other, own, rows))
    rows, own = rows[order], own[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (rows[1:] != rows[:-1]) | (own[1:] != own[:-1])
    starts = np.flatnonzero(begins)
    return Groups(starts, rows[starts], own[starts], np.diff(starts, append=len(order)))


def _external(groups: Groups, sources: Int32Array, first: Int32Array) -> IntArray:
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
