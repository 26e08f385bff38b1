"""Place the words and arcs of a sentence in lines, from left to right; pictures of other scripts mirror the columns.

A line shows parts of arcs: whole arcs, arcs that a line break cuts, and roots. Which words of two tokenizations belong
together is found by their characters.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from treescore.render import sentence_shapes as shapes
from treescore.render.drawing import BOLD, LINE_WIDTH, width, wrapped_lines

FAN = 5.0
"""Between the arcs that leave a word on one side."""
WORD_AIR = 18.0
"""What an arc is longer than its label."""
_NUMBERS = 3
"""Numbers of words that a cut arc names."""

WHOLE, IN, OUT, ROOT = "whole", "in", "out", "root"


class Piece(NamedTuple):
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
        return width(self.label, shapes.LABEL_SIZE, BOLD) + width(self.others, shapes.SMALL_SIZE) + WORD_AIR


class Arcs:
    """The arcs of one half, found by the words that they touch."""

    def __init__(self, arcs: Iterable[shapes.Arc], numbers: Sequence[str]) -> None:
        self._numbers = numbers
        self._touching: list[list[shapes.Arc]] = [[] for _ in numbers]
        for arc in arcs:
            for end in {arc.dependent, arc.dependent if arc.head is None else arc.head}:
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

    def _entering(self, arc: shapes.Arc, head: int, start: int, stop: int) -> Piece:
        word = arc.dependent - start
        low, high = (-1, word) if head < start else (word, stop - start)
        others = self._named([head])
        return Piece(
            low, high, IN, arc.mark, shapes.shown_label(arc.label), others, abs(head - arc.dependent), head >= stop
        )

    def _leaving(self, key: tuple[int, bool, str], others: list[int], start: int, stop: int) -> Piece:
        head, to_left, mark = key
        word = head - start
        low, high = (-1, word) if to_left else (word, stop - start)
        length = max(abs(head - other) for other in others)
        return Piece(low, high, OUT, mark, "", self._named(sorted(others)), length, to_left)

    def _named(self, words: list[int]) -> str:
        named = [
            shapes.shown_number(self._numbers[word]) if 0 <= word < len(self._numbers) else "…"
            for word in words[:_NUMBERS]
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
    yield from (index for _, index in sorted((mark != shapes.AGREED, index) for mark, index in pieces))


def _root(arc: shapes.Arc, column: int) -> Piece:
    label = shapes.shown_label(arc.label)
    itself = " ↺" if arc.head is not None else ""
    return Piece(column, column, ROOT, arc.mark, label + itself, "", 0, points_left=False)


def _whole(arc: shapes.Arc, head: int, start: int) -> Piece:
    low, high = sorted((head - start, arc.dependent - start))
    return Piece(low, high, WHOLE, arc.mark, shapes.shown_label(arc.label), "", high - low, arc.dependent < head)


MOST_TOGETHER = 6
"""Words of one side in a block, where no link tells what belongs to what."""

Links = tuple[tuple[int, int], ...]
Block = tuple[range, range]


def links_between(upper: Sequence[str], lower: Sequence[str]) -> Links:
    """Return the pairs of words that share characters; where the texts differ, those that are equal.

    Args:
        upper: words of one side.
        lower: words of the other side.
    """
    texts = ["".join("".join(words).split()) for words in (upper, lower)]
    return _by_characters(upper, lower) if texts[0] == texts[1] else _by_words(upper, lower)


def blocks_of(upper: int, lower: int, links: Links) -> list[Block]:
    """Divide both sides into blocks that no link leaves, in order.

    Args:
        upper: number of words of one side.
        lower: number of words of the other side.
        links: pairs of them, in any order.
    """
    furthest: dict[int, int] = {}
    nearest: dict[int, int] = {}
    for above, below in links:
        furthest[above] = max(furthest.get(above, -1), below)
        nearest[above] = min(nearest.get(above, lower), below)
    least = [lower] * (upper + 1)
    for above in reversed(range(upper)):
        least[above] = min(least[above + 1], nearest.get(above, lower))
    cuts = [(0, 0)]
    reached = -1
    for above in range(upper):
        reached = max(reached, furthest.get(above, -1))
        if reached < least[above + 1]:
            before = cuts[-1][1]
            # Words below without a link go with the words above that have none either, else with what follows.
            end = reached + 1 if above in furthest else before
            cuts.append((above + 1, max(before, end)))
    cuts.append((upper, lower))
    whole = [(range(a, b), range(c, d)) for (a, c), (b, d) in pairwise(cuts)]
    return [part for block in whole if block[0] or block[1] for part in _block_parts(block)]


def _block_parts(block: Block) -> Iterator[Block]:
    above, below = block
    count = -(-max(len(above), len(below)) // MOST_TOGETHER)
    for part in range(count):
        yield _share(above, part, count), _share(below, part, count)


def _share(words: range, part: int, count: int) -> range:
    return words[part * len(words) // count : (part + 1) * len(words) // count]


def _by_characters(upper: Sequence[str], lower: Sequence[str]) -> Links:
    ends = [_ends(words) for words in (upper, lower)]
    found: list[tuple[int, int]] = []
    above = below = 0
    while above < len(upper) and below < len(lower):
        starts = [end[index - 1] if index else 0 for end, index in zip(ends, (above, below), strict=True)]
        up, down = ends[0][above], ends[1][below]
        if max(starts) < min(up, down):
            found.append((above, below))
        above, below = above + (up <= down), below + (down <= up)
    return tuple(found)


def _ends(words: Sequence[str]) -> list[int]:
    """Return where each word ends in the text without spaces."""
    ends, end = [], 0
    for word in words:
        end += len("".join(word.split()))
        ends.append(end)
    return ends


def _by_words(upper: Sequence[str], lower: Sequence[str]) -> Links:
    matcher = SequenceMatcher(None, upper, lower, autojunk=False)
    return tuple(
        (block.a + step, block.b + step) for block in matcher.get_matching_blocks() for step in range(block.size)
    )


_ARC_WORD_GAP = 14.0
"""Between two words at least."""
_ROOT_AIR = 4.0
_LEG_AIR = 3.0


class Row(NamedTuple):
    """A row of words, as they are drawn."""

    forms: Sequence[str]
    numbers: Sequence[str]


class PlacedArc(NamedTuple):
    """A piece of an arc in its place.

    Attributes:
        piece: what it is.
        left: x of its left end.
        right: x of its right end.
        height: level, from 1.
        label_x: x of the middle of its label.
    """

    piece: Piece
    left: float
    right: float
    height: int
    label_x: float


class DependencyLine(NamedTuple):
    """A line of the picture.

    Attributes:
        width: in pixels.
        starts: of each row, the index of its first word.
        xs: of each row, the middle of each word.
        halves: the arcs of each half.
        links: pairs of words of the two rows, by index in the sentence.
    """

    width: float
    starts: tuple[int, ...]
    xs: tuple[tuple[float, ...], ...]
    halves: tuple[tuple[PlacedArc, ...], ...]
    links: Links = ()


class Halves(NamedTuple):
    """What is to be placed.

    Attributes:
        rows: one row of words, or one for each half.
        arcs: those of each half.
        blocks: ranges of words of each row that belong together; both are the same where there is one row.
        links: pairs of words of the two rows.
    """

    rows: tuple[Row, ...]
    arcs: tuple[Arcs, ...]
    blocks: Sequence[Block]
    links: Links = ()


def dependency_lines(halves: Halves) -> Iterator[DependencyLine]:
    """Return the lines of a sentence."""
    return wrapped_lines(
        _passing(halves), partial(_most_blocks, halves), partial(_dependency_line, halves), partial(_arcs_reach, halves)
    )


def _passing(halves: Halves) -> list[int]:
    """Return how many arcs pass before each block, and after the last."""
    counts = [arcs.passing() for arcs in halves.arcs]
    ends = [_block_bounds(halves, block, block) for block in range(len(halves.blocks))]
    rows = [min(half, len(halves.rows) - 1) for half in range(len(counts))]
    return [*(sum(count[end[row][0]] for count, row in zip(counts, rows, strict=True)) for end in ends), 0]


def _most_blocks(halves: Halves, start: int) -> int:
    """Return how many blocks a line can hold if no arc needs room."""
    used, stop = 2 * shapes.EDGE - _ARC_WORD_GAP, start
    while stop < len(halves.blocks):
        block = halves.blocks[stop]
        used += max(
            sum(shapes.form_width(row.forms[word]) + _ARC_WORD_GAP for word in words)
            for row, words in zip(halves.rows, block, strict=False)
        )
        if used > LINE_WIDTH and stop > start:
            break
        stop += 1
    return stop


def _arcs_reach(halves: Halves, line: DependencyLine, start: int, stop: int) -> float:
    """Return the middle of the last word before the block `stop` of a line."""
    bounds = _block_bounds(halves, start, stop - 1)
    return max((xs[b - a - 1] for xs, (a, b) in zip(line.xs, bounds, strict=True) if b > a), default=0.0)


def _block_bounds(halves: Halves, first: int, last: int) -> list[tuple[int, int]]:
    """Return for each row the words of the blocks `first` to `last`."""
    pairs = zip(halves.blocks[first], halves.blocks[last], strict=True)
    return [(a.start, b.stop) for (a, b), _ in zip(pairs, halves.rows, strict=False)]


@dataclass(slots=True)
class _Column:
    """A word while it is placed: its room on both sides, and what must be left of it."""

    left: float
    right: float
    after: list[tuple[int, float]] = field(default_factory=list)
    x: float = 0.0


class _Half(NamedTuple):
    row: int
    pieces: list[Piece]
    ports: list[tuple[float, float]]
    heights: list[int]


def _dependency_line(halves: Halves, start: int, stop: int) -> DependencyLine:
    """Return the line of the blocks `start` to `stop`."""
    bounds = _block_bounds(halves, start, stop - 1)
    parts = []
    for index, arcs in enumerate(halves.arcs):
        row = min(index, len(halves.rows) - 1)
        pieces = arcs.pieces(*bounds[row])
        columns = bounds[row][1] - bounds[row][0]
        parts.append(_Half(row, pieces, ports(pieces, columns), heights(pieces)))
    columns_of = [
        [_column(row, word) for word in range(*bound)] for row, bound in zip(halves.rows, bounds, strict=True)
    ]
    for part in parts:
        _constrain(part, columns_of[part.row])
    right = _place_blocks(
        columns_of, [halves.blocks[block] for block in range(start, stop)], [low for low, _ in bounds]
    )
    for part in parts:
        right = max([right, *_needed_right(part, columns_of[part.row])])
    placed = tuple(_placed(part, columns_of[part.row], right) for part in parts)
    xs = tuple(tuple(column.x for column in columns) for columns in columns_of)
    return DependencyLine(right, tuple(low for low, _ in bounds), xs, placed, _links_within(halves.links, bounds))


def _links_within(links: Links, bounds: Sequence[tuple[int, int]]) -> Links:
    if len(bounds) < 2:
        return ()
    (above, above_end), (below, below_end) = bounds
    return tuple((a, b) for a, b in links if above <= a < above_end and below <= b < below_end)


def _column(row: Row, word: int) -> _Column:
    half = max(shapes.form_width(row.forms[word]), width(row.numbers[word], shapes.SMALL_SIZE)) / 2
    return _Column(half, half)


def _constrain(part: _Half, columns: Sequence[_Column]) -> None:
    """Widen the room of words by what leaves them, and keep the ends of arcs as far apart as their labels need."""
    for piece, (low, high) in zip(part.pieces, part.ports, strict=True):
        if piece.kind == ROOT:
            columns[piece.low].after.append((-1, width(piece.label, shapes.LABEL_SIZE, BOLD) / 2 + shapes.EDGE))
            continue
        if piece.low >= 0:
            columns[piece.low].right = max(columns[piece.low].right, low)
        if piece.high < len(columns):
            columns[piece.high].left = max(columns[piece.high].left, -high)
            edge = shapes.EDGE if piece.low < 0 else 0.0
            columns[piece.high].after.append((piece.low, piece.room + low - high + edge))


def _place_blocks(columns_of: Sequence[Sequence[_Column]], blocks: Sequence[Block], starts: Sequence[int]) -> float:
    """Place all words from left to right, block by block; return the right edge."""
    right = shapes.EDGE - _ARC_WORD_GAP
    for block in blocks:
        begin, ends = right + _ARC_WORD_GAP, []
        for columns, words, start in zip(columns_of, block, starts, strict=False):
            ends.append(_place_words(columns, range(words.start - start, words.stop - start), begin))
        right = max(ends)
        for columns, words, start, end in zip(columns_of, block, starts, ends, strict=False):
            for word in words:
                columns[word - start].x += (right - end) / 2
    return right + shapes.EDGE


def _place_words(columns: Sequence[_Column], words: range, begin: float) -> float:
    """Place the words of a block from `begin` on; return where they end."""
    for word in words:
        column = columns[word]
        near = begin if word == words.start else columns[word - 1].x + columns[word - 1].right + _ARC_WORD_GAP
        far = (room + (columns[low].x if low >= 0 else 0.0) for low, room in column.after)
        column.x = max([near + column.left, *far])
        begin = column.x + column.right
    return begin


def _needed_right(part: _Half, columns: Sequence[_Column]) -> Iterator[float]:
    for piece, (low, _) in zip(part.pieces, part.ports, strict=True):
        if piece.kind == ROOT:
            yield columns[piece.low].x + width(piece.label, shapes.LABEL_SIZE, BOLD) / 2 + shapes.EDGE
        elif piece.high == len(columns):
            yield (columns[piece.low].x if piece.low >= 0 else 0.0) + low + piece.room + shapes.EDGE


def _placed(part: _Half, columns: Sequence[_Column], right: float) -> tuple[PlacedArc, ...]:
    """Return the arcs of one half in their places, roots above all that they would touch."""
    ends: list[tuple[float, float, int]] = []
    for piece, (low, high), height in zip(part.pieces, part.ports, part.heights, strict=True):
        begin = columns[piece.low].x + low if piece.low >= 0 else 0.0
        end = columns[piece.high].x + high if piece.high < len(columns) else right
        ends.append((begin, end, height))
    for index, piece in enumerate(part.pieces):
        if piece.kind == ROOT:
            half = width(piece.label, shapes.LABEL_SIZE, BOLD) / 2 + _ROOT_AIR
            x = ends[index][0]
            below = (_top(ends[other], part.pieces[other], x, half) for other in range(len(ends)) if other != index)
            ends[index] = (x, x, 1 + max(below, default=0))
    return tuple(
        PlacedArc(piece, *place, _label_x(piece, place, ends)) for piece, place in zip(part.pieces, ends, strict=True)
    )


def _top(place: tuple[float, float, int], piece: Piece, x: float, half: float) -> int:
    """Return the height of a piece if it comes nearer than `half` to `x`, else 0."""
    low, high, height = place
    own = width(piece.label, shapes.LABEL_SIZE, BOLD) / 2 if piece.kind == ROOT else 0.0
    return height if low - own < x + half and high + own > x - half else 0


def _label_x(piece: Piece, place: tuple[float, float, int], places: Sequence[tuple[float, float, int]]) -> float:
    """Return where the label is: in the middle, or beside lines that rise through the middle."""
    low, high, height = place
    middle = (low + high) / 2
    half = width(piece.label, shapes.LABEL_SIZE, BOLD) / 2 + _LEG_AIR
    if piece.kind == IN:
        number = shapes.EDGE + width(piece.others, shapes.SMALL_SIZE)
        low, high = (low + number, high) if piece.low < 0 else (low, high - number)
    if piece.kind == ROOT or not piece.label:
        return middle
    legs = sorted(leg for left, right, above in places if above > height for leg in (left, right) if low < leg < high)
    free = list(zip([low, *legs], [*legs, high], strict=True))
    spots = [min(max(middle, a + half), b - half) for a, b in free if b - a >= 2 * half]
    return min(spots, key=lambda x: (abs(x - middle), x), default=middle)
