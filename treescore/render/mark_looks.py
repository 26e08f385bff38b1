"""How marks look: agreed lines thin and grey, errors thick and coloured, dashed where only the label is wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from treescore.render.drawing import AGREED_COLOUR as GREY
from treescore.render.drawing import DASH, GOLD, PAPER, SOFT, WRONG_COLOUR
from treescore.render.sentence_shapes import AGREED, LABEL, WRONG


@dataclass(frozen=True, slots=True)
class LineStyle:
    """The look of a line and of what belongs to it.

    Attributes:
        classes: for the sheet of a page.
        colour: of the line.
        ink: of its label.
        stroke: attributes of the line.
        halo: attributes of its label, which is drawn over lines.
    """

    classes: str
    colour: str
    ink: str
    stroke: dict[str, str]
    halo: dict[str, str]


@cache
def line_style(mark: str, kind: str) -> LineStyle:
    """Return the look of a line.

    Args:
        mark: one of those of `sentence_shapes`.
        kind: of the half: `gold` or `bad`.
    """
    halo = {"stroke": PAPER, "stroke_width": "5", "stroke_linejoin": "round", "paint_order": "stroke"}
    if mark == AGREED:
        return LineStyle("ok", GREY, SOFT, {"stroke": GREY, "stroke_width": "1"}, halo)
    colour = GOLD if kind == "gold" else WRONG_COLOUR
    stroke = {"stroke": colour, "stroke_width": "2"}
    if mark == LABEL:
        return LineStyle(
            f"{kind} lab", colour, colour, {**stroke, "stroke_dasharray": DASH}, {**halo, "font_weight": "600"}
        )
    return LineStyle(kind, colour, colour, stroke, {**halo, "font_weight": "600"})


def link_style(mark: str, *, sure: bool) -> LineStyle:
    """Return the look of a link between two words; possible links are dashed, and thin where none is an error.

    Args:
        mark: one of those of links.
        sure: whether gold calls the link sure.
    """
    style = line_style(AGREED, "gold") if mark == AGREED else line_style(WRONG, "bad" if mark == WRONG else "gold")
    if sure or mark == WRONG:
        return style
    thin = {**style.stroke, "stroke_width": "1", "stroke_dasharray": DASH}
    return replace(style, classes=f"{style.classes} lab", stroke=thin)
