"""Measure the seconds of a comparison: one pair and its peers, all pairs of 50 and 200 systems, and of many parts.

    python benchmarks/significance.py [--repeats 5] [--skip-200] [--only-pair] [--only-parts]

The peers are scipy's permutation_test and sacrebleu's paired approximate randomization (pip install sacrebleu), each
asked the same question of the same counts in the same run. Times are of whole calls: `compare` also computes
effects, corrections, ranks and clusters, and writes its document.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import permutation_test
from table import KERNEL, Measure, machine, not_measured, report

from treescore.core.scores import Score, f1_score, ratio_score
from treescore.significance import Candidate, Settings, compare
from treescore.significance.montecarlo import extreme_counts
from treescore.significance.units import sample_of
from treescore.warm import warm

try:
    from sacrebleu.significance import _paired_ar_test
except ImportError:
    _paired_ar_test = None

NAMES = ("matched", "gold", "system")
LAS = ratio_score("las", "one denominator for all", "matched", "gold")
F1 = f1_score("f1", "denominators differ", "matched", "gold", "system", "nothing")
SENTENCES = 2_000
SHUFFLES = 10_000
MOST_ALONE = 50
"""Systems up to which pairs are measured with seeds of their own."""


def candidates(count: int, seed: int = 0) -> list[Candidate]:
    """Make systems of nearly the same quality on sentences of usual lengths."""
    generator = np.random.default_rng(seed)
    gold = generator.geometric(1 / 18, SENTENCES) + 2
    difficulty = generator.normal(0, 0.6, SENTENCES)
    found = []
    for place in range(count):
        own = generator.normal(0, 0.05) + generator.normal(0, 0.3, SENTENCES)
        system = np.maximum(gold + generator.integers(-1, 2, SENTENCES), 1)
        matched = np.minimum(generator.binomial(gold, 1 / (1 + np.exp(-(1.6 + difficulty + own)))), system)
        found.append(Candidate(f"system {place}", (np.array([matched, gold, system]).T,)))
    return found


def median(repeats: int, function: Callable[[], Any]) -> float:
    """Return the median seconds of some calls, after one that is not counted."""
    function()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def asked(score: Score, systems: list[Candidate], **given: Any) -> dict[str, Any]:
    """Compute one comparison."""
    return compare(score.name, score, NAMES, systems, Settings(**given))


class _Value:
    def __init__(self, score: float) -> None:
        self.score = score


class _F1Metric:
    """F1 of summed counts, with the methods that sacrebleu's test calls."""

    def _extract_corpus_statistics(self, rows: Any, _references: Any) -> Any:
        return np.array(rows, np.float32)

    def _aggregate_and_compute(self, stats: Any) -> _Value:
        matched, gold, system = np.asarray(stats).sum(axis=0)
        return _Value(2 * matched / (gold + system))


