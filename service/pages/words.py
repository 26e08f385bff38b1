"""Words of the pages for values of the API: corrections, units of tests, all parts together."""

from __future__ import annotations

from collections.abc import Mapping

from service.requests import MACRO, POOLED

TOGETHER: Mapping[str, str] = {MACRO: "mean of all parts", POOLED: "all sentences together"}
"""What stands for all parts, and what it is called."""
_CORRECTIONS = {
    "holm": "Holm", "hochberg": "Hochberg", "bh": "Benjamini-Hochberg", "by": "Benjamini-Yekutieli",
    "bonferroni": "Bonferroni",
}  # fmt: skip
_UNITS = {"block": "documents", None: "sentences"}


def correction_name(correction: str) -> str:
    """Return what a correction is called."""
    return _CORRECTIONS.get(correction, correction)


def units_name(unit: str | None) -> str:
    """Return what a test was made over, as a plural; sentences unless it says otherwise."""
    return _UNITS.get(unit) or f"{unit}s"
