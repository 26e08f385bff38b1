"""Write SVG as strings: the palette, the elements, and the head that names and describes a picture.

Presentation attributes hold the light palette and classes name what is drawn, so that a page's own sheet overrules the
colours (dark mode, print) while the same bytes are an export that stands alone. It has neither `<style>` nor `style=`,
which a strict Content-Security-Policy would block.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from treescore.core.one_line import clean

FONT = "'Source Sans 3', 'Noto Sans', sans-serif"

PAPER = "#ffffff"
INK = "#1c2024"
SOFT = "#5b6570"
LINE = "#e4e7ea"
RULE = "#7d8791"
CLUSTER = "#b9c1c9"
GOLD = "#1d5fae"
WRONG = "#b23c00"
AGREED = "#77818b"
DASH = "5 3.5"
"""The pattern of a line that is wrong in its label only."""

START, MIDDLE, END = "start", "middle", "end"

Attribute = str | float | int | None


class Drawing:
    """One picture: elements in the order in which they are drawn, under a title and a description.

    Args:
        name: of the picture, for its ids: letters, digits and hyphens; several pictures of a page have different ones.
        title: what the picture shows, in a few words.
        described: the same facts in sentences, for readers who cannot see it.
    """

    def __init__(self, name: str, title: str, described: str) -> None:
        self._name = name
        self._head = (title, described)
        self._elements: list[str] = []

    def add(self, tag: str, **attributes: Attribute) -> None:
        """Add an element without text. `class_` is written as `class`, underscores as hyphens; None is left out."""
        self._elements.append(f"<{tag}{_written(attributes)}/>")

    def path(self, d: str, **attributes: Attribute) -> None:
        """Add a line that is not filled unless `fill` is given."""
        self.add("path", d=d, **{"fill": "none", **attributes})

    def text(self, x: float, y: float, words: str, *, size: float = 13, **attributes: Attribute) -> None:
        """Add a text. Characters that control the direction or have no form are shown as they are in other exports."""
        head = _written({"x": x, "y": y, "font_size": size, "fill": INK, **attributes})
        self._elements.append(f"<text{head}>{escape(clean(words))}</text>")

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
                *self._elements,
                "</svg>",
            )
        )


def number(value: float) -> str:
    """Write a coordinate with at most one decimal."""
    text = f"{value:.1f}"
    text = text.removesuffix(".0")
    return "0" if text == "-0" else text


def _written(attributes: dict[str, Attribute]) -> str:
    return "".join(_attributes(attributes))


def _attributes(attributes: dict[str, Attribute]) -> Iterator[str]:
    for name, value in attributes.items():
        if value is None:
            continue
        shown = value if isinstance(value, str) else number(value)
        key = name.rstrip("_")
        yield f" {key if key == 'viewBox' else key.replace('_', '-')}={quoteattr(shown)}"
