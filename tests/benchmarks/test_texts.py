"""Raw text with multiword tokens, made from a treebank: the same characters on both sides, other tokens and words."""

from __future__ import annotations

import random

import pytest
import texts
from dependency import generated

from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec


@pytest.fixture(scope="module")
def pair() -> texts.Pair:
    """Fifty sentences."""
    rng = random.Random(3)  # noqa: S311 - no secret
    sentences = texts._sentences(generated(50)[0].encode())
    gold, system = zip(*(texts._retokenized(rows, rng) for rows in sentences), strict=True)
    return texts.Pair("made", "".join(gold).encode(), "".join(system).encode())


def test_gold_and_output_have_ranges_of_words(pair):
    for side in (pair.gold, pair.system):
        assert sum(b"-" in line.split(b"\t", 1)[0] for line in side.splitlines()) > 5


def test_both_sides_have_the_same_characters_in_other_tokens(pair):
    spec = parse_spec({"format": "conllu", "metrics": ["ud"]})
    values = spec.entries[0].metric.table.values(Evaluation(spec, pair.gold).score(pair.system)[0]["ud"].totals)
    assert values["sentences_f1"] == 1.0
    assert 0.8 < float(values["tokens_f1"]) < 1.0
    assert 0.3 < float(values["las_f1"]) < float(values["words_f1"]) < 1.0


def test_a_copy_differs_in_a_comment_alone(pair):
    one, two = (texts.numbered(pair.gold, number) for number in (1, 2))
    assert one != two
    assert one.partition(b"\n")[2] == two.partition(b"\n")[2] == pair.gold
    assert texts.words_of(one) == texts.words_of(pair.gold)
