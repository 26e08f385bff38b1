"""What results show of themselves: tables, errors, sentences, slices and differences, in every form."""

from __future__ import annotations

import csv
import io
import json
import re
import struct
import subprocess
import sys
import warnings
from dataclasses import FrozenInstanceError, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from tests.fixtures.pictures import check_picture
from treescore import InputError, MissingExtra, TreescoreWarning, compare, score
from treescore.api import Options, Output, Settings, evaluate
from treescore.core.comparing import PARAMS
from treescore.core.params import Json
from treescore.core.registry import METRICS, OK
from treescore.errors import FilePath
from treescore.evaluation import spec  # noqa: F401 - fills the registry
from treescore.evaluation.document import warning_lines
from treescore.render.crosstable import signature_of_comparison
from treescore.render.forms import FORMATS
from treescore.render.table import TABLE_FORMS
from treescore.results import Comparison, Result, SystemScores
from treescore.results.result import PICTURE_KINDS
from treescore.results.views import FORMS, LISTED, View, bounds_of

ROOT = Path(__file__).parents[2]
GOLD = ROOT / "examples" / "dependencies" / "gold.conllu"
SYSTEMS = GOLD.parent / "systems"
TREE = "(S (NP (DT the) (NN dog)) (VP (VBD ran)))\n"
FLAT = "(S (DT the) (NN dog) (VP (VBD ran)))\n"
HOSTILE = '=1+1|`a_b` & 50% #1 <script>"x"</script> $x^2$ [red]r[/red] 系统é'
CASES = [
    pytest.param(name, number, id=f"{name}-{number}")
    for name, metric in sorted(METRICS.items())
    for number in range(len(metric.examples))
]
every_example = pytest.mark.parametrize(("name", "number"), CASES)
PLANTED = "The planted text is odd. Mend it."
WARNING = {"code": "planted-warning", "detail": PLANTED, "system": "A", "line": 3}


def result_of(name: str, number: int, *names: str) -> Result:
    """The scores of an example's output under each of these names, and of gold as `perfect`."""
    example = METRICS[name].examples[number]
    outputs = [Output(each, example.output()) for each in names]
    return evaluate(example.request(name), example.gold(), [*outputs, Output("perfect", example.gold())])


def warned(result: Result) -> Result:
    return replace(result, report=result.report._replace(warnings=[WARNING]))


@pytest.fixture(scope="module")
def scored() -> Result:
    return score(GOLD, {name: SYSTEMS / f"{name}.conllu" for name in ("rules", "graph")}, "ud")


