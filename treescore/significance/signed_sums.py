"""Tails of signed sums: P(sum of s_i e_i >= x) under uniform signs, at any size, small p included.

All swaps are listed where few units differ. Units of equal e are grouped into kinds: e_j > 0 with c_j copies
(`copies`). Beyond few units the tail follows from the cumulant generating function K(t) = sum of c_j ln cosh(t e_j): by
Lugannani & Rice's formula (1980) in O(kinds), or by inverting K along the line t + iy through the saddlepoint K'(t) = x
(Helstrom & Rice 1984), whose relative error does not grow where p is small.

**Tilted sampling.** Under the tilt t the sum L = sum of s_i e_i has the mean K'(t), where the tail of T is no longer
rare. A draw stands for g = exp(K(t) - t L) draws of uniform signs, and P(T >= x) is estimated by
(g_observed + sum of g [T >= x]) / (draws + 1): with the observed signs counted as a draw, p is valid at any number of
draws (Harrison 2012).

The compiled loops release the interpreter's lock and start no threads of their own. How a p was computed is said in
words, the member `how` of a pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr

from treescore.core.arrays import Bits, FloatArray, IntArray
from treescore.core.jit import compiled, inlined, interpreted, plainly, weighing
from treescore.significance.exact_sums import Differences, TooLargeError, exact_p
from treescore.significance.settings import LN2, TOLERANCE

STEPS = 40
"""Steps of the trapezoid rule: with 8.5 standard deviations of the tilted law to go, a step is 0.2125 of one. The
rule's error is about exp(-2 pi t / step), below 2e-13 where t is at least one over that deviation."""
REACH = 8.5
"""Standard deviations over which is integrated: a normal law's integrand there is exp(-8.5^2 / 2) = 2e-16."""
VANISHING = 1e-12
"""A denominator below this share of both systems' is 0 but for rounding."""
_NEWTON_STEPS = 200
"""Far more than are taken: near the largest sum a step divides what is left by 2.7, down to 1e-13 in 30 steps."""
_LEAST_MASS = 1e-18
"""Chances below this share of the mode's are left out: no stream of 53 bits would draw them."""
_GUIDES = 256
"""Rows of the guide table of a binomial law: the search then takes a step or two."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""The step of splitmix64, 2^64 over the golden ratio."""
_UNIT = 2.0**-53
"""The value of the last of the 53 bits of a uniform number."""


class Kinds(NamedTuple):
    """Units of a pair, those with equal differences in one part grouped, parts one after the other.

    Attributes:
        e: contribution of a unit to the linear sum L, float64 (k,), not negative: units are turned so.
        u: its difference of numerators, turned likewise, float64 (k,).
        v: its difference of denominators, turned likewise, float64 (k,).
        copies: units of the kind, c_j, int64 (k,).
        offsets: kinds of part p are offsets[p] to offsets[p + 1], int64 (P + 1,).
        totals: M_p, sums of both systems' numerators, float64 (P,).
        sizes: N_p, sums of both systems' denominators, float64 (P,).
    """

    e: FloatArray
    u: FloatArray
    v: FloatArray
    copies: IntArray
    offsets: IntArray
    totals: FloatArray
    sizes: FloatArray


@compiled
def cumulants(e: FloatArray, copies: IntArray, t: float) -> tuple[float, float, float]:
    """Compute K(t) = sum of c_j ln cosh(t e_j), K'(t) = sum of c_j e_j tanh(t e_j), and K''(t)."""
    value, first, second = 0.0, 0.0, 0.0
    for j in range(len(e)):
        a = t * e[j]
        tanh = math.tanh(a)
        value += copies[j] * (a + math.log1p(math.exp(-2.0 * a)) - LN2)
        first += copies[j] * e[j] * tanh
        # 1 - tanh^2, without cancellation where tanh is near 1
        fade = math.exp(-2.0 * a)
        second += copies[j] * e[j] * e[j] * 4.0 * fade / ((1.0 + fade) * (1.0 + fade))
    return value, first, second


