"""What a comparison says below its table, in every format."""

from __future__ import annotations

import copy
import csv
import io
from typing import Any

import pytest

from tests.treescore.render.test_forms_comparisons import document, rendered
from treescore.render.crosstable import LISTED_PAIRS, error_text

ASSUMED = "Gold marks no documents: sentences are taken as independent."
MEMBERS = (
    *("p_error", "p_parts", "p_unselected", "difference_tested", "detectable", "ci_simultaneous", "noninferiority"),
)
WORDS = ("text", "markdown", "latex")


def full(*names: str, **members: Any) -> dict[str, Any]:
    """A document whose pairs all have these members, and null for the others."""
    found = document(*names)
    found["assumed"] = ASSUMED
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
def test_every_format_says_what_is_assumed(form: str, names: str) -> None:
    plain = rendered(form, full(*names)).replace("\\", "")
    assert ASSUMED in plain


@pytest.mark.parametrize("form", WORDS)
def test_the_sentences_stand_below_the_table(form: str) -> None:
    lines = rendered(form, full("a", "b", "c")).replace("\\", "").splitlines()
    said = next(place for place, line in enumerate(lines) if ASSUMED in line)
    last = max(place for place, line in enumerate(lines) if line.startswith(("|", "(2) b", "bottomrule")))
    assert said > last


@pytest.mark.parametrize("form", WORDS)
def test_a_difference_that_is_not_significant_says_what_would_have_been_found(form: str) -> None:
    detectable = {"difference": 0.01234, "power": 0.8, "alpha": 0.05}
    found = full("a", "b", detectable=detectable)
    assert "Not significant" not in rendered(form, found)
    found["pairs"][0]["significant"] = False
    plain = rendered(form, found).replace("\\", "")
    assert "Not significant; a true difference of 0.0123 would be found with 80 % power." in plain
    several = full("a", "b", "c", detectable=detectable)
    for place, pair in enumerate(several["pairs"]):
        pair["significant"] = False
        pair["detectable"]["difference"] += 0.01 * place
    plain = rendered(form, several).replace("\\", "")
    assert "a true one of 0.0123 to 0.0323, by pair, would be found with 80 % power." in plain


def test_how_p_was_computed_and_how_exactly() -> None:
    two = rendered("text", full("a", "b", p_kind="inversion", p_error=0.0123))
    assert "inverted p (±1 % at most)" in two.splitlines()[0]
    assert "(inverted, ±1 %)." in two
    three = full("a", "b", "c", p_kind="sampled", p_error=0.02)
    three["pairs"][0].update(p_kind="exact", p_error=None)
    assert "exact p and sampled p (±2 % at most)" in rendered("text", three).splitlines()[0]
    assert [row["p_error"] for row in rows(three)] == ["", "0.02", "0.02"]
    assert [error_text(each) for each in (1e-9, 0.0034, 0.011, 0.5)] == ["±0.1 %", "±0.3 %", "±1 %", "±50 %"]


def test_where_whole_units_are_tested_the_table_shows_their_difference() -> None:
    found = full("a", "b", "c", difference_tested=0.25) | {"test": "mcnemar"}
    words = rendered("text", found)
    assert "+0.2500" in words
    assert "Each cell: difference in sentences right as a whole (row - column)" in words
    assert "% cells: difference in sentences right as a whole (row - column)" in rendered("latex", found)
    two = rendered("text", full("a", "b", difference_tested=0.25) | {"test": "mcnemar"})
    assert "difference in sentences right as a whole +0.2500, of the score [" in two
    assert rows(found)[0]["difference_tested"] == "0.25"
    assert float(rows(found)[0]["difference"]) == found["pairs"][0]["difference"]


def test_a_test_over_training_runs_is_of_the_score() -> None:
    words = rendered("text", full("a", "b", difference_tested=0.25))
    assert "right as a whole" not in words
    assert "difference +0.2500 [" in words


def test_p_for_parts_like_these_stands_beside_that_of_these_parts() -> None:
    assert "For parts like these p is 0.2000." in rendered("text", full("a", "b", p_parts=0.2))
    several = rendered("text", full("a", "b", "c", p_parts=0.2))
    assert (
        "Significant on these parts, but p above 0.05 for parts like these: "
        "a and b (0.2000), a and c (0.2000), b and c (0.2000)." in several
    )
    assert "for parts like these: none." in rendered("text", full("a", "b", "c", p_parts=0.001))


