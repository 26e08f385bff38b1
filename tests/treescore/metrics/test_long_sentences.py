"""One sentence as long as the limit is scored, with its item and slices; in quadratic time these take minutes."""

from __future__ import annotations

import pytest

from treescore.core.registry import Outcome
from treescore.core.text import DEFAULT_LIMITS
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec

pytestmark = pytest.mark.slow

SIZE = DEFAULT_LIMITS.max_words


def scored(text_format: str, metric: str, gold: str, output: str) -> Outcome:
    spec = parse_spec({"format": text_format, "metrics": [metric]})
    outcome = Evaluation(spec, gold.encode()).score(output.encode())[0][metric]
    outcome.item(0)
    dict(outcome.slices())
    outcome.extra()
    return outcome


def sentence(relation: str) -> str:
    """A sentence of one word, repeated, under its first."""
    rows = [f"{number}\ta\t_\tX\t_\t_\t1\t{relation}\t1:{relation}\t_\n" for number in range(2, SIZE + 1)]
    return "1\ta\t_\tX\t_\t_\t0\troot\t0:root\t_\n" + "".join(rows) + "\n"


@pytest.mark.parametrize("metric", ["attachment", "enhanced", "ud"])
def test_a_sentence_with_all_relations_wrong(metric: str) -> None:
    outcome = scored("conllu", metric, sentence("dep"), sentence("obj"))
    assert outcome.rows.max() == SIZE


@pytest.mark.parametrize("metric", ["conformance", "parseval"])
def test_a_sentence_whose_brackets_all_cross(metric: str) -> None:
    gold = "(S " + "(A (X a) (X a)) " * (SIZE // 2) + ")\n"
    output = "(S (X a) " + "(A (X a) (X a)) " * (SIZE // 2 - 1) + "(X a))\n"
    assert len(scored("bracketed", metric, gold, output).rows) == 1
