"""Place the words and constituents of a sentence in lines, from left to right; other scripts mirror the columns.

Constituents that have gaps, whose branches cross, are placed by themselves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, pairwise
from typing import ClassVar, NamedTuple, Union

import numpy as np

from treescore.core.structure import heights_of_spans
from treescore.render.drawing import BOLD, LINE_WIDTH, width, wrapped_lines
from treescore.render.sentence_shapes import CROSSING, EDGE, Branch, Constituents, Span, form_width, shown_label

NODE_LABEL_SIZE = 13.5
MOST_LEVELS = 60
"""Levels of constituents that are drawn, from the words on; the picture says if there are more."""
CROSS = "\u00d7"
"""Behind the label of a constituent that crosses one of gold."""
CONTINUED = "\u2026"
"""Before the label of a constituent that began in an earlier line."""
_TREE_WORD_GAP = 16.0
NODE_AIR = 6.0
"""Between a label and another label or a line."""


@dataclass(slots=True, eq=False)
class Node:
    """A constituent in its tree, or the part of it that a line shows.

    Attributes:
        span: the constituent, as far as its words are drawn; in a line, its words are those of the line.
        label: as it is drawn.
        before: it began in an earlier line.
        after: it continues in the next line.
        children: constituents and words directly below it, in order; a word is its index.
        height: 1 + that of its highest child.
        x: its middle, once it is placed.
    """

    span: Span
    label: str
    before: bool = False
    after: bool = False
    children: list[Node | int] = field(default_factory=list)
    height: int = 1
    x: float = 0.0

    @property
    def half(self) -> float:
        """Half the width of its label."""
        return width(self.label, NODE_LABEL_SIZE, BOLD) / 2


@dataclass(frozen=True, slots=True)
class Tree:
    """The drawn constituents of one side.

    Attributes:
        nodes: those that are drawn, outer ones before inner ones.
        rounds: how often words are moved apart: once suffices where constituents have no gaps.
        crossing: whether lines of it may cross.
    """

    nodes: tuple[Node, ...]
    rounds: ClassVar[int] = 1
    crossing: ClassVar[bool] = False

    def part(self, start: int, stop: int) -> tuple[Node, ...]:
        """Return what a line of words shows, lower ones first.

        Of those that began in earlier lines and have but one other such below them, nothing is shown unless they
        are below one that is: a long chain of them would say only that the sentence continues.
        """
        nodes = [
            _cut_node(node, start, stop) for node in self.nodes if node.span.start < stop and node.span.end > start
        ]
        _nest(nodes)
        first = 0
        while first < len(nodes) and _only_continues(nodes[first]):
            first += 1
        return tuple(sorted(nodes[first:], key=lambda node: (node.height, node.span.start)))

    def placed(self, nodes: Sequence[Node], xs: Sequence[float]) -> Iterator[tuple[int, float]]:
        """Place constituents, lower ones first; yield words that must move to the right, and by how much."""
        for node in nodes:
            ends = node.children or [node.span.start]
            node.x = (place_of(ends[0], xs) + place_of(ends[-1], xs)) / 2
        yield from _too_near(nodes, xs)


AnyTree = Union["Tree", "BranchTree"]
"""The drawn constituents of one side, without gaps or with."""


class ConstituentLine(NamedTuple):
    """A line of the picture.

    Attributes:
        width: in pixels.
        start: index of its first word.
        xs: the middle of each of its words.
        sides: the constituents of each side, lower ones first.
    """

    width: float
    start: int
    xs: tuple[float, ...]
    sides: tuple[tuple[Node, ...], ...]


class Part(NamedTuple):
    """What may be drawn of one side.

    Attributes:
        kept: the numbers of constituents of the lowest levels that have words that are drawn.
        height: of the highest one with such words.
        empty: how many have no words at all.
    """

    kept: Sequence[int]
    height: int
    empty: int


def part_of(constituents: Constituents, words: int) -> Part:
    """Find what may be drawn of one side, before anything is made of it: a word may stand in 40,000 brackets."""
    branches = [each for each in constituents if isinstance(each, Branch)]
    if branches:
        filled = [any(word < words for word in each.words) for each in branches]
        some, heights = [bool(each.words) for each in branches], [1] * len(branches)
        for number, parent in _upwards(branches):
            filled[parent] |= filled[number]
            some[parent] |= some[number]
            if filled[number]:
                heights[parent] = max(heights[parent], heights[number] + 1)
        drawn = [number for number, has in enumerate(filled) if has]
        kept = [number for number in drawn if heights[number] <= MOST_LEVELS]
        return Part(kept, max((heights[number] for number in drawn), default=0), some.count(False))
    spans = [each for each in constituents if isinstance(each, Span)]
    return part_of_spans([span.start for span in spans], [span.end for span in spans], words)


def part_of_spans(starts: Sequence[int], ends: Sequence[int], words: int) -> Part:
    """Find what may be drawn of constituents without gaps."""
    begins, stops = np.array(starts, np.int64), np.array(ends, np.int64)
    inside = np.flatnonzero((begins >= 0) & (begins < np.minimum(stops, words)))
    order = inside[np.lexsort((-stops[inside], begins[inside]))]
    heights = heights_of_spans(begins[order], stops[order])
    kept = order[heights <= MOST_LEVELS].tolist()
    return Part(kept, int(heights.max(initial=0)), int(np.count_nonzero(begins >= stops)))


def _upwards(branches: Sequence[Branch]) -> Iterator[tuple[int, int]]:
    """Yield the numbers of each constituent that is below another one and of that one, lower ones first."""
    for number in reversed(range(len(branches))):
        parent = branches[number].parent
        if parent is not None:
            yield number, parent


def chosen(constituents: Constituents, numbers: Sequence[int], words: int) -> Constituents:
    """Return constituents of one side by their numbers, over the first words alone."""
    places = {number: place for place, number in enumerate(numbers)}
    taken = [constituents[number] for number in numbers]
    branches = [
        replace(
            each,
            parent=None if each.parent is None else places.get(each.parent),
            words=tuple(word for word in each.words if word < words),
        )
        for each in taken
        if isinstance(each, Branch)
    ]
    return tuple(branches) if branches else tuple(each for each in taken if isinstance(each, Span))


def tree_of(spans: Sequence[Span], words: int) -> Tree:
    """Return the tree of one side.

    Args:
        spans: its constituents, outer ones before inner ones; what is beyond the words is left out.
        words: number of words that are drawn.
    """
    kept = [span for span in spans if 0 <= span.start < min(span.end, words)]
    ordered = sorted(kept, key=lambda span: (span.start, -span.end))
    nodes = [
        Node(_within(span, 0, words), shown_label(span.label) + (f" {CROSS}" if span.mark == CROSSING else ""))
        for span in ordered
    ]
    _nest(nodes)
    return Tree(tuple(node for node in nodes if node.height <= MOST_LEVELS))


def constituent_lines(trees: Sequence[AnyTree], forms: Sequence[str]) -> Iterator[ConstituentLine]:
    """Return the lines of a sentence.

    Args:
        trees: those of both sides.
        forms: words as they are drawn.
    """
    change = [0] * (len(forms) + 1)
    for node in (node for tree in trees for node in tree.nodes):
        change[node.span.start + 1] += 1
        change[node.span.end] -= 1
    passing = list(accumulate(change))
    last_word, line = partial(_last_word, forms), partial(_constituent_line, trees, forms)
    return wrapped_lines(passing, last_word, line, lambda placed, start, stop: placed.xs[stop - start - 1])


def _constituent_line(trees: Sequence[AnyTree], forms: Sequence[str], start: int, stop: int) -> ConstituentLine:
    sides = tuple(tree.part(start, stop) for tree in trees)
    wide, xs = _place_constituents(trees, sides, forms[start:stop])
    return ConstituentLine(wide, start, tuple(xs), sides)


def _last_word(forms: Sequence[str], start: int) -> int:
    """Return where a line ends if no constituent needs room."""
    used, stop = 2 * EDGE - _TREE_WORD_GAP, start
    while stop < len(forms):
        used += form_width(forms[stop]) + _TREE_WORD_GAP
        if used > LINE_WIDTH and stop > start:
            break
        stop += 1
    return stop


def _place_constituents(
    trees: Sequence[AnyTree], sides: Sequence[Sequence[Node]], forms: Sequence[str]
) -> tuple[float, list[float]]:
    """Place the constituents of a line, with the words so far apart that no label touches another one or a line.

    Args:
        trees: of both sides.
        sides: those of both sides, lower ones first; they get their places.
        forms: words of the line, as they are drawn.

    Returns:
        The width of the line, and the middle of each word.
    """
    gaps = [0.0] * len(forms)
    for number in range(max((tree.rounds for tree in trees), default=0)):
        xs = _word_places(forms, gaps)
        more = [0.0] * len(forms)
        for tree, nodes in zip(trees, sides, strict=True):
            for word, lacking in tree.placed(nodes, xs):
                more[word] = max(more[word], lacking)
        if not any(more):
            break
        times = 2 ** max(0, number - _EVEN_ROUNDS + 1)
        gaps = [gap + times * wider for gap, wider in zip(gaps, more, strict=True)]
    xs = _word_places(forms, gaps)
    for tree, nodes in zip(trees, sides, strict=True):
        deque(tree.placed(nodes, xs), maxlen=0)
    every = [node for nodes in sides for node in nodes]
    shift = max([0.0, *(EDGE + node.half - node.x for node in every)])
    for node in every:
        node.x += shift
    xs = [x + shift for x in xs]
    return max([xs[-1] + form_width(forms[-1]) / 2, *(node.x + node.half for node in every)]) + EDGE, xs


def place_of(child: Node | int, xs: Sequence[float]) -> float:
    """Return the middle of a constituent or of a word."""
    return child.x if isinstance(child, Node) else xs[child]


def _within(span: Span, start: int, stop: int) -> Span:
    """Return a constituent as far as it is between two words, counted from the first of them."""
    return Span(span.label, max(span.start, start) - start, min(span.end, stop) - start, span.mark)


def _cut_node(node: Node, start: int, stop: int) -> Node:
    """Return what a line of words shows of a constituent, still without what is below it."""
    before, after = node.span.start < start, node.span.end > stop
    return Node(_within(node.span, start, stop), (CONTINUED if before else "") + node.label, before, after)


def _only_continues(node: Node) -> bool:
    """Tell whether a constituent and the only one below it in this line both began in an earlier line."""
    below = node.children[0]
    return node.before and len(node.children) == 1 and isinstance(below, Node) and below.before


def _nest(nodes: Sequence[Node]) -> None:
    """Give each constituent its children and its height; `nodes` are in pre-order."""
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
    for node in reversed(nodes):
        node.height = 1 + max((child.height for child in node.children if isinstance(child, Node)), default=0)


def _finish(node: Node, covered: int) -> int:
    """Add the words that are left of a constituent; return up to where words have their place."""
    node.children += range(max(covered, node.span.start), node.span.end)
    return max(covered, node.span.end)


def _word_places(forms: Sequence[str], gaps: Sequence[float]) -> list[float]:
    xs, right = [], EDGE - _TREE_WORD_GAP
    for form, gap in zip(forms, gaps, strict=True):
        wide = form_width(form)
        xs.append(right + _TREE_WORD_GAP + gap + wide / 2)
        right += _TREE_WORD_GAP + gap + wide
    return xs


def _too_near(nodes: Sequence[Node], xs: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Yield the words that must move to the right with all that follows, and by how much.

    What has a level of the tree to itself is a label or a line that leads down past it. Neighbours of a level have
    different words, so moving the words of the right one moves all of it, and brings nothing nearer to anything.
    """
    levels: list[list[tuple[int, float, float]]] = [[] for _ in range(MOST_LEVELS + 1)]
    for node in nodes:
        levels[node.height].append((node.span.start, node.x, node.half))
        for child in node.children:
            low, start = (child.height, child.span.start) if isinstance(child, Node) else (0, child)
            for level in levels[low + 1 : node.height]:
                level.append((start, place_of(child, xs), 0.0))
    for level in levels:
        for (_, left, half), (start, right, other) in pairwise(sorted(level)):
            lacking = left + half + NODE_AIR + other - right
            if lacking > 0:
                yield start, lacking


