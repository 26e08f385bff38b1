"""The question of a comparison: the systems, what is derived from their counts, and the answer's signature.

Training runs of a system may be fixed, or vary as units do: then pairs are tested over them (`law.by_runs`).
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import Counts, FloatArray, IntArray
from treescore.core.comparing import BOOTSTRAPPED
from treescore.core.params import Json
from treescore.core.registry import TokenBits
from treescore.core.scores import Score
from treescore.core.version import __version__
from treescore.core.wording import did_you_mean
from treescore.errors import InputError, Problem
from treescore.significance.settings import Settings
from treescore.significance.units import Sample, Units, by_part, missing_parts, sample_of


class Candidate(NamedTuple):
    """A system to compare.

    Attributes:
        name: as it is shown.
        runs: counts (n, k) of each run (seed); usually one.
        tokens: right or wrong of each token, for McNemar on tokens.
        missing: positions of the parts without an output, whose rows count nothing right.
        submissions: scored submissions of its team that this one was picked from, k; 1 where it was not picked.
    """

    name: str
    runs: tuple[Counts, ...]
    tokens: TokenBits | None = None
    missing: frozenset[int] = frozenset()
    submissions: int = 1


def require_tokens(candidates: Sequence[Candidate]) -> None:
    """Refuse tokens as units of several runs, and of scores without a value for each.

    Raises:
        InputError: a system has several runs, or no tokens (pointer /unit).
    """
    detail = ""
    if any(len(candidate.runs) > 1 for candidate in candidates):
        detail = (
            'The unit "token" compares one output of each system, not several training runs. Use the unit sentence.'
        )
    elif any(candidate.tokens is None for candidate in candidates):
        detail = (
            'The unit is "token", but this score has no value for each token. '
            "Use the unit sentence, or a score that does (attachment.las, attachment.uas, ...)."
        )
    if detail:
        raise InputError(Problem("no-token-bits", detail, pointer="/unit"))


class PooledParts(NamedTuple):
    """Parts of a score that is over all of them together.

    Documents are those of a part, and of a pair the whole of a part that one of them lacks is one unit.

    Attributes:
        of_sentence: part of each sentence, int64 (n,), from 0.
    """

    of_sentence: IntArray


class Terms(NamedTuple):
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

    @property
    def of_parts(self) -> int:
        """Parts, whether the score is their mean or is over all of them together."""
        strata = self.parts if self.pooled is None else self.pooled
        return 0 if strata is None else int(strata.max(initial=-1)) + 1

    def sample(self, candidates: Sequence[Candidate], rows: Sequence[Counts]) -> Sample:
        """Return the terms of some systems with these pooled counts, (n, k) each."""
        by_unit = self._sample(candidates, rows, self.units.blocks)
        return by_part(by_unit) if self.units.name == "part" else by_unit

    def by_sentence(self, candidates: Sequence[Candidate], rows: Sequence[Counts]) -> Sample:
        """Return the terms by sentence."""
        return self._sample(candidates, rows, None)

    def _sample(self, candidates: Sequence[Candidate], rows: Sequence[Counts], blocks: IntArray | None) -> Sample:
        missing = missing_parts([candidate.missing for candidate in candidates], self.of_parts)
        return sample_of(self.score, self.names, rows, blocks, self.parts, missing, self.pooled)


class Question(NamedTuple):
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
    """

    score_name: str
    settings: Settings
    terms: Terms
    candidates: Sequence[Candidate]
    rows: Sequence[Counts]
    sample: Sample
    values: FloatArray
    pairs: Sequence[tuple[int, int]]

    def sentences(self) -> Sample | None:
        """Return the terms by sentence, where sentences are not the units."""
        return None if self.unit in ("sentence", "token") else self.terms.by_sentence(self.candidates, self.rows)

    @property
    def unit(self) -> str:
        """The units: sentence, block, part or token, never auto."""
        return self.terms.units.name


VERSION = 4
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


_SIGNED = ("test", "alternative", "interval", "correction", "alpha", "clusters", "runs", "margin", "power")
"""Settings that a signature has as they are."""


def signature(question: Question, gold_digest: str | None) -> dict[str, Json]:
    """Make the signature: everything that the figures depend on beside the counts."""
    settings = question.settings
    shuffles = settings.shuffles if settings.by_law else None
    resamples = settings.resamples if settings.interval in BOOTSTRAPPED else None
    return {
        "score": question.score_name,
        **{name: getattr(settings, name) for name in _SIGNED},
        "unit": question.unit,
        "shuffles": shuffles,
        "resamples": resamples,
        "level": settings.own_level,
        "seed": None if shuffles is None and resamples is None else settings.seed,
        "mcnemar": settings.mcnemar if settings.test == "mcnemar" else None,
        **({} if settings.baseline is None else {"baseline": settings.baseline}),
        "gold": gold_digest,
        "version": f"{__version__}/significance.{VERSION}",
    }


def asked_pairs(candidates: Sequence[Candidate], settings: Settings) -> list[tuple[int, int]]:
    """Return all unordered pairs of systems, or those with the baseline.

    Raises:
        InputError: no system has the name of the baseline (pointer /baseline).
    """
    names, baseline = [candidate.name for candidate in candidates], settings.baseline
    if baseline is not None and baseline not in names:
        detail = f"Unknown system {baseline!r}.{did_you_mean(baseline, names)} Systems: {', '.join(names)}."
        raise InputError(Problem("unknown-system", detail, pointer="/baseline"))
    pairs = combinations(range(len(names)), 2)
    return [pair for pair in pairs if baseline is None or baseline in (names[pair[0]], names[pair[1]])]


FEWEST_FOR_SPREAD = 2
"""Runs from which on their variance can be estimated."""
UNDEFINED = "the score of a training run is undefined: "


def run_scores(question: Question, system: int, part: int | None = None) -> FloatArray:
    """Return the score of each run of one system, over all units or in one part: (r,); NaN where undefined."""
    candidate = question.candidates[system]
    sample = question.terms.sample([candidate] * len(candidate.runs), candidate.runs)
    return (sample if part is None else sample.part(part)).values()


def varying(question: Question) -> list[tuple[int, int]]:
    """Return the pairs whose training runs are taken as random: both systems have two or more, each with a score."""
    return [pair for pair in question.pairs if vary(question, *pair)]


def vary(question: Question, first: int, second: int) -> bool:
    """Tell whether the training runs of two systems are taken as random: both have two or more."""
    settings = question.settings
    counts = [len(question.candidates[system].runs) for system in (first, second)]
    return settings.runs == "random" and settings.by_law and min(counts) >= FEWEST_FOR_SPREAD


def with_undefined_run(question: Question) -> set[int]:
    """Find the systems with a run that has no score: without it the spread of the runs is unknown."""
    several = [index for index, candidate in enumerate(question.candidates) if len(candidate.runs) >= FEWEST_FOR_SPREAD]
    return {system for system in several if not np.isfinite(run_scores(question, system)).all()}


def require_runs(candidates: Sequence[Candidate], settings: Settings) -> None:
    """Refuse runs that are asked to be random where every system has one.

    Raises:
        InputError: no system has two runs (pointer /runs).
    """
    if settings.runs_required and all(len(candidate.runs) < FEWEST_FOR_SPREAD for candidate in candidates):
        raise InputError(no_runs())


def no_runs() -> Problem:
    """Return the problem of `runs: random` where no system has two runs."""
    detail = (
        'The setting runs "random" needs a system with two training runs or more: name the system of which an output '
        "is a further run by run_of. Or leave out runs."
    )
    return Problem("no-training-runs", detail, pointer="/runs")
