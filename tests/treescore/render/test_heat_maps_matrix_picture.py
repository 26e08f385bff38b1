"""The matrix as a picture: bold bests, dashes where nothing is, and the shades that pages use too."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fixtures.pictures import HOSTILE, check_golden, check_picture
from tests.fixtures.svg_boxes import SVG, parsed, words_of
from treescore.render.drawing import BY_GAP, BY_SCORE, SHADES, shade_of, shade_of_p
from treescore.render.heat_maps import key_of, matrix_svg, points_of


def matrix(teams: int, parts: int, **more: Any) -> dict[str, Any]:
    """Team t has 90 - t - p points on part p, and nothing where both are the last."""
    rows = [
        {
            "team": f"t{team}", "team_name": f"Team {team}", "submission": f"s{team}", "score": 0.9 - 0.01 * team,
            "values": [
                None if team == teams - 1 and part == parts - 1 else max(0.0, 0.9 - 0.01 * (team + part))
                for part in range(parts)
            ],
        }
        for team in range(teams)
    ]  # fmt: skip
    names = [{"name": f"part_{part}", "sentences": 100, "words": 2000} for part in range(parts)]
    head = {"score": "ud.las_f1", "title": "Demo", "higher_is_better": True}
    return {"parts": names, "rows": rows, **head, **more}


SMALL = matrix(4, 3)


@pytest.mark.parametrize("shade", [BY_GAP, BY_SCORE])
def test_the_matrix_is_whole_and_the_golden_one(shade: Any) -> None:
    check_picture(matrix_svg(SMALL, shade))
    check_golden(f"matrix_{shade}", matrix_svg(SMALL, shade))


@pytest.mark.parametrize(("teams", "parts"), [(0, 0), (0, 3), (3, 0), (1, 1), (2, 2), (26, 78), (200, 20)])
@pytest.mark.parametrize("share", [True, False])
def test_nothing_is_clipped(teams: int, parts: int, share: bool) -> None:  # noqa: FBT001 - a parameter of the test
    check_picture(matrix_svg(matrix(teams, parts), share=share))


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_no_name_breaks_the_matrix(name: str) -> None:
    document = matrix(3, 2, title=name or "x")
    document["rows"][1]["team_name"] = name
    document["parts"][0]["name"] = name
    check_picture(matrix_svg(document))


def test_a_matrix_without_any_value_is_dashes() -> None:
    document = matrix(2, 2)
    for row in document["rows"]:
        row.update(values=[None, None], score=None)
    check_picture(matrix_svg(document))
    assert words_of(parsed(matrix_svg(document))).count("–") == 4
    assert "4 values missing" in matrix_svg(document)


def test_columns_are_named_by_team_by_submission_where_a_team_has_several_and_as_baselines() -> None:
    document = matrix(4, 1)
    for row, more in zip(
        document["rows"],
        ({"name": "v1"}, {"team_name": "Team 0", "name": "v2"}, {"role": "baseline", "name": "rules"}, {"name": "x"}),
        strict=True,
    ):
        row.update(more)
    words = words_of(parsed(matrix_svg(document)))
    assert {"Team 0: v1", "Team 0: v2", "baseline rules", "Team 3"} <= set(words)


def test_a_rounded_matrix_has_the_decimals_of_its_step() -> None:
    words = words_of(parsed(matrix_svg({**SMALL, "rounding": 0.01})))
    assert "90" in words
    assert not [each for each in words if "90." in each]


def test_lower_is_better_turns_the_best_round() -> None:
    root = parsed(matrix_svg({**SMALL, "higher_is_better": False}))
    (bold,) = [group for group in root.iter(f"{SVG}g") if group.get("font-weight") == "700"]
    assert [text.text for text in bold] == ["87.00", "87.00", "86.00", "86.00"]
    assert "Above the best of the row by (points)" in words_of(root)


def test_other_scores_are_shaded_within_their_range() -> None:
    assert points_of([[0.5, 2.5], [None, 1.5]], share=False) == [[0.0, 100.0], [None, 50.0]]
    assert points_of([[0.5], [0.5]], share=False) == [[0.0], [0.0]]
    assert points_of([[0.5]]) == [[50.0]]


@pytest.mark.parametrize(
    ("value", "shade"),
    [(80, "d0"), (79.5, "d1"), (79, "d2"), (78, "d3"), (76, "d4"), (72, "d5"), (64.1, "d5"), (64, "d6"), (0, "d6")],
)
def test_the_shade_is_the_distance_from_the_best(value: float, shade: str) -> None:
    assert shade_of(value, 80) == shade
    assert shade_of(160 - value, 80) == shade


@pytest.mark.parametrize(
    ("value", "shade"), [(0, "a0"), (19.9, "a0"), (20, "a1"), (75.24, "a6"), (90, "a8"), (100, "a8")]
)
def test_the_shade_is_the_score(value: float, shade: str) -> None:
    assert shade_of(value, 100, BY_SCORE) == shade


def test_small_p_are_dark_and_large_have_no_shade() -> None:
    assert [shade_of_p(p) for p in (1e-9, 1e-4, 2e-4, 0.01, 0.05, 0.051, None)] == [
        *("d6", "d6", "d5", "d4", "d3", None, None),
    ]  # fmt: skip


@pytest.mark.parametrize("by", [BY_GAP, BY_SCORE])
def test_the_key_names_every_shade(by: Any) -> None:
    assert {class_ for class_, _ in key_of(by)} == {
        each for each in SHADES if each.startswith("d" if by == BY_GAP else "a")
    }
