"""Constituents with gaps: labels never collide, bars of one level never meet, nothing is lost, size is bounded."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.treescore.render.drawn import check_sound
from treescore.render.constituent_layout import MOST_LEVELS, Node, branches_of, constituent_lines, masks_of, place_of
from treescore.render.constituents_picture import MOST_TREE_WORDS, constituent_facts, constituents_svg
from treescore.render.drawing import LINE_WIDTH
from treescore.render.sentence_shapes import Branch, ConstituentSentence

WORDS = ("Das", "Buch", "hat", "er", "gelesen", ".")
GOLD = (Branch("ROOT", None, (5,)), Branch("S", 0, (2, 3)), Branch("VP", 1, (4,), "wrong"), Branch("NP", 2, (0, 1)))
SYSTEM = (Branch("ROOT", None, (5,)), Branch("S", 0, (2, 3)), Branch("NP", 1, (0, 1)), Branch("VP", 1, (4,), "wrong"))
MARKS = ("agreed", "wrong", "label")


@st.composite
def trees(draw, words: int, labels=("NP", "S", "a long label", "", "x" * 400, "\u202eNP")) -> tuple[Branch, ...]:
    """Draw constituents over any words."""
    rng = random.Random(draw(st.integers(0, 1 << 32)))  # noqa: S311 - draws test data
    found: list[Branch] = []
    waiting: list[tuple[int | None, list[int]]] = [(None, list(range(words)))]
    while waiting:
        parent, own = waiting.pop()
        rng.shuffle(own)
        number, parts = len(found), []
        while own and (len(own) > 1 or rng.random() < 0.3) and rng.random() < 0.8:
            size = rng.randint(1, len(own))
            parts.append(own[:size])
            own = own[size:]
        found.append(Branch(rng.choice(labels), parent, tuple(sorted(own)), rng.choice(MARKS)))
        waiting += [(number, part) for part in parts]
    return tuple(found)


@st.composite
def sentences(draw) -> ConstituentSentence:
    forms = st.sampled_from(["a", "committee", "讨论了", "القديم", "ספר", "", "x" * 300, "Donaudampfschiff"])
    words = tuple(draw(st.lists(forms, min_size=1, max_size=16)))
    gold, system = draw(st.none() | trees(len(words))), draw(trees(len(words)))
    return ConstituentSentence("A sentence", words, gold, system)


LONG = "x" * 400
FAR_APART = (
    Branch(LONG, None, ()), Branch("", 0, ()), Branch("", 1, ()), Branch(LONG, 2, ()), Branch(LONG, 3, (4,)),
    Branch("NP", 3, ()), Branch("", 5, (1, 2)), Branch("S", 1, (8,)), Branch("", 7, (6,)), Branch("NP", 8, (0,)),
    Branch("", 9, (7,)), Branch(LONG, 8, (3,)), Branch("S", 11, (5,)),
)  # fmt: skip
"""Labels that push one another to the right more often than words are moved by what is lacking."""


@given(sentences())
@example(ConstituentSentence("A sentence", (*"aaa", "committee", *"aaaaa"), None, FAR_APART))
def test_nothing_collides_and_nothing_is_outside(sentence):
    svg = constituents_svg(sentence)
    drawn = check_sound(svg)
    assert svg == constituents_svg(sentence)
    labels = [text for text in drawn.texts if text.kind.startswith("rel")]
    for number, text in enumerate(labels):
        assert not any(text.box.overlaps(other.box) for other in labels[number + 1 :] if text.words and other.words)


@given(st.integers(1, 60).flatmap(lambda words: st.tuples(st.just(words), trees(words, ("NP", "S")))))
def test_each_line_has_all_its_words_and_no_level_has_two_bars_at_one_place(drawn):
    words, branches = drawn
    tree, forms = branches_of(branches, words), ["committee"] * words
    masks = masks_of(branches, words)
    lines = list(constituent_lines([tree], forms))
    assert sum(len(line.xs) for line in lines) == words
    assert all(line.width <= LINE_WIDTH or len(line.xs) == 1 for line in lines)
    for line in lines:
        [nodes] = line.sides
        leaves = [child for node in nodes for child in node.children if isinstance(child, int)]
        assert sorted(leaves) == list(range(len(line.xs)))
        here = ((1 << len(line.xs)) - 1) << line.start
        assert len(nodes) == sum(bool(mask & here) for mask in masks)
        for node in nodes:
            assert all(node.height > child.height for child in node.children if isinstance(child, Node))
            beside = [other for other in nodes if other is not node and other.height == node.height]
            assert all(other.span.end <= node.span.start or node.span.end <= other.span.start for other in beside)
            places = [place_of(child, line.xs) for child in node.children]
            assert min(places) - 1e-6 <= node.x <= max(places) + 1e-6


def test_the_table_names_the_blocks_of_a_constituent_with_gaps():
    rows = constituent_facts(ConstituentSentence("Sentence 1", WORDS, GOLD, SYSTEM)).rows
    assert rows == (
        ("VP", "Das Buch gelesen", "1-2, 5-5", "gold", "words"),
        ("VP", "gelesen", "5-5", "system", "words"),
    )


@pytest.mark.parametrize("words", [2000, 20])
def test_hostile_trees_are_drawn_as_far_as_they_are_readable(words):
    chain = tuple(
        Branch("N", number - 1 if number else None, (number,) if number < words else ()) for number in range(words)
    )
    deep = tuple(
        Branch("N", number - 1 if number else None, (0,) if number == 4_999 else ()) for number in range(5_000)
    )
    sentence = ConstituentSentence("Sentence 1", ("w",) * words, chain, deep)
    svg = constituents_svg(sentence)
    assert len(svg) < 250_000
    note = constituent_facts(sentence).note
    assert f"{5_000 - MOST_LEVELS:,} more levels" in note
    assert (words <= MOST_TREE_WORDS) == ("words" not in note)
