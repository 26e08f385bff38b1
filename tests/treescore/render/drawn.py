"""Read pictures back: what is where, in pixels."""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.etree import ElementTree as ET

from treescore.render.drawing import BOLD, width

_SVG = "{http://www.w3.org/2000/svg}"
_PATH = re.compile(r"([MLHVQhz])([^MLHVQhz]*)")


class Box(NamedTuple):
    """What an element covers."""

    left: float
    top: float
    right: float
    bottom: float

    def within(self, other: Box, slack: float = 0.2) -> bool:
        return (
            self.left >= other.left - slack
            and self.top >= other.top - slack
            and self.right <= other.right + slack
            and self.bottom <= other.bottom + slack
        )

    def overlaps(self, other: Box, slack: float = 0.2) -> bool:
        return (
            self.left < other.right - slack
            and other.left < self.right - slack
            and self.top < other.bottom - slack
            and other.top < self.bottom - slack
        )


class Text(NamedTuple):
    """A text of a picture."""

    kind: str
    words: str
    box: Box


class Drawn:
    """A picture that was read."""

    def __init__(self, svg: str) -> None:
        self.svg = svg
        self.root = ET.fromstring(svg)  # noqa: S314 - our own
        self.frame = Box(0, 0, float(self.root.get("width")), float(self.root.get("height")))
        self.title = self.root.findtext(f"{_SVG}title")
        self.described = self.root.findtext(f"{_SVG}desc")
        self.texts = [_text(element) for element in self.root.iter(f"{_SVG}text")]
        self.paths = [(element.get("class"), path_box(element.get("d"))) for element in self.root.iter(f"{_SVG}path")]

    def of(self, kind: str) -> list[Text]:
        return [text for text in self.texts if text.kind.split()[0] == kind]


def check_sound(svg: str) -> Drawn:
    """Check what holds of every picture, and return it."""
    drawn = Drawn(svg)
    assert not any(element.tag.endswith("style") or element.get("style") for element in drawn.root.iter())
    assert drawn.root.get("viewBox") == f"0 0 {drawn.root.get('width')} {drawn.root.get('height')}"
    ids = [element.get("id") for element in drawn.root.iter() if element.get("id")]
    assert len(ids) == len(set(ids)) == 2
    assert drawn.title
    assert drawn.described
    for _, box in drawn.paths:
        assert box.within(drawn.frame)
    for text in drawn.texts:
        assert text.box.within(drawn.frame), text
        assert text.words.isprintable()
    forms = drawn.of("form")
    for number, text in enumerate(forms):
        assert not any(text.box.overlaps(other.box) for other in forms[number + 1 :] if other.words and text.words)
    return drawn


def path_box(d: str) -> Box:
    """Return what a path covers."""
    x = y = 0.0
    points = []
    for command, numbers in _PATH.findall(d):
        values = [float(value) for value in re.findall(r"-?[\d.]+", numbers)]
        if command == "H":
            x = values[0]
        elif command == "h":
            x += values[0]
        elif command == "V":
            y = values[0]
        elif command in "ML":
            x, y = values
        elif command == "Q":
            x, y = values[2:]
        points.append((x, y))
    xs, ys = zip(*points, strict=True)
    return Box(min(xs), min(ys), max(xs), max(ys))


def _text(element: ET.Element) -> Text:
    size = float(element.get("font-size"))
    words = element.text or ""
    wide = width(words, size, BOLD if element.get("font-weight") else 0)
    x, y = float(element.get("x")), float(element.get("y"))
    left = x - {"middle": wide / 2, "end": wide}.get(element.get("text-anchor"), 0.0)
    return Text(element.get("class", ""), words, Box(left, y - 0.75 * size, left + wide, y + 0.1 * size))
