"""Draw the constituents of a sentence: gold grows up from its words, the output grows down."""

from __future__ import annotations

from dataclasses import dataclass

from treescore.render.constituent_facts import MOST_WORDS, described, left_out, sides_of
from treescore.render.constituent_layout import EDGE, LABEL_SIZE, MOST_LEVELS, Node, place, place_of, tree_of
from treescore.render.dependency_pieces import agreed_first
from treescore.render.drawing import END, GOLD, INK, MIDDLE, SOFT, START, WRONG, Drawing, number
from treescore.render.letters import width
from treescore.render.mark_looks import line_style
from treescore.render.sentence_shapes import ConstituentSentence
from treescore.render.sentence_text import FORM, LABEL, right_to_left, shown_form, shown_label

_LEVEL = 31.0
_CORNER = 7.0
_NAMES = 18.0
_NOTE = 24.0
_LEAST = 160.0


def constituents_svg(sentence: ConstituentSentence, *, name: str = "constituents") -> str:
    """Return the picture of a sentence as SVG; equal sentences give equal bytes.

    Args:
        sentence: what is drawn; of more than MOST_WORDS words the first, of more than MOST_LEVELS levels the lowest.
        name: of the picture, for its ids: letters, digits and hyphens.
    """
    return _Picture(sentence, name).svg()


@dataclass(frozen=True, slots=True)
class _Side:
    """Where one side is: its levels go up (-1) or down (1).

    Attributes:
        way: -1 or 1.
        base: where level 0 would be.
        leaf: where the lines to words end.
        kind: of its errors.
    """

    way: int
    base: float
    leaf: float
    kind: str

    def bar(self, height: int) -> float:
        return self.base + self.way * _LEVEL * height


class _Picture:
    def __init__(self, sentence: ConstituentSentence, name: str) -> None:
        self._forms = [shown_form(word) for word in sentence.words[:MOST_WORDS]]
        sides = sides_of(sentence)
        self._trees = [tree_of(spans, len(self._forms)) for _, spans in sides]
        self._names = [
            "" if side in {"gold", "system"} and not sentence.compared else shown_label(side) for side, _ in sides
        ]
        first = "gold" if sentence.gold is not None and not sentence.compared else "bad"
        self._kinds = [first, "bad"][: len(sides)]
        self._mirrored = right_to_left(sentence.words[:MOST_WORDS])
        self._note = left_out(sentence, self._trees)
        description = described(sentence, self._note, mirrored=self._mirrored)
        self._drawing = Drawing(name, sentence.title, description)
        wide, self._xs = place(self._trees, self._forms)
        self._width = max(_LEAST, wide, width(self._note, LABEL) + 2 * EDGE)

    def svg(self) -> str:
        named = _NAMES if any(self._names) else 0.0
        tops = [min(tree.height, MOST_LEVELS) for tree in self._trees] or [0]
        words = named + 30 + _LEVEL * tops[0]
        sides = [_Side(-1, words - 10, words - 23, self._kinds[0])] if self._kinds else []
        bottom = words + 14
        if len(self._kinds) > 1:
            sides.append(_Side(1, words - 1, words + 12, self._kinds[1]))
            bottom = words + 26 + _LEVEL * tops[1] + named
        for index, side in enumerate(sides):
            nodes = self._trees[index].nodes
            for at in agreed_first((node.span.mark, at) for at, node in enumerate(nodes)):
                self._lines(nodes[at], side)
        for form, x in zip(self._forms, self._xs, strict=True):
            rtl = "rtl" if self._mirrored else None
            self._text(x, words, form, size=FORM, class_="form", fill=INK, direction=rtl)
        for index, side in enumerate(sides):
            for node in self._trees[index].nodes:
                self._label(node, side)
            if self._names[index]:
                y, fill = 13 if side.way < 0 else bottom - 5, GOLD if side.kind == "gold" else WRONG
                self._beside(y, self._names[index], class_=f"half {side.kind}", fill=fill)
        if self._note:
            self._beside(bottom + 14, self._note, class_="note ok", fill=SOFT)
            bottom += _NOTE
        return self._drawing.svg(self._width, bottom)

    def _x(self, x: float) -> float:
        return self._width - x if self._mirrored else x

    def _text(self, x: float, y: float, words: str, *, size: float, **attributes: str | None) -> None:
        self._drawing.text(self._x(x), y, words, size=size, text_anchor=MIDDLE, **attributes)

    def _beside(self, y: float, words: str, *, class_: str, fill: str) -> None:
        """Write something at the side where reading begins."""
        anchor = END if self._mirrored else START
        self._drawing.text(self._x(EDGE), y, words, size=LABEL, text_anchor=anchor, class_=class_, fill=fill)

    def _lines(self, node: Node, side: _Side) -> None:
        """Draw the lines from a constituent down to what is below it."""
        style, y = line_style(node.span.mark, side.kind), side.bar(node.height)
        parts = []
        for index, child in enumerate(node.children):
            x = self._x(place_of(child, self._xs))
            end = side.bar(child.height) + 21 * side.way if isinstance(child, Node) else side.leaf
            if 0 < index < len(node.children) - 1 or len(node.children) == 1:
                parts.append(f"M{number(x)} {number(y)}V{number(end)}")
                continue
            middle = self._x(node.x)
            step = min(_CORNER, abs(x - middle)) * (1 if x < middle else -1)
            corner = y - side.way * _CORNER
            parts.append(
                f"M{number(middle)} {number(y)}H{number(x + step)}"
                f"Q{number(x)} {number(y)} {number(x)} {number(corner)}V{number(end)}"
            )
        if parts:
            self._drawing.path("".join(parts), class_=f"arc {style.classes}", **style.stroke)

    def _label(self, node: Node, side: _Side) -> None:
        style = line_style(node.span.mark, side.kind)
        y = side.bar(node.height) + (-6.5 if side.way < 0 else 15.5)
        self._text(node.x, y, node.label, size=LABEL_SIZE, class_=f"rel {style.classes}", fill=style.ink, **style.halo)
