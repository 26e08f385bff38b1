"""Golden cases of what later tasks compute, as jobs over HTTP: gaps, expressions, graphs, options of dependencies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fixtures.golden_jobs import Caller, codes, metric_of
from tests.fixtures.service_process import ServiceProcess
from treescore.metrics.enhanced.leave_out import KINDS

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def caller(served: ServiceProcess) -> Iterator[Caller]:
    with served.client() as client:
        yield Caller(client)


# --- disco-dop, PARSEME

FORMS = {"export": "export", "export3": "export", "discbracket": "discbracket", "tigerxml": "tigerxml"}
PRINTED = {"labeled recall": ("parseval", "labelled_recall"), "labeled precision": ("parseval", "labelled_precision"),
           "labeled f-measure": ("parseval", "labelled_f1"), "exact match": ("parseval", "exact_match"),
           "function tags": ("parseval", "function_tags_f1"), "pos accuracy": ("parseval", "tagging_accuracy"),
           "leaf-ancestor": ("leaf_ancestor", "sentence_mean"),
           "tree-dist (Dice micro avg": ("tree_distance", "dice")}  # fmt: skip
DISC_ONLY = {"labelled_recall": "disc_recall", "labelled_precision": "disc_precision", "labelled_f1": "disc_f1",
             "exact_match": "disc_exact_match"}  # fmt: skip


def discontinuous_job(case: Any, form: str, prm: str) -> dict[str, Any]:
    preset = {"preset": "discodop"}
    metrics = [{"name": "parseval", "params": {**preset, "prm": prm}}]
    metrics += [{"name": name, "params": preset} for name in ("leaf_ancestor", "tree_distance")]
    gold, output = case["gold"][form], case["system"][form]
    return {"format": FORMS[form], "gold": gold, "output": output, "metrics": metrics}


def test_discontinuous(caller: Caller, golden: Any) -> None:
    """The figures of disco-dop in three formats, and its summary without what other metrics compute."""
    data = golden("field_discontinuous")
    asked = [(name, form) for name in data["cases"] for form in FORMS]
    found = caller.jobs([discontinuous_job(data["cases"][name], form, data["prm"]) for name, form in asked])
    for (name, form), job in zip(asked, found, strict=True):
        reference = data["cases"][name]["reference"]
        if name == "output_lacks_a_sentence":  # it goes free there
            assert codes(job)[0] in ("sentence-missing", "sentence-count-mismatch")
            continue
        if "error" in reference[form]:
            assert caller.items(job, "parseval")[0]["status"] == "error"
            continue
        scores = {metric: metric_of(job, metric)["scores"] for metric in ("parseval", "leaf_ancestor", "tree_distance")}
        assert same_figures(scores, reference[form]), (name, form)
        if form.startswith("export"):
            assert same_figures(scores, reference["export_la_ted"]), (name, form)
            disc_only = {ours: scores["parseval"][disc] for ours, disc in DISC_ONLY.items()}
            printed = {title: reference["export_disconly"][title] for title in list(PRINTED)[:4]}
            assert same_figures({"parseval": disc_only}, printed), (name, form)
            own = [line for line in reference["summary"].splitlines() if not line.startswith(("leaf-", "tree-"))]
            assert caller.read(job, "report", metric="parseval", style="discodop").text.splitlines() == own, name


def same_figures(scores: dict[str, Any], printed: dict[str, list[str]]) -> bool:
    """Tell whether shares in per cent agree; nan and 0DIV! stand for null, for an F of 0, and for what is left out."""
    for title, (metric, name) in PRINTED.items():
        if title not in printed:
            continue
        value, text = scores[metric][name], printed[title][0]
        if text in ("nan", "0DIV!"):
            if value and title not in ("leaf-ancestor", "tree-dist (Dice micro avg"):
                return False
        elif value is None or f"{100 * value:.2f}" != text:
            return False
    return True


def test_multiword_expressions(caller: Caller, golden: Any) -> None:
    """The report of parseme_evaluate.py, with and without a training text; outputs that lack a sentence are refused."""
    cases = golden("field_mwe")["cases"]
    found = caller.jobs(
        [
            {
                "format": "cupt",
                "gold": case["gold"],
                "output": case["system"],
                "metrics": [{"name": "mwe", "params": {"train": case["train"]} if case["train"] else {}}],
            }
            for case in cases.values()
        ]
    )
    for (name, case), job in zip(cases.items(), found, strict=True):
        if case["rc"]:
            assert codes(job) == ["sentence-count-mismatch"], name
            continue
        assert caller.read(job, "report", metric="mwe", style="parseme").text == case["stdout"], name
        counts = metric_of(job, "mwe")["counts"]
        assert f"P={counts['correct']}/{counts['system']}=" in case["stdout"].splitlines()[1], name


# --- dependencies

ATTACHMENT: dict[str, dict[str, Any]] = {
    "plain": {},
    "subtypes_cut": {"subtypes": False},
    "punct_excluded": {"exclude_relations": ["punct"]},
    "subtypes_cut_punct_excluded": {"subtypes": False, "exclude_relations": ["punct"]},
}


def test_attachment_options(caller: Caller, golden: Any) -> None:
    """eval07.pl's counts with words that changed, and the table of relations."""
    cases = golden("field_dependencies")["attachment"]
    metrics = [
        {"name": "attachment", "key": key, "params": {"words": "warn", "confusion": True, **params}}
        for key, params in ATTACHMENT.items()
    ]
    found = caller.jobs(
        [
            {"format": "conllx", "gold": case["gold"], "output": case["system"], "metrics": metrics}
            for case in cases.values()
        ]
    )
    for (name, case), job in zip(cases.items(), found, strict=True):
        for key, reference in case["reference"].items():
            counts = metric_of(job, key)["counts"]
            for score, count in (("las", "correct_both"), ("uas", "correct_head"), ("label_accuracy", "correct_label")):
                assert [counts[count], counts["tokens"]] == reference[score], (name, key, score)
        assert (
            any(warning["code"] == "other-words" for warning in job["warnings"]) == case["reference"]["plain"]["warned"]
        )
        table = {f"{row['gold']} > {row['system']}": row for row in metric_of(job, "plain")["extra"]["confusion"]}
        assert {pair: (row["count"], row["with_head"]) for pair, row in table.items()} == {
            pair: (row["count"], row["with_head"]) for pair, row in case["confusion"].items()
        }
        report = caller.read(job, "report", metric="plain", style="confusion").text
        assert len(report.splitlines()) == len(table) + 1
        slices = caller.read(job, "slices", metric="plain", by="udeprel").json()["slices"]
        assert all(":" not in row["value"] for row in slices)
        assert sum(row["counts"]["gold"] for row in slices) == metric_of(job, "plain")["counts"]["tokens"]


