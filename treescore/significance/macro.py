"""The paired permutation test of a macro average, swaps within the parts: small p included.

T = (1/P) sum over parts of 2 (U_p N_p - M_p V_p) / (N_p^2 - V_p^2), with M and N the sums over both systems of a
part's numerators and denominators, U = sum of s_i u_i, V = sum of s_i v_i and s_i = +-1. Where few units differ all
swaps are listed. Beyond, T is nearly the sum L of its units' contributions e_i = 2 (u_i - (M/N) v_i) / (N P), whose
tail is inverted, with a correction for the bend of the ratios; and where that is not sure enough, the true T is
sampled under a tilted law. Compiled loops go over the units of one pair: their kinds, and the bend of the ratios.

Tests of all pairs keep within budgets that are reckoned before starting, never by a clock. Every pair is listed where
few units differ, else inverted. Then the true T is sampled where inversion is not sure enough, those p first that lie
nearest to the decision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, Counts, FloatArray, Int32Array, IntArray
from treescore.core.jit import compiled, inlined
from treescore.significance.exact_ratios import LISTED_UNITS
from treescore.significance.exact_sums import ADDITIONS, MAX_ADDITIONS, Differences, TooLargeError, exact_p
from treescore.significance.families import adjusted
from treescore.significance.kernels import THREADS, in_threads
from treescore.significance.settings import LN2, SLACK, TOLERANCE
from treescore.significance.signed_sums import (
    DRAWS,
    HOW_INVERTED,
    HOW_LISTED,
    HOW_NORMAL,
    HOW_SAME,
    HOW_SUM_LAW,
    LATTICE,
    SAMPLED_BELOW,
    VANISHING,
    Kinds,
    Tail,
    complement,
    how_sampled,
    inverted_tail,
    lugannani_rice,
    saddle_at,
    sampled_tail,
    signed_sums,
    tail_of,
    upper_tail_of,
)
from treescore.significance.units import Sample


@compiled
def pair_kinds(
    tops: tuple[Counts, Counts], bottoms: tuple[Counts, Counts], starts: IntArray, whole: FloatArray, kept: FloatArray
) -> tuple[Kinds, FloatArray, FloatArray]:
    """Group the differing units of two systems by (part, +-(u, v)).

    With u and v the differences of a unit's numerators and denominators, its contribution to the linear sum is
    e = 2 (u - (M/N) v) / (N P); units are turned so that e is not negative. A kind is found by hashing, O(units).

    Args:
        tops: numerators (n,) of the first and the second system, parts one after the other.
        bottoms: denominators likewise.
        starts: int64 (P + 1,), the units of each part.
        whole: float64 (P,); where it is a number, the whole part is one unit with this difference of the two ratios.
        kept: float64 (P,), filled with the least denominator that swaps can leave a system; not above 0 where they
            can leave none.

    Returns:
        The kinds, and for each part (P,) the observed sums U and V of u and v.
    """
    parts = len(starts) - 1
    room = parts
    for i in range(starts[parts]):
        room += tops[0][i] != tops[1][i] or bottoms[0][i] != bottoms[1][i]
    e, u, v, copies = np.empty(room), np.empty(room), np.empty(room), np.empty(room, np.int64)
    slot_of, used = _slots(starts), np.empty(room, np.int32)
    offsets = np.zeros(parts + 1, np.int64)
    totals, sizes = np.zeros(parts), np.zeros(parts)
    sum_u, sum_v = np.zeros(parts), np.zeros(parts)
    count = 0
    for part in range(parts):
        if not np.isnan(whole[part]):
            # M = 0, N = 1, u = difference / 2, v = 0: the two ratios of the formula then differ by the difference
            sizes[part], sum_u[part], kept[part] = 1.0, 0.5 * whole[part], 1.0
            if whole[part] != 0.0:
                e[count], u[count], v[count], copies[count] = abs(whole[part]) / parts, 0.5 * abs(whole[part]), 0.0, 1
                count += 1
            offsets[part + 1] = count
            continue
        total, size, least = 0.0, 0.0, 0.0
        for i in range(starts[part], starts[part + 1]):
            total += tops[0][i] + tops[1][i]
            size += bottoms[0][i] + bottoms[1][i]
            least += min(bottoms[0][i], bottoms[1][i])
        totals[part], sizes[part] = total, size
        kept[part] = least if least > VANISHING * size else 0.0
        for i in range(starts[part], starts[part + 1]):
            du, dv = float(tops[0][i] - tops[1][i]), float(bottoms[0][i] - bottoms[1][i])
            if du == 0.0 and dv == 0.0:
                continue
            sum_u[part] += du
            sum_v[part] += dv
            effect = 2.0 * (du * size - total * dv) / (size * size * parts) if size > 0.0 else 0.0
            if effect < 0.0 or (effect == 0.0 and (du < 0.0 or (du == 0.0 and dv < 0.0))):
                effect, du, dv = -effect, -du, -dv
            slot = _first_slot(du, dv, len(slot_of))
            while slot_of[slot] >= 0 and (u[slot_of[slot]] != du or v[slot_of[slot]] != dv):
                slot = (slot + 1) & (len(slot_of) - 1)
            if slot_of[slot] < 0:
                e[count], u[count], v[count], copies[count] = effect, du, dv, 0
                slot_of[slot], used[count] = count, slot
                count += 1
            copies[slot_of[slot]] += 1
        for kind in range(offsets[part], count):
            slot_of[used[kind]] = -1
        offsets[part + 1] = count
    kinds = Kinds(e[:count].copy(), u[:count].copy(), v[:count].copy(), copies[:count].copy(), offsets, totals, sizes)
    return kinds, sum_u, sum_v


@compiled
def _slots(starts: IntArray) -> Int32Array:
    """Return an empty hash table for the units of the longest part: a power of two, at least twice as many slots."""
    longest = 1
    for part in range(len(starts) - 1):
        longest = max(longest, starts[part + 1] - starts[part])
    size = 2
    while size < 2 * longest:
        size *= 2
    return np.full(size, -1, np.int32)


@inlined
def _first_slot(du: float, dv: float, slots: int) -> int:
    """Return the slot at which the search for (du, dv) begins, by Knuth's multiplicative hashing."""
    # two irrational factors spread whole and real differences alike; the high bits of the product are the mixed ones
    mixed = np.uint64(np.int64(du * 1.4142135623730951e6 + dv * 1.7320508075688772e6)) * np.uint64(0x9E3779B97F4A7C15)
    return int(mixed >> np.uint64(32)) & (slots - 1)