@compiled
def saddlepoint(e: FloatArray, copies: IntArray, x: float) -> float:
    """Solve K'(t) = x for t >= 0, for x from 0 to below the largest sum.

    K' is concave for t > 0, so that Newton's steps from 0 rise to the root and never pass it.
    """
    t = 0.0
    for _ in range(_NEWTON_STEPS):
        _, first, second = cumulants(e, copies, t)
        if second <= 0.0 or x - first <= 1e-13 * x:
            break
        t += (x - first) / second
    return t


@compiled
def inverted(e: FloatArray, copies: IntArray, x: float, t: float, deviation: float) -> tuple[float, float]:
    """Compute P(L >= x) exp(t x - K(t)) and its error, from the characteristic function along the line t + iy.

    P(L >= x) = (1 / pi) integral over y > 0 of Re exp(K(t + iy) - (t + iy) x) / (t + iy), by the trapezoid rule.
    With b = y e_j, cosh(t e_j + ib) / cosh(t e_j) = cos b + i tanh(t e_j) sin b; powers of it are taken by squaring.

    Args:
        e: the kinds' contributions.
        copies: units of each.
        x: the observed sum.
        t: positive, at least 1 / deviation.
        deviation: the square root of K''(t).

    Returns:
        The value, and its absolute error as 20 steps against 40 and the last integrand show it.
    """
    step = REACH / STEPS / deviation
    points = STEPS + 1
    real, imaginary = np.ones(points), np.zeros(points)
    power_re, power_im = np.empty(points), np.empty(points)
    for j in range(len(e)):
        tanh = math.tanh(t * e[j])
        turn_re, turn_im = math.cos(step * e[j]), math.sin(step * e[j])
        cos_b, sin_b = 1.0, 0.0
        for k in range(points):
            power_re[k], power_im[k] = cos_b, tanh * sin_b
            cos_b, sin_b = cos_b * turn_re - sin_b * turn_im, cos_b * turn_im + sin_b * turn_re
        left = copies[j]
        while True:
            if left & 1:
                for k in range(points):
                    product = real[k] * power_re[k] - imaginary[k] * power_im[k]
                    imaginary[k] = real[k] * power_im[k] + imaginary[k] * power_re[k]
                    real[k] = product
            left >>= 1
            if left == 0:
                break
            for k in range(points):
                square = power_re[k] * power_re[k] - power_im[k] * power_im[k]
                power_im[k] = 2.0 * power_re[k] * power_im[k]
                power_re[k] = square
    fine, coarse, last = 0.5 / t, 0.5 / t, 0.0
    for k in range(1, points):
        y = k * step
        # Re (real + i imaginary) exp(-iyx) (t - iy) / (t^2 + y^2)
        cos_x, sin_x = math.cos(y * x), math.sin(y * x)
        top_re = real[k] * cos_x + imaginary[k] * sin_x
        top_im = imaginary[k] * cos_x - real[k] * sin_x
        term = (top_re * t + top_im * y) / (t * t + y * y)
        fine += term
        if k % 2 == 0:
            coarse += term
        last = np.sqrt((real[k] * real[k] + imaginary[k] * imaginary[k]) / (t * t + y * y))
    value = fine * step / np.pi
    return value, abs(value - 2.0 * coarse * step / np.pi) + last / (np.pi * deviation)


@compiled
def signed_binomial(copies: int, chance: float) -> tuple[FloatArray, IntArray, int]:
    """Tabulate a binomial law: cumulated chances, guides into them, and the least number (mass below 1e-18 left out).

    Guide g is the first row whose cumulated chance exceeds g / 256.
    """
    mode = min(copies, int((copies + 1) * chance))
    odds = chance / (1.0 - chance) if chance < 1.0 else np.inf
    low, weight = mode, 1.0
    while low > 0:
        weight *= low / ((copies - low + 1) * odds)
        if weight < _LEAST_MASS:
            break
        low -= 1
    high, weight = mode, 1.0
    while high < copies:
        weight *= (copies - high) * odds / (high + 1)
        if weight < _LEAST_MASS:
            break
        high += 1
    mass = np.empty(high - low + 1)
    mass[mode - low] = 1.0
    for number in range(mode, low, -1):
        mass[number - 1 - low] = mass[number - low] * number / ((copies - number + 1) * odds)
    for number in range(mode, high):
        mass[number + 1 - low] = mass[number - low] * (copies - number) * odds / (number + 1)
    cumulated = np.cumsum(mass)
    cumulated /= cumulated[-1]
    guides = np.empty(_GUIDES, np.int64)
    row = 0
    for guide in range(_GUIDES):
        while row < len(cumulated) - 1 and cumulated[row] <= guide / _GUIDES:
            row += 1
        guides[guide] = row
    return cumulated, guides, low


