"""Draw the constituents of a sentence: gold grows up from its words, the output grows down; and say what is shown.

The same in words and as a table is for those who do not see the picture.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from treescore.core.wording import counted
from treescore.render import constituent_layout as layout
from treescore.render import sentence_shapes as shapes
from treescore.render.dependency_layout import agreed_first
from treescore.render.drawing import PAPER, Drawing, number

MOST_TREE_WORDS = 150
"""Words that are drawn; the picture says if there are more."""
MOST_SPANS = 200
"""Constituents of a side that are drawn; the picture says if there are more."""
_LISTED = 40
"""Constituents that the description names."""
_NAMED = 6
"""Words of a constituent that are written out."""
_RUNS = re.compile("1+")
_WHAT = {shapes.AGREED: "", shapes.LABEL: "label", shapes.CROSSING: "crossing"}


def sides_of(sentence: shapes.ConstituentSentence) -> list[tuple[str, shapes.Constituents]]:
    """Return the sides that are given with their names, the upper one first."""
    sides = (("gold", sentence.gold), ("system", sentence.system))
    return [(name, spans) for name, spans in sides if spans is not None]


def constituent_facts(sentence: shapes.ConstituentSentence, *, every: bool = False) -> shapes.Facts:
    """Return the constituents that are not agreed: those of each side, in the order of their words.

    Args:
        sentence: what is drawn.
        every: list agreed ones too.
    """
    sentence = drawn_constituents(sentence)
    rows = [
        (
            shapes.shown_label(each.label),
            _covered_words(sentence, each),
            _range(each),
            name,
            _WHAT.get(each.mark, "words"),
        )
        for name, spans in sides_of(sentence)
        for each in _drawn(spans)
        if every or each.mark != shapes.AGREED
    ]
    return shapes.Facts(("Label", "Words", "From-to", "Only in", "Wrong"), tuple(rows), sentence.note)


def drawn_constituents(sentence: shapes.ConstituentSentence) -> shapes.ConstituentSentence:
    """Return the first words and the lowest levels of a sentence, as far as they are drawn."""
    count = min(len(sentence.words), MOST_TREE_WORDS)
    sides = [layout.part_of(spans, count) for _, spans in sides_of(sentence)]
    drawn = iter([side.kept[:MOST_SPANS] for side in sides])
    gold, system = (
        None if spans is None else layout.chosen(spans, next(drawn), count)
        for spans in (sentence.gold, sentence.system)
    )
    note = sentence.note or note_of_parts(len(sentence.words), sides)
    return replace(sentence, words=sentence.words[:count], gold=gold, system=system, note=note)


def note_of_parts(words: int, sides: Sequence[layout.Part]) -> str:
    """Return the sentence that says what is left out of a tree of so many words; empty if nothing is."""
    empty = sum(side.empty for side in sides)
    return shapes.note_of(
        {
            "word": words - MOST_TREE_WORDS,
            "level": max((side.height for side in sides), default=0) - layout.MOST_LEVELS,
            "constituent": max((len(side.kept) for side in sides), default=0) - MOST_SPANS,
        },
        *([f"without {counted(empty, 'empty constituent')}"] if empty else []),
    )


def _listed_spans(sentence: shapes.ConstituentSentence) -> Iterator[str]:
    rows = constituent_facts(sentence).rows
    for name, _ in sides_of(sentence):
        own = [row for row in rows if row[3] == name]
        listed = [
            f"{label} {words}" + ("" if wrong in {"", "words"} else f" ({wrong})")
            for label, words, _, _, wrong in own[:_LISTED]
        ]
        more = [f"and {counted(len(own) - _LISTED, 'other')}"] if len(own) > _LISTED else []
        if listed:
            yield f"Only in {name}: {'; '.join([*listed, *more])}."
    if not rows:
        yield "No constituent is wrong."


def tree_of_side(constituents: shapes.Constituents, words: int) -> layout.AnyTree:
    """Return what is drawn of one side; of so many words."""
    branches = [each for each in constituents if isinstance(each, shapes.Branch)]
    spans = [each for each in constituents if not isinstance(each, shapes.Branch)]
    return layout.branches_of(branches, words) if branches else layout.tree_of(spans, words)


class _Drawn(NamedTuple):
    """A constituent whose words are drawn: the ranges of its words, one unless it has gaps."""

    label: str
    mark: shapes.SpanMark
    blocks: Sequence[tuple[int, int]]


def _drawn(constituents: shapes.Constituents) -> Iterator[_Drawn]:
    """Yield the constituents of a side whose words are drawn, in the order of their first words."""
    branches = [each for each in constituents if isinstance(each, shapes.Branch)]
    found = [
        _Drawn(branch.label, branch.mark, [match.span() for match in _RUNS.finditer(f"{mask:b}"[::-1])])
        for branch, mask in zip(branches, layout.masks_of(branches, MOST_TREE_WORDS), strict=True)
        if mask
    ]
    found += [
        _Drawn(each.label, each.mark, [(each.start, each.end)])
        for each in constituents
        if not isinstance(each, shapes.Branch) and 0 <= each.start < min(each.end, MOST_TREE_WORDS)
    ]
    return iter(sorted(found, key=lambda each: (each.blocks[0][0], -each.blocks[-1][1])))


def _range(each: _Drawn) -> str:
    return ", ".join(f"{start + 1}-{end}" for start, end in each.blocks)


def _covered_words(sentence: shapes.ConstituentSentence, each: _Drawn) -> str:
    words = [word for start, end in each.blocks for word in sentence.words[start : min(end, MOST_TREE_WORDS)]]
    if len(words) <= _NAMED:
        return " ".join(map(shapes.shown_form, words))
    return " ".join([*map(shapes.shown_form, words[: _NAMED - 2]), "…", shapes.shown_form(words[-1])])


_TREE_LEVEL = 31.0
_TREE_CORNER = 7.0
_BETWEEN_TREES = 10.0
"""Between two lines."""
_BRIDGE = {"stroke": PAPER, "stroke_width": "6"}
"""The paper around a line that passes over others."""


def constituents_svg(sentence: shapes.ConstituentSentence, *, name: str = "constituents") -> str:
    """Return the picture of a sentence as SVG; equal sentences give equal bytes.

    Args:
        sentence: what is drawn; of more than MOST_WORDS words the first, of too many levels the lowest.
        name: of the picture, for its ids: letters, digits and hyphens.
    """
    return _ConstituentsPicture(drawn_constituents(sentence), name).svg()


class _TreeSide(NamedTuple):
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


class _ConstituentsPicture(shapes.SentencePicture):
    def __init__(self, sentence: shapes.ConstituentSentence, name: str) -> None:
        self._forms = [shapes.shown_form(word) for word in sentence.words]
        sides = sides_of(sentence)
        trees = [tree_of_side(spans, len(self._forms)) for _, spans in sides]
        self._crossing = [tree.crossing for tree in trees]
        first = "bad" if sentence.gold is None else "gold"
        self._kinds = [first, "bad"][: len(sides)]
        mirrored = shapes.right_to_left(sentence.words)
        where = shapes.where_sides((name for name, _ in sides_of(sentence)), mirrored=mirrored)
        described = " ".join(filter(None, [where, *_listed_spans(sentence), sentence.note]))
        drawing = Drawing(name, sentence.title, described)
        self._lines = list(layout.constituent_lines(trees, self._forms))
        super().__init__(drawing, sentence.note, [line.width for line in self._lines], mirrored=mirrored)

    def svg(self) -> str:
        bottom = 0.0
        for line in self._lines:
            bottom = self._line(line, bottom + (_BETWEEN_TREES if bottom else 0.0))
        return self._finished(bottom, bottom + 14)

    def _line(self, line: layout.ConstituentLine, top: float) -> float:
        """Draw one line; return where it ends."""
        tops = [max((node.height for node in nodes), default=0) for nodes in line.sides] or [0]
        words = top + 30 + _TREE_LEVEL * tops[0]
        sides = [_TreeSide(-1, words - 10, words - 23, self._kinds[0], self._crossing[0])] if self._kinds else []
        bottom = words + 14
        if len(self._kinds) > 1:
            sides.append(_TreeSide(1, words - 1, words + 12, self._kinds[1], self._crossing[1]))
            bottom = words + 26 + _TREE_LEVEL * tops[1]
        for side, nodes in zip(sides, line.sides, strict=True):
            for at in agreed_first((node.span.mark, at) for at, node in enumerate(nodes)):
                self._branches(nodes[at], side, line)
        for x, form in zip(line.xs, self._forms[line.start :], strict=False):
            self._form(x, words, form)
        for side, nodes in zip(sides, line.sides, strict=True):
            for node in nodes:
                y = side.bar(node.height) + (-6.5 if side.way < 0 else 15.5)
                self._label(node.x, y, node.label, shapes.line_style(node.span.mark, side.kind), layout.NODE_LABEL_SIZE)
        return bottom

    def _branches(self, node: layout.Node, side: _TreeSide, line: layout.ConstituentLine) -> None:
        """Draw the lines from a constituent down to what is below it, and to the edges where it continues."""
        style, y = shapes.line_style(node.span.mark, side.kind), side.bar(node.height)
        children = (
            sorted(node.children, key=lambda child: layout.place_of(child, line.xs)) if side.crossing else node.children
        )
        middle, last = self._x(node.x), len(children) - 1
        edges = [edge for edge, cut in ((0.0, node.before), (line.width, node.after)) if cut]
        parts = [f"M{number(self._x(edge))} {number(y)}H{number(middle)}" for edge in edges]
        for index, child in enumerate(children):
            x = self._x(layout.place_of(child, line.xs))
            end = side.bar(child.height) + 21 * side.way if isinstance(child, layout.Node) else side.leaf
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
