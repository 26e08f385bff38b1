"""MaltEval's metrics by name: which words are right in which sense."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from treescore.core.arrays import BoolArray
from treescore.metrics.shared.groupings import Grouped

SELF = "self"
"""The metric that asks each grouping for its own."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What is known of each word, bool (w,) each.

    Attributes:
        head: its head is right.
        label: its relation is.
        own: the system has the word itself; where it leaves a sentence out, nothing can be right.
        sides: gold and system.
    """

    head: BoolArray
    label: BoolArray
    own: BoolArray
    sides: tuple[Grouped, Grouped]

    def direction_right(self) -> BoolArray:
        """The head stands on the same side of the word as gold's, or both words are roots."""
        gold, system = self.sides
        same: BoolArray = self.own & (gold.directions() == system.directions())
        return same

    def distance_right(self) -> BoolArray:
        """The head is as many words away as gold's, on either side, or both words are roots."""
        gold, system = self.sides
        same: BoolArray = self.own & (gold.relation_lengths == system.relation_lengths)
        return same

    def grouped_distance_right(self) -> BoolArray:
        """The same of the distances 1, 2, 3-6 and 7 or more."""
        gold, system = self.sides
        same: BoolArray = self.own & (gold.distances() == system.distances())
        return same

    def by(self, name: str) -> BoolArray:
        """Which words are right by one of METRICS, `self` excepted, bool (w,). Raises KeyError."""
        return _METRICS[name](self)


_METRICS: Mapping[str, Callable[[Judged], BoolArray]] = {
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
    "DirectionRight": Judged.direction_right,
    "HeadToChildDistanceRight": Judged.distance_right,
    "GroupedHeadToChildDistanceRight": Judged.grouped_distance_right,
}

METRICS = (*_METRICS, SELF)
