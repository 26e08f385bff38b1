"""Write SVG as strings: the palette, the elements, the words above and below what is drawn, and the head that names it.

Presentation attributes hold the light palette and classes name what is drawn, so that a page's own sheet overrules the
colours (dark mode, print) while the same bytes are an export that stands alone. Neither `<style>` nor `style=` is used,
which a strict Content-Security-Policy would block. The colours of heat maps are steps by the distance from the best, by
score and by p; each is a class of pages. Figures have the signs and dashes of print, p no leading zero.

Text is measured without a font, and the words of a picture are broken into lines. Latin goes by the advances of Source
Sans 3, read from the font file that the pages ship (Latin subset), other scripts by East Asian width. Each line is as
full as fits, broken where little passes to the next.
"""

import html
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache, partial
from typing import Literal, NamedTuple, Protocol, TypeVar

from treescore.core.wording import Figures, ends, one_line

# ruff: noqa: RUF001 - the letters that the font has


UNITS = 1000
"""Of the font's design grid: so many make the size of the type."""

LETTERS: dict[tuple[int, int], str] = {
    (0, 0): "\u0300\u0301\u0303\u0304\u0308\u0309\u0323\u0329\u200b",
    (86, 96): "\u2044\u2215",
    (100, 100): "\u2009",
    (200, 200): " \u00a0",
    (241, 268): "|¦",
    (246, 276): "iìíîï",
    (247, 277): "ı",
    (247, 278): "j",
    (249, 300): "',.:;·\u2018\u2019\u201a\u2032",
    (255, 286): "l",
    (257, 302): "ʻʼ",
    (263, 301): "IÌÍÎÏ",
    (271, 292): "\u2039\u203a",
    (289, 340): "!¡",
    (292, 341): "f",
    (303, 344): "()[]{}",
    (304, 345): "\u2022",
    (311, 332): "-\u00ad",
    (331, 365): "°",
    (338, 383): "t",
    (345, 359): "ª",
    (347, 398): "r",
    (350, 339): "/\\",
    (365, 373): "º",
    (367, 376): "²³¹",
    (418, 457): "*",
    (419, 443): "s",
    (423, 462): "®",
    (425, 460): "z",
    (425, 463): "?¿",
    (426, 537): '"\u201c\u201d\u201e\u2033',
    (429, 480): "«»",
    (446, 514): "x",
    (456, 467): "ç",
    (456, 468): "c",
    (467, 521): "yýÿ",
    (467, 523): "v",
    (476, 525): "YÝ",
    (479, 509): "J",
    (480, 480): "\u2013",
    (486, 518): "L",
    (494, 524): "F",
    (495, 548): "k",
    (496, 518): "eèéêë",
    (497, 528): "#$+0123456789<=>^~¢£¤¥§¬±×÷\u20ac\u2212",
    (500, 500): "_",
    (504, 527): "aàáâãäå",
    (504, 534): "g",
    (513, 567): "X",
    (515, 556): "V",
    (527, 548): "EÈÉÊË",
    (534, 556): "S",
    (536, 556): "T",
    (539, 541): "Z",
    (542, 555): "`o¨¯´¸òóôõöøˆ˚˜",
    (543, 573): "A",
    (544, 558): "ð",
    (544, 568): "uùúûü",
    (544, 571): "h",
    (544, 573): "ÀÁÂÃÄÅ",
    (547, 572): "nñ",
    (553, 573): "b",
    (555, 573): "dpqþ",
    (560, 636): "¶",
    (562, 594): "µ",
    (566, 596): "P",
    (569, 613): "R",
    (571, 582): "CÇ",
    (576, 632): "ß",
    (579, 614): "K",
    (583, 617): "Þ",
    (588, 605): "B",
    (609, 667): "&",
    (615, 635): "D",
    (617, 638): "G",
    (619, 617): "\u2191\u2193",
    (637, 682): "\u2122",
    (639, 657): "Ð",
    (645, 665): "UÙÚÛÜ",
    (647, 665): "NÑ",
    (652, 674): "H",
    (664, 684): "OQÒÓÔÕÖØ",
    (719, 776): "w",
    (727, 762): "M",
    (744, 750): "©",
    (778, 781): "æ",
    (781, 809): "¼",
    (786, 813): "W",
    (796, 818): "¾",
    (800, 800): "\u2014",
    (808, 846): "½",
    (822, 845): "Æ",
    (824, 857): "%",
    (829, 857): "m",
    (839, 822): "œ",
    (847, 871): "Œ",
    (847, 902): "@",
    (948, 978): "\u2026",
}
"""(Advance at 400, at 700) -> the letters that have both."""


