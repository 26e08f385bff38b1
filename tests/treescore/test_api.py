"""`treescore.score` and `treescore.compare`: what they take, what they give, and what they say of wrong arguments."""

from __future__ import annotations

import bz2
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import treescore
from treescore import InputError, LimitError, ScoringError, compare, score, suggest
from treescore.core.registry import FORMATS, METRICS
from treescore.core.text import Limits
from treescore.evaluation import spec  # noqa: F401 - fills the registry

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
GOLD = EXAMPLES / "dependencies" / "gold.conllu"
SYSTEMS = EXAMPLES / "dependencies" / "systems"
TREE = "(S (NP (DT the) (NN dog)) (VP (VBD ran)))\n"
FLAT = "(S (DT the) (NN dog) (VP (VBD ran)))\n"
SENTENCE = "1\tGo\t_\tX\t_\t_\t0\troot\t_\t_\n2\thome\t_\tX\t_\t_\t1\tadvmod\t_\t_\n\n"


def problem_of(error: pytest.ExceptionInfo[ScoringError]) -> tuple[str, str]:
    (problem,) = error.value.problems
    return problem.code, problem.pointer


def test_files_are_scored_by_their_suffixes_and_named_by_their_stems() -> None:
    result = score(str(GOLD), [SYSTEMS / "rules.conllu", str(SYSTEMS / "graph.conllu")])
    assert list(result) == ["rules", "graph"]
    assert result["graph"]["ud.las_f1"] == result["graph"]["ud"] == pytest.approx(0.869158878)
    assert result.comparisons == []
    assert result["graph"].metrics["ud"]["counts"]["las"]["gold"] == 749
    assert set(result["graph"]) >= {"ud.las_f1", "ud.uas_precision"}
    assert repr(result) == "Result('rules', 'graph')"


@pytest.mark.parametrize("convert", [str, str.encode], ids=["string", "bytes"])
def test_texts_are_scored_without_files(convert) -> None:
    result = score(convert(TREE), {"A": convert(FLAT)}, "parseval", format="bracketed")
    assert result["A"]["parseval.labelled_recall"] == pytest.approx(2 / 3)
    alone = score(convert(TREE), convert(FLAT), "parseval", format="bracketed")
    assert alone["1"]["parseval"] == result["A"]["parseval"]


@pytest.mark.parametrize("name", ["bracketed", "discbracket", "pharaoh", "talp"])
def test_blank_lines_after_the_last_sentence_are_ignored_with_a_warning(name: str) -> None:
    text = FORMATS[name].example
    with pytest.warns(treescore.TreescoreWarning, match=r"2 blank lines stand .*blank-line-at-end"):
        found = score(text, {"A": text + b"\n \n"}, format=name)
    assert dict(found["A"]) == dict(score(text, {"A": text}, format=name)["A"])
    with pytest.raises(InputError, match="Gold ends with 2 blank lines: remove what stands for no sentence"):
        score(text + b"\n \n", {"A": text}, format=name)
    more = text + b"\n" + text.splitlines()[0] + b"\n"
    with pytest.raises(InputError) as caught:
        score(text, {"A": more}, format=name)
    assert problem_of(caught)[0] == "sentence-count-mismatch"


@pytest.mark.parametrize(
    ("name", "gold"), [("bracketed", "(S (X (a)))\n"), ("bracketed", "\n\n"), ("discbracket", "\n\n")]
)
def test_gold_without_words_is_an_error(name: str, gold: str) -> None:
    with pytest.raises(InputError, match="Gold has no word") as caught:
        score(gold, {"A": gold}, format=name)
    assert problem_of(caught) == ("gold-without-words", "/gold")


def test_a_mapping_of_texts_is_one_parallel_treebank(tmp_path: Path) -> None:
    texts = {"source": SENTENCE, "target": SENTENCE.encode(), "alignment": tmp_path / "links.pharaoh"}
    (tmp_path / "links.pharaoh").write_text("0-0 1-1\n", encoding="utf-8")
    result = score(texts, {"A": texts}, format={"name": "parallel", "alignment": "pharaoh"})
    assert result["A"]["parallel_treebank.pts"] == 1.0


def test_one_transform_may_stand_without_a_list() -> None:
    alone, listed = (
        score(TREE, {"A": FLAT}, "parseval", format="bracketed", transforms=transforms)
        for transforms in ("flatten", ["flatten"])
    )
    assert alone.document == listed.document


def test_several_metrics_and_transforms_are_those_of_a_request() -> None:
    metrics = ["leaf_ancestor", {"name": "parseval", "key": "plain", "params": {"preset": "plain"}}]
    result = score(TREE, {"A": FLAT}, metrics, format="bracketed", transforms=["flatten"])
    assert list(result["A"].metrics) == ["leaf_ancestor", "plain"]
    assert result["A"].metrics["plain"]["signature"]["transforms"][0]["name"] == "flatten"


