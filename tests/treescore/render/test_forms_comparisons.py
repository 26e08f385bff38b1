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
from treescore.errors import InputError
from treescore.render.forms import FORMATS, render_comparisons
from treescore.significance import Candidate, Settings, compare
from treescore.significance.settings import AgainstOne

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
    settings = AgainstOne if "baseline" in asked else Settings
    return compare("parseval.labelled_f1", F1, NAMES, candidates, settings(resamples=200, **asked))


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
    assert "0.024" in words
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
    assert "+0.0676*" in words
    assert "Each cell: difference (row - column); * significant.\n\n" in words
    assert "Each cell: adjusted p.\n" in words
    assert "adjusted p" not in render_comparisons([document("x", "y", "z")], "text", p_values=False).content.decode()
    two = rendered("text", document("first", "second"))
    assert "0.9511†" in two
    assert "the difference between 2 systems is significant (60 sentences, alpha 0.05)" in two
    assert "† Difference +0.0676 [" in two


def test_prose_and_pairs_keep_to_a_width_unless_all_columns_are_asked_for() -> None:
    found = document(*(f"a system with a name of its own {number}" for number in range(1, 9)))
    for width, columns in ((80, 4), (200, 7)):
        words = render_comparisons([found], "text", width=width, fit=width, p_values=False).content.decode()
        assert max(map(len, words.splitlines())) <= width
        assert f" ({columns + 1})\n" in words
        assert (f"Of 7 columns {columns} are shown: --matrix shows all." in " ".join(words.split())) == (columns < 7)
    whole = render_comparisons([found], "text", width=80, p_values=False).content.decode()
    assert " (8) a system with a name of its own 8\n" in whole


def test_against_a_baseline_the_others_are_one_family() -> None:
    found, every = document("a", "b", "c", "d", baseline="c"), document("a", "b", "c", "d")
    assert [(pair["a"], pair["b"]) for pair in found["pairs"]] == [("a", "c"), ("b", "c"), ("c", "d")]
    assert found["family"] == {"size": 3, "definition": "each listed submission against c"}
    with_c = [pair for pair in every["pairs"] if "c" in (pair["a"], pair["b"])]
    for pair, same in zip(found["pairs"], with_c, strict=True):
        assert (pair["p"], pair["ci"]) == (same["p"], same["ci"])
        assert pair["p_adjusted"] <= same["p_adjusted"]
    ordered = sorted(found["pairs"], key=lambda pair: pair["p"])
    assert ordered[0]["p_adjusted"] == pytest.approx(3 * ordered[0]["p"])
    for form in FORMATS:
        assert rendered(form, found)
    words = rendered("text", found)
    assert "3 of 3 differences to c are significant" in words
    lines = words[words.index("difference  95 %") :].splitlines()
    assert [line.split()[:2] for line in lines[1:4]] == [["a", "+0.1727*"], ["b", "+0.1050*"], ["d", "-0.0777*"]]
    with pytest.raises(InputError, match=r"Unknown system 'cc'\. Did you mean 'c'\?"):
        document("a", "b", "c", baseline="cc")


def test_systems_that_differ_in_no_sentence_are_called_identical() -> None:
    counts = np.array([[3, 5, 5]] * 20)
    pair = [Candidate(name, (counts,)) for name in "ab"]
    two = compare("parseval.labelled_f1", F1, NAMES, pair, Settings())
    assert "2 systems are identical in every sentence (" in rendered("text", two)
    other = Candidate("c", (np.array([[2, 5, 5], [3, 5, 5]] * 10),))
    for form in ("text", "markdown", "latex", "html"):
        words = render_comparisons([compare("f1", F1, NAMES, [*pair, other], Settings())], form).content.decode()
        assert words.count("Identical in every sentence: a and b.") == 1


def test_decimals_are_those_that_are_asked_for() -> None:
    words = render_comparisons([document("a", "b", "c")], "latex", decimals=1).content.decode()
    assert "1.0" in words
    assert "0.95" not in words


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
    assert words.count("\\begin{tabular}") == words.count("\\end{tabular}") == 3


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
