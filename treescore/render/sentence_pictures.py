"""The picture of a sentence of any kind, and what it shows as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from treescore.render.alignment_picture import alignment_facts, alignment_svg, drawn_alignment
from treescore.render.constituents_picture import constituent_facts, constituents_svg, drawn_constituents
from treescore.render.dependencies_picture import dependencies_svg, dependency_facts, drawn_dependencies
from treescore.render.sentence_shapes import AlignmentSentence, ConstituentSentence, DependencySentence, Facts

Drawable = DependencySentence | ConstituentSentence | AlignmentSentence


class _Kind(NamedTuple):
    """How sentences of a kind are cut to what is drawn, and shown."""

    part: Callable[[Any], Drawable]
    svg: Callable[..., str]
    facts: Callable[..., Facts]


_KINDS: Mapping[type[Drawable], _Kind] = {
    DependencySentence: _Kind(drawn_dependencies, dependencies_svg, dependency_facts),
    ConstituentSentence: _Kind(drawn_constituents, constituents_svg, constituent_facts),
    AlignmentSentence: _Kind(drawn_alignment, alignment_svg, alignment_facts),
}


def drawn_part(sentence: Drawable) -> Drawable:
    """Return a sentence with what is drawn of it only."""
    return _KINDS[type(sentence)].part(sentence)


def sentence_svg(sentence: Drawable, name: str) -> str:
    """Return the picture of a sentence as SVG; equal sentences give equal bytes.

    Args:
        sentence: what is drawn.
        name: of the picture, for its ids: letters, digits and hyphens.
    """
    return _KINDS[type(sentence)].svg(sentence, name=name)


def sentence_facts(sentence: Drawable, *, every: bool) -> Facts:
    """Return what is wrong in a sentence as a table, or `every` word, constituent or link."""
    return _KINDS[type(sentence)].facts(sentence, every=every)
