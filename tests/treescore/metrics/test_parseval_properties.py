"""What holds for all trees."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.treescore.metrics.evalb_oracle import Settings, row
from treescore.core.registry import OK, Outcome
from treescore.core.scores import ScoreTable
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec

LABELS = ("S", "NP", "VP-1", "A", "B", "C", "TOP", "", "-X", "=Y")
TAGS = ("N", "V", ".", "POS", "''", "A", "B", "")
WORDS = ("a", "b", "'", '"', "")

COLLINS: dict[str, Any] = {}
RICH: dict[str, Any] = {
    "delete_labels": ["TOP", ".", "''", "A", "C"],
    "delete_labels_for_length": ["."],
    "equal_labels": [["A", "B"], ["B", "NP"], ["N", "V"]],
    "equal_words": [["a", "b"]],
    "quote_labels": ["POS", "''", "N"],
}
PAIRED: dict[str, Any] = {"delete_labels": ["TOP"], "equal_labels": [["A", "B"], ["B", "C"], ["C", "NP"]]}


def oracle_settings(params: dict[str, Any]) -> Settings:
    return Settings(
        delete=params.get("delete_labels", ["TOP", "-NONE-", ",", ":", "``", "''", "."]),
        for_length=params.get("delete_labels_for_length", ["-NONE-"]),
        equal=params.get("equal_labels", [["ADVP", "PRT"]]),
        equal_words=params.get("equal_words", []),
        quotes=params.get("quote_labels", []),
        labelled=params.get("labelled", True),
    )


def words() -> st.SearchStrategy[str]:
    return st.builds(lambda tag, word: f"({tag} {word})", st.sampled_from(TAGS), st.sampled_from(WORDS))


@st.composite
def bracketings(draw: st.DrawFn, leaves: list[str]) -> str:
    """A random tree over these leaves."""
    items = list(leaves)
    for _ in range(draw(st.integers(0, 8))):
        start = draw(st.integers(0, len(items)))
        stop = draw(st.integers(start, len(items)))
        items[start:stop] = [f"({draw(st.sampled_from(LABELS))}{''.join(items[start:stop])})"]
    return "".join(items)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Two trees, mostly over the same words, now and then with other tags, brackets lost or too many."""
    leaves = draw(st.lists(words(), max_size=8))
    others = [draw(words()) if draw(st.integers(0, 9)) == 0 else leaf for leaf in leaves]
    gold, system = draw(bracketings(leaves)), draw(bracketings(others))
    if draw(st.integers(0, 4)) == 0:
        system = draw(st.sampled_from([f"(S{system}", f"{system})", f"(S(A{system}", f"{system}))", f"(B{system})(C"]))
    if draw(st.integers(0, 9)) == 0:
        gold = draw(st.sampled_from([f"(S{gold}", f"{gold})", f"(S(A{gold}"]))
    return gold, system


def outcome_of(gold: list[str], system: list[str], **params: Any) -> tuple[ScoreTable, Outcome]:
    spec = parse_spec(
        {
            "format": {"name": "bracketed", "layout": "lines", "unreadable": "sentence"},
            "metrics": [{"name": "parseval", "params": params}],
        }
    )
    texts = ["".join(f"{line}\n" for line in lines).encode() for lines in (gold, system)]
    return spec.entries[0].metric.table, Evaluation(spec, texts[0]).score(texts[1])[0]["parseval"]


def evalb_rows(table: ScoreTable, outcome: Outcome) -> list[list[int]]:
    place = table.count_names.index
    shown = [place(f"unscored.{name}") for name in table.count_names[:6]]
    rows = np.where((outcome.status == OK)[:, None], outcome.rows[:, :6], outcome.rows[:, shown])
    return np.column_stack([outcome.rows[:, place("length")], outcome.status, rows]).tolist()


@pytest.mark.parametrize(
    "params", [COLLINS, RICH, PAIRED, {"labelled": False}], ids=["collins", "rich", "pairs", "unlabelled"]
)
@given(sentences=st.lists(pairs(), min_size=1, max_size=12))
def test_every_row_is_what_evalb_counts(params: dict[str, Any], sentences: list[tuple[str, str]]) -> None:
    """Words outside brackets stop EVALB; there are none here."""
    table, outcome = outcome_of([gold for gold, _ in sentences], [system for _, system in sentences], **params)
    told = oracle_settings(params)
    assert evalb_rows(table, outcome) == [row(gold, system, told) for gold, system in sentences]


def test_many_brackets_of_one_span_are_matched_as_evalb_matches_them() -> None:
    """More pairs of them than are compared one by one; below, brackets that cross whole blocks of words."""
    chains = [labels * 25 for labels in (("A", "S", "NP"), ("B", "C", "S"))]
    leaves = ["(NP(N a)(N a))"] * 75
    golds, systems = (
        [
            "".join(f"({each}" for each in chain) + f"(A{''.join(leaves[:at])})(B{''.join(leaves[at:])})" + ")" * 75
            for at in places
        ]
        for chain, places in zip(chains, ((15, 50, 64), (35, 70, 70)), strict=True)
    )
    table, outcome = outcome_of(golds, systems, **PAIRED)
    settings = oracle_settings(PAIRED)
    assert evalb_rows(table, outcome) == [row(*pair, settings) for pair in zip(golds, systems, strict=True)]


@given(sentences=st.lists(pairs(), min_size=1, max_size=6))
def test_tables_and_slices_agree_with_the_counts(sentences: list[tuple[str, str]]) -> None:
    gold, system = [pair[0] for pair in sentences], [pair[1] for pair in sentences]
    _, outcome = outcome_of(gold, system, **PAIRED)
    matched, golds, systems = outcome.totals[:3].tolist()
    labels = outcome.slices()["label"]
    assert sum(row["counts"]["gold"] for row in labels) == golds
    assert sum(row["counts"]["system"] for row in labels) == systems
    assert sum(row["counts"]["matched"] for row in labels) == matched
    kinds = outcome.extra()["errors"]["kinds"]
    assert kinds["wrong_label"] + kinds["wrong_span"] + kinds["missing"] == golds - matched
    assert kinds["wrong_label"] + kinds["wrong_span"] + kinds["spurious"] == systems - matched


def test_a_mismatch_behind_a_repair_names_its_words() -> None:
    """Both of gold's words are quotes put back; the second, put back from the first, is not the system's."""
    gold, system = "(S('' ')('' \"))", "(S(POS ')(POS \"))"
    _, outcome = outcome_of([gold], [system], **{**RICH, "delete_labels": ["''"]})
    assert outcome.problems[0].code == "word-mismatch"
    assert "'\"'" in outcome.problems[0].detail


@pytest.mark.parametrize("depth", [3, 70])
def test_any_number_of_brackets_may_have_one_span(depth: int) -> None:
    labels = (["A", "B"] * depth)[:depth], (["B", "C"] * depth)[:depth]
    gold, system = ("".join(f"({each} " for each in side) + "(N a)" + ")" * depth for side in labels)
    _, outcome = outcome_of([gold], [system], preset="evalb")
    assert outcome.rows[0, :4].tolist() == [(Counter(labels[0]) & Counter(labels[1])).total(), depth, depth, 0]
