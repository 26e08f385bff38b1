"""Labels of constituents never collide, deep trees are bounded, and picture, description and table agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.treescore.render.drawn import check_sound, path_box
from treescore.render.constituent_layout import MOST_LEVELS, Node, constituent_lines, place_of, tree_of
from treescore.render.constituents_picture import constituent_facts, constituents_svg
from treescore.render.drawing import LINE_WIDTH
from treescore.render.sentence_shapes import ConstituentSentence, Span

GOLDEN = Path(__file__).parents[2] / "golden" / "pictures"
WORDS = ("The", "committee", "that", "met", "yesterday", "approved", "the", "budget")


def committee() -> ConstituentSentence:
    gold = (
        Span("S", 0, 8), Span("NP", 0, 5, "wrong"), Span("NP", 0, 2), Span("SBAR", 2, 5, "wrong"),
        Span("VP", 3, 5, "wrong"), Span("NP", 4, 5, "label"), Span("VP", 5, 8), Span("NP", 6, 8),
    )  # fmt: skip
    system = (
        Span("S", 0, 8), Span("NP", 0, 2), Span("VP", 2, 4, "crossing"), Span("ADVP", 4, 5, "label"), Span("VP", 5, 8),
        Span("NP", 6, 8),
    )  # fmt: skip
    return ConstituentSentence("Sentence 14", WORDS, gold, system)


def wrapped_committee() -> ConstituentSentence:
    """Return three sentences of the committee in one, of which the first line holds two."""
    size, one = len(WORDS), committee()
    gold, system = (
        (Span("S", 0, 3 * size), *(moved for at in range(3) for moved in shifted(spans or (), at * size)))
        for spans in (one.gold, one.system)
    )
    return ConstituentSentence("Sentence 15", WORDS * 3, gold, system)


def shifted(spans: tuple[Span, ...], words: int) -> tuple[Span, ...]:
    return tuple(Span(span.label, span.start + words, span.end + words, span.mark) for span in spans)


@st.composite
def trees(draw, words: int) -> tuple[Span, ...]:
    """Draw constituents that nest, some of them twice."""
    labels = st.sampled_from(["NP", "S", "a long label", "", "x" * 400, "\u202eNP"])
    marks = st.sampled_from(["agreed", "wrong", "label", "crossing"])
    spans: list[Span] = []
    waiting = [(0, words)]
    while waiting:
        start, end = waiting.pop()
        spans += [Span(draw(labels), start, end, draw(marks)) for _ in range(draw(st.integers(0, 2)))]
        if end - start > 1:
            cut = draw(st.integers(start + 1, end - 1))
            waiting += [(start, cut), (cut, end)]
    return tuple(spans)


@st.composite
def sentences(draw) -> ConstituentSentence:
    forms = st.sampled_from(["a", "committee", "讨论了", "القديم", "ספר", "", "x" * 300, "Donaudampfschiff"])
    words = tuple(draw(st.lists(forms, min_size=1, max_size=24)))
    gold, system = draw(st.none() | trees(len(words))), draw(trees(len(words)))
    return ConstituentSentence("A sentence", words, gold, system)


@given(sentences())
def test_nothing_collides_and_nothing_is_outside(sentence):
    svg = constituents_svg(sentence)
    drawn = check_sound(svg)
    assert svg == constituents_svg(sentence)
    labels = [text for text in drawn.texts if text.kind.startswith("rel")]
    for number, text in enumerate(labels):
        assert not any(text.box.overlaps(other.box) for other in labels[number + 1 :] if text.words and other.words)
    for _, spans in (("", sentence.gold), ("", sentence.system)):
        check_lines(tree_of(spans or (), len(sentence.words)), list(sentence.words))


def check_lines(tree, forms: list[str]) -> None:
    """Check that no line down passes through a label."""
    for line in constituent_lines([tree], forms):
        [nodes] = line.sides
        for node in nodes:
            for child in node.children:
                low = child.height if isinstance(child, Node) else 0
                x = place_of(child, line.xs)
                passed = [other for other in nodes if low < other.height < node.height]
                assert not any(other.x - other.half < x < other.x + other.half for other in passed)


@given(st.integers(1, 12).flatmap(lambda words: st.tuples(st.just(words), trees(words))))
def test_trees_hold_every_constituent_and_every_word_below_one_once(drawn):
    words, spans = drawn
    tree = tree_of(spans, words)
    assert sorted((node.span.start, node.span.end) for node in tree.nodes) == sorted((s.start, s.end) for s in spans)
    leaves = [child for node in tree.nodes for child in node.children if isinstance(child, int)]
    assert sorted(leaves) == sorted({word for span in spans for word in range(span.start, span.end)})
    below = [child for node in tree.nodes for child in node.children if isinstance(child, Node)]
    assert len(below) == len(set(map(id, below)))


@given(st.integers(20, 100).flatmap(lambda words: st.tuples(st.just(words), trees(words))))
def test_long_sentences_are_wrapped_and_nothing_is_lost(drawn):
    words, spans = drawn
    tree, forms = tree_of(spans, words), ["committee"] * words
    lines = list(constituent_lines([tree], forms))
    assert [line.start for line in lines] == [sum(len(each.xs) for each in lines[:at]) for at in range(len(lines))]
    assert sum(len(line.xs) for line in lines) == words
    assert all(line.width <= LINE_WIDTH for line in lines)
    whole = sorted((node.span.start, node.label) for node in tree.nodes)
    begun, seen = [], set()
    for line in lines:
        [nodes] = line.sides
        stop = line.start + len(line.xs)
        for node in nodes:
            start, end = line.start + node.span.start, line.start + node.span.end
            assert node.after is False or end == stop
            if node.before:
                assert start == line.start
                assert node.label.startswith("\u2026")
            else:
                begun.append((start, node.label))
            seen |= {line.start + child for child in node.children if isinstance(child, int)}
        below = {id(child) for node in nodes for child in node.children if isinstance(child, Node)}
        above = [node for node in nodes if id(node) not in below]
        assert sum(node.before for node in above) <= 1
    assert sorted(begun) == whole
    assert seen == {word for span in spans for word in range(span.start, span.end)}


def test_the_table_and_the_description_have_the_same_facts():
    table = constituent_facts(committee())
    assert table.header == ("Label", "Words", "From-to", "Only in", "Wrong")
    assert table.rows == (
        ("NP", "The committee that met yesterday", "1-5", "gold", "words"),
        ("SBAR", "that met yesterday", "3-5", "gold", "words"),
        ("VP", "met yesterday", "4-5", "gold", "words"),
        ("NP", "yesterday", "5-5", "gold", "label"),
        ("VP", "that met", "3-4", "system", "crossing"),
        ("ADVP", "yesterday", "5-5", "system", "label"),
    )
    described = check_sound(constituents_svg(committee())).described
    assert described == (
        "Gold above, system below. Only in gold: NP The committee that met yesterday; SBAR that met yesterday; "
        "VP met yesterday; NP yesterday (label). Only in system: VP that met (crossing); "
        "ADVP yesterday (label)."
    )
    assert len(constituent_facts(committee(), every=True).rows) == 14


def test_equal_constituents_are_drawn_as_often_as_they_occur():
    gold, system = (Span("NP", 0, 2), Span("NP", 0, 2, "wrong")), (Span("NP", 0, 2),)
    drawn = check_sound(constituents_svg(ConstituentSentence("Twice", ("a", "b"), gold, system)))
    labels = [text.kind for text in drawn.texts if text.words == "NP"]
    assert sorted(labels) == ["rel gold", "rel ok", "rel ok"]


def test_right_to_left_mirrors_columns():
    words = ("הילדה", "קראה", "ספר")
    tree = (Span("S", 0, 3), Span("NP", 0, 1), Span("VP", 1, 3))
    drawn = check_sound(constituents_svg(ConstituentSentence("Hebrew", words, tree, tree)))
    lefts = [text.box.left for text in drawn.of("form")]
    assert lefts == sorted(lefts, reverse=True)
    assert "read from right to left" in drawn.described


def test_deep_trees_and_long_sentences_are_drawn_in_part_and_say_so():
    deep = ConstituentSentence("Deep", ("a",), tuple(Span(f"X{level}", 0, 1) for level in range(40_000)), None)
    svg = constituents_svg(deep)
    drawn = check_sound(svg)
    assert len(drawn.of("rel")) == MOST_LEVELS
    assert drawn.described.endswith("… and 39,940 more levels.")
    facts = constituent_facts(deep, every=True)
    assert (facts.note, len(facts.rows)) == ("… and 39,940 more levels.", MOST_LEVELS)
    assert len(svg) < 40_000
    right = tuple(Span("X", start, 3000, "wrong") for start in range(3000))
    long = ConstituentSentence("Long", ("word",) * 3000, right, right)
    drawn = check_sound(constituents_svg(long))
    assert [text.words for text in drawn.of("note")] == ["… and 2,850 more words, 90 more levels."]
    assert len(drawn.of("form")) == 150
    assert len(drawn.svg) < 100_000
    wide = tuple(Span("X", word, word + 1, "wrong") for word in range(150) for _ in range(50))
    svg = constituents_svg(ConstituentSentence("Wide", ("word",) * 150, wide, wide))
    assert [text.words for text in check_sound(svg).of("note")] == ["… and 7,300 more constituents."]
    assert len(svg) < 150_000


def test_constituents_without_words_are_counted_and_not_drawn():
    sentence = ConstituentSentence("Trace", ("a",), (Span("S", 0, 1), Span("NP", 0, 0)), None)
    drawn = check_sound(constituents_svg(sentence))
    assert [text.words for text in drawn.of("rel")] == ["S"]
    assert drawn.described.endswith("Without 1 empty constituent.")


def test_paths_are_read_as_they_are_drawn():
    assert path_box("M5 10V20H30h7.2L1 2z") == (1, 2, 37.2, 20)


@pytest.mark.parametrize("spans", [None, ()])
def test_words_without_constituents(spans):
    check_sound(constituents_svg(ConstituentSentence("Nothing", ("a",), spans, None)))
    check_sound(constituents_svg(ConstituentSentence("Nothing", (), spans, spans)))


GOLDEN_SENTENCES = {"constituents": committee, "constituents-wrapped": wrapped_committee}


@pytest.mark.parametrize("name", sorted(GOLDEN_SENTENCES))
def test_pictures_equal_the_golden_files(name):
    assert constituents_svg(GOLDEN_SENTENCES[name](), name=name) == (GOLDEN / f"{name}.svg").read_text("utf-8")
