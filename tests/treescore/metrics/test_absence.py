"""A sentence without an output costs its full weight in every score of every metric, under `errors: zero`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from treescore.core.registry import METRICS, Outcome, Text
from treescore.core.scores import ScoreTable, charged, ratio_score
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec

TREES = (
    (
        "(S (NP (DT the) (NN dog)) (VP (VBZ barks) (PP (IN at) (NP (NN night)))))\n",
        "(S (NP (DT the) (NN dog)) (VP (VBZ barks) (NP (IN at) (NN night))))\n",
    ),
    ("(S (NP (PRP it)) (VP (VBD rained) (NP (NN hail))))\n", "(S (NP (PRP it) (VBD rained)) (VP (NN hail)))\n"),
    (
        "(S (NP (NNS cats)) (VP (VBP chase) (NP (NNS mice))))\n",
        "(S (NP (NNS cats)) (VP (VBP chase) (NP (NNS mice))))\n",
    ),
)
LENIENT = {"name": "bracketed", "layout": "lines", "unreadable": "sentence"}
DEPENDENT = (
    "1\tthe\t_\tX\tX\t_\t2\tdet\t2:det\t_\n2\tdog\t_\tX\tX\t_\t0\troot\t0:root\t_\n\n",
    "1\tit\t_\tX\tX\t_\t2\tnsubj\t2:nsubj\t_\n2\trained\t_\tX\tX\t_\t0\troot\t0:root\t_\n\n",
    "1\tcats\t_\tX\tX\t_\t2\tnsubj\t2:nsubj\t_\n2\tchase\t_\tX\tX\t_\t0\troot\t0:root\t_\n\n",
)
NO_EDGE = [text.replace("2:det", "_").replace("2:nsubj", "_").replace("0:root", "_") for text in DEPENDENT]
NO_HEAD = [text.replace("\t2\t", "\t0\t") for text in DEPENDENT]
WRONG = [text.replace("det", "x").replace("nsubj", "x") for text in DEPENDENT]
GRAPHS = tuple(
    (
        f"#{number}\n1\t{word}\t_\tX\t-\t-\t_\tA\n2\tgo\t_\tX\t+\t+\t_\t_\n\n",
        f"#{number}\n1\t{word}\t_\tX\t-\t-\t_\t{role}\n2\tgo\t_\tX\t{top}\t+\t_\t_\n\n",
    )
    for number, word, role, top in ((1, "dogs", "B", "+"), (2, "cats", "A", "-"), (3, "mice", "A", "+"))
)
NO_GRAPH = [f"#{number}\n1\t{word}\t_\tX\t-\t-\t_\n2\tgo\t_\tX\t-\t-\t_\n\n"
            for number, word in ((1, "dogs"), (2, "cats"), (3, "mice"))]  # fmt: skip
LINKS = (("0-0 1-1 2p2\n", "0-0 1-2\n"), ("0-0 1-1\n", "0-1\n"), ("0-1 1-0\n", "0-1 1-0\n"))


@dataclass(frozen=True)
class Case:
    """A metric, gold and output of each sentence, and what the output may hold in place of a sentence."""

    metric: str
    format: Any
    sentences: tuple[tuple[Any, Any], ...]
    failures: tuple[Any, ...] | None
    params: dict[str, Any]
    transforms: tuple[Any, ...] = ()

    def evaluation(self, errors: str = "zero") -> Evaluation:
        """Return gold under the metric; `errors` only where it has this parameter."""
        params = {**self.params, "errors": errors} if "errors" in METRICS[self.metric].params else self.params
        entry = {"name": self.metric, "params": params}
        request = {"format": self.format, "transforms": list(self.transforms), "metrics": [entry]}
        return Evaluation(parse_spec(request), joined([gold for gold, _ in self.sentences]))

    def score(self, output: list[Any], errors: str = "zero") -> Outcome:
        """Score an output, a text for each sentence."""
        return self.evaluation(errors).score(joined(output))[0][self.metric]


def joined(texts: list[Any]) -> Text:
    if isinstance(texts[0], dict):
        return {name: "".join(text[name] for text in texts).encode() for name in texts[0]}
    return "".join(texts).encode()


BRACKET_FAILURES = ("\n", "()\n", "(S (NP\n", "(S (NP (NN other)) (VP (VBD words)))\n")
BRACKET_CASES = [
    Case("parseval", LENIENT, TREES, BRACKET_FAILURES, params)
    for params in (
        {},
        {"preset": "plain"},
        {"preset": "evalb"},
        {"cutoff": 3},
        {"preterminals": True},
        {"preset": "spmrl"},
        {"preset": "spmrl", "unparsed": "miss"},
        {"preset": "spmrl", "unparsed": "spmrl"},
        {"preset": "discodop"},
    )
]
CASES = {
    **{f"parseval-{number}": case for number, case in enumerate(BRACKET_CASES)},
    "parseval-kikas": Case("parseval", LENIENT, TREES, ("\n", "(S (NP\n"), {"preset": "kikas-treumuth"}),
    "leaf_ancestor": Case("leaf_ancestor", LENIENT, TREES, BRACKET_FAILURES, {}),
    "leaf_ancestor-discodop": Case("leaf_ancestor", LENIENT, TREES, BRACKET_FAILURES, {"preset": "discodop"}),
    "tree_distance": Case("tree_distance", LENIENT, TREES, BRACKET_FAILURES, {"preset": "plain"}),
    "tree_distance-discodop": Case("tree_distance", LENIENT, TREES, BRACKET_FAILURES, {}),
    "conformance": Case("conformance", LENIENT, TREES, BRACKET_FAILURES, {"categories": {}}),
    "conformance-flat": Case("conformance", LENIENT, TREES, BRACKET_FAILURES, {}, ({"name": "flatten", "on": "gold"},)),
    "attachment": Case("attachment", LENIENT, TREES, ("\n", "()\n"), {}, ("heads",)),
    "dependency_relations-heads": Case("dependency_relations", LENIENT, TREES, ("\n", "()\n"), {}, ("heads",)),
    "leaf_ancestor-heads": Case("leaf_ancestor", LENIENT, TREES, ("\n", "()\n"), {}, ("heads",)),
    "alignment": Case("alignment", "pharaoh", LINKS, ("\n",), {}),
    "parallel_treebank": Case(
        "parallel_treebank",
        "parallel",
        tuple(
            ({"source": tree, "target": tree, "alignment": gold}, {"source": tree, "target": tree, "alignment": links})
            for tree, (gold, links) in zip(
                DEPENDENT, (("0-0 1-1\n", "0-0 1-0\n"), ("0-0 1p1\n", "1-0\n"), ("0-0\n", "0-0\n")), strict=True
            )
        ),
        None,
        {},
    ),
    "enhanced": Case("enhanced", "conllu", tuple(zip(DEPENDENT, WRONG, strict=True)), None, {}),
    "semantic_dependencies": Case("semantic_dependencies", "sdp", GRAPHS, None, {}),
    "dependency_relations": Case(
        "dependency_relations", "conllu", tuple(zip(DEPENDENT, WRONG, strict=True)), None, {"labelled": True}
    ),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


def without(case: Case, index: int) -> list[Any]:
    """Return what an output may hold that has nothing in a sentence."""
    if case.failures is not None:
        return list(case.failures)
    if case.metric == "parallel_treebank":
        return [{**case.sentences[index][1], "alignment": "\n"}]
    if case.metric == "semantic_dependencies":
        return ["", NO_GRAPH[index]]
    return [{"enhanced": NO_EDGE, "dependency_relations": NO_HEAD}[case.metric][index]]


def losses(table: ScoreTable, totals: Any) -> dict[str, float]:
    """How far each score is from its best direction; undefined is the worst."""
    found = {}
    for score in table.scores:
        value = float(score.of(table.count_names, totals))
        found[score.name] = np.inf if np.isnan(value) else -value if score.higher_is_better else value
    return found


def used(table: ScoreTable) -> list[int]:
    """Columns of the counts that a score uses."""
    names = {
        name for score in table.scores for ratio in score.ratios for name in (*ratio.numerator, *ratio.denominator)
    }
    return [column for column, name in enumerate(table.count_names) if name in names]


def test_every_metric_that_can_be_left_without_an_output_is_here():
    assert set(METRICS) - {case.metric for case in CASES.values()} == {
        "mwe",
        "ud",
    }  # they refuse such an output as a whole


@every_case
def test_a_failure_in_place_of_any_sentence_improves_no_score(case):
    table = case.evaluation().spec.entries[0].metric.table
    output = [system for _, system in case.sentences]
    for base in (output, [gold for gold, _ in case.sentences]):
        before = losses(table, case.score(base).totals)
        for index in range(len(base)):
            for failure in without(case, index):
                changed = [*base[:index], failure, *base[index + 1 :]]
                outcome = case.score(changed)
                assert not outcome.answered[index]
                after = losses(table, outcome.totals)
                assert not [name for name, loss in after.items() if loss < before[name] - 1e-12]


@every_case
def test_one_good_sentence_and_nothing_elsewhere_scores_below_a_complete_output(case):
    """The attack: under `exclude` its precision is 1; under `zero` no score is better than the honest one's."""
    table = case.evaluation().spec.entries[0].metric.table
    honest = losses(table, case.score([system for _, system in case.sentences]).totals)
    good = len(case.sentences) - 1
    for nothing in zip(*(without(case, index) for index in range(good)), strict=True):
        attack = case.score([*nothing, case.sentences[good][1]])
        shown = losses(table, attack.totals)
        assert not [name for name, loss in shown.items() if loss < honest[name] - 1e-12]
        assert attack.answered.tolist() == [False] * good + [True]


