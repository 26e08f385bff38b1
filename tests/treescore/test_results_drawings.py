"""What `Result.sentence` draws: the rows of the table, with the same marks; nothing where it cannot know."""

from __future__ import annotations

import pytest

from tests.treescore.render.drawn import check_sound
from treescore import score
from treescore.errors import InputError
from treescore.metrics.shared.examples import sdp
from treescore.render.sentence_shapes import Arc, Link, Span


def conllu(*rows: str) -> str:
    """Write words given as `form head relation`."""
    fields = (row.split() for row in rows)
    lines = (
        f"{number}\t{form}\t_\t_\t_\t_\t{head}\t{label}\t_\t_\n" for number, (form, head, label) in enumerate(fields, 1)
    )
    return "".join(lines) + "\n"


GOLD = conllu("The 2 det", "dog 3 nsubj", "barks 0 root", "loudly 3 advmod", ". 3 punct")
OTHER = conllu("The 2 amod", "dog 3 nsubj", "barks 0 root", "loudly 2 nmod", ". 2 punct")


@pytest.mark.parametrize("metric", ["attachment", "ud"])
def test_dependencies_show_both_sides_with_marks(metric):
    view = score(GOLD, {"A": OTHER}, metric=metric, format="conllu").sentence("A", 1)
    gold, system = view.drawing.gold, view.drawing.system
    assert [word.form for word in gold.words] == ["The", "dog", "barks", "loudly", "."]
    assert gold.arcs[:4] == (
        Arc(1, 0, "det", "label"), Arc(2, 1, "nsubj"), Arc(None, 2, "root"), Arc(2, 3, "advmod", "wrong"),
    )  # fmt: skip
    assert system.arcs[:4] == (
        Arc(1, 0, "amod", "label"), Arc(2, 1, "nsubj"), Arc(None, 2, "root"), Arc(1, 3, "nmod", "wrong"),
    )  # fmt: skip
    drawn = check_sound(view.svg())
    assert drawn.title == f"Sentence 1, A beside gold under {metric}"
    assert view.render("svg") == view.svg() == view._repr_svg_()
    assert view._repr_html_().startswith("<svg")
    assert "<table" in view._repr_html_()
    assert view.forms[-1] == "svg"


def test_words_that_are_not_scored_have_no_arc_of_the_output():
    entry = {"name": "attachment", "params": {"punctuation": False}}
    drawing = score(GOLD, {"A": OTHER}, metric=entry, format="conllu").sentence("A", 1).drawing
    assert drawing.gold.arcs[4] == Arc(2, 4, "punct")
    assert len(drawing.system.arcs) == 4


def test_other_words_are_not_drawn():
    other = conllu("Thedog 2 nsubj", "barks 0 root", "loudly 2 advmod", ". 2 punct")
    view = score(GOLD, {"A": other}, metric="ud", format="conllu").sentence("A", 1)
    assert view.drawing is None
    assert view._repr_svg_() is None
    assert "svg" not in view.forms
    with pytest.raises(InputError, match="has no picture"):
        view.render("svg")


def test_constituents_show_compared_words_and_crossing_brackets():
    gold = "(S (NP (DT the) (NN dog)) (, ,) (VP (VBD saw) (NP (NN cats)) (ADVP (RB now))))\n"
    other = "(S (NP (DT the)) (, ,) (X (NN dog) (VBD saw)) (VP (NP (NN cats)) (NP (RB now))))\n"
    other = "(S (DT the) (X (NN dog) (, ,) (VBD saw)) (VP (NP (NN cats)) (NP (RB now))))\n"
    view = score(gold, {"A": other}, metric="parseval", format="bracketed").sentence("A", 1)
    assert view.drawing.words == ("the", "dog", "saw", "cats", "now")
    assert set(view.drawing.gold) == {
        Span("S", 0, 5), Span("NP", 0, 2, "wrong"), Span("VP", 2, 5, "wrong"), Span("NP", 3, 4),
        Span("ADVP", 4, 5, "label"),
    }  # fmt: skip
    assert set(view.drawing.system) == {
        Span("S", 0, 5), Span("X", 1, 3, "crossing"), Span("VP", 3, 5, "wrong"), Span("NP", 3, 4),
        Span("NP", 4, 5, "label"),
    }  # fmt: skip
    check_sound(view.svg())


def test_equal_brackets_are_drawn_as_often_as_each_side_has_them():
    gold, other = "(S (NP (NP (NN a) (NN b))))\n", "(S (NP (NN a) (NN b)))\n"
    drawing = score(gold, {"A": other}, metric="parseval", format="bracketed").sentence("A", 1).drawing
    assert [span.label for span in drawing.gold].count("NP") == 2
    assert [span.label for span in drawing.system].count("NP") == 1


def test_links_are_drawn_over_numbered_words():
    view = score("0-0 1-1 2p2\n", {"A": "0-0 1-2\n"}, metric="alignment", format="pharaoh").sentence("A", 1)
    assert view.drawing.source == view.drawing.target == ("1", "2", "3")
    assert set(view.drawing.links) == {
        Link(0, 0), Link(1, 1, "missed"), Link(2, 2, "missed", sure=False), Link(1, 2, "wrong"),
    }  # fmt: skip
    assert check_sound(view.svg()).of("num") == []


def test_metrics_whose_rows_are_no_words_have_no_picture():
    view = score(GOLD, {"A": OTHER}, metric="dependency_relations", format="conllu").sentence("A", 1)
    assert view.drawing is None


def test_graphs_have_several_arcs_at_a_word_and_tops_as_roots() -> None:
    gold = sdp("a - - A C", "b + + _ B", "c - + _ _")
    view = score(gold, {"A": sdp("a - - X C", "b - + _ _", "c + + B _")}, format="sdp").sentence("A", 1)
    halves = view.drawing.gold, view.drawing.system
    arcs = [{(arc.head, arc.dependent, arc.label, arc.mark) for arc in half.arcs} for half in halves]
    both = {(2, 0, "C", "agreed")}
    assert arcs[0] == both | {(1, 0, "A", "label"), (None, 1, "", "wrong"), (2, 1, "B", "wrong")}
    assert arcs[1] == both | {(1, 0, "X", "label"), (None, 2, "", "wrong"), (1, 2, "B", "wrong")}
    check_sound(view.svg())
