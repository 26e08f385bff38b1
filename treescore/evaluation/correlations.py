"""Pearson's r, Spearman's rho and Kendall's tau-b of two scores over the same items, each with its two-sided p."""

import math

import numpy as np

from treescore.core.arrays import FloatArray, IntArray, special

EXACT = 33
"""Up to so many items without ties p of Kendall's tau is exact."""


def pearson(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """Return r, and p from the law of r where both scores are normal and independent."""
    r = float(np.clip(np.vecdot(_unit(a), _unit(b)), -1.0, 1.0))
    half = len(a) / 2 - 1
    return r, float(2 * special.betaincc(half, half, (1 + abs(r)) / 2))


def spearman(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """Return rho, Pearson's r of the ranks, and p from Student's law."""
    rho = float(np.corrcoef(_ranks(a), _ranks(b))[1, 0])
    freedom = len(a) - 2
    t = abs(rho) * math.sqrt(freedom / ((rho + 1) * (1 - rho))) if abs(rho) < 1 else math.inf
    return rho, float(2 * special.stdtr(freedom, -t))


def kendall(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """Return tau-b and its p: exact for few items without ties, else from the normal law with the variance of ties.

    After Kendall, Rank Correlation Methods (4th edition, 1970), chapters 3-5.
    """
    (first, of_first), (second, of_second) = _places(a), _places(b)
    of_both = np.unique(first * len(of_second) + second, return_counts=True)[1]
    pairs, tied_first, tied_second, tied_both = (
        int((counts * (counts - 1) // 2).sum()) for counts in (np.array([len(a)]), of_first, of_second, of_both)
    )
    turned = _turned_pairs(second[np.lexsort((second, first))])
    surplus = pairs - tied_first - tied_second + tied_both - 2 * turned
    tau = surplus / math.sqrt(pairs - tied_first) / math.sqrt(pairs - tied_second)
    fewer = min(turned, pairs - turned)
    if not tied_first and not tied_second and (len(a) <= EXACT or fewer <= 1):
        p = _exact_p(len(a), fewer)
    else:
        p = math.erfc(abs(surplus) / math.sqrt(2 * _variance(len(a), of_first, of_second)))
    return min(1.0, max(-1.0, tau)), p


def _unit(values: FloatArray) -> FloatArray:
    centred = values - values.mean()
    largest = np.abs(centred).max()
    return np.asarray(centred / (largest * np.linalg.vector_norm(centred / largest)))


def _places(values: FloatArray) -> tuple[IntArray, IntArray]:
    """Number the distinct values in ascending order; return the number of each item, and how many items each has."""
    _, numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
    return numbers, counts


def _ranks(values: FloatArray) -> FloatArray:
    """Return ranks; items with one value share the mean of theirs."""
    numbers, counts = _places(values)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[numbers])


def _turned_pairs(numbers: IntArray) -> int:
    """Count pairs of which the later number is less: bit by bit those that agree in all higher bits."""
    turned = 0
    for bit in range(int(numbers.max()).bit_length()):
        higher = numbers >> (bit + 1)
        order = np.argsort(higher, kind="stable")
        ones = numbers[order] >> bit & 1
        before = np.cumsum(ones) - ones
        group = higher[order]
        turned += int(((before - before[np.searchsorted(group, group)]) * (1 - ones)).sum())
    return turned


def _exact_p(items: int, turned: int) -> float:
    """Return the share of permutations that turn so few pairs or so many, by their numbers with 0, 1, ... turned."""
    if items > 170:  # the share is less than the least float
        return 0.0
    numbers = np.array([1] + [0] * turned, object)
    for longer in range(2, items + 1):
        numbers = np.cumsum(numbers)
        numbers[longer:] -= numbers[:-longer].copy()
    return min(1.0, 2 * int(numbers.sum()) / math.factorial(items))


def _variance(n: int, of_first: IntArray, of_second: IntArray) -> float:
    """Return the variance of concordant less discordant pairs of n items, whose values occur so often each."""
    counts = of_first.astype(np.float64), of_second.astype(np.float64)
    twos, threes, rest = np.transpose(
        [[(t * (t - 1)).sum(), (t * (t - 1) * (t - 2)).sum(), (t * (t - 1) * (2 * t + 5)).sum()] for t in counts]
    )
    m = n * (n - 1)
    return float((m * (2 * n + 5) - rest.sum()) / 18 + twos.prod() / (2 * m) + threes.prod() / (9 * m * (n - 2)))
