"""McNemar's test of two systems' right and wrong answers, and MaltEval's form of it.

Fagerland, Lydersen & Laake 2013. b answers only the first has right, c only the second, t = b + c. The exact test on
sentences is the exact paired permutation test of sentence exact match. What is tested is (b - c) / n, the difference
in wholly right units, not the score from which right and wrong may have been read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from scipy.special import bdtr, chdtrc, gammaln, log_ndtr

from treescore.significance.constants import SMALLEST

if TYPE_CHECKING:
    from treescore.core.params import Json

MALTEVAL_P05 = 1.96
"""MaltEval's bound of z for 5 %, the two-sided normal quantile to two decimals; then that for 1 %."""
MALTEVAL_P01 = 2.58


class ChiSquare(NamedTuple):
    """A chi-square statistic with one degree of freedom, and its p."""

    statistic: float
    p: float


@dataclass(frozen=True, slots=True)
class McNemar:
    """All forms of the test on one table.

    Attributes:
        a_only, b_only: answers right in the one system only.
        exact: exact binomial p; mid_p: Lancaster's; chi2, chi2_corrected: statistic and p.
        z: MaltEval's statistic, None where nothing differs (MaltEval prints -Infinity).
        p05, p01: MaltEval's flags.
    """

    a_only: int
    b_only: int
    exact: float
    mid_p: float
    chi2: ChiSquare
    chi2_corrected: ChiSquare
    z: float | None
    p05: bool
    p01: bool

    def p(self, kind: str) -> float:
        """Return the p of a kind of PARAMS: exact, mid-p, chi2, chi2-corrected."""
        values = {
            "exact": self.exact,
            "mid-p": self.mid_p,
            "chi2": self.chi2.p,
            "chi2-corrected": self.chi2_corrected.p,
        }
        return values[kind]

    def document(self) -> dict[str, Json]:
        """Return the members of a comparison document."""
        return {
            "a_only": self.a_only,
            "b_only": self.b_only,
            "exact": self.exact,
            "mid_p": self.mid_p,
            "chi2": self.chi2._asdict(),
            "chi2_corrected": self.chi2_corrected._asdict(),
            "malteval": {"z": self.z, "p01": self.p01, "p05": self.p05},
        }


def mcnemar(a_only: int, b_only: int, alternative: str = "two-sided") -> McNemar:
    """Test b = a_only against c = b_only; where nothing differs every p is 1.

    Two-sided, with X ~ Binomial(t, 1/2), CDF and pmf of X and m = min(b, c): exact 2 CDF(m), at most 1; mid-p
    2 CDF(m) - pmf(m), and at b = c, where the two tails share their middle, 1 - pmf(b) / 2 (Fagerland, Lydersen &
    Laake 2013). `greater`: the first is right more often: CDF(c), mid-p CDF(c) - pmf(c) / 2; the chi-square forms then
    halve their tail.
    """
    total = a_only + b_only
    if not total:
        return McNemar(0, 0, 1.0, 1.0, ChiSquare(0.0, 1.0), ChiSquare(0.0, 1.0), None, p05=False, p01=False)
    if alternative == "two-sided":
        exact = min(1.0, 2.0 * binomial_tail(min(a_only, b_only), total))
        middle = _mass(min(a_only, b_only), total)
        mid_p = 1.0 - 0.5 * middle if a_only == b_only else max(SMALLEST, exact - middle)
    else:
        fewer = b_only if alternative == "greater" else a_only
        exact = binomial_tail(fewer, total)
        mid_p = max(SMALLEST, exact - 0.5 * _mass(fewer, total))
    difference = abs(a_only - b_only)
    z = (difference - 1) / math.sqrt(total)
    return McNemar(
        a_only=a_only,
        b_only=b_only,
        exact=max(exact, SMALLEST),
        mid_p=mid_p,
        chi2=_chi_square(a_only, b_only, difference, alternative),
        chi2_corrected=_chi_square(a_only, b_only, max(0, difference - 1), alternative),
        z=z,
        p05=z >= MALTEVAL_P05,
        p01=z >= MALTEVAL_P01,
    )


def smallest_of(kind: str, total: int, alternative: str = "two-sided") -> float:
    """Return the smallest p that t = b + c differing answers can give, at b = t and c = 0; 1 at t = 0.

    Two-sided: exact 2^(1-t), mid-p 2^-t, chi2 P(chi2_1 >= t), chi2-corrected P(chi2_1 >= (t-1)^2 / t). One-sided: half
    of each. Fagerland, Lydersen & Laake 2013.

    Args:
        kind: exact, mid-p, chi2, chi2-corrected.
        total: t.
        alternative: two-sided, greater, less.
    """
    if not total:
        return 1.0
    chi_square = {"chi2": float(total), "chi2-corrected": (total - 1) ** 2 / total}
    if kind in chi_square:
        two_sided = float(chdtrc(1, chi_square[kind]))
    else:
        two_sided = math.ldexp(1.0, (1 if kind == "exact" else 0) - total)
    return max(SMALLEST, two_sided if alternative == "two-sided" else 0.5 * two_sided)


def binomial_tail(most: int, total: int) -> float:
    """Compute P(X <= most) for X ~ Binomial(total, 1/2)."""
    return float(bdtr(most, total, 0.5))


_WHOLE = 1_000
"""Totals up to which all binomial coefficients are floats: those of 1,030 are beyond 2^1024."""


def _mass(right: int, total: int) -> float:
    """Compute P(X = right) for X ~ Binomial(total, 1/2)."""
    if total <= _WHOLE:
        return math.ldexp(math.comb(total, right), -total)
    log_ways = float(gammaln(total + 1) - gammaln(right + 1) - gammaln(total - right + 1))
    return math.exp(log_ways - total * math.log(2.0))


def _chi_square(a_only: int, b_only: int, difference: int, alternative: str) -> ChiSquare:
    statistic = difference * difference / (a_only + b_only)
    if alternative == "two-sided":
        return ChiSquare(statistic, max(SMALLEST, float(chdtrc(1, statistic))))
    ahead = (a_only >= b_only) == (alternative == "greater")
    root = math.sqrt(statistic) if ahead else -math.sqrt(statistic)
    return ChiSquare(statistic, max(SMALLEST, math.exp(float(log_ndtr(-root)))))
