"""Counts of several systems as one sample: pooled runs, summed blocks, the terms of a score."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from treescore.core.arrays import BoolArray, Counts, FloatArray, IntArray
from treescore.core.scores import Ratio, Score

_MOST_RUNS_SCALE = 10_000
"""Largest common multiple of numbers of runs at which counts stay whole: sums up to 9e11 then stay below 2^53."""
_LARGEST_WHOLE = 2.0**52
"""Below this a float holds every whole number, and halves too."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One score's terms of N systems in n units.

    Attributes:
        score: the score.
        tops, bottoms: for each ratio of the score its numerators and denominators, (N, n).
        parts: stratum of each unit, int64 (n,), from 0; None where there is one.
        part_count: strata.
        missing: the parts without an output of each system, (N, parts); None where none is missing.
    """

    score: Score
    tops: tuple[Counts, ...]
    bottoms: tuple[Counts, ...]
    parts: IntArray | None
    part_count: int
    missing: BoolArray | None = None

    @property
    def systems(self) -> int:
        """Systems, N."""
        return len(self.tops[0])

    @property
    def units(self) -> int:
        """Units, n."""
        return int(self.tops[0].shape[1])

    @property
    def integer(self) -> bool:
        """Whether all terms are whole numbers."""
        return all(np.issubdtype(terms.dtype, np.integer) for terms in (*self.tops, *self.bottoms))

    @property
    def plain(self) -> bool:
        """One ratio over all units: neither a composite score nor a macro average."""
        return len(self.tops) == 1 and self.parts is None and self.score.join is None

    @property
    def direction(self) -> float:
        """1.0 where a higher first ratio is better, else -1.0."""
        return -self.score.sign if self.score.ratios[0].one_minus else self.score.sign

    @property
    def strata(self) -> IntArray:
        """The part of each unit, (n,): 0 of all units where they are one part."""
        return np.zeros(self.units, np.int64) if self.parts is None else self.parts

    @property
    def strata_count(self) -> int:
        """The parts of `strata`, P of the formulas: 1 where there are none."""
        return max(1, self.part_count)

    def values(self) -> FloatArray:
        """Return the score of each system, (N,); NaN where undefined."""
        return self.joined(self.sums())

    def unit_values(self) -> FloatArray:
        """Return the score of each unit by itself, (N, n); NaN where undefined."""
        values = np.empty((self.systems, self.units))
        for system in range(self.systems):  # one by one: the terms of all as floats take as much memory again twice
            values[system] = self.score.of_terms([(top[system], bottom[system]) for top, bottom in self._pairs()])
        return values

    def part_values(self) -> FloatArray:
        """Return the score of each part, (N, parts): undefined ones as the worst value, NaN where all are undefined."""
        values = self.score.of_terms(self.sums())
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

    def sums(self) -> list[tuple[Counts, Counts]]:
        """Return the sums of numerators and of denominators by part, (N, parts), for each ratio."""
        return [(self.summed(top), self.summed(bottom)) for top, bottom in self._pairs()]

    def summed(self, terms: Counts) -> Counts:
        """Sum terms (N, n) by part: (N, parts)."""
        if self.parts is None:
            return np.asarray(terms.sum(axis=1, keepdims=True))
        return _sums_at(terms, self.parts, self.part_count)

    def differing_units(self, first: int, second: int) -> BoolArray:
        """Find units in which two systems' terms differ, (n,)."""
        different = np.zeros(self.units, np.bool_)
        for terms in (*self.tops, *self.bottoms):
            different |= terms[first] != terms[second]
        return different

    def lacking(self, first: int, second: int) -> BoolArray:
        """Find the parts that exactly one of two systems lacks, (parts,)."""
        if self.missing is None:
            return np.zeros(self.part_count, np.bool_)
        return np.asarray(self.missing[first] != self.missing[second])

    def of_systems(self, systems: Sequence[int]) -> Sample:
        """Return the sample of some systems only."""
        indices = list(systems)
        return Sample(
            self.score,
            tuple(top[indices] for top in self.tops),
            tuple(bottom[indices] for bottom in self.bottoms),
            self.parts,
            self.part_count,
            None if self.missing is None else self.missing[indices],
        )

    def part(self, number: int) -> Sample:
        """Return the units of one part as a sample of their own."""
        in_part = self.parts == number
        tops = tuple(top[:, in_part] for top in self.tops)
        return Sample(self.score, tops, tuple(bottom[:, in_part] for bottom in self.bottoms), None, 0)

    def _pairs(self) -> list[tuple[Counts, Counts]]:
        return list(zip(self.tops, self.bottoms, strict=True))