def one_pair(repeats: int) -> None:
    """Measure Treescore and its peers on one pair."""
    systems = candidates(2)
    a, b = (system.runs[0] for system in systems)

    def f1_of(rows: Any, axis: int = -1) -> Any:
        sums = rows.sum(axis=axis)
        return 2 * sums[0] / (sums[1] + sums[2])

    def scipy_linear() -> Any:
        def statistic(x: Any, y: Any, axis: int = -1) -> Any:
            return x.mean(axis=axis) - y.mean(axis=axis)

        data = (a[:, 0].astype(float), b[:, 0].astype(float))
        return permutation_test(data, statistic, permutation_type="samples", n_resamples=SHUFFLES, batch=500, rng=1)

    def scipy_ratio() -> Any:
        # indices are permuted: each sentence takes the row of one of two systems
        both = np.stack([a, b]).astype(float)
        units = np.arange(SENTENCES)

        def statistic(x: Any, y: Any, axis: int = -1) -> Any:
            del axis
            first, second = (np.moveaxis(both[index.astype(int), units], -1, 0) for index in (x, y))
            return f1_of(first) - f1_of(second)

        data = (np.zeros(SENTENCES), np.ones(SENTENCES))
        return permutation_test(data, statistic, permutation_type="samples", n_resamples=SHUFFLES, batch=500, rng=1)

    tests = {"exact, one denominator (LAS)": (LAS, scipy_linear), "exact, ratio (F1)": (F1, scipy_ratio)}
    for name, (score, peer) in tests.items():
        quick = median(repeats, partial(asked, score, systems, interval="none"))
        slow = median(1, peer)
        p, theirs = asked(score, systems, interval="none")["pairs"][0]["p"], float(peer().pvalue)
        figures = f"{quick * 1e3:.2f} and {slow * 1e3:,.0f} ms; p {p:.4g} and {theirs:.4g}"
        beside = f"scipy's permutation_test, {SHUFFLES:,} resamples"
        report(Measure(f"one pair, {name}, speed", KERNEL, beside, slow / quick, None, figures))
    # one pair of whole counts gets an exact p; the inner function measures the cost of its Monte Carlo p
    sample = sample_of(F1, NAMES, [a, b], None, None)
    shuffled = median(repeats, lambda: extreme_counts(sample, [(0, 1)], SHUFFLES, 1, "two-sided"))
    tenths = [Candidate(each.name, (np.asarray(each.runs[0] * 0.1, np.float64),)) for each in systems]
    real = median(repeats, lambda: asked(F1, tenths, interval="none", shuffles=SHUFFLES))
    several = candidates(20)
    many = median(repeats, lambda: asked(F1, several, interval="none", shuffles=SHUFFLES, correction="none")) / 190
    beside = "sacrebleu's loop"
    shown = {"one pair of whole counts": shuffled, "one pair of real counts": real, "a pair among 190": many}
    if _paired_ar_test is None:
        for what in shown:
            not_measured(f"Monte Carlo F1, {what}, speed", KERNEL, beside, "sacrebleu is not installed")
        return
    metric = _F1Metric()
    stats = metric._extract_corpus_statistics(a, None)  # noqa: SLF001 - as its own caller does
    baseline = {"F1": (stats, metric._aggregate_and_compute(stats))}  # noqa: SLF001
    theirs_s = median(1, lambda: _paired_ar_test(baseline, "b", b, None, {"F1": metric}, n_samples=SHUFFLES, seed=1))
    for what, seconds in shown.items():
        figures = f"{seconds * 1e3:.2f} and {theirs_s * 1e3:,.0f} ms, {SHUFFLES:,} shuffles"
        report(Measure(f"Monte Carlo F1, {what}, speed", KERNEL, beside, theirs_s / seconds, None, figures))


def all_pairs(count: int, repeats: int) -> None:
    """Measure all pairs of many systems."""
    systems = candidates(count)
    pairs = count * (count - 1) // 2
    print(f"\n{count} systems, {pairs} pairs, {SENTENCES} sentences")
    for name, score, given in (
        ("exact LAS", LAS, {"interval": "none"}),
        ("F1, 10,000 shuffles", F1, {"interval": "none", "correction": "none"}),
        ("F1, shuffles raised for Holm", F1, {"interval": "none"}),
        ("F1, 100,000 shuffles", F1, {"interval": "none", "shuffles": 100_000}),
        ("bootstrap intervals, 10,000 resamples", F1, {"test": "bootstrap"}),
    ):
        seconds = median(repeats, partial(asked, score, systems, **given))
        shuffles = asked(score, systems, **given)["signature"]["shuffles"]
        print(f"  {name}: {seconds:.3f} s" + (f" ({shuffles} shuffles)" if shuffles else ""))
    if count <= MOST_ALONE:
        board = Settings(shuffles=100_000, resamples=2_000)
        seconds = median(1, lambda: compare(F1.name, F1, NAMES, systems, board, seed_of=seed_of))
        print(f"  F1 as on a board, a seed for each pair: {seconds:.1f} s")


class Parts(NamedTuple):
    """A macro average to measure."""

    systems: int
    parts: int
    sentences: int
    intervals: bool = False


LARGE = (Parts(26, 78, 120_000), Parts(100, 82, 120_000), Parts(100, 82, 164, intervals=True))
NEVER = 1e-290
"""A level so small that no p is near the decision."""


