"""Training runs of systems: which pairs are tested over them, and what is then assumed."""

from __future__ import annotations

from collections.abc import Sequence

from treescore.errors import InputError, Problem
from treescore.significance.question import Candidate, Question
from treescore.significance.settings import Settings
from treescore.significance.units import Sample
from treescore.significance.welch import FEWEST_FOR_SPREAD, Runs, RunsTest, runs_of, welch

Pair = tuple[int, int]
PAIR = (0, 1)
"""The systems of a question about two."""
UNDEFINED = "the score of a training run is undefined: "
BOTH_VARY = "Runs and test units both vary."
ONE_EACH = "One training run each: the claim is about these trained models, not the method."
FIXED = "Training runs are taken as fixed: the claim is about these trained models, not the method."
PARTLY_FIXED = (
    "Pairs with a system of one training run take runs as fixed: there the claim is about these trained models, not "
    "the method."
)


def vary(question: Question, first: int, second: int) -> bool:
    """Tell whether the training runs of two systems are taken as random: both have two or more."""
    settings = question.settings
    counts = [len(question.candidates[system].runs) for system in (first, second)]
    return settings.runs == "random" and settings.test == "permutation" and min(counts) >= FEWEST_FOR_SPREAD


def with_undefined_run(question: Question) -> set[int]:
    """Find the systems with a run that has no score: without it the spread of the runs is unknown."""
    several = [index for index, candidate in enumerate(question.candidates) if len(candidate.runs) >= FEWEST_FOR_SPREAD]
    return {system for system in several if runs_of(_terms(question, system)) is None}


def runs_tests(question: Question) -> dict[Pair, RunsTest]:
    """Test the pairs whose runs vary; all of these have a score."""
    varying = [pair for pair in question.pairs if vary(question, *pair)]
    if question.units_by_pair and len(question.candidates) > len(PAIR):
        alone = {pair: runs_tests(question.alone(*pair)) for pair in varying}
        return {pair: found[PAIR] for pair, found in alone.items()}
    runs = _runs_by_system({system: _terms(question, system) for system in _systems_of_pairs(varying)})
    return _tested(question, varying, question.sample, runs, question.settings.alternative)


def part_p(question: Question) -> dict[Pair, dict[str, list[float]]]:
    """Return the one-sided p of each part over runs and units, in both directions; 1 where a run has no score there."""
    varying = [pair for pair in question.pairs if vary(question, *pair)]
    found: dict[Pair, dict[str, list[float]]] = {pair: {"greater": [], "less": []} for pair in varying}
    terms = {system: _terms(question, system) for system in _systems_of_pairs(varying)}
    for part in range(question.sample.part_count if varying else 0):
        sample = question.sample.part(part)
        runs = _runs_by_system({system: of_system.part(part) for system, of_system in terms.items()})
        usable = [pair for pair in varying if runs.keys() >= set(pair)]
        for alternative in ("greater", "less"):
            tests = _tested(question, usable, sample, runs, alternative)
            for pair, of_pair in found.items():
                p = tests[pair].test.p if pair in tests else None
                of_pair[alternative].append(1.0 if p is None else p)
    return found


def assumed(question: Question) -> str:
    """Say what is taken of training runs."""
    if all(len(candidate.runs) < FEWEST_FOR_SPREAD for candidate in question.candidates):
        return ONE_EACH
    varying = [vary(question, first, second) for first, second in question.pairs]
    if not any(varying):
        return FIXED
    return BOTH_VARY if all(varying) else f"{BOTH_VARY} {PARTLY_FIXED}"


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


def _systems_of_pairs(pairs: Sequence[Pair]) -> list[int]:
    return sorted({system for pair in pairs for system in pair})


def _terms(question: Question, system: int) -> Sample:
    """Return the terms of all runs of a system by unit."""
    candidate = question.candidates[system]
    return question.terms.alone([candidate] * len(candidate.runs), candidate.runs, question.candidates)


def _runs_by_system(terms: dict[int, Sample]) -> dict[int, Runs]:
    """Return the runs of those systems of which each run has a score."""
    runs = {system: runs_of(of_system) for system, of_system in terms.items()}
    return {system: of_system for system, of_system in runs.items() if of_system is not None}


def _tested(
    question: Question, pairs: Sequence[Pair], sample: Sample, runs: dict[int, Runs], alternative: str
) -> dict[Pair, RunsTest]:
    found = {}
    for first, second in pairs:
        differing = int(sample.differing_units(first, second).sum())
        found[first, second] = welch(runs[first], runs[second], differing, alternative, question.settings.level)
    return found
