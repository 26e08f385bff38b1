"""Every golden case of constituency trees as a job over HTTP gives the published figures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.fixtures.golden_jobs import Caller, codes, metric_of
from tests.fixtures.service_process import ServiceProcess

pytestmark = pytest.mark.e2e

LINES = {"name": "bracketed", "layout": "lines", "unreadable": "sentence"}


@pytest.fixture(scope="module")
def caller(served: ServiceProcess) -> Iterator[Caller]:
    with served.client() as client:
        yield Caller(client)


# --- EVALB

# What EVALB stops at: the counts and the status that are given instead.
STOPPED = {
    "null_word": ("error", (0, 0, 0)),
    "space_before_close_in_preterminal": ("ok", (1, 1, 1)),
    "space_after_open": ("ok", (1, 1, 1)),
    "space_after_open_nonterminal": ("ok", (1, 1, 1)),
    "utf8_bom_gold": ("ok", (4, 4, 4)),
    "backslash_paren": ("error", (2, 2, 2)),
}
STATUS = ("ok", "error", "skip")
ROW = {"len": "length", "matched": "matched", "gold": "gold", "test": "system", "crossing": "crossing",
       "words": "words", "correct_tags": "correct_tags"}  # fmt: skip
SCORES = {"recall": "labelled_recall", "precision": "labelled_precision", "fmeasure": "labelled_f1",
          "complete": "exact_match", "no_crossing": "no_crossing", "two_or_less_crossing": "two_or_fewer_crossing",
          "tagging": "tagging_accuracy"}  # fmt: skip
TITLES = {"recall": "Bracketing Recall", "precision": "Bracketing Precision", "fmeasure": "Bracketing FMeasure",
          "complete": "Complete match", "no_crossing": "No crossing", "two_or_less_crossing": "2 or less crossing",
          "tagging": "Tagging accuracy", "avg_crossing": "Average crossing", "valid": "Number of Valid sentence",
          "error": "Number of Error sentence", "skip": "Number of Skip  sentence",
          "sentences": "Number of sentence"}  # fmt: skip


def parseval_job(gold: str, output: str, prm: str, **params: Any) -> dict[str, Any]:
    metrics = [{"name": "parseval", "params": {"prm": prm, **params}}]
    return {"format": LINES, "gold": gold, "output": output, "metrics": metrics}


def as_printed(value: float | None) -> set[str]:
    """A share as EVALB prints it: 0.00 or a form of nan where there is nothing to divide."""
    return {"0.00", "-nan", "nan"} if not value else {f"{100 * value:.2f}"}


def same_summary(metric: dict[str, Any], summary: dict[str, str]) -> bool:
    counts, scores = metric["counts"], metric["scores"]
    numbers = [str(counts[name]) == summary[name] for name in ("sentences", "error", "skip", "valid")]
    shares = [summary[theirs] in as_printed(scores[ours]) for theirs, ours in SCORES.items()]
    crossing = scores["mean_crossing"]
    return all([*numbers, *shares, summary["avg_crossing"] == f"{crossing or 0:.2f}"])


def test_evalb_cases(caller: Caller, golden: Any) -> None:
    """Row, status and summary of a pair of lines; shares are recomputed from counts as EVALB divides."""
    data = golden("evalb_cases")
    cases = data["cases"]
    found = caller.jobs(
        [parseval_job(case["gold"] + "\n", case["system"] + "\n", data["prm"][case["prm"]]) for case in cases]
    )
    for case, job in zip(cases, found, strict=True):
        metric, (item,) = metric_of(job, "parseval"), caller.items(job, "parseval")
        if not case["rows"]:
            status, figures = STOPPED[case["name"]]
            assert (item["status"], tuple(item["counts"][name] for name in ("matched", "gold", "system"))) == (
                status, figures), case["name"]  # fmt: skip
            continue
        row = case["rows"][0]
        assert item["status"] == STATUS[int(row["stat"])], case["name"]
        assert {theirs: item["counts"][ours] for theirs, ours in ROW.items()} == {
            theirs: int(row[theirs]) for theirs in ROW
        }, case["name"]
        assert same_summary(metric, case["summary"]), (case["name"], metric["scores"], case["summary"])


def test_evalb_files(caller: Caller, golden: Any) -> None:
    """EVALB's standard output to the byte; where it goes on to score files of unequal length, an input error."""
    prms = dict(golden("evalb_cases")["prm"])
    prms["maxerr2"] = prms["COLLINS"].replace("MAX_ERROR 10", "MAX_ERROR 2")
    cases = golden("evalb_files")["cases"]
    cutoffs = [{"cutoff": int(case["extra"][1])} if case["extra"][:1] == ["-c"] else {} for case in cases]
    found = caller.jobs(
        [
            parseval_job(case["gold"], case["system"], prms[case["prm"]], **cutoff)
            for case, cutoff in zip(cases, cutoffs, strict=True)
        ]
    )
    for case, job in zip(cases, found, strict=True):
        if "Number of lines unmatch" in case["stderr"]:
            assert codes(job) == ["sentence-count-mismatch"], case["name"]
            continue
        report = caller.read(job, "report", metric="parseval", style="evalb")
        assert report.headers["Content-Type"].startswith("text/plain")
        if case["returncode"] == 0:
            assert report.text == case["stdout"], case["name"]
        else:  # MAX_ERROR stopped it; we go on
            assert report.text.startswith(case["stdout"])
            assert "=== Summary ===" in report.text


