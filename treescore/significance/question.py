"""The question of a comparison: the systems, what is derived from their counts, seeds, and the answer's signature."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from treescore.core.arrays import Counts, FloatArray, IntArray
from treescore.core.params import Json
from treescore.core.registry import TokenBits
from treescore.core.scores import Score
from treescore.core.version import __version__
from treescore.significance.bootstrap import affordable_resamples
from treescore.significance.permutation import LAW_BUDGET, ShufflePlan, Test
from treescore.significance.settings import Settings
from treescore.significance.units import Sample, Units, by_part, missing_parts, pooled, sample_of, with_whole_parts

SeedOf = Callable[[Sequence[str]], int]
"""The seed of a pair's shuffles and draws by both names; of no names, that of the resamples, which all share."""
ALONE_LAW_BUDGET = 2e7
"""Limit of nanoseconds (estimated) for the exact law of a pair with a seed of its own."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A system to compare.

    Attributes:
        name: as it is shown.
        runs: counts (n, k) of each run (seed); usually one.
        tokens: right or wrong of each token, for McNemar on tokens.
        missing: positions of the parts without an output, whose rows count nothing right.
        considered: counts of all scored submissions among which this one was picked, its own included; empty where it
            was not picked.
        unknown: how many more there were, whose counts are gone.
    """

    name: str
    runs: tuple[Counts, ...]
    tokens: TokenBits | None = None
    missing: frozenset[int] = frozenset()
    submissions: int = 1
    considered: tuple[Counts, ...] = ()
    unknown: int = 0


class PooledParts(NamedTuple):
    """Parts of a score that is over all of them together.

    Documents are those of a part, and of a pair the whole of a part that one of them lacks is one unit.

    Attributes:
        of_sentence: part of each sentence, int64 (n,), from 0.
    """

    of_sentence: IntArray


@dataclass(frozen=True, slots=True)
class Terms:
    """How a sample is made of counts.

    Attributes:
        score: whose terms they are.
        names: of the counts.
        units: what is swapped.
        parts: stratum of each sentence, int64 (n,), where the score is the mean of parts; None elsewhere.
        pooled: part of each sentence, int64 (n,), where the score is over several parts together; None elsewhere.
    """

    score: Score
    names: Sequence[str]
    units: Units
    parts: IntArray | None
    pooled: IntArray | None = None

    @property
    def part_count(self) -> int:
        """Parts of a macro average; 0 where the score is not a mean of parts."""
        return 0 if self.parts is None else int(self.parts.max(initial=-1)) + 1

    def sample(self, candidates: Sequence[Candidate], rows: Sequence[Counts]) -> Sample:
        """Return the terms of some systems with these pooled counts, (n, k) each."""
        missing = missing_parts([candidate.missing for candidate in candidates], self.part_count)
        by_unit = sample_of(self.score, self.names, rows, self.units.blocks, self.parts, missing)
        return by_part(by_unit) if self.units.name == "part" else by_unit

    def alone(
        self, candidates: Sequence[Candidate], rows: Sequence[Counts], beside: Sequence[Candidate] = ()
    ) -> Sample:
        """Return the sample of some systems by themselves.

        Of pooled parts each that one of them lacks, or of those that they are compared with beside them, is one unit.
        """
        lacking = frozenset[int]().union(*(candidate.missing for candidate in (*candidates, *beside)))
        if self.pooled is None or not lacking:
            return self.sample(candidates, rows)
        whole = with_whole_parts(self.units.blocks, self.pooled, lacking)
        return sample_of(self.score, self.names, rows, whole, None)


