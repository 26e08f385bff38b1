"""The picture of a board: a row for each row of the board, whole whatever it holds, and never more than it shows."""

from __future__ import annotations

import re
from typing import Any

import pytest

from service.render import board_picture, board_scale, percent_of, row_mark, shown_as
from tests.fixtures.pictures import HOSTILE, check_golden, check_picture
from tests.fixtures.svg_boxes import SVG, parsed, texts, words_of
from tests.service.test_render_leaderboards import BOARD, NOTES, board, row
from treescore.core.wording import PERCENT, figures_of
from treescore.render.dot_table import axis_svg, interval_bar_svg


def words(document: dict[str, Any]) -> list[str]:
    return words_of(parsed(board_picture(document)))


def ranked(count: int, **more: Any) -> dict[str, Any]:
    return board(*(row(at + 1, 0.9 - 0.003 * at, at // 3 + 1, team_name=f"Team {at}", **more) for at in range(count)))


def test_the_picture_is_whole_and_the_golden_one() -> None:
    check_picture(board_picture(BOARD))
    check_golden("board", board_picture(BOARD))


@pytest.mark.parametrize("count", [0, 1, 2, 26, 200])
def test_every_row_is_drawn_and_nothing_is_clipped(count: int) -> None:
    document = ranked(count)
    check_picture(board_picture(document))
    drawn = words(document)
    assert [f"Team {at}" for at in range(count) if f"Team {at}" not in drawn] == []


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_no_name_breaks_the_picture(name: str) -> None:
    check_picture(board_picture(board(row(1, 0.9, 1, team_name=name, name=name), row(2, 0.8, 1), title=name or "x")))
    check_picture(board_picture(board(row(1, 0.9, None, tested=False, reason=name))))


def test_a_shortened_name_shows_the_whole_where_a_pointer_rests() -> None:
    long = "University of " + "Somewhere " * 12
    root = parsed(board_picture(board(row(1, 0.9, 1, team_name=long))))
    tips = [element.findtext(f"{SVG}title") for element in root.iter(f"{SVG}text")]
    assert long in tips
    assert any(each.words.startswith("University") and each.words.endswith("…") for each in texts(root))


def test_a_row_shows_its_figures_in_percent_where_the_score_is_a_share() -> None:
    assert {"1", "1–2", "Lyon", "biaffine", "90.00", "89.00–91.00", ".010", "59 of 60"} <= set(words(BOARD))
    assert {"0.9000", "0.8900–0.9100"} <= set(words({**BOARD, "score": "theirs.own"}))


def test_the_axis_spans_the_tested_rows_and_arrows_point_to_others() -> None:
    far = row(3, 0.02, None, tested=False, reason="at least one part is missing")
    document = board(row(1, 0.9, 1), row(2, 0.88, 2), far)
    svg = board_picture(document).decode()
    assert svg.count('class="off"') == 1
    assert svg.count('class="pt"') == 2
    assert "Not tested: at least one part is missing" in words(document)
    assert any("An arrow points to a score beyond the axis" in each for each in words(document))
    check_picture(svg)


def test_rows_without_a_score_stand_last_under_a_heading() -> None:
    drawn = words(board(row(None, None, role="system", team_name="Late"), row(1, 0.9, 1)))
    assert drawn.index("Lyon") < drawn.index("Without a score") < drawn.index("Late")


def test_a_baseline_is_told_apart_by_shape_and_by_slant() -> None:
    root = parsed(board_picture(BOARD))
    slanted = [element.text for element in root.iter(f"{SVG}text") if element.get("font-style") == "italic"]
    assert slanted == ["baseline", "biaffine"]
    assert len([each for each in root.iter(f"{SVG}path") if each.get("class") == "pt"]) == 1


def test_lines_are_drawn_between_clusters_and_below_the_tested_rows() -> None:
    document = board(row(1, 0.9, 1), row(2, 0.8, 2), row(3, 0.79, 2))
    assert board_picture(document).count(b'class="cut"') == 1


def test_a_rounded_board_has_no_whiskers_no_p_and_no_lines() -> None:
    hidden = {"ci95": None, "p_next": None, "rank_interval": None, "detectable": None, "covered": None, "tested": None}
    nothing = {**BOARD["significance"], "test": None, "notes": [], "reason": "The level shows no significance."}
    document = board(
        row(1, 0.9, None, **hidden), row(2, 0.8, None, **hidden), rounding=0.01, significance=nothing
    )  # fmt: skip
    svg = board_picture(document).decode()
    assert 'class="ci"' not in svg
    assert 'class="cut"' not in svg
    assert not {"95 % interval", "p to next", "Ranks"} & set(words(document))
    assert {"90", "80"} <= set(words(document))
    assert "90.0" not in svg
    assert "Whisker" not in svg


@pytest.mark.parametrize(("step", "shown"), [(0.01, "90"), (0.005, "90.0"), (0.1, "90"), (0.001, "90.0")])
def test_rounded_scores_have_the_decimals_of_their_step(step: float, shown: str) -> None:
    assert shown in words(board(row(1, 0.9), rounding=step))


def test_the_picture_has_the_notes_and_describes_its_rows() -> None:
    root = parsed(board_picture(BOARD))
    described = root.findtext(f"{SVG}desc") or ""
    assert "1. Lyon: biaffine 90.00 (89.00–91.00)" in described
    assert "3. Lyon: biaffine (59/60) 79.00" in described
    assert "5 rows in all" in described
    assert NOTES[0] in described
    assert NOTES[0] in " ".join(words_of(root))


@pytest.mark.parametrize(("scored", "shown"), [(2, "2 of 3"), (0, "0 of 3"), (3, ""), (None, "")])
def test_missing_parts_are_marked(scored: int | None, shown: str) -> None:
    drawn = words(board(row(1, 0.9, 1, scored_parts=scored), parts=["de", "en", "fr"]))
    assert (shown in drawn) == bool(shown)
    assert ("Parts" in drawn) == bool(shown)


def test_a_row_of_the_page_is_drawn_by_the_same_functions_on_the_same_axis() -> None:
    figures = figures_of(PERCENT, share=True)
    scale = board_scale(BOARD, figures, 190)
    bar = interval_bar_svg(scale, row_mark(BOARD["rows"][0], figures))
    root = parsed(bar.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" '))
    assert (root.get("width"), root.get("height"), root.get("aria-hidden")) == ("190", "26", "true")
    grid = re.findall(r'class="grid" [^>]*|d="M([\d.]+) 0V26"', bar)
    labels = re.findall(r'<text x="([\d.]+)"', axis_svg(scale))
    assert [each for each in grid if each] == labels
    assert 'class="ci"' in bar
    assert 'class="pt"' in bar


def test_units_come_from_the_metric() -> None:
    assert percent_of(["ud.las_f1", "parseval.mean_crossing", "theirs.las"]) == {"ud.las_f1"}
    assert percent_of(["ud.las_f1"], "csv") == frozenset()
    assert shown_as("ud.las_f1", 0.01).value(0.75) == "75"
    assert shown_as("theirs.las", 0.01).value(0.75) == "0.75"
