"""Tables on a terminal fit its width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from treescore.cli.inspection import LEAST, fitted
from treescore.render.table import Column, Table, text_table

CELLS = st.text(st.characters(categories=("L", "M", "N")), max_size=60)


def widths(table: Table) -> list[int]:
    return [cell_len(line) for line in text_table(table).splitlines() if line]


@given(st.lists(st.tuples(CELLS, CELLS, st.integers(0, 10**6).map(str)), min_size=1, max_size=5), st.integers(1, 120))
def test_lines_fit_where_cells_can_be_shortened(rows: list[tuple[str, str, str]], width: int) -> None:
    table = Table("", [Column("a"), Column("b"), Column("n", numeric=True)], rows)
    shown = fitted(table, width)
    assert len(shown.rows) == len(rows)
    assert [row[2] for row in shown.rows] == [row[2] for row in rows]
    if width >= 2 * LEAST + 7 + 2 * 2:
        assert max(widths(shown)) <= width
    if max(widths(table)) <= width:
        assert text_table(shown) == text_table(table)


def test_a_shortened_cell_says_so_and_a_name_is_left_out_last() -> None:
    heads = [Column("item", numeric=True), Column("sent id"), Column("deprel of the output")]
    table = Table("", heads, [("1", "weblog-2006-0001-a-long-name", "obl")])
    assert text_table(fitted(table, 50)).splitlines()[1] == "   1  weblog-…01-a-long-name  obl"
    assert text_table(fitted(table, 30)).splitlines() == ["item  deprel of the output", "   1  obl"]
    assert fitted(table, 5).heads == ["item", "deprel of the output"]
