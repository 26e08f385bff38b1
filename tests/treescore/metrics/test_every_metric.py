"""Properties of every registered metric, on the examples that it declares."""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from treescore.core.registry import METRICS, OK, Example, ItemInfo, Metric, Outcome, Text
from treescore.core.scores import with_values
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import (
    NO_TAG,
    Alignments,
    ConstituentTreebank,
    DependencyTreebank,
    DiscontinuousTreebank,
    ExpressionTreebank,
    ParallelTreebank,
    SemanticTreebank,
    Treebank,
    Vocabulary,
)
from treescore.errors import InputError
from treescore.evaluation import spec  # noqa: F401 - fills the registry
from treescore.evaluation.document import item_details, outcome_document
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.metrics.shared.examples import cupt

CASES = [
    pytest.param(name, example, id=f"{name}-{number}")
    for name, metric in sorted(METRICS.items())
    for number, example in enumerate(metric.examples)
]
every_example = pytest.mark.parametrize(("name", "example"), CASES)

TREE, WORD = b"(X x)\n", b"1\tx\t_\tX\tX\t_\t0\troot\t0:root\t_\n\n"
GRAPH = b"1\ta\ta\tX\t+\t-\t_\n\n"
CODED = cupt("x 1:X").encode()
SHORT: dict[type[Any], list[Text]] = {
    ConstituentTreebank: [b"", b"\n", TREE, b"(S (X x))\n", b"(S)\n", b"(S (NP))\n"],
    DiscontinuousTreebank: [b"", b"\n", b"(S (X 0=x))\n", b"(S (A 0=x))\n", b"(S 0=x)\n"],
    DependencyTreebank: [b"", WORD, WORD.replace(b"\t0\t", b"\t1\t"), WORD.replace(b"\tx\t", b"\t.\t")],
    SemanticTreebank: [b"", GRAPH, GRAPH.replace(b"+\t-", b"-\t-"), GRAPH.replace(b"+\t-\t_", b"+\t+\t_\tA")],
    ExpressionTreebank: [b"", CODED, CODED.replace(b"1:X", b"*"), CODED.replace(b"1:X", b"1;2:Y")],
    Alignments: [b"", b"\n", b"0-0\n", b"0p0\n"],
    ParallelTreebank: [
        dict.fromkeys(("source", "target", "alignment"), b""),
        {"source": WORD, "target": WORD, "alignment": b"0-0\n"},
        {"source": WORD, "target": WORD, "alignment": b"\n"},
    ],
}
"""Texts of no sentence or of one, with one word or none."""
SENTENCE_NUMBERS = ("item", "sentence", "gold_sentence", "system_sentence")


def scored(name: str, example: Example, gold: Text, output: Text) -> Outcome:
    evaluation = Evaluation(parse_spec(example.request(name)), gold)
    return evaluation.score(output)[0][name]


def transformed(name: str, example: Example) -> tuple[Metric, Any, Any]:
    """The metric, gold and output of an example after all transforms, each on both sides."""
    request = parse_spec(example.request(name))
    evaluation = Evaluation(request, example.gold())
    gold, system = evaluation.gold, evaluation.read(example.output(), request.format)
    for step in request.entries[0].steps:
        gold, system = step.transform.apply(gold, gold), step.transform.apply(system, gold)
    return request.entries[0].metric, gold, system


def look(name: str, example: Example, gold: Text, output: Text) -> Outcome:
    """Score two texts and compute all that an outcome computes on demand."""
    request = parse_spec(example.request(name))
    evaluation = Evaluation(request, gold)
    outcome = evaluation.score(output)[0][name]
    metric = request.entries[0].metric
    outcome_document(request.entries[0], outcome)
    for style in metric.own_styles:
        metric.report(style, outcome)
    dict(outcome.slices())
    item_details(outcome, evaluation.gold, 0, len(outcome.rows))
    return outcome


def flat(counts: dict[str, Any], before: str = "") -> dict[str, float]:
    """Counts with dots in the names of nested ones."""
    found: dict[str, float] = {}
    for name, value in counts.items():
        found |= flat(value, f"{before}{name}.") if isinstance(value, dict) else {before + name: value}
    return found


@pytest.mark.parametrize("name", sorted(METRICS))
def test_it_declares_an_example_with_several_sentences(name):
    assert METRICS[name].examples
    assert all(len(example.sentences) > 2 for example in METRICS[name].examples)


@every_example
def test_gold_against_itself_is_perfect(name, example):
    metric, gold, _ = transformed(name, example)
    outcome, table = metric.evaluate(gold, gold, ItemInfo(), DEFAULT_LIMITS), metric.table
    assert (outcome.status == OK).all()
    values = {score.name: float(score.of(table.count_names, outcome.totals)) for score in table.scores}
    best = {score.name: score.best for score in table.scores}
    assert not [
        one for one, value in values.items() if not (np.isnan(value) or best[one] is None or value == best[one])
    ]
    assert not np.isnan(values[table.scores[0].name])


@every_example
def test_the_example_has_an_error(name, example):
    perfect = scored(name, example, example.gold(), example.gold())
    assert scored(name, example, example.gold(), example.output()).totals.tolist() != perfect.totals.tolist()


@every_example
def test_the_order_of_sentences_does_not_change_totals(name, example):
    expected = scored(name, example, example.gold(), example.output())
    forth = [*range(len(example.sentences))]
    for order in (forth[::-1], [*forth[1:], 0]):
        outcome = scored(name, example, example.gold(order), example.output(order))
        np.testing.assert_allclose(outcome.totals, expected.totals, rtol=1e-12)
        assert outcome.rows.tolist() == expected.rows[list(order)].tolist()