class Cells(HTMLParser):
    """Counts tags and keeps text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002 - as its base has it
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words += data


# Tables of scores


@pytest.mark.parametrize("name", sorted(METRICS))
def test_every_metric_names_the_scores_of_its_table(name: str) -> None:
    metric = METRICS[name]
    known = {
        score.name
        for number in range(len(metric.examples))
        for entry in result_of(name, number).report.spec.entries
        for score in entry.metric.table.scores
    }
    shown = {**metric.headline, **metric.headline_below_best}
    assert metric.headline
    assert set(shown) <= known
    assert len(set(shown.values())) == len(metric.headline) + len(metric.headline_below_best)
    assert "errors_of" in vars(metric)


@every_example
def test_every_form_shows_every_metric_with_its_warnings(name: str, number: int) -> None:
    result = warned(result_of(name, number, "A"))
    metric = result.report.spec.entries[0].metric
    known = {score.name for score in metric.table.scores}
    head = next(head for score, head in metric.headline.items() if score in known)
    slices = [result.slices("A", by) for by in result.groupings("A")[:2]]
    for form in [*FORMS, "print", "notebook", "rich"]:
        for view in (result, result.errors("A"), result.sentence("A", 1), result.diff("perfect", "A"), *slices):
            assert PLANTED in " ".join(shown_as(view, form).split())
        assert form in ("csv", "json") or head in shown_as(result, form)


@pytest.mark.parametrize("name", ["alignment", "ud"])
def test_every_form_of_a_comparison_shows_the_warnings(name: str) -> None:
    compared = compare(warned(result_of(name, 0, "A", "B")), resamples=20)
    for form in [*TABLE_FORMS, "csv", "json", "print", "notebook", "rich"]:
        shown = shown_as(compared, form)
        assert PLANTED in " ".join(shown.split())
        if form == "latex":
            [line] = [line for line in shown.splitlines() if PLANTED in line]
            assert not line.startswith("%")


def shown_as(view: Any, form: str) -> str:
    if form == "print":
        return str(view)
    if form == "notebook":
        return Cells(view._repr_html_()).words
    if form == "rich":
        console = Console(file=io.StringIO(), width=300)
        console.print(view)
        return console.file.getvalue()
    return view.render(form)


def test_scores_are_shown_in_percent_or_as_fractions(scored: Result) -> None:
    percent, fraction = scored.to_text(), scored.to_text("fraction")
    assert percent.splitlines()[2].split() == ["system", "LAS", "UAS", "CLAS", "MLAS", "BLEX"]
    assert percent.splitlines()[4].split()[:2] == ["graph", "86.92"]
    assert fraction.splitlines()[4].split()[:2] == ["graph", "0.8692"]
    assert scored["graph"].las_f1 == pytest.approx(0.869158878)
    assert "Signature: ud.1; gold sha256:" in percent
    crossing = score(TREE, {"A": FLAT}, "parseval", format="bracketed").to_text()
    row = dict(zip(*(line.split() for line in crossing.splitlines()[2:4]), strict=True))
    assert row["CB"] == "0.00"
    assert row["LR"] == "66.67"


def test_segmentation_is_shown_only_where_it_differs(scored: Result) -> None:
    assert "Words" not in scored.to_text()
    assert "Words" in result_of("ud", 0, "A").to_text()


def test_an_undefined_score_is_a_dash_with_its_reason() -> None:
    shown = score("\n", {"A": "\n"}, "alignment", format="pharaoh").to_text()
    assert "A            -" in " ".join(shown.split(" ")) or "- " in shown
    assert "AER of A is undefined: neither gold has a sure link nor the output a link." in shown


def test_sentences_that_could_not_be_scored_are_counted_below() -> None:
    result = score(TREE * 2, {"A": TREE + "\n"}, "parseval", format="bracketed")
    assert "A: of 2 sentences 1 " in result.to_text()


def test_the_signature_names_what_differs_from_the_defaults() -> None:
    asked = {"name": "parseval", "params": {"preset": "evalb", "errors": "zero"}}
    shown = score(TREE, {"A": FLAT}, asked, format="bracketed", transforms=["flatten"]).to_text()
    assert "Signature: parseval.1(preset=evalb, errors=zero); transform flatten on gold; gold sha256:" in shown


def test_the_signature_of_a_comparison_names_it_too() -> None:
    asked = {"name": "parseval", "key": "brackets", "params": {"preset": "evalb", "cutoff": None}}
    outputs = {"A": TREE * 2, "B": FLAT * 2}
    result = score(TREE * 2, outputs, asked, format={"name": "bracketed", "layout": "lines"}, transforms=["flatten"])
    table = compare(result)
    line = (
        "Signature: brackets.labelled_f1 of parseval(preset=evalb); transform flatten on gold; "
        "gold format bracketed(layout=lines); system format bracketed(layout=lines); significance."
    )
    for form in ("text", "markdown", "latex", "html"):
        assert line in table.render(form).replace("\\_", "_"), form
    signature = table.comparisons[0]["signature"]
    assert [signature[name] for name in ("metric", "params")] == ["parseval", asked["params"]]


def test_a_signature_says_which_system_has_which_format() -> None:
    from_one = {"name": "pharaoh", "base": 1}
    outputs = [Output("A", "0-0\n1-0\n"), Output("B", "0-0\n0-0\n"), Output("C", "1-1\n2-2\n", from_one)]
    result = evaluate({"format": "pharaoh", "metrics": ["alignment"]}, "0-0\n1-1\n", outputs)
    named = "gold format pharaoh; format pharaoh of A, B; format pharaoh(base=1) of C; "
    assert f"Signature: alignment.1; {named}gold sha256:" in result.to_text()
    assert f"Signature: alignment.aer; {named}significance." in compare(result).to_text()


def test_a_stored_comparison_of_another_version_is_shown() -> None:
    document = compare(score(TREE, {"A": TREE, "B": FLAT}, "parseval", format="bracketed")).comparisons[0]
    signature = {**document["signature"], "params": {"gone": "x", "preset": "evalb"}}
    line = signature_of_comparison({**document, "signature": signature})
    assert line.startswith("Signature: parseval.labelled_f1(gone=x, preset=evalb); ")
    unknown = {**signature, "metric": "gone", "params": {"odd": True}, "format": "old"}
    assert "(odd=true); gold format old; system format bracketed; " in signature_of_comparison(
        {**document, "signature": unknown}
    )


def test_names_break_no_form() -> None:
    result = score(TREE, {HOSTILE: FLAT, "系统": FLAT}, "parseval", format="bracketed")
    words = result.to_text()
    grid = [line for line in words.splitlines() if "LP" in line or "系统" in line]
    assert len(grid) == 3
    assert len({cell_len(line) for line in grid}) == 1
    html = Cells(result.to_html())
    assert "script" not in html.tags
    assert html.tags.count("caption") == 1
    assert "<script>" in html.words
    assert "\\|" in result.to_markdown()
    assert "50\\% \\#1" in result.to_latex()
    rows = list(csv.DictReader(io.StringIO(result.to_csv(), newline="")))
    assert rows[0]["system"].startswith("'=1+1")
    assert shown_as(result, "rich").count("[red]r[/red]") == 1
    assert json.loads(result.to_json())["results"]["systems"][0]["name"] == HOSTILE


def test_an_unknown_form_or_unit_is_an_input_error(scored: Result) -> None:
    for form, unit in (("pdf", "percent"), ("text", "promille")):
        with pytest.raises(InputError, match="Choose one of"):
            scored.render(form, unit)  # type: ignore[arg-type]
    assert set(FORMS) == {*TABLE_FORMS, "csv", "json"}
    assert set(Comparison.forms) == {*FORMATS, "html"}


# Scores by name


def test_scores_are_attributes_where_only_one_metric_has_them(scored: Result) -> None:
    scores = scored["rules"]
    assert scores.las_f1 == scores["ud.las_f1"] == scores["ud"]
    assert "las_f1" in dir(scores)
    assert repr(scores).startswith("SystemScores('rules', ud.las_f1=0.7263")
    with pytest.raises(AttributeError, match="Did you mean 'las_f1'"):
        _ = scores.las
    both = score(
        GOLD,
        {"A": SYSTEMS / "rules.conllu"},
        ["attachment", "dependency_relations", {"name": "attachment", "key": "x"}],
    )
    assert both["A"].f1 == both["A"]["dependency_relations.f1"]
    with pytest.raises(AttributeError, match=r"attachment\.las"):
        _ = both["A"].las
    assert set(both["A"].signature) == {"attachment", "dependency_relations", "x"}
    assert not hasattr(object.__new__(SystemScores), "las_f1")


@pytest.mark.parametrize("name", sorted(METRICS))
def test_no_score_has_the_name_of_an_attribute(name: str) -> None:
    own = set(dir(SystemScores))
    assert not own & {score.name for score in result_of(name, 0).report.spec.entries[0].metric.table.scores}


# Errors


def counted(name: str, counts: dict[str, Any]) -> dict[str, int] | None:
    """How many errors of each kind the counts imply; None where they do not tell."""
    c = counts
    match name:
        case "attachment":
            return {"": c["tokens"] - c["correct_both"]}
        case "ud":
            return {"": c["las"]["gold"] - c["las"]["correct"]}
        case "parseval":
            return {"missed": c["gold"] - c["matched"], "wrong": c["system"] - c["matched"]}
        case "conformance":
            crossed = c["key_constituents_violated"]
            return {"crossed": crossed, "missed": c["key_constituents"] - c["matched"] - crossed}
        case "alignment":
            return {"wrong": c["links"] - c["links_in_possible"], "missed": c["sure"] - c["links_in_sure"]}
        case "dependency_relations":
            return {"wrong": c["answer"] - c["answer_correct"], "missed": c["key"] - c["key_found"]}
        case "parallel_treebank":
            words = sum(c[f"{side}_tokens"] - c[f"{side}_correct_both"] for side in ("source", "target"))
            links = c["links"] - c["links_in_possible"] + c["sure"] - c["links_in_sure"]
            return {"": words + links}
    return None


@every_example
def test_errors_are_as_many_as_the_counts_say(name: str, number: int) -> None:
    result = result_of(name, number, "A")
    rows = [row for row in result.errors("A") if "detail" not in row]
    expected = counted(name, result["A"].metrics[name]["counts"])
    if expected is None:
        assert rows
        return
    for kind, count in expected.items():
        assert len([row for row in rows if kind in ("", row["kind"])]) == count
    assert sum(expected.values()) == len(rows)


@every_example
def test_gold_has_no_errors_and_every_other_sentence_is_a_difference_to_it(name: str, number: int) -> None:
    result = result_of(name, number, "A")
    outcome = result.report.outcomes[1][name]
    assert not [row for row in result.errors("perfect") if outcome.status[row["item"] - 1] == OK]
    difference = result.diff("perfect", "A")
    wrong = {row["item"] for row in result.errors("A")}
    assert {row["item"] for row in difference} == {item for item in wrong if outcome.status[item - 1] == OK}
    assert not len(result.diff("A", "A"))
    for item in range(1, len(outcome.rows) + 1):
        beside = result.sentence("A", item)
        assert bool([row for row in beside if row["error"]]) <= (item in wrong)


@every_example
def test_filters_leave_the_errors_that_have_the_value(name: str, number: int) -> None:
    result = result_of(name, number, "A")
    every = [row for row in result.errors("A") if "detail" not in row]
    for filter_name, values in METRICS[name].error_filters.items():
        for value in {value for row in every for value in values(row)}:
            left = result.errors("A", **{filter_name: value})
            assert list(left) == list(result.errors("A", **{filter_name: [value, "nothing has this"]}))
            assert [row for row in every if value in list(values(row))] == [
                row for row in left if value in list(values(row))
            ]
            assert len(left)
        empty = result.errors("A", **{filter_name: "nothing has this"})
        assert len(empty) == 0
        assert f"No error has {filter_name} nothing has this. Errors have: " in empty.to_text()


def test_a_relation_stands_for_its_subtypes_and_a_label_for_its_extensions(scored: Result) -> None:
    relations = {row["gold_deprel"] for row in scored.errors("graph", deprel="obl")}
    assert {"obl", "obl:tmod"} & relations
    subtype = scored.errors("graph", deprel="obl:tmod")
    assert subtype
    assert all("obl:tmod" in (row["gold_deprel"], row["system_deprel"]) for row in subtype)
    gold = "(S (NP-SBJ (DT the) (NN dog)) (VP (VBD ran)))\n"
    plain = {"name": "parseval", "params": {"preset": "plain"}}
    result = score(gold, {"A": gold.replace("NP-SBJ", "NP")}, plain, format="bracketed")
    assert len(result.errors("A", label="NP")) == 2
    assert len(result.errors("A", label="NP-SBJ")) == 1


def test_lengths_and_sentences_choose_sentences(scored: Result) -> None:
    every = scored.errors("rules")
    lengths = np.diff(scored.report.gold.word_offsets)
    for asked, low, high in (("10-20", 10, 20), ("-9", 0, 9), ("21-", 21, 10**6), (12, 12, 12), ("12", 12, 12)):
        assert list(scored.errors("rules", length=asked)) == [
            row for row in every if low <= lengths[row["item"] - 1] <= high
        ]
    assert list(scored.errors("rules", sentence=[3, "harbour-1"])) == [row for row in every if row["item"] in (1, 3)]
    assert scored.sentence("rules", "harbour-2").title == scored.sentence("rules", 2).title


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"length": "ten"}, "bad-parameter"),
        ({"length": "-"}, "bad-parameter"),
        ({"length": -3.5}, "bad-parameter"),
        ({"length": True}, "bad-parameter"),
        ({"length": "٣"}, "bad-parameter"),
        ({"deprel": 7}, "bad-parameter"),
        ({"deprel": []}, "bad-parameter"),
        ({"label": "NP"}, "unknown-parameter"),
        ({"depRel": "obl"}, "unknown-parameter"),
        ({"limit": -1}, "bad-parameter"),
        ({"limit": "3"}, "bad-parameter"),
        ({"limit": True}, "bad-parameter"),
        ({"sentence": 0}, "unknown-sentence"),
        ({"sentence": "nowhere"}, "unknown-sentence"),
        ({"sentence": 2.5}, "unknown-sentence"),
    ],
)
def test_a_wrong_filter_is_an_input_error(scored: Result, asked: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as error:
        scored.errors("rules", **asked)
    assert error.value.problems[0].code == code
    assert error.value.problems[0].pointer == f"/{next(iter(asked))}"


def test_unknown_systems_metrics_groupings_are_input_errors_with_suggestions(scored: Result) -> None:
    for call, meant in (
        (lambda: scored.errors("grapf"), "graph"),
        (lambda: scored.errors("graph", "uds"), "ud"),
        (lambda: scored.slices("graph", "depril"), "deprel"),
        (lambda: scored.errors("graph", deprels="obl"), "deprel"),
    ):
        with pytest.raises(InputError, match=f"Did you mean '{meant}'"):
            call()


def test_lengths_of_links_must_be_known() -> None:
    result = score("0-0 1-1\n", {"A": "0-0\n"}, "alignment", format="pharaoh")
    with pytest.raises(InputError, match="lengths"):
        result.errors("A", length=2)
    known = score("0-0 1-1\n", {"A": "0-0\n"}, "alignment", format="pharaoh", items={"lengths": [[2, 2]]})
    assert len(known.errors("A", length=2)) == 1


def test_numbers_choose_sentences_and_how_many_errors_are_shown(scored: Result) -> None:
    every = scored.errors("rules")
    assert list(scored.errors("rules", limit=3)) == list(every[:3])
    assert scored.errors("rules", limit=3).title == every.title
    assert f"... and {len(every) - 3} more.\n" in scored.errors("rules", limit=3).to_text()
    assert all(list(scored.errors("rules", limit=limit)) == list(every) for limit in (0, None, len(every)))
    assert list(scored.errors("rules", sentence=np.int64(1))) == list(scored.errors("rules", sentence=1))
    assert list(scored.errors("rules", length=np.int64(5))) == list(scored.errors("rules", length=5))
    assert len(scored.diff("graph", "rules", limit=np.int64(2))) == 2


def test_slices_show_f1_with_precision_and_recall(scored: Result) -> None:
    view = scored.slices("rules", "deprel")
    assert view.shown is not None
    assert view.shown[-3:] == ("scores.las_f1", "scores.las_precision", "scores.las_recall")
    for row in view:
        parts = row["scores.las_precision"], row["scores.las_recall"]
        f1 = None if None in parts else 2 * parts[0] * parts[1] / (sum(parts) or 1)
        assert row["scores.las_f1"] == (None if f1 is None else pytest.approx(f1))


def test_errors_of_brackets_show_their_words() -> None:
    gold = "(S (NP (DT the) (NN cat)) (, ,) (VP (VBD sat) (PP (IN on) (NP (DT a) (NN mat)))) (. .))\n"
    output = "(S (NP (DT the) (NN cat)) (, ,) (VP (VBD sat)) (PP (IN on) (NP (DT a) (NN mat))) (. .))\n"

    def shown(gold: str, output: str, form: str = "bracketed", **params: Json) -> list[str | None]:
        asked = {"name": "parseval", "params": params}
        return [row["text"] for row in score(gold, {"A": output}, asked, format=form).errors("A")]

    assert shown(gold, output, preset="unsupervised") == ["sat on a mat"]
    for first in (0, 1):
        assert shown(gold, output, first_word=first) == ["sat on a mat", "sat"]
    assert shown(gold, output, preset="kikas-treumuth")[0] is None  # empty constituents count as words
    long = " ".join(f"(X w{number})" for number in range(30))
    begin = " ".join(f"w{number}" for number in range(20))
    assert shown(f"(S (Y y) (NP {long}))\n", f"(S (Y y) (VP {long}))\n") == [f"{begin} ..."] * 2
    gaps = "(ROOT (S (VP (NN 0=Buch) (VV 2=gelesen)) (VA 1=hat) (NP (PP 3=er) ($. 4=.)) ($. 5=.)))\n"
    flat = "(ROOT (S (NN 0=Buch) (VV 2=gelesen) (VA 1=hat) (PP 3=er) ($. 4=.) ($. 5=.)))\n"
    assert shown(gaps, flat, "discbracket", preset="discodop") == ["Buch ... gelesen", "er"]


def test_bounds_of_lengths() -> None:
    assert bounds_of("0-0") == (0, 0)
    assert bounds_of(" 5- ") == (5, float("inf"))


def test_brackets_are_counted_as_the_metric_counts_them_however_labels_are_equal() -> None:
    generator = np.random.default_rng(5)

    def tree(depth: int) -> str:
        if not depth or generator.random() < 0.2:
            return "(X x)"
        children = " ".join(tree(depth - 1) for _ in range(generator.integers(1, 3)))
        return f"({generator.choice(list('ABC'))} {children})"

    shapes = [f"(S {tree(4)} {tree(4)})" for _ in range(60)]
    other = [
        "".join(generator.choice(list("ABC")) if letter in "ABC" else letter for letter in each) for each in shapes
    ]
    for params in ({"equal_labels": [["A", "B"], ["A", "C"]]}, {"labelled": False}, {"first_word": 1}):
        asked = {"name": "parseval", "params": params}
        result = score("\n".join(shapes) + "\n", {"A": "\n".join(other) + "\n"}, asked, format="bracketed")
        counts = result["A"].metrics["parseval"]["counts"]
        kinds = [row["kind"] for row in result.errors("A")]
        assert kinds.count("missed") == counts["gold"] - counts["matched"]
        assert kinds.count("wrong") == counts["system"] - counts["matched"]


def test_a_sentence_that_is_not_scored_is_an_error_with_its_reason() -> None:
    outputs = {"A": TREE.replace("dog", "cat") + FLAT, "B": TREE + FLAT}
    with pytest.warns(TreescoreWarning, match="1 of 2 sentences cannot be compared.*The first: Word 2 .*errors: zero"):
        result = score(TREE * 2, outputs, "parseval", format="bracketed")
    [warning] = result.warnings
    assert (warning["code"], warning["system"], warning["sentence"]) == ("sentences-left-out", "A", 1)
    assert (
        score(TREE * 2, outputs, {"name": "parseval", "params": {"errors": "zero"}}, format="bracketed").warnings == []
    )
    first = result.errors("A")[0]
    assert first["kind"] == "error"
    assert "cat" in first["detail"]
    assert [row["kind"] for row in result.errors("A", label="NP")] == ["missed"]
    beside = result.sentence("A", 1)
    assert len(beside) == 0
    assert "error: Word 2 after deletions is 'cat'" in beside.to_text()
    assert not len(result.diff("A", "B"))
    assert {row["item"] for row in result.diff("B", "A")} == {1}


def test_views_are_sequences_and_long_ones_are_shortened_on_terminals() -> None:
    words = "".join(f"{place}\tw{place}\t_\tX\t_\t_\t{place - 1}\tdep\t_\t_\n" for place in range(1, 2 * LISTED)) + "\n"
    result = score(words, {"A": words.replace("dep", "obj")}, "attachment", format="conllu")
    view = result.errors("A")
    assert isinstance(view, View)
    assert len(view) == 2 * LISTED - 1 == len(list(csv.DictReader(io.StringIO(view.to_csv()))))
    assert f"... and {LISTED - 1} more rows." in str(view)
    assert "more rows" not in view.to_text()
    assert view[0] == view[:1][0]
    assert repr(view).startswith("View('399 errors of A under attachment'")


# Comparisons


def test_a_comparison_takes_its_settings_as_keywords(scored: Result) -> None:
    mapping = compare(scored, significance={"resamples": 50, "unit": "sentence", "scores": ["ud.uas_f1"]})
    keywords = compare(scored, resamples=50, unit="sentence", scores=("ud.uas_f1",))
    assert mapping.comparisons == keywords.comparisons
    assert keywords.comparisons[0]["score"] == "ud.uas_f1"
    both = compare(scored, significance={"resamples": 50, "alpha": 0.1}, alpha=0.2)
    assert both.comparisons[0]["alpha"] == 0.2
    hints = get_type_hints(Settings)
    assert set(hints) == {*PARAMS, "baseline", "scores"}
    for name, param in PARAMS.items():
        if "enum" in param.schema:
            assert list(get_args(hints[name])) == param.schema["enum"]
    assert keywords.result["graph"].las_f1 == scored["graph"].las_f1
    assert repr(keywords) == "Comparison('ud.uas_f1' of 'rules', 'graph')"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"alfa": 0.1}, "Did you mean 'alpha'"),
        ({"format": "conllu"}, "is scored already"),
        ({"units": "block"}, "'unit'"),
    ],
)
def test_an_unknown_keyword_of_compare_is_a_type_error(scored: Result, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        compare(scored, **asked)


def test_compare_takes_every_option_of_score() -> None:
    taken = set(score.__annotations__) - {"gold", "outputs", "metric", "significance", "return"}
    assert set(Options.__annotations__) - set(Settings.__annotations__) == taken


def test_figures_of_a_comparison_have_the_unit_that_is_asked(scored: Result) -> None:
    compared = compare(scored, resamples=50, margin=0.01)
    [pair] = compared.comparisons[0]["pairs"]
    percent, fraction = compared.to_text(), compared.to_text("fraction")
    assert f"Difference +{100 * abs(pair['difference']):.2f} [" in percent
    assert f"Difference +{abs(pair['difference']):.4f} [" in fraction
    assert "by more than 1 point: " in percent
    assert compared.to_csv() == compared.render("csv", "fraction")
    links = score("0-0 1-1\n" * 3, {"A": "0-0\n" * 3, "B": "1-1\n" * 3}, "alignment", format="pharaoh")
    assert "33.33" in str(compare(links, resamples=50))


def test_of_identical_outputs_nothing_else_is_said() -> None:
    same = compare(GOLD, {"A": SYSTEMS / "rules.conllu", "B": SYSTEMS / "rules.conllu"}, "ud")
    assert same.comparisons[0]["pairs"][0]["p"] == 1.0
    assert [note.partition(" ")[0] for note in same.comparisons[0]["notes"]] == ["Tested", "Each"]
    assert all(note in same.to_text() for note in same.comparisons[0]["notes"])


def test_several_scores_are_one_family_in_every_view(scored: Result) -> None:
    compared = compare(scored, resamples=50, scores=["ud.las_f1", "ud.uas_f1"])
    assert compared.across is not None
    for form in ("text", "markdown", "html", "rich", "notebook"):
        assert "2 tests as one family" in shown_as(compared, form)
    document = json.loads(compared.to_json())
    assert set(document) == {"results", "warnings"}
    assert set(document["results"]) == {"systems", "comparisons", "across"}


def test_tables_show_the_scores_and_decimals_that_are_asked_for(scored: Result) -> None:
    latex = scored.to_latex(scores=["UPOS", "las_f1", "ud.lemmas_f1"], decimals=1)
    assert "system & UPOS & LAS & lemmas\\_f1 \\\\" in latex
    assert re.search(r"^rules & \d+\.\d & \d+\.\d & \d+\.\d", latex, re.MULTILINE)
    assert scored.render("latex", scores=["UPOS", "las_f1", "ud.lemmas_f1"], decimals=1) == latex
    with pytest.raises(InputError, match="Unknown score 'LASS'"):
        scored.to_markdown(scores=["LASS"])
    compared = compare(scored)
    assert re.search(r"Difference [+-]\d+\.\d \[", compared.to_markdown(decimals=1).replace("\\", ""))
    assert max(map(len, compared.to_text(width=60).splitlines())) <= 60 < max(map(len, str(compared).splitlines()))


def test_each_system_is_tested_against_a_baseline(scored: Result) -> None:
    first, second = scored
    document = compare(scored, baseline=second).comparisons[0]
    assert document["signature"]["baseline"] == second
    assert [(pair["a"], pair["b"]) for pair in document["pairs"]] == [(first, second)]
    assert "baseline" not in compare(scored).comparisons[0]["signature"]
    with pytest.raises(InputError, match="Unknown system 'none'"):
        compare(scored, baseline="none")


def test_a_picture_is_shown_and_saved(scored: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = compare(scored, resamples=50).plot(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == picture._repr_svg_()
    picture.save(tmp_path / "b.SVG")
    assert (tmp_path / "b.SVG").read_text() == picture.svg
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    missing = r"A picture as PNG or PDF needs .* pip install 'treescore\[pictures\]'"
    for name, kind, why in (
        ("a.png", MissingExtra, missing), ("a.pdf", MissingExtra, missing), ("a", InputError, "ends in .svg, .png"),
    ):  # fmt: skip
        with pytest.raises(kind, match=why):
            picture.save(tmp_path / name)
        with pytest.raises(kind, match=why):
            compare(scored, resamples=50).plot(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svg", "b.SVG"]


@pytest.mark.libraries
def test_png_and_pdf_have_the_size_of_the_picture(scored: Result, tmp_path: Path) -> None:
    pytest.importorskip("cairosvg", reason="cairosvg is not installed", exc_type=ImportError)
    picture = compare(scored, resamples=50).plot(tmp_path / "a.png")
    picture.save(tmp_path / "a.PDF")
    width, height = (float(picture.svg.partition(f' {side}="')[2].partition('"')[0]) for side in ("width", "height"))
    found = struct.unpack(">II", (tmp_path / "a.png").read_bytes()[16:24])
    assert found == (pytest.approx(2 * width, abs=2), pytest.approx(2 * height, abs=2))
    assert (tmp_path / "a.PDF").read_bytes().startswith(b"%PDF")


def test_every_kind_of_picture_is_drawn_and_others_are_refused(scored: Result) -> None:
    compared = compare(scored, resamples=50)
    drawn = {kind: compared.plot(kind=kind, system="graph").svg for kind in PICTURE_KINDS}
    assert len(set(drawn.values())) == len(PICTURE_KINDS)
    for svg in drawn.values():
        check_picture(svg)
    assert compared.plot(kind="dots").svg != drawn["dots"]
    with pytest.raises(InputError, match=r"Unknown kind of picture 'power_'.*Choose one of: pairs, dots"):
        compared.plot(kind="power_")
    with pytest.raises(InputError, match=r"Name the system\. Choose one of"):
        compared.plot(kind="against")
    with pytest.raises(InputError, match=r"Unknown system 'grapf'.*graph"):
        compared.plot(kind="against", system="grapf")
    several = compare(scored, resamples=50, scores=["ud.las_f1", "ud.uas_f1"])
    check_picture(several.plot().svg)
    with pytest.raises(InputError, match=r"shows one score.*ud.las_f1, ud.uas_f1"):
        several.plot(kind="intervals")


def test_a_result_holds_what_it_compared(scored: Result) -> None:
    assert scored.comparison is None
    result = score(GOLD, [SYSTEMS / "rules.conllu", SYSTEMS / "graph.conllu"], significance={"resamples": 50})
    assert result.comparison is not None
    assert [each["score"] for each in result.comparison.comparisons] == ["ud.las_f1"]
    assert result.comparison.across is None


# Warnings


def test_what_is_unusual_is_warned_of_where_the_library_is_called() -> None:
    odd = "1\ta\t_\tX\t_\t_\t2\tdep\t_\t_\n2\tb\t_\tX\t_\t_\t1\tdep\t_\t_\n\n"
    tree = odd.replace("\t2\tdep", "\t0\troot")
    with pytest.warns(TreescoreWarning, match="^A, line 1") as caught:
        result = score(tree, {"A": odd, "B": tree}, "attachment", format="conllu")
    assert all(Path(each.filename) == Path(__file__) for each in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compared = compare(result, resamples=20)  # said once, by `score`
    assert any("cycle" in words for words in compared.warnings)
    assert any("cycle" in words for words in compared.comparisons[0]["warnings"])
    with pytest.warns(TreescoreWarning, match="^A, line 1") as caught:
        again = compare(tree, {"A": odd, "B": tree}, "attachment", format="conllu", resamples=20)
    assert all(Path(each.filename) == Path(__file__) for each in caught)
    assert again.warnings == compared.warnings
    with pytest.warns(TreescoreWarning, match="Tokens of one sentence"):
        compare(result, test="mcnemar", unit="token")


def test_warnings_of_another_metric_are_left_out_and_equal_ones_counted() -> None:
    many = [{**WARNING, "line": line} for line in range(1, 5)]
    others = [
        {**WARNING, "metric": "other"},
        {**WARNING, "system": "B"},
        {"code": "x", "detail": "Gold.", "pointer": "/gold"},
    ]
    result = result_of("attachment", 0, "A", "B")
    result = replace(result, report=result.report._replace(warnings=[*many, *others]))
    lines = list(compare(result, resamples=20).warnings)
    assert lines == [
        "A, line 1: The planted text is odd. Mend it. [planted-warning] (3 more like this)",
        "B, line 3: The planted text is odd. Mend it. [planted-warning]",
        "gold: Gold. [x]",
    ]
    assert result.errors("A").warnings == (lines[0], lines[2])


def test_the_path_of_a_file_keeps_its_slash() -> None:
    lines = warning_lines([{"code": "x", "detail": "Odd.", "pointer": FilePath("/data/gold.conllu"), "line": 2}])
    assert lines == ["/data/gold.conllu, line 2: Odd. [x]"]


# Data frames and progress


def test_progress_is_told_step_by_step() -> None:
    steps: list[tuple[int, int, str]] = []
    compare(GOLD, [SYSTEMS / "rules.conllu", SYSTEMS / "graph.conllu"], resamples=20,
            progress=lambda *step: steps.append(step))  # fmt: skip
    assert steps == [
        (0, 3, "reading gold"), (0, 3, "scoring rules"), (1, 3, "scoring graph"), (2, 3, "comparing ud.las_f1"),
    ]  # fmt: skip


def test_a_missing_library_is_named_by_the_command_that_installs_it(scored: Result, tmp_path: Path) -> None:
    program = """