# --- semantic dependencies


def test_semantic_dependencies(caller: Caller, golden: Any) -> None:
    """Counts of mtool with the companion text; items and slices are there."""
    cases = golden("field_semantic")["sdp"]
    found = caller.jobs(
        [
            {"format": "sdp", "gold": case["gold"], "output": case["system"], "metrics": ["semantic_dependencies"]}
            for case in cases.values()
        ]
    )
    for (name, case), job in zip(cases.items(), found, strict=True):
        metric = metric_of(job, "semantic_dependencies")
        for row, theirs in (("labelled", "labeled"), ("unlabelled", "unlabeled")):
            expected = {count: case["reference"][theirs][count[0]] for count in ("correct", "gold", "system")}
            assert {count: metric["counts"][row][count] for count in expected} == expected, name
            figures = zip(("precision", "recall", "f1", "exact_match"), "prfm", strict=True)
            for score, letter in figures:  # 0 of 0 has no value here; mtool prints 0
                value = metric["scores"][f"{row}_{score}"]
                assert (value or 0.0) == pytest.approx(case["reference"][theirs][letter]), (name, score)
        assert len(caller.items(job, "semantic_dependencies")) == case["reference"]["n"]
        rows = caller.read(job, "slices", metric="semantic_dependencies", by="label").json()["slices"]
        assert sum(one["counts"]["gold"] for one in rows) == metric["counts"]["labelled"]["gold"]


# --- enhanced dependencies