NORMAL, BOLD = 0, 1
"""Weights: 400, and 600 or more."""

_ADVANCES = tuple(
    {letter: advances[weight] / UNITS for advances, letters in LETTERS.items() for letter in letters}
    for weight in (NORMAL, BOLD)
)
_WIDE, _USUAL = 1.0, 0.56
"""Ems of an ideograph, and of a letter of another script than Latin, Greek or Cyrillic too."""
_NO_WIDTH = ("Mn", "Me", "Cf")
"""Categories of characters that take no room: marks that stand on others, and format characters."""


@lru_cache(maxsize=4096)
def width(text: str, size: float, weight: int = NORMAL) -> float:
    """Return the width of a text in pixels.

    The widths of other scripts than Latin are estimates. Texts are anchored at their middle where that matters, so that
    an error moves white space only.

    Args:
        text: one line.
        size: of the type, in pixels.
        weight: NORMAL or BOLD.
    """
    return size * sum(_ems(letter, weight) for letter in text)


def shortened(text: str, room: float, size: float, weight: int = NORMAL) -> str:
    """Return the text, or as much of its beginning as fits into so many pixels, with an ellipsis."""
    if width(text, size, weight) <= room:
        return text
    left = room - width("…", size, weight)
    kept = 0
    for letter in text:
        left -= size * _ems(letter, weight)
        if left < 0:
            break
        kept += 1
    return text[:kept] + "…"


@lru_cache(maxsize=8192)
def _ems(letter: str, weight: int) -> float:
    known = _ADVANCES[weight].get(letter)
    if known is not None:
        return known
    if unicodedata.category(letter) in _NO_WIDTH:
        return 0.0
    return _WIDE if unicodedata.east_asian_width(letter) in "WF" else _USUAL


LINE_WIDTH = 880.0
"""Width in pixels at which a sentence is wrapped."""
_LAST_QUARTER = 0.75


class HasWidth(Protocol):
    """A line that has been placed."""

    @property
    def width(self) -> float:
        """Its width in pixels."""


L = TypeVar("L", bound=HasWidth)


