"""What holds of every comparison: p, decision, intervals, ranks and `detectable` follow from one law."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
import pytest

from treescore.core.registry import METRICS, make_metric
from treescore.core.scores import Ratio, Score, ScoreTable, f1_score, harmonic, ratio_score
from treescore.significance import Candidate, PooledParts, Settings, compare

NAMES = ("matched", "gold", "system")
SCORES = (
    f1_score("f1", "F1", "matched", "gold", "system", "nothing in gold and system"),
    ratio_score("recall", "recall", "matched", "gold"),
    ratio_score("precision", "precision", "matched", "system"),
    ratio_score("error", "error", "matched", "gold", one_minus=True, higher_is_better=False),
    ratio_score("mean", "unbounded mean", "matched", "gold", high=None),
    Score(
        "joined", "F1 of two", (Ratio({"matched": 1}, {"system": 1}), Ratio({"matched": 1}, {"gold": 1})), join=harmonic
    ),
)
CORRECTIONS = ("holm", "hochberg", "bh", "by", "bonferroni", "none")
FIGURES = ("p", "se", "df", "ci", "detectable", "p_parts")


@dataclass
class Question:
    """A comparison, which can be asked again in another order or of fewer systems."""

    score: Score
    names: tuple[str, ...]
    systems: list[Candidate]
    settings: dict[str, Any]
    parts: np.ndarray | None = None
    blocks: list[str] | None = None
    pooled: bool = False
    order: np.ndarray | None = field(default=None)

    def asked(self, systems: list[Candidate] | None = None, order: Any = None) -> dict[str, Any]:
        systems = self.systems if systems is None else systems
        rows = slice(None) if order is None else order
        moved = [
            Candidate(each.name, tuple(run[rows] for run in each.runs), None, each.missing, each.submissions)
            for each in systems
        ]
        parts = None if self.parts is None else self.parts[rows]
        blocks = None if self.blocks is None else np.array(self.blocks, object)[rows].tolist()
        return compare(
            "m.s", self.score, self.names, moved, Settings(**self.settings), blocks=blocks,
            parts=PooledParts(parts) if self.pooled and parts is not None else parts,
        )  # fmt: skip


def question(seed: int, *, small: bool = False) -> Question:
    """Draw a comparison: few or more units, parts, documents, missing parts, runs, picking, every correction."""
    draw = np.random.default_rng([33, seed])
    score = SCORES[seed % len(SCORES)]
    units = int(draw.integers(2, 16) if draw.random() < 0.5 else draw.integers(16, 21 if small else 41))
    of_parts = int(draw.choice([0, 0, 2, 3, 5])) if units > 5 else 0
    parts = (
        None if not of_parts else np.concatenate([np.arange(of_parts), draw.integers(0, of_parts, units - of_parts)])
    )
    blocks = [f"d{at // 3}" for at in range(units)] if draw.random() < 0.3 and not of_parts else None
    gold = draw.integers(1, 25, units)
    first = draw.binomial(gold, draw.uniform(0.5, 0.95))
    with_runs = draw.random() < 0.2
    systems = []
    for place in range(int(draw.integers(2, 4 if small else 6))):
        missing = frozenset({int(draw.integers(of_parts))} if of_parts and draw.random() < 0.2 else ())
        runs = []
        for _ in range(int(draw.integers(1, 4)) if with_runs else 1):
            size = gold if seed % 2 else np.maximum(1, gold + draw.integers(-1, 2, units))
            own = draw.binomial(gold, draw.uniform(0.4, 0.95))
            matched = np.minimum(np.where(draw.random(units) < draw.uniform(0.1, 1), own, first), size)
            rows = np.array([matched, gold, size]).T
            rows[np.isin(-1 if parts is None else parts, list(missing))] *= np.array([0, 1, 0])
            runs.append(rows * 0.3 if draw.random() < 0.1 else rows)
        systems.append(
            Candidate(f"s{place}", tuple(runs), None, missing, int(draw.choice([1, 1, 1, 3])) if not with_runs else 1)
        )
    alpha = float(draw.choice([0.05, 0.05, 0.01, 0.2]))
    settings = {"correction": CORRECTIONS[seed // len(SCORES) % len(CORRECTIONS)], "alpha": alpha, "level": 1 - alpha}
    settings["test"] = str(draw.choice(["auto"] * 4 + ["permutation", "t"]))
    return Question(score, NAMES, systems, settings, parts, blocks, pooled=bool(of_parts and draw.random() < 0.2))


def ends(interval: dict[str, Any] | None) -> tuple[float, float]:
    if interval is None:
        return 0.0, 0.0
    low, high = interval["low"], interval["high"]
    return (-math.inf if low is None else low), (math.inf if high is None else high)


def holds(document: dict[str, Any]) -> None:
    """Check what is promised of the pairs of one document."""
    assert orjson.loads(orjson.dumps(document)) == document
    alpha = document["alpha"]
    for pair in document["pairs"]:
        if pair["p"] is None:
            assert pair["significant"] is None
            continue
        assert 0 < pair["p"] <= 1
        assert pair["p_adjusted"] >= pair["p"] * (1 - 1e-12)
        assert pair["significant"] == (pair["p_adjusted"] <= alpha)
        low, high = ends(pair["ci_adjusted"])
        assert pair["significant"] == (low > 0 or high < 0), pair
        if pair["ci_adjusted"] is None:
            assert (pair["p"], pair["difference"]) == (1.0, 0.0)
            continue
        of_pair = ends(pair["ci"])
        assert low <= of_pair[0] <= of_pair[1] <= high
        tolerance = 1e-9 * max(1.0, abs(pair["difference"]))
        assert of_pair[0] - tolerance <= pair["difference"] <= of_pair[1] + tolerance
        if pair["detectable"] is not None:
            assert pair["significant"] or abs(pair["difference"]) <= pair["detectable"]["difference"]
            assert pair["detectable"]["alpha"] == pytest.approx(alpha / pair["divisor"])
        assert 1 - pair["ci_adjusted"]["level"] == pytest.approx(alpha / pair["divisor"])
        assert (pair["p_kind"] == "t") == (pair["ci"]["method"] == "t") or "runs_test" in pair


def figures(document: dict[str, Any], *more: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the figures of each pair, the first name being the smaller one."""
    found = {}
    for pair in document["pairs"]:
        member = {name: pair[name] for name in (*FIGURES, *more)}
        member["detectable"] = member["detectable"] and member["detectable"]["difference"]
        low, high = ends(member.pop("ci"))
        turned = pair["a"] > pair["b"]
        member["low"], member["high"] = (-high, -low) if turned else (low, high)
        found[min(pair["a"], pair["b"]), max(pair["a"], pair["b"])] = member
    return found


