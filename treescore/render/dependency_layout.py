"""Place the words and arcs of a sentence in lines, from left to right; pictures of other scripts mirror the columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from treescore.render.dependency_pieces import IN, ROOT, Arcs, Piece, heights, ports
from treescore.render.letters import BOLD, width
from treescore.render.sentence_text import LABEL, SMALL, form_width
from treescore.render.word_links import Block, Links
from treescore.render.wrapping import LINE_WIDTH, wrapped_lines

EDGE = 8.0
"""Between words and the edges of the picture."""
_ARC_WORD_GAP = 14.0
"""Between two words at least."""
_ROOT_AIR = 4.0
_LEG_AIR = 3.0


@dataclass(frozen=True, slots=True)
class Row:
    """A row of words, as they are drawn."""

    forms: Sequence[str]
    numbers: Sequence[str]


@dataclass(frozen=True, slots=True)
class PlacedArc:
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


@dataclass(frozen=True, slots=True)
class DependencyLine:
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


@dataclass(frozen=True, slots=True)
class Halves:
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
    return [
        *(sum(count[end[row][0]] for count, row in zip(counts, rows, strict=True)) for end in ends),
        0,
    ]


def _most_blocks(halves: Halves, start: int) -> int:
    """Return how many blocks a line can hold if no arc needs room."""
    used, stop = 2 * EDGE - _ARC_WORD_GAP, start
    while stop < len(halves.blocks):
        block = halves.blocks[stop]
        used += max(
            sum(form_width(row.forms[word]) + _ARC_WORD_GAP for word in words)
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


@dataclass(frozen=True, slots=True)
class _Half:
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
    links = _links_within(halves.links, bounds)
    return DependencyLine(right, tuple(low for low, _ in bounds), xs, placed, links)


def _links_within(links: Links, bounds: Sequence[tuple[int, int]]) -> Links:
    if len(bounds) < 2:
        return ()
    (above, above_end), (below, below_end) = bounds
    return tuple((a, b) for a, b in links if above <= a < above_end and below <= b < below_end)


def _column(row: Row, word: int) -> _Column:
    half = max(form_width(row.forms[word]), width(row.numbers[word], SMALL)) / 2
    return _Column(half, half)


def _constrain(part: _Half, columns: Sequence[_Column]) -> None:
    """Widen the room of words by what leaves them, and keep the ends of arcs as far apart as their labels need."""
    for piece, (low, high) in zip(part.pieces, part.ports, strict=True):
        if piece.kind == ROOT:
            columns[piece.low].after.append((-1, width(piece.label, LABEL, BOLD) / 2 + EDGE))
            continue
        if piece.low >= 0:
            columns[piece.low].right = max(columns[piece.low].right, low)
        if piece.high < len(columns):
            columns[piece.high].left = max(columns[piece.high].left, -high)
            edge = EDGE if piece.low < 0 else 0.0
            columns[piece.high].after.append((piece.low, piece.room + low - high + edge))


def _place_blocks(columns_of: Sequence[Sequence[_Column]], blocks: Sequence[Block], starts: Sequence[int]) -> float:
    """Place all words from left to right, block by block; return the right edge."""
    right = EDGE - _ARC_WORD_GAP
    for block in blocks:
        begin, ends = right + _ARC_WORD_GAP, []
        for columns, words, start in zip(columns_of, block, starts, strict=False):
            ends.append(_place_words(columns, range(words.start - start, words.stop - start), begin))
        right = max(ends)
        for columns, words, start, end in zip(columns_of, block, starts, ends, strict=False):
            for word in words:
                columns[word - start].x += (right - end) / 2
    return right + EDGE


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
            yield columns[piece.low].x + width(piece.label, LABEL, BOLD) / 2 + EDGE
        elif piece.high == len(columns):
            yield (columns[piece.low].x if piece.low >= 0 else 0.0) + low + piece.room + EDGE


def _placed(part: _Half, columns: Sequence[_Column], right: float) -> tuple[PlacedArc, ...]:
    """Return the arcs of one half in their places, roots above all that they would touch."""
    ends: list[tuple[float, float, int]] = []
    for piece, (low, high), height in zip(part.pieces, part.ports, part.heights, strict=True):
        begin = columns[piece.low].x + low if piece.low >= 0 else 0.0
        end = columns[piece.high].x + high if piece.high < len(columns) else right
        ends.append((begin, end, height))
    for index, piece in enumerate(part.pieces):
        if piece.kind == ROOT:
            half = width(piece.label, LABEL, BOLD) / 2 + _ROOT_AIR
            x = ends[index][0]
            below = (_top(ends[other], part.pieces[other], x, half) for other in range(len(ends)) if other != index)
            ends[index] = (x, x, 1 + max(below, default=0))
    return tuple(
        PlacedArc(piece, *place, _label_x(piece, place, ends)) for piece, place in zip(part.pieces, ends, strict=True)
    )


def _top(place: tuple[float, float, int], piece: Piece, x: float, half: float) -> int:
    """Return the height of a piece if it comes nearer than `half` to `x`, else 0."""
    low, high, height = place
    own = width(piece.label, LABEL, BOLD) / 2 if piece.kind == ROOT else 0.0
    return height if low - own < x + half and high + own > x - half else 0


def _label_x(piece: Piece, place: tuple[float, float, int], places: Sequence[tuple[float, float, int]]) -> float:
    """Return where the label is: in the middle, or beside lines that rise through the middle."""
    low, high, height = place
    middle = (low + high) / 2
    half = width(piece.label, LABEL, BOLD) / 2 + _LEG_AIR
    if piece.kind == IN:
        number = EDGE + width(piece.others, SMALL)
        low, high = (low + number, high) if piece.low < 0 else (low, high - number)
    if piece.kind == ROOT or not piece.label:
        return middle
    legs = sorted(leg for left, right, above in places if above > height for leg in (left, right) if low < leg < high)
    free = list(zip([low, *legs], [*legs, high], strict=True))
    spots = [min(max(middle, a + half), b - half) for a, b in free if b - a >= 2 * half]
    return min(spots, key=lambda x: (abs(x - middle), x), default=middle)
