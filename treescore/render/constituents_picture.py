"""Draw the constituents of a sentence: gold grows up from its words, the output grows down."""

from __future__ import annotations

from dataclasses import dataclass

from treescore.render.constituent_facts import (
    MOST_TREE_WORDS,
    constituents_described,
    constituents_left_out,
    sides_of,
    tree_of_side,
)
from treescore.render.constituent_layout import EDGE, LABEL_SIZE, ConstituentLine, Node, constituent_lines, place_of
from treescore.render.dependency_pieces import agreed_first
from treescore.render.drawing import END, GOLD, INK, MIDDLE, PAPER, SOFT, START, WRONG_COLOUR, Drawing, number
from treescore.render.letters import width
from treescore.render.mark_looks import line_style
from treescore.render.sentence_shapes import ConstituentSentence
from treescore.render.sentence_text import FORM, LABEL, right_to_left, shown_form, shown_label

_TREE_LEVEL = 31.0
_TREE_CORNER = 7.0
_TREE_NAMES_HEIGHT = 18.0
_NOTE = 24.0
_BETWEEN_TREES = 10.0
"""Between two lines."""
_LEAST = 160.0
_BRIDGE = {"stroke": PAPER, "stroke_width": "6"}
"""The paper around a line that passes over others."""


def constituents_svg(sentence: ConstituentSentence, *, name: str = "constituents") -> str:
    """Return the picture of a sentence as SVG; equal sentences give equal bytes.

    Args:
        sentence: what is drawn; of more than MOST_WORDS words the first, of too many levels the lowest.
        name: of the picture, for its ids: letters, digits and hyphens.
    """
    return _ConstituentsPicture(sentence, name).svg()


@dataclass(frozen=True, slots=True)
class _TreeSide:
    """Where one side is: its levels go up (-1) or down (1).

    Attributes:
        way: -1 or 1.
        base: where level 0 would be.
        leaf: where the lines to words end.
        kind: of its errors.
        crossing: whether its lines may cross.
    """

    way: int
    base: float
    leaf: float
    kind: str
    crossing: bool

    def bar(self, height: int) -> float:
        return self.base + self.way * _TREE_LEVEL * height


class _ConstituentsPicture:
    def __init__(self, sentence: ConstituentSentence, name: str) -> None:
        self._forms = [shown_form(word) for word in sentence.words[:MOST_TREE_WORDS]]
        sides = sides_of(sentence)
        trees = [tree_of_side(spans, len(self._forms)) for _, spans in sides]
        self._names = [
            "" if side in {"gold", "system"} and not sentence.compared else shown_label(side) for side, _ in sides
        ]
        self._crossing = [tree.crossing for tree in trees]
        first = "gold" if sentence.gold is not None and not sentence.compared else "bad"
        self._kinds = [first, "bad"][: len(sides)]
        self._mirrored = right_to_left(sentence.words[:MOST_TREE_WORDS])
        self._note = constituents_left_out(sentence, trees)
        description = constituents_described(sentence, self._note, mirrored=self._mirrored)
        self._drawing = Drawing(name, sentence.title, description)
        self._lines = list(constituent_lines(trees, self._forms))
        self._width = max([_LEAST, width(self._note, LABEL) + 2 * EDGE, *(line.width for line in self._lines)])

    def svg(self) -> str:
        bottom = 0.0
        for line in self._lines:
            bottom = self._line(line, bottom + (_BETWEEN_TREES if bottom else 0.0))
        if self._note:
            self._beside(bottom + 14, self._note, class_="note ok", fill=SOFT)
            bottom += _NOTE
        return self._drawing.svg(self._width, max(bottom, _NOTE))

    def _line(self, line: ConstituentLine, top: float) -> float:
        """Draw one line; return where it ends."""
        named = _TREE_NAMES_HEIGHT if any(self._names) else 0.0
        tops = [max((node.height for node in nodes), default=0) for nodes in line.sides] or [0]
        words = top + named + 30 + _TREE_LEVEL * tops[0]
        sides = [_TreeSide(-1, words - 10, words - 23, self._kinds[0], self._crossing[0])] if self._kinds else []
        bottom = words + 14
        if len(self._kinds) > 1:
            sides.append(_TreeSide(1, words - 1, words + 12, self._kinds[1], self._crossing[1]))
            bottom = words + 26 + _TREE_LEVEL * tops[1] + named
        for side, nodes in zip(sides, line.sides, strict=True):
            for at in agreed_first((node.span.mark, at) for at, node in enumerate(nodes)):
                self._branches(nodes[at], side, line)
        for x, form in zip(line.xs, self._forms[line.start :], strict=False):
            rtl = "rtl" if self._mirrored else None
            self._text(x, words, form, size=FORM, class_="form", fill=INK, direction=rtl)
        for side, nodes, name in zip(sides, line.sides, self._names, strict=True):
            for node in nodes:
                self._label(node, side)
            if name:
                y, fill = top + 13 if side.way < 0 else bottom - 5, GOLD if side.kind == "gold" else WRONG_COLOUR
                self._beside(y, name, class_=f"half {side.kind}", fill=fill)
        return bottom

    def _x(self, x: float) -> float:
        return self._width - x if self._mirrored else x

    def _text(self, x: float, y: float, words: str, *, size: float, **attributes: str | None) -> None:
        self._drawing.text(self._x(x), y, words, size=size, text_anchor=MIDDLE, **attributes)

    def _beside(self, y: float, words: str, *, class_: str, fill: str) -> None:
        """Write something at the side where reading begins."""
        anchor = END if self._mirrored else START
        self._drawing.text(self._x(EDGE), y, words, size=LABEL, text_anchor=anchor, class_=class_, fill=fill)

    def _branches(self, node: Node, side: _TreeSide, line: ConstituentLine) -> None:
        """Draw the lines from a constituent down to what is below it, and to the edges where it continues."""
        style, y = line_style(node.span.mark, side.kind), side.bar(node.height)
        children = sorted(node.children, key=lambda child: place_of(child, line.xs)) if side.crossing else node.children
        middle, last = self._x(node.x), len(children) - 1
        edges = [edge for edge, cut in ((0.0, node.before), (line.width, node.after)) if cut]
        parts = [f"M{number(self._x(edge))} {number(y)}H{number(middle)}" for edge in edges]
        for index, child in enumerate(children):
            x = self._x(place_of(child, line.xs))
            end = side.bar(child.height) + 21 * side.way if isinstance(child, Node) else side.leaf
            first_here, last_here = index == 0 and not node.before, index == last and not node.after
            if x == middle or not (first_here or last_here):
                parts.append(f"M{number(x)} {number(y)}V{number(end)}")
                continue
            step = min(_TREE_CORNER, abs(x - middle)) * (1 if x < middle else -1)
            corner = y - side.way * _TREE_CORNER
            parts.append(
                f"M{number(middle)} {number(y)}H{number(x + step)}"
                f"Q{number(x)} {number(y)} {number(x)} {number(corner)}V{number(end)}"
            )
        if parts and side.crossing:
            self._drawing.path("".join(parts), class_="bridge", **_BRIDGE)
        if parts:
            self._drawing.path("".join(parts), class_=f"arc {style.classes}", **style.stroke)

    def _label(self, node: Node, side: _TreeSide) -> None:
        style = line_style(node.span.mark, side.kind)
        y = side.bar(node.height) + (-6.5 if side.way < 0 else 15.5)
        self._text(node.x, y, node.label, size=LABEL_SIZE, class_=f"rel {style.classes}", fill=style.ink, **style.halo)
