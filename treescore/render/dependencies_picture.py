"""Draw the dependencies of a sentence: gold above its words, the output below them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from treescore.render.dependency_facts import dependencies_described, half_names
from treescore.render.dependency_layout import EDGE, DependencyLine, PlacedArc, dependency_lines
from treescore.render.dependency_parts import drawn_dependencies, halves_in, to_place, words_left_out
from treescore.render.dependency_pieces import IN, OUT, ROOT, agreed_first
from treescore.render.drawing import END, GOLD, INK, MIDDLE, RULE, SOFT, START, WRONG_COLOUR, Drawing, number
from treescore.render.letters import width
from treescore.render.mark_looks import line_style
from treescore.render.sentence_shapes import AGREED, DependencySentence
from treescore.render.sentence_text import FORM, LABEL, SMALL, right_to_left, shown_form, shown_label, shown_number

_ARC_LEVEL = 24.0
_ARC_CORNER = 9.0
_ARC_PAD = 16.0
"""Above the highest arc, for its label or the number of the other word."""
_ARC_NAMES_HEIGHT = 18.0
_BETWEEN_LINES = 10.0
"""Between two lines."""
_LEAST = 160.0
_NOTE = 24.0
_HAIRLINE = 20.0


def dependencies_svg(sentence: DependencySentence, *, name: str = "dependencies") -> str:
    """Return the picture of a sentence as SVG; equal sentences give equal bytes.

    Args:
        sentence: what is drawn; of more than MOST_WORDS words the first.
        name: of the picture, for its ids: letters, digits and hyphens.
    """
    return _DependenciesPicture(sentence, name).svg()


@dataclass(frozen=True, slots=True)
class _ArcSide:
    """Where the arcs of one half of a line are: levels go up (-1) or down (1) from its base."""

    half: int
    base: float
    way: int
    kind: str

    def level(self, height: float) -> float:
        return self.base + self.way * _ARC_LEVEL * height


class _DependenciesPicture:
    def __init__(self, sentence: DependencySentence, name: str) -> None:
        self._note = words_left_out(sentence)
        sentence = drawn_dependencies(sentence)
        self._halves = halves_in(sentence)
        first = "gold" if sentence.gold is not None and not sentence.compared else "bad"
        self._kinds = [first, "bad"][: len(self._halves)]
        self._names = half_names(sentence)
        self._one_row = sentence.same_words
        self._mirrored = right_to_left(word.form for half in self._halves for word in half.words)
        described_as = dependencies_described(sentence, self._note, mirrored=self._mirrored)
        self._drawing = Drawing(name, sentence.title, described_as)
        self._lines = list(dependency_lines(to_place(sentence)))
        self._width = max([_LEAST, width(self._note, LABEL) + 2 * EDGE, *(line.width for line in self._lines)])
        self._wrong = [{arc.dependent for arc in half.arcs if arc.mark != AGREED} for half in self._halves]

    def svg(self) -> str:
        y = 0.0
        for line in self._lines:
            y = self._line(line, y) + _BETWEEN_LINES
        if self._note:
            self._text(EDGE, y + 6, self._note, START, size=LABEL, class_="note ok", fill=SOFT)
            y += _NOTE
        return self._drawing.svg(self._width, max(y, _NOTE))

    def _line(self, line: DependencyLine, top: float) -> float:
        """Draw one line; return where it ends."""
        named = _ARC_NAMES_HEIGHT if any(self._names) else 0.0
        tops = [max((arc.height for arc in arcs), default=0) for arcs in line.halves]
        base = top + named + _ARC_PAD + _ARC_LEVEL * tops[0]
        sides = [_ArcSide(0, base, -1, self._kinds[0])]
        last = base + (41.0 if self._one_row else 82.0 + _HAIRLINE)
        if len(line.halves) > 1:
            sides.append(_ArcSide(1, last, 1, self._kinds[1]))
        end = last + (_ARC_PAD + _ARC_LEVEL * tops[1] + named if len(tops) > 1 else 0.0)
        for side in sides:
            for index in agreed_first((arc.piece.mark, at) for at, arc in enumerate(line.halves[side.half])):
                self._arc(line.halves[side.half][index], side)
        self._words(line, base)
        for side in sides:
            for arc in line.halves[side.half]:
                self._label(arc, side)
            if named_as := self._names[side.half]:
                y = top + 13 if side.way < 0 else end - 5
                fill = GOLD if side.kind == "gold" else WRONG_COLOUR
                self._text(EDGE, y, shown_label(named_as), START, size=LABEL, class_=f"half {side.kind}", fill=fill)
        return end

    def _x(self, x: float) -> float:
        return self._width - x if self._mirrored else x

    def _text(self, x: float, y: float, words: str, anchor: str, **attributes: str | float | None) -> None:
        if self._mirrored and anchor != MIDDLE:
            anchor = END if anchor == START else START
        size = attributes.pop("size")
        assert isinstance(size, float)  # noqa: S101 - every caller names it
        self._drawing.text(self._x(x), y, words, size=size, text_anchor=anchor, **attributes)

    def _arc(self, arc: PlacedArc, side: _ArcSide) -> None:
        """Draw the line of an arc, and its arrow."""
        style = line_style(arc.piece.mark, side.kind)
        y, way = side.level(arc.height), side.way
        points_left = arc.piece.points_left
        head, tip = (arc.right, arc.left) if points_left else (arc.left, arc.right)
        starts, ends = arc.piece.kind in {ROOT, OUT, "whole"}, arc.piece.kind != OUT
        if arc.piece.kind == ROOT:
            path = f"M{number(self._x(tip))} {number(y)}V{number(side.base + 3 * way)}"
        else:
            step = min(_ARC_CORNER, (arc.right - arc.left) / 2) * (-1 if points_left else 1)
            path = "".join(_bent(self._x, (head, tip), step, (side.base, y), way, starts=starts, ends=ends))
        self._drawing.path(path, class_=f"arc {style.classes}", **style.stroke)
        if ends:
            x, end = self._x(tip), side.base - 1 * way
            d = f"M{number(x - 3.6)} {number(end + 7 * way)}h7.2L{number(x)} {number(end)}z"
            self._drawing.path(d, class_=f"tip {style.classes}", fill=style.colour)

    def _label(self, arc: PlacedArc, side: _ArcSide) -> None:
        style, y = line_style(arc.piece.mark, side.kind), side.level(arc.height)
        if arc.piece.label:
            self._text(
                arc.label_x, y + 4.3, arc.piece.label, MIDDLE, size=LABEL, class_=f"rel {style.classes}",
                fill=style.ink, **style.halo,
            )  # fmt: skip
        if arc.piece.kind in {IN, OUT}:
            at_left = arc.left <= 0.0 and arc.piece.low < 0
            x, anchor = (EDGE, START) if at_left else (arc.right - EDGE, END)
            self._text(x, y - 4, arc.piece.others, anchor, size=SMALL, class_=f"cont {style.classes}", fill=style.ink)

    def _words(self, line: DependencyLine, base: float) -> None:
        """Draw the words of a line with their numbers, and hairlines between those of two rows."""
        for row, (start, xs) in enumerate(zip(line.starts, line.xs, strict=True)):
            wrong = set().union(*self._wrong) if self._one_row else self._wrong[row]
            y = base + 20 + row * (41 + _HAIRLINE)
            for index, x in enumerate(xs, start):
                word = self._halves[row].words[index]
                bold = index in wrong
                self._text(
                    x, y, shown_form(word.form), MIDDLE, size=FORM, class_="form wrong" if bold else "form",
                    fill=INK, font_weight="650" if bold else None, direction="rtl" if self._mirrored else None,
                )  # fmt: skip
                self._text(x, y + 14, shown_number(word.number), MIDDLE, size=SMALL, class_="num", fill=SOFT)
        for above, below in line.links:
            x, other = (line.xs[row][word - line.starts[row]] for row, word in enumerate((above, below)))
            path = f"M{number(self._x(x))} {number(base + 38)}L{number(self._x(other))} {number(base + 45 + _HAIRLINE)}"
            self._drawing.path(path, class_="tie arc ok", stroke=RULE, stroke_width="0.75")


def _bent(
    across: Callable[[float], float],
    ends_at: tuple[float, float],
    step: float,
    ys: tuple[float, float],
    way: int,
    *,
    starts: bool,
    ends: bool,
) -> Iterator[str]:
    """Yield the path from a head to its dependent, with round corners; a cut end runs straight on to the edge."""
    (head, tip), (base, y) = ends_at, ys
    near = number(y - way * _ARC_CORNER)
    if starts:
        yield f"M{number(across(head))} {number(base)}V{near}"
        yield f"Q{number(across(head))} {number(y)} {number(across(head + step))} {number(y)}"
    else:
        yield f"M{number(across(head))} {number(y)}"
    if ends:
        yield f"H{number(across(tip - step))}Q{number(across(tip))} {number(y)} {number(across(tip))} {near}"
        yield f"V{number(base + 3 * way)}"
    else:
        yield f"H{number(across(tip))}"
