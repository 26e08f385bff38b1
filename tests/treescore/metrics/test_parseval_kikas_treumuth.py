"""Kikas & Treumuth (2007), tables 1 and 2: preterminals count, spans start at 1, emptied phrases are a word long."""

from __future__ import annotations

from typing import Any

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


def test_table_2_the_outer_bracket_is_one_more_of_gold() -> None:
    outcome = outcome_of(CLEANED, SYSTEM)
    assert outcome.totals[:3].tolist() == [5, 11, 9]


def test_table_2_with_emptied_phrases_removed(golden: Any) -> None:
    expected = golden("parseval_preprocessing")["table2"]["clean_labels_and_empty_phrases"]
    outcome = outcome_of(CLEANED.replace(" (NP))", ")"), SYSTEM, outer_bracket=False)
    assert outcome.totals[:3].tolist() == [expected["matched"], expected["gold"], expected["system"]]


def test_words_are_not_checked() -> None:
    assert not outcome_of("(S (A a) (B b))\n", "(S (A x) (B y) (C z))\n").status.any()


def test_nested_emptied_phrases_are_one_word_long_together() -> None:
    gold = "(S (A a) (X (Y) (Z (Q))) (B b))\n"
    spans = outcome_of(gold, gold).item(0)["gold_spans"]
    assert ["S", 1, 4] in spans
    assert ["B", 3, 4] in spans
