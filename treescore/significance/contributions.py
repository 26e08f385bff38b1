"""What each unit contributes to a score and to the difference of two, and how much both would vary in other units.

Part p of P has n_p units; S is the score of a part, m and n are a unit's numerator and denominator, M and N their sums
over the part.

- **z_i**, a unit's influence on one system's score: (m_i - S n_i) / N / P; a score that joins ratios has the sum of
  theirs, times its derivative by each ratio (the delta method). The z of a part sum to 0.
- **w_i**, its share of the part: (n_a + n_b)_i / N over both systems, the mean over the ratios that have denominators
  in the part. A unit with w = 0 is none. Over the whole test set it is w_i / P.
- **e_i**, its contribution to the difference D of a and b: 2 (u_i - (M / N) v_i) / N / P, where u = m_a - m_b,
  v = n_a - n_b, and M, N are over both systems; of several ratios the sum of theirs, times the derivative of the score
  at all M / N. Swapping the outputs of unit i turns the sign of e_i, to first order; exactly where n_a = n_b.
- **V**, the variance of D, is the sum over the parts of V_p = Σ r_i² / (1 - w_i) with r = z_a - z_b, and has
  1 / df_p = Σ w² + (Σ w²/(1-w))² - Σ w⁴/(1-w)² (CR2 and its degrees of freedom of one weighted mean: Bell & McCaffrey
  2002; Pustejovsky & Tipton 2018); df = V² / Σ (V_p² / df_p) (Satterthwaite 1946). With equal w, df_p = n_p - 1.

Parts of one unit show no spread of their own: together they have Σ (d_p - D)² / (P (P - 1)), as if parts were drawn,
with one degree of freedom less than there are. A part that only one of the two has is one unit with e = d_p / P and
V_p = e², df_p = 1; under a score over all parts together its units are one. A part that neither has is left out.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, Counts, FloatArray, IntArray
from treescore.core.scores import Score
from treescore.significance.settings import ROUNDING
from treescore.significance.signs import subset_sums
from treescore.significance.units import Sample, sample_of, sums_of

MOST_KNOWN = 8
"""Shares that scores leave for others of equal denominators."""
BLOCK_NUMBERS = 1 << 17
"""Numbers of one array of a block of pairs: 1 MB."""
_STEP = 2.0**-17
"""Step of the central differences of a score that joins ratios: near the cube root of the rounding error 2^-53."""


class Spread(NamedTuple):
    """How much differences (or scores) would vary in other units, for m of them.

    Attributes:
        se: √V, (m,); 0.0 where the units show no spread, NaN where there is one unit alone.
        df: its degrees of freedom, (m,); NaN where V is 0.
        units: that hold anything, int64 (m,).
        weight: units of equal weight that would vary as much, (m,).
    """

    se: FloatArray
    df: FloatArray
    units: IntArray
    weight: FloatArray


class Shares(NamedTuple):
    """What a spread takes from the shares w of m pairs or systems; equal for all scores of equal denominators.

    Attributes:
        rest: 1 - w, (m, n).
        inverse: 1 / df_p, (m, P).
        sizes: units of each part that hold anything, (m, P).
    """

    rest: FloatArray
    inverse: FloatArray
    sizes: FloatArray


KnownShares = tuple[list[FloatArray | BoolArray], list[Counts], Shares]
"""What decides on the shares of a system, and these: the parts that it lacks and its denominators by part, (P,) for
each ratio; and by unit, (n,)."""


class Block(NamedTuple):
    """The units of some pairs.

    Attributes:
        e, w: (m, n); w sums to 1 over all units.
        difference: D, (m,).
        spread: of D.
        differ: units in which the terms of the two differ, (m, n).
        is_sum: whether swaps turn the signs of e exactly, (m,).
    """

    e: FloatArray
    w: FloatArray
    difference: FloatArray
    spread: Spread
    differ: BoolArray
    is_sum: BoolArray


Terms = Sequence[tuple[Counts, Counts]]


class Contributions:
    """The influences of all systems of a sample, from which those of pairs are made block by block."""

    def __init__(self, sample: Sample, known: list[KnownShares] | None = None) -> None:
        """Compute influences z, (N, n), one system after the other.

        Args:
            sample: the terms of a score.
            known: what scores of the same units with the same denominators have left here, and leave.
        """
        self.sample = sample
        self._known = known
        self.values = sample.values()
        self._parts = sample.strata_count
        self._strata = sample.strata
        self._offsets = sample.offsets
        self._filled = np.flatnonzero(np.diff(self._offsets))
        self._sums = [(top.astype(np.float64), bottom.astype(np.float64)) for top, bottom in sample.sums]
        # undefined ones as the worst value; of one part the score itself
        self._by_part_values = self.values[:, None] if sample.parts is None else sample.part_values()
        self._absent = self._absent_parts()
        self._last: tuple[Sequence[tuple[int, int]], Block] | None = None
        self.z = np.zeros((sample.systems, sample.units))
        for system in range(sample.systems):
            own = [(top[[system]], bottom[[system]]) for top, bottom in sample.ratios]
            self.z[system] = self._derived(own, [(tops[[system]], bottoms[[system]]) for tops, bottoms in self._sums])

    def blocks(self, pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[range, Block]]:
        """Yield the units of the pairs, a bounded number of pairs at a time, with their positions; keep the last."""
        at_once = max(1, BLOCK_NUMBERS // max(1, self.sample.units))
        for start in range(0, len(pairs), at_once):
            chosen = range(start, min(start + at_once, len(pairs)))
            asked = pairs[start : chosen.stop]
            if self._last is None or self._last[0] != asked:
                self._last = asked, self.block(asked)
            yield chosen, self._last[1]

    def block(self, pairs: Sequence[tuple[int, int]]) -> Block:
        """Return the units of the pairs, all at once."""
        first, second = np.array(pairs, np.int64).reshape(-1, 2).T
        changes, both = [], []
        differ, equal = np.zeros((2, len(first), self.sample.units), np.bool_)
        equal |= True
        for (top, bottom), (tops, bottoms) in zip(self.sample.ratios, self._sums, strict=True):
            u, v = top[first] - top[second], bottom[first] - bottom[second]
            changes.append((u, v))
            both.append((tops[first] + tops[second], bottoms[first] + bottoms[second]))
            differ |= (u != 0) | (v != 0)
            equal &= v == 0
        e, w, r = 2.0 * self._derived(changes, both), self._shares(first, second), self.z[first] - self.z[second]
        d = self.values[first] - self.values[second]
        of_parts = self._by_part_values[first] - self._by_part_values[second]
        lacking = self._absent[first] != self._absent[second]
        pooled = self.sample.pooled is not None
        for row, part in np.argwhere(self._absent[first] | self._absent[second] if pooled else lacking):
            units = self._as_one((e, w, r, differ), row, int(part))
            if not pooled:
                e[row, units.start] = of_parts[row, part] / self._parts
                equal[row, units] = True
        if pooled:
            lacking = np.zeros((len(first), 1), np.bool_)
        spread = self._spread(r, self._weighed(w), of_parts, d, lacking)
        total = w.sum(axis=1, keepdims=True)
        w /= np.where(total > 0, total, 1.0)
        e[np.abs(e) < ROUNDING * np.abs(e).sum(axis=1, keepdims=True)] = 0.0
        is_sum = equal.all(axis=1) & (len(changes) == 1 and self.sample.score.join is None)
        scale = np.maximum(np.abs(self.values[first]), np.abs(self.values[second]))
        return Block(e, w, d, _rounded(spread, scale), differ, np.asarray(is_sum))

    def of_systems(self, systems: Sequence[int]) -> Spread:
        """Return how much the systems' scores would vary in other units."""
        found = []
        for system in systems:  # one by one: the shares of all would take much memory
            row = np.array([system])
            r, value, shares = self.z[row], self.values[row], self._shares_of(system)
            for part in np.flatnonzero(self._absent[system]):
                units = self._as_one((r,), 0, int(part))
                if self.sample.pooled is None:
                    r[0, units] = 0.0
            none = np.zeros((1, self._parts), np.bool_)
            found.append(_rounded(self._spread(r, shares, self._by_part_values[row], value, none), np.abs(value)))
        return Spread(*(np.concatenate(columns) for columns in zip(*found, strict=True)))

    def _shares_of(self, system: int) -> Shares:
        """Return the shares of a system by itself."""
        sums = [self._absent[system], *(sizes[system] for _, sizes in self._sums)]
        bottoms = [bottom[system] for bottom in self.sample.bottoms]
        # whether a part of a joined score has a value depends on how it is joined
        known = [] if self._known is None or self.sample.score.join is not None else self._known
        for other, others, shares in known:
            if len(other) == len(sums) and all(map(np.array_equal, (*other, *others), (*sums, *bottoms))):
                return shares
        w = self._shares(np.array([system]))
        for part in np.flatnonzero(self._absent[system]):
            units = self._as_one((w,), 0, int(part))
            if self.sample.pooled is None:
                w[0, units] = 0.0
        shares = self._weighed(w)
        known.append((sums, bottoms, shares))
        del known[:-MOST_KNOWN]
        return shares

    def whole_differences(self, first: int, second: int) -> IntArray | None:
        """Return u of each unit, int64 (n,), of a score that is one ratio of whole numbers without parts; else None."""
        sample = self.sample
        if not (sample.plain and sample.integer):
            return None
        u = np.asarray(sample.tops[0][first] - sample.tops[0][second], np.int64)
        for units in self.whole_parts(first, second):
            total = int(u[units].sum())
            u[units] = 0
            u[units.start] = total
        return u

    def swapped(self, first: int, second: int, differ: BoolArray) -> FloatArray:
        """Return the difference of the scores under all 2^k swaps of the k units of `differ` (n,).

        In a mean of parts the swaps of parts add up.
        """
        values = np.zeros(1)
        of_parts = [differ] if self.sample.parts is None else [differ & (self._strata == part) for part in self._filled]
        for part, chosen in zip(self._filled.tolist(), of_parts, strict=self.sample.parts is not None):
            if chosen.any():
                values = np.add.outer(self._swapped_in(first, second, part, np.flatnonzero(chosen)), values).ravel()
        return values

    def _swapped_in(self, first: int, second: int, part: int, differing: IntArray) -> FloatArray:
        """Return what a part adds to the difference under all swaps of its differing units, (2^k,)."""
        sample = self.sample
        if sample.parts is not None and self._absent[first, part] != self._absent[second, part]:
            own = (self._by_part_values[first, part] - self._by_part_values[second, part]) / self._parts
            return np.array([own, -own])
        whole = {units.start: units for units in self.whole_parts(first, second)}
        terms_a, terms_b = [], []
        for sides, sums in zip(sample.ratios, self._sums, strict=True):
            moved = []
            for terms, total in zip(sides, sums, strict=True):
                change = terms[first] - terms[second]
                changes = [float(change[whole.get(int(unit), slice(unit, unit + 1))].sum()) for unit in differing]
                turned = subset_sums(np.array(changes))
                moved.append((total[first, part] - turned, total[second, part] + turned))
            terms_a.append((moved[0][0], moved[1][0]))
            terms_b.append((moved[0][1], moved[1][1]))
        worst = 0.0 if sample.parts is None or sample.score.worst is None else sample.score.worst
        a, b = (np.nan_to_num(sample.score.of_terms(terms), nan=worst) for terms in (terms_a, terms_b))
        return np.asarray((a - b) / self._parts)

    def whole_parts(self, first: int, second: int) -> list[slice]:
        """Return the units of the parts that are one unit of a pair."""
        a, b = self._absent[first], self._absent[second]
        found = [self._units_of(int(part)) for part in np.flatnonzero(a != b if self.sample.pooled is None else a | b)]
        return [units for units in found if units.start < units.stop]

    def _as_one(self, columns: Sequence[FloatArray | BoolArray], row: int, part: int) -> slice:
        """Make one unit of those of a part in a row of some arrays, and return the part's units."""
        units = self._units_of(part)
        for values in columns if units.start < units.stop else ():
            total = values[row, units].sum()
            values[row, units] = 0
            values[row, units.start] = total
        return units

    def _derived(self, changes: Terms, sums: Terms) -> FloatArray:
        """Return Σ_k g_k (u - (M / N) v) / N / P over the ratios k, g_k the derivative of the score at M / N: (m, n).

        Args:
            changes: u and v of each ratio, (m, n).
            sums: M and N of each ratio, (m, P).
        """
        score = self.sample.score
        means = [_quotient(tops, bottoms) for tops, bottoms in sums]
        shares = [1.0 - mean if ratio.one_minus else mean for ratio, mean in zip(score.ratios, means, strict=True)]
        result = np.zeros(1)
        slopes = _slopes(score, shares)
        for ratio, (u, v), (_, sizes), mean, slope in zip(score.ratios, changes, sums, means, slopes, strict=True):
            factor = (-1.0 if ratio.one_minus else 1.0) / self._parts * slope * _quotient(np.ones(sizes.shape), sizes)
            result = result + self._spread_out(factor) * (u - self._spread_out(mean) * v)
        return result

    def _shares(self, *sides: IntArray) -> FloatArray:
        """Return w of pairs, or of systems, (m, n); it sums to 1 over each part that has denominators."""
        w, used = np.zeros((len(sides[0]), self.sample.units)), np.zeros((len(sides[0]), self._parts))
        for (_, bottom), (_, sizes) in zip(self.sample.ratios, self._sums, strict=True):
            both = sum((sizes[side] for side in sides), np.zeros(used.shape))
            inverse = self._spread_out(_quotient(np.ones(both.shape), both))
            for side in sides:
                w += inverse * bottom[side]
            used += both != 0
        return w if len(self._sums) == 1 else w * self._spread_out(_quotient(np.ones_like(used), used))

    def _weighed(self, w: FloatArray) -> Shares:
        """Compute what a spread takes from w (m, n)."""
        rest = 1.0 - w
        large = np.argwhere(w > 0.5)
        for row, unit in large:
            rest[row, unit] = self._others(w, row, unit).sum()
        if len(large):
            rest[rest <= 0.0] = 1.0
        a = w * w / rest
        squares, total = self._by_part(w * w), self._by_part(a)
        inverse = squares + total * total - self._by_part(a * a)
        for row, unit in large:
            part = self._strata[unit]
            others = self._others(a, row, unit)
            rest_of = others.sum()
            inverse[row, part] = squares[row, part] + 2.0 * a[row, unit] * rest_of + rest_of**2 - (others**2).sum()
        return Shares(rest, inverse, self._by_part((w > 0.0).astype(np.float64)))

    def _spread(self, r: FloatArray, shares: Shares, of_parts: FloatArray, d: FloatArray, lacking: BoolArray) -> Spread:
        """Compute V and its df from r (m, n) and the shares, d_p (m, P), D (m,) and what one of two lacks (m, P)."""
        sizes = shares.sizes
        variances = np.where(lacking, (of_parts / self._parts) ** 2, self._by_part(r * r / shares.rest))
        inverse = np.where(lacking, 1.0, shares.inverse)
        counted = (sizes > 1) | lacking
        variance = np.where(counted, variances, 0.0).sum(axis=1)
        weighed = np.where(counted, variances**2 * inverse, 0.0).sum(axis=1)
        alone = (sizes == 1) & ~lacking
        single = alone.sum(axis=1)
        if single.any():
            far = np.where(alone, (of_parts - d[:, None]) ** 2, 0.0).sum(axis=1)
            far = far / (self._parts * (self._parts - 1.0)) if self._parts > 1 else np.where(single > 0, np.nan, 0.0)
            variance += far
            weighed += far**2 / np.maximum(1, single - 1)
        filled = np.where(lacking, 1.0, sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            df = variance**2 / weighed
            weight = (filled > 0).sum(axis=1) ** 2 / np.where(filled > 0, 1.0 / filled, 0.0).sum(axis=1)
        return Spread(np.sqrt(variance), df, filled.sum(axis=1).astype(np.int64), weight)

    def _others(self, values: FloatArray, row: int, unit: int) -> FloatArray:
        """Return the values of the other units of a unit's part."""
        units = slice(*self._offsets[self._strata[unit] : self._strata[unit] + 2])
        return np.delete(values[row, units], unit - units.start)

    def _absent_parts(self) -> BoolArray:
        """Find the parts that each system lacks or has no value in, (N, P); of a pooled score those that it lacks."""
        sample = self.sample
        absent = np.zeros((sample.systems, self._parts), np.bool_)
        if sample.parts is not None:
            absent |= np.isnan(sample.score.of_terms(sample.sums))
        return absent if sample.missing is None else sample.missing | absent

    def _units_of(self, part: int) -> slice:
        """Return the units of a part, which stand together."""
        pooled = self.sample.pooled
        if pooled is not None:
            return slice(int(np.searchsorted(pooled, part)), int(np.searchsorted(pooled, part, side="right")))
        return slice(int(self._offsets[part]), int(self._offsets[part + 1]))

    def _by_part(self, values: FloatArray) -> FloatArray:
        """Sum values (m, n) over the units of each part: (m, P)."""
        return np.asarray(values.sum(axis=1, keepdims=True) if self._parts == 1 else sums_of(values, self._offsets))

    def _spread_out(self, of_parts: FloatArray) -> FloatArray:
        """Return for each unit the value of its part: (m, P) as (m, n), or as (m, 1) where there is one part."""
        return of_parts if self._parts == 1 else np.repeat(of_parts, np.diff(self._offsets), axis=1)


def beats_shown(score: Score, names: Sequence[str], new: Counts, shown: Counts, parts: IntArray | None = None) -> bool:
    """Return whether a score is better than the shown one by more than the standard error of the difference.

    A defined score beats an undefined one. A difference in one unit alone beats nothing: it shows no spread.

    Args:
        score: which is compared.
        names: of the counts.
        new: counts of the new output, (n, k), one row a sentence.
        shown: those of the shown one, in the same order.
        parts: stratum of each sentence, int64 (n,), where the mean of the parts' scores is compared; None for one.
    """
    units = Contributions(sample_of(score, names, [new, shown], None, parts))
    if math.isnan(units.values[0]):
        return False
    if math.isnan(units.values[1]):
        return True
    pair = units.block([(0, 1)])
    return int(pair.differ.sum()) > 1 and float(pair.difference[0]) * score.sign > float(pair.spread.se[0])


def _rounded(spread: Spread, scale: FloatArray) -> Spread:
    """Take a variance for 0 that is a rounding error of scores of this size."""
    none = spread.se <= ROUNDING * scale
    return spread._replace(se=np.where(none, 0.0, spread.se), df=np.where(none, np.nan, spread.df))


def _slopes(score: Score, shares: Sequence[FloatArray]) -> list[FloatArray]:
    """Return the derivative of the score by each of its ratios, by central differences; 1 for a single ratio."""
    if score.join is None:
        return [np.ones(shares[0].shape)]
    slopes = []
    for number in range(len(shares)):
        ends = []
        for step in (_STEP, -_STEP):
            moved = list(shares)
            moved[number] = moved[number] + step
            ends.append(score.join(moved))
        slopes.append(np.nan_to_num((ends[0] - ends[1]) / (2.0 * _STEP)))
    return slopes


def _quotient(top: Counts, bottom: Counts) -> FloatArray:
    """Divide, with 0 for what has no value."""
    return np.divide(top, bottom, out=np.zeros(np.broadcast_shapes(top.shape, bottom.shape)), where=bottom != 0)
