"""Transforms of constituent trees: what each deletes, and Kikas & Treumuth's tables through an evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.treescore.building import brackets, tree_strings, treebank
from treescore.core.registry import make_transform
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.transforms.edits import base_label, without_nodes, without_words
from treescore.transforms.flatten import STEPS as STEPS_OF_BLACK

STEPS = ("strip-functions", "drop-traces", "drop-empty", "black", "drop-punctuation", "collapse-unary", "flatten")


def applied(name: str, tree: str, guide: str | None = None, **params: Any) -> str:
    given = treebank(tree)
    other = given if guide is None else treebank(guide, vocabulary=given.vocabulary)
    return brackets(make_transform(name, params).apply(given, other))[0]


@pytest.mark.parametrize(
    ("label", "base"),
    [
        ("NP-SBJ-68", "NP"),
        ("NP=2", "NP"),
        ("NP=2-SBJ", "NP"),
        ("-LRB-", "-LRB-"),
        ("-NONE-", "-NONE-"),
        ("ADVP|PRT", "ADVP|PRT"),
        ("PRP$", "PRP$"),
        ("=", "="),
        ("", ""),
    ],
)
def test_extensions_are_cut(label: str, base: str) -> None:
    assert base_label(label) == base


def test_strip_functions() -> None:
    tree = "(S (NP-SBJ (NN-X a)) (-LRB- -LRB-))"
    assert applied("strip-functions", tree) == "(S (NP (NN a)) (-LRB- -LRB-))"
    assert applied("strip-functions", tree, tags=False) == "(S (NP (NN-X a)) (-LRB- -LRB-))"


def test_traces_and_what_they_leave() -> None:
    tree = "(S (NP (-NONE- *)) (VP (VBD b) (SBAR (-NONE- 0) (S (-NONE- *T*)))))"
    assert applied("drop-traces", tree) == "(S (NP) (VP (VBD b) (SBAR (S))))"
    assert applied("drop-empty", applied("drop-traces", tree)) == "(S (VP (VBD b)))"
    kept = treebank(tree)
    kept = make_transform("drop-traces", {"emptied": "word"}).apply(kept, kept)
    assert kept.ends.tolist() == [3, 1, 3, 3, 3]
    assert brackets(make_transform("drop-empty", {}).apply(kept, kept)) == ["(S (VP (VBD b)))"]


def test_delete_labels() -> None:
    tree = "( (S (NP (NN a)) (NP-SBJ (NP x) (NN b))))"
    assert applied("delete-labels", tree, labels=["NP", ""]) == "(S (NN a) (NP-SBJ (NP x) (NN b)))"
    assert applied("delete-labels", tree, labels=["NP"], words=True) == "((S (NN a) (NP-SBJ (NN b))))"


def test_collapse_unary() -> None:
    tree = "( (S (VP (X (NP (NN a)) (NP (QP (CD b)))))))"
    assert applied("collapse-unary", tree) == "((S (NP (NN a)) (NP (CD b))))"
    assert applied("collapse-unary", tree, keep="bottom") == "((X (NP (NN a)) (QP (CD b))))"
    assert applied("collapse-unary", tree, words=True) == "((S (NN a) (CD b)))"
    assert applied("collapse-unary", "(S (NP (NN a)))", words=True) == "(S (NN a))"
    assert applied("collapse-unary", "(S (NP (NN a)))", words=True, keep="bottom") == "(S (NN a))"


def test_punctuation_goes_by_golds_tags() -> None:
    gold, system = "(S (NN a) (, ,) (NN b) (. .))", "(S (NN a) (NN ,) (X (: b) (. .)))"
    assert applied("drop-punctuation", system, gold) == "(S (NN a) (X (: b)))"
    assert applied("drop-punctuation", system, "(S (NN a))") == "(S (NN a) (NN ,) (X))"
    assert applied("drop-punctuation", system, gold, by="characters") == "(S (NN a) (X (: b)))"
    assert applied("drop-punctuation", "[S a , b ... ]") == "[S a b]"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "(S (NP (PRP He) (X y)) (VP (MD would) (RB not) (VP (VB go) (NN x))))",
            "(S (NP (PRP He) (X y)) (VP (VB go) (NN x)))",
        ),
        ("(VP (VBZ has) (VP (VBN been) (VP (VBG laughing) (NN x))))", "(VP (VBG laughing) (NN x))"),
        ("(SQ (VBZ does) (NP (PRP he) (X y)) (VP (VB sing) (NN x)))", "(SQ (NP (PRP he) (X y)) (VP (VB sing) (NN x)))"),
        ("(S (NN x) (VP (VBZ is) (NP (DT a) (NN mess))))", "(S (NN x) (VP (VBZ is) (NP (DT a) (NN mess))))"),
        ("(S (NN x) (VP (VBD did)))", "(S (NN x) (VBD did))"),
        ("(S (NN x) (VP (VBD did) (VP (-NONE- *?*))))", "(S (NN x) (VBD did))"),
        ("(S (NN x) (VP (TO to) (VP (VB go) (PP (TO to) (NN y)))))", "(S (NN x) (VP (VB go) (PP (TO to) (NN y))))"),
        ("(NP (NP (NNP Lori) (POS 's)) (NN mother))", "(NP (NNP Lori) (NN mother))"),
        (
            "(S (`` ``) (NP (NN a)) (, ,) (NP (NN b) (HYPH -) (NN c)) ('' '') (. .))",
            "(S (NN a) (NP (NN b) (HYPH -) (NN c)))",
        ),
        ("(VP (VBP have) (VBN been) (VBG setting) (NNS records))", "(VP (VBG setting) (NNS records))"),
    ],
)
def test_the_deletions_of_black_and_others(before: str, after: str) -> None:
    """After the examples of Black et al. 1991: would go there, has been laughing, does sing it, Lori's mother."""
    assert applied("black", before) == after


