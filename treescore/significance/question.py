"""The question of a comparison: the systems, and what is derived from their counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treescore.core.arrays import Counts, FloatArray, IntArray
from treescore.core.registry import TokenBits
from treescore.significance.bootstrap import affordable_resamples
from treescore.significance.permutation import ShufflePlan
from treescore.significance.settings import Settings
from treescore.significance.units import Sample


@dataclass(frozen=True, slots=True)
class Candidate:
    """A system to compare.

    Attributes:
        name: as it is shown.
        runs: counts (n, k) of each run (seed); usually one.
        tokens: right or wrong of each token, for McNemar on tokens.
    """

    name: str
    runs: tuple[Counts, ...]
    tokens: TokenBits | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """Everything that a comparison depends on.

    Attributes:
        score_name: its address.
        settings: of the comparison.
        names: names of the counts.
        candidates: the systems.
        rows: pooled counts of each.
        blocks: number of each sentence's block where blocks are the units.
        parts: stratum of each sentence.
        sample: the score's terms by unit.
        values: each system's score, NaN where undefined.
        pairs: the pairs that can be tested, as indices.
    """

    score_name: str
    settings: Settings
    names: Sequence[str]
    candidates: Sequence[Candidate]
    rows: Sequence[Counts]
    blocks: IntArray | None
    parts: IntArray | None
    sample: Sample
    values: FloatArray
    pairs: Sequence[tuple[int, int]]

    @property
    def resamples(self) -> int:
        """Bootstrap resamples: those asked for, fewer on the largest test sets."""
        return affordable_resamples(self.settings.resamples, self.sample.units)

    @property
    def plan(self) -> ShufflePlan:
        """The plan of Monte Carlo tests of this family."""
        settings = self.settings
        return ShufflePlan(settings.shuffles, settings.seed, settings.alpha, settings.correction, len(self.pairs))
