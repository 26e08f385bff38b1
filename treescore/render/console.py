"""Tables for a terminal that knows rich."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from treescore.core.wording import one_line
from treescore.render.tables import Table
from treescore.render.text import text_warning


def renderable(tables: Sequence[Table]) -> RenderableType:
    """Return tables with their warnings above and their notes below; names are never taken for markup."""
    return Group(*(part for table in tables for part in _table_parts(table)))


def _table_parts(table: Table) -> list[RenderableType]:
    parts: list[RenderableType] = [Text(text_warning(words), "bold yellow") for words in table.warnings]
    if table.caption:
        parts.append(Text(one_line(table.caption), "bold"))
    grid = RichTable(box=None, pad_edge=False)
    for column, head in zip(table.columns, table.heads, strict=True):
        grid.add_column(Text(head), justify="right" if column.numeric else "left")
    for row in table.cells:
        grid.add_row(*map(Text, row))
    if table.rows:
        parts.append(grid)
    return [*parts, *(Text(one_line(note), "dim") for note in table.notes)]
