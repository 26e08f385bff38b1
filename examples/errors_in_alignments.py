"""Word alignments as sets of links, and the errors that aligners make in them."""

from __future__ import annotations

from dataclasses import dataclass

from dice import Dice

Link = tuple[int, int]


@dataclass
class Pair:
    """Words on both sides, and links between them counted from 0; possible ones apart from sure ones."""

    source: list[str]
    target: list[str]
    sure: set[Link]
    possible: set[Link]


def read(source: str, target: str, links: str) -> list[Pair]:
    """Return the pairs of three texts, one a line: words, words, and Pharaoh links (`0-0` sure, `0p0` possible)."""
    return [
        Pair(
            source_line.split(),
            target_line.split(),
            {_link(text, "-") for text in links_line.split() if "-" in text},
            {_link(text, "p") for text in links_line.split() if "p" in text},
        )
        for source_line, target_line, links_line in zip(
            source.splitlines(), target.splitlines(), links.splitlines(), strict=True
        )
    ]


def _link(text: str, mark: str) -> Link:
    source, target = text.split(mark)
    return int(source), int(target)


def written(links: set[Link]) -> str:
    """Return one line; aligners call every link sure."""
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def aligned(pair: Pair, dice: Dice, missed: float, added: float, moved: float) -> set[Link]:
    """What an aligner finds of a pair.

    Args:
        pair: words and gold's links.
        dice: its dice.
        missed: how often a sure link is missed; possible ones are missed twice as often.
        added: how often a word also takes the neighbour of its partner (garbage collection, long alignments).
        moved: how often a link goes to the neighbour instead, more often in the second half of long sentences.
    """
    links = set()
    for source, target in sorted(pair.sure | pair.possible):
        rate = missed if (source, target) in pair.sure else min(1.0, 2 * missed + 0.2)
        if dice.errs(rate, "missed", source, target):
            continue
        beside = target + (1 if target + 1 < len(pair.target) else -1)
        far = abs(source / len(pair.source) - target / len(pair.target)) > 0.15
        if dice.errs(moved * (3 if far else 1), "moved", source, target):
            links.add((source, beside))
            continue
        links.add((source, target))
        if dice.errs(added, "added", source, target):
            links.add((source, beside))
    return links


def diagonal(pair: Pair) -> set[Link]:
    """Return each source word with the target word at the same share of the sentence."""
    return {(word, word * len(pair.target) // len(pair.source)) for word in range(len(pair.source))}
