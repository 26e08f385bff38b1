"""Draw the dependencies of a sentence: gold above its words, the output below them; and say what the picture shows.

What is drawn of many is chosen here; the same in words and as a table is for those who do not see the picture.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from treescore.core.wording import counted
from treescore.render import dependency_layout as layout
from treescore.render import sentence_shapes as shapes
from treescore.render.drawing import END, RULE, START, Drawing, number

MOST_ARC_WORDS = 150
"""Words of a half that are drawn; the picture says if there are more."""
MOST_ARCS = 200
"""Arcs of a half that are drawn. Only graphs have more arcs than words; the picture says if there are more."""


def halves_in(sentence: shapes.DependencySentence) -> list[shapes.DependencyHalf]:
    """Return the halves that are given, the upper one first."""
    return [half for half in (sentence.gold, sentence.system) if half is not None]


def drawn_dependencies(sentence: shapes.DependencySentence) -> shapes.DependencySentence:
    """Return the sentence with its first words and arcs only, as far as they are drawn."""
    halves = halves_in(sentence)
    words = max((len(half.words) for half in halves), default=0)
    arcs = max((len(_own(half)) for half in halves), default=0)
    note = sentence.note or shapes.note_of({"word": words - MOST_ARC_WORDS, "arc": arcs - MOST_ARCS})
    gold, system = (half and _cut_half(half) for half in (sentence.gold, sentence.system))
    return replace(sentence, gold=gold, system=system, note=note)


def to_place(sentence: shapes.DependencySentence) -> layout.Halves:
    """Return the rows of words and the arcs of a sentence's drawn part."""
    halves = halves_in(sentence)
    arcs = tuple(layout.Arcs(half.arcs, [word.number for word in half.words]) for half in halves)
    if sentence.same_words:
        rows = tuple(map(_half_row, halves[:1]))
        blocks = [(range(word, word + 1),) * 2 for word in range(len(halves[0].words) if halves else 0)]
        return layout.Halves(rows, arcs, blocks)
    links = links_of(sentence)
    above, below = (len(half.words) for half in halves)
    return layout.Halves(tuple(map(_half_row, halves)), arcs, layout.blocks_of(above, below, links), links)


def links_of(sentence: shapes.DependencySentence) -> layout.Links:
    """Return the pairs of words of both halves that belong together, as given or by their characters."""
    above, below = ([word.form for word in half.words] for half in halves_in(sentence))
    if sentence.links is None:
        return layout.links_between(above, below)
    return tuple((a, b) for a, b in sentence.links if 0 <= a < len(above) and 0 <= b < len(below))


def _half_row(half: shapes.DependencyHalf) -> layout.Row:
    return layout.Row(
        [shapes.shown_form(word.form) for word in half.words], [shapes.shown_number(word.number) for word in half.words]
    )


def _cut_half(half: shapes.DependencyHalf) -> shapes.DependencyHalf:
    """Return the words and arcs of a half that are drawn; arcs to words that are not may be left out unsaid."""
    words = range(min(len(half.words), MOST_ARC_WORDS))
    leaving = (arc for arc in half.arcs if arc.head in words and arc.dependent not in words)
    return replace(half, words=half.words[:MOST_ARC_WORDS], arcs=tuple([*_own(half), *leaving][:MOST_ARCS]))


def _own(half: shapes.DependencyHalf) -> list[shapes.Arc]:
    """Return the arcs to words that are drawn."""
    words = range(min(len(half.words), MOST_ARC_WORDS))
    return [arc for arc in half.arcs if arc.dependent in words]


_LISTED = 40
"""Words that the description names."""


def dependency_facts(sentence: shapes.DependencySentence, *, every: bool = False) -> shapes.Facts:
    """Return the words that are not agreed, with the head and relation of each half; a head's number ends its cell.

    Args:
        sentence: what is drawn.
        every: show agreed words too.
    """
    sentence = drawn_dependencies(sentence)
    sides = _fact_sides(sentence)
    header = ["No.", "Word"]
    for side in sides:
        header += [f"{side.name.capitalize()} head", f"{side.name.capitalize()} relation"]
    rows = [
        _word_cells(sides, pair)
        for pair in _paired_words(sentence, sides)
        if every or any(side.has_error(word) for side, word in zip(sides, pair, strict=True))
    ]
    return shapes.Facts((*header, "Wrong"), tuple(rows), sentence.note)


def _dependencies_described(sentence: shapes.DependencySentence, *, mirrored: bool) -> str:
    """Return the description of the drawn sentence for those who cannot see it, mirrored or not."""
    sides = _fact_sides(sentence)
    parts = [shapes.where_sides((side.name for side in sides), mirrored=mirrored)]
    if not sentence.same_words:
        parts.append("The halves have other words; lines join those that share characters.")
    rows = dependency_facts(sentence)
    listed = [_listed_word(sides, row) for row in rows.rows[:_LISTED]]
    more = len(rows.rows) - len(listed)
    if listed:
        rest = [f"and {counted(more, 'other word')}"] if more else []
        parts.append(f"Wrong: {'; '.join([*listed, *rest])}.")
    else:
        parts.append("No word is wrong.")
    return " ".join(filter(None, [*parts, sentence.note]))