def test_an_undefined_score_is_nan() -> None:
    nothing = score("\n", {"A": "\n"}, "alignment", format="pharaoh")
    assert math.isnan(nothing["A"]["alignment.aer"])


def test_compare_tells_which_differences_are_real_and_a_result_is_compared_without_scoring_again() -> None:
    outputs = {name: SYSTEMS / f"{name}.conllu" for name in ("rules", "graph", "neural-a")}
    compared = compare(GOLD, outputs, "attachment", significance={"seed": 3, "resamples": 200})
    (document,) = compared.comparisons
    assert document["score"] == "attachment.las"
    assert len(document["pairs"]) == 3
    scored = score(GOLD, outputs, "attachment")
    again = compare(scored, significance={"seed": 3, "resamples": 200, "scores": ["attachment.las", "attachment.uas"]})
    assert [each["score"] for each in again.comparisons] == ["attachment.las", "attachment.uas"]
    assert again.comparisons[0] == document
    assert scored.comparisons == []
    assert again.document["systems"] == compared.document["systems"]


RUNS = {
    "A": [SYSTEMS / "neural-a.conllu", SYSTEMS / "neural-b.conllu"],
    "B": [SYSTEMS / "rules.conllu", SYSTEMS / "graph.conllu"],
}


def test_a_list_of_outputs_are_training_runs_of_one_system() -> None:
    result = compare(GOLD, RUNS, "attachment", significance={"resamples": 200})
    assert list(result.result) == ["A", "A.2", "B", "B.2"]
    [comparison] = result.comparisons
    assert [system["name"] for system in comparison["systems"]] == ["A", "B"]
    assert "runs_test" in comparison["pairs"][0]
    again = compare(score(GOLD, RUNS, "attachment"), significance={"resamples": 200})
    assert again.comparisons[0] == comparison
    fixed = compare(GOLD, RUNS, "attachment", significance={"resamples": 200, "runs": "fixed"}).comparisons[0]
    assert "runs_test" not in fixed["pairs"][0]


