"""Settings of a comparison, declared as JSON Schema and checked by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from treescore.core.params import Json, Param, checked
from treescore.errors import InputError, Problem

_COUNT: Mapping[str, Json] = {"type": "integer", "minimum": 1, "maximum": 1_000_000}

PARAMS: Mapping[str, Param] = {
    "test": Param(
        {"enum": ["auto", "permutation", "bootstrap", "mcnemar", "compare_pl"]},
        "auto",
        "auto: paired permutation test, exact where it can be, with bootstrap intervals; permutation: the same; "
        "bootstrap: intervals only, p is null; mcnemar: on sentences right or wrong as a whole, or on tokens; "
        "compare_pl: the question of Bikel's comparator, one-sided in the observed direction.",
    ),
    "unit": Param(
        {"enum": ["sentence", "block", "token"]},
        "sentence",
        "What is swapped and redrawn as a whole: a sentence, or a block of sentences (a document); "
        "token needs the test mcnemar.",
    ),
    "alternative": Param(
        {"enum": ["two-sided", "greater", "less"]},
        "two-sided",
        "greater: the first system is better (also where a lower score is better); less: it is worse.",
    ),
    "shuffles": Param(
        _COUNT,
        10_000,
        "Shuffles of a Monte Carlo test; raised where the correction over all pairs could otherwise reject nothing.",
    ),
    "resamples": Param({**_COUNT, "maximum": 200_000}, 10_000, "Bootstrap resamples behind the intervals."),
    "correction": Param(
        {"enum": ["holm", "hochberg", "bh", "by", "bonferroni", "none"]},
        "holm",
        "Which adjusted p decides; the others are shown beside it.",
    ),
    "alpha": Param(
        {"type": "number", "minimum": 1e-12, "maximum": 0.5},
        0.05,
        "A difference is significant where its adjusted p is at most this.",
    ),
    "seed": Param({"type": "integer", "minimum": 0, "maximum": 2**63 - 1}, 1, "Seed of shuffles and resamples."),
    "interval": Param(
        {"enum": ["percentile", "bca", "none"]},
        "percentile",
        "Bootstrap interval: percentile, bias-corrected and accelerated (Efron 1987), or none.",
    ),
    "level": Param({"type": "number", "minimum": 0.5, "maximum": 0.9999}, 0.95, "Level of the intervals."),
    "clusters": Param(
        {"enum": ["separable", "greedy"]},
        "separable",
        "separable: a line is drawn where every system above differs from every system below; greedy: a cluster "
        "ends at the first system that differs from one of its members.",
    ),
    "mcnemar": Param(
        {"enum": ["exact", "mid-p", "chi2", "chi2-corrected"]},
        "exact",
        "Which of McNemar's p decides; all of them are shown.",
    ),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """Checked settings. PARAMS describes each field."""

    test: str = "auto"
    unit: str = "sentence"
    alternative: str = "two-sided"
    shuffles: int = 10_000
    resamples: int = 10_000
    correction: str = "holm"
    alpha: float = 0.05
    seed: int = 1
    interval: str = "percentile"
    level: float = 0.95
    clusters: str = "separable"
    mcnemar: str = "exact"


def parse_settings(document: Mapping[str, Json]) -> Settings:
    """Return the settings of a `significance` object; `scores` is ignored here.

    Raises:
        InputError: unknown names and wrong values, each with its pointer below the object.
    """
    options = {name: value for name, value in document.items() if name != "scores"}
    values = checked("significance", PARAMS, options)
    for name in ("shuffles", "resamples", "seed"):
        values[name] = int(values[name])
    settings = Settings(**values)
    if settings.unit == "token" and settings.test != "mcnemar":
        detail = (
            f'The unit "token" needs the test "mcnemar", not {settings.test!r}: '
            "tokens of a sentence are not independent. Use sentence or block."
        )
        raise InputError(Problem("bad-parameter", detail, pointer="/unit"))
    return settings