@compiled
def curvature(kinds: Kinds, t: float) -> tuple[float, float]:
    """Compute by how much T exceeds L in the mean under the tilt t, and the uncertainty of it.

    T_p = L_p / (1 - (V_p / N_p)^2), so that T - L is about the sum over parts of
    E_t[L_p] ((E_t V_p)^2 + Var_t V_p) / N_p^2; E_t of a sign of kind j is tanh(t e_j).

    Returns:
        That sum, and the sum of |E_t L_p| (2 |E_t V_p| sd_t V_p + 1.5 Var_t V_p) / N_p^2.
    """
    e, _, v, copies, offsets, _, sizes = kinds
    shift, doubt = 0.0, 0.0
    for part in range(len(sizes)):
        if sizes[part] <= 0.0:
            continue
        mean_l, mean_v, variance_v = 0.0, 0.0, 0.0
        for j in range(offsets[part], offsets[part + 1]):
            tanh = math.tanh(t * e[j])
            mean_l += copies[j] * e[j] * tanh
            mean_v += copies[j] * v[j] * tanh
            variance_v += copies[j] * v[j] * v[j] * (1.0 - tanh * tanh)
        squared = sizes[part] * sizes[part]
        shift += mean_l * (mean_v * mean_v + variance_v) / squared
        doubt += abs(mean_l) * (2.0 * abs(mean_v) * np.sqrt(variance_v) + 1.5 * variance_v) / squared
    return shift, doubt