@inlined
def _uniform(state: np.uint64) -> float:
    """Turn a state of a splitmix64 stream (Steele, Lea & Flood 2014) into a number from 0 to below 1."""
    word = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((word ^ (word >> np.uint64(31))) >> np.uint64(11)) * _UNIT


def _draws_at_once(
    states: Bits, kinds: Kinds, t: float, worst: float, sums: FloatArray, statistics: FloatArray
) -> None:
    """Do as `tilted_draws`, all draws at a time."""
    e, u, v, copies, offsets, totals, sizes = kinds
    uniform: Callable[[Any], Any] = interpreted(_uniform)
    sums[:] = statistics[:] = 0.0
    for part, (total, size) in enumerate(zip(totals, sizes, strict=True)):
        if offsets[part] == offsets[part + 1]:
            continue
        us, vs = np.zeros((2, len(states)))
        for j in range(offsets[part], offsets[part + 1]):
            states += _GOLDEN
            chance, least = 1.0 / (1.0 + math.exp(-2.0 * t * e[j])), 0
            numbers = uniform(states)
            if copies[j] == 1:
                numbers = numbers < chance
            else:
                cumulated, _, least = interpreted(signed_binomial)(copies[j], chance)
                numbers = np.searchsorted(cumulated[:-1], numbers, side="right")
            us += 2.0 * u[j] * numbers
            vs += 2.0 * v[j] * numbers
            us += u[j] * (2 * least - copies[j])
            vs += v[j] * (2 * least - copies[j])
        first, second = np.full((2, len(states)), worst)
        for ratio, top, bottom in ((first, total + us, size + vs), (second, total - us, size - vs)):
            np.divide(top, bottom, out=ratio, where=bottom > VANISHING * size)
        statistics += (first - second) / len(totals)
        if size > 0.0:
            sums += 2.0 * (us * size - total * vs) / (size * size * len(totals))


@compiled
@weighing(20)
@plainly(_draws_at_once)
def tilted_draws(states: Bits, kinds: Kinds, t: float, worst: float, sums: FloatArray, statistics: FloatArray) -> None:
    """Draw signs from the law tilted by t, and compute L and the true T of each draw.

    Each unit of kind j is +1 with chance 1 / (1 + exp(-2 t e_j)). T is the mean over parts of the difference of the
    two ratios (M + U) / (N + V) and (M - U) / (N - V); a ratio without a denominator counts as `worst`.

    Args:
        states: uint64 (draws,), the state of each draw's own splitmix64 stream (Steele, Lea & Flood 2014).
        kinds: of the pair.
        t: the tilt, not negative.
        worst: the ratio of an undefined part.
        sums: float64 (draws,), filled with L.
        statistics: float64 (draws,), filled with T.
    """
    e, u, v, copies, offsets, totals, sizes = kinds
    draws = len(states)
    sums[:] = 0.0
    statistics[:] = 0.0
    us, vs = np.empty(draws), np.empty(draws)
    parts = len(totals)
    for part in range(parts):
        if offsets[part] == offsets[part + 1]:
            continue
        us[:] = 0.0
        vs[:] = 0.0
        for j in range(offsets[part], offsets[part + 1]):
            chance = 1.0 / (1.0 + math.exp(-2.0 * t * e[j]))
            step_u, step_v = 2.0 * u[j], 2.0 * v[j]
            if copies[j] == 1:
                for draw in range(draws):
                    states[draw] += _GOLDEN
                    number = 1.0 if _uniform(states[draw]) < chance else 0.0
                    us[draw] += step_u * number
                    vs[draw] += step_v * number
                least = 0
            else:
                cumulated, guides, least = signed_binomial(copies[j], chance)
                last = len(cumulated) - 1
                for draw in range(draws):
                    states[draw] += _GOLDEN
                    share = _uniform(states[draw])
                    row = guides[int(share * _GUIDES)]
                    while row < last and cumulated[row] <= share:
                        row += 1
                    us[draw] += step_u * row
                    vs[draw] += step_v * row
            # `number` of the units are +1, the others -1
            us += u[j] * (2 * least - copies[j])
            vs += v[j] * (2 * least - copies[j])
        total, size = totals[part], sizes[part]
        for draw in range(draws):
            own, other = size + vs[draw], size - vs[draw]
            first = (total + us[draw]) / own if own > VANISHING * size else worst
            second = (total - us[draw]) / other if other > VANISHING * size else worst
            statistics[draw] += (first - second) / parts
            if size > 0.0:
                sums[draw] += 2.0 * (us[draw] * size - total * vs[draw]) / (size * size * parts)


