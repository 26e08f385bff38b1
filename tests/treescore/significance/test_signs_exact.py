"""The exact law of a sum: both ways to compute it agree with all subsets listed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.significance import signs
from treescore.significance.signs import differences_of, log_exact_tail, subset_sums


@pytest.mark.parametrize("most_counted", [signs.MOST_COUNTED, 0], ids=["counted", "transforms"])
@given(d=st.lists(st.integers(-40, 40), min_size=2, max_size=10).filter(any))
def test_every_tail_is_that_of_all_subsets(most_counted: int, d: list[int]) -> None:
    differences = differences_of(np.array(d))
    sums = differences.largest - 2 * subset_sums(np.repeat(differences.values, differences.copies).astype(float))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signs, "MOST_COUNTED", most_counted)
        for observed in np.unique(sums).astype(int).tolist():
            tail = log_exact_tail(differences, observed)
            assert tail == pytest.approx(math.log((sums >= observed).mean()), rel=1e-9, abs=1e-12)
