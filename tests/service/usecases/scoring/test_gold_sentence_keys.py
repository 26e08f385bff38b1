"""Digests of sentences differ where the annotation does, in that column alone."""

from __future__ import annotations

import numpy as np
import pytest

from service.usecases.scoring.gold import sentence_keys
from tests.fixtures.requests import GOLD_CONLLU, GOLD_TREE
from tests.fixtures.tasks import LONG
from treescore.core.arrays import IntArray
from treescore.core.registry import METRICS
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec

KEY = b"k" * 32
MULTIWORD = "1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\t_\t_\t_\t_\t0\troot\t_\t_\n2\tel\t_\t_\t_\t_\t1\tdet\t_\t_\n\n"


def keys(text: str, key: bytes = KEY) -> IntArray:
    kind, metric = ("conllu", "attachment") if "\t" in text else ("bracketed", "parseval")
    return sentence_keys(Evaluation(parse_spec({"format": kind, "metrics": [metric]}), text.encode()).gold, key)


@pytest.mark.parametrize(
    ("old", "new", "columns"),
    [("2\tnsubj", "2\tobj", 1), ("2\tnsubj", "3\tobj", 2), ("PRON", "NOUN", 1), ("sent_id", "x", 0)],
)
def test_a_change_shows_in_its_columns_and_its_sentence(old: str, new: str, columns: int) -> None:
    differs = keys(LONG) != keys(LONG.replace(old, new, 1))
    assert differs.any(axis=1).sum() == columns
    assert differs.any(axis=0).sum() == (columns > 0)


def test_trees_and_multiword_tokens_have_digests_too() -> None:
    differs = keys(GOLD_TREE * 3) != keys(GOLD_TREE * 2 + GOLD_TREE.replace("(NP", "(NX", 1))
    assert (differs.any(axis=1).sum(), differs.any(axis=0).tolist()) == (1, [False, False, True])
    assert (keys(MULTIWORD) != keys(MULTIWORD.replace("\tdel", "\tdal"))).any(axis=1).sum() == 1


def test_heads_that_no_metric_reads_may_be_any_number() -> None:
    spec = parse_spec({"format": "cupt", "metrics": ["mwe"]})
    header = "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE\n"
    made = [
        sentence_keys(Evaluation(spec, f"{header}1\ta\ta\tX\t_\t_\t{head}\tdep\t_\t_\t1:LVC\n\n".encode()).gold, KEY)
        for head in (10**12, 10**12 + 1)
    ]
    assert (made[0] != made[1]).any(axis=1).sum() == 1


def test_without_the_key_nobody_makes_them() -> None:
    assert not np.any(keys(GOLD_CONLLU) == keys(GOLD_CONLLU, b"another"))


@pytest.mark.parametrize("name", sorted(METRICS))
def test_every_kind_of_treebank_has_columns(name: str) -> None:
    example = METRICS[name].examples[0]
    treebank = Evaluation(parse_spec(example.request(name)), example.gold()).gold
    found = sentence_keys(treebank, KEY)
    assert found.shape[1] == len(treebank)
    assert len(found)