DRAWS = 20_000
"""Draws of a test: a relative standard error of about 1 % at any p, since the tilted law has its mean at x."""
_BATCH = 4_000
"""Draws made at once: 32 KB for each of five arrays."""
_TILTED_STREAM = 0x7117
"""Keeps tilted draws apart from those of other procedures under one seed."""


class Sampled(NamedTuple):
    """P(T >= x) by its natural logarithm, and the relative standard error."""

    log_p: float
    error: float


def linear_kinds(e: FloatArray, copies: IntArray) -> Kinds:
    """Return kinds of a plain sum, whose T is L itself: one part with M = 0 and N = 1, u = e / 2, v = 0."""
    return Kinds(e, 0.5 * e, np.zeros(len(e)), copies, np.array([0, len(e)]), np.zeros(1), np.ones(1))


def sampled_tail(
    kinds: Kinds, x: float, observed_sum: float, t: float, *, seed: int, draws: int = DRAWS, worst: float = 0.0
) -> Sampled:
    """Estimate P(T >= x) from draws tilted by t.

    Args:
        kinds: of the pair.
        x: the observed T, turned like the side of the tail.
        observed_sum: the observed L, turned likewise.
        t: not negative; 0 draws uniform signs.
        seed: the same seed gives the same draws.
        draws: how many.
        worst: the ratio of a part that is undefined after a swap.
    """
    limit = x - TOLERANCE * abs(x)
    value, _, _ = cumulants(kinds.e, kinds.copies, t)
    # weights are kept relative to that of the observed signs, so that they neither overflow nor vanish
    total, squares = 1.0, 1.0
    sums, statistics = np.empty(_BATCH), np.empty(_BATCH)
    for start in range(0, draws, _BATCH):
        size = min(_BATCH, draws - start)
        seeds = np.random.SeedSequence([seed, _TILTED_STREAM, start])
        states: Bits = seeds.generate_state(size, np.uint64).astype(np.uint64)
        tilted_draws(states, kinds, t, worst, sums[:size], statistics[:size])
        weights = np.exp(-t * (sums[:size][statistics[:size] >= limit] - observed_sum))
        total += float(weights.sum())
        squares += float((weights * weights).sum())
    share = total / (draws + 1)
    variance = max(0.0, squares / (draws + 1) - share * share) / (draws + 1)
    # of the 2^units signs the observed ones reach x
    least = -float(kinds.copies.sum()) * math.log(2.0)
    return Sampled(max(value - t * observed_sum + math.log(share), least), math.sqrt(variance) / share)


LISTED_SUMS = 20
"""Units up to which all sums of signs are listed, in two halves of 1,024 sums."""
SAMPLED_BELOW = 100
"""Units below which a sum is sampled: inversion does not see the steps of a lattice, 7 % of p at 12 units."""
LATTICE = 0.84
"""Relative error of an inverted p, times the units, that steps of a lattice add: 7 % with 12 units, 0.8 % with 100."""
LATTICE_TOLERANCE = 1e-10
"""Relative distance within which terms count as multiples of one number: their rounding errors are below 1e-14."""
MOST_STEPS = 1 << 20
"""The longest multiple that is looked at: beyond, the exact law would be too long anyway."""
LATTICE_ADDITIONS = 1e7
"""Limit of additions (1 ms) for the exact law of a sum of multiples of one number."""
SATURATED = 2.0
"""t times root K''(0) from which the tilted law is narrow because hardly any sign is free, not because t is near 0."""
_LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)