_ROUNDS = 16
"""How often words are moved apart for labels that find no room between lines; the paper around them is left free."""
_EVEN_ROUNDS = 8
"""By what is lacking so often, then by twice that, four times, ...: long labels may move one another on and on."""
_BRANCH_STEP = 8.0
"""By how much more than what is lacking: what is above moves by a part of it only."""


@dataclass(frozen=True, slots=True)
class BranchTree:
    """The drawn constituents of one side, as `constituent_layout.Tree`.

    Attributes:
        nodes: those that are drawn, each before those below it.
        parents: of each drawn node, -1 where none is drawn above it.
        anchors: the node above each word, -1 where none is drawn.
    """

    nodes: tuple[Node, ...]
    parents: tuple[int, ...]
    anchors: tuple[int, ...]
    rounds: ClassVar[int] = _ROUNDS
    crossing: ClassVar[bool] = True

    def part(self, start: int, stop: int) -> tuple[Node, ...]:
        """Return what a line of words shows, lower ones first: the constituents that have words in it."""
        here: dict[int, Node] = {}
        for word in range(start, stop):
            child: Node | int = word - start
            node = self.anchors[word]
            while node >= 0:
                known = node in here
                if not known:
                    here[node] = _cut_node(self.nodes[node], start, stop)
                here[node].children.append(child)
                if known:
                    break
                child, node = here[node], self.parents[node]
        _raise(list(here.values()))
        kept = [node for node in here.values() if node.height <= MOST_LEVELS]
        return tuple(sorted(kept, key=lambda node: (node.height, node.span.start)))

    def placed(self, nodes: Sequence[Node], xs: Sequence[float]) -> Iterator[tuple[int, float]]:
        """Place constituents, lower ones first; yield words that must move to the right, and by how much.

        A label stands as near to the middle of what is below as lines and other labels of its level allow.
        """
        taken: list[list[tuple[float, float]]] = [[] for _ in range(MOST_LEVELS + 2)]
        above = {id(child): node for node in nodes for child in node.children if isinstance(child, Node)}
        for node in nodes:
            for child in node.children:
                if not isinstance(child, Node):
                    _take(taken, 1, node.height, xs[child])
        for node in nodes:
            ends = [place_of(child, xs) for child in node.children]
            left, right = min(ends), max(ends)
            free = [] if left == right else _free(taken[node.height], left, right, node.half)
            middle = (left + right) / 2
            node.x = min(free, key=lambda x: abs(x - middle), default=middle)
            lacking = _lacking(taken[node.height], node)
            if lacking > 0:
                yield next((word for word, x in enumerate(xs) if x > node.x), len(xs) - 1), lacking + _BRANCH_STEP
            taken[node.height].append((node.x, node.half))
            parent = above.get(id(node))
            if parent is not None:
                _take(taken, node.height + 1, parent.height, node.x)


