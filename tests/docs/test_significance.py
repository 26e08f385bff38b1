"""The page on significance cites functions that exist, and holds the tables of the program that simulates them."""

from __future__ import annotations

import re

import numpy as np
from nulls import tables
from nulls.simulate import TABLES
from nulls.systems import LAS, outcome, systems

from tests.conftest import ROOT
from treescore.significance import Candidate

PAGE = (ROOT / "docs" / "significance.md").read_text(encoding="utf-8")
CITED = re.compile(r"\[`(\w+)`\]\(\.\./(treescore/[\w/]+\.py)\)")


def test_every_cited_function_exists():
    cited = CITED.findall(PAGE)
    assert cited
    for name, path in cited:
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}: {name}"


def test_the_notes_say_what_the_page_says_for_each_question():
    parts, apart = np.arange(60) % 8, [f"document {sentence}" for sentence in range(60)]
    seven = [f"document {sentence % 7}" for sentence in range(60)]
    two = systems(np.random.default_rng(1), 2, 60)
    asked = (
        (two, {"blocks": apart}),
        (two, {"blocks": seven}),
        (two, {"blocks": seven, "unit": "sentence"}),
        (two, {}),
        (two, {"blocks": ["document"] * 60}),
        (two, {}),
        ([Candidate(each.name, each.runs * 2) for each in two], {"blocks": apart}),
        (two, {"parts": parts}),
        (two, {"parts": parts, "unit": "part"}),
        (two, {"test": "mcnemar"}),
        ([each._replace(submissions=20) for each in two], {}),
    )
    questions = PAGE.partition("| the note that is then printed |")[2].partition("\n\n")[0]
    sentences = [line.rstrip(" |").rpartition(" | ")[2] for line in questions.splitlines()[2:]]
    for (candidates, settings), sentence in zip(asked, sentences, strict=True):
        assert sentence.replace("not LAS", "not las") in outcome(candidates, LAS, **settings)["notes"]


def test_every_section_of_formulas_cites_the_function_that_computes_them():
    formulas = PAGE.partition("## The formulas, and where they are computed")[2].partition("\n## ")[0]
    sections = re.split(r"^### ", formulas, flags=re.MULTILINE)[1:]
    assert sections
    assert [section.splitlines()[0] for section in sections if not CITED.search(section)] == []


def test_the_page_has_the_tables_that_the_program_prints():
    for table in TABLES.values():
        head, rule = tables.header(table)
        assert f"\n{head}\n{rule}\n" in PAGE, table.key
        block = PAGE.partition(f"\n{head}\n{rule}\n")[2].partition("\n\n")[0]
        assert [line.split(" | ")[0] for line in block.splitlines()] == [f"| {row.name}" for row in table.rows]


def test_every_figure_of_the_page_has_its_standard_error_and_is_bold_where_it_misses_its_goal():
    for table in TABLES.values():
        head, rule = tables.header(table)
        block = PAGE.partition(f"\n{head}\n{rule}\n")[2].partition("\n\n")[0]
        for line, row in zip(block.splitlines(), table.rows, strict=True):
            cells = [cell.strip() for cell in line.strip("|").split("|")][1:]
            assert len(cells) == len(table.columns)
            for cell in filter(None, cells):
                match = re.fullmatch(r"(\*\*)?(\d+\.\d) ± (\d+\.\d)(\*\*)?", cell)
                assert match, f"{table.key}: {cell}"
                share, error = float(match[2]) / 100, float(match[3]) / 100
                # the printed digits are rounded: only figures well beyond the limit must be bold
                if row.goal.missed(share, error + 0.0005):
                    assert match[1] == match[4] == "**", f"{table.key}: {row.name}: {cell}"
