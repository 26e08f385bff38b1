"""Compiled loops of the tails of signed sums: cumulants, saddlepoint, inversion, tilted draws.

A sum L = sum of s_i e_i has units of equal e grouped into kinds: e_j > 0 with c_j copies (`copies`). Its cumulant
generating function is K(t) = sum of c_j ln cosh(t e_j). Each loop releases the interpreter's lock and starts no
threads of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import Bits, FloatArray, IntArray
from treescore.core.jit import compiled, inlined
from treescore.significance.constants import LN2

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
        tanh = np.tanh(a)
        value += copies[j] * (a + np.log1p(np.exp(-2.0 * a)) - LN2)
        first += copies[j] * e[j] * tanh
        # 1 - tanh^2, without cancellation where tanh is near 1
        fade = np.exp(-2.0 * a)
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
        tanh = np.tanh(t * e[j])
        turn_re, turn_im = np.cos(step * e[j]), np.sin(step * e[j])
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
        cos_x, sin_x = np.cos(y * x), np.sin(y * x)
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
    return float((word ^ (word >> np.uint64(31))) >> np.uint64(11)) * _UNIT


@compiled
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
            chance = 1.0 / (1.0 + np.exp(-2.0 * t * e[j]))
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
