"""Render comparison documents in a named format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from treescore.render.latex import latex
from treescore.render.markdown import markdown
from treescore.render.rows import csv_rows
from treescore.render.text import text

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rendered:
    """Bytes with their media type."""

    content: bytes
    media_type: str


def _joined(one: Callable[[Document], str]) -> Callable[[Sequence[Document]], bytes]:
    return lambda documents: "\n".join(one(document) for document in documents).encode()


def _json(documents: Sequence[Document]) -> bytes:
    return orjson.dumps(list(documents), option=orjson.OPT_APPEND_NEWLINE)


def _picture(documents: Sequence[Document]) -> bytes:
    # The drawing library takes a second to load, and most processes never draw.
    from treescore.render.picture import picture  # noqa: PLC0415

    return picture(documents)


_WRITERS: Mapping[str, tuple[str, Callable[[Sequence[Document]], bytes]]] = {
    "json": ("application/json", _json),
    "text": ("text/plain; charset=utf-8", _joined(text)),
    "markdown": ("text/markdown; charset=utf-8", _joined(markdown)),
    "latex": ("application/x-latex; charset=utf-8", _joined(latex)),
    "csv": ("text/csv; charset=utf-8", csv_rows),
    "svg": ("image/svg+xml", _picture),
}

FORMATS: Mapping[str, str] = {name: media_type for name, (media_type, _) in _WRITERS.items()}
"""Format name -> media type."""


def render_comparisons(documents: Sequence[Document], form: str) -> Rendered:
    """Render comparison documents in one of FORMATS; the same documents give the same bytes.

    Raises:
        KeyError: an unknown format.
    """
    media_type, write = _WRITERS[form]
    return Rendered(write(documents), media_type)
