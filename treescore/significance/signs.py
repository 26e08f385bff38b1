"""Laws of sums with random signs: P(Σ s_i e_i >= x), s = ±1 with equal chances, and intervals that invert them.

Swapping the outputs of a unit turns the sign of its contribution, so these are the laws of the paired permutation
test. Up to 20 units all signs are listed. Beyond, the tail follows from the cumulant generating function
K(t) = Σ ln cosh(t e_i) at the saddlepoint K'(t) = x: with w = √(2 (t x - K(t))) and u = t √K''(t),

    P(T >= x) = Φ(-w) + φ(w) (1/u - 1/w)                                             (Lugannani & Rice 1980).

It is off where a few units decide. So those with more than a twentieth of Σ e² have their signs listed, and the
formula is of the rest. Many terms are brought to some sizes of |e| that keep Σ e².

The interval of a difference D holds the δ with P(|Σ s_i (e_i - δ w_i)| >= |D - δ|) above a level: what the test would
not reject. Of listed units its ends are order statistics of the subset means (e_S + (D - Σe)/2) / w_S over all units S
(Hartigan 1969).

The law of whole numbers d_i, of a score whose denominators are equal in every unit, is exact: that of a random subset's
sum (Zmigrod, Vieira & Cotterell 2022). The sum of the c units of one size v is v times a binomial number; the law is
the convolution of these: counted one unit after the other where few have the same size, else by Fourier transforms over
a period that holds all but 1e-21 of it. The latter is tilted so that the mean is where the observed sum lies (Daniels
1954): the sought tail is then not far, so that its relative precision does not depend on p.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from treescore.core.arrays import BoolArray, FloatArray, IntArray, special
from treescore.significance.settings import LN2, ROUNDING, SLACK, TOLERANCE

ONCE = np.ones((1, 1))
"""Copies of terms that stand once each."""
LISTED = 20
"""Units up to which all signs are listed: a million sums."""
DRAWN_NUMBERS = 1 << 21
"""Random signs that are held at once: 16 MB."""
HEAVY = 0.05
"""Share of Σ e² from which on the sign of a unit is listed: over 21 documents of UD EWT the formula is 52 % off."""
MOST_HEAVY = 8
TERMS = 2048
"""Terms from which on they are brought to `SIZES` sizes, and to cells of e and w where an interval is sought."""
SIZES = 1024
REST_SIZES = 96
"""The same beside heavy units, of whose signs each combination is computed: what is left is near to a normal law."""
GRID = 32
"""Steps of e, and of w, of the cells."""
ALONE = 1e-3
"""Share of Σ e² or Σ w² from which on a unit stays out of the cells."""
# Signs of heavy units whose bound of Hoeffding (1963) is below exp(-45) of the nearest ones' are left out.
_FARTHEST = 45.0
# Standard deviations up to which the tail is the normal one, whose error there is less than that of rounding.
_NEAR = 1e-4
# tanh up to which ln cosh is taken from it.
_MIDDLE = 0.75
TABLE = 96
"""Entries of a table of tails."""
TABLE_FROM = 16
"""Tails of one sum up to which they are computed each by itself."""
_DOUBLINGS = 24
_STEPS = 60
# Share of x up to which the saddlepoint is solved; the tail's error is of second order in it.
_CLOSE = 1e-9
EVALUATIONS = 24
"""Evaluations for an end of an interval; from the sixth on the bracket is halved."""
_HALVED_FROM = 6
# size, or sum of squares, below which a quotient by it may not be finite
_SMALLEST = 1e-300
# distance of the normal deviate of p up to which an end is found; where p jumps, share of the distance from D
_SOLVED, _NARROW = 1e-5, 5e-4


def subset_sums(values: FloatArray) -> FloatArray:
    """Return the sums of all subsets of values (n,), the empty one first: (2^n,)."""
    sums = np.zeros(1 << len(values))
    for number, value in enumerate(values):
        size = 1 << number
        sums[size : 2 * size] = sums[:size] + value
    return sums


def log_share(values: FloatArray, x: float) -> float:
    """Return the logarithm of the share of listed values that are at least x; ties count."""
    share = float((values >= x - max(TOLERANCE * abs(x), SLACK)).mean())
    return math.log(share) if share else -math.inf


def drawn_counts(e: FloatArray, x: FloatArray, draws: int, seed: int, *, two_sided: bool) -> IntArray:
    """Count for m sums, (m, n), how many of the same random signs bring them to x (m,), or to its size: (m,)."""
    counts = np.zeros(len(e), np.int64)
    step = max(1, DRAWN_NUMBERS // max(1, e.shape[1]))
    for batch, start in enumerate(range(0, draws, step)):
        shape = (e.shape[1], min(step, draws - start))
        sums = e @ (np.random.default_rng([seed, batch]).integers(0, 2, shape) * 2.0 - 1.0)
        counts += ((np.abs(sums) if two_sided else sums) >= (x - np.maximum(TOLERANCE * x, SLACK))[:, None]).sum(axis=1)
    return counts


def log_upper_tails(e: FloatArray, x: FloatArray) -> FloatArray:
    """Compute ln P(Σ s_i e_i >= x) for m sums, each by itself.

    Args:
        e: (m, n).
        x: of either sign, (m,); or (k, m) of one size for each sum.

    Returns:
        The shape of x.
    """
    sizes = np.abs(e)
    limit = HEAVY * _products(sizes, sizes)
    light = sizes.max(axis=1, initial=0.0) ** 2 <= limit
    result = np.empty(x.shape)
    if light.any():
        of_light = sizes if light.all() else sizes[light]
        of_light, copies = _grouped(of_light, ONCE, SIZES) if sizes.shape[1] > TERMS else (of_light, ONCE)
        result[..., light] = _tails(of_light, copies, x[..., light])
    for at in np.argwhere(np.broadcast_to(~light, x.shape)):
        row = at[-1]
        result[tuple(at)] = _with_heavy(sizes[row], sizes[row] ** 2 > limit[row], float(x[tuple(at)]))
    return result


def log_upper_tail(e: FloatArray, x: float) -> float:
    """Compute ln P(Σ s_i e_i >= x) of one sum (n,), by a list where it is short."""
    return log_listed_tail(e, x) if len(e) <= LISTED else float(log_upper_tails(e[None], np.array([x]))[0])


def log_listed_tail(e: FloatArray, x: float) -> float:
    """Compute ln P(Σ s_i e_i >= x) of at most `LISTED` terms (n,) by listing all signs; ties count."""
    return log_share(e.sum() - 2.0 * subset_sums(e), x)


def _with_heavy(sizes: FloatArray, heavy: BoolArray, x: float) -> float:
    """List the signs of the heaviest terms (n,), and take the tail of the rest for each."""
    chosen = np.flatnonzero(heavy)
    chosen = chosen[np.argsort(-sizes[chosen], kind="stable")[:MOST_HEAVY]]
    rest, copies = np.delete(sizes, chosen)[None], ONCE
    if rest.shape[1] > 2 * REST_SIZES:
        rest, copies = _grouped(rest, copies, REST_SIZES)
    return _listing(sizes[chosen], rest, copies, x)


def _listing(heavy: FloatArray, rest: FloatArray, copies: FloatArray, x: float) -> float:
    """Compute ln P(T >= x) over all signs of some terms (h,), and of the rest, (1, k), by the formula."""
    listed = x - (heavy.sum() - 2.0 * subset_sums(heavy))
    squares = float((copies * rest * rest).sum())
    count = len(listed)
    if squares == 0.0:
        return log_share(-listed, 0.0)
    bounds = np.maximum(0.0, listed) ** 2 / (2.0 * squares)
    listed = listed[bounds <= bounds.min() + _FARTHEST]
    rows = np.broadcast_to(rest, (len(listed), rest.shape[1]))
    tails = _tails(rows, copies, listed) if len(listed) <= TABLE_FROM else _tabled(rest, copies, listed)
    largest = float(tails.max())
    if math.isinf(largest):
        return largest
    return largest + math.log(float(np.exp(tails - largest).sum()) / count)


def _tabled(sizes: FloatArray, copies: FloatArray, x: FloatArray) -> FloatArray:
    """Compute ln P(T >= x) of one sum (1, k) at many x (m,), from a table of normal deviates between which is drawn."""
    firsts = copies * sizes
    variance, fewest = float((firsts * sizes).sum()), -LN2 * float((copies * (sizes > 0)).sum())
    most = float(np.abs(x).max())
    if most <= _NEAR * math.sqrt(variance):
        return np.asarray(special.log_ndtr(-x / math.sqrt(variance)))
    t = most / variance * 2.0 ** np.linspace(-4.0, _DOUBLINGS, 4 * (_DOUBLINGS + 4) + 1)
    reached = (firsts * np.tanh(t[:, None] * sizes)).sum(axis=1)
    wanted = np.linspace(0.0, min(most, float(reached[-1])), TABLE + 1)[1:]
    t = np.interp(wanted, np.append(0.0, reached), np.append(0.0, t))
    tanh = np.tanh(t[:, None] * sizes)
    at = (firsts * tanh).sum(axis=1)
    tails = _formula(np.broadcast_to(sizes, tanh.shape), copies, t, at, tanh)
    deviates = -special.ndtri_exp(np.maximum(np.minimum(tails, -LN2), fewest))
    found = np.interp(np.abs(x), np.append(0.0, at), np.append(0.0, deviates))
    found = np.where(np.abs(x) > firsts.sum() * (1.0 + TOLERANCE), np.inf, found)  # further than the terms reach
    return np.asarray(special.log_ndtr(np.where(x >= 0, -found, found)), np.float64)


def _tails(sizes: FloatArray, copies: FloatArray, x: FloatArray) -> FloatArray:
    """Compute ln P(T >= x) by the formula: terms (m, n), copies of each, x (m,), or (k, m) of one size for each sum."""
    total, fewest = (copies * sizes).sum(axis=1), (copies * (sizes > 0)).sum(axis=1) * -LN2
    size = np.abs(x if x.ndim == 1 else x[0])
    far = _lugannani_rice(sizes, copies, size)
    far = np.where(size >= total * (1.0 - TOLERANCE), fewest, np.maximum(far, fewest))
    return np.asarray(np.where(x >= 0, far, np.log1p(-np.exp(np.minimum(far, -LN2)))), np.float64)


def _grouped(sizes: FloatArray, copies: FloatArray, number: int) -> tuple[FloatArray, FloatArray]:
    """Bring terms (m, n), or so many copies of each, to some sizes that keep Σ e²: sizes and copies, (m, number)."""
    rows = len(sizes)
    largest = sizes.max(axis=1, keepdims=True)
    places = (sizes * (number / np.where(largest > _SMALLEST, largest, 1.0))).astype(np.int32)
    np.minimum(places, number - 1, out=places)
    places += (np.arange(rows, dtype=np.int32) * number)[:, None]
    flat, squares = places.ravel(), (sizes * sizes).ravel()
    weights = np.broadcast_to(copies, sizes.shape).ravel()
    counts = np.bincount(flat, weights, minlength=rows * number).astype(np.float64)
    sums = np.bincount(flat, weights * squares, minlength=rows * number)
    means = np.sqrt(sums / np.maximum(counts, 1.0))
    return means.reshape(rows, number), counts.reshape(rows, number)


class _Cells:
    """Many units of one pair brought to cells of like e and w; the largest stay by themselves.

    The sum of squares of e - δ w is kept at every δ.
    """

    def __init__(self, e: FloatArray, w: FloatArray) -> None:
        """Take e and w of the units, (n,)."""
        ee, ww = e * e, w * w
        alone = (ee > ALONE * ee.sum()) | (ww > ALONE * ww.sum())
        rest_e, rest_w = e[~alone], w[~alone]
        self._alone_e, self._alone_w = e[alone], w[alone]
        cells = _places(rest_e, GRID) * GRID + _places(rest_w, GRID)
        counts = np.bincount(cells, minlength=GRID * GRID)
        filled = counts > 0
        self._copies = counts[filled].astype(np.float64)
        self._e, self._w = (
            np.bincount(cells, side, minlength=GRID * GRID)[filled] / self._copies for side in (rest_e, rest_w)
        )
        # sums, not products of matrices, whose threads would wait for each other
        self._within = tuple(
            _within(float(whole.sum()), float((self._copies * means).sum()))
            for whole, means in (
                (ee[~alone], self._e * self._e), (rest_e * rest_w, self._e * self._w), (ww[~alone], self._w * self._w),
            )
        )  # fmt: skip

    def log_upper_tail(self, delta: float, x: float) -> float:
        """Compute ln P(Σ s_i (e_i - δ w_i) >= x)."""
        alone = np.abs(self._alone_e - delta * self._alone_w)
        rest = np.abs(self._e - delta * self._w)
        of_means = float((self._copies * rest * rest).sum())
        within = max(0.0, self._within[0] - 2.0 * delta * self._within[1] + delta * delta * self._within[2])
        if of_means >= _SMALLEST:
            rest *= math.sqrt(1.0 + within / of_means)
        elif within:
            rest[:] = math.sqrt(within / float(self._copies.sum()))
        squares = of_means + within
        order = np.argsort(-alone, kind="stable")
        alone = alone[order]
        heavy = int((alone[:MOST_HEAVY] ** 2 > HEAVY * (float((alone * alone).sum()) + squares)).sum())
        sizes = np.concatenate([alone[heavy:], rest])[None]
        copies = np.concatenate([np.ones(len(alone) - heavy), self._copies])[None]
        if heavy:
            return _listing(alone[:heavy], *_grouped(sizes, copies, REST_SIZES), x)
        return float(_tails(*_grouped(sizes, copies, SIZES), np.array([x]))[0])


def _within(whole: float, of_means: float) -> float:
    """Return what the means of cells lack of a sum of products; 0 where that is rounding."""
    lacking = whole - of_means
    return lacking if abs(lacking) > ROUNDING * abs(whole) else 0.0


def _places(values: FloatArray, number: int) -> IntArray:
    """Return the place of each value among so many equal steps from the least to the largest, (n,)."""
    low, high = float(values.min(initial=math.inf)), float(values.max(initial=-math.inf))
    if not high > low:
        return np.zeros(len(values), np.int32)
    return np.minimum(((values - low) * (number / (high - low))).astype(np.int32), number - 1)


def _lugannani_rice(sizes: FloatArray, copies: FloatArray, x: FloatArray) -> FloatArray:
    """Compute ln P(T >= x) for x >= 0 below the largest sum."""
    firsts = copies * sizes
    squares = firsts * sizes
    variance = squares.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        least = x / variance  # K'(t) <= t K''(0): the root is not below it, and Newton's steps rise to it
        t = least + _products(squares * sizes, sizes) * least**3 / (3.0 * variance)
        a = np.empty(sizes.shape)
        for _ in range(_STEPS):
            np.tanh(np.multiply(t[:, None], sizes, out=a), out=a)
            off = x - _products(firsts, a)
            open_rows = np.abs(off) > _CLOSE * x
            if not open_rows.any():
                break
            step = off / _second(squares, variance, a)
            t = np.where(open_rows & np.isfinite(step), np.maximum(t + step, least), t)
        return _formula(sizes, copies, t, x, np.tanh(np.multiply(t[:, None], sizes, out=a)))


def _formula(sizes: FloatArray, copies: FloatArray, t: FloatArray, x: FloatArray, tanh: FloatArray) -> FloatArray:
    """Compute ln P(T >= x) at the saddlepoints t (m,) of x (m,), with tanh(t e) of the terms, (m, n)."""
    squares = copies * sizes * sizes
    variance = squares.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        second = _second(squares, variance, tanh)
        cosh = -0.5 * np.log1p(-tanh * tanh)
        if float(tanh.max(initial=0.0)) > _MIDDLE:
            a = t[:, None] * sizes
            cosh = np.where(tanh < _MIDDLE, cosh, a + np.log1p(np.exp(-2.0 * a)) - LN2)
        cumulant = (copies * cosh).sum(axis=1)
        w = np.sqrt(np.maximum(0.0, 2.0 * (t * x - cumulant)))
        u = t * np.sqrt(second)
        mills = math.sqrt(math.pi / 2.0) * special.erfcx(w / math.sqrt(2.0))
        tails = -0.5 * w * w - 0.5 * math.log(2.0 * math.pi) + np.log(mills + 1.0 / u - 1.0 / w)
        near = special.log_ndtr(-x / np.sqrt(variance))
    return np.asarray(np.where((w > _NEAR) & np.isfinite(tails), tails, near), np.float64)


def _products(first: FloatArray, second: FloatArray) -> FloatArray:
    """Sum the products of each row, (m, n) each: (m,)."""
    return np.asarray(np.einsum("ij,ij->i", first, second))


def _second(squares: FloatArray, variance: FloatArray, tanh: FloatArray) -> FloatArray:
    """Compute K'' = Σ c e² (1 - tanh²) of each row."""
    found = variance - _products(squares, tanh * tanh)
    if (found < 1e-3 * variance).any():  # near the largest sum the difference has lost digits
        found = (squares * (1.0 - tanh) * (1.0 + tanh)).sum(axis=1)
    return found


def listed_ends(e: FloatArray, w: FloatArray, difference: float, rejected: FloatArray) -> list[tuple[float, float]]:
    """Return the interval of a pair at each of some levels, listing all of at most `LISTED` units.

    Args:
        e: of the units, (n,).
        w: of the units, (n,), positive.
        difference: D.
        rejected: levels of p up to which a difference is left out, (k,), at least 2^(1-n).
    """
    means = (subset_sums(e)[1:] + 0.5 * (difference - float(e.sum()))) / subset_sums(w)[1:]
    places = (rejected * 2.0 ** (len(e) - 1) * (1.0 + TOLERANCE)).astype(np.int64) - 1
    means.partition(np.unique(np.concatenate([places, len(means) - 1 - places])))
    return [(float(means[place]), float(means[len(means) - 1 - place])) for place in places]


def inverted_ends(
    e: FloatArray,
    w: FloatArray,
    difference: FloatArray,
    rows: IntArray,
    rejected: FloatArray,
    start: FloatArray,
    most: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return intervals of pairs by inversion of `log_upper_tails`: low and high, (k,).

    Args:
        e: of m pairs, (m, n).
        w: (m, n).
        difference: D, (m,).
        rows: the pair of each of k intervals, int64 (k,).
        rejected: levels of p up to which a difference is left out, (k,), at least 2^(1-n).
        start: distance of the first guess from D, (k,).
        most: distance from D at which an end is not looked for any further, (k,).
    """
    sides = np.repeat([-1.0, 1.0], len(rows))
    row_of = np.tile(rows, 2)
    cells = {row: _Cells(e[row], w[row]) for row in set(rows.tolist())} if e.shape[1] > TERMS else {}

    def beyond(ends: IntArray, distance: FloatArray) -> FloatArray:
        of = row_of[ends]
        delta = difference[of] + sides[ends] * distance
        if cells:
            tails = np.array([cells[row].log_upper_tail(*at) for row, *at in zip(of, delta, distance, strict=True)])
        else:
            tails = log_upper_tails(e[of] - delta[:, None] * w[of], distance)
        return np.asarray(-special.ndtri_exp(tails) - sought[ends])

    sought = -special.ndtri(0.5 * np.tile(rejected, 2))
    distance = _solved(beyond, -sought, np.tile(start, 2), np.tile(most, 2))
    low, high = distance.reshape(2, -1)
    return difference[rows] - low, difference[rows] + high


