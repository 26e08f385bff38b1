"""Draw a sentence of any kind."""

from __future__ import annotations

from treescore.render.alignment_picture import alignment_svg
from treescore.render.constituents_picture import constituents_svg
from treescore.render.dependencies_picture import dependencies_svg
from treescore.render.sentence_shapes import AlignmentSentence, ConstituentSentence, DependencySentence

Drawable = DependencySentence | ConstituentSentence | AlignmentSentence


def sentence_svg(sentence: Drawable, name: str) -> str:
    """Return the picture of a sentence as SVG; equal sentences give equal bytes.

    Args:
        sentence: what is drawn.
        name: of the picture, for its ids: letters, digits and hyphens.
    """
    if isinstance(sentence, DependencySentence):
        return dependencies_svg(sentence, name=name)
    if isinstance(sentence, ConstituentSentence):
        return constituents_svg(sentence, name=name)
    return alignment_svg(sentence, name=name)
