"""Constituency trees to dependencies: head tables, relations, and both kinds of parser scored in one job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.registry import ERROR, OK, make_format, make_transform
from treescore.core.text import Limits
from treescore.core.trees import DependencyTreebank, Vocabulary
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_format, parse_spec
from treescore.metrics.shared.heads import shape_of


def dependencies(text: str, **params: Any) -> DependencyTreebank:
    treebank = make_format("bracketed", {}).read(text.encode(), Vocabulary(), Limits())
    found = make_transform("heads", params).apply(treebank, treebank)
    assert isinstance(found, DependencyTreebank)
    return found


def arcs(text: str, **params: Any) -> list[tuple[str, int, str]]:
    """(word, head, relation) of each word."""
    found = dependencies(text, **params)
    strings = found.vocabulary.strings
    return [
        (strings[form], head, strings[relation])
        for form, head, relation in zip(found.forms.tolist(), found.heads.tolist(), found.deprels.tolist(), strict=True)
    ]


SENTENCE = (
    "(TOP (S (NP-SBJ-1 (DT The) (NN dog)) (VP (MD will) (VP (VB give) (NP (PRP it)) (PP-DTV (TO to) (NP (NNP Kim)))"
    " (NP-TMP (NN today)))) (. .)))\n"
)


def test_relations_come_from_function_tags_or_from_where_a_phrase_stands() -> None:
    assert arcs(SENTENCE) == [
        ("The", 2, "NMOD"),
        ("dog", 3, "SBJ"),
        ("will", 0, "root"),
        ("give", 3, "VMOD"),
        ("it", 4, "OBJ"),
        ("to", 4, "DTV"),
        ("Kim", 6, "PMOD"),
        ("today", 4, "TMP"),
        (".", 3, "P"),
    ]


@pytest.mark.parametrize(
    ("tree", "head"),
    [
        ("(NP (NNP Kim) (POS 's))", "'s"),
        ("(NP (DT the) (NN dog) (SBAR (WDT that) (S (VP (VBD ran)))))", "dog"),
        ("(NP (NP (NN cat)) (CC and) (NP (NN dog)))", "cat"),
        ("(NP (JJ rich) (CD two))", "two"),
        ("(NP ($ $) (CD two))", "$"),
        ("(VP (VBD ran) (CC and) (VBD fell))", "ran"),
        ("(VP (ADVP (RB not)) (TO to) (VP (VB go)))", "to"),
        ("(S (NP (PRP it)) (, ,) (VP (VBD ran)))", "ran"),
        ("(SBAR (IN that) (S (VP (VBD ran))))", "that"),
        ("(PP (IN of) (IN from) (NP (NN here)))", "from"),
        ("(FRAG (NN a) (NN b) (. .))", "b"),
        ("(ADVP (RB very) (RB well))", "well"),
        ("(QP (CD two) (NNS tens))", "tens"),
        ("(FOO (, ,) (NN a) (NN b))", "a"),
    ],
)
def test_collins_table(tree: str, head: str) -> None:
    (root,) = [word for word, governor, _ in arcs(tree + "\n") if governor == 0]
    assert root == head


def test_collins_coordination_takes_the_child_before_the_conjunction() -> None:
    """The rightmost noun is behind the conjunction: the head moves before it."""
    assert [word for word, head, _ in arcs("(NP (NN cats) (CC and) (NN dogs))\n") if head == 0] == ["cats"]
    assert [w for w, h, _ in arcs("(NP (NN cats) (CC and) (NN dogs))\n", conjunctions=[]) if h == 0] == ["dogs"]


def test_magermans_table_differs() -> None:
    assert [w for w, h, _ in arcs("(SBAR (IN that) (S (VP (VBD ran))))\n", table="magerman") if h == 0] == ["ran"]
    assert [w for w, h, _ in arcs("(NP (NN cats) (CC and) (NN dogs))\n", table="magerman") if h == 0] == ["dogs"]


def test_a_table_in_the_request() -> None:
    tree = "(S (N Kim) (V ran) (X (A a) (B b) (C c)))\n"
    rules = {"S": [["right", ["V"]]], "X": [["last", ["Z"]], ["right-any", ["A", "B"]]]}
    assert arcs(tree, table=rules) == [
        ("Kim", 2, "VMOD"),
        ("ran", 0, "root"),
        ("a", 4, "DEP"),
        ("b", 2, "VMOD"),
        ("c", 4, "DEP"),
    ]
    star = {"*": [["right", []]]}
    assert [word for word, head, _ in arcs(tree, table=star) if head == 0] == ["c"]
    with pytest.raises(InputError) as caught:
        make_transform("heads", {"table": {"S": [["up", ["V"]]]}})
    assert caught.value.problems[0].code == "bad-parameter"


def test_every_sentence_has_one_root_whatever_its_shape() -> None:
    """Several trees a line, bare words, square brackets, an outer bracket without label, traces, empty phrases."""
    for text in (
        "( (S (NP (NN a)) (VP (VB b))) )\n",
        "(S (NP (-NONE- *)) (VP (VB b)))\n",
        "(NP (NN a)) (VP (VB b))\n",
        "(S a (NP b) c)\n",
        "(S (NP) (VP (VB b)))\n",
        "[S [N1 two ] [V came ] ]\n",
    ):
        found = dependencies(text)
        assert (found.heads == 0).sum() == 1, text
        assert (shape_of(found.heads, found.word_offsets).depths > 0).all()
    assert len(dependencies("(S (VP (VB b)))\n\n")) == 2


def test_depth_is_no_matter() -> None:
    depth = 20_000
    found = dependencies("(X " * depth + "(NN a) (NN b)" + ")" * depth + "\n")
    assert found.heads.tolist() == [0, 1]


def test_dependency_trees_stay_as_they_are() -> None:
    text = b"1\ta\t_\tX\t_\t_\t2\tr\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    treebank = make_format("conllu", {}).read(text, Vocabulary(), Limits())
    assert make_transform("heads", {}).apply(treebank, treebank) is treebank


def test_a_bracket_parser_and_a_dependency_parser_in_one_job() -> None:
    """Gold in brackets, one system in brackets, one in CoNLL-X: the same dependencies, the same score."""
    spec = parse_spec(
        {"format": "bracketed", "metrics": ["dependency_relations", "attachment"], "transforms": ["heads"]}
    )
    evaluation = Evaluation(spec, SENTENCE.encode())
    flat = make_format("conllx", {}).write(dependencies(SENTENCE)).encode()
    for output, choice in ((SENTENCE.encode(), parse_format("bracketed")), (flat, parse_format("conllx"))):
        outcomes = evaluation.score(output, choice)[0]
        assert outcomes["dependency_relations"].totals.tolist() == [8, 8, 8, 8]
        assert outcomes["attachment"].totals[:4].tolist() == [9, 9, 9, 9]


def test_phrase_boundaries_and_dependencies_of_one_pair_side_by_side() -> None:
    """One wrong attachment of a coordination: many brackets, two dependencies (what Lin 1995 holds against brackets).

    In the key "a dog and a cat" is one phrase below "with"; the answer attaches "and a cat" to "a man with a dog".
    Of the key's nine brackets the answer lacks the prepositional phrase and the coordination; it has a shorter
    prepositional phrase and "a man with a dog" instead, and both cross. Under the head rules the coordination's head
    is "dog" in the key and "man" in the answer: only "and" and "cat" change their head.
    """
    key = (
        "(S (NP (PRP I)) (VP (VBD saw) (NP (NP (DT a) (NN man)) (PP (IN with) (NP (NP (DT a) (NN dog)) (CC and)"
        " (NP (DT a) (NN cat)))))))\n"
    )
    answer = (
        "(S (NP (PRP I)) (VP (VBD saw) (NP (NP (NP (DT a) (NN man)) (PP (IN with) (NP (DT a) (NN dog)))) (CC and)"
        " (NP (DT a) (NN cat)))))\n"
    )
    spec = parse_spec(
        {
            "format": "bracketed",
            "metrics": [
                {"name": "parseval", "params": {"preset": "plain"}},
                {"name": "dependency_relations", "transforms": ["heads"]},
            ],
        }
    )
    outcomes = Evaluation(spec, key.encode()).score(answer.encode())[0]
    brackets = dict(zip(spec.entry("parseval").metric.table.count_names, outcomes["parseval"].totals, strict=True))
    assert (brackets["matched"], brackets["gold"], brackets["system"], brackets["crossing"]) == (7, 9, 9, 2)
    assert outcomes["dependency_relations"].totals.tolist() == [9, 9, 7, 7]


@pytest.mark.slow
def test_real_trees_become_trees(real_data: Path) -> None:
    for path in sorted((real_data / "gum").glob("*.mrg")):
        treebank = make_format("bracketed", {}).read(path.read_bytes(), Vocabulary(), Limits())
        found = make_transform("heads", {}).apply(treebank, treebank)
        shape = shape_of(found.heads, found.word_offsets)
        assert (shape.depths > 0).all()
        assert (shape.roots == 1).all()


TREES = st.recursive(
    st.sampled_from(["(NN a)", "(VB b)", "(CC and)", "(, ,)", "(IN of)"]),
    lambda inner: st.builds(
        lambda label, children: f"({label} {' '.join(children)})",
        st.sampled_from(["S", "NP", "NP-SBJ", "VP", "PP-LOC", "X", "ADVP=2"]),
        st.lists(inner, min_size=1, max_size=4),
    ),
    max_leaves=15,
)


@given(st.lists(TREES, min_size=1, max_size=3), st.sampled_from(["collins", "magerman"]))
def test_one_root_no_cycle_and_phrases_stay_together(trees: list[str], table: str) -> None:
    """Projective by construction: each phrase has exactly one word whose head lies outside."""
    text = "".join(f"(TOP {tree})\n" for tree in trees)
    found = dependencies(text, table=table)
    shape = shape_of(found.heads, found.word_offsets)
    assert (shape.roots == 1).all()
    assert (shape.depths > 0).all()
    treebank = make_format("bracketed", {}).read(text.encode(), Vocabulary(), Limits())
    for sentence in range(len(treebank)):
        first = int(treebank.word_offsets[sentence])
        for node in range(int(treebank.node_offsets[sentence]), int(treebank.node_offsets[sentence + 1])):
            start, end = int(treebank.starts[node]), int(treebank.ends[node])
            heads = found.heads[first + start : first + end]
            assert ((heads <= start) | (heads > end)).sum() == 1


@pytest.mark.parametrize(
    ("lost", "why"),
    [
        ("", "sentence-without-parse"),
        ("()", "sentence-without-parse"),
        ("(S (NN c) (VB d)", "bracket-unclosed"),
        ("(S (NN c)) x (VB d)", "text-outside-brackets"),
    ],
)
def test_a_sentence_without_a_readable_parse_costs_itself(lost: str, why: str) -> None:
    """It has no dependency and no right word, and its status says so; the rest is scored."""
    gold = "(S (NN a) (VB b))\n(S (NN c) (VB d))\n"
    lines = {"name": "bracketed", "layout": "lines", "unreadable": "sentence"}
    spec = parse_spec({"format": lines, "transforms": ["heads"], "metrics": ["attachment", "dependency_relations"]})
    outcomes, _ = Evaluation(spec, gold.encode()).score(f"(S (NN a) (VB b))\n{lost}\n".encode())
    attachment, relations = outcomes["attachment"], outcomes["dependency_relations"]
    assert attachment.rows[:, :4].tolist() == [[2, 2, 2, 2], [2, 0, 0, 0]]
    assert attachment.status.tolist() == relations.status.tolist() == [OK, ERROR]
    assert attachment.problems[1].code == why
    assert relations.totals.tolist() == [1, 2, 1, 1]
    assert [warning.code for warning in relations.warnings] == [why]
    for name in ("deprel", "Feats", "sentence_length", "depth"):
        assert attachment.slices()[name]
    assert len(attachment.item(1)["words"]) == 2
