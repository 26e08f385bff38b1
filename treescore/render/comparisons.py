"""Render comparison documents in a named format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from treescore.render.across import across_lines
from treescore.render.latex import comment, latex
from treescore.render.markdown import escaped, markdown
from treescore.render.rows import csv_rows
from treescore.render.text import text

Document = Mapping[str, Any]
_Writer = Callable[[Sequence[Document], Document | None], bytes]


@dataclass(frozen=True, slots=True)
class Rendered:
    """Bytes with their media type."""

    content: bytes
    media_type: str


def _joined(one: Callable[[Document], str], line: Callable[[str], str]) -> _Writer:
    """Return a writer of one document after the other, and lines of all of them as one family at the end."""

    def write(documents: Sequence[Document], across: Document | None) -> bytes:
        written = [one(document) for document in documents]
        if across is not None:
            written.append("".join(f"{line(each)}\n" for each in across_lines(across)))
        return "\n".join(written).encode()

    return write


def _json(documents: Sequence[Document], across: Document | None) -> bytes:
    whole = list(documents) if across is None else {"comparisons": list(documents), "across": across}
    return orjson.dumps(whole, option=orjson.OPT_APPEND_NEWLINE)


def _csv(documents: Sequence[Document], _across: Document | None) -> bytes:
    return csv_rows(documents)


def _picture(documents: Sequence[Document], _across: Document | None) -> bytes:
    # The drawing library takes a second to load, and most processes never draw.
    from treescore.render.picture import picture  # noqa: PLC0415

    return picture(documents)


_WRITERS: Mapping[str, tuple[str, _Writer]] = {
    "json": ("application/json", _json),
    "text": ("text/plain; charset=utf-8", _joined(text, str)),
    "markdown": ("text/markdown; charset=utf-8", _joined(markdown, lambda line: f"- {escaped(line)}")),
    "latex": ("application/x-latex; charset=utf-8", _joined(latex, comment)),
    "csv": ("text/csv; charset=utf-8", _csv),
    "svg": ("image/svg+xml", _picture),
}

FORMATS: Mapping[str, str] = {name: media_type for name, (media_type, _) in _WRITERS.items()}
"""Format name -> media type."""


def render_comparisons(documents: Sequence[Document], form: str, across: Document | None = None) -> Rendered:
    """Render comparison documents in one of FORMATS; the same documents give the same bytes.

    Args:
        documents: the comparisons.
        form: a format; CSV and SVG hold the comparisons alone.
        across: all of them as one family, shown after them.

    Raises:
        KeyError: an unknown format.
    """
    media_type, write = _WRITERS[form]
    return Rendered(write(documents, across), media_type)
