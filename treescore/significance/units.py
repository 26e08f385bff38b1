"""Units of a comparison: what is swapped and redrawn as a whole, and the counts of several systems summed by it.

A sample holds pooled runs, summed blocks and the terms of a score. Swapping sentences of one document that succeed or
fail together finds false differences (Canay, Romano & Shaikh 2017, "Randomization tests under an approximate symmetry
assumption"), so documents are the units where gold has them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, Counts, FloatArray, IntArray, sums_by
from treescore.core.comparing import AUTO, FEWEST_PARTS
from treescore.core.scores import Ratio, Score
from treescore.core.wording import counted
from treescore.errors import InputError, Problem
from treescore.significance.settings import Settings

_MOST_RUNS_SCALE = 10_000
"""Largest common multiple of numbers of runs at which counts stay whole: sums up to 9e11 then stay below 2^53."""
_LARGEST_WHOLE = 2.0**52
"""Below this a float holds every whole number, and halves too."""


@dataclass(frozen=True)
class Sample:
    """One score's terms of N systems in n units.

    Attributes:
        score: the score.
        tops, bottoms: for each ratio of the score its numerators and denominators, (N, n).
        parts: stratum of each unit, int64 (n,), from 0; None where there is one.
        part_count: strata.
        missing: the parts without an output of each system, (N, parts); None where none is missing.
        pooled: part of each unit, int64 (n,), where the score is over several parts together; None elsewhere.
    """

    score: Score
    tops: tuple[Counts, ...]
    bottoms: tuple[Counts, ...]
    parts: IntArray | None
    part_count: int
    missing: BoolArray | None = None
    pooled: IntArray | None = None

    @property
    def systems(self) -> int:
        """Systems, N."""
        return len(self.tops[0])

    @property
    def units(self) -> int:
        """Units, n."""
        return int(self.tops[0].shape[1])

    @property
    def ratios(self) -> list[tuple[Counts, Counts]]:
        """Numerators and denominators of each ratio, (N, n) each."""
        return list(zip(self.tops, self.bottoms, strict=True))

    @property
    def integer(self) -> bool:
        """Whether all terms are whole numbers."""
        return all(np.issubdtype(terms.dtype, np.integer) for terms in (*self.tops, *self.bottoms))

    @property
    def plain(self) -> bool:
        """One ratio over all units: neither a composite score nor a macro average."""
        return len(self.tops) == 1 and self.parts is None and self.score.join is None

    @property
    def strata(self) -> IntArray:
        """The part of each unit, (n,): 0 of all units where they are one part."""
        return np.zeros(self.units, np.int64) if self.parts is None else self.parts

    @property
    def strata_count(self) -> int:
        """The parts of `strata`, P of the formulas: 1 where there are none."""
        return max(1, self.part_count)

    @cached_property
    def offsets(self) -> IntArray:
        """Where the units of each part of `strata` start, and their number, int64 (P + 1,)."""
        if self.parts is None:
            return np.array([0, self.units], np.int64)
        return np.searchsorted(self.parts, np.arange(self.strata_count + 1))

    def values(self) -> FloatArray:
        """Return the score of each system, (N,); NaN where undefined."""
        return self.joined(self.sums)

    def unit_values(self) -> FloatArray:
        """Return the score of each unit by itself, (N, n); NaN where undefined."""
        values = np.empty((self.systems, self.units))
        for system in range(self.systems):  # one by one: the terms of all as floats take as much memory again twice
            values[system] = self.score.of_terms([(top[system], bottom[system]) for top, bottom in self.ratios])
        return values

    def part_values(self) -> FloatArray:
        """Return the score of each part, (N, parts): undefined ones as the worst value, NaN where all are undefined."""
        values = self.score.of_terms(self.sums)
        undefined = np.isnan(values)
        worst = math.nan if self.score.worst is None else self.score.worst
        return np.where(undefined & ~undefined.all(axis=1, keepdims=True), worst, values)

    def joined(self, sums: Sequence[tuple[Counts, Counts]]) -> FloatArray:
        """Return the statistic of sums (..., parts) for each ratio: one score, or the mean of the parts' scores, (...).

        In a macro average an undefined part counts as the worst value, as a missing one does; the whole is
        undefined where all parts are, and where one is and the score's range has no worst value.
        """
        values = self.score.of_terms(sums)
        if self.parts is None:
            return np.asarray(values[..., 0], np.float64)
        worst = self.score.worst
        filled = np.where(np.isnan(values), math.nan if worst is None else worst, values)
        mean = filled.mean(axis=-1) if self.part_count else np.full(values.shape[:-1], np.nan)
        return np.where(np.isnan(values).all(axis=-1), np.nan, mean)

    @cached_property
    def sums(self) -> list[tuple[Counts, Counts]]:
        """The sums of numerators and of denominators by part, (N, parts), for each ratio."""
        return [(self.summed(top), self.summed(bottom)) for top, bottom in self.ratios]

    def summed(self, terms: Counts) -> Counts:
        """Sum terms (N, n) by part: (N, parts)."""
        if self.parts is None:
            return np.asarray(terms.sum(axis=1, keepdims=True))
        if terms.dtype.kind == "f":
            return _sums_at(terms, self.parts, self.part_count)
        return sums_of(terms, self.offsets)

    def differing_units(self, first: int, second: int) -> BoolArray:
        """Find units in which two systems' terms differ, (n,)."""
        different = np.zeros(self.units, np.bool_)
        for terms in (*self.tops, *self.bottoms):
            different |= terms[first] != terms[second]
        return different

    def part(self, number: int) -> Sample:
        """Return the units of one part as a sample of their own."""
        in_part = self.parts == number
        tops = tuple(top[:, in_part] for top in self.tops)
        return Sample(self.score, tops, tuple(bottom[:, in_part] for bottom in self.bottoms), None, 0)


