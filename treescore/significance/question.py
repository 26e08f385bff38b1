"""The question of a comparison: the systems, and what is derived from their counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from treescore.core.arrays import Counts, FloatArray, IntArray
from treescore.core.registry import TokenBits
from treescore.significance.bootstrap import affordable_resamples
from treescore.significance.permutation import LAW_BUDGET, ShufflePlan
from treescore.significance.settings import Settings
from treescore.significance.units import Sample, pooled, sample_of

SeedOf = Callable[[Sequence[str]], int]
"""The seed of one system's interval, or of everything that is drawn for two, by their names."""
ALONE_LAW_BUDGET = 2e7
"""Limit of nanoseconds (estimated) for the exact law of a pair with a seed of its own."""


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
        seed_of: seeds of single systems and pairs, each of which is then computed as if no other system were there;
            None where all share the seed of the settings.
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
    seed_of: SeedOf | None = None

    def seed(self, *systems: int) -> int:
        """Return the seed of what is drawn for these systems, one or two."""
        if self.seed_of is None:
            return self.settings.seed
        return self.seed_of([self.candidates[system].name for system in systems])

    @property
    def resamples(self) -> int:
        """Bootstrap resamples: those asked for, fewer on the largest test sets."""
        return affordable_resamples(self.settings.resamples, self.sample.units)

    @property
    def plan(self) -> ShufflePlan:
        """The plan of Monte Carlo tests of this family."""
        settings = self.settings
        budget = LAW_BUDGET if self.seed_of is None else ALONE_LAW_BUDGET
        return ShufflePlan(
            settings.shuffles, settings.seed, settings.alpha, settings.correction, len(self.pairs), budget
        )

    def alone(self, *systems: int) -> Question:
        """Return the question about these systems, one or two, as if no other were there, with their own seed."""
        candidates = [self.candidates[system] for system in systems]
        rows = pooled([candidate.runs for candidate in candidates])
        sample = sample_of(self.sample.score, self.names, rows, self.blocks, self.parts)
        return replace(
            self,
            settings=replace(self.settings, seed=self.seed(*systems)),
            candidates=candidates,
            rows=rows,
            sample=sample,
            values=sample.values(),
            pairs=[(0, 1)][: len(systems) - 1],
        )
