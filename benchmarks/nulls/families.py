"""Several claims at once: all pairs of a family, intervals and ranks that hold together, parts that are counted."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from nulls.systems import LAS, covers, expected_las, outcome, pair, row_of, systems
from nulls.tables import ALPHA, Experiment, Goal, Row, Table
from treescore.significance import partial_conjunction

SENTENCES = 150


def family(shifts: tuple[float, ...]) -> Experiment:
    """Eight systems, 28 pairs: whether any pair without a true difference is significant."""
    better = len(shifts)
    equal = [first >= better or second < better for first, second in combinations(range(8), 2)]

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        some = systems(generator, 8, SENTENCES, effect=0.3, shifts=shifts)
        document = outcome(some, LAS)
        return {
            "`none`": any(each["p"] <= ALPHA for each, null in zip(document["pairs"], equal, strict=True) if null),
            **{
                f"`{name}`": any(
                    each[f"p_{name}"] <= ALPHA for each, null in zip(document["pairs"], equal, strict=True) if null
                )
                for name in ("holm", "hochberg", "by", "bh")
            },
        }

    return experiment


SIZE = 12
RESAMPLES = 1_000


def together(shifts: tuple[float, ...]) -> Experiment:
    """Twelve systems on 200 sentences: whether all 66 intervals, and all rank intervals, hold at once."""
    true = np.array([expected_las(shift=shift) for shift in (*shifts, *[0.0] * (SIZE - len(shifts)))])

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        some = systems(generator, SIZE, 200, shifts=shifts)
        document = outcome(some, LAS, interval="percentile", resamples=RESAMPLES)
        differences = [true[first] - true[second] for first, second in combinations(range(SIZE), 2)]
        pairs = list(zip(document["pairs"], differences, strict=True))
        return {
            "66 `ci`": all(covers(each["ci"], value) for each, value in pairs),
            "66 `ci_simultaneous`": all(covers(each["ci_simultaneous"], value) for each, value in pairs),
            "12 `rank_interval`": all(
                _within(row_of(document, each)["rank_interval"], true, place) for place, each in enumerate(some)
            ),
        }

    return experiment


def _within(interval: list[int], true: np.ndarray, system: int) -> bool:
    """Tell whether a rank interval holds all ranks that a system may have among truly equal ones."""
    best, worst = 1 + int((true > true[system]).sum()), len(true) - int((true < true[system]).sum())
    return interval[0] <= best and worst <= interval[1]


def conjunction(better: int) -> Experiment:
    """Six parts of 60 sentences, the first system better on some: whether more are claimed than are true.

    The parts are compared one by one and joined by `partial_conjunction`, as `compare` does: the macro average, which
    is not asked about here, would take most of the time.
    """

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        p = []
        for part in range(6):
            two = systems(generator, 2, 60, shifts=[0.6] if part < better else [])
            p.append(pair(two, LAS, alternative="greater")["p"])
        found = partial_conjunction(p, ALPHA)
        return {
            "parts with p at most 0.05": sum(each <= ALPHA for each in p) > better,
            "`k_bonferroni`": found.k_bonferroni > better,
            "`k_fisher`": found.k_fisher > better,
            "`holm` names a wrong part": any(part >= better for part in found.holm),
        }

    return experiment


CORRECTIONS = ("`none`", "`holm`", "`hochberg`", "`by`", "`bh`")
TABLES = (
    Table(
        "family",
        "28 pairs of 8 systems: some false claim",
        CORRECTIONS,
        (Row("all equal", family(())), Row("five equal, three better", family((0.5, 0.5, 0.5)))),
    ),
    Table(
        "together",
        "12 systems, 200 sentences: all hold at once",
        ("66 `ci`", "66 `ci_simultaneous`", "12 `rank_interval`"),
        (
            Row("all equal", together(()), Goal.COVERAGE),
            Row("four better, four better still", together((0.5,) * 4 + (0.25,) * 4), Goal.COVERAGE),
        ),
    ),
    Table(
        "conjunction",
        "6 parts: better on more parts claimed than true",
        ("parts with p at most 0.05", "`k_bonferroni`", "`k_fisher`", "`holm` names a wrong part"),
        tuple(Row(f"truly better on {better}", conjunction(better)) for better in (0, 3)),
    ),
)
