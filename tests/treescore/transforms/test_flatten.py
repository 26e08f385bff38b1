"""Flattening: the rule language and its errors, the three forms, the order of steps, the shipped rules."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import treescore.formats
import treescore.transforms  # noqa: F401 - importing the packages fills the registry
from tests.treescore.building import brackets, tree_strings, treebank
from treescore.core.compiling import setting
from treescore.core.registry import make_format, make_transform
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import ConstituentTreebank, Vocabulary
from treescore.errors import InputError, LimitError
from treescore.transforms.edits import without_nodes
from treescore.transforms.rules import RULE_SETS, Rule, dropped_by, parse_rules


def flat(*trees: str, **params: Any) -> list[str]:
    given = treebank(*trees)
    return brackets(make_transform("flatten", params).apply(given, given))


def rewritten(rules: str, tree: str) -> str:
    given = treebank(tree)
    return brackets(without_nodes(given, dropped_by(parse_rules(rules), given)))[0]


def test_the_penn_tree_becomes_the_flat_tree(golden: Any) -> None:
    trees = golden("conformance")["trees"]
    assert flat(trees["PTB"]) == [trees["Flat"]]
    assert flat(trees["Flat"]) == [trees["Flat"]]


@pytest.mark.parametrize(
    ("rules", "before", "after"),
    [
        ("(NP NP^ PP)", "(S (NP (NP (A a)) (PP (B b))))", "(S (NP (A a) (PP (B b))))"),
        ("(NP NP^ PP)", "(S (NP (NP (A a)) (PP (B b)) (PP (C c))))", "(S (NP (NP (A a)) (PP (B b)) (PP (C c))))"),
        ("(NP^ NP PP)", "(S (NP (NP (A a)) (PP (B b))))", "(S (NP (A a)) (PP (B b)))"),
        ("NP^", "(S (NP (NP (A a)) (PP (B b))))", "(S (A a) (PP (B b)))"),
        ("NP^", "(NP (NP (A a)) (B b))", "(NP (A a) (B b))"),
        ("NP^", "( (NP (NP (A a)) (B b)))", "((NP (A a) (B b)))"),
        ("(VP MD VP^)", "(VP (MD m) (VP (MD n) (VP (VB v))))", "(VP (MD m) (MD n) (VB v))"),
        ("(VP VP^ VB)", "(VP (VP (VP (VB a)) (VB b)) (VB c))", "(VP (VB a) (VB b) (VB c))"),
        ("(VP MD* VP^)", "(VP (MD m) (MD n) (VP (VB v)))", "(VP (MD m) (MD n) (VB v))"),
        ("(X A^ A)", "(X (A (w a)) (A (w b)) )", "(X (w a) (A (w b)))"),
        ("(X A A^)", "(X (A (w a)) (A (w b)) )", "(X (A (w a)) (w b))"),
        ("(X ... B^ ...)", "(X (A (w a)) (B (w b)) (B (w c)))", "(X (A (w a)) (w b) (w c))"),
        ("(X A|B^ C)", "(X (B (w a)) (C (w b)))", "(X (w a) (C (w b)))"),
        ("(X A|B^ C)", "(X (A|B (w a)) (C (w b)))", "(X (w a) (C (w b)))"),
        ("(X NN^)", "(X (NN a))", "(X (NN a))"),
        ("# nothing\n\n(X\n A^)", "(X (A (w a) (w b)))", "(X (w a) (w b))"),
        (r"(X \*^ \.\.\.)", "(X (* (w a)) (... (w b)))", "(X (w a) (... (w b)))"),
    ],
)
def test_rule_forms(rules: str, before: str, after: str) -> None:
    assert rewritten(rules, before) == after


def test_the_first_rule_that_fits_applies() -> None:
    tree = "(S (X (A (w a)) (B (w b))))"
    assert rewritten("(X A^ B)\n(X A B^)", tree) == "(S (X (w a) (B (w b))))"
    assert rewritten("(X A B^)\n(X A^ B)", tree) == "(S (X (A (w a)) (w b)))"


def test_the_steps_come_in_the_published_order() -> None:
    """Rules see null elements; then these go with what they leave empty; then unary structure."""
    tree = "(S (NP-SBJ-1 (NP (NN a)) (NP (-NONE- *))) (VP (VBD b) (NP (NP (-NONE- *-1)))))"
    assert flat(tree, rules="") == ["(S (NN a) (VBD b))"]
    assert flat(tree, rules="(VP VBD NP^)") == ["(S (NN a) (VBD b))"]
    kept = "(S (NP (NN a)) (VP (VBD b) (-NONE- *-1)))"
    assert flat("(S (NP (NN a)) (VP (VBD b) (NP (-NONE- *-1))))", rules="(VP VBD NP^)", empty=False, unary=False) == [
        kept
    ]


def test_the_outermost_bracket_and_the_root_stay() -> None:
    assert flat("( (S (NN a)))", rules="S^") == ["((S (NN a)))"]
    assert flat("( (S (NP (-NONE- *))))", rules="S^") == ["()"]
    assert flat("(ROOT (S (NP (NN a)) (VP (VB b) (NP (NN c) (NN d)))))", rules="VP^") == [
        "(ROOT (NN a) (VB b) (NP (NN c) (NN d)))"
    ]


@pytest.mark.parametrize(
    ("rules", "line", "column"),
    [
        ("(X Y)", 1, 1),
        ("\n  NP", 2, 3),
        ("(X Y^ Z^)", 1, 7),
        ("(X^ Y^)", 1, 5),
        ("(X^)", 1, 1),
        ("()", 1, 1),
        ("(X (Y^ Z))", 1, 4),
        ("(X Y^", 1, 1),
        ("X^)", 1, 3),
        ("(X ...^)", 1, 4),
        ("(X Y*^)", 1, 4),
        ("(... Y^)", 1, 2),
        ("(X* Y^)", 1, 2),
        ("(X ^)", 1, 4),
        ("(X Y^ \\\n)", 1, 7),
        ("(X " + "Y " * 60 + "Z^)", 1, 1),
    ],
)
def test_a_wrong_rule_says_where(rules: str, line: int, column: int) -> None:
    with pytest.raises(InputError) as error:
        make_transform("flatten", {"rules": rules})
    problem = error.value.problems[0]
    assert (problem.code, problem.pointer, problem.line, problem.column) == ("rule-syntax", "/rules", line, column)
    assert f"Line {line}, column {column}" in problem.detail


def test_rules_may_come_as_a_list() -> None:
    tree = "(S (A (B (w a) (w b))))"
    assert flat(tree, rules=["A^", "B^"]) == ["(S (w a) (w b))"]
    with pytest.raises(InputError) as error:
        make_transform("flatten", {"rules": ["penn-flat", "A^", "(B"]})
    assert error.value.problems[0].pointer == "/rules/2"


@pytest.mark.parametrize(
    "rules", ["A^ " * 3000, " ".join(f"A{i}|B{i}|C{i}^" for i in range(1900)), ["A^ " * 1100] * 2, "# " + "x" * 200_000]
)
def test_too_many_rules_are_refused(rules: Any) -> None:
    with pytest.raises(LimitError) as error:
        make_transform("flatten", {"rules": rules})
    assert error.value.problems[0].code == "too-many-rules"


def test_penn_flat_keeps_the_parts_of_coordinations() -> None:
    tree = "(S (NP (NX (NN a) (NN b)) (CC and) (NX (NN c) (NN d)) (PP (IN e) (NN f))) "
    tree += "(VP (VP (VB g) (NN h)) (CC or) (VP (VB i) (NN j))))"
    assert flat(tree) == [tree]


@pytest.mark.slow
@pytest.mark.skipif(setting() == "never", reason="the bound of the rules' work is minutes where all is interpreted")
def test_hostile_trees_come_to_an_end() -> None:
    """A thousand phrases raised one by one, and a tree deeper than any stack."""
    wide = "(S (X " + " ".join(f"(NP (NN w{place}) (NN v))" for place in range(3000)) + "))"
    assert flat(wide, rules="(X ... NP^ ...)")[0].count("NP") == 0
    deep = treebank("(VP (MD m) " * 20000 + "(VB b)" + ")" * 20000)
    assert len(make_transform("flatten", {"rules": "(VP MD* VP^)"}).apply(deep, deep).labels) == 1
    hostile = "\n".join("(X " + "... " * 50 + "NP^ ... ZZ)" for _ in range(500))
    with pytest.raises(LimitError) as error:
        flat(*[wide] * 20, rules=hostile)
    assert error.value.problems[0].code == "rule-limit"


RULE_LABELS = st.sampled_from(["S", "NP", "VP", "PP", "SBAR", "NN", "VBD", "NP|VP", "S|NN*", "...", "PP*"])
SINGLE = st.sampled_from(["NP", "VP", "PP", "SBAR", "S", "VP|PP"])
RULES = st.one_of(
    st.builds(lambda label: f"{label}^", SINGLE),
    st.builds(
        lambda label, rest: f"({label}^ {' '.join(rest)})", SINGLE, st.lists(RULE_LABELS, min_size=1, max_size=3)
    ),
    st.builds(
        lambda label, before, child, rest: f"({label} {' '.join(before)} {child}^ {' '.join(rest)})",
        SINGLE,
        st.lists(RULE_LABELS, max_size=2),
        SINGLE,
        st.lists(RULE_LABELS, max_size=2),
    ),
)


def nested(tree: str) -> list[Any]:
    """A tree as nested lists, words as strings `(TAG word)`."""
    root: list[Any] = ["top"]
    stack = [root]
    for opened, label, word in re.findall(r"\((\S+) ([^()\s]+)\)|\(([^\s()]*)|\)", tree):
        if opened:
            stack[-1].append(f"({opened} {label})")
        elif word or not (opened or label):
            stack[-1].append([word]) if word else None
            if word:
                stack.append(stack[-1][-1])
            else:
                stack.pop()
    return root


def patterns_of(rules: str) -> list[tuple[Rule, re.Pattern[str]]]:
    """Each rule with its children as a regular expression over `P:label;` and `W:tag;`."""
    patterns = []
    for rule in parse_rules(rules):
        parts = []
        for place, element in enumerate(rule.children):
            one = r"(?:[PW]:(?:" + "|".join(map(re.escape, element.labels)) + r");)"
            gap = r"(?:[PW]:[^;]*;)"
            caret = r"(?P<caret>P:(?:" + "|".join(map(re.escape, element.labels)) + r");)"
            parts.append(
                caret if rule.form == 0 and place == rule.caret else [one, one + "*?", gap + "*?"][element.times]
            )
        patterns.append((rule, re.compile("".join(parts))))
    return patterns


def naive(rules: str, tree: list[Any]) -> None:
    """Full passes over nested lists: what the compiled rules must be equal to."""
    patterns = patterns_of(rules)

    def names(node: list[Any]) -> list[str]:
        return [f"W:{child[1:].split()[0]};" if isinstance(child, str) else f"P:{child[0]};" for child in node[1:]]

    def apply(node: list[Any], root: bool) -> str | int:  # noqa: FBT001
        children = names(node)
        for rule, pattern in patterns:
            if node[0] not in rule.parent.labels or (rule.form != 0 and root):
                continue
            if rule.form == 2:
                return "drop"
            found = pattern.fullmatch("".join(children))
            if found and rule.form == 1:
                return "drop"
            if found:
                return "".join(children)[: found.start("caret")].count(";")
        return ""

    def one_pass(parent: list[Any], level: int) -> bool:
        changed, place = False, 1
        while place < len(parent):
            node = parent[place]
            place += 1
            if isinstance(node, str):
                continue
            before = len(parent)
            changed = one_pass(node, level + 1) or changed
            answer = apply(node, level == 0)
            if answer == "drop":
                parent[place - 1 : place] = node[1:]
                place += len(parent) - before
                changed = True
            elif isinstance(answer, int):
                child = node[answer + 1]
                node[answer + 1 : answer + 2] = child[1:]
                changed = True
        return changed

    while one_pass(tree, 0):
        pass


def as_text(node: Any) -> str:
    return node if isinstance(node, str) else f"({node[0]} {' '.join(map(as_text, node[1:]))})"


def squeezed(tree: str) -> str:
    return tree.replace(" )", ")").replace(" ", "")


LABELLED = tree_strings(labels=("S", "NP", "VP", "PP", "SBAR"), tags=("NN", "VBD"))


@given(st.lists(RULES, min_size=1, max_size=3), LABELLED.filter(lambda tree: not tree.startswith("( ")))
def test_rules_work_as_full_passes_would(rules: list[str], tree: str) -> None:
    # A phrase without words cannot be told from the end of the phrase before it: the columns do not hold it.
    tree = brackets(without_nodes(trees := treebank(tree), trees.starts == trees.ends))[0]
    assume(tree)
    plain = nested(tree)
    naive("\n".join(rules), plain)
    assert squeezed(rewritten("\n".join(rules), tree)) == squeezed(as_text(plain[1]))


def words_of(trees: ConstituentTreebank) -> list[str]:
    return [trees.vocabulary.strings[word] for word in trees.words[trees.tags != trees.vocabulary.get("-NONE-")]]


@given(st.lists(tree_strings(), min_size=1, max_size=3), st.one_of(st.just(["penn-flat"]), st.lists(RULES, max_size=3)))
def test_flattening_is_idempotent_and_keeps_the_words(trees: list[str], rules: list[str]) -> None:
    given = treebank(*trees)
    flatten = make_transform("flatten", {"rules": rules})
    once = flatten.apply(given, given)
    assert brackets(flatten.apply(once, once)) == brackets(once)
    assert words_of(once) == words_of(given)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(RULE_SETS))
def test_shipped_rules_hold_on_real_trees(real_data: Path, name: str) -> None:
    reader = make_format("bracketed", {"layout": None, "unreadable": "job"})
    for path in (real_data / "gum" / "gold.mrg", real_data / "cgel" / "adjudicated.mrg"):
        trees = reader.read(path.read_bytes(), Vocabulary(), DEFAULT_LIMITS)
        flatten = make_transform("flatten", {"rules": name})
        once = flatten.apply(trees, trees)
        assert words_of(once) == words_of(trees)
        assert len(once.labels) < len(trees.labels)
        assert len(flatten.apply(once, once).labels) == len(once.labels)