def _solved(
    beyond: Callable[[IntArray, FloatArray], FloatArray], at_zero: FloatArray, start: FloatArray, most: FloatArray
) -> FloatArray:
    """Find for each of m rows the distance at which `beyond` turns from below 0 to above, at most `most`.

    Args:
        beyond: of the numbers of some rows and their distances.
        at_zero: its values at distance 0, below 0.
        start: the first guess.
        most: of each distance.
    """
    inside, value_inside = np.zeros(len(start)), at_zero.copy()
    outside, value_outside = np.full(len(start), np.inf), np.full(len(start), np.inf)
    found = np.minimum(start, most)
    rows = np.arange(len(start))
    for number in range(1, EVALUATIONS + 1):
        value = beyond(rows, found[rows])
        is_inside = value <= 0.0
        done = (np.abs(value) <= _SOLVED) | (is_inside & (found[rows] >= most[rows]))
        slope = np.maximum((value - value_inside[rows]) / (found[rows] - inside[rows]), 1e-300)
        into, out = rows[is_inside], rows[~is_inside]
        inside[into], value_inside[into] = found[into], value[is_inside]
        outside[out], value_outside[out] = found[out], value[~is_inside]
        done |= outside[rows] - inside[rows] <= _NARROW * found[rows]
        rows, slope, value = rows[~done], slope[~done], value[~done]
        if not len(rows):
            break
        bracketed = np.isfinite(outside[rows])
        a, b = inside[rows], outside[rows]
        fa, fb = value_inside[rows], value_outside[rows]
        with np.errstate(invalid="ignore"):
            secants = np.where(np.isfinite(fb), a - fa * (b - a) / (fb - fa), 0.5 * (a + b))
            further = np.clip(found[rows] - value / slope, 1.02 * found[rows], 4.0 * found[rows])
        between = 0.5 * (a + b) if number >= _HALVED_FROM else secants
        found[rows] = np.minimum(np.where(bracketed, between, further), most[rows])
    return found