class _FactSide(NamedTuple):
    name: str
    half: shapes.DependencyHalf
    arcs: dict[int, list[shapes.Arc]]

    def has_error(self, word: int | None) -> bool:
        return word is not None and any(arc.mark != shapes.AGREED for arc in self.arcs.get(word, ()))

    def head(self, word: int | None) -> str:
        return ", ".join(self._head(arc) for arc in self.of(word))

    def relation(self, word: int | None) -> str:
        return ", ".join(shapes.shown_label(arc.label) for arc in self.of(word) if arc.label)

    def marks(self, word: int | None) -> set[str]:
        return {arc.mark for arc in self.of(word)}

    def of(self, word: int | None) -> list[shapes.Arc]:
        return [] if word is None else self.arcs.get(word, [])

    def _head(self, arc: shapes.Arc) -> str:
        if arc.head is None:
            return "root"
        if not 0 <= arc.head < len(self.half.words):
            return "…"
        word = self.half.words[arc.head]
        return f"{shapes.shown_form(word.form)} {shapes.shown_number(word.number)}"


def _fact_sides(sentence: shapes.DependencySentence) -> list[_FactSide]:
    sides = []
    for half, name in ((sentence.gold, "gold"), (sentence.system, "system")):
        if half is not None:
            arcs: dict[int, list[shapes.Arc]] = {}
            for arc in half.arcs:
                arcs.setdefault(arc.dependent, []).append(arc)
            sides.append(_FactSide(name, half, arcs))
    return sides


def _paired_words(sentence: shapes.DependencySentence, sides: list[_FactSide]) -> Iterator[tuple[int | None, ...]]:
    """Yield the words of all halves side by side; words that have no single partner stand alone."""
    counts = [len(side.half.words) for side in sides]
    if sentence.same_words:
        yield from ((word,) * len(sides) for word in range(max(counts, default=0)))
        return
    below: dict[int, list[int]] = {}
    above: dict[int, list[int]] = {}
    for a, b in links_of(sentence):
        below.setdefault(a, []).append(b)
        above.setdefault(b, []).append(a)
    partner = {a: found[0] for a, found in below.items() if len(found) == 1 and len(above[found[0]]) == 1}
    taken = set(partner.values())
    yield from ((word, partner.get(word)) for word in range(counts[0]))
    yield from ((None, word) for word in range(counts[1]) if word not in taken)


def _word_cells(sides: list[_FactSide], pair: tuple[int | None, ...]) -> tuple[str, ...]:
    side, word = next((side, word) for side, word in zip(sides, pair, strict=True) if word is not None)
    shown = side.half.words[word]
    cells = [shapes.shown_number(shown.number), shapes.shown_form(shown.form)]
    for each, at in zip(sides, pair, strict=True):
        cells += [each.head(at), each.relation(at)]
    return (*cells, _word_fault(sides, pair))


def _word_fault(sides: list[_FactSide], pair: tuple[int | None, ...]) -> str:
    """Return what is wrong with a word."""
    marks = set().union(*(side.marks(word) for side, word in zip(sides, pair, strict=True)))
    if marks <= {shapes.AGREED}:
        return ""
    if None in pair:
        return "words differ"
    if marks <= {shapes.AGREED, shapes.LABEL}:
        return "label"
    if len(sides) < 2:
        return "wrong"
    erring = [side.name for side, word in zip(sides, pair, strict=True) if side.has_error(word)]
    if len(erring) == 1 and len({len(side.of(word)) for side, word in zip(sides, pair, strict=True)}) > 1:
        return "missed" if erring == ["gold"] else "wrong"
    return "head" if len({side.relation(word) for side, word in zip(sides, pair, strict=True)}) == 1 else "head, label"


def _listed_word(sides: list[_FactSide], row: tuple[str, ...]) -> str:
    number, form, *cells, wrong = row
    arcs = [
        f"{side.name} {relation} of {head}"
        for side, head, relation in zip(sides, cells[::2], cells[1::2], strict=True)
        if head
    ]
    return f"{form} {number} ({wrong}: {', '.join(arcs)})"


_ARC_LEVEL = 24.0
_ARC_CORNER = 9.0
_ARC_PAD = 16.0
"""Above the highest arc, for its label or the number of the other word."""
_BETWEEN_LINES = 10.0
"""Between two lines."""
_HAIRLINE = 20.0


def dependencies_svg(sentence: shapes.DependencySentence, *, name: str = "dependencies") -> str:
    """Return the picture of a sentence as SVG; equal sentences give equal bytes.

    Args:
        sentence: what is drawn; of more than MOST_WORDS words the first.
        name: of the picture, for its ids: letters, digits and hyphens.
    """
    return _DependenciesPicture(drawn_dependencies(sentence), name).svg()


