"""Which scores an output without an analysis (nearly) wins: one that says next to nothing, or all that can be said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from treescore.core.registry import METRICS
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec

TREE = "(S (NP (DT the) (NN dog)) (VP (VBZ barks) (PP (IN at) (NP (NN night)))))\n"
FLAT = "(S (X the) (X dog) (X barks) (X at) (X night))\n"
GAPS = "(ROOT (S (VP (NP (AT 0=das) (NN 1=Buch)) (VP 4=gelesen)) (VA 2=hat) (PP 3=er)))\n"
FEW_GAPS = (
    "(ROOT (S (VP (X 0=das) (X 1=Buch) (X 4=gelesen)) (X 2=hat) (X 3=er)))\n"
    "(ROOT (S (X 0=das) (X 1=Buch) (X 2=hat) (X 3=er) (X 4=gelesen)))\n"
)
WORDS = ("the", "dog", "saw", "it", "now")


def conllu(*rows: str) -> str:
    """A sentence of words `FORM UPOS HEAD DEPREL DEPS`."""
    lines = []
    for number, row in enumerate(rows, 1):
        form, tag, head, relation, edges = row.split()
        lines.append(f"{number}\t{form}\t{form}\t{tag}\t_\t_\t{head}\t{relation}\t{edges}\t_\n")
    return "".join(lines) + "\n"


PARSED = conllu(
    "the DET 2 det 2:det", "dog NOUN 3 nsubj 3:nsubj", "saw VERB 0 root 0:root", "it PRON 3 obj 3:obj",
    "now ADV 3 advmod 3:advmod",
)  # fmt: skip
# a tenth of 400 sentences, the rest joined to one function word
FEW_WORDS = PARSED * 40 + conllu(f"{''.join(WORDS) * 360} X 0 punct _")
FEW_HEADS = conllu(
    "the DET 2 det 2:det", *(f"{word} X 0 root _" for word in WORDS[1:3]), *(f"{word} X 0 root _" for word in WORDS[3:])
)
FEW_EDGES = conllu("the X 0 x 2:det", "dog X 1 x _", "saw X 1 x _", "it X 1 x _", "now X 1 x _")
ALL_EDGES = conllu(
    *(
        f"{word} X {int(number > 1)} x "
        + "|".join(
            f"{head}:{relation}"
            for head in range(6)
            if head != number
            for relation in (("root",) if head == 0 else ("advmod", "det", "nsubj", "obj"))
        )
        for number, word in enumerate(WORDS, 1)
    )
)
HEADER = "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE\n"


def cupt(*codes: str) -> str:
    """A sentence with these codes of expressions."""
    rows = (f"{number}\t{word}\t{word}\t_\t_\t_\t_\t_\t_\t_\t{code}\n"
            for number, (word, code) in enumerate(zip(WORDS, codes, strict=True), 1))  # fmt: skip
    return HEADER + "".join(rows) + "\n"


# each pair of words
ALL_PAIRS = cupt("1:A;2:A;3:A;4:A", "1;5:A;6:A;7:A", "2;5;8:A;9:A", "3;6;8;10:A", "4;7;9;10")


def sdp(*rows: str) -> str:
    """A graph of words `FORM TOP PRED ROLES...`."""
    lines = (f"{number}\t{form}\t{form}\tX\t{top}\t{pred}\t_\t" + "\t".join(roles) + "\n"
             for number, (form, top, pred, *roles) in enumerate(map(str.split, rows), 1))  # fmt: skip
    return "".join(lines) + "\n"


FULL_LINKS = "0-0 0-1 0-2 1-0 1-1 1-2 2-0 2-1 2-2\n"


@dataclass(frozen=True)
class Case:
    """A sentence of gold, outputs without an analysis, and what else the metric needs."""

    format: str
    gold: Any
    outputs: tuple[Any, ...]
    params: dict[str, Any] = field(default_factory=dict)


CASES = [
    ("parseval", Case("bracketed", TREE, (FLAT,), {"cutoff": 40})),
    ("parseval", Case("discbracket", GAPS * 2, (FEW_GAPS,), {"preset": "discodop"})),
    ("conformance", Case("bracketed", TREE, (FLAT,), {"categories": {}})),
    ("leaf_ancestor", Case("bracketed", TREE, (FLAT,))),
    ("tree_distance", Case("bracketed", TREE, (FLAT,), {"preset": "plain"})),
    ("attachment", Case("conllu", PARSED, (FEW_HEADS,))),
    ("dependency_relations", Case("conllu", PARSED, (FEW_HEADS,))),
    ("ud", Case("conllu", PARSED * 400, (FEW_WORDS,))),
    ("enhanced", Case("conllu", PARSED, (FEW_EDGES, ALL_EDGES))),
    ("mwe", Case("cupt", cupt("*", "1:A", "1", "2:B", "2"), (cupt("*", "1:A", "1", "*", "*"), ALL_PAIRS))),
    ("semantic_dependencies", Case("sdp", sdp("a - - X", "b + + _", "c - - Y"), (sdp("a - - X", "b - + _", "c - - _"),
        sdp("a + + _ X X", "b + + X _ X", "c + + X X _")))),
    ("alignment", Case("pharaoh", "0-0 1-1 2p2\n", ("0-0\n", FULL_LINKS))),
    ("alignment", Case("pharaoh", "0-0 1-1 2p2\n", ("0-0\n", FULL_LINKS), {"alpha": 1})),
    ("alignment", Case("pharaoh", "0-0 1-1 2p2\n", ("0-0\n", FULL_LINKS), {"alpha": 0})),
    ("parallel_treebank", Case("parallel", {"source": PARSED, "target": PARSED, "alignment": "0-0 1-1 2-2\n"},
        ({"source": FEW_HEADS, "target": FEW_HEADS, "alignment": "0-0\n"},))),
]  # fmt: skip


def encoded(text: Any) -> Any:
    return {side: each.encode() for side, each in text.items()} if isinstance(text, dict) else text.encode()


@pytest.mark.parametrize(("metric", "case"), CASES, ids=[f"{name}-{case.format}" for name, case in CASES])
def test_scores_that_are_won_without_an_analysis_are_marked(metric: str, case: Case) -> None:
    request = {"format": case.format, "metrics": [{"name": metric, "params": case.params}]}
    evaluation = Evaluation(parse_spec(request), encoded(case.gold))
    table = evaluation.spec.entries[0].metric.table
    found = [table.values(evaluation.score(encoded(each))[0][metric].totals) for each in case.outputs]
    defined = [name for name in table.by_name if not all(np.isnan(values[name]) for values in found)]
    best = {name: table.by_name[name].best or 0.0 for name in defined}
    won = {name for name in defined if any(np.isclose(values[name], best[name], atol=0.03) for values in found)}
    assert {name for name in defined if table.by_name[name].one_sided} == won


def test_every_metric_is_tried() -> None:
    assert {name for name, _ in CASES} == set(METRICS)
