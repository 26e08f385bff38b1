"""Measure how often the tests reject true nulls: simulated systems, rejection rates at 5 %, standard errors.

    python benchmarks/validity.py [--datasets 1000] [--seed 1]

In every data set the systems are equally good; a valid test rejects in at most 5 % of them. Effects are on the logit
scale: a system-by-sentence effect correlates the tokens of one sentence for one system, a system-by-document effect the
sentences of one document.
"""

from __future__ import annotations

import argparse
import math
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from treescore.core.registry import TokenBits
from treescore.core.scores import Score, f1_score, ratio_score
from treescore.significance import Candidate, Settings, compare

NAMES = ("right", "tokens", "whole", "sentences", "predicted")
LAS = ratio_score("las", "share of tokens right", "right", "tokens")
EXACT_MATCH = ratio_score("exact_match", "share of sentences wholly right", "whole", "sentences")
F1 = f1_score("f1", "F1 where systems differ in their number of tokens", "right", "tokens", "predicted", "nothing")
ALPHA = 0.05


def systems(
    generator: np.random.Generator,
    count: int,
    sentences: int,
    *,
    effect: float = 0.0,
    document_effect: float = 0.0,
    documents: int = 0,
    shifts: Iterable[float] = (),
) -> list[Candidate]:
    """Draw systems that are equally good but for `shifts`, with counts and one bit a token."""
    lengths = generator.integers(5, 25, sentences)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    difficulty = 1.6 + generator.normal(0, 0.7, sentences)
    home = np.arange(sentences) % max(1, documents)
    found = []
    for place, shift in zip(range(count), [*shifts, *[0.0] * count], strict=False):
        own = generator.normal(0, effect, sentences) + generator.normal(0, document_effect, max(1, documents))[home]
        chance = 1.0 / (1.0 + np.exp(-(difficulty + own + shift)))
        bits = generator.random(offsets[-1]) < np.repeat(chance, lengths)
        right = np.add.reduceat(bits, offsets[:-1], dtype=np.int64)
        predicted = np.maximum(right, lengths + generator.integers(-1, 2, sentences))
        rows = np.array([right, lengths, right == lengths, np.ones(sentences), predicted], np.int64).T
        found.append(Candidate(f"system {place}", (rows,), TokenBits(bits, offsets)))
    return found


def significant(score: Score, candidates: list[Candidate], **asked: Any) -> list[bool]:
    """Return whether each pair is significant at 5 %."""
    blocks = asked.pop("blocks", None)
    settings = Settings(interval="none", alpha=ALPHA, **asked)
    document = compare(score.name, score, NAMES, candidates, settings, blocks=blocks)
    return [bool(pair["significant"]) for pair in document["pairs"]]


def strict(candidates: list[Candidate], generator: np.random.Generator) -> bool:
    """Test exact match as sacrebleu and multeval do: only shuffles strictly beyond the observed difference count."""
    a, b = (candidate.runs[0][:, 2] for candidate in candidates)
    d = a - b
    signs = generator.integers(0, 2, (999, len(d))) * 2 - 1
    beyond = int((np.abs(signs @ d) > abs(int(d.sum()))).sum())
    return (beyond + 1) / 1000 <= ALPHA


def rates(datasets: int, seed: int, experiment: Callable[[np.random.Generator], dict[str, bool]]) -> None:
    """Run an experiment on many data sets and print how often each test rejected."""
    counts: Counter[str] = Counter()
    started = time.perf_counter()
    for dataset in range(datasets):
        for name, rejected in experiment(np.random.default_rng([seed, dataset])).items():
            counts[name] += bool(rejected)
            counts.setdefault(name, 0)
    for name, count in counts.items():
        share = count / datasets
        error = math.sqrt(max(share * (1 - share), 1 / datasets) / datasets)
        print(f"  {name:82s} {100 * share:5.1f} % +- {100 * error:.1f}")
    print(f"  ({datasets} data sets, {time.perf_counter() - started:.0f} s)\n", flush=True)


def independent(effect: float) -> Callable[[np.random.Generator], dict[str, bool]]:
    """Return an experiment with two systems on independent sentences."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        pair = systems(generator, 2, 150, effect=effect)
        return {
            "permutation, sentence swap, LAS (exact)": significant(LAS, pair)[0],
            "permutation, sentence swap, F1 (exact)": significant(F1, pair)[0],
            "McNemar on sentence exact match (exact)": significant(EXACT_MATCH, pair, test="mcnemar")[0],
            "McNemar on tokens (as MaltEval)": significant(LAS, pair, test="mcnemar", unit="token")[0],
            "compare_pl (one-sided in the observed direction)": significant(LAS, pair, test="compare_pl")[0],
        }

    return experiment


def in_documents(effect: float) -> Callable[[np.random.Generator], dict[str, bool]]:
    """Return an experiment with two systems on 200 sentences in 20 documents."""

    def experiment(generator: np.random.Generator) -> dict[str, bool]:
        pair = systems(generator, 2, 200, document_effect=effect, documents=20)
        blocks = [f"document {number % 20}" for number in range(200)]
        return {
            "permutation, sentence swap": significant(LAS, pair)[0],
            "permutation, document swap (unit: block)": significant(LAS, pair, unit="block", blocks=blocks)[0],
        }

    return experiment


def coarse(generator: np.random.Generator) -> dict[str, bool]:
    """Test exact match of 60 sentences: few values, many ties."""
    pair = systems(generator, 2, 60)
    return {
        "permutation, ties counted (>=)": significant(EXACT_MATCH, pair)[0],
        "shuffles strictly beyond only (as sacrebleu, multeval)": strict(pair, generator),
    }


def family(generator: np.random.Generator) -> dict[str, bool]:
    """Test eight systems, 28 pairs: all equal, and three of them better."""
    equal = systems(generator, 8, 150, effect=0.3)
    partly = systems(generator, 8, 150, effect=0.3, shifts=[0.5, 0.5, 0.5])
    nulls = [(first < 3 and second < 3) or first >= 3 for first in range(8) for second in range(first + 1, 8)]
    found: dict[str, bool] = {}
    for kind, score, unit in (("LAS, exact", LAS, 1), ("F1 of real counts, Monte Carlo", F1, 0.1)):
        for name, same, true in (("all equal", equal, [True] * 28), ("five equal, three better", partly, nulls)):
            some = [Candidate(each.name, (each.runs[0] * unit,)) for each in same]
            for correction in ("none", "holm"):
                rejected = significant(score, some, correction=correction, shuffles=2_000)
                any_false = any(each for each, null in zip(rejected, true, strict=True) if null)
                found[f"some false rejection: {name}, {kind}, {correction}"] = any_false
    return found


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}, seed {asked.seed}\n")
    for effect in (0.0, 0.5, 1.0):
        print(f"150 independent sentences, system-by-sentence effect {effect}")
        rates(asked.datasets, asked.seed, independent(effect))
    for effect in (0.0, 0.3, 0.6):
        print(f"200 sentences in 20 documents, system-by-document effect {effect}")
        rates(asked.datasets, asked.seed, in_documents(effect))
    print("Exact match of 60 sentences (coarse ties)")
    rates(2 * asked.datasets, asked.seed, coarse)
    print("Families of 28 pairs of 8 systems: at least one false rejection")
    rates(max(1, asked.datasets // 2), asked.seed, family)


if __name__ == "__main__":
    main()
