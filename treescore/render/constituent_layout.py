"""Place the words and constituents of a sentence, from left to right; pictures of other scripts mirror the columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from treescore.render.letters import BOLD, width
from treescore.render.sentence_shapes import CROSSING, Span
from treescore.render.sentence_text import form_width, shown_label

LABEL_SIZE = 13.5
EDGE = 8.0
MOST_LEVELS = 60
"""Levels of constituents that are drawn, from the words on; the picture says if there are more."""
CROSS = "\u00d7"
"""Behind the label of a constituent that crosses one of gold."""
_GAP = 16.0
_AIR = 6.0
"""Between a label and another label or a line."""


@dataclass(slots=True, eq=False)
class Node:
    """A constituent in its tree.

    Attributes:
        span: the constituent, as far as its words are drawn.
        label: as it is drawn.
        children: constituents and words directly below it, in order; a word is its index.
        height: 1 + that of its highest child.
        x: its middle, once it is placed.
    """

    span: Span
    label: str
    children: list[Node | int] = field(default_factory=list)
    height: int = 1
    x: float = 0.0

    @property
    def half(self) -> float:
        """Half the width of its label."""
        return width(self.label, LABEL_SIZE, BOLD) / 2


@dataclass(frozen=True, slots=True)
class Tree:
    """The drawn constituents of one side, lower ones first.

    Attributes:
        nodes: those that are drawn.
        height: that of the highest one; it may be above what is drawn.
        empty: how many have no words and are not drawn.
    """

    nodes: tuple[Node, ...]
    height: int
    empty: int


def tree_of(spans: Sequence[Span], words: int) -> Tree:
    """Return the tree of one side.

    Args:
        spans: its constituents, outer ones before inner ones; what is beyond the words is left out.
        words: number of words that are drawn.
    """
    kept = [span for span in spans if 0 <= span.start < min(span.end, words)]
    ordered = sorted(kept, key=lambda span: (span.start, -span.end))
    nodes = [Node(_within(span, words), _label(span)) for span in ordered]
    _nest(nodes)
    for node in reversed(nodes):
        node.height = 1 + max((child.height for child in node.children if isinstance(child, Node)), default=0)
    drawn = [node for node in nodes if node.height <= MOST_LEVELS]
    return Tree(
        tuple(sorted(drawn, key=lambda node: (node.height, node.span.start))),
        max((node.height for node in nodes), default=0),
        sum(span.start >= span.end for span in spans),
    )


def place(trees: Sequence[Tree], forms: Sequence[str]) -> tuple[float, list[float]]:
    """Place the constituents, with the words so far apart that no label touches another one or a line.

    Args:
        trees: those of both sides; their nodes get their places.
        forms: words as they are drawn.

    Returns:
        The width of the picture, and the middle of each word.
    """
    gaps = [0.0] * len(forms)
    xs = _words(forms, gaps)
    for tree in trees:
        _place_nodes(tree, xs)
        for word, lacking in _too_near(tree, xs):
            gaps[word] = max(gaps[word], lacking)
    xs = _words(forms, gaps)
    for tree in trees:
        _place_nodes(tree, xs)
    nodes = [node for tree in trees for node in tree.nodes]
    shift = max([0.0, *(EDGE + node.half - node.x for node in nodes)])
    for node in nodes:
        node.x += shift
    xs = [x + shift for x in xs]
    last = xs[-1] + form_width(forms[-1]) / 2 if forms else 0.0
    return max([last, *(node.x + node.half for node in nodes)]) + EDGE, xs


def place_of(child: Node | int, xs: Sequence[float]) -> float:
    """Return the middle of a constituent or of a word."""
    return child.x if isinstance(child, Node) else xs[child]


def _label(span: Span) -> str:
    return shown_label(span.label) + (f" {CROSS}" if span.mark == CROSSING else "")


def _within(span: Span, words: int) -> Span:
    return span if span.end <= words else Span(span.label, span.start, words, span.mark)


def _nest(nodes: Sequence[Node]) -> None:
    """Give each constituent its children; `nodes` are in pre-order."""
    around: list[Node] = []
    covered = 0
    for node in nodes:
        while around and around[-1].span.end < node.span.end:
            covered = _finish(around.pop(), covered)
        if around:
            around[-1].children += range(covered, node.span.start)
            around[-1].children.append(node)
        around.append(node)
        covered = max(covered, node.span.start)
    while around:
        covered = _finish(around.pop(), covered)


def _finish(node: Node, covered: int) -> int:
    """Add the words that are left of a constituent; return up to where words have their place."""
    node.children += range(max(covered, node.span.start), node.span.end)
    return max(covered, node.span.end)


def _words(forms: Sequence[str], gaps: Sequence[float]) -> list[float]:
    xs, right = [], EDGE - _GAP
    for form, gap in zip(forms, gaps, strict=True):
        wide = form_width(form)
        xs.append(right + _GAP + gap + wide / 2)
        right += _GAP + gap + wide
    return xs


def _place_nodes(tree: Tree, xs: Sequence[float]) -> None:
    for node in tree.nodes:
        ends = node.children or [node.span.start]
        node.x = (place_of(ends[0], xs) + place_of(ends[-1], xs)) / 2


def _too_near(tree: Tree, xs: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Yield the words that must move to the right with all that follows, and by how much.

    What has a level of the tree to itself is a label or a line that leads down past it. Neighbours of a level have
    different words, so moving the words of the right one moves all of it, and brings nothing nearer to anything.
    """
    levels: list[list[tuple[int, float, float]]] = [[] for _ in range(MOST_LEVELS + 1)]
    for node in tree.nodes:
        levels[node.height].append((node.span.start, node.x, node.half))
        for child in node.children:
            low, start = (child.height, child.span.start) if isinstance(child, Node) else (0, child)
            for level in levels[low + 1 : node.height]:
                level.append((start, place_of(child, xs), 0.0))
    for level in levels:
        for (_, left, half), (start, right, other) in pairwise(sorted(level)):
            lacking = left + half + _AIR + other - right
            if lacking > 0:
                yield start, lacking
