"""Where a system errs: chance without a generator, so that one change of gold does not move every other error."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from math import sqrt
from typing import TypeVar

SEED = "treescore-1"
Choice = TypeVar("Choice")


class Dice:
    """The dice of one system for one kind of error in one sentence.

    Half of a throw is the place's hardness, which all systems share, half is the system's own luck: what one
    parser finds hard, the next one does too, and differences between systems are as correlated as real ones.
    """

    def __init__(self, system: str, sentence: int, kind: str) -> None:
        self.system = system
        self.place = f"{sentence} {kind}"

    def errs(self, rate: float, *site: object) -> bool:
        """Return whether the system errs at a site, true at `rate` (0..1) of all sites."""
        thrown = (_unit("hardness", self.place, *site) + _unit(self.system, self.place, *site)) / 2
        # The mean of two uniform numbers is below t with probability 2 t**2 (t up to a half).
        threshold = sqrt(rate / 2) if rate <= 0.5 else 1 - sqrt((1 - rate) / 2)
        return thrown < threshold

    def pick(self, choices: Sequence[Choice], *site: object) -> Choice:
        """Return one of `choices`, earlier ones more often."""
        return choices[int(len(choices) * _unit(self.system, self.place, "pick", *site) ** 2)]


def _unit(*names: object) -> float:
    """Return a number in [0, 1) that only its names decide."""
    digest = sha256("\t".join(map(str, (SEED, *names))).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48