def test_enhanced(caller: Caller, golden: Any) -> None:
    """The script's counts and rows for every choice of what is left out; empty nodes need not be collapsed before."""
    cases = golden("field_enhanced")["cases"]
    asked = [
        (name, switch, reference)
        for name, case in cases.items()
        for switch, reference in case["reference_after_collapsing"].items()
        if reference["ok"]
    ]
    found = caller.jobs(
        [
            {
                "format": "conllu",
                "gold": cases[name]["gold"],
                "output": cases[name]["system"],
                "metrics": [
                    {
                        "name": "enhanced",
                        "params": {
                            "counting": "cross-product",
                            "leave_out": [kind for number, kind in enumerate(KINDS, 1) if str(number) in switch],
                        },
                    }
                ],
            }
            for name, switch, _ in asked
        ]
    )
    for (name, switch, reference), job in zip(asked, found, strict=True):
        counts = metric_of(job, "enhanced")["counts"]
        for row in ("elas", "eulas"):
            names = ("correct", "gold", "system", "aligned")
            assert [counts[row][count] for count in names] == reference[row], (name, switch)
        report = caller.read(job, "report", metric="enhanced", style="iwpt20").text
        assert report.splitlines()[2:] == reference["rows"], (name, switch)


# --- alignments

ALIGNMENT: dict[str, dict[str, Any]] = {
    "plain": {},
    "fAlpha_0.5": {"alpha": 0.5},
    "fAlpha_0.4": {"alpha": 0.4},
    "fAlpha_0": {"alpha": 0},
    "allSure": {"gold_links": "all-sure"},
    "ignorePossible": {"gold_links": "sure-only"},
    "with_text": {},
}


def test_alignment_statistics(caller: Caller, golden: Any) -> None:
    """AER, F under alpha, jumps and coverage as aer.py prints them; pairs by number as a3ToTalp.py reads them."""
    cases = golden("field_alignment")["alignment"]
    metrics = [
        {"name": "alignment", "key": key.replace(".", "-"), "params": params} for key, params in ALIGNMENT.items()
    ]
    requests = []
    for case in cases.values():
        words = [list(pair) for pair in zip(case["source"].splitlines(), case["target"].splitlines(), strict=True)]
        requests.append(
            {"format": {"name": "pharaoh", "base": 0}, "gold": case["gold"], "output": case["system"],
             "metrics": metrics, "items": {"words": words}}
        )  # fmt: skip
    printed = 0
    for (name, case), job in zip(cases.items(), caller.jobs(requests), strict=True):
        for key in ALIGNMENT:
            line = case["reference"].get(key, {}).get("stdout", "")
            metric = metric_of(job, key.replace(".", "-"))
            shares = re.findall(r"h: ([\d.]+)%|F-Measure: ([\d.]+)|Jumps: (\d+)|Coverage: ([\d.]+)%", line)
            values = {
                "aer": [f"{100 * metric['scores']['aer']:.1f}"],
                "f": [f"{metric['scores']['alpha_f']:.3f}"],
                "jumps": [str(metric["counts"][f"{side}_jumps"]) for side in ("internal", "external")],
                "coverage": [f"{100 * metric['scores'][f'{side}_coverage']:.1f}" for side in ("source", "target")],
            }
            for place, expected in enumerate(values.values()):
                found = [share[place] for share in shares if share[place]]
                assert found in ([], expected), (name, key, line)
                printed += len(found)
    assert printed > 40


def test_giza_a3(caller: Caller, golden: Any) -> None:
    cases = golden("field_alignment")["giza_a3"]
    requests = [
        {"format": {"name": "pharaoh", "base": 0}, "gold": "".join(f"{' '.join(pair)}\n" for pair in case["links"]),
         "metrics": ["alignment"], "output": case["text"]}
        for case in cases.values()
    ]  # fmt: skip
    for (name, case), request in zip(cases.items(), requests, strict=True):
        counts = metric_of(caller.job(request, "giza-a3"), "alignment")["counts"]
        links = sum(len(pair) for pair in case["links"])
        assert [counts[count] for count in ("links", "sure", "links_in_sure")] == [links] * 3, name
