"""EVALB's own figures: every golden case, row, total and summary, to the printed digit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import GOLDEN
from treescore.core.registry import ERROR, OK, Outcome
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec

_READ = {
    name: json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8")) for name in ("evalb_cases", "evalb_files")
}
PRM: dict[str, str] = _READ["evalb_cases"]["prm"]
PRM["maxerr2"] = PRM["COLLINS"].replace("MAX_ERROR 10", "MAX_ERROR 2")
CASES: list[dict[str, Any]] = _READ["evalb_cases"]["cases"]
FILES: list[dict[str, Any]] = _READ["evalb_files"]["cases"]

SUMMARY = {
    "sentences": "Number of sentence",
    "error": "Number of Error sentence",
    "skip": "Number of Skip  sentence",
    "valid": "Number of Valid sentence",
    "recall": "Bracketing Recall",
    "precision": "Bracketing Precision",
    "fmeasure": "Bracketing FMeasure",
    "complete": "Complete match",
    "avg_crossing": "Average crossing",
    "no_crossing": "No crossing",
    "two_or_less_crossing": "2 or less crossing",
    "tagging": "Tagging accuracy",
}


def run(gold: str | bytes, system: str | bytes, **params: Any) -> tuple[Outcome, str]:
    """The outcome and EVALB's report; unreadable sentences cost themselves, a sentence is a line, as for EVALB."""
    spec = parse_spec(
        {
            "format": {"name": "bracketed", "layout": "lines", "unreadable": "sentence"},
            "metrics": [{"name": "parseval", "params": params}],
        }
    )
    texts = [text.encode() if isinstance(text, str) else text for text in (gold, system)]
    outcome = Evaluation(spec, texts[0]).score(texts[1])[0]["parseval"]
    return outcome, spec.entries[0].metric.report("evalb", outcome)


def printed(report: str) -> tuple[list[list[str]], list[dict[str, str]]]:
    """Rows and the two summaries of a report, as strings."""
    _, rows, rest = report.split("=" * 76 + "\n")
    blocks = rest.split("\n\n")[1:]
    summaries = [
        dict(tuple(part.strip() for part in line.split("=", 1)) for line in block.strip().split("\n")[1:])
        for block in blocks
    ]
    return [row.split() for row in rows.splitlines()], summaries


SCORED = [case for case in CASES if case["rows"]]
STOPPED = [case for case in CASES if not case["rows"]]


@pytest.mark.parametrize("case", SCORED, ids=lambda case: case["name"])
def test_a_pair_of_lines_is_scored_as_evalb_does(case: dict[str, Any]) -> None:
    _, report = run(case["gold"] + "\n", case["system"] + "\n", prm=PRM[case["prm"]])
    rows, summaries = printed(report)
    expected = case["rows"][0]
    assert rows == [[str(value) for value in (expected.values() if isinstance(expected, dict) else expected)]]
    assert {name: summaries[0][line] for name, line in SUMMARY.items()} == case["summary"]


# What EVALB stops at, printing nothing, and what is done instead.
INSTEAD = {
    "null_word": ("text-outside-brackets", None),
    "space_before_close_in_preterminal": (None, (1, 1, 1)),  # (NN dog ) is (NN dog)
    "space_after_open": (None, (1, 1, 1)),  # ( NN dog) is (NN dog)
    "space_after_open_nonterminal": (None, (1, 1, 1)),  # ( TOP (NP ...)) is (TOP (NP ...))
    "utf8_bom_gold": (None, (4, 4, 4)),  # a byte order mark is no text
    "backslash_paren": ("bracket-unclosed", None),  # there is no escape: (NN \() leaves a bracket open
}


def test_nothing_else_stops_evalb() -> None:
    assert {case["name"] for case in STOPPED} == set(INSTEAD)


@pytest.mark.parametrize("case", STOPPED, ids=lambda case: case["name"])
def test_where_evalb_stops_the_sentence_is_scored_or_is_an_error(case: dict[str, Any]) -> None:
    outcome, _ = run(case["gold"] + "\n", case["system"] + "\n", prm=PRM[case["prm"]])
    code, figures = INSTEAD[case["name"]]
    if code is None:
        assert outcome.status.tolist() == [OK]
        assert tuple(outcome.rows[0, :3].tolist()) == figures
    else:
        assert outcome.status.tolist() == [ERROR]
        assert outcome.problems[0].code == code
        assert not outcome.rows[0, :6].any()


UNEQUAL = {"gold_one_line_more", "one_line_dropped_in_test"}


@pytest.mark.parametrize("case", FILES, ids=lambda case: case["name"])
def test_a_pair_of_files_gives_evalbs_output_to_the_byte(case: dict[str, Any]) -> None:
    """Files of unequal length are refused; where MAX_ERROR stops EVALB, its rows so far are ours, and we go on."""
    params: dict[str, Any] = {"prm": PRM[case["prm"]]}
    if case["extra"][:1] == ["-c"]:
        params["cutoff"] = int(case["extra"][1])
    if case["name"] in UNEQUAL:
        with pytest.raises(InputError) as caught:
            run(case["gold"], case["system"], **params)
        assert caught.value.problems[0].code == "sentence-count-mismatch"
        return
    _, report = run(case["gold"], case["system"], **params)
    if case["returncode"] == 0:
        assert report == case["stdout"]
    else:
        assert report.startswith(case["stdout"])
        assert "=== Summary ===" in report


def _real_cases() -> dict[str, tuple[str, str, str]]:
    cases = {
        "gum__corenlp__COLLINS_root": ("gum/gold.mrg", "gum/corenlp.mrg", "COLLINS_root"),
        "gum__corenlp__nodelete": ("gum/gold.mrg", "gum/corenlp.mrg", "nodelete"),
        "evalb_dist__sample__COLLINS": ("evalb/sample.gld", "evalb/sample.tst", "COLLINS"),
        "evalb_dist__sample__sample": ("evalb/sample.gld", "evalb/sample.tst", "evalb/sample.prm"),
    }
    for annotator in ("brettrey", "nschneid"):
        for state in ("novalidator", "validator"):
            name = f"{annotator}.{state}"
            cases[f"cgel_iaa50__{name}__nodelete"] = ("cgel/adjudicated.mrg", f"cgel/{name}.mrg", "nodelete")
    return cases


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if "gum" in name else ()) for name in _real_cases()]
)
def test_real_outputs_have_evalbs_summary(name: str, real_data: Path, golden: Any) -> None:
    expected = golden("evalb_real")
    gold, system, prm = _real_cases()[name]
    text = expected["prm"].get(prm) or (real_data / prm).read_text(encoding="utf-8")
    outcome, report = run((real_data / gold).read_bytes(), (real_data / system).read_bytes(), prm=text)
    _, summaries = printed(report)
    wanted = list(expected["files"][name]["summary"].values())
    assert [{SUMMARY.get(key, key): value for key, value in block.items()} for block in wanted] == summaries
    totals = expected["files"][name].get("totals")
    if totals:
        shown = [totals[key] for key in ("matched", "gold", "test", "crossing", "words", "correct_tags")]
        assert outcome.totals[:6].tolist() == shown
