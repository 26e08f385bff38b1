"""Many seeds at once from one `numpy.random.SeedSequence`, whose own loop takes 0.2 microseconds for each."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from treescore.core.arrays import Bits

_FIRST = 0x8B51F9DD
_FACTOR = 0x58F38DED
_KEPT = 8
"""Lengths whose factors are kept: a comparison asks for two, that of all batches and that of the last."""


def many_states(seeds: np.random.SeedSequence, count: int) -> Bits:
    """Return `seeds.generate_state(count, np.uint64)`, in vectors (O'Neill 2015, "Simple portable seed_seq").

    Each half of a number is hashed by itself, with a factor that depends on its place alone.
    """
    pool = np.asarray(seeds.pool, np.uint32)
    factors = _factors(-(-2 * count // len(pool)) * len(pool))
    halves = pool ^ factors[:-1].reshape(-1, len(pool))
    halves *= factors[1:].reshape(halves.shape)
    halves ^= halves >> np.uint32(16)
    states: Bits = halves.ravel()[: 2 * count].astype("<u4").view("<u8").astype(np.uint64)
    return states


@lru_cache(maxsize=_KEPT)
def _factors(count: int) -> NDArray[np.uint32]:
    """Return first * factor^i for i = 0 to count, modulo 2^32."""
    powers = np.full(count + 1, _FACTOR, np.uint32)
    powers[0] = _FIRST
    return np.multiply.accumulate(powers, dtype=np.uint32)
