"""Groupings that every metric has: sentence attributes of the request and of the text, blocks, sentence length."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from treescore.core.registry import ItemInfo, Outcome
from treescore.core.trees import DependencyTreebank, Treebank
from treescore.evaluation import evaluate
from treescore.evaluation.evaluate import Evaluation, SentenceGroups, sentence_groups
from treescore.evaluation.spec import parse_items, parse_spec

TREES = "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP it))))\n(S (VB go))\n(S (VB go))\n"
CONLLU = (
    "# genre = news\n# text = a b\n1\ta\t_\tX\t_\t_\t2\td\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    "# genre = blog\n# text = c\n1\tc\t_\tX\t_\t_\t0\troot\t_\t_\n\n1\td\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
)
METRICS = [
    *(("bracketed", TREES, metric) for metric in ("parseval", "leaf_ancestor", "conformance")),
    *(("conllu", CONLLU, metric) for metric in ("attachment", "ud", "enhanced", "dependency_relations")),
    ("pharaoh", "0-0\n1-1\n2-2\n", "alignment"),
]


def outcome_of(format_name: str, text: str, metric: str, items: dict[str, Any]) -> Outcome:
    spec = parse_spec({"format": format_name, "metrics": [metric]})
    return Evaluation(spec, text.encode(), parse_items(items)).score(text.encode())[0][metric]


@pytest.mark.parametrize(("format_name", "text", "metric"), METRICS)
def test_every_metric_is_sliced_by_attribute_block_and_length(format_name: str, text: str, metric: str) -> None:
    items = {"attributes": {"genre": ["web", "talk", "web"]}, "blocks": ["d1", "d1", "d2"],
             "lengths": [[12, 1], [2, 2], [3, 3]]}  # fmt: skip
    outcome = outcome_of(format_name, text, metric, items)
    slices = outcome.slices()
    assert [(row["value"], row["sentences"]) for row in slices["genre"]] == [("talk", 1), ("web", 2)]
    assert [row["value"] for row in slices["block"]] == ["d1", "d2"]
    assert len(slices["sentence_length"]) == (2 if metric in ("alignment", "dependency_relations") else 1)


def test_rows_are_the_sums_of_their_sentences_and_score_as_the_whole_does() -> None:
    slices = outcome_of("bracketed", TREES, "parseval", {"attributes": {"genre": ["a", "b", "a"]}}).slices()
    first = slices["genre"][0]
    assert first["counts"]["gold"] == 5
    assert first["scores"]["labelled_f1"] == first["scores"]["cutoff"]["labelled_f1"] == 1.0


def test_attributes_stand_in_the_text_too_and_sentences_without_one_are_in_no_row() -> None:
    slices = outcome_of("conllu", CONLLU, "ud", {}).slices()
    rows = {row["value"]: row["counts"]["words"]["gold"] for row in slices["genre"]}
    assert rows == {"blog": 1, "news": 2}


def test_an_attribute_that_names_sentences_groups_none() -> None:
    sentences = "".join(f"# name = {number}\n1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n" for number in range(300))
    assert "name" not in outcome_of("conllu", sentences, "attachment", {}).slices()


def test_lengths_are_in_order_of_their_numbers() -> None:
    trees = "".join(f"(S {' '.join(['(A a)'] * length)})\n" for length in (1, 101, 21, 11))
    slices = outcome_of("bracketed", f"{trees}\n", "leaf_ancestor", {}).slices()
    assert [row["value"] for row in slices["sentence_length"]] == ["0", "1-10", "11-20", "21-30", "101-110"]


@pytest.mark.parametrize("metric", ["attachment", "ud"])
def test_what_slices_need_of_gold_is_computed_once(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    grouped: list[object] = []

    def counted(gold: Treebank, items: ItemInfo) -> dict[str, SentenceGroups]:
        grouped.append(gold)
        return sentence_groups(gold, items)

    monkeypatch.setattr(evaluate, "sentence_groups", counted)
    spec = parse_spec({"format": "conllu", "metrics": [metric]})
    evaluation = Evaluation(spec, CONLLU.encode())
    gold = evaluation.gold
    assert isinstance(gold, DependencyTreebank)
    kept: list[dict[object, Any]] = []
    for _ in range(2):
        dict(evaluation.score(CONLLU.encode())[0][metric].slices())
        kept.append({key: id(value) for key, value in gold.kept.items()})
    assert len(grouped) == 1
    assert kept[0]
    assert kept[0] == kept[1]
    assert replace(gold, heads=gold.heads + 1).kept == {}