import sys
sys.modules["pandas"] = sys.modules["polars"] = None
from treescore import MissingExtra, compare, score
result = score(sys.argv[1], {"A": sys.argv[2], "B": sys.argv[2]}, "ud")
for call in (result.to_frame, result.errors("A").to_frame):
    try:
        call()
    except MissingExtra as error:
        print(error)
print(sorted({"rich", "scipy", "numba"} & {name for name, loaded in sys.modules.items() if loaded}))
"""
    said = subprocess.run(
        [sys.executable, "-c", program, str(GOLD), str(SYSTEMS / "rules.conllu")],
        env={"PYTHONPATH": str(ROOT)}, cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert ["treescore[frames]" in line for line in said[:2]] == [True] * 2


@pytest.mark.libraries
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_either_library_hold_the_same(library: str, monkeypatch: pytest.MonkeyPatch, scored: Result) -> None:
    installed = pytest.importorskip(library, reason=f"{library} is not installed")
    monkeypatch.setattr("treescore.results.views.LIBRARIES", (library,))
    frame = scored.to_frame()
    assert isinstance(frame, installed.DataFrame)
    assert list(frame.columns) == ["system", "metric", "score", "value"]
    assert len(frame) == 2 * len(scored["graph"])
    compared = compare(scored, resamples=50)
    pairs = compared.to_frame()
    assert len(pairs) == 1
    assert pairs["difference"][0] == compared.comparisons[0]["pairs"][0]["difference"]
    errors = scored.errors("graph")
    assert len(errors.to_frame()) == len(errors)
    assert "scores.las_recall" in scored.slices("graph", "deprel").to_frame().columns


def test_results_load_nothing_that_they_may_not_need() -> None:
    program = "import sys, treescore.results; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"rich", "scipy", "numba", "treescore.render", "treescore.results.inspection"} & set(loaded)


def test_nothing_of_a_result_can_be_changed(scored: Result) -> None:
    for found in (scored, scored["rules"], scored.errors("rules"), compare(scored)):
        with pytest.raises(FrozenInstanceError):
            found.las_f1 = 1.0  # type: ignore[union-attr]


def test_heads_of_other_words_are_said_to_be_numbers_of_their_own_side() -> None:
    gold = "".join(f"{line}\n" for line in (word(1, "a", 2), word(2, "b", 0), word(3, "c", 2), ""))
    merged = "".join(f"{line}\n" for line in (word(1, "ab", 0), word(2, "c", 1), ""))
    result = score(
        gold, {"A": merged, "B": gold.replace("c\tc\tX\t_\t_\t2", "c\tc\tX\t_\t_\t1")}, "ud", format="conllu"
    )
    said = "Heads are numbers of each side's own words"
    assert said in str(result.errors("A"))
    assert said not in str(result.errors("B"))


def word(number: int, form: str, head: int) -> str:
    deprel = "dep" if head else "root"
    return f"{number}\t{form}\t{form}\tX\t_\t_\t{head}\t{deprel}\t_\t_"


def test_the_level_of_intervals_stands_in_every_table(scored: Result) -> None:
    table = compare(scored, level=0.9)
    assert "90 % interval" in table.to_markdown()
    assert "90 % interval" in str(table)
    assert r"90 \% interval" in table.to_latex()
    assert "90 % interval" in table._repr_html_()