NORMAL_ERROR = 1e-3
"""Relative error of Lugannani & Rice's formula: within 1e-4 of inversion at thousands of units, 1e-3 at hundreds."""
MOST_MULTIPLE = 1 << 40
"""Largest common multiple of denominators at which products stay whole as floats."""
_TOP = 1.0 - 1e-9
"""Share of the largest sum up to which a saddlepoint is sought."""
_TILTED_TOP = 0.999
"""Share of the largest sum that a tilt aims at: nearer, nearly every draw would be the same."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The terms of a macro average, units of a part side by side.

    Attributes:
        tops: numerators, (N, n).
        bottoms: denominators, (N, n).
        starts: units of part p are starts[p] to starts[p + 1], int64 (P + 1,).
        ratios: the ratio of each system in each part, undefined and missing ones as the worst value, (N, P).
        missing: parts without output, bool (N, P).
        worst: the ratio that counts as the worst; NaN where the score's range has none.
        direction: 1.0 where a higher ratio is better, else -1.0.
    """

    tops: Counts
    bottoms: Counts
    starts: IntArray
    ratios: FloatArray
    missing: BoolArray
    worst: float
    direction: float

    def only(self, part: int) -> Parts:
        """Return one part as if there were no other."""
        here = slice(int(self.starts[part]), int(self.starts[part + 1]))
        return replace(
            self,
            tops=self.tops[:, here],
            bottoms=self.bottoms[:, here],
            starts=np.array([0, here.stop - here.start]),
            ratios=self.ratios[:, part : part + 1],
            missing=self.missing[:, part : part + 1],
        )


@dataclass(frozen=True, slots=True)
class MacroPair:
    """Two systems of a macro average.

    Attributes:
        kinds: their differing units; a part that one of the two lacks is one unit.
        difference: the observed T, better is positive.
        linear: the observed L, likewise.
        sums: the observed U_p of each part, likewise, (P,).
        units: how many differ.
        undefined: whether some swap leaves a system without a denominator in a part, so that T is not the formula.
        worst: the ratio of such a part.
    """

    kinds: Kinds
    difference: float
    linear: float
    sums: FloatArray
    units: int
    undefined: bool
    worst: float

    @property
    def largest(self) -> float:
        """The largest L that swaps can reach."""
        return float(self.kinds.e @ self.kinds.copies)


def formula_holds(sample: Sample) -> bool:
    """Tell whether a sample is a mean over parts of one ratio, with a worst value where a part may be undefined."""
    if sample.parts is None or len(sample.tops) != 1 or sample.score.join is not None:
        return False
    if sample.score.worst is not None:
        return True
    least = np.zeros(sample.part_count)
    np.add.at(least, sample.parts, sample.bottoms[0].min(axis=0))
    return bool((least > 0).all())


def parts_of(sample: Sample) -> Parts:
    """Order the terms of a sample of one ratio by part (no copy where they are in order)."""
    parts, count = sample.strata, sample.part_count
    tops, bottoms = sample.tops[0], sample.bottoms[0]
    if len(parts) and (np.diff(parts) < 0).any():
        order = np.argsort(parts, kind="stable")
        tops, bottoms, parts = tops.take(order, axis=1), bottoms.take(order, axis=1), parts[order]
    shape = (sample.systems, count)
    missing = np.zeros(shape, np.bool_) if sample.missing is None else sample.missing
    one_minus = sample.score.ratios[0].one_minus
    worst = math.nan if sample.score.worst is None else float(sample.score.worst)
    worst_ratio = 1.0 - worst if one_minus else worst
    sums, sizes = (np.asarray(sample.summed(terms[0]), np.float64) for terms in (sample.tops, sample.bottoms))
    defined = (sizes != 0) & ~missing
    ratios = np.divide(sums, sizes, out=np.full(shape, worst_ratio), where=defined)
    return Parts(
        tops=tops,
        bottoms=bottoms,
        starts=np.searchsorted(parts, np.arange(count + 1)).astype(np.int64),
        ratios=ratios,
        missing=missing,
        worst=worst_ratio,
        direction=sample.direction,
    )