def test_the_document_is_that_of_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "treescore.cli.main", "score", "--format", "conllu", "--metric", "ud"]
    outputs = [str(SYSTEMS / "rules.conllu"), str(SYSTEMS / "graph.conllu")]
    printed = subprocess.run(
        [*command, "--json", "--significance", '{"resamples": 100}', str(GOLD), *outputs],
        cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    result = score(GOLD, outputs, "ud", significance={"resamples": 100})
    assert json.loads(printed.stdout) == {"results": result.document, "warnings": result.warnings}


def test_formats_declare_known_metrics_and_suffixes_of_their_own() -> None:
    suffixes = [suffix for known in FORMATS.values() for suffix in known.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    assert all(suffix.startswith(".") for suffix in suffixes)
    for known in FORMATS.values():
        assert not known.usual_metric or known.yields in METRICS[known.usual_metric].reads


@pytest.mark.parametrize(
    ("gold", "outputs", "options", "expected"),
    [
        (TREE, FLAT, {"format": None}, ("unknown-format", "/format")),
        ("gold.txt", FLAT, {"format": None}, ("unknown-format", "/format")),
        ("missing.mrg", FLAT, {"format": None}, ("unreadable-file", "/gold")),
        (TREE, "missing", {}, ("unreadable-file", "missing")),
        (TREE, "x" * 5000, {}, ("unreadable-file", "x" * 5000)),
        (TREE, "a\0b", {}, ("unreadable-file", "a\0b")),
        (TREE, ["a/x.mrg", "a/x.mrg"], {}, ("duplicate-system-name", "/outputs/1")),
        (TREE, {"A": []}, {}, ("too-few-runs", "/outputs")),
        (TREE, {"A": [FLAT, FLAT], "A.2": FLAT}, {}, ("duplicate-system-name", "/outputs/2")),
        (TREE, {"A": [FLAT, "(("]}, {}, ("unreadable-file", "((")),
        (TREE, {"A": FLAT}, {"significance": {"runs": "all"}}, ("bad-parameter", "/significance/runs")),
        (
            TREE,
            {"A": FLAT, "B": FLAT},
            {"significance": {"runs": "random"}},
            ("no-training-runs", "/significance/runs"),
        ),
        (TREE, {"A": {"source": FLAT}}, {}, ("wrong-text-shape", "/outputs/A")),
        (TREE, {"A": FLAT}, {"format": "parallel"}, ("wrong-text-shape", "/gold")),
        (TREE, {"A": FLAT}, {"metric": "nonsense"}, ("unknown-metric", "/metrics/0")),
        (TREE, {"A": FLAT}, {"metric": [{"key": "x"}]}, ("wrong-type", "/metrics/0/name")),
        (TREE, {"A": FLAT}, {"metric": [5]}, ("wrong-type", "/metrics/0")),
        (TREE, {"A": FLAT}, {"metric": {"name": "parseval", "params": 1}}, ("wrong-type", "/metrics/0/params")),
        (TREE, {"A": FLAT}, {"transforms": [{"name": "flatten", "on": 1}]}, ("wrong-type", "/transforms/0/on")),
        (TREE, {"A": FLAT}, {"format": {"x": 1}, "metric": "parseval"}, ("wrong-type", "/format/name")),
        (TREE, {"A": FLAT}, {"system_format": "x"}, ("unknown-format", "/system_format")),
        (TREE, {"A": FLAT}, {"significance": [1]}, ("wrong-type", "/significance")),
        (TREE, {"A": FLAT}, {"significance": {"seed": "x"}}, ("bad-parameter", "/significance/seed")),
        (TREE, {"A": FLAT}, {"items": [1]}, ("wrong-type", "/items")),
        (TREE, {"A": FLAT}, {"items": {"lengths": [[1]]}}, ("wrong-type", "/items/lengths/0")),
        (TREE, {"A": FLAT}, {"items": {"seconds": {"A": ["x"]}}}, ("wrong-type", "/items/seconds/A/0")),
        (TREE, {"A": FLAT}, {"items": {"blocks": ["x", "y"]}}, ("item-count-mismatch", "/items/blocks")),
        (TREE, {"A": "\udcff\n"}, {}, ("invalid-utf8", "/outputs/A")),
        (SENTENCE, {"A": TREE + "a b\n"}, {"format": "conllu"}, ("wrong-format", "/outputs/A")),
        (TREE, {"A\udcff": FLAT}, {}, ("bad-name", "/outputs/0")),
        (TREE, {}, {}, ("too-few-systems", "/outputs")),
        (TREE, "", {}, ("unreadable-file", "")),
        (TREE, {"A": FLAT}, {"metric": 1}, ("wrong-type", "/metrics/0")),
        (TREE, {"A": FLAT}, {"transforms": 1}, ("wrong-type", "/transforms/0")),
        (TREE, {"A": FLAT}, {"metric": {"name": "parseval", "parms": {}}}, ("unknown-parameter", "/metrics/0/parms")),
    ],
)
def test_what_is_wrong_is_an_input_error_with_its_place(gold, outputs, options, expected) -> None:
    with pytest.raises(InputError) as error:
        score(gold, outputs, **{"format": "bracketed", **options})
    assert (problem_of(error), error.value.total) == (expected, 1)


def test_values_of_programs_are_taken_as_those_of_json() -> None:
    tags = {"name": "attachment", "params": {"exclude_tags": ("NN",), "subtypes": np.bool_(False)}}
    listed = {"name": "attachment", "params": {"exclude_tags": ["NN"], "subtypes": False}}
    files = GOLD, {"A": SYSTEMS / "graph.conllu"}
    taken = score(*files, (each for each in [tags]))
    assert taken.document == score(*files, [listed]).document
    assert (
        score("0-0 1-1\n", {"A": [{(np.int64(0), np.int64(0))}]}, format="pharaoh")["A"]["alignment.sure_recall"] == 0.5
    )
    with pytest.raises(InputError, match="empty, as a generator that was read before"):
        score(iter(()), {"A": SYSTEMS / "graph.conllu"}, "ud", format="conllu")


def test_scores_are_named_as_in_tables() -> None:
    files = GOLD, [SYSTEMS / "rules.conllu", SYSTEMS / "graph.conllu"]
    both = compare(*files, scores=["LAS", "uas"])
    assert [each["score"] for each in both.comparisons] == ["ud.las_f1", "ud.uas_f1"]
    result = score(*files)
    assert [each["score"] for each in compare(result, scores="LAS").comparisons] == ["ud.las_f1"]
    assert result["graph"]["las_f1"] == result["graph"].las_f1
    assert result.to_latex(scores="LAS") == result.to_latex(scores=["LAS"])  # type: ignore[arg-type]


@pytest.mark.parametrize("decimals", [-1, 1.5, "x", True])
def test_a_number_of_decimals_is_a_whole_one(decimals) -> None:
    result = score(GOLD, [SYSTEMS / "rules.conllu", SYSTEMS / "graph.conllu"], "ud", significance=True)
    for shown in (result, result.comparison):
        with pytest.raises(InputError, match="is not a number of decimals"):
            shown.to_text(decimals=decimals)


def test_the_metric_that_prints_a_style_is_found() -> None:
    metrics = ["ud", {"name": "attachment", "params": {"confusion": True}}]
    result = score(GOLD, {"A": SYSTEMS / "graph.conllu"}, metrics)
    assert result.to_text(style="eval07") == result.to_text(style="eval07", metric="attachment")
    with pytest.raises(InputError, match="where its parameter of this name is true"):
        score(GOLD, {"A": SYSTEMS / "graph.conllu"}, "attachment").to_text(style="confusion")


def test_packed_files_are_named_where_their_format_is_looked_for(tmp_path: Path) -> None:
    (tmp_path / "graph.bz2").write_bytes(bz2.compress(b"x"))
    with pytest.raises(InputError) as error:
        suggest(tmp_path / "graph.bz2")
    assert problem_of(error) == ("packed-text", str(tmp_path / "graph.bz2"))


def test_a_limit_and_a_comparison_of_one_are_refused() -> None:
    with pytest.raises(LimitError):
        score(TREE, {"A": FLAT}, format="bracketed", limits=Limits(max_words=2))
    with pytest.raises(InputError, match="two or more"):
        compare(TREE, {"A": FLAT}, format="bracketed")
    with pytest.raises(InputError, match="two or more"):
        compare(TREE, {"A": [FLAT, FLAT]}, format="bracketed")
    with pytest.raises(InputError, match="two or more"):
        compare(score(TREE, {"A": FLAT}, format="bracketed"))
    both = score(TREE, {"A": FLAT, "B": FLAT}, format="bracketed")
    with pytest.raises(InputError) as error:
        compare(both, significance={"scores": ["parseval.nonsense"]})
    assert problem_of(error) == ("unknown-score", "/significance/scores/0")


@pytest.mark.parametrize(
    ("outputs", "changes", "pointer"),
    [
        ({"A": None}, {}, "/outputs/A"),
        ({"A": 7}, {}, "/outputs/A"),
        ({7: FLAT}, {}, "/outputs"),
        ({"A": FLAT}, {"format": 7}, "/format"),
        ({"A": FLAT, "B": FLAT}, {"significance": {"alpha": float("nan")}}, "/significance/alpha"),
        ({"A": FLAT, "B": FLAT}, {"significance": {7: 1}}, "/significance/7"),
        ({"A": FLAT}, {"metric": {"name": "leaf_ancestor", "params": {"cost": {"pairs": [["a", "b", float("inf")]]}}}},
         "/metrics/0/params/cost"),
    ],
)  # fmt: skip
def test_a_value_that_no_request_can_hold_is_refused_with_its_place(outputs, changes, pointer) -> None:
    with pytest.raises(InputError) as error:
        score(TREE, outputs, **{"format": "bracketed", **changes})
    assert problem_of(error)[1] == pointer


def test_unknown_systems_and_scores_are_key_errors() -> None:
    result = score(TREE, {"A": FLAT}, format="bracketed")
    with pytest.raises(KeyError, match="Systems: A"):
        result["B"]
    with pytest.raises(KeyError, match="nonsense"):
        result["A"]["parseval.nonsense"]


def test_every_public_name_is_loaded_at_its_first_use() -> None:
    for name in treescore.__all__:
        assert getattr(treescore, name) is not None
        assert name in dir(treescore)
    with pytest.raises(AttributeError, match="nonsense"):
        treescore.nonsense  # noqa: B018 - must fail


def test_an_error_of_a_text_says_where_it_is(tmp_path: Path) -> None:
    gold, wrong = tmp_path / "gold.conllu", tmp_path / "wrong.conllu"
    line = "1\ta\ta\tX\t_\t_\t{}\troot\t_\t_\n\n"
    gold.write_text(line.format(0), encoding="utf-8")
    wrong.write_text(line.format(9), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        score(gold, wrong)
    assert str(caught.value).startswith(f"{wrong}, line 1, column 7: HEAD is 9")


def test_other_sentences_are_counted_and_lead_to_the_metric_ud() -> None:
    line = "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n\n"
    with pytest.raises(InputError, match=r"has 2 sentences, gold has 1\..* use the metric ud\."):
        score(line, line * 2, "attachment", format="conllu")


def test_one_score_to_compare_needs_no_list() -> None:
    gold, other = "(S (A a) (B b))\n", "(S (A a) (C b))\n"
    table = compare(gold, {"A": gold, "B": other}, format="bracketed", scores="parseval.tagging_accuracy")
    assert [document["score"] for document in table.comparisons] == ["parseval.tagging_accuracy"]
