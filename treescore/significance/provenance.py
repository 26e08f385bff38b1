"""Provenance of a comparison: its statistic, and its signature."""

from __future__ import annotations

from collections.abc import Sequence

from treescore.core.params import Json
from treescore.core.scores import Score
from treescore.core.version import __version__
from treescore.significance.permutation import Test
from treescore.significance.question import Question

VERSION = 3
"""Raised where the same question has another answer than before."""


def statistic(score: Score, *, macro: bool) -> dict[str, Json]:
    """Describe how the statistic is computed from the counts."""
    ratios = [
        {"numerator": dict(ratio.numerator), "denominator": dict(ratio.denominator), "one_minus": ratio.one_minus}
        for ratio in score.ratios
    ]
    kind = "ratio-of-sums" if len(ratios) == 1 and score.join is None else "composite"
    return {
        "statistic": f"macro-average of {kind}" if macro else kind,
        "numerator": list(score.ratios[0].numerator) if len(ratios) == 1 else None,
        "denominator": list(score.ratios[0].denominator) if len(ratios) == 1 else None,
        "terms": ratios,
    }


def signature(question: Question, tests: Sequence[Test], gold_digest: str | None) -> dict[str, Json]:
    """Make the signature: everything that the figures depend on beside the counts."""
    settings = question.settings
    shuffles = max((test.shuffles for test in tests if test.shuffles), default=None)
    resamples = None if settings.interval == "none" else question.resamples
    return {
        "score": question.score_name,
        "test": settings.test,
        "alternative": settings.alternative,
        "unit": question.unit,
        "shuffles": shuffles,
        "shuffles_asked": settings.shuffles,
        "resamples": resamples,
        "interval": settings.interval,
        "level": settings.level,
        "seed": settings.seed if question.seed_of is None else None,
        "correction": settings.correction,
        "alpha": settings.alpha,
        "clusters": settings.clusters,
        "mcnemar": settings.mcnemar if settings.test == "mcnemar" else None,
        "runs": settings.runs,
        "margin": settings.margin,
        "power": settings.power,
        "gold": gold_digest,
        "version": f"{__version__}/significance.{VERSION}",
    }