def close(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Compare figures; an end that was sought, where p jumps, is found within 0.002 from either side."""
    assert one == {
        name: None if value is None else pytest.approx(value, rel=1e-6, abs=2e-3 if name in ("low", "high") else 1e-8)
        for name, value in other.items()
    }


def in_any_order_and_alone(of: Question) -> None:
    document = of.asked()
    holds(document)
    found = figures(document, "divisor", "p_adjusted")
    order = np.arange(len(of.systems[0].runs[0]))[::-1]
    for names, other in figures(of.asked(of.systems[::-1], order), "divisor", "p_adjusted").items():
        close(other, found[names])
    alone = figures(of.asked(of.systems[:2]))["s0", "s1"]
    among = {name: value for name, value in found["s0", "s1"].items() if name in alone}
    del alone["detectable"], among["detectable"]  # it goes with the divisor, as `ci_adjusted` does
    close(alone, among)


@pytest.mark.parametrize("small", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_what_is_promised_of_every_comparison(small: bool) -> None:  # noqa: FBT001
    for seed in range(15 if small else 500):
        in_any_order_and_alone(question(seed, small=small))


def counts_for(table: ScoreTable, score: Score, seed: int, units: int) -> list[np.ndarray]:
    """Make counts of three systems: what stands below a line of the score is its size, all else a part of that."""
    draw = np.random.default_rng([7, seed])
    sizes = draw.integers(2, 20, units)
    below = {name for ratio in score.ratios for name, weight in ratio.denominator.items() if weight}
    return [
        np.array(
            [
                sizes if name in below else draw.binomial(sizes, share * draw.uniform(0.8, 1))
                for name in table.count_names
            ]
        ).T
        for share in (0.9, 0.8, 0.5)
    ]


@pytest.mark.parametrize("name", sorted(METRICS))
def test_it_holds_of_each_score_of_each_metric(name: str) -> None:
    table = make_metric(name, {}).table
    for seed, score in enumerate(table.scores):
        rows = counts_for(table, score, seed, 8 + 16 * (seed % 2))
        systems = [Candidate(f"s{place}", (each,)) for place, each in enumerate(rows)]
        document = Question(score, table.count_names, systems, {}).asked()
        assert document["test"] == ("permutation" if seed % 2 else "t")
        never = not any(weight for ratio in score.ratios for weight in ratio.denominator.values())
        assert document["family"]["size"] == (0 if never else 3), score.name
        holds(document)
