"""Kikas & Treumuth (2007), tables 1 and 2: preterminals count, spans start at 1, emptied phrases are a word long."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.conftest import ROOT
from treescore.core.registry import Outcome
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec

SYSTEM = "(S (NP (DT An) (NN appeal)) (VP (VBZ is) (VP (VBN expected))) (. .))\n"
# Table 2's gold after its label extensions and its -NONE- words were dropped.
CLEANED = "( (S (NP (DT An) (NN appeal) ) (VP (VBZ is) (VP (VBN expected) (NP))) (. .) ) )\n"


def outcome_of(gold: str, system: str, **params: Any) -> Outcome:
    metric = {"name": "parseval", "params": {"preset": "kikas-treumuth", **params}}
    spec = parse_spec({"format": "bracketed", "metrics": [metric]})
    return Evaluation(spec, gold.encode()).score(system.encode())[0]["parseval"]


def test_table_1_its_constituents(golden: Any) -> None:
    table = golden("parseval_preprocessing")["table1"]
    outcome = outcome_of(table["tree"], table["tree"])
    assert outcome.item(0)["gold_spans"] == table["constituents"]


def test_table_2_with_the_emptied_phrase_kept(golden: Any) -> None:
    expected = golden("parseval_preprocessing")["table2"]["clean_labels_only"]
    outcome = outcome_of(CLEANED, SYSTEM, outer_bracket=False)
    assert sorted(outcome.item(0)["gold_spans"]) == sorted(expected["gold_spans"])
    assert outcome.totals[:3].tolist() == [expected["matched"], expected["gold"], expected["system"]]


def test_words_are_not_checked() -> None:
    assert not outcome_of("(S (A a) (B b))\n", "(S (A x) (B y) (C z))\n").status.any()


def test_nested_emptied_phrases_are_one_word_long_together() -> None:
    gold = "(S (A a) (X (Y) (Z (Q))) (B b))\n"
    spans = outcome_of(gold, gold).item(0)["gold_spans"]
    assert ["S", 1, 4] in spans
    assert ["B", 3, 4] in spans


PAGE = (ROOT / "docs" / "metrics" / "constituent_transforms.md").read_text(encoding="utf-8")


def test_their_experiments_are_the_request_of_the_page(golden: Any) -> None:
    """Each entry of the printed request gives the printed row; the printed table of errors is that of `c`."""
    [block] = re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    [table] = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    spec = parse_spec(json.loads(block))
    second = golden("parseval_preprocessing")["table2"]
    outcomes = Evaluation(spec, second["gold"].encode() + b"\n").score(second["system"].encode() + b"\n")[0]
    rows = []
    for key, outcome in outcomes.items():
        scores = spec.entry(key).metric.table.values(outcome.totals)
        shown = [f"{100 * scores[n]:.2f}" for n in ("labelled_precision", "labelled_recall", "relative_crossing")]
        rows.append(f"| `{key}` | {' | '.join([*map(str, outcome.totals[:3].tolist()), *shown])} |")
    assert len(rows) == 4
    assert "\n".join(rows) in PAGE
    assert spec.entry("c").metric.report("errors", outcomes["c"]) == table
    for key, name in (("c", "clean_labels_only"), ("cx", "clean_labels_and_empty_phrases")):
        matched, gold, system = outcomes[key].totals[:3].tolist()
        assert (matched, gold - 1, system) == tuple(second[name][count] for count in ("matched", "gold", "system"))


def test_a_table_of_no_errors() -> None:
    spec = parse_spec({"format": "bracketed", "metrics": ["parseval"]})
    outcome = Evaluation(spec, SYSTEM.encode()).score(SYSTEM.encode())[0]["parseval"]
    assert spec.entries[0].metric.report("errors", outcome) == (
        "count  kind  label\n\nOf each kind: wrong_label 0, wrong_span 0, missing 0, spurious 0.\n"
    )
