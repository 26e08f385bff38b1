"""Find which words of two tokenizations belong together, by their characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

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
