"""A leaderboard in every form: what it must say, where lines are drawn, and that nothing in a name breaks it."""

from __future__ import annotations

import csv
import io
from typing import Any

import orjson
import pytest

from service.contract.leaderboards import SHEET_FORMATS
from service.render import render_leaderboard

HOSTILE = '=1+1 & 100% of $x_1$ {a} <b> "c" \\d | e\t~^#\nnext'

NOTES = [
    "Tested over 1200 documents: a marked difference would be found again in other documents like these.",
    "sub_2 and sub_3 differ in 5 sentences only, so that p cannot be below 0.06.",
]


def row(rank: int | None, score: float | None, cluster: int | None = None, **more: Any) -> dict[str, Any]:
    """One row of a board."""
    return {
        "rank": rank,
        "rank_interval": None if cluster is None else [rank, (rank or 0) + 1],
        "cluster": cluster,
        "role": "baseline" if rank is None and score is not None else "system",
        "team": "lyon",
        "team_name": "Lyon",
        "submission": f"sub_{rank}",
        "name": "biaffine",
        "created_at": "2026-11-01T00:00:00.000Z",
        "score": score,
        "scores": {"ud.las_f1": score, "ud.uas_f1": None},
        "covered": None if score is None else "59/60" if rank == 3 else "60/60",
        "missing_parts": None if score is None else ["de"] if rank == 3 else [],
        "scored_parts": None if score is None else 1 if rank == 3 else 2,
        "ci95": None if score is None else {"low": score - 0.01, "high": score + 0.01},
        "p_next": 0.01 if cluster == 1 else None,
        "detectable": {"difference": 0.0123, "power": 0.8, "alpha": 0.05 / 3} if cluster == 1 else None,
        "considered": 3,
        "runs": None,
        "tested": cluster is not None,
        "reason": None,
        **more,
    }