def wrapped_lines(
    passing: Sequence[int],
    most: Callable[[int], int],
    place: Callable[[int, int], L],
    reach: Callable[[L, int, int], float],
) -> Iterator[L]:
    """Yield the lines of a sentence.

    Args:
        passing: how many arcs or constituents pass before each word, and after the last.
        most: where a line that begins with a word ends if nothing but words needs room.
        place: returns the line of the words from one to another, without the last.
        reach: of a line, its first word and one before which it may end: how far its words up to there reach.
    """
    start, total = 0, len(passing) - 1
    while start < total:
        stop = most(start)
        line = place(start, stop)
        while line.width > LINE_WIDTH and stop - start > 1:
            fewer = start - int(-(stop - start) * LINE_WIDTH // line.width)
            stop = max(start + 1, min(stop - 1, fewer))
            line = place(start, stop)
        better = stop
        for word in reversed(range(start + 1, stop)) if stop < total else ():
            if reach(line, start, word) < _LAST_QUARTER * LINE_WIDTH:
                break
            if passing[word] < passing[better]:
                better = word
        # What is cut leaves to the edge, which may take more room than before.
        shorter = line if better == stop else place(start, better)
        if shorter.width <= LINE_WIDTH:
            line, stop = shorter, better
        yield line
        start = stop


FONT = "'Source Sans 3', 'Noto Sans', sans-serif"

PAPER = "#ffffff"
INK = "#1c2024"
SOFT = "#5b6570"
LINE_COLOUR = "#e4e7ea"
RULE = "#7d8791"
CLUSTER = "#b9c1c9"
GOLD = "#1d5fae"
WRONG_COLOUR = "#b23c00"
AGREED_COLOUR = "#77818b"
DASH = "5 3.5"
"""The pattern of a line that is wrong in its label only."""

START, MIDDLE, END = "start", "middle", "end"

Attribute = str | float | int | None
escape = partial(html.escape, quote=False)


class Elements:
    """Elements in the order in which they are drawn: those of a picture, or of a mark beside words."""

    def __init__(self) -> None:
        self._elements: list[str] = []

    def add(self, tag: str, **attributes: Attribute) -> None:
        """Add an element without text. `class_` is written as `class`, underscores as hyphens; None is left out.

        `tip` is not an attribute: it is what a pointer on the element shows.
        """
        tip = attributes.pop("tip", None)
        head = f"<{tag}{_written(attributes)}"
        self._elements.append(f"{head}/>" if tip is None else f"{head}>{_title_element(str(tip))}</{tag}>")

    def path(self, d: str, **attributes: Attribute) -> None:
        """Add a line that is not filled unless `fill` is given."""
        self._elements.append(f'<path d="{d}"{_look(tuple({"fill": "none", **attributes}.items()))}/>')

    def text(self, x: float, y: float, words: str, *, size: float = 13, **attributes: Attribute) -> None:
        """Add a text. Characters that control the direction or have no form are shown as they are in other exports.

        `tip` is not an attribute: it is what a pointer on the text shows, as the whole of a shortened one.
        """
        tip = attributes.pop("tip", None)
        look = _look(tuple({"font_size": size, "fill": INK, **attributes}.items()))
        titled = "" if tip is None else _title_element(str(tip))
        self._elements.append(f'<text x="{number(x)}" y="{number(y)}"{look}>{titled}{escape(one_line(words))}</text>')

    def texts(self, placed: Iterable[tuple[float, float, str]], **attributes: Attribute) -> None:
        """Add texts that look alike, each given by its place and its words: one group, which takes fewer bytes."""
        written = [
            f'<text x="{number(x)}" y="{number(y)}">{escape(one_line(words))}</text>' for x, y, words in placed
        ]  # fmt: skip
        if written:
            self._elements.append(f"<g{_written({'fill': INK, **attributes})}>{''.join(written)}</g>")

    def cells(
        self, corners: Iterable[tuple[float, float]], width: float, height: float, **attributes: Attribute
    ) -> None:
        """Add rectangles of one size and look, each given by its upper left corner."""
        wide, high = number(width), number(height)
        d = "".join(f"M{number(x)} {number(y)}h{wide}v{high}h-{wide}z" for x, y in corners)
        if d:
            self.add("path", d=d, **attributes)

    def beside_words(self, width: float, height: float, class_: str) -> str:
        """Return an SVG element that screen readers pass over, because words beside it say the same."""
        head = _written(
            {
                "class_": class_, "viewBox": f"0 0 {number(width)} {number(height)}", "width": width,
                "height": height, "aria_hidden": "true",
            }
        )  # fmt: skip
        return f"<svg{head}>{''.join(self._elements)}</svg>"


class Drawing(Elements):
    """One picture, under a title and a description.

    Args:
        name: of the picture, for its ids: letters, digits and hyphens; several pictures of a page have different ones.
        title: what the picture shows, in a few words.
        described: the same facts in sentences, for readers who cannot see it.
    """

    def __init__(self, name: str, title: str, described: str) -> None:
        super().__init__()
        self._name = name
        self._head = (title, described)
        self._hatched = False

    def hatch(self) -> str:
        """Return the `fill` of hatched areas, for readers who tell no colours apart."""
        self._hatched = True
        return f"url(#{self._name}-hatch)"

    def svg(self, width: float, height: float, *, class_: str = "drawing") -> str:
        """Return the picture of this size in pixels; equal drawings give equal bytes."""
        title, described = (f"{self._name}-{end}" for end in ("title", "desc"))
        head = _written(
            {
                "xmlns": "http://www.w3.org/2000/svg", "class_": class_, "role": "img",
                "aria_labelledby": f"{title} {described}", "viewBox": f"0 0 {number(width)} {number(height)}",
                "width": width, "height": height, "font_family": FONT,
            }
        )  # fmt: skip
        return "".join(
            (
                f"<svg{head}>",
                f'<title id="{title}">{escape(one_line(self._head[0]))}</title>',
                f'<desc id="{described}">{escape(one_line(self._head[1]))}</desc>',
                self._definitions(),
                *self._elements,
                "</svg>",
            )
        )

    def _definitions(self) -> str:
        if not self._hatched:
            return ""
        head = _written({"id": f"{self._name}-hatch", "patternUnits": "userSpaceOnUse", "width": 5, "height": 5})
        line = _written({"d": "M-1 1L1 -1M0 5L5 0M4 6L6 4", "class_": "hatch", "stroke": RULE, "stroke_width": 0.8})
        return f"<defs><pattern{head}><path{line}/></pattern></defs>"


_SIZE = re.compile(r' width="([0-9.]+)" height="([0-9.]+)"')


def stacked(title: str, pictures: Sequence[str]) -> str:
    """Return pictures one below the other as one of this title; a single one as it is."""
    if len(pictures) == 1:
        return pictures[0]
    placed, widest, bottom = [], 0.0, 0.0
    for picture in pictures:
        found = _SIZE.search(picture)
        assert found is not None  # noqa: S101 - every drawing has its size
        placed.append(picture.replace("<svg", f'<svg y="{number(bottom)}"', 1))
        widest, bottom = max(widest, float(found[1])), bottom + float(found[2])
    head = _written({"viewBox": f"0 0 {number(widest)} {number(bottom)}", "width": widest, "height": bottom})
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="group"{head}>{_title_element(title)}{"".join(placed)}</svg>'


def _title_element(words: str) -> str:
    return f"<title>{escape(one_line(words))}</title>"


def number(value: float) -> str:
    """Write a coordinate with at most one decimal."""
    text = f"{value:.1f}"
    text = text.removesuffix(".0")
    return "0" if text == "-0" else text


@lru_cache(maxsize=1024)
def _look(attributes: tuple[tuple[str, Attribute], ...]) -> str:
    """Return attributes that many elements share, written once."""
    return _written(dict(attributes))


def _written(attributes: dict[str, Attribute]) -> str:
    shown = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items() if value is not None}
    return "".join([f" {name}={_value(value)}" for name, value in shown.items()])


