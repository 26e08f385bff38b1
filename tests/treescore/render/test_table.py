"""The one writer of tables: widths, escapes, semantics, figures."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

from treescore.core.wording import FRACTION, IN_FRACTIONS, PERCENT, figures_of
from treescore.render.table import TABLE_FORMS, Column, Table

WIDE = Table(
    "Caption <b> & 5 %",
    [Column("name"), Column("LAS", numeric=True)],
    [["系统", "9.00"], ["e\u0301tat", "10.50"], ["a\nb\x07", "-"]],
    warnings=["Beware | <i>."],
    notes=["Signature: x_1"],
)


def test_columns_are_aligned_by_what_a_terminal_shows() -> None:
    lines = TABLE_FORMS["text"](WIDE).splitlines()
    grid = [line for line in lines if line.endswith(("LAS", "9.00", "10.50", "-"))]
    assert [cell_len(line) for line in grid] == [11] * 4
    assert lines[0] == "Caption <b> & 5 %"
    assert lines[1] == "Warning: Beware | <i>."
    assert "a b" in lines[6]


def test_html_is_escaped_and_says_what_is_a_head() -> None:
    html = TABLE_FORMS["html"](WIDE)
    assert "<caption" in html
    assert "<b>" not in html
    assert "<i>" not in html
    assert html.count('scope="col"') == 2
    assert html.count('scope="row"') == 3
    assert not re.search(r"color|background", html)
    assert '<div style="overflow-x:auto">\n<table>' in html
    assert html.index("Beware") < html.index("<table>") < html.index("Signature")


def test_latex_and_markdown_escape_everything() -> None:
    latex = TABLE_FORMS["latex"](WIDE)
    assert "\\noindent\\textbf{Warning:} Beware \\textbar{} \\textless{}i\\textgreater{}." in latex
    assert "Signature: x\\_1" in latex
    assert latex.count("\\toprule") == latex.count("\\bottomrule") == 1
    markdown = TABLE_FORMS["markdown"](WIDE)
    assert "| --- | ---: |" in markdown
    assert "**Warning:** Beware \\| \\<i\\>." in markdown


@pytest.mark.parametrize("form", TABLE_FORMS)
def test_a_table_without_rows_still_says_what_it_would_show(form: str) -> None:
    shown = TABLE_FORMS[form](Table("Nothing found", [], [], ["Beware."], ["Why."]))
    assert all(words in shown for words in ("Nothing found", "Beware.", "Why."))


def test_figures_are_in_percent_only_for_shares() -> None:
    assert figures_of(PERCENT, share=True).value(0.87654) == "87.65"
    assert figures_of(PERCENT, share=False).value(2.444) == "2.44"
    assert figures_of(FRACTION, share=True) is IN_FRACTIONS
    assert IN_FRACTIONS.value(0.87654) == "0.8765"
    assert IN_FRACTIONS.value(None) == "-"
    assert (IN_FRACTIONS.interval(0.1, None), IN_FRACTIONS.interval(None, None)) == ("[0.1000, inf]", "-")
    assert (IN_FRACTIONS.interval(1e-7, 0.1), IN_FRACTIONS.interval(0.0, 0.1)) == (
        "[1e-07, 0.1000]",
        "[0.0000, 0.1000]",
    )


def test_a_difference_that_is_not_0_is_never_shown_as_0() -> None:
    percent = figures_of(PERCENT, share=True)
    assert percent.signed(0.0) == percent.signed(-0.0) == "0.00"
    assert percent.signed(-0.00001) == "-0.001"
    assert percent.signed(-0.0123) == "-1.23"
    assert IN_FRACTIONS.signed(1e-7) == "+1e-07"
