"""Render items (sentences with what a metric shows of them) for programs: one JSON document a line, or CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from treescore.render.comparisons import Rendered
from treescore.render.rows import safe_value, separated

Item = Mapping[str, Any]


def _lines(items: Sequence[Item]) -> bytes:
    return b"".join(orjson.dumps(item, option=orjson.OPT_APPEND_NEWLINE) for item in items)


def _items_table(items: Sequence[Item]) -> bytes:
    """Write a column for each number or text, named by its path (`scores.las`); lists are JSON in their cell."""
    flat = [_flat_item(item) for item in items]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    rows: list[list[Any]] = [columns, *([row.get(column) for column in columns] for row in flat)]
    return separated([safe_value(value) for value in row] for row in rows)


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
    "ndjson": ("application/x-ndjson", _lines),
    "csv": ("text/csv; charset=utf-8", _items_table),
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