def _value(value: str | float) -> str:
    written = escape(value).replace('"', "&quot;") if isinstance(value, str) else number(value)
    return f'"{written}"'


MARGIN = 24
"""Pixels left free around a picture."""
SLACK = 1.12
"""Room that is kept for a text in a column, of its width: other fonts that stand in for Source Sans are wider."""
_LINE_SLACK = 1.28
"""The same for lines of paragraphs, which have no gap beside them: DejaVu Sans is wider by a quarter."""
TITLE_SIZE = 17
SMALL = 13


def room_of(texts: Iterable[str], size: float = SMALL, weight: int = NORMAL, *, most: float = 240) -> float:
    """Return the width of a column of texts, each on one line, and never more than the most."""
    return min(most, max((SLACK * width(one_line(text), size, weight) for text in texts), default=0.0))


class Look(NamedTuple):
    """How a text is drawn.

    Attributes:
        size: of the type.
        weight: NORMAL or BOLD.
        anchor: which end stands at x.
        tone: INK, SOFT, or WRONG for what is missing.
        italic: whether it is slanted.
        turned: whether it reads from the bottom to the top.
    """

    size: float = SMALL
    weight: int = NORMAL
    anchor: str = START
    tone: str = INK
    italic: bool = False
    turned: bool = False


PLAIN = Look()
_CLASSES = {INK: "lab", SOFT: "soft", WRONG_COLOUR: "bad"}


def put(drawing: Drawing, x: float, y: float, words: str, look: Look = PLAIN, room: float | None = None) -> None:
    """Draw a text at a place on its base line.

    Args:
        drawing: to which it is added.
        x: of the end that its look names.
        y: of its base line.
        words: one line.
        look: of the text.
        room: pixels that it has; a text that is wider is shortened, and shows the whole where a pointer rests on it.
    """
    whole = one_line(words)
    shown = whole if room is None else shortened(whole, room / SLACK + 0.01, look.size, look.weight)
    drawing.text(
        x, y, shown, size=look.size, tip=whole if shown != whole else None, class_=_CLASSES[look.tone],
        fill=look.tone, text_anchor=None if look.anchor == START else look.anchor,
        font_weight="600" if look.weight == BOLD else None, font_style="italic" if look.italic else None,
        transform=f"rotate(-90 {number(x)} {number(y)})" if look.turned else None,
    )  # fmt: skip


def paragraph(drawing: Drawing, y: float, words: str, room: float) -> float:
    """Draw a text in lines of this width below y, and return where the last one ends."""
    for line in wrapped_words(one_line(words), room / _LINE_SLACK, SMALL):
        y += 1.45 * SMALL
        put(drawing, MARGIN, y, line, Look(tone=SOFT))
    return y


def wrapped_words(words: str, room: float, size: float) -> list[str]:
    """Break a text into lines of this width; a word that is wider is broken too."""
    lines: list[str] = []
    line, used = "", 0.0
    blank = width(" ", size)
    for word in _pieces(words, room, size):
        wide = width(word, size)
        if line and used + blank + wide > room:
            lines.append(line)
            line, used = word, wide
        else:
            used += (blank if line else 0.0) + wide
            line = f"{line} {word}" if line else word
    return [*lines, line] if line else lines


