"""Render a matrix as JSON, CSV, TSV, Markdown or LaTeX.

CSV and TSV have a row for each submission, for programs. Markdown and LaTeX have a row for each part: a page holds more
parts than columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from service.render.documents import MatrixDocument, MatrixRowDocument, flat_writers
from service.render.leaderboard import direction_of, missing_note, parts_words, shown_as, stepped, team_words
from treescore.core.wording import one_line
from treescore.render.forms import Rendered, safe_value
from treescore.render.heat_maps import matrix_svg
from treescore.render.text import comment, latex_escaped, markdown_escaped, pipe_table, preamble, tabular

MATRIX_COLUMNS = (
    *("rank", "role", "team", "team_name", "submission", "name"),
    *("score", "scored_parts", "parts", "missing_parts"),
)
"""Columns of CSV and TSV. The parts follow, under `part:` and their names, so that none has the name of a column."""


def _flat_matrix_rows(document: MatrixDocument) -> Iterator[Sequence[object]]:
    """Yield the header, then all rows with unrounded numbers."""
    yield [*MATRIX_COLUMNS, *(f"part:{part['name']}" for part in document["parts"])]
    for row in document["rows"]:
        flat: dict[str, object] = {**row, "parts": len(document["parts"]), "missing_parts": parts_words(row)}
        values = [*(flat[column] for column in MATRIX_COLUMNS), *row["values"]]
        yield [one_line(safe_value(value)) if isinstance(value, str) else safe_value(value) for value in values]


def matrix_headline(document: MatrixDocument) -> str:
    """Describe the matrix in one line."""
    better = direction_of(document)
    said = [f"{one_line(document['title'])}: {document['score']} by part ({better})"]
    said.append(f"revision {document['revision']}")
    if document["split"] is not None:
        said.append(f"{document['split']} share")
    if document["as_of"] is not None:
        said.append(f"as of {document['as_of']}")
    if document["frozen"]:
        said.append("frozen")
    return "; ".join(said)


def matrix_notes(document: MatrixDocument) -> list[str]:
    """Return the notes below the table."""
    lines = []
    if document["hidden"]:
        lines.append(
            f"Not shown, because of few sentences: {', '.join(document['hidden'])}. Figures of such parts are shown "
            "from feedback level items on."
        )
    missing = missing_note([(_matrix_system(row), row) for row in document["rows"]], len(document["parts"]))
    if missing:
        lines.append(missing)
    if document["next"] is not None:
        lines.append(f"{len(document['rows'])} of {document['total_rows']} rows; next cursor: {document['next']}.")
    return lines


def _matrix_markdown(document: MatrixDocument) -> bytes:
    heads, cells = _table(document)
    table = pipe_table(
        list(map(markdown_escaped, heads)), [list(map(markdown_escaped, row)) for row in cells],
        [False, *[True] * (len(heads) - 1)],
    )  # fmt: skip
    blocks = [f"**{markdown_escaped(matrix_headline(document))}**", table]
    blocks.append("\n".join(f"- {markdown_escaped(note)}" for note in matrix_notes(document)))
    return ("\n\n".join(block for block in blocks if block) + "\n").encode()


def _matrix_latex(document: MatrixDocument) -> bytes:
    heads, cells = _table(document)
    rows = [list(map(latex_escaped, row)) for row in cells]
    last = len(rows) - 1
    table = tabular(
        "l" + "r" * (len(heads) - 1), list(map(latex_escaped, heads)), rows, lambda index: 0 < index == last
    )
    lines = [*preamble(matrix_headline(document)), *table, *map(comment, matrix_notes(document))]
    return ("\n".join(lines) + "\n").encode()


def _matrix_picture(document: MatrixDocument) -> bytes:
    return matrix_svg(document, share=shown_as(document["score"]).in_percent).encode()


def _table(document: MatrixDocument) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows: a row for each part, a column for each system, and the score that ranks at the end."""
    step, rows = document["rounding"], document["rows"]
    heads = ["part", *map(_matrix_system, rows)]
    cells = [
        [part["name"], *(stepped(row["values"][at], step) for row in rows)] for at, part in enumerate(document["parts"])
    ]
    return heads, [*cells, [document["part"] or "all", *(stepped(row["score"], step) for row in rows)]]


def _matrix_system(row: MatrixRowDocument) -> str:
    """Name a system in one line: its team, or where that is not shown its submission."""
    named = ": ".join(filter(None, (team_words(row), one_line(row["name"] or ""))))
    return named if row["team"] or row["role"] == "baseline" else row["submission"]


_MATRIX_WRITERS: Mapping[str, tuple[str, Callable[[MatrixDocument], bytes]]] = {
    **flat_writers(_flat_matrix_rows),
    "markdown": ("text/markdown; charset=utf-8", _matrix_markdown),
    "latex": ("application/x-latex; charset=utf-8", _matrix_latex),
    "svg": ("image/svg+xml", _matrix_picture),
}

MATRIX_FORMATS: Mapping[str, str] = {name: media_type for name, (media_type, _) in _MATRIX_WRITERS.items()}
"""Format name -> media type."""


def render_matrix(document: MatrixDocument, form: str) -> Rendered:
    """Render a matrix in one of MATRIX_FORMATS; equal documents give equal bytes.

    Raises:
        KeyError: the format is unknown.
    """
    media_type, write = _MATRIX_WRITERS[form]
    return Rendered(write(document), media_type)
