"""Several claims at once: all pairs of a family, intervals and ranks that hold together, parts that are counted."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from nulls.systems import GUM, LAS, covers, expected_las, of_documents, outcome, pair, row_of, systems, words_of
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


SIZE = 6
DOCUMENTS = 10


def together(shifts: tuple[float, ...]) -> Experiment:
    """Six systems over ten documents: whether all claims, intervals and rank intervals hold at once."""
    offsets = np.array([*shifts, *[0.0] * (SIZE - len(shifts))])
    true = np.array([expected_las(0.3, shift) for shift in offsets])

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        some, blocks = of_documents(generator, words_of(generator, GUM, DOCUMENTS), SIZE, 0.3, offsets[:, None])
        asked = {"blocks": blocks, "interval": "auto"}
        document, bonferroni = (outcome(some, LAS, correction=how, **asked) for how in ("holm", "bonferroni"))
        differences = [true[first] - true[second] for first, second in combinations(range(SIZE), 2)]
        pairs = list(zip(document["pairs"], differences, strict=True))
        return {
            "15 `ci`": all(covers(each["ci"], value) for each, value in pairs),
            "no claim is wrong": all(each["difference"] * value > 0 for each, value in pairs if each["significant"]),
            "`ci_adjusted` of the significant": all(
                covers(each["ci_adjusted"], value) for each, value in pairs if each["significant"]
            ),
            "15 `ci_adjusted`, bonferroni": all(
                covers(each["ci_adjusted"], value) for each, value in zip(bonferroni["pairs"], differences, strict=True)
            ),
            "6 `rank_interval`": all(
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
            "`k_bonferroni`": found["k_bonferroni"] > better,
            "`k_fisher`": found["k_fisher"] > better,
            "`holm` names a wrong part": any(part >= better for part in found["holm"]),
        }

    return experiment


CORRECTIONS = ("`none`", "`holm`", "`hochberg`", "`by`", "`bh`")
TABLES = (
    Table(
        "family",
        "28 pairs of 8 systems: some false claim",
        CORRECTIONS,
        (Row("all equal", family(()), share=4), Row("five equal, three better", family((0.5, 0.5, 0.5)), share=4)),
    ),
    Table(
        "together",
        "6 systems, 10 documents: all hold at once",
        (
            "15 `ci`",
            "no claim is wrong",
            "`ci_adjusted` of the significant",
            "15 `ci_adjusted`, bonferroni",
            "6 `rank_interval`",
        ),
        (
            Row("all equal", together(()), Goal.COVERAGE, 2),
            Row("two better, two better still", together((1.0, 1.0, 0.5, 0.5)), Goal.COVERAGE, 2),
        ),
    ),
    Table(
        "conjunction",
        "6 parts: better on more parts claimed than true",
        ("parts with p at most 0.05", "`k_bonferroni`", "`k_fisher`", "`holm` names a wrong part"),
        tuple(Row(f"truly better on {better}", conjunction(better), share=4) for better in (0, 3)),
    ),
)