MOST_ADDITIONS = 1e7
"""Units times sums of the longest law of one pair (some 10 ms). It is a pair's own, whichever others are compared."""
MOST_COUNTED = 1000
"""Units whose subsets are counted in float64, which holds 2^1023."""
FEW_COPIES = 8
"""Units of one size, in the mean, up to which adding one after the other is quicker than transforms."""


@dataclass(frozen=True, slots=True)
class Differences:
    """The non-zero differences of one pair, reduced by their common divisor.

    Attributes:
        values: distinct |d|, int64 (k,), ascending.
        copies: units of each, int64 (k,).
        observed: the observed sum of signed d.
    """

    values: IntArray
    copies: IntArray
    observed: int

    @property
    def largest(self) -> int:
        """The largest sum that swaps can reach."""
        return int(self.values @ self.copies)

    @property
    def additions(self) -> float:
        """The cost of the law: units times the sums that count."""
        return float(self.copies.sum()) * ((self.largest - abs(self.observed)) // 2 + 1)


def differences_of(d: IntArray) -> Differences:
    """Reduce signed integer differences (n,)."""
    values, copies = np.unique(np.abs(d[d != 0]), return_counts=True)
    divisor = int(np.gcd.reduce(values)) if len(values) else 1
    return Differences(values // divisor, copies.astype(np.int64), int(d.sum()) // divisor)


def log_exact_tail(differences: Differences, observed: int) -> float:
    """Compute ln P(S >= observed), for an observed sum of either sign with the parity of the sums."""
    if observed <= 0:  # P(S >= o) = 1 - P(S >= 2 - o): sums keep their parity, and the law is symmetric
        beyond = 2 - observed
        return math.log1p(-math.exp(log_exact_tail(differences, beyond))) if beyond <= differences.largest else 0.0
    top = (differences.largest - observed) // 2  # the subset whose signs are turned sums up to this at most
    units = int(differences.copies.sum())
    if top <= 0:
        return -units * LN2
    if units <= min(MOST_COUNTED, FEW_COPIES * len(differences.values)):
        return math.log(_subsets(differences, top)) - units * LN2
    theta, mean = _tilt(differences, top)
    values = differences.values.astype(np.float64)
    # Hoeffding (1963): under any tilt the mass further from the mean than r is below exp(-2 r^2 / sum of d^2)
    reach = math.ceil(4.9 * math.sqrt(float((values * values) @ differences.copies)) + abs(top - mean)) + 1
    first, last = max(0, top - reach), min(differences.largest, top + reach)
    from scipy.fft import irfft, next_fast_len, rfft  # noqa: PLC0415 - loads 15 MB, which most processes never need

    period = next_fast_len(last - first + 1, real=True)
    spectrum = np.ones(period // 2 + 1, np.complex128)
    for value, copies in zip(differences.values.tolist(), differences.copies.tolist(), strict=True):
        numbers, chances = _binomial(copies, theta * value)
        spectrum *= rfft(np.bincount(numbers * value % period, chances, period))
    sums = np.arange(first, top + 1)
    weight = float(irfft(spectrum, period)[sums % period] @ np.exp(theta * (sums - top)))
    cumulant = float(np.log1p(np.exp(-theta * values)) @ differences.copies)
    return math.log(weight) + cumulant - units * LN2 + theta * top


def _subsets(differences: Differences, top: int) -> float:
    """Count the subsets of the units whose sum is at most `top`."""
    ways = np.zeros(top + 1)
    ways[0], reached = 1.0, 0
    for value in np.repeat(differences.values, differences.copies).tolist():
        reached = min(top, reached + value)
        if value <= reached:
            ways[value : reached + 1] += ways[: reached + 1 - value]
    return float(ways.sum())


def _binomial(copies: int, tilt: float) -> tuple[IntArray, FloatArray]:
    """Return numbers of turned units among `copies`, each with odds exp(-tilt), and their chances, but far ones."""
    share = 1.0 / (1.0 + math.exp(min(tilt, 700.0)))
    width = 11.0 * math.sqrt(copies * share * (1.0 - share)) + 30.0
    least, most = max(0, math.floor(copies * share - width)), min(copies, math.ceil(copies * share + width))
    numbers = np.arange(least, most + 1)
    steps = np.cumsum(np.log((copies - numbers[:-1]) / numbers[1:]) - tilt)
    chances = np.exp(np.append(0.0, steps) - max(0.0, steps.max(initial=0.0)))
    return numbers, chances / chances.sum()


def _tilt(differences: Differences, top: int) -> tuple[float, float]:
    """Return the tilt that moves the mean of the subset's sum near `top` (Newton's steps in a bracket), and it."""
    values, copies = differences.values.astype(np.float64), differences.copies
    low, high, theta = 0.0, math.inf, 0.0
    for _ in range(60):
        share = 1.0 / (1.0 + np.exp(np.minimum(theta * values, 700.0)))
        mean, variance = float((values * share) @ copies), float((values * values * share * (1.0 - share)) @ copies)
        if abs(mean - top) <= 0.25 * math.sqrt(variance) or (theta == 0.0 and mean <= top):
            break
        low, high = (theta, high) if mean > top else (low, theta)
        step = theta + (mean - top) / variance if variance > 0 else math.inf
        theta = step if low < step < high else (2.0 * theta + 1.0 if math.isinf(high) else 0.5 * (low + high))
    return theta, mean
