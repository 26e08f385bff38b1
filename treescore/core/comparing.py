"""Settings of a comparison, declared as JSON Schema: their values, defaults and words, for all who ask for them."""

from collections.abc import Mapping

from treescore.core.params import Param

AUTO = "auto"
FEWEST_PARTS = 3
"""Parts from which on whole parts can be the units."""
BOOTSTRAPPED = ("percentile", "bca")
"""Intervals that draw resamples."""
CORRECTIONS = ("holm", "hochberg", "bh", "by", "bonferroni", "none")


def _one_of(default: str, doc: str, *others: str) -> Param:
    return Param({"enum": [default, *others]}, default, doc)


PARAMS: Mapping[str, Param] = {
    "test": _one_of(
        AUTO,
        "auto: the paired permutation test from 16 units on, Student's t below; permutation or t: the one of them for "
        "any number of units; bootstrap: intervals only, p is null; mcnemar: on sentences right or wrong as a whole, "
        "or on tokens; compare_pl: Bikel's comparator, one-sided in the observed direction, recall and precision from "
        "rounded percentages.", "permutation", "t", "bootstrap", "mcnemar", "compare_pl"),
    "unit": _one_of(
        AUTO,
        "What is swapped and redrawn as a whole: a sentence, a block of sentences (a document), or a whole part, from "
        f"{FEWEST_PARTS} parts on. auto: the request's blocks, else gold's documents, else sentences; for mcnemar and "
        "compare_pl sentences. token needs the test mcnemar.", "sentence", "block", "part", "token"),
    "alternative": _one_of(
        "two-sided", "greater: the first system is better (also where a lower score is better); less: it is worse.",
        "greater", "less"),
    "shuffles": Param(
        {"type": ["integer", "null"], "minimum": 1, "maximum": 1_000_000}, None,
        "Draw so many random signs of the units (Monte Carlo) instead of listing all or approximating their law."),
    "resamples": Param(
        {"type": "integer", "minimum": 1, "maximum": 200_000}, 10_000, "Resamples of intervals by the bootstrap."),
    "correction": _one_of(
        *("holm", "Which adjusted p decides; the others are shown beside it. The intervals follow it."),
        *CORRECTIONS[1:]),
    "alpha": Param(
        {"type": "number", "minimum": 1e-12, "maximum": 0.5}, 0.05,
        "A difference is significant where its adjusted p is at most this."),
    "seed": Param(
        {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}, 1,
        "Seed of shuffles and resamples, where any are drawn."),
    "interval": _one_of(
        AUTO, "auto: by the law of the test; percentile or bca (bias-corrected and accelerated, Efron 1987): by the "
        "bootstrap; none.", *BOOTSTRAPPED, "none"),
    "level": Param(
        {"type": ["number", "null"], "minimum": 0.5, "maximum": 0.9999}, None,
        "Level of each interval by itself; 1 - alpha unless given."),
    "clusters": _one_of(
        "separable",
        "separable: a line is drawn where every system above differs from every system below; greedy: a cluster "
        "ends at the first system that differs from one of its members.", "greedy"),
    "mcnemar": _one_of(
        "exact", "Which of McNemar's p decides; all of them are shown.", "mid-p", "chi2", "chi2-corrected"),
    "runs": _one_of(
        "random",
        "random: where both systems have two or more training runs, the test is about other runs too; fixed: about "
        "these trained models alone.", "fixed"),
    "margin": Param(
        {"type": ["number", "null"], "exclusiveMinimum": 0}, None,
        "Test also that a system is not worse than another by this much, in units of the score: half a point of "
        "percent is 0.005."),
    "power": Param(
        {"type": "number", "minimum": 0.5, "maximum": 0.99}, 0.8,
        "The chance with which a true difference as large as `detectable` would be found."),
}  # fmt: skip
