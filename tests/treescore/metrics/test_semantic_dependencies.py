"""Semantic dependencies: mtool's figures with the companion text, matching of graphs, items and slices."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from treescore.core.registry import ERROR, OK, SKIP, Metric, Outcome
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec

NAMES = {"labelled": "labeled", "unlabelled": "unlabeled"}
SCORES = {"precision": "p", "recall": "r", "f1": "f", "exact_match": "m"}
GOLD = (
    "#1\n1\ta\ta\tX\t-\t-\t_\tA\n2\tb\tb\tY\t+\t+\t_\t_\n\n"
    "#2\n1\tc\tc\tX\t-\t-\t_\n\n"
    "#3\n1\td\td\tX\t+\t+\t_\t_\n2\te\te\tX\t-\t-\t_\tB\n\n"
)


def graphs(text: str) -> list[str]:
    return [f"{graph}\n\n" for graph in text.strip("\n").split("\n\n")]


def scored(gold: str, system: str, **params: Any) -> tuple[Metric, Outcome]:
    spec = parse_spec({"format": "sdp", "metrics": [{"name": "semantic_dependencies", "params": params}]})
    outcome = Evaluation(spec, gold.encode()).score(system.encode())[0]["semantic_dependencies"]
    return spec.entries[0].metric, outcome


def counts(metric: Metric, outcome: Outcome) -> dict[str, int]:
    return dict(zip(metric.table.count_names, outcome.totals.tolist(), strict=True))


def test_mtool_prints_the_same(golden: Any) -> None:
    for name, case in golden("field_semantic")["sdp"].items():
        metric, outcome = scored(case["gold"], case["system"])
        found, values = counts(metric, outcome), metric.table.values(outcome.totals)
        assert found["graphs"] == case["reference"]["n"]
        for row, theirs in NAMES.items():
            reference = case["reference"][theirs]
            assert [found[f"{row}.{count}"] for count in ("gold", "system", "correct")] == [
                reference[letter] for letter in "gsc"
            ], name
            for score, letter in SCORES.items():
                value = float(values[f"{row}_{score}"])
                # 0 of 0 has no value here; mtool prints 0
                assert math.isclose(0 if math.isnan(value) else value, reference[letter]), (name, row, score)


def test_graphs_are_matched_by_their_names() -> None:
    one, two, three = graphs(GOLD)
    metric, outcome = scored(GOLD, three + one + two)
    assert counts(metric, outcome)["exact.labelled"] == 3
    with pytest.raises(InputError) as raised:
        scored(one + two, GOLD)
    [problem] = raised.value.problems
    assert (problem.code, problem.sent_id, problem.line) == ("sentence-not-in-gold", "3", 9)


def test_a_graph_that_the_output_lacks_is_empty() -> None:
    one, two, three = graphs(GOLD)
    metric, outcome = scored(GOLD, one + two)
    assert counts(metric, outcome)["labelled.gold"] == 4
    assert counts(metric, outcome)["labelled.system"] == 2
    assert outcome.status.tolist() == [OK, OK, ERROR]
    assert [problem.code for problem in outcome.warnings] == ["sentence-missing"]
    metric, outcome = scored(GOLD, one + two, errors="zero")
    assert counts(metric, outcome)["labelled.system"] == 4
    metric, outcome = scored(GOLD, one + three)
    assert outcome.rows[1].tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1]
    metric, outcome = scored(GOLD, one + three, errors="zero")
    assert outcome.rows[1].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 1]


def test_an_empty_graph_is_charged_on_benchmarks() -> None:
    empty = GOLD.replace("\t+\t+\t_\t_", "\t-\t-\t_").replace("\t_\tA", "\t_").replace("\t_\tB", "\t_")
    metric, outcome = scored(GOLD, empty, errors="zero")
    assert outcome.status.tolist() == [SKIP, OK, SKIP]
    assert counts(metric, outcome)["labelled.system"] == 4
    assert counts(metric, outcome)["exact.labelled"] == 1


def test_without_names_graphs_are_matched_by_their_order() -> None:
    nameless = "".join(line for line in GOLD.splitlines(keepends=True) if not line.startswith("#"))
    metric, outcome = scored(GOLD, nameless)
    assert counts(metric, outcome)["exact.labelled"] == 3
    with pytest.raises(InputError) as raised:
        scored(GOLD, "".join(graphs(nameless)[:2]))
    assert raised.value.problems[0].code == "sentence-count-mismatch"


def test_other_words_are_an_error_with_their_place() -> None:
    with pytest.raises(InputError) as raised:
        scored(GOLD, GOLD.replace("2\te\te", "2\tf\tf"))
    [problem] = raised.value.problems
    assert (problem.code, problem.sent_id, problem.line, problem.column) == ("word-mismatch", "3", 10, 2)


def test_items_list_what_differs_with_both_roles() -> None:
    system = GOLD.replace("\t_\tA", "\t_\tC").replace("d\td\tX\t+", "d\td\tX\t-")
    metric, outcome = scored(GOLD, system)
    one, _, three = outcome.details(0, 3).documents(0, 3)
    assert one["edges"] == [
        {"argument": 1, "argument_form": "a", "predicate": 2, "predicate_form": "b",
         "gold_label": "A", "system_label": "C"}
    ]  # fmt: skip
    assert three["edges"] == [
        {"argument": 1, "argument_form": "d", "predicate": 0, "predicate_form": None,
         "gold_label": "(top)", "system_label": None}
    ]  # fmt: skip
    gold = Evaluation(parse_spec({"format": "sdp", "metrics": ["semantic_dependencies"]}), GOLD.encode()).gold
    kinds = [row["kind"] for item in ({"item": 1, **one}, {"item": 3, **three}) for row in metric.errors_of(item, gold)]
    assert kinds == ["role", "missed"]
    beside = list(metric.beside_gold({"item": 3, **three}, gold))
    assert [(row["argument"], row["predicate"], row["system_label"], row["error"]) for row in beside] == [
        (1, 0, None, "missed"),
        (2, 1, "=", ""),
    ]


def test_slices_group_edges_and_tops() -> None:
    _, outcome = scored(GOLD, GOLD.replace("\t_\tA", "\t_\tC"))
    rows = {
        name: {row["value"]: [row["counts"][count] for count in ("correct", "gold", "system")] for row in grouping}
        for name, grouping in outcome.slices().items()
        if name != "sentence_length"
    }
    assert rows["label"] == {"(top)": [2, 2, 2], "A": [0, 1, 0], "C": [0, 0, 1], "B": [1, 1, 1]}
    assert rows["direction"] == {"(top)": [2, 2, 2], "left": [0, 1, 1], "right": [1, 1, 1]}
    assert rows["distance"] == {"(top)": [2, 2, 2], "1": [1, 2, 2]}
    assert rows["argument_pos"] == {"X": [2, 3, 3], "Y": [1, 1, 1]}


def items_of(text: str) -> dict[str, set[tuple[int, int, str]]]:
    """The edges and tops of each graph, as mtool reads them: predicate, argument, role; -1 is the root."""
    found = {}
    for graph in text.removeprefix("#SDP 2015\n").strip("\n").split("\n\n"):
        name, *lines = graph.split("\n")
        rows = [line.split("\t") for line in lines]
        predicates = [word for word, row in enumerate(rows) if row[5] == "+"]
        edges = {
            (predicates[place], word, role)
            for word, row in enumerate(rows)
            for place, role in enumerate(row[7:])
            if role != "_"
        }
        found[name] = edges | {(-1, word, "") for word, row in enumerate(rows) if row[4] == "+"}
    return found


def random_graph(rng: random.Random, name: int, words: int) -> str:
    flags = [(rng.choice("+--"), rng.choice("+-")) for _ in range(words)]
    size = sum(pred == "+" for _, pred in flags)
    rows = [
        "\t".join([str(word), f"w{word}", "w", "X", *each, "_", *rng.choices(("_", "_", "_", "A", "B"), k=size)])
        for word, each in enumerate(flags, 1)
    ]
    return "\n".join([f"#{name}", *rows]) + "\n\n"


def test_random_graphs_count_as_sets() -> None:
    rng = random.Random(3)  # noqa: S311 - chooses test data
    for _ in range(40):
        sizes = [rng.randrange(1, 8) for _ in range(rng.randrange(1, 8))]
        gold, system = (["#SDP 2015\n"], ["#SDP 2015\n"])
        for name, words in enumerate(sizes):
            gold.append(random_graph(rng, name, words))
            if not name or rng.random() < 0.8:
                system.insert(rng.randrange(1, len(system) + 1), random_graph(rng, name, words))
        texts = "".join(gold), "".join(system)
        _, outcome = scored(*texts)
        golds, systems = map(items_of, texts)
        expected = []
        for name, items in golds.items():
            other = systems.get(name, set())
            pairs = {edge[:2] for edge in items}, {edge[:2] for edge in other}
            row = [len(items & other), len(items), len(other)]
            row += [len(pairs[0] & pairs[1]), len(pairs[0]), len(pairs[1])]
            expected.append([*row, items == other, pairs[0] == pairs[1], 1])
        assert outcome.rows.tolist() == expected


def test_a_graph_of_many_edges_is_scored_at_once() -> None:
    """100,000 edges in one graph, none of which the output has with the same role."""
    words, predicates = 1000, 100
    flags = ["-\t+" if word < predicates else "-\t-" for word in range(words)]
    rows = [f"{word + 1}\tw\tw\tX\t{flags[word]}\t_" + "\tA" * predicates for word in range(words)]
    gold = "\n".join(rows) + "\n\n"
    metric, outcome = scored(gold, gold.replace("\tA", "\tB"))
    found = counts(metric, outcome)
    assert (found["labelled.correct"], found["unlabelled.correct"], found["labelled.gold"]) == (0, 100_000, 100_000)
