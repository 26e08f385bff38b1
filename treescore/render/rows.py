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
    "ci_low",
    "ci_high",
    "better",
    "p",
    "p_kind",
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
)

EXACT = ("p_kind", "shuffles", "smallest_p", "relative_error_reduction", "units_won", "units_tied", "units_lost")
"""Columns that are left out where the comparisons are shown rounded, without `smallest_p`."""


def csv_rows(documents: Sequence[Mapping[str, Any]]) -> bytes:
    """Return all pairs of all comparisons, with a header and all digits that the documents have."""
    rounded = bool(documents) and not any("smallest_p" in document for document in documents)
    columns = [column for column in COLUMNS if not (rounded and column in EXACT)]
    rows: list[Sequence[Any]] = [columns]
    for document in documents:
        for pair in document["pairs"]:
            ci = pair.get("ci") or {}
            flat = {
                **pair,
                **(pair.get("effect") or {}),
                "score": document["score"],
                "ci_low": ci.get("low"),
                "ci_high": ci.get("high"),
            }
            rows.append([safe_value(flat.get(column)) for column in columns])
    return separated(rows)


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
