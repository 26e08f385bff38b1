"""What a comparison says below its table, in every format."""

from __future__ import annotations

import copy
import csv
import io
from typing import Any

import pytest

from tests.treescore.render.test_forms_comparisons import document, rendered
from treescore.significance.notes import TINY

NOTE = "Tested over 60 documents: a marked difference would be found again in other documents like these."
MEMBERS = ("p_error", "p_parts", "p_unselected", "difference_tested", "detectable", "ci_adjusted", "noninferiority")
WORDS = ("text", "markdown", "latex")


def full(*names: str, **members: Any) -> dict[str, Any]:
    """A document whose pairs all have these members, and null for the others."""
    found = document(*names)
    found["notes"] = [NOTE]
    for pair in found["pairs"]:
        pair.update(dict.fromkeys(MEMBERS) | copy.deepcopy(members))
    return found


def not_worse(found: dict[str, Any], established: set[tuple[str, str]]) -> dict[str, Any]:
    for pair in found["pairs"]:
        a, b = pair["a"], pair["b"]
        pair["noninferiority"] = {"margin": 0.01} | {
            name: {"p": 0.002, "p_adjusted": 0.004, "established": (name, other) in established}
            for name, other in ((a, b), (b, a))
        }
    return found


def rows(found: dict[str, Any]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(rendered("csv", found), newline="")))


@pytest.mark.parametrize("form", [*WORDS, "csv", "svg"])
@pytest.mark.parametrize("names", ["ab", "abc"])
def test_every_format_has_the_notes(form: str, names: str) -> None:
    found = full(*names)
    found["notes"].append(TINY)  # of the document alone, which has log10_p
    plain = rendered(form, found).replace("\\", "")
    assert NOTE in plain
    assert "log10" not in plain


@pytest.mark.parametrize("form", WORDS)
def test_the_notes_stand_below_the_table(form: str) -> None:
    lines = rendered(form, full("a", "b", "c")).replace("\\", "").splitlines()
    said = next(place for place, line in enumerate(lines) if NOTE in line)
    last = max(place for place, line in enumerate(lines) if line.startswith(("|", "(2) b", "bottomrule")))
    assert said > last


@pytest.mark.parametrize(
    ("names", "members", "head"),
    [
        ("abc", {}, ("F1 (higher is better): 3 of 3 differences between 3 systems are significant (60 sentences, alpha "
         "0.05, Holm)")),
        ("ab", {}, "the difference between 2 systems is significant (60 sentences, alpha 0.05)"),
        ("a", {}, "1 system (60 sentences, alpha 0.05)"),
        ("abc", {"test": "mcnemar", "alternative": "less", "correction": "none"},
         "(60 sentences, McNemar's test, one-sided, alpha 0.05, uncorrected)"),
        ("abc", {"test": "bootstrap"}, "intervals of 3 differences between 3 systems (60 sentences)"),
    ],
)  # fmt: skip
def test_the_head_says_what_was_found(names: str, members: dict[str, Any], head: str) -> None:
    assert rendered("text", full(*names) | members).splitlines()[0].endswith(head)


def test_where_whole_units_are_tested_the_table_shows_their_difference() -> None:
    found = full("a", "b", "c", difference_tested=0.25) | {"test": "mcnemar"}
    words = rendered("text", found)
    assert "+0.2500" in words
    assert "Each cell: difference in sentences right as a whole (row - column)" in words
    assert "% Each cell: difference in sentences right as a whole (row - column)" in rendered("latex", found)
    two = rendered("text", full("a", "b", difference_tested=0.25) | {"test": "mcnemar"})
    assert "Difference in sentences right as a whole +0.2500, of the score [" in two
    assert rows(found)[0]["difference_tested"] == "0.25"
    assert float(rows(found)[0]["difference"]) == found["pairs"][0]["difference"]


def test_a_test_over_training_runs_is_of_the_score() -> None:
    words = rendered("text", full("a", "b", difference_tested=0.25))
    assert "right as a whole" not in words
    assert "Difference +0.2500 [" in words


def test_p_for_parts_like_these_stands_beside_that_of_these_parts() -> None:
    assert rendered("text", full("a", "b", p_adjusted=0.031, p_parts=0.2)).count(", p = 0.031, p (parts) = 0.20") == 1
    several = rendered("text", full("a", "b", "c", p_adjusted=0.031, p_parts=0.2))
    assert several.count(" 0.031; 0.20") == 3
    assert "Each cell: adjusted p; p (parts).\n" in several


def test_the_interval_that_belongs_to_p_stands_beside_it() -> None:
    adjusted = {"low": 0.0109, "high": None, "level": 0.99}
    found = full("a", "b", ci_adjusted=adjusted, p_adjusted=0.031)
    assert "Difference +0.0676 [0.0109, inf], p = 0.031" in rendered("text", found)
    [row] = rows(found)
    assert (row["ci_adjusted_low"], row["ci_adjusted_high"]) == ("0.0109", "")
    assert float(row["ci_low"]) == found["pairs"][0]["ci"]["low"]


def test_csv_says_who_is_shown_not_to_be_worse() -> None:
    row = rows(not_worse(full("a", "b", "c"), {("a", "b"), ("c", "b"), ("a", "c")}))[0]
    assert (row["margin"], row["p_a_not_worse"], row["a_not_worse"], row["b_not_worse"]) == (
        *("0.01", "0.004", "true", "false"),
    )


def test_a_picture_says_it_to_those_who_see_it_and_to_those_who_do_not() -> None:
    long = " ".join([NOTE] * 4)
    found = full("a", "b")
    found["notes"] = [long]
    picture = rendered("svg", found)
    assert picture.count(long) == 1  # the description; below the table it is broken into lines
    assert picture.count("Tested over 60 documents") > 4


def test_latex_prints_what_was_not_tested_and_how_to_read_p() -> None:
    found = full("a", "b", "c") | {"notes": ["double its p to read it as two-sided."]}
    found["untested"] = [{"name": "d", "reason": "undefined: no token"}]
    printed = [line for line in rendered("latex", found).splitlines() if not line.startswith("%")]
    assert "not tested: d (undefined: no token)" in printed
    assert "double its p to read it as two-sided." in printed


@pytest.mark.parametrize(("form", "table"), [("latex", "tabular"), ("markdown", "|"), ("text", "rank")])
def test_without_a_tested_system_there_is_no_table(form: str, table: str) -> None:
    found = full("a", "b") | {"systems": [], "pairs": [], "untested": [{"name": "a", "reason": "undefined: no token"}]}
    shown = rendered(form, found)
    assert table not in shown
    assert "not tested: a (undefined: no token)" in shown