def test_blacks_steps_can_be_switched_off() -> None:
    tree = "(S (NP (PRP it)) (VP (MD will) (RB not) (VP (VB go) (NP (-NONE- *)))) (. .))"
    off = dict.fromkeys(
        ("null_elements", "auxiliaries", "negation", "infinitive", "possessives", "punctuation", "unary", "nullary"),
        False,
    )
    assert applied("black", tree, **off) == tree
    assert applied("black", tree, **{**off, "negation": True}) == tree.replace("(RB not) ", "")
    assert applied("black", tree, **{**off, "punctuation": True}) == tree.replace(" (. .)", "")
    assert applied("black", tree, **{**off, "negation": True}, negation_words=["nicht"]) == tree


def test_black_takes_rewriting_rules() -> None:
    tree = "(S (NP (PRP it) (X x)) (VP (VBZ is) (ADJP (JJ necessary) (SBAR (IN that) (NN y)))))"
    flat = "(S (NP (PRP it) (X x)) (VP (VBZ is) (JJ necessary) (SBAR (IN that) (NN y))))"
    assert applied("black", tree) == tree
    assert applied("black", tree, rules="extraposition") == flat


def test_black_lets_gold_decide_past_null_elements() -> None:
    """Gold has a trace, the system a wrong tag: the same words go on both sides."""
    gold = "(S (NP (-NONE- *)) (VP (MD can) (VP (VB fish) (NN x))) (. .))"
    system = "(S (VP (NN can) (NP (NN fish) (NN x))) (SYM .))"
    assert applied("black", system, gold) == "(S (NN fish) (NN x))"


KIKAS = "(S (NP (PRP it)) (VP (MD will) (RB not) (VP (TO to) (VP (VB go) (NP (-NONE- *) (NN x) (POS 's))))) (. .))"


def test_the_first_step_alone_as_kikas_and_treumuth_take_it() -> None:
    """Brackets over one word or none, null elements and possessive endings stay."""
    after = "(S (NP (PRP it)) (VP (VP (VP (VB go) (NP (-NONE- *) (NN x) (POS 's))))))"
    assert applied("black", KIKAS, preset="kikas-treumuth") == after
    assert applied("black", "(S (X (. .)) (VP (MD can) (VP (VB go))))", preset="kikas-treumuth") == (
        "(S (X) (VP (VP (VB go))))"
    )
    assert applied("black", KIKAS) == "(S (PRP it) (VP (VB go) (NN x)))"


def test_a_step_that_is_given_overrides_the_preset_and_the_signature_has_all() -> None:
    given = {"preset": "kikas-treumuth", "punctuation": False, "possessives": True}
    assert applied("black", KIKAS, **given) == ("(S (NP (PRP it)) (VP (VP (VP (VB go) (NP (-NONE- *) (NN x))))) (. .))")
    values = make_transform("black", given).values
    assert {name: values[name] for name in STEPS_OF_BLACK} == {
        "null_elements": False,
        "auxiliaries": True,
        "negation": True,
        "infinitive": True,
        "possessives": True,
        "punctuation": False,
        "nullary": False,
        "unary": False,
    }


def test_a_word_that_holds_the_place_of_an_emptied_phrase_stays_under_their_step() -> None:
    kept = treebank("(S (NP (-NONE- *)) (VP (MD can) (VP (VB go))))")
    kept = make_transform("drop-traces", {"emptied": "word"}).apply(kept, kept)
    found = make_transform("black", {"preset": "kikas-treumuth"}).apply(kept, kept)
    assert found.ends.tolist() == [2, 1, 2, 2]


@pytest.mark.parametrize("name", [*STEPS, "delete-labels"])
@pytest.mark.parametrize("sentences", [1, 3])
def test_unequal_numbers_of_sentences_are_told_after_any_transform(name: str, sentences: int) -> None:
    tree = b"(S (NP (-NONE- *)) (VP (VB a) (. .)))\n"
    spec = parse_spec({"format": "bracketed", "transforms": [{"name": name, "on": "both"}], "metrics": ["conformance"]})
    with pytest.raises(InputError) as error:
        Evaluation(spec, tree * 2).score(tree * sentences)
    assert error.value.problems[0].code == "sentence-count-mismatch"


@given(st.lists(tree_strings(), min_size=1, max_size=3), st.data())
def test_edited_treebanks_stay_well_formed(trees: list[str], data: Any) -> None:
    given = treebank(*trees)
    words = data.draw(st.lists(st.booleans(), min_size=len(given.words), max_size=len(given.words)))
    nodes = data.draw(st.lists(st.booleans(), min_size=len(given.labels), max_size=len(given.labels)))
    edited = without_nodes(without_words(given, mask(words)), mask(nodes))
    assert len(edited) == len(given)
    assert len(edited.words) == len(words) - sum(words)
    assert len(edited.labels) == len(nodes) - sum(nodes)
    assert (edited.starts <= edited.ends).all()
    assert treebank(*brackets(edited)).ends.tolist() == edited.ends.tolist()


def test_black_deletes_words_by_the_phrases_of_its_input() -> None:
    """A unary bracket that goes last leaves a word among other children: applied again, `black` may delete it."""
    assert applied("black", "(S (S (MD may)) (VBD went))") == "(S (MD may) (VBD went))"
    assert applied("black", "(S (MD may) (VBD went))") == "(S (VBD went))"


def mask(values: list[bool]) -> Any:
    return np.array(values, bool)
