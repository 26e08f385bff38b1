"""Decide which words are right under each of MaltEval's metrics, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from treescore.core.arrays import BoolArray
from treescore.metrics.shared.groupings import WordAttributes

SELF = "self"
"""The metric that uses each grouping's own metric."""


@dataclass(frozen=True, slots=True)
class WordFacts:
    """Facts about each of w words, bool (w,) each.

    Attributes:
        head: its head is right.
        label: its relation is right.
        present: the system has the word; no word of a sentence that it leaves empty is right.
        sides: gold and system.
    """

    head: BoolArray
    label: BoolArray
    present: BoolArray
    sides: tuple[WordAttributes, WordAttributes]

    def direction_right(self) -> BoolArray:
        """Return where the head is on the same side of the word as gold's, or both words are roots."""
        gold, system = self.sides
        same: BoolArray = self.present & (gold.directions() == system.directions())
        return same

    def distance_right(self) -> BoolArray:
        """Return where the head is as many words away as gold's, on either side, or both words are roots."""
        gold, system = self.sides
        same: BoolArray = self.present & (gold.relation_lengths == system.relation_lengths)
        return same

    def grouped_distance_right(self) -> BoolArray:
        """Return where the distances agree as 1, 2, 3-6, or 7 or more."""
        gold, system = self.sides
        same: BoolArray = self.present & (gold.distances() == system.distances())
        return same

    def by(self, name: str) -> BoolArray:
        """Return the words that are right under one of METRICS except `self`, bool (w,). Raises KeyError."""
        return _METRICS[name](self)


_METRICS: Mapping[str, Callable[[WordFacts], BoolArray]] = {
    "LAS": lambda words: words.head & words.label,
    "BothRight": lambda words: words.head & words.label,
    "UAS": lambda words: words.head,
    "HeadRight": lambda words: words.head,
    "LA": lambda words: words.label,
    "LabelRight": lambda words: words.label,
    "AnyRight": lambda words: words.head | words.label,
    "BothWrong": lambda words: ~(words.head | words.label),
    "LabelWrong": lambda words: ~words.label,
    "HeadWrong": lambda words: ~words.head,
    "AnyWrong": lambda words: ~(words.head & words.label),
    "DirectionRight": WordFacts.direction_right,
    "HeadToChildDistanceRight": WordFacts.distance_right,
    "GroupedHeadToChildDistanceRight": WordFacts.grouped_distance_right,
}

METRICS = (*_METRICS, SELF)
