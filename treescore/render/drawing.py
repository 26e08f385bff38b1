"""Write SVG as strings: the palette, the elements, and the head that names and describes a picture.

Presentation attributes hold the light palette and classes name what is drawn, so that a page's own sheet overrules the
colours (dark mode, print) while the same bytes are an export that stands alone. Neither `<style>` nor `style=` is used,
which a strict Content-Security-Policy would block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from xml.sax.saxutils import escape, quoteattr

from treescore.core.one_line import clean

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
_PLAIN = re.compile(r"[^&<>\"\n\r\t]*")
"""Values that stand in an attribute as they are, as nearly all do."""


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
        self._elements.append(f'<text x="{number(x)}" y="{number(y)}"{look}>{titled}{escape(clean(words))}</text>')

    def texts(self, placed: Iterable[tuple[float, float, str]], **attributes: Attribute) -> None:
        """Add texts that look alike, each given by its place and its words: one group, which takes fewer bytes."""
        written = [
            f'<text x="{number(x)}" y="{number(y)}">{escape(clean(words))}</text>' for x, y, words in placed
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
                f'<title id="{title}">{escape(clean(self._head[0]))}</title>',
                f'<desc id="{described}">{escape(clean(self._head[1]))}</desc>',
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


def _title_element(words: str) -> str:
    return f"<title>{escape(clean(words))}</title>"


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
    return "".join([f" {_key(name)}={_value(value)}" for name, value in attributes.items() if value is not None])


@lru_cache(maxsize=256)
def _key(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    if not isinstance(value, str):
        return f'"{number(value)}"'
    return f'"{value}"' if _PLAIN.fullmatch(value) else quoteattr(value)
