"""Render a matrix as JSON, CSV, TSV, Markdown or LaTeX.

CSV and TSV have a row for each submission, for programs. Markdown and LaTeX have a row for each part: a page holds more
parts than columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.contract.leaderboards import Matrix, MatrixRow
from service.render.leaderboard import Forms, missing_note, parts_words, sheet_headline, shown_as, stepped, team_words
from treescore.core.wording import one_line
from treescore.render.heat_maps import by_part, matrix_svg
from treescore.render.table import Column, Table

MATRIX_COLUMNS = (
    *("rank", "role", "team", "team_name", "submission", "name"),
    *("score", "scored_parts", "parts", "missing_parts"),
)
"""Columns of CSV and TSV. The parts follow, under `part:` and their names, so that none has the name of a column."""


def _flat_matrix_rows(document: Matrix) -> Iterator[Sequence[object]]:
    """Yield the header, then all rows with unrounded numbers."""
    yield [*MATRIX_COLUMNS, *(f"part:{part['name']}" for part in document["parts"])]
    for row in document["rows"]:
        flat: dict[str, object] = {**row, "parts": len(document["parts"]), "missing_parts": parts_words(row)}
        values = [*(flat[column] for column in MATRIX_COLUMNS), *row["values"]]
        yield [one_line(value) if isinstance(value, str) else value for value in values]


def matrix_headline(document: Matrix) -> str:
    """Describe the matrix in one line."""
    return sheet_headline(document, f"{document['score']} by part")


def matrix_notes(document: Matrix) -> list[str]:
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


def _matrix_picture(document: Matrix) -> bytes:
    return matrix_svg(document, share=shown_as(document["score"]).in_percent).encode()


def _matrix_table(document: Matrix, _form: str) -> Table:
    """Return a row for each part, a column for each system, and the score that ranks at the end."""
    step, rows = document["rounding"], document["rows"]
    names = [*(part["name"] for part in document["parts"]), document["part"] or "all"]
    lines = [*zip(names, [*by_part(document), [row["score"] for row in rows]], strict=True)]
    return Table(
        matrix_headline(document),
        [Column("part"), *(Column(_matrix_system(row), numeric=True) for row in rows)],
        [[name, *(stepped(value, step) for value in values)] for name, values in lines],
        notes=matrix_notes(document),
        rules={len(lines) - 1} - {0},
        commented=True,
    )


def _matrix_system(row: MatrixRow) -> str:
    """Name a system in one line: its team, or where that is not shown its submission."""
    named = ": ".join(filter(None, (team_words(row), one_line(row["name"] or ""))))
    return named if row["team"] or row["role"] == "baseline" else row["submission"]


render_matrix = Forms(_flat_matrix_rows, _matrix_table, _matrix_picture).render
