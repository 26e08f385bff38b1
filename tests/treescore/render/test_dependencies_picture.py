"""Arcs and labels never collide, pictures are bounded, and picture, description and table hold the same facts."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.treescore.render.drawn import check_sound
from treescore.render.dependencies_picture import MOST_ARC_WORDS, dependencies_svg, dependency_facts, to_place
from treescore.render.dependency_layout import ROOT, DependencyLine, blocks_of, dependency_lines, links_between
from treescore.render.drawing import BOLD, LINE_WIDTH, width
from treescore.render.sentence_shapes import (
    LABEL_SIZE,
    Arc,
    DependencyHalf,
    DependencySentence,
    Word,
    form_width,
    shown_form,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "pictures"
COMMITTEE = (
    "The/2/det committee/6/nsubj that/4/nsubj met/2/acl:relcl yesterday/4/advmod approved/0/root the/8/det "
    "budget/6/obj for/10/case schools/8/nmod with/13/case few/13/amod objections/6/obl ./6/punct"
)
OTHER = {3: "4/mark", 5: "6/advmod", 10: "6/obl", 13: "10/nmod"}
HEBREW = "הילדה/3/nsubj הקטנה/1/amod קראה/0/root ספר/3/obj ישן/4/amod בגינה/3/obl ./3/punct"


def half(text: str, other: dict[int, str] | None = None, marks: dict[int, str] | None = None) -> DependencyHalf:
    """Read `form/head/relation` words; `other` replaces head and relation of some, by number."""
    words, arcs = [], []
    for index, token in enumerate(text.split()):
        form, head, label = token.rsplit("/", 2)
        head, label = (other or {}).get(index + 1, f"{head}/{label}").split("/")
        words.append(Word(str(index + 1), form))
        arcs.append(Arc(int(head) - 1 if int(head) else None, index, label, (marks or {}).get(index + 1, "agreed")))
    return DependencyHalf(tuple(words), tuple(arcs))


def committee() -> DependencySentence:
    marks = {3: "label", 5: "wrong", 10: "wrong", 13: "wrong"}
    return DependencySentence("Sentence 14", half(COMMITTEE, marks=marks), half(COMMITTEE, OTHER, marks))


def star(words: int) -> DependencySentence:
    """Return a sentence whose first word governs all others, beside one in which each word governs the next."""
    text = [Word(str(number), f"word{number}") for number in range(1, words + 1)]
    root = Arc(None, 0, "root")
    gold = (root, *(Arc(0, word, "dep", "wrong") for word in range(1, words)))
    system = (root, *(Arc(word - 1, word, "flat", "wrong") for word in range(1, words)))
    return DependencySentence("Many", DependencyHalf(tuple(text), gold), DependencyHalf(tuple(text), system))


FORMS = st.text(min_size=0, max_size=12) | st.sampled_from(
    ["a", "dog", "讨论了", "القديم", "ספר", "\u202eabc", "x" * 300]
)
MARKS = st.sampled_from(["agreed", "wrong", "label"])


@st.composite
def halves(draw, forms: list[str]):
    words = tuple(Word(f"{index // 2}.{index % 2}", form) for index, form in enumerate(forms))
    heads = st.none() | st.integers(0, max(0, len(forms) - 1))
    labels = st.sampled_from(["", "det", "nsubj", "acl:relcl", "a very long relation", "x" * 500])
    arcs = tuple(Arc(draw(heads), index, draw(labels), draw(MARKS)) for index in range(len(forms)))
    return DependencyHalf(words, arcs)


@st.composite
def sentences(draw):
    forms = draw(st.lists(FORMS, min_size=1, max_size=draw(st.sampled_from([4, 12, 60]))))
    others = forms if draw(st.booleans()) else draw(st.lists(FORMS, min_size=1, max_size=12))
    gold, system = draw(halves(forms)), draw(halves(others))
    gold, system = draw(st.sampled_from([(gold, system), (gold, None), (None, system)]))
    return DependencySentence("A sentence", gold, system)


def label_of(arc):
    half_width = width(arc.piece.label, LABEL_SIZE, BOLD) / 2
    return arc.label_x - half_width, arc.label_x + half_width


def check_line(line: DependencyLine) -> None:
    for arcs in line.halves:
        for arc in arcs:
            low, high = label_of(arc)
            assert arc.height >= 1
            assert arc.piece.kind == ROOT or not arc.piece.label or arc.left < low < high < arc.right
            assert 0 <= low <= high <= line.width
        for one, other in combinations(arcs, 2):
            if one.height == other.height:
                spans = [
                    (min(arc.left, label_of(arc)[0]), max(arc.right, label_of(arc)[1])) if arc.piece.label
                    else (arc.left, arc.right) for arc in (one, other)
                ]  # fmt: skip
                assert max(low for low, _ in spans) >= min(high for _, high in spans) - 0.01, (one, other)
            pieces = (one.piece, other.piece)
            if ROOT not in {piece.kind for piece in pieces} and one.height == other.height:
                assert max(piece.low for piece in pieces) >= min(piece.high for piece in pieces)


@given(sentences())
def test_nothing_collides_and_nothing_is_outside(sentence):
    placed = to_place(sentence)
    lines = list(dependency_lines(placed))
    for line in lines:
        check_line(line)
        for row, start, xs in zip(placed.rows, line.starts, line.xs, strict=True):
            ends = [form_width(row.forms[start + index]) / 2 for index in range(len(xs))]
            for (x, end), (next_x, next_end) in pairwise(zip(xs, ends, strict=True)):
                assert x + end < next_x - next_end
    for row in range(len(placed.rows)):
        assert sum(len(line.xs[row]) for line in lines) == len(placed.rows[row].forms)
    svg = dependencies_svg(sentence)
    check_sound(svg)
    assert svg == dependencies_svg(sentence)


@given(st.lists(FORMS, max_size=12), st.lists(FORMS, max_size=12))
def test_blocks_hold_every_word_once_and_their_links(above, below):
    links = links_between(above, below)
    blocks = blocks_of(len(above), len(below), links)
    assert [word for block, _ in blocks for word in block] == list(range(len(above)))
    assert [word for _, block in blocks for word in block] == list(range(len(below)))


@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5))))
def test_no_link_leaves_its_block(links):
    blocks = blocks_of(6, 6, tuple(sorted(links)))
    assert [word for block, _ in blocks for word in block] == list(range(6))
    assert [word for _, block in blocks for word in block] == list(range(6))
    for above, below in links:
        assert sum(above in block and below in other for block, other in blocks) == 1


def test_arcs_of_words_that_the_sentence_lacks_run_to_the_edge():
    words = (Word("1", "a"), Word("2", "b"))
    one = DependencyHalf(words, (Arc(-4, 0, "x"), Arc(9, 1, "y"), Arc(0, 7, "z"), Arc(0, -2, "z"), Arc(None, 5, "w")))
    drawn = check_sound(dependencies_svg(DependencySentence("Odd", one, None)))
    assert [text.words for text in drawn.of("cont")] == ["…"] * 4
    assert dependency_facts(DependencySentence("Odd", one, None), every=True).rows[0][2:4] == ("…", "x")


def test_links_may_be_given():
    gold, system = half("a/0/root b/1/dep"), half("c/0/root d/1/dep")
    sentence = DependencySentence("Given", gold, system, links=((0, 1), (1, 0), (1, 7)))
    assert sum("tie" in kind for kind, _ in check_sound(dependencies_svg(sentence)).paths) == 2
    assert [row[1] for row in dependency_facts(sentence, every=True).rows] == ["a", "b"]


def test_words_that_share_characters_are_linked():
    assert links_between(["ab", "c", "d"], ["a", "bc", "d"]) == ((0, 0), (0, 1), (1, 1), (2, 2))
    assert blocks_of(3, 3, ((0, 0), (0, 1), (1, 1), (2, 2))) == [(range(2), range(2)), (range(2, 3), range(2, 3))]
    assert links_between(["x", "same"], ["same", "y"]) == ((1, 0),)


def test_a_lone_output_is_drawn_above_and_solid():
    system = half(COMMITTEE, OTHER, {3: "wrong", 5: "wrong"})
    drawn = check_sound(dependencies_svg(DependencySentence("Own output", None, system)))
    assert drawn.described.startswith("System above. Wrong: that 3 (wrong: system mark of met 4);")
    assert {kind for kind, _ in drawn.paths} == {"arc ok", "tip ok", "arc bad", "tip bad"}
    assert "dasharray" not in drawn.svg
    base = min(text.box.top for text in drawn.of("form"))
    assert all(box.bottom <= base for _, box in drawn.paths)


def test_the_table_and_the_description_have_the_same_facts():
    table = dependency_facts(committee())
    assert table.header == ("No.", "Word", "Gold head", "Gold relation", "System head", "System relation", "Wrong")
    assert table.rows == (
        ("3", "that", "met 4", "nsubj", "met 4", "mark", "label"),
        ("5", "yesterday", "met 4", "advmod", "approved 6", "advmod", "head"),
        ("10", "schools", "budget 8", "nmod", "approved 6", "obl", "head, label"),
        ("13", "objections", "approved 6", "obl", "schools 10", "nmod", "head, label"),
    )
    described = check_sound(dependencies_svg(committee())).described
    for number, form, gold_head, gold_label, head, label, wrong in table.rows:
        assert f"{form} {number} ({wrong}: gold {gold_label} of {gold_head}, system {label} of {head})" in described
    assert len(dependency_facts(committee(), every=True).rows) == 14


def test_a_text_is_read_from_right_to_left_where_most_of_it_is():
    assert "rtl" in dependencies_svg(DependencySentence("Hebrew", half(HEBREW), None))
    mixed = half("ABC/0/root def/1/dep ספר/1/obj")
    assert "rtl" not in dependencies_svg(DependencySentence("Mostly Latin", mixed, mixed))


def test_long_sentences_are_wrapped_where_few_arcs_pass():
    text = " ".join(f"word{number}/{max(1, number - 1) if number % 8 else 1}/dep" for number in range(2, 101))
    gold = half(f"word1/0/root {text}")
    placed = to_place(DependencySentence("Long", gold, gold))
    lines = list(dependency_lines(placed))
    assert len(lines) > 5
    assert all(line.width <= LINE_WIDTH for line in lines)
    assert all(line.xs[0][-1] > 0.6 * LINE_WIDTH for line in lines[:-1])
    for line in lines:
        check_line(line)
    drawn = check_sound(dependencies_svg(DependencySentence("Long", gold, gold)))
    cut = drawn.of("cont")
    assert cut
    assert "1" in {text.words for text in cut}
    assert len(drawn.of("rel")) == 200


def test_very_long_sentences_are_drawn_in_part_and_say_so():
    sentence = star(3000)
    svg = dependencies_svg(sentence)
    drawn = check_sound(svg)
    assert len(drawn.of("form")) == MOST_ARC_WORDS
    assert [text.words for text in drawn.of("note")] == ["… and 2,850 more words."]
    assert drawn.described.endswith("… and 2,850 more words.")
    assert dependency_facts(sentence).note == "… and 2,850 more words."
    assert len(svg) < 1_000_000
    assert drawn.frame.right <= LINE_WIDTH
    assert drawn.frame.bottom < 20_000


def test_a_word_of_many_letters_and_control_characters():
    nasty = "\u202e\x00<b>&\x1b[31m\u2066" + "x" * 10_000
    words = (Word("1", nasty), Word("5.1", ""), Word("2", "e" + "\u0301" * 5000))
    arcs = (Arc(None, 0, "ro<ot\u202e"), Arc(0, 1, "\x07"), Arc(2, 2, "self", "wrong"))
    one = DependencyHalf(words, arcs)
    svg = dependencies_svg(DependencySentence("<t>\u202e", one, one))
    drawn = check_sound(svg)
    assert len(svg) < 20_000
    forms = [text.words for text in drawn.of("form")]
    assert forms[0].startswith("<b>&[31mx")
    assert forms[0].endswith("…")
    assert forms[1] == "_"
    assert shown_form(nasty) == forms[0]
    assert "5.1" in [text.words for text in drawn.of("num")]


@pytest.mark.parametrize("words", [(), (Word("1", "a"),)])
def test_sentences_without_arcs(words):
    one = DependencyHalf(words, ())
    check_sound(dependencies_svg(DependencySentence("Little", one, one)))
    assert dependency_facts(DependencySentence("Little", one, None)).rows == ()


GOLDEN_SENTENCES = {
    "dependencies": committee,
    "dependencies-rtl": lambda: DependencySentence("Hebrew", half(HEBREW), half(HEBREW, {5: "3/advmod"}, {5: "wrong"})),
    "dependencies-other-words": lambda: DependencySentence(
        "Other words", half("do/0/root n't/1/advmod go/1/xcomp"), half("don't/0/root go/1/xcomp", marks={1: "wrong"})
    ),
    "dependencies-long": lambda: star(30),
}


@pytest.mark.parametrize("name", sorted(GOLDEN_SENTENCES))
def test_pictures_equal_the_golden_files(name):
    assert dependencies_svg(GOLDEN_SENTENCES[name](), name=name) == (GOLDEN / f"{name}.svg").read_text("utf-8")
