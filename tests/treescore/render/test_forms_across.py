"""Comparisons of several scores as one family, in every format."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.treescore.render.test_forms_comparisons import document
from treescore.render.forms import LISTED_ACROSS, across_lines, render_comparisons
from treescore.significance.families import across


def shown(form: str) -> str:
    first, second = document("a", "b_1"), document("a", "b_1")
    second["score"] = "parseval.recall"
    for found, p in ((first, 0.001), (second, 0.04)):
        found["pairs"][0]["p"] = p
    joined = across([first, second], correction="holm", alpha=0.05)
    return render_comparisons([first, second], form, joined).content.decode()


@pytest.mark.parametrize(("form", "start"), [("text", ""), ("markdown", "- "), ("latex", "% ")])
def test_it_follows_the_comparisons(form: str, start: str) -> None:
    lines = shown(form).replace("\\", "").splitlines()
    first = lines.index(f"{start}2 tests as one family, holm, alpha 0.05:")
    assert lines[first + 1] == (
        f"{start}a is better than b_1 on at least 2 of 2; significant: parseval.labelled_f1, parseval.recall"
    )
    assert lines[-1].startswith(f"{start}The scores are of one text and depend on each other.")


def test_nobody_is_better() -> None:
    found = document("a", "b")
    found["pairs"][0]["p"] = 0.9
    joined = across([found], correction="holm", alpha=0.05)
    words = render_comparisons([found], "text", joined).content.decode()
    assert "no system is shown to be better than another." in words


def test_json_has_both_and_the_tables_for_programs_are_the_comparisons_alone() -> None:
    whole: dict[str, Any] = orjson.loads(shown("json"))
    assert [each["score"] for each in whole["comparisons"]] == ["parseval.labelled_f1", "parseval.recall"]
    assert whole["across"]["family"]["size"] == 2
    assert len(shown("csv").splitlines()) == 3
    assert "<svg" in shown("svg")


def test_a_long_list_is_cut() -> None:
    found = document(*(f"s{place}" for place in range(12)))
    for pair in found["pairs"]:
        pair["p"] = 1e-9
    joined = across([found], correction="holm", alpha=0.05)
    lines = across_lines(joined)
    assert len(lines) == LISTED_ACROSS + 3
    assert lines[-2] == f"and {12 * 11 // 2 - LISTED_ACROSS} more; JSON holds all"