def macro_pair(parts: Parts, first: int, second: int) -> MacroPair:
    """Return the kinds of two systems' differing units and what is observed."""
    either = parts.missing[first] | parts.missing[second]
    ratios = parts.ratios[first] - parts.ratios[second]
    kept = np.empty(len(either))
    kinds, u, v = pair_kinds(
        (parts.tops[first], parts.tops[second]),
        (parts.bottoms[first], parts.bottoms[second]),
        parts.starts,
        np.where(either, ratios, math.nan),
        kept,
    )
    count = max(1, len(either))
    used = kinds.sizes > 0
    sizes = np.where(used, kinds.sizes, 1.0)
    linear = np.where(used, 2.0 * (u * sizes - kinds.totals * v) / (sizes * sizes), 0.0)
    return MacroPair(
        kinds=kinds,
        difference=parts.direction * float(ratios.sum()) / count,
        linear=parts.direction * float(linear.sum()) / count,
        sums=parts.direction * u,
        units=int(kinds.copies.sum()),
        undefined=bool((used & (kept <= 0.0) & (np.diff(kinds.offsets) > 0)).any()),
        worst=parts.worst,
    )


def listed_p(pair: MacroPair, alternative: str) -> float:
    """Return the share of all swaps of few differing units that are at least as extreme."""
    values = np.zeros(1)
    for part in range(len(pair.kinds.sizes)):
        values = np.add.outer(values, _part_values(pair, part)).ravel()
    values /= max(1, len(pair.kinds.sizes))
    observed = abs(pair.difference) if alternative == "two-sided" else side(pair, alternative)
    slack = max(TOLERANCE * abs(observed), SLACK)
    if alternative == "two-sided":
        return float((np.abs(values) >= observed - slack).mean())
    return float((values >= observed - slack).mean())


def _part_values(pair: MacroPair, part: int) -> FloatArray:
    """Compute the differences of one part's two ratios under all swaps of its differing units, (2^units,)."""
    kinds = pair.kinds
    here = slice(int(kinds.offsets[part]), int(kinds.offsets[part + 1]))
    if here.start == here.stop:
        return np.zeros(1)
    u, v = (signed_sums(np.repeat(each[here], kinds.copies[here])) for each in (kinds.u, kinds.v))
    total, size = kinds.totals[part], kinds.sizes[part]
    both = []
    for sign in (1.0, -1.0):
        bottom = size + sign * v
        undefined = np.full(len(u), pair.worst)
        both.append(np.divide(total + sign * u, bottom, out=undefined, where=bottom > VANISHING * size))
    return np.asarray(both[0] - both[1])