@every_case
def test_a_sentence_without_an_output_counts_as_one_of_a_missing_part(case):
    evaluation = case.evaluation()
    metric = evaluation.spec.entries[0].metric
    absent = evaluation.absent(evaluation.spec.entries[0])
    columns = used(metric.table)
    if case.metric == "parallel_treebank":  # its trees cannot be left out
        columns = [
            column for column in columns if not metric.table.count_names[column].startswith(("source", "target"))
        ]
    output = [system for _, system in case.sentences]
    for index in range(len(output)):
        for failure in without(case, index):
            row = case.score([*output[:index], failure, *output[index + 1 :]]).rows[index]
            valid = metric.table.count_names.index("valid") if case.metric == "parseval" else -1
            assert [row[c] for c in columns if c != valid] == [absent[index][c] for c in columns if c != valid]


@every_case
def test_what_exclude_shows_is_as_before(case):
    """Outputs without a failure count alike under both; the parameter changes nothing else."""
    output = [system for _, system in case.sentences]
    assert case.score(output).rows.tolist() == case.score(output, "exclude").rows.tolist()


EXAMPLES = [
    pytest.param(name, example, id=f"{name}-{number}")
    for name, metric in sorted(METRICS.items())
    for number, example in enumerate(metric.examples)
]


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_a_missing_part_has_the_worst_value_of_every_score(name, example):
    zero = replace(
        example, params={**example.params, **({"errors": "zero"} if "errors" in METRICS[name].params else {})}
    )
    evaluation = Evaluation(parse_spec(zero.request(name)), example.gold())
    entry = evaluation.spec.entries[0]
    table = entry.metric.table
    absent = evaluation.absent(entry).sum(axis=0)
    whole = evaluation.score(example.output())[0][name].totals
    for score in table.scores:
        value, shown = (float(score.of(table.count_names, counts)) for counts in (absent, whole))
        if score.worst is None:
            assert np.isnan(value) or (value >= shown) != score.higher_is_better
        else:
            assert np.isnan(value) or value == score.worst


def test_counts_are_right_or_wrong_by_the_scores_that_use_them():
    table = ScoreTable(
        ("right", "wrong", "units", "other"),
        (
            ratio_score("share", "", "right", "units"),
            ratio_score("kept", "", "wrong", "units", one_minus=True),
            ratio_score("faults", "", "wrong", "units", higher_is_better=False),
        ),
    )
    assert charged(table, np.array([[5, 0, 5, 7]])).tolist() == [[0, 5, 5, 7]]


def test_gold_without_words_asks_for_nothing():
    case = replace(CASES["parseval-0"], sentences=(*TREES, ("\n", "\n")))
    outcome = case.score([gold for gold, _ in case.sentences])
    assert outcome.answered.all()
    assert losses(case.evaluation().spec.entries[0].metric.table, outcome.totals)["exact_match"] == -1.0
