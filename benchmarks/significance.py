"""Measure the seconds of a comparison: one pair and its peers, all pairs of 50 and 200 systems, and of many parts.

    python benchmarks/significance.py [--repeats 3] [--skip-200] [--only-pair] [--only-parts]

The peers are scipy's permutation_test and sacrebleu's paired approximate randomization (pip install sacrebleu), each
asked the same question of the same counts in the same run. Times are of whole calls: `compare` also computes
intervals, effects, corrections, ranks and clusters, and writes its document; cases without intervals say so.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import permutation_test
from table import KERNEL, Measure, machine, not_measured, report

from treescore.core.scores import Score, f1_score, ratio_score
from treescore.significance import Candidate, Settings, compare

try:
    from sacrebleu.significance import _paired_ar_test
except ImportError:
    _paired_ar_test = None

NAMES = ("matched", "gold", "system")
LAS = ratio_score("las", "one denominator for all", "matched", "gold")
F1 = f1_score("f1", "denominators differ", "matched", "gold", "system", "nothing")
SENTENCES = 2_000
SHUFFLES = 10_000


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

    tests = {"exact, one denominator (LAS)": (LAS, scipy_linear), "by formula, ratio (F1)": (F1, scipy_ratio)}
    for name, (score, peer) in tests.items():
        quick = median(repeats, partial(asked, score, systems, interval="none"))
        slow = median(1, peer)
        p, theirs = asked(score, systems, interval="none")["pairs"][0]["p"], float(peer().pvalue)
        figures = f"{quick * 1e3:.2f} and {slow * 1e3:,.0f} ms; p {p:.4g} and {theirs:.4g}"
        beside = f"scipy's permutation_test, {SHUFFLES:,} resamples"
        report(Measure(f"one pair, {name}, speed", KERNEL, beside, slow / quick, None, figures))
    drawn = {"interval": "none", "shuffles": SHUFFLES}
    several = candidates(20)
    shuffled = median(repeats, partial(asked, F1, systems, **drawn))
    many = median(1, partial(asked, F1, several, **drawn)) / 190
    beside = "sacrebleu's loop"
    shown = {"one pair": shuffled, "a pair among 190": many}
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
    print(f"\n{count} systems, {count * (count - 1) // 2} pairs, {SENTENCES} sentences")
    for name, score, given in (
        ("LAS, p", LAS, {"interval": "none"}),
        ("LAS, p and intervals", LAS, {}),
        ("F1, p", F1, {"interval": "none"}),
        ("F1, p and intervals", F1, {}),
        ("F1, p, intervals and a margin", F1, {"margin": 0.005}),
    ):
        seconds = median(repeats, partial(asked, score, systems, **given))
        kinds = Counter(pair["p_kind"] for pair in asked(score, systems, **given)["pairs"])
        print(f"  {name}: {seconds:.3f} s ({', '.join(f'{number} {kind}' for kind, number in kinds.items())})")


class Parts(NamedTuple):
    """A macro average to measure; `missing` is the share of the systems' parts that have no output."""

    systems: int
    parts: int
    sentences: int
    missing: float = 0.0


LARGE = (Parts(26, 78, 77_000), Parts(26, 78, 77_000, 0.05), Parts(100, 82, 164))


def of_parts(asked_for: Parts) -> str:
    """Measure all pairs of a macro average over parts of unequal sizes, in a process of its own."""
    generator = np.random.default_rng(0)
    systems, parts, sentences, share_missing = asked_for
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
        missing = np.flatnonzero(generator.random(parts) < share_missing)
        rows = np.array([matched, gold, system]).T
        rows[np.isin(strata, missing)] *= np.array([0, 1, 0])
        found.append(Candidate(f"system {place}", (rows,), missing=frozenset(missing.tolist())))
    pairs = systems * (systems - 1) // 2
    absent = f", {share_missing:.0%} of the parts missing" if share_missing else ""
    lines = [f"{systems} systems, {parts} parts, {sentences} sentences, {pairs} pairs, F1{absent}"]
    for what, given in (("p", Settings(interval="none")), ("p and intervals", Settings())):
        text, document = timed(partial(compare, F1.name, F1, NAMES, found, given, parts=strata))
        kinds = Counter(pair["p_kind"] for pair in document["pairs"])
        lines.append(f"  {what}: {text} ({', '.join(f'{number} {kind}' for kind, number in kinds.items())})")
    return "\n".join(lines)


def of_large_units(_: None = None) -> str:
    """Measure exact laws of large coprime counts: recall of 50 systems on 84 units of 500 to 1,000 links."""
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
    one_pair(given.repeats)
    if given.only_pair:
        return
    for count in (10, 50):
        all_pairs(count, given.repeats)
    if not given.skip_200:
        all_pairs(200, 1)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"largest memory of the process: {memory:.0f} MB")
    many_parts()


if __name__ == "__main__":
    main()