# A sentence of other numbers of words counts as an error here, and the row of a gold word is not printed twice.
SPMRL_FAULTS = {"one_word_less", "one_word_gold_two_in_output"}


def test_spmrl(caller: Caller, golden: Any) -> None:
    """EVALB_SPMRL's standard output with and without -X, and the line of -L with the right names."""
    data = golden("field_spmrl")
    asked = [(name, option) for name in data["cases"] if name not in SPMRL_FAULTS for option in ("default", "X")]
    found = caller.jobs(
        [
            {
                "format": LINES,
                "gold": data["cases"][name]["gold"],
                "output": data["cases"][name]["system"],
                "metrics": [
                    {
                        "name": "parseval",
                        "params": {"preset": "spmrl", "unparsed": "spmrl" if option == "X" else "skip"},
                    }
                ],
            }
            for name, option in asked
        ]
    )
    for (name, option), job in zip(asked, found, strict=True):
        stdout = data["cases"][name]["stdout"]
        report = caller.read(job, "report", metric="parseval", style="evalb")
        assert report.text == stdout[option], (name, option)
        line = stdout["X_L" if option == "X" else "L"].rstrip("\n").rsplit("\n", 1)[1].split("\t")
        named = [line[0], line[2].replace("Rec", "Prec"), line[1].replace("Prec", "Rec"), *line[3:-1]]
        report = caller.read(job, "report", metric="parseval", style="spmrl")
        assert report.text.rstrip("\n").rsplit("\n", 1)[1] == "\t".join(named), (name, option)


def test_layouts(caller: Caller, golden: Any) -> None:
    """The default layout reads as the layout that the case names does, errors included."""
    cases = golden("field_layout")["cases"]
    asked = [
        (name, form) for name in cases for form in ("bracketed", {"name": "bracketed", "layout": cases[name]["layout"]})
    ]
    found = caller.jobs(
        [
            {"format": form, "gold": cases[name]["text"], "output": cases[name]["text"], "metrics": ["parseval"]}
            for name, form in asked
        ]
    )
    for guessed, given in zip(found[::2], found[1::2], strict=True):
        assert guessed["state"] == given["state"]
        if guessed["state"] == "failed":
            assert codes(guessed) == codes(given)
            assert "layout" in guessed["failure"]["errors"][0]["detail"]
        else:
            assert metric_of(guessed, "parseval")["counts"] == metric_of(given, "parseval")["counts"]


def test_evalb_real(caller: Caller, golden: Any, real_data: Any) -> None:
    expected = golden("evalb_real")
    places = {"gum__corenlp": ("gum/gold.mrg", "gum/corenlp.mrg"),
              "evalb_dist__sample": ("evalb/sample.gld", "evalb/sample.tst")}  # fmt: skip
    for state in ("brettrey.novalidator", "brettrey.validator", "nschneid.novalidator", "nschneid.validator"):
        places[f"cgel_iaa50__{state}"] = ("cgel/adjudicated.mrg", f"cgel/{state}.mrg")
    cases, requests = [], []
    for name, figures in expected["files"].items():
        pair, prm = name.rsplit("__", 1)
        if pair not in places:  # trees that may not be passed on
            continue
        gold, output = ((real_data / place).read_text(encoding="utf-8") for place in places[pair])
        cases.append(figures)
        text = expected["prm"].get(prm) or (real_data / "evalb" / f"{prm}.prm").read_text(encoding="utf-8")
        requests.append(parseval_job(gold, output, text))
    assert len(cases) == 8
    for figures, job in zip(cases, caller.jobs(requests), strict=True):
        metric = metric_of(job, "parseval")
        names = {title: name for name, title in TITLES.items()}
        whole, short = (
            {names.get(key, key): value for key, value in block.items()} for block in figures["summary"].values()
        )
        assert same_summary(metric, whole)
        assert same_summary({name: metric[name]["cutoff"] for name in ("counts", "scores")}, short)
        ours = {"test": "system"}
        for name, total in figures.get("totals", {}).items():
            assert metric["counts"][ours.get(name, name)] == total


