"""Load and compile before the first job what the first job would otherwise wait for, by calls with tiny arrays."""

from __future__ import annotations

import numpy as np

import treescore.evaluation.parts
import treescore.significance.families  # noqa: F401 - both are loaded on demand
from treescore.core.arrays import appearing
from treescore.core.jit import forced, say_compiled, state
from treescore.core.registry import FORMATS, METRICS, Example, load_all, make_format
from treescore.core.scores import ratio_score
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import DiscontinuousTreebank, Vocabulary
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.evaluation.tree_marks import marks_of
from treescore.formats.shared.ten_fields import put_together, taken_apart
from treescore.significance import exact_sums, kernels
from treescore.significance.bootstrap import resampled
from treescore.significance.contributions import contributions
from treescore.significance.exact_ratios import grid_p, log_mass, pair_of, plane_of
from treescore.significance.intervals import difference_intervals
from treescore.significance.macro import inverted_p, macro_pair, parts_of, sampled_p
from treescore.significance.montecarlo import extreme_counts
from treescore.significance.pair_figures import moments_of_pairs
from treescore.significance.signed_sums import SAMPLED_BELOW, sum_tail
from treescore.significance.units import sample_of


def warm_kernels() -> None:
    """Call every compiled function of this package with the types of real calls."""
    score = ratio_score("ratio", "a ratio", "top", "bottom")
    first, second = np.array([[1, 2], [1, 3]]), np.array([[1, 3], [2, 3]])
    whole, halves, mixed = np.zeros(2, np.int64), np.array([0.5, 0.25]), np.array([0.5, 0.0])
    by_part = np.array([0, 1])
    for added in (halves, mixed, whole):
        rows = [first + added, second + added / 2 if added.any() else second]
        sample = sample_of(score, ("top", "bottom"), rows, None, None)
        extreme_counts(sample, [(0, 1)], 2, 1, "two-sided")
        moments_of_pairs(sample, [(0, 1)])
        parts = sample_of(score, ("top", "bottom"), rows, None, by_part)
        extreme_counts(parts, [(0, 1)], 2, 1, "two-sided")
        moments_of_pairs(parts, [(0, 1)])
        contributions(parts, 0, 1)
        macro = macro_pair(parts_of(parts), 0, 1)
        inverted_p(macro, "two-sided")
        sampled_p(macro, "two-sided", 1, 1)
        resampled(parts, 1, 1)
    pair = pair_of(sample, 0, 1)
    grid_p(pair, "two-sided", -1.0)
    log_mass(plane_of(pair, abs(pair.observed), strict=False))
    one = np.ones(1, np.int64)
    kernels.draw_weights(one.astype(np.uint64), np.zeros((1, 1), np.float32))
    kernels.draw_weights(one.astype(np.uint64), np.zeros((1, 1), np.float64))
    exact_sums.subset_tail(one, 1)
    exact_sums.tilted_tail(one, one, 0, 0.5, 2, 1)
    difference_intervals(parts, [(0, 1)], 0.95)
    sum_tail(np.ones(SAMPLED_BELOW), 2.0)
    sum_tail(np.arange(2.0, SAMPLED_BELOW), 2.0)


_TEXT = b"1\tA\ta\t_\t_\t_\t0\troot\t_\t_\n"


def warm() -> None:
    """Compile every function, or load its machine code: score the examples of every metric, so that each is called."""
    load_all()
    with forced("always"):
        for metric in METRICS.values():
            for example in metric.examples:
                _score(metric.name, example)
        warm_kernels()
        _read()
        _pack()
    say_compiled()


def _score(metric: str, example: Example) -> None:
    twice = (*range(len(example.sentences)),) * 2  # some tables list what occurs more than once
    evaluation = Evaluation(parse_spec(example.request(metric)), example.gold(twice))
    for outcome in evaluation.score(example.output(twice))[0].values():
        outcome.extra()
        dict(outcome.slices())
        outcome.item(0)


def _read() -> None:
    """Read trees with gaps, and compare them, as is done where no metric says what is wrong with them."""
    for form in FORMATS.values():
        if form.yields is DiscontinuousTreebank:
            trees = make_format(form.name, {}).read(form.example, Vocabulary(), DEFAULT_LIMITS)
            marks_of((), {}, trees, trees)


def _pack() -> None:
    appearing(np.zeros(1, np.int64), 1)
    streams = taken_apart(_TEXT)
    if streams is not None:
        put_together(streams, len(_TEXT))


if __name__ == "__main__":
    load_all()
    if state() != "compiled":
        warm()