@every_example
def test_counts_of_a_text_are_the_sums_over_its_pieces(name, example):
    whole = scored(name, example, example.gold(), example.output())
    for cut in range(1, len(example.sentences)):
        pieces = range(cut), range(cut, len(example.sentences))
        rows = [scored(name, example, example.gold(piece), example.output(piece)).rows for piece in pieces]
        assert np.concatenate(rows).tolist() == whole.rows.tolist()
    twice = [*range(len(example.sentences))] * 2
    outcome = scored(name, example, example.gold(twice), example.output(twice))
    np.testing.assert_allclose(outcome.totals, 2 * whole.totals, rtol=1e-12)


def items_of(name: str, example: Example, indices: list[int]) -> list[dict[str, Any]]:
    """What the items of some sentences show beside their counts, each as if its sentence were the first."""
    evaluation = Evaluation(parse_spec(example.request(name)), example.gold(indices))
    outcome = evaluation.score(example.output(indices))[0][name]
    shown = item_details(outcome, evaluation.gold, 0, len(indices))
    return [relative(item, index) for index, item in enumerate(shown)]


def relative(value: Any, before: int) -> Any:
    """A document with numbers of sentences as they would be if the first `before` ones were not there."""
    if isinstance(value, list):
        return [relative(member, before) for member in value]
    if not isinstance(value, dict):
        return value
    return {
        name: member - before if name in SENTENCE_NUMBERS and member is not None else relative(member, before)
        for name, member in value.items()
    }


@every_example
def test_the_item_of_a_sentence_is_the_same_in_a_text_and_alone(name, example):
    indices = [*range(len(example.sentences))]
    assert items_of(name, example, indices) == [items_of(name, example, [index])[0] for index in indices]


@every_example
def test_a_sentence_alone_has_scores(name, example):
    for index in range(len(example.sentences)):
        assert len(look(name, example, example.gold([index]), example.output([index])).rows) == 1


@every_example
def test_texts_of_no_word_or_one_are_scored_or_refused(name, example):
    kind = Evaluation(parse_spec(example.request(name)), example.gold()).gold
    texts: list[Text] = [*SHORT[type(kind)], example.gold([0]), example.output()]
    scores = 0
    for gold, output in itertools.product(texts, repeat=2):
        with suppress(InputError):
            outcome = look(name, example, gold, output)
            assert all(outcome.status[sentence] != OK for sentence in outcome.problems)
            scores += 1
    assert scores


@every_example
def test_items_sum_to_totals(name, example):
    request = parse_spec(example.request(name))
    evaluation = Evaluation(request, example.gold())
    outcome = evaluation.score(example.output())[0][name]
    table = request.entries[0].metric.table
    documents = with_values(table, outcome.rows, item_details(outcome, evaluation.gold, 0, len(outcome.rows)))
    # Items of sentences that could not be compared may show figures that are in no total (parseval, as EVALB does).
    counts = [
        [flat(document["counts"])[count] for count in table.count_names] if status == OK else row.tolist()
        for document, status, row in zip(documents, outcome.status, outcome.rows, strict=True)
    ]
    shown = flat(outcome_document(request.entries[0], outcome)["counts"])
    np.testing.assert_allclose(np.sum(counts, axis=0), [shown[count] for count in table.count_names], rtol=1e-12)


@every_example
def test_renaming_labels_on_both_sides_changes_nothing(name, example):
    if example.interprets_labels:
        pytest.skip(example.interprets_labels)
    metric, gold, system = transformed(name, example)
    expected = metric.evaluate(gold, system, ItemInfo(), DEFAULT_LIMITS)
    outcome = metric.evaluate(renamed(gold), renamed(system), ItemInfo(), DEFAULT_LIMITS)
    assert outcome.rows.tolist() == expected.rows.tolist()
    assert outcome.status.tolist() == expected.status.tolist()


def renamed(treebank: Treebank) -> Treebank:
    """The treebank with other names for tags and relations; empty labels and `_` stay."""
    if isinstance(treebank, ParallelTreebank):
        return replace(treebank, source=renamed(treebank.source), target=renamed(treebank.target))
    if isinstance(treebank, Alignments):
        return treebank
    column = renamer(treebank.vocabulary)
    if isinstance(treebank, ConstituentTreebank):
        return replace(treebank, labels=column(treebank.labels), tags=column(treebank.tags))
    if isinstance(treebank, DiscontinuousTreebank):
        return replace(treebank, **{each: column(getattr(treebank, each)) for each in ("labels", "tags", "functions")})
    if isinstance(treebank, SemanticTreebank):
        return replace(treebank, tags=column(treebank.tags), edge_labels=column(treebank.edge_labels))
    names = ("deprels", "upos", "xpos", "deps", "empty_deps")
    if isinstance(treebank, ExpressionTreebank):
        names += ("categories",)
    return replace(treebank, **{each: column(getattr(treebank, each)) for each in names})


def renamer(vocabulary: Vocabulary) -> Any:
    def new_name(label: str) -> str:
        if ":" in label:  # a list of enhanced edges, `2:obj|3:conj`
            edges = (edge.partition(":") for edge in label.split("|"))
            return "|".join(f"{head}:{new_name(relation)}" for head, _, relation in edges)
        return label if label in ("", "_") else f"new{label}"

    def column(numbers: Any) -> Any:
        values = [NO_TAG if n == NO_TAG else vocabulary.number(new_name(vocabulary.strings[n])) for n in numbers]
        return np.array(values, np.int64)

    return column
