"""Render a leaderboard's document as JSON, CSV, TSV, Markdown, LaTeX or SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import orjson

from service.render.documents import BoardDocument
from service.render.leaderboard_picture import board_picture
from service.render.leaderboard_rows import (
    HEADS,
    Row,
    board_headline,
    board_notes,
    board_rows,
    claim_of,
    parts_words,
    shown_columns,
)
from treescore.render.comparisons import Rendered
from treescore.render.latex import comment, latex_escaped, preamble, tabular
from treescore.render.markdown import markdown_escaped, pipe_table
from treescore.render.rows import safe_value, separated

BOARD_COLUMNS = (
    "rank",
    "rank_low",
    "rank_high",
    "cluster",
    "role",
    "team",
    "team_name",
    "submission",
    "name",
    "created_at",
    "score",
    "covered",
    "scored_parts",
    "parts",
    "missing_parts",
    "ci95_low",
    "ci95_high",
    "p_next",
    "detectable",
    "considered",
    "runs",
    "runs_sd",
    "tested",
    "assumed",
)
"""Columns of CSV and TSV. The score addresses follow. What is assumed is the same in all rows of a board."""


def _board_json(document: BoardDocument) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)


def _board_csv(document: BoardDocument) -> bytes:
    return separated(_flat_board_rows(document))


def _board_tsv(document: BoardDocument) -> bytes:
    return separated(_flat_board_rows(document), "\t", "\n")


def _flat_board_rows(document: BoardDocument) -> Iterator[Sequence[object]]:
    """Yield the header, then all rows with unrounded numbers."""
    addresses = document["scores"]
    assumed = document["significance"]["assumed"]
    yield [*BOARD_COLUMNS, *addresses]
    for row in document["rows"]:
        interval, ranks, detectable = row["ci95"], row["rank_interval"] or (None, None), row["detectable"]
        flat: dict[str, object] = {
            **row,
            "rank_low": ranks[0],
            "rank_high": ranks[1],
            "runs": row["runs"] and row["runs"]["count"],
            "runs_sd": row["runs"] and row["runs"]["sd"],
            "ci95_low": interval and interval["low"],
            "ci95_high": interval and interval["high"],
            "detectable": detectable and detectable["difference"],
            "assumed": assumed,
            "parts": len(document["parts"]),
            "missing_parts": parts_words(row),
        }
        values = [*(flat[column] for column in BOARD_COLUMNS), *(row["scores"].get(address) for address in addresses)]
        yield [_one_line(safe_value(value)) for value in values]


def _one_line(value: object) -> object:
    """Replace tabs and line ends in text: not every reader of TSV accepts them in quotes."""
    return " ".join(value.split()) if isinstance(value, str) else value


def _board_markdown(document: BoardDocument) -> bytes:
    rows = board_rows(document)
    kept = shown_columns(rows)
    table = pipe_table([HEADS[at] for at in kept], [[markdown_escaped(row.cells[at]) for at in kept] for row in rows])
    blocks = [f"**{markdown_escaped(board_headline(document))}**", table]
    blocks.append("\n".join(f"- {markdown_escaped(note)}" for note in board_notes(document)))
    return ("\n\n".join(block for block in blocks if block) + "\n").encode()


def _board_latex(document: BoardDocument) -> bytes:
    """Write a table for a paper (booktabs) with a rule between clusters, and what is assumed as a paragraph below."""
    rows = board_rows(document)
    kept = [at for at in shown_columns(rows) if HEADS[at] != "cluster"]
    align = "".join("l" if HEADS[at] in ("team", "submission") else "r" for at in kept)
    heads = [latex_escaped(HEADS[at]) for at in kept]
    cells = [[_latex_cell(row, at) for at in kept] for row in rows]
    table = tabular(align, heads, cells, lambda index: rows[index].begins_cluster)
    claim = claim_of(document)
    below = ["", latex_escaped(claim)] if claim else []
    others = [comment(line) for line in board_notes(document) if line != claim]
    lines = [*preamble(board_headline(document)), *table, *below, *others]
    return ("\n".join(lines) + "\n").encode()


def _latex_cell(row: Row, at: int) -> str:
    words = latex_escaped(row.cells[at])
    if HEADS[at] == "ranks":
        words = words.replace("-", "--") if words != "-" else words
    return f"\\textit{{{words}}}" if row.baseline and HEADS[at] in ("team", "submission") and words else words


_BOARD_WRITERS: Mapping[str, tuple[str, Callable[[BoardDocument], bytes]]] = {
    "json": ("application/json", _board_json),
    "csv": ("text/csv; charset=utf-8", _board_csv),
    "tsv": ("text/tab-separated-values; charset=utf-8", _board_tsv),
    "markdown": ("text/markdown; charset=utf-8", _board_markdown),
    "latex": ("application/x-latex; charset=utf-8", _board_latex),
    "svg": ("image/svg+xml", board_picture),
}

LEADERBOARD_FORMATS: Mapping[str, str] = {name: media_type for name, (media_type, _) in _BOARD_WRITERS.items()}
"""Format name -> media type."""


def render_leaderboard(document: BoardDocument, form: str) -> Rendered:
    """Render a leaderboard in one of LEADERBOARD_FORMATS; equal documents give equal bytes.

    Raises:
        KeyError: the format is unknown.
    """
    media_type, write = _BOARD_WRITERS[form]
    return Rendered(write(document), media_type)
