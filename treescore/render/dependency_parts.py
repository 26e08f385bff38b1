"""Choose what of a sentence's dependencies is drawn, and prepare it for the layout."""

from __future__ import annotations

from dataclasses import replace

from treescore.render.dependency_layout import Halves, Row
from treescore.render.dependency_pieces import Arcs
from treescore.render.sentence_shapes import Arc, DependencyHalf, DependencySentence
from treescore.render.sentence_text import shown_form, shown_number
from treescore.render.word_links import Links, blocks_of, links_between

MOST_ARC_WORDS = 400
"""Words of a half that are drawn; the picture says if there are more."""
MOST_ARCS = 800
"""Arcs of a half that are drawn. Only graphs have more arcs than words; the picture says if there are more."""


def halves_in(sentence: DependencySentence) -> list[DependencyHalf]:
    """Return the halves that are given, the upper one first."""
    return [half for half in (sentence.gold, sentence.system) if half is not None]


def drawn_dependencies(sentence: DependencySentence) -> DependencySentence:
    """Return the sentence with its first words and arcs only, as far as they are drawn."""
    gold, system = (half and _cut_half(half) for half in (sentence.gold, sentence.system))
    return replace(sentence, gold=gold, system=system)


def words_left_out(sentence: DependencySentence) -> str:
    """Return the sentence that says how much of a long one is drawn; empty if all is."""
    halves = halves_in(sentence)
    words = max((len(half.words) for half in halves), default=0)
    arcs = max((len(_own(half)) for half in halves), default=0)
    parts = []
    if words > MOST_ARC_WORDS:
        parts.append(f"first {MOST_ARC_WORDS:,} of {words:,} words")
    if arcs > MOST_ARCS:
        parts.append(f"first {MOST_ARCS:,} of {arcs:,} arcs")
    said = ", ".join(parts)
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def to_place(sentence: DependencySentence) -> Halves:
    """Return the rows of words and the arcs of a sentence's drawn part."""
    halves = halves_in(sentence)
    arcs = tuple(Arcs(half.arcs, [word.number for word in half.words]) for half in halves)
    if sentence.same_words:
        rows = tuple(map(_half_row, halves[:1]))
        blocks = [(range(word, word + 1),) * 2 for word in range(len(halves[0].words) if halves else 0)]
        return Halves(rows, arcs, blocks)
    links = links_of(sentence)
    above, below = (len(half.words) for half in halves)
    return Halves(tuple(map(_half_row, halves)), arcs, blocks_of(above, below, links), links)


def links_of(sentence: DependencySentence) -> Links:
    """Return the pairs of words of both halves that belong together, as given or by their characters."""
    above, below = ([word.form for word in half.words] for half in halves_in(sentence))
    if sentence.links is None:
        return links_between(above, below)
    return tuple((a, b) for a, b in sentence.links if 0 <= a < len(above) and 0 <= b < len(below))


def _half_row(half: DependencyHalf) -> Row:
    return Row([shown_form(word.form) for word in half.words], [shown_number(word.number) for word in half.words])


def _cut_half(half: DependencyHalf) -> DependencyHalf:
    """Return the words and arcs of a half that are drawn; arcs to words that are not may be left out unsaid."""
    words = range(min(len(half.words), MOST_ARC_WORDS))
    leaving = (arc for arc in half.arcs if arc.head in words and arc.dependent not in words)
    arcs = [*_own(half), *leaving][:MOST_ARCS]
    return replace(half, words=half.words[:MOST_ARC_WORDS], arcs=tuple(arcs))


def _own(half: DependencyHalf) -> list[Arc]:
    """Return the arcs to words that are drawn."""
    words = range(min(len(half.words), MOST_ARC_WORDS))
    return [arc for arc in half.arcs if arc.dependent in words]
