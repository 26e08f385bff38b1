"""The table of a page as a file: CSV, TSV, Markdown or LaTeX, with the cells that the page shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

from flask import Response

from service.contract.leaderboards import SHEET_FORMATS
from service.pages.answers import EXPORT_NAMES, export
from service.usecases.runs import body_view
from treescore.render.drawing import MINUS
from treescore.render.table import CSV, LATEX, MARKDOWN, TABLE_FORMS, TSV, Marked, Table, separated

TABLES = (CSV, TSV, MARKDOWN, LATEX)
"""Formats in which the table is exported as the page shows it; the others are the API's."""


def table_links(address: str, query: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return names and addresses of the files of a table.

    Args:
        address: that answers with them.
        query: of the page, whose state they have.
    """
    members = {name: value for name, value in query.items() if name not in ("version", "format") and value}
    return [(EXPORT_NAMES[form], f"{address}?{urlencode({**members, 'format': form})}") for form in TABLES]


def table_file(table: Table, form: str, name: str) -> Response:
    """Return a table as a page shows it, without its pictures, in one of TABLES, as a file of this name.

    Args:
        table: its claim is what stands with it on the page, in files for people.
        form: one of TABLES. In CSV and TSV figures are numbers as shown.
        name: of the file.
    """
    return export(body_view(table_bytes(table, form), SHEET_FORMATS[form]), name)


def table_bytes(table: Table, form: str) -> bytes:
    """Return what a file of a table holds; below it in Markdown stands its caption, too."""
    if form == MARKDOWN:
        return TABLE_FORMS[form](replace(table, caption="", claim=[table.caption, *table.claim])).encode()
    if form == LATEX:
        *head, lines = TABLE_FORMS[form](table).split("\n", 2)
        return "\n".join([*head, lines.replace("–", "--").replace(MINUS, "$-$")]).encode()
    numeric = [column.numeric for column in table.columns]
    figures = [
        [Marked(cell.replace(MINUS, "-")) if figure else cell for cell, figure in zip(line, numeric, strict=True)]
        for line in table.rows
    ]
    return separated([table.heads, *figures], form)
