"""EVALB_SPMRL's own figures: what it prints of every golden case, with and without -X and -L."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import GOLDEN
from treescore.core.registry import ERROR, SKIP, STATUS_NAMES, Outcome
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.metrics.parseval.choices import PRESETS

_READ = json.loads((GOLDEN / "field_spmrl.json").read_text(encoding="utf-8"))
CASES: dict[str, dict[str, Any]] = _READ["cases"]
PRM: str = _READ["prm"]

OURS = {
    "one_word_less": "a sentence of other numbers of words is counted as an error",
    "one_word_gold_two_in_output": "its row is printed and counted once, as an error",
}
STYLES = {"default": "evalb", "X": "evalb", "L": "spmrl", "X_L": "spmrl"}


def run(gold: str, system: str, **params: Any) -> tuple[Outcome, dict[str, str], dict[str, Any]]:
    """The outcome, both reports and the scores."""
    spec = parse_spec(
        {
            "format": {"name": "bracketed", "layout": "lines", "unreadable": "sentence"},
            "metrics": [{"name": "parseval", "params": {"preset": "spmrl", **params}}],
        }
    )
    metric = spec.entries[0].metric
    outcome = Evaluation(spec, gold.encode()).score(system.encode())[0]["parseval"]
    reports = {style: metric.report(style, outcome) for style in metric.own_styles}
    counts = dict(zip(metric.table.count_names, outcome.totals.tolist(), strict=True))
    return outcome, reports, {**counts, **metric.table.values(outcome.totals)}


def unparsed_of(option: str) -> dict[str, str]:
    return {"unparsed": "spmrl"} if option.startswith("X") else {}


def expected_report(stdout: str, option: str) -> str:
    """What the program prints, with the right names of precision and recall and without the file's name."""
    if not option.endswith("L"):
        return stdout
    table, line = stdout.rstrip("\n").rsplit("\n", 1)
    fields = line.split("\t")
    assert fields[1].startswith("Prec: ")
    assert fields[2].startswith("Rec: ")
    fields[1:3] = [fields[2].replace("Rec", "Prec"), fields[1].replace("Prec", "Rec")]
    assert fields.pop() == "file: sys"
    return "\n".join([table, "\t".join(fields), ""])


AGREEING = [(name, option) for name in CASES if name not in OURS for option in STYLES]


def test_differences_are_those_that_the_cases_name() -> None:
    assert {name for name, case in CASES.items() if "ours" in case} == set(OURS)


@pytest.mark.parametrize("prm", [None, PRM], ids=["preset", "file"])
@pytest.mark.parametrize(("name", "option"), AGREEING)
def test_the_programs_output_to_the_byte(name: str, option: str, prm: str | None) -> None:
    case = CASES[name]
    _, reports, _ = run(case["gold"], case["system"], prm=prm, **unparsed_of(option))
    assert reports[STYLES[option]] == expected_report(case["stdout"][option], option)


@pytest.mark.parametrize("option", STYLES)
def test_another_number_of_words_is_an_error(option: str) -> None:
    case = CASES["one_word_less"]
    outcome, reports, _ = run(case["gold"], case["system"], **unparsed_of(option))
    assert outcome.status.tolist() == [ERROR, 0]
    assert outcome.problems[0].code == "word-count-mismatch"
    expected = (
        expected_report(case["stdout"][option], option)
        .replace("   1    3    0  ", "   1    3    1  ")
        .replace("Error sentence  =      0", "Error sentence  =      1")
        .replace("Valid sentence  =      2", "Valid sentence  =      1")
        .replace("Unparsed:      0", "Unparsed:      1")
    )
    assert reports[STYLES[option]] == expected


@pytest.mark.parametrize("option", STYLES)
def test_gold_of_one_word_is_no_exception(option: str) -> None:
    case = CASES["one_word_gold_two_in_output"]
    outcome, reports, scores = run(case["gold"], case["system"], **unparsed_of(option))
    assert outcome.status.tolist() == [ERROR, 0]
    assert (scores["sentences"], scores["error"], scores["valid"]) == (2, 1, 1)
    assert (scores["matched"], scores["gold"], scores["system"], scores["words"]) == (3, 3, 3, 2)
    rows = reports[STYLES[option]].split("\n")[3:5]
    assert rows[0] == "   1    1    1    0.00   0.00     0      0    0      0      0     0     0.00"
    assert rows[1] in case["stdout"][option]


MISSED = "(TOP (S (NP (NN rain)) (VP (VBZ falls))))\n"
OTHER = "(TOP (S (NP (NN snow)) (VP (VBZ falls))))\n"


@pytest.mark.parametrize("nothing", ["(())\n", "\n", "()\n"])
@pytest.mark.parametrize(("unparsed", "gold"), [("skip", 3), ("miss", 3 + 3), ("spmrl", 3 + 6 * 3 + 5)])
def test_what_a_sentence_without_a_parse_costs(unparsed: str, gold: int, nothing: str) -> None:
    """NP VP S: three brackets, or 23 with TOP, each weighted by the labels of the file that it is not."""
    outcome, _, scores = run(MISSED + OTHER, nothing + OTHER, unparsed=unparsed)
    assert outcome.status.tolist() == [SKIP, 0]
    assert outcome.answered.tolist() == [False, True]
    assert (scores["matched"], scores["gold"], scores["system"]) == (3, gold, 3)
    assert scores["labelled_recall"] == scores["unlabelled_recall"] == 3 / gold
    assert scores["labelled_precision"] == 1.0
    counted = unparsed != "skip"
    assert (scores["words"], scores["correct_tags"]) == (4 if counted else 2, 2)
    assert (scores["valid"], scores["skip"]) == (1 + counted, 1 - counted)
    assert scores["exact_match"] == (0.5 if counted else 1.0)
    assert scores["coverage"] == 0.5
    assert scores["cutoff.gold"] == gold


