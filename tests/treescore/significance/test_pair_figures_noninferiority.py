"""Not worse by more than a margin: reference figures, brute force, and what may be claimed."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from treescore.core.scores import ratio_score
from treescore.significance.contributions import Contributions, contributions
from treescore.significance.pair_figures import OneSide, noninferiority, noninferiority_documents
from treescore.significance.units import sample_of

SHARE = ratio_score("share", "", "m", "n")
MEAN = ratio_score("errors", "", "m", "n", higher_is_better=False)


def of(a: Any, b: Any, n: Any, parts: Any = None, score: Any = SHARE) -> Contributions:
    rows = [np.array([side, n], np.int64).T for side in (a, b)]
    found = contributions(sample_of(score, ("m", "n"), rows, None, parts), 0, 1)
    assert found is not None
    return found


def listed(e: np.ndarray, w: np.ndarray, margin: float) -> float:
    x = e + margin * w
    signs = np.array(list(product((1.0, -1.0), repeat=len(x))))
    return float((signs @ x >= x.sum() - 1e-12).mean())


def test_p_agrees_with_the_reference(golden: Any) -> None:
    for case in golden("inference")["few_units"]["cases"]:
        c = of(case["a"], case["b"], case["total"])
        for expected in case["noninferior"]:
            first, second = noninferiority(c, expected["margin"], 1.0)
            assert first.p == pytest.approx(expected["p_a"], abs=1e-9)
            assert second.p == pytest.approx(expected["p_b"], abs=1e-9)
            assert first.error is None
            assert first.units == len(case["a"])


@pytest.mark.parametrize("seed", range(6))
def test_p_agrees_with_all_signs_listed(seed: int) -> None:
    generator = np.random.default_rng(seed)
    n = generator.integers(1, 9, 10)
    a, b = generator.binomial(n, 0.7), generator.binomial(n, 0.6)
    for parts in (None, np.repeat([0, 1], 5)):
        c = of(a, b, n, parts)
        first, second = noninferiority(c, 0.07, 1.0)
        assert first.p == pytest.approx(listed(c.e, c.w, 0.07), rel=1e-12)
        assert second.p == pytest.approx(listed(-c.e, c.w, 0.07), rel=1e-12)


def test_for_an_error_rate_fewer_errors_are_in_favour() -> None:
    a, b, n = [1, 2, 0, 1, 2, 1, 0, 3], [3, 2, 1, 4, 2, 2, 1, 3], [5] * 8
    first, second = noninferiority(of(a, b, n, score=MEAN), 0.01, -1.0)
    mirrored = noninferiority(of(b, a, n), 0.01, 1.0)
    assert (first.p, second.p) == (mirrored[0].p, mirrored[1].p)
    assert first.p < second.p


def test_identical_outputs_are_not_worse() -> None:
    c = of([3] * 12, [3] * 12, [4] * 12)
    assert [side.p for side in noninferiority(c, 0.1, 1.0)] == [2.0**-12, 2.0**-12]


@pytest.mark.parametrize("units", [0, 1, 2])
def test_hardly_any_units_show_nothing(units: int) -> None:
    for side in noninferiority(of([1] * units, [1] * units, [1] * units), 0.1, 1.0):
        assert side.p == 2.0**-units
        assert side.units == units


def test_undefined_scores_show_nothing() -> None:
    assert [side.p for side in noninferiority(of([0] * 30, [0] * 30, [0] * 30), 0.1, 1.0)] == [1.0, 1.0]


def test_weights_that_differ_by_a_million() -> None:
    n = np.array([1_000_000, *[1] * 29])
    for side in noninferiority(of(n // 2, n // 2, n), 0.01, 1.0):
        assert 0.0 < side.p <= 1.0


def test_of_two_systems_p_decides_and_of_more_it_is_corrected() -> None:
    sides = [(OneSide(0.01, None, 40), OneSide(0.5, None, 40))]
    two = noninferiority_documents([("a", "b")], sides, 0.1, 0.05, "bonferroni")
    assert two == [
        {
            "margin": 0.1,
            "a": {"p": 0.01, "p_adjusted": 0.01, "established": True},
            "b": {"p": 0.5, "p_adjusted": 0.5, "established": False},
        }
    ]
    three = noninferiority_documents([("a", "b"), ("a", "c"), ("b", "c")], sides * 3, 0.1, 0.05, "bonferroni")
    assert three[0]["a"] == {"p": 0.01, "p_adjusted": pytest.approx(0.06), "established": False}
    holm = noninferiority_documents([("a", "b"), ("a", "c"), ("b", "c")], sides * 3, 0.1, 0.05, "holm")
    assert holm[2]["b"]["p_adjusted"] == pytest.approx(0.06)
    assert holm[2]["c"]["p_adjusted"] == 1.0


def test_nothing_is_established_below_twenty_units() -> None:
    for units, established in ((19, False), (20, True)):
        side = OneSide(1e-6, None, units)
        document = noninferiority_documents([("a", "b")], [(side, side)], 0.1, 0.05, "holm")[0]
        assert document["a"]["established"] is established