def branches_of(branches: Sequence[Branch], words: int) -> BranchTree:
    """Return the tree of one side.

    Args:
        branches: its constituents, each before those below it.
        words: number of words that are drawn.
    """
    size = len(branches)
    firsts, lasts = [words] * size, [-1] * size
    anchors, heights = [-1] * words, [1] * size
    for number, branch in enumerate(branches):
        for word in branch.words:
            if word < words:
                anchors[word] = number
                firsts[number], lasts[number] = min(firsts[number], word), max(lasts[number], word)
    for number, parent in _upwards(branches):
        if lasts[number] >= 0:
            firsts[parent], lasts[parent] = min(firsts[parent], firsts[number]), max(lasts[parent], lasts[number])
            heights[parent] = max(heights[parent], heights[number] + 1)
    kept = [number for number in range(size) if lasts[number] >= 0 and heights[number] <= MOST_LEVELS]
    places = {number: place for place, number in enumerate(kept)}
    nodes = [
        Node(
            Span(branches[number].label, firsts[number], lasts[number] + 1, branches[number].mark),
            shown_label(branches[number].label),
            height=heights[number],
        )
        for number in kept
    ]
    parents = [branches[number].parent for number in kept]
    above = tuple(-1 if parent is None else places.get(parent, -1) for parent in parents)
    return BranchTree(tuple(nodes), above, tuple(places.get(anchor, -1) for anchor in anchors))