class Tail(NamedTuple):
    """One tail of a sum.

    Attributes:
        p: the share of all signs.
        log_p: its natural logarithm, also where p is too small for a float.
        error: relative error of p; None where exact.
    """

    p: float
    log_p: float
    error: float | None


class Saddle(NamedTuple):
    """The saddlepoint t of a sum at x, with K(t) and the square root of K''(t)."""

    t: float
    cumulant: float
    deviation: float


def sum_tail(
    e: FloatArray, observed: float, *, seed: int = 1, draws: int = DRAWS, most: float = LATTICE_ADDITIONS
) -> Tail:
    """Compute P(sum of s_i e_i >= observed), the s_i = +-1 independent and uniform; ties count.

    Args:
        e: float64 (n,), any sign.
        observed: x; a sum that is within 1e-12 of it ties with it.
        seed: of the draws where more than 20 and fewer than 100 units differ.
        draws: how many; with 0 such sums are inverted too.
        most: additions that the exact law of more than 20 units may take, where all e are multiples of one number.
    """
    sizes, counts = np.unique(np.abs(np.asarray(e, np.float64)), return_counts=True)
    e, copies = sizes[sizes > 0], counts[sizes > 0].astype(np.int64)
    units, largest = int(copies.sum()), float(e @ copies)
    slack = TOLERANCE * max(abs(observed), largest if units <= LISTED_SUMS else 0.0)
    if observed <= slack - largest:
        return Tail(1.0, 0.0, None)
    if observed > largest + slack:
        return Tail(0.0, -math.inf, None)
    if units <= LISTED_SUMS:
        p = listed_tail(np.repeat(e, copies), observed - slack)
        return Tail(p, math.log(p), None)
    if observed >= largest * (1.0 - TOLERANCE):
        return tail_of(-units * LN2, None)
    exact = lattice_tail(e, copies, observed, most)
    if exact is not None:
        return exact
    if units < SAMPLED_BELOW and draws:
        t = saddlepoint(e, copies, observed) if observed > 0 else 0.0
        sampled = sampled_tail(linear_kinds(e, copies), observed, observed, t, seed=seed, draws=draws)
        return tail_of(sampled.log_p, sampled.error)
    # the law is symmetric: P(L >= x) = 1 - P(L > -x)
    return inverted_tail(e, copies, observed) if observed >= 0 else complement(inverted_tail(e, copies, -observed))


def listed_tail(e: FloatArray, limit: float) -> float:
    """Return the share of all signs of e (n,) with a sum of at least `limit`, from the sorted sums of two halves."""
    half = len(e) // 2
    first, second = signed_sums(e[:half]), np.sort(signed_sums(e[half:]))
    reached = len(second) - np.searchsorted(second, limit - first, side="left")
    return float(reached.sum()) / 2.0 ** len(e)


def lattice_tail(e: FloatArray, copies: IntArray, observed: float, most: float) -> Tail | None:
    """Return the exact tail where all e are whole multiples of the smallest and their law is short, else None."""
    steps = e / e[0]
    whole = np.rint(steps)
    if whole[-1] > MOST_STEPS or (np.abs(steps - whole) > LATTICE_TOLERANCE * whole).any():
        return None
    largest = int(whole @ copies)
    reached = math.ceil(observed / e[0] - LATTICE_TOLERANCE * largest)
    # sums of signs keep the parity of the largest
    differences = Differences(whole.astype(np.int64), copies, reached + (largest - reached) % 2)
    try:
        p, log_p = exact_p(differences, "greater", most)
    except TooLargeError:
        return None
    return Tail(p, log_p, None)


