"""Render comparisons as CSV, one row a pair."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

COLUMNS = (
    "score",
    "a",
    "b",
    "score_a",
    "score_b",
    "difference",
    "difference_tested",
    "ci_low",
    "ci_high",
    "ci_simultaneous_low",
    "ci_simultaneous_high",
    "better",
    "p",
    "p_kind",
    "p_error",
    "p_parts",
    "p_unselected",
    "p_adjusted",
    "significant",
    "p_holm",
    "p_hochberg",
    "p_bh",
    "p_by",
    "p_bonferroni",
    "shuffles",
    "smallest_p",
    "relative_error_reduction",
    "units_won",
    "units_tied",
    "units_lost",
    "detectable",
    "margin",
    "p_a_not_worse",
    "a_not_worse",
    "p_b_not_worse",
    "b_not_worse",
    "assumed",
    "warnings",
)

EXACT = (
    "p_kind",
    "p_error",
    "shuffles",
    "smallest_p",
    "relative_error_reduction",
    "units_won",
    "units_tied",
    "units_lost",
)
"""Columns that are left out where the comparisons are shown rounded, without `smallest_p`."""


def csv_rows(documents: Sequence[Mapping[str, Any]]) -> bytes:
    """Return all pairs of all comparisons, with a header and all digits that the documents have."""
    columns, rows = comparison_rows(documents)
    return separated([columns, *([safe_value(row.get(column)) for column in columns] for row in rows)])


def comparison_rows(documents: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the columns that the documents have values for, and a row for each pair."""
    rounded = bool(documents) and not any("smallest_p" in document for document in documents)
    columns = [column for column in COLUMNS if not (rounded and column in EXACT)]
    return columns, [_flat_pair(document, pair) for document in documents for pair in document["pairs"]]


def _flat_pair(document: Mapping[str, Any], pair: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a pair by column."""
    ci, together = pair.get("ci") or {}, pair.get("ci_simultaneous") or {}
    tested = pair.get("noninferiority") or {}
    a, b = (tested.get(pair[side]) or {} for side in ("a", "b"))
    return {
        **pair,
        **(pair.get("effect") or {}),
        "score": document["score"],
        "ci_low": ci.get("low"),
        "ci_high": ci.get("high"),
        "ci_simultaneous_low": together.get("low"),
        "ci_simultaneous_high": together.get("high"),
        "detectable": (pair.get("detectable") or {}).get("difference"),
        "margin": tested.get("margin"),
        "p_a_not_worse": a.get("p_adjusted"),
        "a_not_worse": a.get("established"),
        "p_b_not_worse": b.get("p_adjusted"),
        "b_not_worse": b.get("established"),
        "assumed": document.get("assumed"),
        "warnings": " ".join(document["warnings"]),
    }


def separated(rows: Iterable[Sequence[Any]], delimiter: str = ",", end: str = "\r\n") -> bytes:
    """Return rows of values as CSV, or with another delimiter and line end."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerows(rows)
    return out.getvalue().encode()


def safe_value(value: Any) -> Any:
    """Return a number as it is, and text so that no spreadsheet takes it for a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return value
