"""Compiled loops of the exact law of a sum of whole numbers: subsets counted, and the tilted transform.

Each releases the interpreter's lock and starts no threads of its own.
"""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.jit import compiled

SHIFT = 400
"""Powers of two by which cells are made smaller, and the steps after which they are looked at: in a step they at most
double, so that from 2^400 they stay below 2^1024."""
HIGH = 2.0**SHIFT


@compiled
def subset_tail(values: IntArray, top: int) -> tuple[float, int]:
    """Count the subsets of `values` that have a sum of at most `top`, by a dynamic programme of positive terms.

    Sums above `top` never come back, so that only `top` + 1 cells are kept.

    Args:
        values: int64 (m,), all positive, ascending.
        top: the largest sum that counts, at least 0.

    Returns:
        A number and a power of two to multiply it by.
    """
    cells, other = np.zeros(top + 1), np.zeros(top + 1)  # two, so that a processor can add several cells at once
    cells[0] = 1.0
    used = 0
    exponent = 0
    steps = 0
    for value in values:
        if value > top:
            break  # ascending: no larger one fits either
        used = min(top, used + value)
        with_it, without, shifted = other[value : used + 1], cells[value : used + 1], cells[: used + 1 - value]
        other[:value] = cells[:value]
        for cell in range(len(with_it)):
            with_it[cell] = without[cell] + shifted[cell]
        cells, other = other, cells
        steps += 1
        if steps == SHIFT:
            steps = 0
            if cells.max() > HIGH:
                for cell in range(used + 1):
                    cells[cell] *= 2.0**-SHIFT
                exponent += SHIFT
    return cells.sum(), exponent


@compiled
def tilted_tail(
    values: IntArray, copies: IntArray, top: int, theta: float, period: int, reach: int
) -> tuple[float, float]:
    """Compute P(sum <= top) under an exponential tilt, times exp(theta * top), from the characteristic function.

    Each of `copies` units of a value v is in the sum with odds exp(-theta v), which moves the sum's mean to `top`
    and the sought tail out of the noise. The transform is a finite one of `period` points, of which nearly all are
    zero to the last bit and are left after the first factors.

    Args:
        values: int64 (k,), distinct and positive, those with the most weight first.
        copies: int64 (k,).
        top: the largest sum that counts.
        theta: the tilt, at least 0.
        period: points of the transform; sums further apart than this must not both have mass.
        reach: how far below `top` sums with mass are looked for.

    Returns:
        The value and the sum of the magnitudes added, whose rounding bounds its error.
    """
    size = len(values)
    odds = np.exp(-theta * values)
    result = 0.0
    magnitude = 0.0
    for point in range(period // 2 + 1):
        angle = 2.0 * np.pi * point / period
        log_size = 0.0
        phase = 0.0
        for index in range(size):
            unit_odds = odds[index]
            half = np.sin(0.5 * angle * values[index])
            squared_size = 1.0 - 4.0 * unit_odds * half * half / ((1.0 + unit_odds) * (1.0 + unit_odds))
            if squared_size <= 0.0:
                log_size = -np.inf
                break
            log_size += 0.5 * copies[index] * np.log(squared_size)
            if log_size < -48.0:
                break
            turn = angle * values[index]
            phase += copies[index] * np.arctan2(unit_odds * np.sin(turn), 1.0 + unit_odds * np.cos(turn))
        if log_size < -48.0:
            continue
        phase -= angle * top
        # sum over j = 0 .. reach of exp(-(theta - i angle) j): the sums top - j, weighted back
        if point == 0:
            ratio = np.exp(-theta)
            steps = float(reach + 1) if theta == 0.0 else -np.expm1(-theta * (reach + 1)) / (1.0 - ratio)
            term = complex(steps, 0.0)
        else:
            ratio_c = np.exp(complex(-theta, angle))
            term = (1.0 - np.exp(complex(-theta * (reach + 1), angle * (reach + 1)))) / (1.0 - ratio_c)
        value = np.exp(log_size) * (np.cos(phase) * term.real - np.sin(phase) * term.imag)
        weight = 1.0 if point == 0 or 2 * point == period else 2.0
        result += weight * value
        magnitude += weight * np.exp(log_size) * abs(term)
    return result / period, magnitude / period