def test_a_long_list_of_pairs_is_cut() -> None:
    words = rendered("text", full(*"abcdef", p_parts=0.2))
    assert f" and {15 - LISTED_PAIRS} more." in words


def test_p_without_the_allowance_for_picking() -> None:
    found = full("a", "b", p_unselected=0.01)
    found["pairs"][0]["p"] = 0.12
    assert "Without the allowance for picking p is 0.0100." in rendered("text", found)
    several = full("a", "b", "c", p_unselected=0.01)
    several["pairs"][2]["p"] = 0.12
    assert "p above 0.05 only by the allowance for picking: b and c (0.0100) without it." in rendered("text", several)


def test_intervals_that_hold_together_and_where_p_decides_otherwise() -> None:
    found = full("a", "b", "c", ci_simultaneous={"low": 0.005, "high": 0.02, "level": 0.95})
    assert "Intervals that hold together leave out 0 for 3 of 3 pairs." in rendered("text", found)
    found["pairs"][1]["ci_simultaneous"] = {"low": -0.03, "high": 0.02}
    words = rendered("text", found)
    assert "leave out 0 for 2 of 3 pairs; p decides otherwise for a and c [-0.0300, 0.0200]." in words
    assert (rows(found)[1]["ci_simultaneous_low"], rows(found)[1]["ci_simultaneous_high"]) == ("-0.03", "0.02")
    found["test"] = "mcnemar"
    for pair in found["pairs"]:
        pair["difference_tested"] = 0.1
    found["test"] = "mcnemar"
    assert "leave out 0 for 2 of 3 pairs." in rendered("text", found)
    found["pairs"][1]["ci_simultaneous"] = {"low": None, "high": None}
    assert "leave out 0 for 2 of 2 pairs." in rendered("text", found)
    assert "hold together" not in rendered("text", full("a", "b", ci_simultaneous={"low": 0.1, "high": 0.2}))


def test_who_is_shown_not_to_be_worse() -> None:
    two = rendered("text", not_worse(full("a", "b"), {("a", "b")}))
    assert "a not worse than b by more than 0.01: shown (p 0.0040)." in two
    assert "b not worse than a by more than 0.01: not shown (p 0.0040)." in two
    three = not_worse(full("a", "b", "c"), {("a", "b"), ("c", "b"), ("a", "c")})
    words = rendered("text", three)
    assert "Not worse than b by more than 0.01: a (p 0.0040), c (p 0.0040)." in words
    assert "Not worse than c by more than 0.01: a (p 0.0040)." in words
    assert "Not worse than a" not in words
    assert "No system is shown not to be worse" in rendered("text", not_worse(full("a", "b", "c"), set()))
    row = rows(three)[0]
    assert (row["margin"], row["p_a_not_worse"], row["a_not_worse"], row["b_not_worse"]) == (
        *("0.01", "0.004", "true", "false"),
    )


def test_a_picture_says_it_to_those_who_see_it_and_to_those_who_do_not() -> None:
    long = " ".join([ASSUMED] * 4)
    found = full("a", "b")
    found["assumed"] = long
    picture = rendered("svg", found)
    assert picture.count(long) == 1  # the description; below the table it is broken into lines
    assert picture.count("Gold marks no documents") > 4


def test_a_test_over_training_runs_is_named_and_its_difference_is_one_of_scores() -> None:
    over_runs = {"test": "t over training runs and sentences, two-sided", "difference_tested": 0.25, "p_kind": None}
    found = full("a", "b", **over_runs)
    for form in WORDS:
        words = rendered(form, found)
        assert "t-test over training runs and sentences, two-sided" in words
        assert "paired permutation" not in words
        assert "right as a whole" not in words
    mixed = full("a", "b", "c", **over_runs)
    mixed["pairs"][0]["test"] = "paired permutation (sentence swap), two-sided, >="
    head = rendered("text", mixed).splitlines()[0]
    assert "t-test over training runs and sentences or paired permutation test, two-sided" in head


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
