"""Marks of words, constituents and links, worked out by hand."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from treescore.core.registry import NO_PARTNER, MarkState
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.evaluation.tree_marks import MarkedBy, marks_of
from treescore.metrics.shared.examples import sdp

R, H, L, B, A, S, K = (
    MarkState.RIGHT,
    MarkState.HEAD,
    MarkState.LABEL,
    MarkState.BOTH,
    MarkState.ALONE,
    MarkState.SPAN,
    MarkState.LINK,
)


def marked(request: dict[str, Any], gold: str, output: str) -> MarkedBy | None:
    """The marks of an output."""
    spec = parse_spec(request)
    evaluation = Evaluation(spec, gold.encode())
    system = evaluation.read(output.encode(), spec.format)
    return marks_of(spec.entries, evaluation.compare(system, spec.format), evaluation.gold, system)


def conllu(*words: str) -> str:
    """One sentence; a word is id, form, tag, head and relation."""
    lines = []
    for word in words:
        number, form, tag, head, relation = word.split()
        lines.append(f"{number}\t{form}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_")
    return "\n".join(lines) + "\n\n"


GOLD = conllu("1 go VERB 0 root", "2 on ADV 1 advmod", "3 now ADV 1 advmod", "4 . PUNCT 1 punct")
WRONG = conllu("1 go VERB 0 root", "2 on ADV 3 advmod", "3 now ADV 1 case", "4 . PUNCT 2 dep")


@pytest.mark.parametrize(
    ("metric", "states"),
    [("attachment", [R, H, L, B]), ({"name": "attachment", "params": {"punctuation": False}}, [R, H, L, R])],
)
def test_words_with_another_head_relation_or_both(metric: object, states: list[int]) -> None:
    found = marked({"format": "conllu", "metrics": [metric]}, GOLD, WRONG)
    assert found is not None
    assert found.key == "attachment"
    assert found.marks.system.tolist() == found.marks.gold.tolist() == states
    assert found.marks.partners is None


def test_a_metric_that_makes_none_leaves_the_plain_comparison() -> None:
    found = marked({"format": "conllu", "metrics": ["dependency_relations"]}, GOLD, WRONG)
    assert found is not None
    assert found.key is None
    assert found.marks.system.tolist() == [R, H, L, B]


def test_the_marks_of_a_metric_after_transforms_are_of_other_trees() -> None:
    bracketed = {"format": "bracketed", "metrics": ["attachment"], "transforms": ["heads"]}
    found = marked(bracketed, "(S (NP (NN a)) (VP (VB b)))\n", "(())\n")
    assert found is not None
    assert found.key is None
    assert set(found.marks.system.tolist()) == {R}  # constituents, of a sentence that cannot be compared


def test_words_of_another_segmentation_stand_alone_and_the_others_have_partners() -> None:
    gold = conllu("1 can AUX 2 aux", "2 not PART 0 root", "3 go VERB 2 dep") + conllu("1 up ADV 0 root")
    output = conllu("1 cannot AUX 2 aux", "2 go VERB 0 root", "3 up ADV 2 advmod")
    found = marked({"format": "conllu", "metrics": ["ud"]}, gold, output)
    assert found is not None
    assert found.marks.system.tolist() == [A, B, B]
    assert found.marks.gold.tolist() == [A, A, B, B]
    assert found.marks.partners is not None
    assert found.marks.firsts is not None
    assert found.marks.partners.tolist() == [NO_PARTNER, 2, 3]
    assert found.marks.firsts.tolist() == [0, 2, 3]


def test_constituents_are_compared_as_multisets() -> None:
    gold = "(S (NP (NP (DT a) (NN b))) (VP (VB c)))\n"
    output = "(S (NP (DT a) (NN b)) (XP (VB c)))\n"
    found = marked({"format": "bracketed", "metrics": ["parseval"]}, gold, output)
    assert found is not None
    assert found.key == "parseval"
    assert found.marks.gold.tolist() == [R, R, S, L]
    assert found.marks.system.tolist() == [R, R, L]


def test_deleted_words_and_labels_are_no_errors() -> None:
    gold = "(TOP (S (NP (DT a)) (VP (VB c) (. .))))\n"
    output = "(S (NP (DT a)) (VP (VB c)) (. .))\n"
    metric = {"name": "parseval", "params": {"preset": "evalb-collins"}}
    found = marked({"format": "bracketed", "metrics": [metric]}, gold, output)
    assert found is not None
    assert set(found.marks.system.tolist()) | set(found.marks.gold.tolist()) == {R}


def test_sentences_with_other_words_have_no_marks() -> None:
    found = marked({"format": "bracketed", "metrics": ["parseval"]}, "(S (X a) (X b))\n", "(T (X a))\n")
    assert found is not None
    assert found.marks.system.tolist() == [R]


def test_links_that_gold_lacks_and_sure_ones_that_are_missed() -> None:
    found = marked({"format": "pharaoh", "metrics": ["alignment"]}, "0-0 1-1 2p2\n", "0-0 1-2\n")
    assert found is not None
    assert found.marks.system.tolist() == [R, K]
    assert found.marks.gold.tolist() == [R, K, R]
    assert found.marks.sentences is not None
    assert found.marks.sentences.tolist() == [0]


def test_trees_of_two_kinds_are_not_compared() -> None:
    spec = parse_spec({"format": "bracketed", "metrics": ["attachment"], "transforms": ["heads"]})
    evaluation = Evaluation(spec, b"(S (NP (NN a)) (VP (VB b)))\n")
    other = parse_spec({"format": "conllx", "metrics": ["attachment"]}).format
    system = evaluation.read(b"1 a _ _ _ _ 0 root\n2 b _ _ _ _ 1 x\n", other)
    assert marks_of(spec.entries, {"attachment": None}, evaluation.gold, system) is None  # type: ignore[dict-item]


def test_edges_and_tops_of_graphs_that_the_other_side_lacks_or_has_with_another_role() -> None:
    """Units are tops and edges by argument, then by predicate; a graph that the output lacks has none."""
    gold = "#1\n" + sdp("a - - A", "b + + B") + "#2\n" + sdp("c + - C", "d - + _")
    output = "#1\n" + sdp("a + - X", "b - + B")
    found = marked({"format": "sdp", "metrics": ["semantic_dependencies"]}, gold, output)
    assert found is not None
    assert found.key == "semantic_dependencies"
    assert found.marks.gold.tolist() == [L, K, R, K, K]
    assert found.marks.system.tolist() == [K, L, R]
    plain = marks_of((), {}, *(_read(text, gold) for text in (gold, output)))
    assert plain is not None
    assert plain.marks.system.tolist() == found.marks.system.tolist()
    assert marks_of((), {}, _read(gold, gold), _read(gold.replace("\tc\t", "\te\t"), gold)) is None


def _read(text: str, gold: str) -> Any:
    spec = parse_spec({"format": "sdp", "metrics": ["semantic_dependencies"]})
    return Evaluation(spec, gold.encode()).read(text.encode(), spec.format)


def enhanced(rng: random.Random, forms: str) -> str:
    """Sentences of these forms with edges from anywhere, some of them through an empty node or unreadable."""
    text = ""
    for each in forms.split("."):
        for at, form in enumerate(each, 1):
            heads = [rng.choice([*range(len(each) + 1), "1.1"]) for _ in range(rng.randrange(4))]
            deps = "|".join(f"{head}:{rng.choice(('a', 'a:b', 'b'))}" for head in heads) or "_"
            text += f"{at}\t{form}\t_\t_\t_\t_\t0\troot\t{deps}\t_\n"
            if at == 1:
                text += f"1.1\tx\t_\t_\t_\t_\t_\t_\t{len(each)}:c\t_\n"
        text += "\n"
    return text


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("params", [{}, {"empty_nodes": "skip"}, {"leave_out": ["gapping", "shared_parents"]}])
def test_marks_of_enhanced_edges_agree_with_the_counts(seed: int, params: dict[str, Any]) -> None:
    """In each sentence of gold, for each edge that is drawn."""
    rng = random.Random(seed)  # noqa: S311 - not a secret
    gold, output = enhanced(rng, "abc.de.fgh"), enhanced(rng, rng.choice(("abc.de.fgh", "ab.cdef.gh", "abcdefgh")))
    spec = parse_spec({"format": "conllu", "metrics": [{"name": "enhanced", "params": params}]})
    evaluation = Evaluation(spec, gold.encode())
    system = evaluation.read(output.encode(), spec.format)
    outcomes = evaluation.compare(system, spec.format)
    found = marks_of(spec.entries, outcomes, evaluation.gold, system)
    assert found is not None
    marks, [entry] = found.marks, spec.entries
    golds, systems = (entry.metric.edges_in(side).arguments for side in (evaluation.gold, system))
    assert marks.firsts is not None
    sides = ((marks.gold, golds, evaluation.gold.word_offsets), (marks.system, systems, marks.firsts))
    rows = [[np.diff(np.searchsorted(words[chosen], bounds)) for chosen in (states == R, slice(None))]
            for states, words, bounds in sides]  # fmt: skip
    (right, in_gold), (same, in_system) = (map(np.ndarray.tolist, each) for each in rows)
    assert right == same
    assert np.array_equal(outcomes["enhanced"].rows[:, :3].T, [right, in_gold, in_system])


def test_an_edge_under_another_relation_is_wrong_by_it_and_a_wrong_head_is_no_error() -> None:
    gold = "1\ta\t_\t_\t_\t_\t0\troot\t0:root|2:x|2:y\t_\n2\tb\t_\t_\t_\t_\t1\tdep\t1:dep\t_\n\n"
    output = "1\ta\t_\t_\t_\t_\t0\troot\t0:root|2:x|2:z\t_\n2\tb\t_\t_\t_\t_\t0\tdep\t0:dep\t_\n\n"
    found = marked({"format": "conllu", "metrics": ["enhanced"]}, gold, output)
    assert found is not None
    assert found.key == "enhanced"
    assert found.marks.system.tolist() == found.marks.gold.tolist() == [R, R, L, K]


@pytest.mark.parametrize(("other", "key"), [("attachment", "attachment"), ("dependency_relations", None)])
def test_heads_are_marked_where_a_metric_of_heads_stands_first(other: str, key: str | None) -> None:
    gold = GOLD.replace("_\t_\n", "0:root\t_\n")
    found = marked({"format": "conllu", "metrics": [other, "enhanced"]}, gold, gold)
    assert found is not None
    assert found.key == key
    assert len(found.marks.system) == 4
