"""The parts of arcs that one line of a picture shows: whole arcs, arcs that a line break cuts, and roots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from treescore.render.letters import BOLD, width
from treescore.render.sentence_shapes import AGREED, Arc
from treescore.render.sentence_text import LABEL, SMALL, shown_label, shown_number

FAN = 5.0
"""Between the arcs that leave a word on one side."""
WORD_AIR = 18.0
"""What an arc is longer than its label."""
_NUMBERS = 3
"""Numbers of words that a cut arc names."""

WHOLE, IN, OUT, ROOT = "whole", "in", "out", "root"


@dataclass(frozen=True, slots=True)
class Piece:
    """What a line shows of an arc, or of several arcs of one head that leave the line on the same side.

    Attributes:
        low: column of its left end; -1 is the left edge.
        high: column of its right end; the number of columns is the right edge.
        kind: WHOLE, IN (only the dependent is in the line), OUT (only the head is), ROOT (a vertical line).
        mark: of the arc.
        label: as it is drawn; empty where the label is drawn elsewhere.
        others: numbers of the words in other lines, as they are drawn.
        length: of the arc in words.
        points_left: the dependent is on the left.
    """

    low: int
    high: int
    kind: str
    mark: str
    label: str
    others: str
    length: int
    points_left: bool

    @property
    def order(self) -> tuple[int, int, int, str]:
        """Shorter pieces come first and are drawn nearer to the words."""
        return (self.high - self.low, self.length, self.low, self.mark)

    @property
    def room(self) -> float:
        """The least distance between its ends in pixels."""
        return width(self.label, LABEL, BOLD) + width(self.others, SMALL) + WORD_AIR


class Arcs:
    """The arcs of one half, found by the words that they touch."""

    def __init__(self, arcs: Iterable[Arc], numbers: Sequence[str]) -> None:
        self._numbers = numbers
        self._touching: list[list[Arc]] = [[] for _ in numbers]
        for arc in arcs:
            ends = {arc.dependent, arc.dependent if arc.head is None else arc.head}
            for end in ends:
                if 0 <= end < len(numbers):
                    self._touching[end].append(arc)

    def passing(self) -> list[int]:
        """Return how many arcs pass between each word and the one before it, and 0 after the last."""
        change = [0] * (len(self._numbers) + 2)
        for word, arcs in enumerate(self._touching):
            for arc in arcs:
                if arc.head is not None and arc.dependent == word:
                    low, high = sorted((arc.head, arc.dependent))
                    change[max(0, low) + 1] += 1
                    change[min(high, len(self._numbers)) + 1] -= 1
        total, totals = 0, []
        for step in change[: len(self._numbers) + 1]:
            total += step
            totals.append(total)
        return totals

    def pieces(self, start: int, stop: int) -> list[Piece]:
        """Return what a line of the words `start` to `stop` shows, short ones first."""
        found: list[Piece] = []
        leaving: dict[tuple[int, bool, str], list[int]] = {}
        for word in range(start, stop):
            for arc in self._touching[word]:
                head = arc.head
                if head is None or head == arc.dependent:
                    found.append(_root(arc, word - start))
                elif arc.dependent != word:
                    if not start <= arc.dependent < stop:
                        leaving.setdefault((head, arc.dependent < head, arc.mark), []).append(arc.dependent)
                elif start <= head < stop:
                    found.append(_whole(arc, head, start))
                else:
                    found.append(self._entering(arc, head, start, stop))
        found += [self._leaving(key, others, start, stop) for key, others in leaving.items()]
        return sorted(found, key=lambda piece: piece.order)

    def _entering(self, arc: Arc, head: int, start: int, stop: int) -> Piece:
        word = arc.dependent - start
        low, high = (-1, word) if head < start else (word, stop - start)
        others = self._named([head])
        return Piece(low, high, IN, arc.mark, shown_label(arc.label), others, abs(head - arc.dependent), head >= stop)

    def _leaving(self, key: tuple[int, bool, str], others: list[int], start: int, stop: int) -> Piece:
        head, to_left, mark = key
        word = head - start
        low, high = (-1, word) if to_left else (word, stop - start)
        length = max(abs(head - other) for other in others)
        return Piece(low, high, OUT, mark, "", self._named(sorted(others)), length, to_left)

    def _named(self, words: list[int]) -> str:
        named = [
            shown_number(self._numbers[word]) if 0 <= word < len(self._numbers) else "…" for word in words[:_NUMBERS]
        ]
        return ", ".join(named) + (", …" if len(words) > _NUMBERS else "")


def ports(pieces: Sequence[Piece], columns: int) -> list[tuple[float, float]]:
    """Return by how much both ends of each piece are beside the middle of their words.

    Arcs enter at the middle; those that leave fan out, the longest nearest the middle, so that none crosses another of
    the same head.
    """
    counts = {(column, side): 0 for column in range(columns) for side in (True, False)}
    placed: list[tuple[float, float]] = [(0.0, 0.0)] * len(pieces)
    for index in reversed(range(len(pieces))):
        piece = pieces[index]
        head = piece.high if piece.points_left else piece.low
        if piece.kind == ROOT or not 0 <= head < columns:
            continue
        counts[head, piece.points_left] += 1
        offset = FAN * counts[head, piece.points_left]
        placed[index] = (0.0, -offset) if piece.points_left else (offset, 0.0)
    return placed


def heights(pieces: Sequence[Piece]) -> list[int]:
    """Return the height of each piece: above all shorter ones with which it shares more than an end; 0 of roots."""
    placed: list[int] = []
    for index, piece in enumerate(pieces):
        below = (
            placed[other]
            for other in range(index)
            if max(piece.low, pieces[other].low) < min(piece.high, pieces[other].high)
        )
        placed.append(0 if piece.kind == ROOT else 1 + max(below, default=0))
    return placed


def agreed_first(pieces: Iterable[tuple[str, int]]) -> Iterator[int]:
    """Yield the indexes of marked things, those with errors last, so that they are drawn over the others."""
    yield from (index for _, index in sorted((mark != AGREED, index) for mark, index in pieces))


def _root(arc: Arc, column: int) -> Piece:
    label = shown_label(arc.label)
    itself = " ↺" if arc.head is not None else ""
    return Piece(column, column, ROOT, arc.mark, label + itself, "", 0, points_left=False)


def _whole(arc: Arc, head: int, start: int) -> Piece:
    low, high = sorted((head - start, arc.dependent - start))
    return Piece(low, high, WHOLE, arc.mark, shown_label(arc.label), "", high - low, arc.dependent < head)
