"""What of a comparison leaves the service while gold is secret: rounded figures, and nothing that counts sentences.

JSON, CSV, Markdown, LaTeX and pictures are made of this one document. Exact figures stay stored, for organisers and
for level `gold`. How p was computed, and with which error, is not shown: it tells how many units differ.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from service.policy.items import Document, chosen, object_of, objects_of
from service.policy.rounding import (
    rounded_bound,
    rounded_difference,
    rounded_difference_bound,
    rounded_p,
    rounded_score,
)
from treescore.significance.ranking import ranks_of

Number = Callable[[float], float]

ROUNDED = (
    "Figures are rounded to what the number of sentences supports: scores to 4 digits, bounds of intervals to 3, p to "
    "2 with a floor of 0.0001, differences and their bounds to 4 decimals. Differences are of exact scores."
)
"""The note of every comparison that is shown so."""

_HEAD = (
    *("id", "benchmark", "revision", "state", "created_at", "finished_at", "expires_at", "score", "part", "split"),
    *("submissions", "settings", "progress", "labels", "failure"),
)
_COMPARISON = (
    *("higher_is_better", "statistic", "numerator", "denominator", "terms", "test", "alternative", "units"),
    *("parts", "gold_digest", "alpha", "correction", "family", "untested", "clusters", "rank_ranges", "warnings"),
    *("part_names", "seed_commitment", "assumed"),
)
_SYSTEM = ("name", "rank", "cluster", "rank_interval")
_PAIR = ("a", "b", "better", "test", "significant", "reason")
_NOT_WORSE = ("established",)
_INTERVAL = ("level", "method", "resamples")
_DETECTABLE = ("power", "alpha")
_PARTS = ("k_bonferroni", "k_fisher", "holm")
_COMPARISON_SIGNATURE = (
    *("score", "test", "alternative", "unit", "shuffles_asked", "resamples", "interval", "level", "correction"),
    *("alpha", "clusters", "mcnemar", "runs", "margin", "power", "gold", "version"),
)
_P = ("p", "p_parts", "p_unselected", "p_holm", "p_hochberg", "p_bh", "p_by", "p_bonferroni", "p_adjusted")
_NOT_WORSE_P = ("p", "p_adjusted")
_PARTS_P = ("p", "bonferroni", "fisher")


def comparison(document: Document, *, by_part: bool) -> dict[str, object]:
    """Return a comparison, answered or not, as it is shown below level `gold`.

    Args:
        document: the whole comparison.
        by_part: whether tests of single parts, and of their differences, are shown.
    """
    # the command needs the question and the seeds, which are shown with gold
    shown = chosen(document, _HEAD) | chosen(document, _COMPARISON) | {"command": None}
    if "pairs" not in document:
        return shown
    if not by_part:
        shown.pop("part_names", None)
    shown |= _ranked(shown, [_system(each) for each in objects_of(document.get("systems", ()))])
    shown["pairs"] = [_pair(each, by_part=by_part) for each in objects_of(document["pairs"])]
    shown["signature"] = chosen(object_of(document.get("signature", {})), _COMPARISON_SIGNATURE)
    shown["notes"] = [ROUNDED]
    return shown


def _system(system: Document) -> dict[str, object]:
    shown = chosen(system, _SYSTEM) | _rounded(system, ("score",), rounded_score)
    if "runs" in system:
        runs = object_of(system["runs"])
        shown["runs"] = chosen(runs, ("count",)) | _rounded(runs, ("mean", "sd"), rounded_score)
    return {**shown, "ci": _interval(system.get("ci"), rounded_bound)}


def _ranked(document: Document, systems: list[dict[str, object]]) -> dict[str, object]:
    """Return the systems, and what is listed in their order, ranked by scores as they are shown."""
    scores = np.array([system["score"] for system in systems], np.float64)
    losses = -scores if document.get("higher_is_better", True) else scores
    order = sorted(range(len(systems)), key=lambda at: (losses[at], str(systems[at]["name"])))
    ranks = ranks_of(losses[order])
    ranked: dict[str, object] = {
        "systems": [{**systems[at], "rank": rank} for at, rank in zip(order, ranks, strict=True)]
    }
    if document.get("clusters") is not None:
        clusters = object_of(document["clusters"])
        ranked["clusters"] = {**clusters, "cluster": _in_order(clusters["cluster"], order)}
    if document.get("rank_ranges") is not None:
        ranked["rank_ranges"] = _in_order(document["rank_ranges"], order)
    return ranked


def _in_order(values: object, order: list[int]) -> list[object]:
    return [values[at] for at in order] if isinstance(values, (list, tuple)) else []


def _pair(pair: Document, *, by_part: bool) -> dict[str, object]:
    shown = chosen(pair, _PAIR)
    shown |= _rounded(pair, ("score_a", "score_b"), rounded_score)
    shown |= _rounded(pair, ("difference", "difference_tested"), rounded_difference)
    if not shown.get("difference") and not pair.get("significant"):
        # the sign of what is shown as 0 would tell more digits
        shown["better"] = None
    shown |= _rounded(pair, _P, rounded_p)
    if not by_part:
        # of a few parts it has few values, each of which says how the hidden ones differ
        shown["p_parts"] = None
    shown["ci"] = _interval(pair.get("ci"), rounded_difference_bound)
    shown["ci_simultaneous"] = _interval(pair["ci_simultaneous"], rounded_difference_bound)
    shown["detectable"] = _detectable(pair["detectable"])
    shown["noninferiority"] = _not_worse(pair["noninferiority"], (pair["a"], pair["b"]))
    if by_part and "parts" in pair:
        parts = object_of(pair["parts"])
        shown["parts"] = {
            side: chosen(object_of(tests), _PARTS) | _rounded(object_of(tests), _PARTS_P, rounded_p)
            for side, tests in parts.items()
        }
    return shown


def _detectable(detectable: object) -> dict[str, object] | None:
    if detectable is None:
        return None
    known = object_of(detectable)
    return chosen(known, _DETECTABLE) | _rounded(known, ("difference",), rounded_difference)


def _not_worse(tests: object, names: tuple[object, object]) -> dict[str, object] | None:
    """Return the tests that each of a pair is not worse by the margin, which are under the names of both."""
    if tests is None:
        return None
    known = object_of(tests)
    shown = chosen(known, ("margin",))
    for name in map(str, names):
        if name in known:
            test = object_of(known[name])
            shown[name] = chosen(test, _NOT_WORSE) | _rounded(test, _NOT_WORSE_P, rounded_p)
    return shown


def _interval(interval: object, bound: Number) -> dict[str, object] | None:
    if interval is None:
        return None
    known = object_of(interval)
    return chosen(known, _INTERVAL) | _rounded(known, ("low", "high"), bound)


def _rounded(document: Document, names: tuple[str, ...], number: Number) -> dict[str, object]:
    """Return the members of these names that the document has, with every number in them rounded."""
    return {name: _number(document[name], number) for name in names if name in document}


def _number(value: object, number: Number) -> object:
    if isinstance(value, (list, tuple)):
        return [_number(each, number) for each in value]
    return number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