def board(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A board with these rows."""
    significance = {
        "pending": False, "as_of": None, "test": "permutation", "alternative": "two-sided", "unit": "block",
        "unit_count": 1200, "notes": NOTES, "correction": "holm", "alpha": 0.05, "pairs": 3,
        "first_rows": 50, "reason": None,
    }  # fmt: skip
    return {
        "benchmark": "demo",
        "title": "Demo",
        "score": "ud.las_f1",
        "higher_is_better": True,
        "one_sided": False,
        "revision": 1,
        "part": "macro",
        "parts": ["en", "de"],
        "pick": "best",
        "split": None,
        "rounding": None,
        "feedback": "gold",
        "as_of": "2026-11-02T00:00:00.000Z",
        "frozen": False,
        "anonymous": False,
        "significance": significance,
        "scores": ["ud.las_f1", "ud.uas_f1"],
        "total_rows": len(rows),
        "next": None,
        "rows": list(rows),
        **more,
    }


BOARD = board(row(1, 0.9, 1), row(None, 0.85), row(2, 0.8, 2), row(3, 0.79, 2), row(None, None, role="system"))


def rendered(form: str, document: dict[str, Any]) -> str:
    return render_leaderboard(document, form).content.decode()


@pytest.mark.parametrize("form", SHEET_FORMATS)
def test_the_same_board_gives_the_same_bytes(form: str) -> None:
    first, second = render_leaderboard(BOARD, form), render_leaderboard(BOARD, form)
    assert first.content == second.content
    assert first.media_type == SHEET_FORMATS[form]


@pytest.mark.parametrize("form", ["markdown", "latex", "svg"])
def test_a_row_of_several_training_runs_says_how_many(form: str) -> None:
    assert "(3 runs)" in rendered(form, board(row(1, 0.9, 1, runs={"count": 3, "sd": 0.01})))
    assert "runs)" not in rendered(form, BOARD)


def test_csv_has_what_a_row_was_picked_from_and_the_spread_of_its_runs() -> None:
    head, first = rendered("csv", board(row(1, 0.9, 1, runs={"count": 3, "sd": 0.01}))).splitlines()
    found = dict(zip(head.split(","), next(csv.reader([first])), strict=True))
    assert (found["considered"], found["runs"], found["runs_sd"]) == ("3", "3", "0.01")


@pytest.mark.parametrize("form", SHEET_FORMATS)
def test_an_empty_board_can_be_shown(form: str) -> None:
    assert rendered(form, board())


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_tables_hold_every_row_in_full_with_all_scores(form: str, delimiter: str) -> None:
    rows = list(csv.DictReader(io.StringIO(rendered(form, BOARD)), delimiter=delimiter))
    assert [each["rank"] for each in rows] == ["1", "", "2", "3", ""]
    assert rows[0]["ud.las_f1"] == "0.9"
    assert rows[0]["ud.uas_f1"] == ""
    assert float(rows[0]["ci95_low"]) == 0.9 - 0.01
    assert (rows[2]["rank_low"], rows[2]["rank_high"]) == ("2", "3")


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_no_spreadsheet_takes_a_name_for_a_formula_and_no_name_breaks_a_line(form: str) -> None:
    words = rendered(form, board(row(1, 0.9, 1, team_name=HOSTILE, name="@sum")))
    assert len(words.splitlines()) == 2
    assert "'=1+1" in words
    assert "'@sum" in words


def test_latex_rules_off_clusters_and_escapes_names() -> None:
    words = rendered("latex", BOARD)
    lines = words.splitlines()
    rules = [at for at, line in enumerate(lines) if line == "\\midrule"]
    assert len(rules) == 2
    assert lines[rules[1] + 1].startswith("2 &")
    hostile = rendered("latex", board(row(1, 0.9, 1, team_name=HOSTILE)))
    assert r"\$x\_1\$" in hostile
    assert r"\textbackslash{}d" in hostile
    assert "100\\%" in hostile


def test_markdown_keeps_names_inside_their_cells() -> None:
    words = rendered("markdown", board(row(1, 0.9, 1, team_name=HOSTILE)))
    assert r"\|" in words
    line = next(line for line in words.splitlines() if "100" in line)
    assert line.startswith("| 1 |")


def test_rounded_scores_are_shown_with_the_digits_of_their_step() -> None:
    document = board(row(1, 0.9), rounding=0.01)
    assert "0.90 " in rendered("markdown", document)
    assert "0.9000" not in rendered("markdown", document)
    bounds = {"ci95": {"low": 0.893, "high": 0.906}, "p_next": 0.024}
    for level, shown in (("scores", ("[0.893, 0.906]", " 0.024 ")), ("gold", ("[0.8930, 0.9060]", " 0.024 "))):
        words = rendered("latex", board(row(1, 0.9, 1, **bounds), feedback=level))
        assert all(each in words for each in shown)
    assert "89.3–90.6" in rendered("svg", board(row(1, 0.9, 1, **bounds), feedback="scores"))


@pytest.mark.parametrize("form", SHEET_FORMATS)
def test_every_form_has_the_notes_with_the_names_of_rows(form: str) -> None:
    plain = " ".join(rendered(form, BOARD).replace("\\%", "%").replace("%\n%", "").split())
    assert NOTES[0] in plain
    assert ("sub_2 and" if form == "json" else "Lyon: biaffine and Lyon: biaffine differ in 5 sentences") in plain


def test_the_forms_say_what_the_lines_mean() -> None:
    line = (
        "A line is drawn where every team above is significantly better than every team below (1200 documents, Holm, "
        "alpha 0.05); intervals are over the same documents."
    )
    assert line in rendered("markdown", board(row(1, 0.9, 1), row(2, 0.8, 2)))
    assert line.replace("every team", "every tested team") in rendered("markdown", BOARD)
    assert "; rows as of 2026-11-02" in rendered("markdown", BOARD)
    hidden = {**BOARD["significance"], "unit": "sentence", "unit_count": None}
    assert "below (sentences, Holm, alpha 0.05);" in rendered("markdown", {**BOARD, "significance": hidden})
    assert next(csv.DictReader(io.StringIO(rendered("csv", BOARD))))["detectable"] == "0.0123"
    assert NOTES[0] in rendered("latex", BOARD).splitlines()  # printed in the paper, as no comment is


def test_a_board_with_nothing_tested_claims_nothing() -> None:
    nothing = {**BOARD["significance"], "unit": None, "unit_count": None, "notes": [], "pairs": 0}
    document = board(row(1, 0.9), significance=nothing)
    assert "A line is drawn" not in rendered("markdown", document)
    for form in SHEET_FORMATS:
        assert "None" not in rendered(form, document)


def test_a_board_that_waits_for_its_comparison_says_so() -> None:
    significance = {**BOARD["significance"], "pending": True, "test": None}
    document = board(row(1, 0.9), significance=significance)
    assert "is being computed" in rendered("markdown", document)
    assert orjson.loads(rendered("json", document))["significance"]["pending"] is True
    last = {**BOARD["significance"], "pending": True, "as_of": "2026-11-02T20:14:00.000Z"}
    written = rendered("markdown", board(row(1, 0.9, 1), significance=last))
    assert "Tests as of 2026-11-02T20:14:00.000Z; rows that are newer are not tested yet." in written
    assert "A line is drawn" in written


def test_the_board_of_a_track_says_that_it_is_a_mean() -> None:
    words = rendered("markdown", board(row(1, 0.9, 1), part="pud"))
    assert "pud (mean of 2 parts)" in words
    assert "part en" in rendered("markdown", board(row(1, 0.9, 1), part="en", parts=["en"]))


def test_parts_have_a_column_where_a_row_lacks_some() -> None:
    assert "| 1 of 2 |" in rendered("markdown", BOARD)
    assert " parts |" not in rendered("markdown", board(row(1, 0.9, 1)))
