"""Render comparisons and items (sentences with what a metric shows of them) in the form that a caller names.

Items are for programs: one JSON document a line, or CSV. Comparisons as CSV have one row a pair.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from treescore.render.comparison_pictures import picture
from treescore.render.table import CSV, HTML, LATEX, MARKDOWN, TABLE_FORMS, TEXT, separated
from treescore.render.tables import across_table, comparison_tables

PAIR_COLUMNS = (
    *("score", "a", "b", "score_a", "score_b", "difference", "difference_tested"),
    *("ci_low", "ci_high", "ci_adjusted_low", "ci_adjusted_high", "se", "df", "divisor", "better"),
    *("p", "p_kind", "p_error", "p_parts", "p_unselected", "p_adjusted", "significant"),
    *("p_holm", "p_hochberg", "p_bh", "p_by", "p_bonferroni", "shuffles", "smallest_p"),
    *("relative_error_reduction", "units_won", "units_tied", "units_lost", "detectable"),
    *("margin", "p_a_not_worse", "a_not_worse", "p_b_not_worse", "b_not_worse", "notes", "warnings"),
)


def csv_rows(documents: Sequence[Mapping[str, Any]]) -> bytes:
    """Return all pairs of all comparisons, with a header and all digits that the documents have."""
    columns, rows = comparison_rows(documents)
    return separated([columns, *([row.get(column) for column in columns] for row in rows)])


def comparison_rows(documents: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the columns, where figures are rounded those that are shown, and a row for each pair."""
    rows = [_flat_pair(document, pair) for document in documents for pair in document["pairs"]]
    rounded = bool(documents) and all(document.get("rounded") for document in documents)
    return [column for column in PAIR_COLUMNS if not rounded or any(column in row for row in rows)], rows


def _flat_pair(document: Mapping[str, Any], pair: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a pair by column."""
    ci, adjusted = pair.get("ci") or {}, pair.get("ci_adjusted") or {}
    tested = pair.get("noninferiority") or {}
    a, b = (tested.get(pair[side]) or {} for side in ("a", "b"))
    return {
        **pair,
        **(pair.get("effect") or {}),
        "score": document["score"],
        "ci_low": ci.get("low"),
        "ci_high": ci.get("high"),
        "ci_adjusted_low": adjusted.get("low"),
        "ci_adjusted_high": adjusted.get("high"),
        "detectable": (pair.get("detectable") or {}).get("difference"),
        "margin": tested.get("margin"),
        "p_a_not_worse": a.get("p_adjusted"),
        "a_not_worse": a.get("established"),
        "p_b_not_worse": b.get("p_adjusted"),
        "b_not_worse": b.get("established"),
        "notes": " ".join(document["notes"]),
        "warnings": " ".join(document["warnings"]),
    }


Document = Mapping[str, Any]
_Writer = Callable[[Sequence[Document], Document | None, Container[str]], bytes]


@dataclass(frozen=True, slots=True)
class Rendered:
    """Bytes with their media type."""

    content: bytes
    media_type: str


def _tables(form: str) -> _Writer:
    """Return a writer of one comparison after the other, and lines of all of them as one family at the end."""

    def write(documents: Sequence[Document], across: Document | None, shares: Container[str]) -> bytes:
        tables = [table for document in documents for table in comparison_tables(document, shares, form)]
        tables += [] if across is None else [across_table(across, form)]
        return ("" if form == HTML else "\n").join(map(TABLE_FORMS[form], tables)).encode()

    return write


def _json(documents: Sequence[Document], across: Document | None, _shares: Container[str]) -> bytes:
    whole = list(documents) if across is None else {"comparisons": list(documents), "across": across}
    return orjson.dumps(whole, option=orjson.OPT_APPEND_NEWLINE)


_COMPARISON_WRITERS: Mapping[str, tuple[str, _Writer]] = {
    "json": ("application/json", _json),
    TEXT: ("text/plain; charset=utf-8", _tables(TEXT)),
    MARKDOWN: ("text/markdown; charset=utf-8", _tables(MARKDOWN)),
    LATEX: ("application/x-latex; charset=utf-8", _tables(LATEX)),
    CSV: ("text/csv; charset=utf-8", lambda documents, _across, _shares: csv_rows(documents)),
    "svg": ("image/svg+xml", lambda documents, _across, shares: picture(documents, shares)),
}

FORMATS: Mapping[str, str] = {name: media_type for name, (media_type, _) in _COMPARISON_WRITERS.items()}
"""Format name -> media type: what a service sends."""
_VIEWS: Mapping[str, tuple[str, _Writer]] = {**_COMPARISON_WRITERS, HTML: ("text/html; charset=utf-8", _tables(HTML))}
"""The formats, and the fragment of HTML that a notebook shows."""


def render_comparisons(
    documents: Sequence[Document], form: str, across: Document | None = None, shares: Container[str] = ()
) -> Rendered:
    """Render comparison documents in one of the FORMATS or as HTML; the same documents give the same bytes.

    Args:
        documents: the comparisons.
        form: a format; CSV and SVG hold the comparisons alone.
        across: all of them as one family, shown after them.
        shares: scores whose figures people see in percent; JSON and CSV hold fractions.

    Raises:
        KeyError: an unknown format.
    """
    media_type, write = _VIEWS[form]
    return Rendered(write(documents, across, shares), media_type)


Item = Mapping[str, Any]


def _item_lines(items: Sequence[Item]) -> bytes:
    return b"".join(orjson.dumps(item, option=orjson.OPT_APPEND_NEWLINE) for item in items)


def _items_table(items: Sequence[Item]) -> bytes:
    """Write a column for each number or text, named by its path (`scores.las`); lists are JSON in their cell."""
    flat = [_flat_item(item) for item in items]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    return separated([columns, *([row.get(column) for column in columns] for row in flat)])


def _flat_item(item: Item) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = list(reversed(list(item.items())))
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [(f"{path}.{name}", inner) for name, inner in reversed(list(value.items()))]
        else:
            columns[path] = orjson.dumps(value).decode() if isinstance(value, list) else value
    return columns


_ITEM_WRITERS: Mapping[str, tuple[str, Callable[[Sequence[Item]], bytes]]] = {
    "ndjson": ("application/x-ndjson", _item_lines),
    CSV: ("text/csv; charset=utf-8", _items_table),
}

ITEM_FORMATS: Mapping[str, str] = {name: media_type for name, (media_type, _) in _ITEM_WRITERS.items()}
"""Format name -> media type; JSON is the page itself."""


def render_items(items: Sequence[Item], form: str) -> Rendered:
    """Render a page of items in one of ITEM_FORMATS.

    Raises:
        KeyError: an unknown format.
    """
    media_type, write = _ITEM_WRITERS[form]
    return Rendered(write(items), media_type)