# --- leaf-ancestor, conformance, preprocessing


def test_leaf_ancestor(caller: Caller, golden: Any) -> None:
    """Scores to three decimals, words and lineages as printed in the paper."""
    examples = golden("leaf_ancestor")["examples"]
    metrics = [{"name": "leaf_ancestor", "params": {"cost": "first-character"}}]
    found = caller.jobs(
        [{"format": "bracketed", "gold": one["gold"], "output": one["system"], "metrics": metrics} for one in examples]
    )
    for example, job in zip(examples, found, strict=True):
        scores = metric_of(job, "leaf_ancestor")["scores"]
        assert {round(scores[name], 3) for name in ("word_mean", "sentence_mean")} == {example["leaf_ancestor"]}
        (item,) = caller.items(job, "leaf_ancestor")
        if "words" in example:
            assert [{**word, "score": round(word["score"], 3)} for word in item["words"]] == example["words"]


def test_conformance(caller: Caller, golden: Any) -> None:
    """The published table, and the Penn tree made the flat key by the shipped rules."""
    table = golden("conformance")
    trees = table["trees"]
    rows = [*table["rows"], {**table["rows"][1], "key": "PTB", "flatten": True}]
    requests = [
        {
            "format": "bracketed",
            "gold": trees[row["key"]] + "\n",
            "output": trees[row["response"]] + "\n",
            "transforms": ["flatten"] if "flatten" in row else [],
            "metrics": ["conformance"],
        }
        for row in rows
    ]
    for row, job in zip(rows, caller.jobs(requests), strict=True):
        metric = metric_of(job, "conformance")
        names = ("key_constituents", "response_constituents", "matched", "key_constituents_violated")
        assert [metric["counts"][name] for name in names] == [row[name] for name in names]
        for name in ("recall", "precision", "conformance"):
            assert round(100 * metric["scores"][name]) == row[f"{name}_pct"]


def test_parseval_preprocessing(caller: Caller, golden: Any) -> None:
    """Kikas & Treumuth's tables 1 and 2: spans, and counts with and without the outer bracket."""
    tables = golden("parseval_preprocessing")
    first, second = tables["table1"], tables["table2"]
    clean = ["strip-functions", {"name": "drop-traces", "params": {"emptied": "word"}}]
    metrics = [
        {"name": "parseval", "key": key, "params": {"preset": "kikas-treumuth", "outer_bracket": key == "with"}}
        for key in ("with", "without")
    ]
    texts = [
        {"gold": first["tree"], "output": first["tree"], "transforms": []},
        {"gold": second["gold"], "output": second["system"], "transforms": clean},
        {"gold": second["gold"], "output": second["system"], "transforms": [*clean, "drop-empty"]},
    ]
    one, *two = caller.jobs([{"format": "bracketed", "metrics": metrics, **text} for text in texts])
    assert caller.items(one, "without")[0]["gold_spans"] == first["constituents"]
    for job, name in zip(two, ("clean_labels_only", "clean_labels_and_empty_phrases"), strict=True):
        for key in ("with", "without"):
            counts = metric_of(job, key)["counts"]
            found = {count: counts[count] for count in ("matched", "gold", "system")}
            expected = {count: second[name][count] for count in ("matched", "gold", "system")}
            assert found == {**expected, "gold": expected["gold"] + (key == "with")}
    spans = caller.items(two[0], "without")[0]["gold_spans"]
    assert sorted(spans) == sorted(second["clean_labels_only"]["gold_spans"])


def test_the_experiments_of_kikas_and_treumuth(caller: Caller, golden: Any) -> None:
    """The request as the page prints it: its rows, and its table of the most frequent errors."""
    page = (ROOT / "docs" / "metrics" / "constituent_transforms.md").read_text(encoding="utf-8")
    [request] = re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    [table] = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    texts = golden("parseval_preprocessing")["table2"]
    job = caller.job({**json.loads(request), "gold": texts["gold"], "output": texts["system"]})
    for key in ("none", "c", "cx", "cbx"):
        counts = metric_of(job, key)["counts"]
        assert f"| `{key}` | {counts['matched']} | {counts['gold']} | {counts['system']} |" in page
    assert caller.read(job, "report", metric="c", style="errors").text == table
    errors = metric_of(job, "c")["extra"]["errors"]["frequent"]
    assert errors[0] == {"kind": "wrong_span", "label": "VP", "count": 2}
