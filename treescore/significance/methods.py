"""How a p was computed, in words: the member `how` of a pair."""

from __future__ import annotations

SAME = "identical in every unit"
LISTED = "all swaps listed"
SUM_LAW = "exact law of a sum"
INVERSION = "inversion of the cumulants"
NORMAL = "Lugannani-Rice formula"


def tilted_sampling(draws: int) -> str:
    """Name tilted sampling and its draws."""
    return f"tilted sampling, {draws} draws"