def whole_differences(pair: MacroPair) -> Differences | None:
    """Return T as a sum of whole numbers, where denominators are common and whole; None where it is not one.

    Then T = sum of 2 s_i u_i / (N_p P), and with l the least common multiple of all N_p, l T P / 2 is the sum of
    the whole numbers s_i u_i l / N_p: a lattice, whose steps inversion would not see.
    """
    kinds = pair.kinds
    of_part = np.repeat(np.arange(len(kinds.sizes)), np.diff(kinds.offsets))
    used = np.unique(of_part)
    sizes = kinds.sizes[used]
    if kinds.v.any() or (kinds.u != np.rint(kinds.u)).any() or (sizes != np.rint(sizes)).any():
        return None
    multiple = math.lcm(*(int(size) for size in sizes))
    if multiple > MOST_MULTIPLE:
        return None
    scale = np.zeros(len(kinds.sizes))
    scale[used] = multiple / sizes
    values, kind_of = np.unique(np.abs(kinds.u * scale[of_part]).astype(np.int64), return_inverse=True)
    copies = np.bincount(kind_of, kinds.copies).astype(np.int64)
    divisor = int(np.gcd.reduce(values))
    return Differences(values // divisor, copies, round(float(pair.sums @ scale)) // divisor)


def side(pair: MacroPair, alternative: str) -> float:
    """Return the observed T, turned so that large values speak for the alternative."""
    return {"greater": pair.difference, "less": -pair.difference}.get(alternative, abs(pair.difference))


def normal_tail(pair: MacroPair, alternative: str) -> Tail:
    """Return p by Lugannani & Rice's formula with the correction for the bend of the ratios, in O(kinds)."""
    return _both_sides(pair, alternative, exact_line=False)


def inverted_p(pair: MacroPair, alternative: str) -> Tail:
    """Return p by inversion with the correction for the bend of the ratios, in O(40 kinds)."""
    return _both_sides(pair, alternative, exact_line=True)


def _both_sides(pair: MacroPair, alternative: str, *, exact_line: bool) -> Tail:
    x = side(pair, alternative)
    if alternative == "two-sided" and x == 0.0:
        return Tail(1.0, 0.0, 0.0)
    upper = upper_tail(pair, abs(x), exact_line=exact_line)
    if alternative == "two-sided":
        return tail_of(LN2 + upper.log_p, upper.error)
    return upper if x >= 0.0 else complement(upper)


def upper_tail(pair: MacroPair, x: float, *, exact_line: bool) -> Tail:
    """Compute P(T >= x) for any x >= 0: P(L >= x - shift), the shift as the tilt at x gives it."""
    e, copies = pair.kinds.e, pair.kinds.copies
    largest = pair.largest
    lattice = LATTICE / pair.units
    if abs(pair.linear) >= largest * (1.0 - TOLERANCE) and x >= abs(pair.difference) * (1.0 - TOLERANCE):
        return tail_of(-pair.units * LN2, lattice)
    t = saddle_at(e, copies, min(x, _TOP * largest)).t
    shift, doubt = curvature(pair.kinds, t)
    at = min(max(0.0, x - shift), _TOP * largest)
    saddle = saddle_at(e, copies, at)
    bend = t * doubt
    if not exact_line:
        return upper_tail_of(lugannani_rice(at, saddle), NORMAL_ERROR + lattice + bend, x, pair.units)
    found = inverted_tail(e, copies, at, saddle)
    return upper_tail_of(found.log_p, (found.error or 0.0) + bend, x, pair.units)


def sampled_p(pair: MacroPair, alternative: str, seed: int, draws: int) -> Tail:
    """Return p by draws of the true T from the law that is tilted to the observed T."""
    x = side(pair, alternative)
    if alternative == "two-sided" and x == 0.0:
        return Tail(1.0, 0.0, 0.0)
    linear = pair.linear if x == pair.difference else -pair.linear
    # where parts can become undefined L may lie far below T; aimed at T, the observed swap would have a huge weight
    aim = min(x, linear, _TILTED_TOP * pair.largest)
    t = saddle_at(pair.kinds.e, pair.kinds.copies, aim).t if aim > 0.0 else 0.0
    sampled = sampled_tail(pair.kinds, x, linear, t, seed=seed, draws=draws, worst=pair.worst)
    return tail_of(sampled.log_p + (LN2 if alternative == "two-sided" else 0.0), sampled.error)


INVERTED_KINDS = 4e7
"""Kinds that all pairs together may invert (some 0.3 microseconds each, 12 s); pairs with more than their share have
Lugannani & Rice's p, unless it may decide."""
SAMPLED_WORK = 6e8
"""Draws times kinds of all pairs together (some 5 nanoseconds each, 3 s) where few units differ or p is not sure."""
NEAR_WORK = 6e9
"""Draws times kinds of all pairs together (some 5 nanoseconds each, 30 s) where the decision turns."""
NEAR_DRAWS = 200_000
"""Draws where the decision turns: a relative standard error of about 0.4 %."""
FEWEST_DRAWS = 5_000
"""Draws below which inversion is surer: their relative standard error is about 2 %."""
STEP_DRAWS = 1_000
"""Draws are given in steps of this, and one step in any case where T is not the formula."""
NEAR = 1.5
"""The decision may turn on an adjusted p within this factor of alpha."""
DECIDES = 100.0
"""An adjusted p within this factor of alpha is inverted also beyond the pair's share of the budget."""
MOST_ERROR = 0.05
"""An inverted p with a larger relative error is sampled."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the tests serve, and how long they may take.

    Attributes:
        alternative: two-sided, greater, less.
        alpha: the level of the decision.
        correction: over the family.
        family: pairs of it; 1 where each pair stands alone.
        seed: of the draws.
        share: of the budgets.
        sampled_below: units below which p is sampled, since inversion does not see the steps of a lattice.
    """

    alternative: str
    alpha: float
    correction: str
    family: int
    seed: int
    share: float = 1.0
    sampled_below: int = SAMPLED_BELOW


class Answer(NamedTuple):
    """The p of one pair: its tail, kind (exact, inversion, sampled), method in words, differing units and kinds."""

    tail: Tail
    kind: str
    how: str
    units: int
    kinds: int
    undefined: bool = False


def macro_answers(parts: Parts, pairs: Sequence[tuple[int, int]], decision: Decision) -> list[Answer]:
    """Test each pair of systems, in order; the same for any number of threads."""
    answers = sure_answers(parts, pairs, decision)
    _redo(parts, pairs, answers, _near_samplings(answers, decision), decision)
    return answers


def sure_answers(parts: Parts, pairs: Sequence[tuple[int, int]], decision: Decision) -> list[Answer]:
    """Do the same, but draw for those p alone that are not sure otherwise, not for those near the decision too."""
    share = decision.share / max(1, len(pairs))

    def first(pair: tuple[int, int]) -> Answer:
        return _first_answer(macro_pair(parts, *pair), decision.alternative, share)

    answers = in_threads(first, pairs, THREADS)
    _redo(parts, pairs, answers, _inversions(answers, decision), decision)
    _redo(parts, pairs, answers, _samplings(answers, decision), decision)
    return answers


def _first_answer(pair: MacroPair, alternative: str, share: float) -> Answer:
    kinds = len(pair.kinds.e)
    if not pair.units:
        return Answer(Tail(1.0, 0.0, None), "exact", HOW_SAME, 0, 0)
    if alternative == "two-sided" and pair.difference == 0.0:
        return Answer(Tail(1.0, 0.0, None), "exact", "no difference", pair.units, kinds)
    if pair.units <= LISTED_UNITS:
        p = listed_p(pair, alternative)
        return Answer(Tail(p, math.log(p), None), "exact", HOW_LISTED, pair.units, kinds)
    whole = whole_differences(pair)
    if whole is not None:
        try:
            p, log_p = exact_p(whole, alternative, min(MAX_ADDITIONS, ADDITIONS * share))
            return Answer(Tail(p, log_p, None), "exact", HOW_SUM_LAW, pair.units, kinds)
        except TooLargeError:
            pass
    if kinds <= INVERTED_KINDS * share:
        return _inverted(pair, alternative)
    tail = normal_tail(pair, alternative)
    return Answer(tail, "inversion", HOW_NORMAL, pair.units, kinds, pair.undefined)


def _inverted(pair: MacroPair, alternative: str) -> Answer:
    tail = inverted_p(pair, alternative)
    return Answer(tail, "inversion", HOW_INVERTED, pair.units, len(pair.kinds.e), pair.undefined)


def _inversions(answers: Sequence[Answer], decision: Decision) -> dict[int, int]:
    """Choose the pairs that go beyond their share of the budget, and may decide."""
    distances = _distances(answers, decision)
    normal = [index for index, answer in enumerate(answers) if answer.how == HOW_NORMAL]
    near = [index for index in normal if distances[index] <= math.log(DECIDES)]
    return _within_budget(near, distances, [answers[index].kinds for index in near], INVERTED_KINDS * decision.share)


def _samplings(answers: Sequence[Answer], decision: Decision) -> dict[int, int]:
    """Choose the pairs for which inversion is not sure enough: draws by their index."""
    distances = _distances(answers, decision)
    unsure = [
        index
        for index, answer in enumerate(answers)
        if answer.kind == "inversion"
        and (answer.units < decision.sampled_below or answer.undefined or (answer.tail.error or 0.0) > MOST_ERROR)
    ]
    return _draws(answers, unsure, distances, (FEWEST_DRAWS, DRAWS), SAMPLED_WORK * decision.share)


def _near_samplings(answers: Sequence[Answer], decision: Decision) -> dict[int, int]:
    """Choose the pairs on which the decision may turn: draws by their index."""
    distances = _distances(answers, decision)
    near = [
        index
        for index, answer in enumerate(answers)
        if answer.kind != "exact" and distances[index] <= math.log(NEAR) and answer.units > LISTED_UNITS
    ]
    return _draws(answers, near, distances, (DRAWS + STEP_DRAWS, NEAR_DRAWS), NEAR_WORK * decision.share)


def _draws(
    answers: Sequence[Answer], chosen: Sequence[int], distances: FloatArray, draws: tuple[int, int], work: float
) -> dict[int, int]:
    """Share out draws, nearest to the decision first, to each between the fewest and the most of `draws`.

    A T that is not the formula has no other p, so that one step of draws is given in any case.
    """
    fewest, most = draws
    result: dict[int, int] = {}
    for index in sorted(chosen, key=lambda index: (distances[index], index)):
        answer = answers[index]
        affordable = int(min(most, work // max(1, answer.kinds)))
        affordable -= affordable % STEP_DRAWS
        if affordable < fewest:
            affordable = STEP_DRAWS if answer.undefined and answer.kind != "sampled" else 0
        if affordable:
            result[index] = affordable
            work -= affordable * answer.kinds
    return result


def _within_budget(chosen: Sequence[int], distances: FloatArray, costs: Sequence[int], budget: float) -> dict[int, int]:
    """Return those chosen, nearest to the decision first, whose costs together stay within the budget."""
    result: dict[int, int] = {}
    for distance, index, cost in sorted(zip(distances[list(chosen)], chosen, costs, strict=True)):
        budget -= cost
        if budget < 0:
            break
        del distance
        result[index] = 0
    return result


def _distances(answers: Sequence[Answer], decision: Decision) -> FloatArray:
    """Return how far each adjusted p is from alpha, as the size of the logarithm of their ratio."""
    p = np.array([max(answer.tail.p, 1e-300) for answer in answers])
    method = decision.correction if decision.family > 1 else "none"
    return np.asarray(np.abs(np.log(adjusted(p, method) / decision.alpha)), np.float64)


def _redo(
    parts: Parts, pairs: Sequence[tuple[int, int]], answers: list[Answer], chosen: dict[int, int], decision: Decision
) -> None:
    """Replace the answers of those chosen, by their draws, or by inversion where these are 0.

    Their kinds are made again: those of all pairs would fill the memory.
    """

    def answer(index: int) -> Answer:
        pair, draws = macro_pair(parts, *pairs[index]), chosen[index]
        if not draws:
            return _inverted(pair, decision.alternative)
        tail = sampled_p(pair, decision.alternative, decision.seed, draws)
        return Answer(tail, "sampled", how_sampled(draws), pair.units, len(pair.kinds.e), pair.undefined)

    indices = list(chosen)
    for index, new in zip(indices, in_threads(answer, indices, THREADS), strict=True):
        answers[index] = new
