"""What leaves the service of scores by part: the rows of a matrix, and lines of all scores, at every level."""

from __future__ import annotations

import math
from typing import Any

import pytest

from service.policy import gate
from service.policy.figures import Release
from service.policy.gate import Level

MARK = 0.123456789
ROW: dict[str, Any] = {
    "rank": 1, "role": "system", "team": "lyon", "team_name": "Lyon", "submission": "sub_1", "name": "x",
    "score": MARK, "values": [MARK, None, MARK], "missing_parts": ["de", "small"], "scored_parts": 1, "gold": "MARK",
}  # fmt: skip
PARTS = ["en", "de", "small"]
SHOWN = {Level.NONE: None, Level.STATUS: None, Level.ROUNDED: 0.12, Level.SCORES: 0.1235, Level.GOLD: MARK}


def release(level: Level) -> Release:
    hidden = frozenset() if level >= Level.ITEMS else frozenset({"small", "track"})
    return Release(level, 0.01, frozenset({"ud.las_f1"}), hidden)


@pytest.mark.parametrize("level", SHOWN)
def test_a_row_of_a_matrix_has_what_its_level_shows(level: Level) -> None:
    shown = gate.matrix_row_view(release(level), ROW, PARTS)
    value = SHOWN[level]
    assert shown["score"] == value
    assert shown["values"] == [value, None, MARK if level is Level.GOLD else None]
    assert shown["rank"] == (1 if level >= Level.ROUNDED else None)
    names = ["de", "small"] if level is Level.GOLD else ["de"]
    assert (shown["missing_parts"], shown["scored_parts"]) == ((names, 1) if value is not None else (None, None))
    assert "MARK" not in str(shown)


@pytest.mark.parametrize("level", SHOWN)
def test_lines_have_listed_scores_of_shown_parts(level: Level) -> None:
    scores = {"ud.las_f1": MARK, "ud.uas_f1": MARK}
    found = list(gate.score_lines(release(level), "en", scores))
    assert found == [{"score": "ud.las_f1", "value": SHOWN[level]}]
    assert list(gate.score_lines(release(level), "en", {"ud.las_f1": math.nan})) == [
        {"score": "ud.las_f1", "value": None}
    ]
    for hidden in ("small", "track"):
        assert bool(list(gate.score_lines(release(level), hidden, scores))) == (level is Level.GOLD)
