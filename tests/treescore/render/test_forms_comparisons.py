"""A comparison document in every form: what it must say, and that nothing in a name breaks it."""

from __future__ import annotations

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import orjson
import pytest

from treescore.core.scores import f1_score
from treescore.render.forms import FORMATS, render_comparisons
from treescore.significance import Candidate, Settings, compare

NAMES = ("matched", "gold", "system")
F1 = f1_score("f1", "F1", "matched", "gold", "system", "nothing")


def document(*names: str, **asked: Any) -> dict[str, Any]:
    """Systems that get worse one after the other, on 60 sentences."""
    generator = np.random.default_rng(3)
    gold = generator.integers(5, 20, 60)
    candidates = []
    for place, name in enumerate(names):
        matched = generator.binomial(gold, max(0.02, 0.95 - 0.08 * place))
        candidates.append(Candidate(name, (np.array([matched, gold, gold]).T,)))
    return compare("parseval.labelled_f1", F1, NAMES, candidates, Settings(resamples=200, **asked))


def rendered(form: str, *documents: dict[str, Any]) -> str:
    return render_comparisons(list(documents), form).content.decode()


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_document_gives_the_same_bytes_in_every_thread(form: str) -> None:
    found = document("a", "b", "c")
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: render_comparisons([found], form), range(6)))
    assert len({result.content for result in results}) == 1
    assert results[0].media_type == FORMATS[form]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("test", ["auto", "bootstrap", "mcnemar", "compare_pl"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_test_and_number_of_systems_can_be_shown(form: str, test: str, count: int) -> None:
    assert rendered(form, document(*"abc"[:count], test=test))


@pytest.mark.parametrize("form", FORMATS)
def test_no_comparison_at_all_can_be_shown(form: str) -> None:
    assert render_comparisons([], form).media_type == render_comparisons([document("a", "b")], form).media_type


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_rounded_bounds_and_p_have_no_further_digits(form: str) -> None:
    found = document("a", "b", "c")
    found["rounded"] = True  # as a service says where figures are
    found["systems"] = [{**each, "ci": {"level": 0.95, "low": 0.853, "high": 0.9}} for each in found["systems"]]
    found["pairs"] = [{**each, "p_adjusted": 0.024} for each in found["pairs"]]
    words = rendered(form, found)
    assert "[0.853, 0.900" in words.replace("\\[", "[")
    assert "0.024 " in words.replace(")", " ")
    assert "0.0240" not in words


def test_undefined_systems_are_named() -> None:
    empty = np.zeros((3, 3), np.int64)
    some = np.ones((3, 3), np.int64)
    candidates = [Candidate("silent", (empty,)), Candidate("b", (some,)), Candidate("c", (some,))]
    found = compare("f1", F1, NAMES, candidates, Settings(resamples=50))
    for form in ("text", "markdown", "latex"):
        assert "not tested: silent" in rendered(form, found)
    assert "not tested: silent" in rendered("svg", found)


def test_text_draws_a_line_between_clusters_and_marks_the_winner() -> None:
    words = rendered("text", document("weak", "weaker", "weakest"))
    assert "----" in words
    assert "<*" in words
    two = rendered("text", document("first", "second"))
    assert "0.9511†" in two
    assert "the difference between 2 systems is significant (60 sentences, alpha 0.05)" in two
    assert "† Difference +0.0676 [" in two


def test_the_winner_is_on_the_right_side_where_a_lower_rank_was_given_first() -> None:
    forward = document("x", "y", "z")
    for pair in forward["pairs"]:
        pair["a"], pair["b"] = pair["b"], pair["a"]
        pair["difference"] = -pair["difference"]
        for interval in filter(None, (pair["ci"], pair.get("ci_adjusted"))):
            interval["low"], interval["high"] = -interval["high"], -interval["low"]
        pair["better"] = {"a": "b", "b": "a", None: None}[pair["better"]]
    assert rendered("text", forward) == rendered("text", document("x", "y", "z"))


def test_latex_rules_clusters_off_and_escapes_names() -> None:
    words = rendered("latex", document("a_b & 50% #1", "c^{~}\\d", "e$f"))
    assert words.count("\\midrule") > 2
    assert "a\\_b \\& 50\\% \\#1" in words
    assert "c\\textasciicircum{}\\{\\textasciitilde{}\\}\\textbackslash{}d" in words
    assert "e\\$f" in words
    assert words.count("\\begin{tabular}") == words.count("\\end{tabular}") == 2


def test_markdown_tables_hold_whatever_the_name() -> None:
    words = rendered("markdown", document("a|b", "c\nd", "<script>"))
    assert "a\\|b" in words
    assert "c d" in words
    assert "\\<script\\>" in words
    tables = [line for line in words.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in tables[:5]} == {7}


def test_csv_reads_back_and_is_no_formula() -> None:
    found = document('=1+1,"x"', "b")
    rows = list(csv.DictReader(io.StringIO(rendered("csv", found), newline="")))
    assert rows[0]["a"] == '\'=1+1,"x"'
    assert float(rows[0]["p"]) == found["pairs"][0]["p"]
    assert rows[0]["significant"] == "true"


def test_json_is_the_document_itself() -> None:
    found = document("a", "b")
    assert orjson.loads(rendered("json", found)) == [found]