def pooled(runs: Sequence[Sequence[Counts]]) -> list[Counts]:
    """Pool the counts of each system over its runs, all on one scale: (n, k) each.

    Runs are summed where all systems have as many; otherwise each sum is brought to their least common multiple,
    so that integer counts stay integer and a swap exchanges like with like.
    """
    scale = math.lcm(*(len(system_runs) for system_runs in runs)) if runs else 1
    rows: list[Counts] = []
    for of_system in runs:
        real = any(run.dtype.kind == "f" for run in of_system)
        total: Counts = np.asarray(sum(of_system[1:], of_system[0] * (1.0 if real else 1)))
        rows.append(total * (scale // len(of_system)) if scale <= _MOST_RUNS_SCALE else total / float(len(of_system)))
    return rows


def sample_of(
    score: Score,
    names: Sequence[str],
    rows: Sequence[Counts],
    blocks: IntArray | None,
    parts: IntArray | None,
    missing: BoolArray | None = None,
    pooled: IntArray | None = None,
) -> Sample:
    """Return the terms of a score in the rows (n, k) of each system, summed by block where blocks (n,) are numbered.

    A block lies in one part: the caller numbers it so. The units of a part come to stand together.

    Args:
        score: whose terms they are.
        names: of the columns of rows.
        rows: counts of each system.
        blocks: of each row, from 0.
        parts: of each row, from 0, where the score is their mean.
        missing: parts (of either kind) without an output of each system, (N, parts).
        pooled: part of each row, from 0, where the score is over all parts together.
    """
    strata = parts if pooled is None else pooled
    if blocks is not None and strata is not None:
        of_blocks = np.zeros(int(blocks.max(initial=-1)) + 1, np.int64)
        of_blocks[blocks] = strata
        strata = of_blocks
    order = None if strata is None or (np.diff(strata) >= 0).all() else np.argsort(strata, kind="stable")
    sides: tuple[list[Counts], list[Counts]] = ([], [])
    for ratio in score.ratios:
        terms = [ratio.terms(names, counts) for counts in rows]
        for side, column in enumerate(sides):
            term = _stacked_systems([pair[side] for pair in terms])
            if missing is not None and parts is not None:
                term = np.where(missing[:, parts], 0, term)  # undefined, so that it counts as the worst value
            term = term if blocks is None else _sums_at(term, blocks, int(blocks.max(initial=-1)) + 1)
            column.append(term if order is None else term[:, order])
    if strata is not None and order is not None:
        strata = strata[order]
    part_count = 0 if parts is None else int(parts.max(initial=-1)) + 1
    of_mean, together = (strata, None) if pooled is None else (None, strata)
    return Sample(score, tuple(sides[0]), tuple(sides[1]), of_mean, part_count, missing, together)


def missing_parts(missing: Sequence[Collection[int]], part_count: int) -> BoolArray | None:
    """Return which parts are missing of which system, (N, parts); None where none is, or the score has no parts."""
    if not part_count or not any(missing):
        return None
    return np.array([[part in of_system for part in range(part_count)] for of_system in missing], np.bool_)


def block_numbers(blocks: Sequence[str | None], parts: IntArray | None) -> IntArray:
    """Return numbers of blocks, int64 (n,), in order of appearance.

    Equal names in two parts are two blocks. A sentence of no block is one by itself.
    """
    number_of: dict[tuple[str | int, int], int] = {}
    strata = [0] * len(blocks) if parts is None else parts.tolist()
    keys = ((at if name is None else name, part) for at, (name, part) in enumerate(zip(blocks, strata, strict=True)))
    return np.fromiter((number_of.setdefault(key, len(number_of)) for key in keys), np.int64, len(blocks))


def by_part(sample: Sample) -> Sample:
    """Return the sample whose units are whole parts: the mean of the parts' scores as a ratio of sums.

    A part with an undefined score counts as the worst value, as in the mean.
    """
    values = sample.part_values()
    score = sample.score._replace(ratios=(Ratio({"score": 1}, {"parts": 1}),), join=None)
    return Sample(score, (values,), (np.ones_like(values),), None, 0)


def _stacked_systems(rows: Sequence[Counts]) -> Counts:
    """Make one term of all systems, (N, n): int64, also where whole numbers came as floats, else float64."""
    if not rows:
        return np.zeros((0, 0), np.int64)
    if all(row.dtype.kind == "i" for row in rows):
        return np.stack(rows).astype(np.int64, copy=False)
    terms = np.stack(rows).astype(np.float64, copy=False)
    whole = (np.abs(terms) < _LARGEST_WHOLE).all() and (terms == np.rint(terms)).all()
    return terms.astype(np.int64) if whole else terms


def sums_of(terms: Counts, offsets: IntArray) -> Counts:
    """Sum terms (N, n) of groups that stand one after the other, at offsets (g + 1,): (N, g)."""
    filled = np.flatnonzero(np.diff(offsets))
    sums: Counts = np.zeros((len(terms), len(offsets) - 1), terms.dtype)  # type: ignore[assignment]
    if len(filled):
        sums[:, filled] = np.add.reduceat(terms, offsets[filled], axis=1)
    return sums


def _sums_at(terms: Counts, groups: IntArray, size: int) -> Counts:
    """Sum terms (N, n) of each group, groups int64 (n,): (N, size)."""
    shape = (len(terms), size)
    sums: Counts = np.zeros(shape, np.int64) if terms.dtype.kind == "i" else np.zeros(shape, np.float64)
    for system, of_system in enumerate(terms):
        if sums.dtype.kind == "i":
            sums[system] = sums_by(groups, size, of_system)
        else:
            np.add.at(sums[system], groups, of_system)
    return sums


FEWEST_DOCUMENTS = 2
"""Documents from which on a part goes by document: with one there is nothing to swap against."""
UNMARKED = ""
"""The document of the sentences before the first mark; no mark has an empty name."""
OF_SENTENCES = ("mcnemar", "compare_pl")
"""Tests whose usual question is about sentences, though gold may mark documents."""


class Units(NamedTuple):
    """The units of a comparison.

    Attributes:
        name: sentence, block, part or token.
        blocks: number of each sentence's block, int64 (n,), where blocks are the units.
        by_sentence: parts that go by sentence although blocks are the units.
        documents: how many the text marks.
    """

    name: str
    blocks: IntArray | None = None
    by_sentence: int = 0
    documents: int = 0


def chosen_units(
    settings: Settings,
    blocks: Sequence[str | None] | None,
    strata: IntArray | None,
    sentences: int,
    *,
    together: bool = False,
) -> Units:
    """Return the units that settings name; for `auto` documents where the text has any, else sentences.

    Args:
        settings: with the unit.
        blocks: the document of each sentence, None before the first mark, (n,).
        strata: part of each sentence, int64 (n,); None where there is one.
        sentences: n.
        together: whether the score is over all parts together, no mean of theirs.

    Raises:
        InputError: the text does not have the unit (pointer /unit).
    """
    unit = settings.unit
    documents = _marked(blocks, strata)
    if blocks is not None and len(blocks) != sentences:
        found = f"The list has {counted(len(blocks), 'block name')} for {counted(sentences, 'sentence')}"
        raise InputError(Problem("item-count-mismatch", f"{found}. Give one for each.", pointer="/unit"))
    if unit == "part":
        require_parts(0 if together or strata is None else int(strata.max(initial=-1)) + 1)
    if unit == "block":
        require_documents(known=documents > 0)
    if unit == AUTO:
        unit = "block" if documents and settings.test not in OF_SENTENCES else "sentence"
    if unit != "block" or blocks is None:
        return Units(unit, documents=documents)
    # one document of the only part is what was asked for by name, though it can show nothing
    fewest = FEWEST_DOCUMENTS if settings.unit == AUTO or strata is not None else 1
    kept, by_sentence = with_documents(blocks, strata, fewest)
    if all(name is None for name in kept):
        return Units("sentence", documents=documents)
    return Units("block", block_numbers(kept, strata), by_sentence, documents)


def _marked(blocks: Sequence[str | None] | None, strata: IntArray | None) -> int:
    """Count the documents that a text marks; equal names in two parts are two."""
    part_of = repeat(0) if strata is None else strata.tolist()
    return sum(1 for name, _ in set(zip(blocks or (), part_of, strict=False)) if name)


def with_documents(
    blocks: Sequence[str | None], strata: IntArray | None, fewest: int = FEWEST_DOCUMENTS
) -> tuple[list[str | None], int]:
    """Keep the documents of parts that have enough marked ones; the sentences of other parts then stand alone.

    Sentences before the first mark are a document of their own, which is not a marked one.

    Returns:
        The document of each sentence, and the number of parts that go by sentence.
    """
    part_of = [0] * len(blocks) if strata is None else strata.tolist()
    named = Counter(part for name, part in set(zip(blocks, part_of, strict=True)) if name)
    few = {part for part in set(part_of) if named[part] < fewest}
    return [None if part in few else name or UNMARKED for name, part in zip(blocks, part_of, strict=True)], len(few)


def require_documents(*, known: bool) -> None:
    """Refuse documents as units where none are known.

    Raises:
        InputError: none are known (pointer /unit).
    """
    if not known:
        detail = (
            'The unit is "block", but the blocks are unknown. Give the block of '
            "each sentence in items.blocks, or use gold with document boundaries, or the unit sentence."
        )
        raise InputError(Problem("no-blocks", detail, pointer="/unit"))


def require_parts(count: int) -> None:
    """Refuse whole parts as the units of a mean over too few of them: two show hardly how parts differ.

    Args:
        count: parts of the mean; less than 2 for a score that is not a mean of parts.

    Raises:
        InputError: they are fewer than FEWEST_PARTS (pointer /unit).
    """
    if count < FEWEST_PARTS:
        detail = (
            f'The unit "part" needs a mean over {FEWEST_PARTS} parts or more. Here are {max(1, count)}. '
            "Use the unit block or sentence."
        )
        raise InputError(Problem("too-few-parts", detail, pointer="/unit"))