def signed_sums(e: FloatArray) -> FloatArray:
    """Compute the sums of e (n,) under all signs, (2^n,)."""
    sums = np.zeros(1)
    for value in e:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def saddle_at(e: FloatArray, copies: IntArray, x: float) -> Saddle:
    """Solve K'(t) = x, for x from 0 to below the largest sum."""
    t = saddlepoint(e, copies, x)
    cumulant, _, second = cumulants(e, copies, t)
    return Saddle(t, cumulant, math.sqrt(second))


def inverted_tail(e: FloatArray, copies: IntArray, x: float, saddle: Saddle | None = None) -> Tail:
    """Compute P(L >= x) = (1/pi) integral of Re exp(K(t+iy) - (t+iy) x) / (t+iy) over y > 0, for 0 <= x < largest.

    Any t > 0 serves; where the saddlepoint is so near 0 that the pole 1 / t would disturb the trapezoid rule,
    t = 1 / root K'' is taken. Where x is so near the largest sum that hardly any sign is free, there is nothing to
    invert: the tail is Chernoff's bound exp(K(t) - t x), with an error of 1.
    """
    saddle = saddle or saddle_at(e, copies, x)
    t, cumulant, deviation = saddle
    units = int(copies.sum())
    if t * deviation < 1.0:
        if t * math.sqrt(float(copies @ (e * e))) >= SATURATED:
            return upper_tail_of(cumulant - t * x, 1.0, x, units)
        t = 1.0 / deviation
        cumulant, _, second = cumulants(e, copies, t)
        deviation = math.sqrt(second)
    value, error = inverted(e, copies, x, t, deviation)
    if not value > 0.0:
        return upper_tail_of(lugannani_rice(x, saddle), 1.0, x, units)
    return upper_tail_of(cumulant - t * x + math.log(value), error / value + LATTICE / units, x, units)


def lugannani_rice(x: float, saddle: Saddle) -> float:
    """Return ln P(L >= x) = ln (Q(w) + phi(w) (1/z - 1/w)), with w = root of 2 (t x - K(t)) and z = t root K''(t).

    Q and phi are the normal law's upper tail and density. It is at most Chernoff's bound K(t) - t x, which the formula
    leaves where x is near the largest sum.
    """
    t, cumulant, deviation = saddle
    w = math.sqrt(max(0.0, 2.0 * (t * x - cumulant)))
    log_q = float(log_ndtr(-w))
    z = t * deviation
    if w < 1e-3 or z <= 0.0:  # 1/z - 1/w is then the difference of two large numbers, and w itself the first order
        return log_q
    bend = math.exp(-0.5 * w * w - _LOG_ROOT_2PI - log_q) * (1.0 / z - 1.0 / w)
    return min(0.0, cumulant - t * x, log_q + math.log1p(max(bend, -0.5)))


def complement(rest: Tail) -> Tail:
    """Return 1 - P, with the error that it has."""
    p = 1.0 - rest.p
    error = None if rest.error is None else rest.error * rest.p / max(p, rest.p)
    return Tail(p, math.log1p(-rest.p), error)


def upper_tail_of(log_p: float, error: float | None, x: float, units: int) -> Tail:
    """Return P(L >= x) for x from 0 to the largest sum by its logarithm, within what any such tail keeps.

    The law is symmetric, so that beyond 0 the tail is at most 1/2; at least one of the 2^units signs reaches x.
    """
    most = -LN2 if x > 0.0 else 0.0
    return tail_of(min(most, max(log_p, -units * LN2)), error)


def tail_of(log_p: float, error: float | None) -> Tail:
    """Return a tail by its logarithm, at most 0."""
    log_p = float(min(0.0, log_p))
    return Tail(math.exp(log_p), log_p, error)


HOW_SAME = "identical in every unit"
HOW_LISTED = "all swaps listed"
HOW_SUM_LAW = "exact law of a sum"
HOW_INVERTED = "inversion of the cumulants"
HOW_NORMAL = "Lugannani-Rice formula"


def how_sampled(draws: int) -> str:
    """Name tilted sampling and its draws."""
    return f"tilted sampling, {draws} draws"