@dataclass(frozen=True, slots=True)
class Question:
    """Everything that a comparison depends on.

    Attributes:
        score_name: its address.
        settings: of the comparison.
        terms: of the score, with the units and parts.
        candidates: the systems.
        rows: pooled counts of each.
        sample: the score's terms by unit.
        values: each system's score, NaN where undefined.
        pairs: the pairs that can be tested, as indices.
        seed_of: seeds of pairs, each of which is then computed as if no other system were there; None where all share
            the seed of the settings.
    """

    score_name: str
    settings: Settings
    terms: Terms
    candidates: Sequence[Candidate]
    rows: Sequence[Counts]
    sample: Sample
    values: FloatArray
    pairs: Sequence[tuple[int, int]]
    seed_of: SeedOf | None = None

    def seed(self, *systems: int) -> int:
        """Return the seed of what is drawn for a pair; without systems, of the resamples."""
        if self.seed_of is None:
            return self.settings.seed
        return self.seed_of([self.candidates[system].name for system in systems])

    @property
    def unit(self) -> str:
        """The units: sentence, block, part or token, never auto."""
        return self.terms.units.name

    @property
    def units_by_pair(self) -> bool:
        """Whether units depend on the pair: pooled, a part that one system lacks is a unit of its pairs alone."""
        return self.terms.pooled is not None and any(candidate.missing for candidate in self.candidates)

    @property
    def counted_alike(self) -> bool:
        """Whether a pair by itself has the units and counts that it has among all systems."""
        kinds = {(len(candidate.runs), rows.dtype) for candidate, rows in zip(self.candidates, self.rows, strict=True)}
        return not self.units_by_pair and len(kinds) < 2

    @property
    def resamples(self) -> int:
        """Bootstrap resamples: those asked for, fewer on the largest test sets.

        Where pairs have seeds of their own each is counted by itself, so that the other systems do not decide.
        """
        sample = self.sample
        systems = sample.systems if self.seed_of is None else 2
        terms = 2 * len(sample.tops) * systems
        sums = terms * max(1, sample.part_count) + systems * (systems - 1) // 2
        return affordable_resamples(self.settings.resamples, sample.units, sums, terms)

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
        sample = self.sample.of_systems(systems) if self.counted_alike else self.terms.alone(candidates, rows)
        return replace(
            self,
            settings=replace(self.settings, seed=self.seed(*systems)),
            candidates=candidates,
            rows=rows,
            sample=sample,
            values=sample.values(),
            pairs=[(0, 1)][: len(systems) - 1],
        )


VERSION = 3
"""Raised where the same question has another answer than before."""


def statistic(score: Score, *, macro: bool) -> dict[str, Json]:
    """Describe how the statistic is computed from the counts."""
    ratios = [
        {"numerator": dict(ratio.numerator), "denominator": dict(ratio.denominator), "one_minus": ratio.one_minus}
        for ratio in score.ratios
    ]
    kind = "ratio-of-sums" if len(ratios) == 1 and score.join is None else "composite"
    return {
        "statistic": f"macro-average of {kind}" if macro else kind,
        "numerator": list(score.ratios[0].numerator) if len(ratios) == 1 else None,
        "denominator": list(score.ratios[0].denominator) if len(ratios) == 1 else None,
        "terms": ratios,
    }


def signature(question: Question, tests: Sequence[Test], gold_digest: str | None) -> dict[str, Json]:
    """Make the signature: everything that the figures depend on beside the counts."""
    settings = question.settings
    shuffles = max((test.shuffles for test in tests if test.shuffles), default=None)
    resamples = None if settings.interval == "none" else question.resamples
    return {
        "score": question.score_name,
        "test": settings.test,
        "alternative": settings.alternative,
        "unit": question.unit,
        "shuffles": shuffles,
        "resamples": resamples,
        "interval": settings.interval,
        "level": settings.level,
        "seed": settings.seed if question.seed_of is None else None,
        "correction": settings.correction,
        "alpha": settings.alpha,
        "clusters": settings.clusters,
        "mcnemar": settings.mcnemar if settings.test == "mcnemar" else None,
        "runs": settings.runs,
        "margin": settings.margin,
        "power": settings.power,
        "gold": gold_digest,
        "version": f"{__version__}/significance.{VERSION}",
    }


_SEED_BYTES = 8


@dataclass(frozen=True, slots=True)
class Seeds:
    """The seeds of one question.

    Attributes:
        root: what they are made of; with it and the names the tests can be repeated.
    """

    root: bytes

    @property
    def commitment(self) -> str:
        """Return what is published before the root is, so that it cannot be changed afterwards."""
        return "sha256:" + hashlib.sha256(self.root).hexdigest()

    def of(self, names: Sequence[str]) -> int:
        """Return the seed of a pair's shuffles and draws; of no names, that of all resamples; below 2^63."""
        body = "\0".join(sorted(names)).encode()
        return int.from_bytes(hmac.digest(self.root, body, hashlib.sha256)[:_SEED_BYTES], "big") >> 1