def of_parts(asked_for: Parts) -> str:
    """Measure all pairs of a macro average over parts of unequal sizes, in a process of its own."""
    warm()
    generator = np.random.default_rng(0)
    systems, parts, sentences, with_intervals = asked_for
    least = min(20, sentences // parts)
    shares = generator.dirichlet(np.full(parts, 2.0))
    sizes = generator.multinomial(sentences - least * parts, shares) + least
    strata = np.repeat(np.arange(parts), sizes)
    gold = generator.geometric(1 / 18, sentences) + 2
    difficulty = generator.normal(0, 0.6, sentences)
    found = []
    for place in range(systems):
        own = generator.normal(0, 0.02) + generator.normal(0, 0.3, sentences) + generator.normal(0, 0.1, parts)[strata]
        system = np.maximum(gold + generator.integers(-1, 2, sentences), 1)
        matched = np.minimum(generator.binomial(gold, 1 / (1 + np.exp(-(1.6 + difficulty + own)))), system)
        found.append(Candidate(f"system {place}", (np.array([matched, gold, system]).T,)))
    lines = [f"{systems} systems, {parts} parts, {sentences} sentences, {systems * (systems - 1) // 2} pairs, F1"]
    if not with_intervals:
        plain, _ = timed(
            lambda: compare(F1.name, F1, NAMES, found, Settings(interval="none", alpha=NEVER), parts=strata)
        )
        lines.append(f"  small p included, none near the decision: {plain}")
    given = Settings() if with_intervals else Settings(interval="none")
    text, document = timed(lambda: compare(F1.name, F1, NAMES, found, given, parts=strata))
    kinds = Counter(pair["how"] for pair in document["pairs"])
    lines.append(f"  {'at defaults, with intervals' if with_intervals else 'with draws near the decision'}: {text}")
    lines.append("  " + ", ".join(f"{count} {how}" for how, count in kinds.most_common()))
    return "\n".join(lines)


def of_large_units(_: None = None) -> str:
    """Measure exact laws of large coprime counts: recall of 50 systems on 84 units of 500 to 1,000 links."""
    warm()
    generator = np.random.default_rng(0)
    gold = generator.integers(500, 1_001, 84)
    found = []
    for place in range(50):
        right = np.clip(generator.normal(0.8, 0.08, 84) + generator.normal(0, 0.03), 0, 1)
        found.append(Candidate(f"system {place}", (np.array([generator.binomial(gold, right), gold, gold]).T,)))
    text, document = timed(lambda: compare(LAS.name, LAS, NAMES, found, Settings(interval="none")))
    kinds = Counter(pair["how"] for pair in document["pairs"])
    return f"50 systems, 84 units of 500 to 1,000 links, 1225 pairs: {text}\n  " + ", ".join(
        f"{count} {how}" for how, count in kinds.most_common()
    )


def timed(function: Callable[[], Any]) -> tuple[str, Any]:
    """Call a function; return its seconds and the largest memory of the process in words, and its result."""
    started, processor = time.perf_counter(), time.process_time()
    result = function()
    wall, processor = time.perf_counter() - started, time.process_time() - processor
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{wall:.1f} s ({processor:.1f} s of processor), process {memory:.0f} MB", result


def measured_apart(function: Callable[[Any], str], given: Any) -> None:
    """Print a measure from a process of its own, so that its largest memory is its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        print(pool.submit(function, given).result(), flush=True)


def many_parts() -> None:
    """Measure macro averages and large counts."""
    print()
    for asked_for in LARGE:
        measured_apart(of_parts, asked_for)
    measured_apart(of_large_units, None)


def seed_of(names: Sequence[str]) -> int:
    """Return a seed for one system or a pair."""
    return zlib.crc32("\0".join(sorted(names)).encode())


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--skip-200", action="store_true")
    parser.add_argument("--only-parts", action="store_true")
    parser.add_argument("--only-pair", action="store_true", help="one pair beside its peers")
    given = parser.parse_args()
    print(machine("numpy", "scipy", "sacrebleu"))
    if given.only_parts:
        many_parts()
        return
    started = time.perf_counter()
    warm()
    print(f"compiled functions ready after {time.perf_counter() - started:.2f} s\n")
    one_pair(given.repeats)
    if given.only_pair:
        return
    for count in (10, 25, 50, 100):
        all_pairs(count, given.repeats)
    if not given.skip_200:
        systems = candidates(200)
        started = time.perf_counter()
        asked(F1, systems)
        seconds = time.perf_counter() - started
        print(f"\n200 systems, 19900 pairs, F1 with intervals and shuffles raised for Holm: {seconds:.1f} s")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"largest memory of the process: {memory:.0f} MB")
    many_parts()


if __name__ == "__main__":
    main()