def pooled(runs: Sequence[Sequence[Counts]]) -> list[Counts]:
    """Pool the counts of each system over its runs, all on one scale: (n, k) each.

    Runs are summed where all systems have as many; otherwise each sum is brought to their least common multiple,
    so that integer counts stay integer and a swap exchanges like with like.
    """
    scale = math.lcm(*(len(system_runs) for system_runs in runs)) if runs else 1
    rows: list[Counts] = []
    for system_runs in runs:
        real = any(run.dtype.kind == "f" for run in system_runs)
        first = system_runs[0]
        total: Counts = np.asarray(first, np.float64) if real else np.asarray(first, np.int64)
        for run in system_runs[1:]:
            total = total + run
        if scale > _MOST_RUNS_SCALE:
            total = np.asarray(total / len(system_runs), np.float64)
        elif scale != len(system_runs):
            total = total * (scale // len(system_runs))
        rows.append(total)
    return rows


def sample_of(
    score: Score,
    names: Sequence[str],
    rows: Sequence[Counts],
    blocks: IntArray | None,
    parts: IntArray | None,
    missing: BoolArray | None = None,
) -> Sample:
    """Return the terms of a score in the rows (n, k) of each system, summed by block where blocks (n,) are numbered.

    A block lies in one part: the caller numbers it so.
    """
    tops: list[Counts] = []
    bottoms: list[Counts] = []
    for ratio in score.ratios:
        terms = [ratio.terms(names, counts) for counts in rows]
        for side, column in ((0, tops), (1, bottoms)):
            term = _stacked_systems([pair[side] for pair in terms])
            if missing is not None and parts is not None:
                term = np.where(missing[:, parts], 0, term)  # undefined, so that it counts as the worst value
            column.append(_by_block(term, blocks))
    part_count = 0 if parts is None else int(parts.max(initial=-1)) + 1
    if blocks is not None and parts is not None:
        first = np.full(int(blocks.max(initial=-1)) + 1, 0, np.int64)
        first[blocks] = parts
        parts = first
    return Sample(score, tuple(tops), tuple(bottoms), parts, part_count, missing)


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


def merged(sample: Sample, whole: BoolArray) -> Sample:
    """Return a mean of parts in which each part of `whole` (parts,) is one unit, with the sums of its units."""
    assert sample.parts is not None  # noqa: S101 - only means of parts lack some
    in_whole = whole[sample.parts]
    units = np.where(in_whole, len(in_whole) + sample.parts, np.arange(len(in_whole)))
    _, first_units, blocks = np.unique(units, return_index=True, return_inverse=True)
    return replace(
        sample,
        tops=tuple(_by_block(top, blocks) for top in sample.tops),
        bottoms=tuple(_by_block(bottom, blocks) for bottom in sample.bottoms),
        parts=sample.parts[first_units],
    )


def by_part(sample: Sample) -> Sample:
    """Return the sample whose units are whole parts: the mean of the parts' scores as a ratio of sums.

    A part with an undefined score counts as the worst value, as in the mean.
    """
    values = sample.part_values()
    score = replace(sample.score, ratios=(Ratio({"score": 1}, {"parts": 1}),), join=None)
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


def _by_block(terms: Counts, blocks: IntArray | None) -> Counts:
    if blocks is None:
        return terms
    return _sums_at(terms, blocks, int(blocks.max(initial=-1)) + 1)


def _sums_at(terms: Counts, groups: IntArray, size: int) -> Counts:
    """Sum terms (N, n) of each group, groups int64 (n,): (N, size)."""
    shape = (len(terms), size)
    sums: Counts = np.zeros(shape, np.int64) if terms.dtype.kind == "i" else np.zeros(shape, np.float64)
    for system in range(len(terms)):
        np.add.at(sums[system], groups, terms[system])
    return sums
