"""Place constituents that may have gaps, whose branches cross: what `constituent_layout` does for those without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from treescore.render.constituent_layout import CONTINUED, MOST_LEVELS, NODE_AIR, Node, place_of
from treescore.render.sentence_shapes import Branch, Span
from treescore.render.sentence_text import shown_label

_ROUNDS = 8
"""How often words are moved apart for labels that find no room between lines; the paper around them is left free."""
_BRANCH_STEP = 8.0
"""By how much more than what is lacking: what is above moves by a part of it only."""


@dataclass(frozen=True, slots=True)
class BranchTree:
    """The drawn constituents of one side, as `constituent_layout.Tree`.

    Attributes:
        nodes: those that are drawn, each before those below it.
        height: that of the highest one; it may be above what is drawn.
        empty: how many have no words and are not drawn.
        parents: of each drawn node, -1 where none is drawn above it.
        anchors: the node above each word, -1 where none is drawn.
    """

    nodes: tuple[Node, ...]
    height: int
    empty: int
    parents: tuple[int, ...]
    anchors: tuple[int, ...]

    @property
    def rounds(self) -> int:
        """How often words are moved apart."""
        return _ROUNDS

    @property
    def crossing(self) -> bool:
        """Whether lines of it may cross."""
        return True

    def part(self, start: int, stop: int) -> tuple[Node, ...]:
        """Return what a line of words shows, lower ones first: the constituents that have words in it."""
        here: dict[int, Node] = {}
        for word in range(start, stop):
            child: Node | int = word - start
            node = self.anchors[word]
            while node >= 0:
                known = node in here
                if not known:
                    here[node] = _cut_branches(self.nodes[node], start, stop)
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
    for number in range(size - 1, -1, -1):
        parent = branches[number].parent
        if parent is not None and lasts[number] >= 0:
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
    return BranchTree(
        tuple(nodes),
        max((heights[number] for number in range(size) if lasts[number] >= 0), default=0),
        sum(last < 0 for last in _lasts_of_all(branches)),
        tuple(-1 if parent is None else places.get(parent, -1) for parent in parents),
        tuple(places.get(anchor, -1) for anchor in anchors),
    )


def masks_of(branches: Sequence[Branch], words: int) -> list[int]:
    """Return the words of each constituent as bits of a number, of the first so many words."""
    masks = [sum(1 << word for word in set(branch.words) if word < words) for branch in branches]
    for number in range(len(branches) - 1, -1, -1):
        parent = branches[number].parent
        if parent is not None:
            masks[parent] |= masks[number]
    return masks


def _lasts_of_all(branches: Sequence[Branch]) -> list[int]:
    lasts = [max(branch.words, default=-1) for branch in branches]
    for number in range(len(branches) - 1, -1, -1):
        parent = branches[number].parent
        if parent is not None:
            lasts[parent] = max(lasts[parent], lasts[number])
    return lasts


def _cut_branches(node: Node, start: int, stop: int) -> Node:
    """Return what a line of words shows of a constituent that has words in it, still without what is below it."""
    before, after = node.span.start < start, node.span.end > stop
    span = Span(node.span.label, max(node.span.start, start) - start, min(node.span.end, stop) - start, node.span.mark)
    return Node(span, (CONTINUED if before else "") + node.label, before, after)


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