def masks_of(branches: Sequence[Branch], words: int) -> list[int]:
    """Return the words of each constituent as bits of a number, of the first so many words."""
    masks = [sum(1 << word for word in set(branch.words) if word < words) for branch in branches]
    for number, parent in _upwards(branches):
        masks[parent] |= masks[number]
    return masks


def _raise(nodes: Sequence[Node]) -> None:
    """Give each constituent the lowest level above what is below it on which no other one stands over its words."""
    order: list[Node] = []
    below = {id(child) for node in nodes for child in node.children if isinstance(child, Node)}
    waiting = [node for node in nodes if id(node) not in below]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += [child for child in node.children if isinstance(child, Node)]
    for node in reversed(order):
        node.height = 1 + max((child.height for child in node.children if isinstance(child, Node)), default=0)
    taken = [0] * (MOST_LEVELS + 2)
    for node in sorted(order, key=lambda each: each.height):
        node.height = 1 + max((child.height for child in node.children if isinstance(child, Node)), default=0)
        mask = (1 << node.span.end) - (1 << node.span.start)
        while node.height <= MOST_LEVELS and taken[node.height] & mask:
            node.height += 1
        if node.height <= MOST_LEVELS:
            taken[node.height] |= mask


def _take(taken: Sequence[list[tuple[float, float]]], low: int, high: int, x: float) -> None:
    """Note a line that leads past the levels from `low` to below `high`."""
    for level in range(low, min(high, len(taken))):
        taken[level].append((x, 0.0))


def _free(taken: Sequence[tuple[float, float]], left: float, right: float, half: float) -> list[float]:
    """Return places between two others where a label touches nothing: the middle, and those beside what is there."""
    tried = [(left + right) / 2]
    for x, other in taken:
        tried += [x - other - half - NODE_AIR, x + other + half + NODE_AIR]
    return [
        x
        for x in tried
        if left <= x <= right and all(abs(x - at) >= half + other + NODE_AIR - 1e-6 for at, other in taken)
    ]


def _lacking(taken: Sequence[tuple[float, float]], node: Node) -> float:
    return max((node.half + other + NODE_AIR - 1e-6 - abs(node.x - at) for at, other in taken), default=0.0)