class _ArcSide(NamedTuple):
    """Where the arcs of one half of a line are: levels go up (-1) or down (1) from its base."""

    half: int
    base: float
    way: int
    kind: str

    def level(self, height: float) -> float:
        return self.base + self.way * _ARC_LEVEL * height


class _DependenciesPicture(shapes.SentencePicture):
    def __init__(self, sentence: shapes.DependencySentence, name: str) -> None:
        self._halves = halves_in(sentence)
        first = "bad" if sentence.gold is None else "gold"
        self._kinds = [first, "bad"][: len(self._halves)]
        self._one_row = sentence.same_words
        mirrored = shapes.right_to_left(word.form for half in self._halves for word in half.words)
        drawing = Drawing(name, sentence.title, _dependencies_described(sentence, mirrored=mirrored))
        self._lines = list(layout.dependency_lines(to_place(sentence)))
        self._wrong = [{arc.dependent for arc in half.arcs if arc.mark != shapes.AGREED} for half in self._halves]
        super().__init__(drawing, sentence.note, [line.width for line in self._lines], mirrored=mirrored)

    def svg(self) -> str:
        y = 0.0
        for line in self._lines:
            y = self._line(line, y) + _BETWEEN_LINES
        return self._finished(y, y + 6)

    def _line(self, line: layout.DependencyLine, top: float) -> float:
        """Draw one line; return where it ends."""
        tops = [max((arc.height for arc in arcs), default=0) for arcs in line.halves]
        base = top + _ARC_PAD + _ARC_LEVEL * tops[0]
        sides = [_ArcSide(0, base, -1, self._kinds[0])]
        last = base + (41.0 if self._one_row else 82.0 + _HAIRLINE)
        if len(line.halves) > 1:
            sides.append(_ArcSide(1, last, 1, self._kinds[1]))
        end = last + (_ARC_PAD + _ARC_LEVEL * tops[1] if len(tops) > 1 else 0.0)
        for side in sides:
            for index in layout.agreed_first((arc.piece.mark, at) for at, arc in enumerate(line.halves[side.half])):
                self._arc(line.halves[side.half][index], side)
        self._words(line, base)
        for side in sides:
            for arc in line.halves[side.half]:
                self._arc_label(arc, side)
        return end

    def _arc(self, arc: layout.PlacedArc, side: _ArcSide) -> None:
        """Draw the line of an arc, and its arrow."""
        style = shapes.line_style(arc.piece.mark, side.kind)
        y, way = side.level(arc.height), side.way
        points_left = arc.piece.points_left
        head, tip = (arc.right, arc.left) if points_left else (arc.left, arc.right)
        starts, ends = arc.piece.kind in {layout.ROOT, layout.OUT, "whole"}, arc.piece.kind != layout.OUT
        if arc.piece.kind == layout.ROOT:
            path = f"M{number(self._x(tip))} {number(y)}V{number(side.base + 3 * way)}"
        else:
            step = min(_ARC_CORNER, (arc.right - arc.left) / 2) * (-1 if points_left else 1)
            path = "".join(_bent(self._x, (head, tip), step, (side.base, y), way, starts=starts, ends=ends))
        self._drawing.path(path, class_=f"arc {style.classes}", **style.stroke)
        if ends:
            x, end = self._x(tip), side.base - 1 * way
            d = f"M{number(x - 3.6)} {number(end + 7 * way)}h7.2L{number(x)} {number(end)}z"
            self._drawing.path(d, class_=f"tip {style.classes}", fill=style.colour)

    def _arc_label(self, arc: layout.PlacedArc, side: _ArcSide) -> None:
        style, y = shapes.line_style(arc.piece.mark, side.kind), side.level(arc.height)
        if arc.piece.label:
            self._label(arc.label_x, y + 4.3, arc.piece.label, style)
        if arc.piece.kind in {layout.IN, layout.OUT}:
            at_left = arc.left <= 0.0 and arc.piece.low < 0
            x, anchor = (shapes.EDGE, START) if at_left else (arc.right - shapes.EDGE, END)
            class_ = f"cont {style.classes}"
            self._text(x, y - 4, arc.piece.others, anchor, size=shapes.SMALL_SIZE, class_=class_, fill=style.ink)

    def _words(self, line: layout.DependencyLine, base: float) -> None:
        """Draw the words of a line with their numbers, and hairlines between those of two rows."""
        for row, (start, xs) in enumerate(zip(line.starts, line.xs, strict=True)):
            wrong = set().union(*self._wrong) if self._one_row else self._wrong[row]
            y = base + 20 + row * (41 + _HAIRLINE)
            for index, x in enumerate(xs, start):
                word = self._halves[row].words[index]
                self._form(x, y, shapes.shown_form(word.form), wrong=index in wrong)
                self._number(x, y + 14, shapes.shown_number(word.number))
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