def test_the_weight_counts_every_entry_of_the_list_that_a_label_is_not() -> None:
    _, _, scores = run(MISSED, "\n", unparsed="spmrl", preset="spmrl-hebrew")
    assert scores["gold"] == 3 * 32 + 31
    _, _, scores = run(MISSED, "\n", unparsed="spmrl", delete_labels=["TOP", "TOP", "X"], equal_labels=[["S", "X"]])
    assert scores["gold"] == 2 + 3 + 4 + 4  # TOP is two of three entries; S is X; NP and VP are none
    _, _, scores = run("( (S (NP) (VP (VBZ falls))))\n", "\n", unparsed="spmrl")
    assert scores["gold"] == 5 + 6 + 6  # -NONE- ends before its first character: a bracket without a label is it


def test_miss_is_no_exact_match_where_gold_has_words_without_brackets() -> None:
    """EVALB_SPMRL -X counts it as one, since 0 of 0 brackets match."""
    assert run("(NN rain)\n", "\n", unparsed="spmrl")[2]["exact_match"] == 1.0
    assert run("(NN rain)\n", "\n", unparsed="miss")[2]["exact_match"] == 0.0
    assert run("\n", "\n", unparsed="miss")[2]["exact_match"] == 1.0


@pytest.mark.parametrize("unparsed", ["miss", "spmrl"])
def test_errors_zero_charges_such_sentences_whatever_else_is_asked(unparsed: str) -> None:
    plain, _, _ = run(MISSED + OTHER, "\n" + OTHER, errors="zero")
    both, _, scores = run(MISSED + OTHER, "\n" + OTHER, errors="zero", unparsed=unparsed)
    assert [row[:10] for row in both.rows.tolist()] == [row[:10] for row in plain.rows.tolist()]
    assert scores["parsed"] == scores["valid"] == scores["skip"] == 1
    assert scores["labelled_precision"] == scores["labelled_recall"] == 0.5


def test_unequal_words_are_not_charged_by_unparsed() -> None:
    _, _, scores = run(MISSED + OTHER, "(TOP (NP (NN rain)))\n" + OTHER, unparsed="miss")
    assert (scores["gold"], scores["error"], scores["valid"], scores["labelled_recall"]) == (3, 1, 1, 1.0)


def test_missed_brackets_are_in_slices_and_tables() -> None:
    outcome, _, scores = run(MISSED + OTHER, "\n" + OTHER, unparsed="miss")
    slices = {name: list(rows) for name, rows in outcome.slices().items()}
    assert sum(row["counts"]["gold"] for row in slices["label"]) == scores["gold"]
    assert outcome.extra()["errors"]["kinds"]["missing"] == 3
    assert [row["counts"]["parsed"] for row in slices["length"]] == [1]
    assert outcome.item(0)["gold_spans"] == [["S", 0, 2], ["NP", 0, 1], ["VP", 1, 2]]
    assert STATUS_NAMES[outcome.status[0]] == "skip"


def test_words_are_never_deleted_and_labels_and_tags_are_cut_alike() -> None:
    gold = "(TOP (S#x (NP-y (DET#a=b *) (NN-z w)) (-NONE- *)))\n"
    system = "(TOP (S=q (NP (DET=c *) (NN w)) (-NONE-#m *)))\n"
    _, _, scores = run(gold, system)
    assert (scores["matched"], scores["gold"], scores["system"]) == (2, 2, 2)
    assert (scores["words"], scores["correct_tags"]) == (3, 3)
    _, _, raw = run(gold, system, cut_tags=False)
    assert raw["correct_tags"] == 0


def test_the_labels_of_the_hebrew_treebank_are_deleted() -> None:
    tree = "(TOP (S (SYN_NN (NN a)) (SYN_ZVL (ZVL b)) (SYN_NP (NN c))))\n"
    assert run(tree, tree, preset="spmrl-hebrew")[2]["gold"] == 2
    assert run(tree, tree)[2]["gold"] == 4
    assert len(PRESETS["spmrl-hebrew"].delete_labels) == len(PRESETS["spmrl"].delete_labels) + 26
    assert (PRESETS["spmrl"].cutoff, PRESETS["spmrl-hebrew"].cutoff) == (70, 40)


def test_a_parameter_file_is_read_by_the_program_of_the_preset() -> None:
    def values(preset: str) -> dict[str, Any]:
        params = {"preset": preset, "prm": "DELETE_LABEL TOP\n"}
        spec = parse_spec({"format": "bracketed", "metrics": [{"name": "parseval", "params": params}]})
        chosen = spec.entries[0].metric.values
        return {name: chosen[name] for name in ("delete_labels", "cut_labels_at", "cut_tags", "delete_words", "cutoff")}

    file = {"delete_labels": ["TOP"], "cutoff": 40}
    assert values("spmrl") == {**file, "cut_labels_at": "-=#", "cut_tags": True, "delete_words": False}
    assert values("plain") == {**file, "cut_labels_at": "-=", "cut_tags": False, "delete_words": True}


def test_the_line_can_be_printed_alone():
    spec = parse_spec({"format": "bracketed", "metrics": [{"name": "parseval", "params": {"preset": "spmrl"}}]})
    metric, outcome = spec.entries[0].metric, Evaluation(spec, b"(S (X a))\n").score(b"(S (X a))\n")[0]["parseval"]
    line = metric.report("spmrl-line", outcome)
    assert line.startswith("F1: 100.00 %\tPrec: 100.00 %\t")
    assert metric.report("spmrl", outcome).endswith(f"\n{line}")
