"""Order and comparison of constituents with gaps, against a plain reading of the definitions."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.treescore.formats.test_gap_formats import read, tree, words
from treescore.core.discontinuity import discontinuous_of, divided, same_yields
from treescore.core.registry import MarkState, make_format
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import ConstituentTreebank, DiscontinuousTreebank, Vocabulary
from treescore.evaluation.blind import blind_inputs, word_count
from treescore.evaluation.tree_marks import _plain


def random_tree(rng: random.Random, own: list[int]) -> str:
    """A tree over these positions, in discbracket, with gaps wherever chance has it."""
    own = rng.sample(own, len(own))
    if len(own) == 1:
        return f"(T {own[0]}=w)" if rng.random() < 0.7 else f"(X (T {own[0]}=w))"
    if rng.random() < 0.15:
        return f"({rng.choice('AB')} {random_tree(rng, own)})"
    cuts = sorted(rng.sample(range(1, len(own)), min(len(own) - 1, rng.randint(1, 3))))
    parts = [own[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(own)], strict=True)]
    return f"({rng.choice('AB')} {' '.join(random_tree(rng, part) for part in parts)})"


def random_text(rng: random.Random, lengths: list[int]) -> str:
    return "".join(f"(ROOT {random_tree(rng, list(range(length)))})\n" for length in lengths)


def yields(treebank: DiscontinuousTreebank, sentence: int) -> dict[int, tuple[str, frozenset[int]]]:
    """Label and positions of each node, by its number in the file."""
    first = int(treebank.node_offsets[sentence])
    return {first + at: (label, frozenset(own)) for at, (label, _, own) in enumerate(tree(treebank, sentence))}


@pytest.mark.parametrize("seed", range(40))
def test_order_yields_and_marks_are_those_of_the_definitions(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - chooses test data
    lengths = [rng.randint(1, 7) for _ in range(4)]
    others = [length if rng.random() < 0.8 else rng.randint(1, 7) for length in lengths]
    vocabulary = Vocabulary()
    gold = read("discbracket", random_text(rng, lengths), vocabulary)
    other = read("discbracket", random_text(rng, others), vocabulary)
    of_gold, of_other = same_yields(gold, other)
    marks = _plain(gold, other)
    assert marks is not None
    for sentence in range(4):
        own, theirs = yields(gold, sentence), yields(other, sentence)
        for node, (_, positions) in own.items():
            for partner, (_, found) in theirs.items():
                same = (of_gold.starts[node], of_gold.ends[node]) == (of_other.starts[partner], of_other.ends[partner])
                assert same == (positions == found and lengths[sentence] == others[sentence])
        for side, nodes in ((gold, own), (other, theirs)):
            below = [node for node in nodes if side.parents[node] >= 0]
            assert all(side.parents[node] < node for node in below)
            order = [(int(side.parents[node]), min(nodes[node][1])) for node in below]
            for parent in set(side.parents[below].tolist()):
                firsts = [first for above, first in order if above == parent]
                assert firsts == sorted(firsts)
        if lengths[sentence] == others[sentence]:
            counts = [
                Counter(each for node, each in nodes.items() if side.parents[node] >= 0)
                for side, nodes in ((gold, own), (other, theirs))
            ]
            right = (counts[0] & counts[1]).total()
            for states, nodes in ((marks.gold, own), (marks.system, theirs)):
                assert sum(states[node] == MarkState.RIGHT for node in nodes) == right + 1  # the root


@pytest.mark.parametrize(
    ("label", "parts"),
    [
        ("NP", ("NP", "")),
        ("NP-SBJ", ("NP", "SBJ")),
        ("NP-SBJ-TMP=2", ("NP", "SBJ-TMP")),
        ("NP-12", ("NP", "")),
        ("NP-SBJ-1", ("NP", "SBJ-")),
        ("NP=2-SBJ", ("NP", "SBJ")),
        ("NP-", ("NP", "")),
        ("-NONE-", ("-NONE-", "")),
        ("-", ("-", "")),
        ("=", ("=", "")),
        ("--", ("--", "")),
        ("-X=2", ("-X", "")),
        ("", ("", "")),
    ],
)
def test_labels_are_divided_at_a_hyphen_or_equals_sign(label: str, parts: tuple[str, str]) -> None:
    assert divided(label) == parts


def bracketed(text: str) -> DiscontinuousTreebank:
    found = make_format("bracketed", {}).read(text.encode(), Vocabulary(), DEFAULT_LIMITS)
    assert isinstance(found, ConstituentTreebank)
    return discontinuous_of(found)


def test_a_bracket_around_all_is_the_root_else_there_is_one_above() -> None:
    text = (
        "(S (NP-SBJ (NN-X a)) (VP (VB b) (NP)) ())\n(A (X x)) (B (Y y))\n\n( (S (X x)))\n(X x)\n(S (Y (X x))) word)\n"
    )
    found = bracketed(text.replace(" word)", ""))
    assert tree(found, 0) == [("S", "", [0, 1]), ("NP", "SBJ", [0]), ("VP", "", [1]), ("NP", "", []), ("", "", [])]
    assert [label for label, _, _ in tree(found, 1)] == ["ROOT", "A", "B"]
    assert tree(found, 2) == [("ROOT", "", [])]
    assert [label for label, _, _ in tree(found, 3)] == ["", "S"]
    assert tree(found, 4) == [("ROOT", "", [0])]
    assert words(found)[0] == ("a", "NN")
    strings = found.vocabulary.strings
    assert [strings[number] for number in found.word_functions[:2]] == ["X", ""]


def test_a_constituent_without_words_stands_behind_its_neighbours() -> None:
    # A bracket without words is below the lowest one that touches its place, as in every treebank of brackets.
    assert [label for label, _, _ in tree(bracketed("(S (E) (A (X x)) (F) (B (Y y)))\n"))] == ["S", "A", "F", "B", "E"]


def test_trees_with_gaps_are_trees_for_all_that_asks_for_words() -> None:
    found = read("export", "#BOS 1\na X -- -- 0\nb -NONE- -- -- 0\n#EOS 1\n#BOS 2\nc X -- -- 0\n#EOS 2\n")
    assert blind_inputs(found) == {"words": "a\nc\n", "text": "a c\n"}
    assert word_count(found) == 3


def test_sentences_of_other_names_are_not_marked() -> None:
    texts = ["".join(f"#BOS {name}\na X -- -- 0\n#EOS {name}\n" for name in order) for order in ("12", "21")]
    vocabulary = Vocabulary()
    gold, other = (read("export", text, vocabulary) for text in texts)
    assert _plain(gold, other) is None
    assert _plain(gold, gold) is not None