def _pieces(words: str, room: float, size: float) -> Iterable[str]:
    for word in words.split():
        while width(word, size) > room:
            kept = max(1, len(shortened(word, room, size)) - 1)
            yield word[:kept]
            word = word[kept:]  # noqa: PLW2901 - what is left of it
        if word:
            yield word


def heading(drawing: Drawing, title: str, below: Iterable[str], room: float, top: float = MARGIN) -> float:
    """Draw the title of a picture and what is said under it, and return where it ends."""
    y = top + TITLE_SIZE * 0.8
    put(drawing, MARGIN, y, title, Look(size=TITLE_SIZE, weight=BOLD), room)
    for words in below:
        y = paragraph(drawing, y + 2, words, room)
    return y


ShadeBy = Literal["gap", "score"]
BY_GAP: ShadeBy = "gap"
BY_SCORE: ShadeBy = "score"

GAP_STEPS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Points below the best of a row from which on a step begins; the first step is the best itself."""
SCORE_STEPS = (20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0)
"""Points from which on a step begins; the first step is below all."""
P_STEPS = (1e-4, 1e-3, 1e-2, 5e-2)
"""Largest p of each step; p above them all has no shade."""

SHADES: Mapping[str, str] = {
    "d0": "#fbfcfd", "d1": "#f1f6fa", "d2": "#e6eff8", "d3": "#dae8f6", "d4": "#cde0f3", "d5": "#b6d2ee",
    "d6": "#9cc3ea", "a0": "#fbfcfd", "a1": "#f1f6fa", "a2": "#e6eff8", "a3": "#dae8f6", "a4": "#cde0f3",
    "a5": "#bed7f0", "a6": "#aecdec", "a7": "#9cc3ea", "a8": "#88b6e4",
}  # fmt: skip
"""Class -> fill on light paper."""


def shade_of(value: float, best: float, by: ShadeBy = BY_GAP) -> str:
    """Return the class of a cell.

    Args:
        value: of the cell, in points: a share times 100.
        best: of its row.
        by: GAP for the distance from the best, SCORE for the value itself.
    """
    if by == BY_SCORE:
        return f"a{sum(round(value, 9) >= step for step in SCORE_STEPS)}"
    gap = round(abs(best - value), 9)
    return "d0" if gap == 0 else f"d{sum(gap >= step for step in GAP_STEPS)}"


def p_shade(step: int) -> str:
    """Return the class of a step of P_STEPS: the smaller p, the darker."""
    return f"d{6 - step}"


def shade_of_p(p: float | None) -> str | None:
    """Return the class of a cell by its p; None where it has no shade."""
    return None if p is None else next((p_shade(step) for step, most in enumerate(P_STEPS) if p <= most), None)


MISSING = "–"
MINUS = "−"


def stepped(figures: Figures, step: float | None) -> Figures:
    """Return figures with as many decimals as the step has to which scores are rounded, if any."""
    if step is None:
        return figures
    exponent = (Decimal(str(step)) * Decimal(str(figures.factor))).normalize().as_tuple().exponent
    return replace(figures, decimals=max(0, -exponent) if isinstance(exponent, int) else figures.decimals)


def value_words(value: float | None, figures: Figures) -> str:
    """Return a score; a dash where there is none."""
    return MISSING if value is None else figures.value(value).replace("-", MINUS)


def signed_words(value: float, figures: Figures) -> str:
    """Return a difference with its sign."""
    return figures.signed(value).replace("-", MINUS)


def interval_words(low: float | None, high: float | None, figures: Figures, *, signed: bool = False) -> str:
    """Return the interval of a score (72.47–72.74), or of a difference (−0.27 to −0.09); empty where there is none.

    A bound of a difference beside 0 is the nearest figure on its side: the interval leaves out 0 in print too.
    """
    if low is None and high is None:
        return ""
    low, high = ends(low, high)
    if signed:
        least = 10.0**-figures.decimals / figures.factor
        low, high = (math.copysign(max(abs(each), least), each) if each else each for each in (low, high))
    if signed or low < 0:
        write = signed_words if signed else value_words
        return f"{write(low, figures.of_bound(low))} to {write(high, figures.of_bound(high))}"
    return f"{value_words(low, figures.of_bound(low))}–{value_words(high, figures.of_bound(high))}"


def ranks_words(ranks: Sequence[int] | None) -> str:
    """Return the ranks that the tests leave open: `3`, `1–2`; empty where they are not known."""
    return "" if not ranks else "–".join(map(str, dict.fromkeys(ranks)))
