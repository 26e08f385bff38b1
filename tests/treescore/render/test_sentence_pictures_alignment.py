"""Words of both columns stay apart, links join the words they name, and picture, description and table agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.treescore.render.drawn import check_sound
from treescore.render.sentence_pictures import MOST_ALIGNED_WORDS, MOST_LINKS, alignment_facts, alignment_svg
from treescore.render.sentence_shapes import AlignmentSentence, Link

GOLDEN = Path(__file__).parents[2] / "golden" / "pictures"


def pair() -> AlignmentSentence:
    links = (
        Link(0, 0), Link(1, 2), Link(2, 1, sure=False), Link(3, 3, "wrong"), Link(1, 1, "missed"),
        Link(2, 2, "missed", sure=False), Link(3, None, "wrong"), Link(None, 3),
    )  # fmt: skip
    return AlignmentSentence("Pair 7", ("the", "blue", "house", "!"), ("la", "maison", "bleue", "ספר"), links)


INDEX = st.none() | st.integers(0, 40)
LINKS = st.builds(Link, INDEX, INDEX, st.sampled_from(["agreed", "wrong", "missed"]), st.booleans())
FORMS = st.lists(st.text(max_size=8) | st.sampled_from(["\u202ea", "x" * 400, "讨论"]), max_size=30)


@given(st.builds(AlignmentSentence, st.just("A pair"), FORMS.map(tuple), FORMS.map(tuple), st.lists(LINKS).map(tuple)))
def test_nothing_is_outside_and_no_words_overlap(sentence):
    svg = alignment_svg(sentence)
    drawn = check_sound(svg)
    assert svg == alignment_svg(sentence)
    numbers = (len(sentence.source), len(sentence.target))
    shown = [
        link for link in sentence.links
        if (link.source, link.target) != (None, None)
        and all(end is None or end < most for end, most in zip((link.source, link.target), numbers, strict=True))
    ]  # fmt: skip
    assert len(drawn.paths) == len(shown)
    assert len(alignment_facts(sentence, every=True).rows) == len(shown)


def test_the_table_and_the_description_have_the_same_facts():
    table = alignment_facts(pair())
    assert table.header == ("No.", "Source", "No.", "Target", "Link", "Wrong")
    assert table.rows == (
        ("2", "blue", "2", "maison", "sure", "missed"),
        ("4", "!", "", "\u2205", "", "wrong"),
        ("4", "!", "4", "ספר", "", "wrong"),
    )
    assert check_sound(alignment_svg(pair())).described == (
        "Source on the left, target on the right. Not in gold: ! 4 - \u2205; ! 4 - ספר 4. Missed: blue 2 - maison 2."
    )


def test_large_pairs_are_drawn_in_part_and_say_so():
    words = ("word",) * 3000
    links = tuple(Link(source, target) for source in range(100) for target in range(100))
    sentence = AlignmentSentence("Large", words, words[:2], (*links, Link(149, 0, "wrong")))
    drawn = check_sound(alignment_svg(sentence))
    assert len(drawn.of("form")) == MOST_ALIGNED_WORDS + 2
    assert len(drawn.svg) < 200_000
    assert [text.words for text in drawn.of("note")] == ["… and 2,850 more words."]
    full = AlignmentSentence("Full", words[:100], words[:100], (*links, Link(99, 0, "wrong")))
    drawn = check_sound(alignment_svg(full))
    assert len(drawn.paths) == MOST_LINKS
    assert "arc bad" in {kind for kind, _ in drawn.paths}
    assert drawn.described.endswith("… and 9,401 more links.")


GOLDEN_SENTENCES = {"alignment": pair}


@pytest.mark.parametrize("name", sorted(GOLDEN_SENTENCES))
def test_pictures_equal_the_golden_files(name):
    assert alignment_svg(GOLDEN_SENTENCES[name](), name=name) == (GOLDEN / f"{name}.svg").read_text("utf-8")
