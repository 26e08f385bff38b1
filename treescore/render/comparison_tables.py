"""A comparison as tables: the systems by rank, and the cross-table of their pairs."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from treescore.render.across import across_lines
from treescore.render.crosstable import (
    INTERVAL,
    CrossTable,
    cross_table,
    dagger_line,
    headline,
    notes,
    signature_lines,
    system_table,
)
from treescore.render.sentences import sentences
from treescore.render.tables import Column, Table
from treescore.render.text import legend, pair_rows


def comparison_tables(document: Mapping[str, Any], shares: Container[str] = ()) -> list[Table]:
    """Return the tables of a comparison; warnings stand above the first, what is said below the last.

    Args:
        document: the comparison.
        shares: scores whose figures are written in percent.
    """
    table = cross_table(document, shares)
    heads, rows = system_table(table)
    columns = [Column(head, numeric=head not in ("system", "runs") and not head.endswith(INTERVAL)) for head in heads]
    cluster = [system.get("cluster") for system in table.systems]
    if any(each is not None for each in cluster):
        columns.append(Column("cluster", numeric=True))
        rows = [[*row, str(each)] for row, each in zip(rows, cluster, strict=True)]
    said = [*sentences(table), *notes(document), *signature_lines(document)]
    warnings = document["warnings"]
    if len(table.systems) <= 2 or not table.cells:
        found = dagger_line(table)
        return [Table(headline(table), columns, rows, warnings, [*([found] if found else []), *said])]
    return [Table(headline(table), columns, rows, warnings), _pairs_table(table, said)]


def _pairs_table(table: CrossTable, said: list[str]) -> Table:
    columns = [Column(""), *map(Column, table.names[1:])]
    return Table(legend(table), columns, pair_rows(table, table.names), notes=said)


def across_table(document: Mapping[str, Any]) -> Table:
    """Return the comparisons of several scores as one family: lines below a head, no cells."""
    head, *lines = across_lines(document)
    return Table(head, [], [], notes=lines)
