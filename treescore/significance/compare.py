"""Comparison of several systems on one score: its tests, the family's decision, and the intervals that belong to it.

The one-sided p of a part by itself, by the law of its units, serves the partial conjunction over parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from treescore.core.arrays import FloatArray, IntArray
from treescore.core.params import Json
from treescore.core.scores import Score
from treescore.errors import InputError, Problem
from treescore.significance import assembly, bootstrap, law, other_tests, runs
from treescore.significance.assembly import Answers
from treescore.significance.contributions import Contributions
from treescore.significance.families import adjusted, divisors
from treescore.significance.intervals import system_intervals
from treescore.significance.law import Asked, Interval, Test, asked_by
from treescore.significance.picking import allowing_for_picking
from treescore.significance.question import Candidate, PooledParts, Question, Terms
from treescore.significance.settings import AUTO, FEWEST_PARTS, Settings
from treescore.significance.units import Sample, by_part, chosen_units, pooled

PART_TESTS = 4_000
"""Limit of pairs times parts; up to it each part is tested by itself."""
DIRECTIONS = ("greater", "less")


def compare(
    score_name: str,
    score: Score,
    count_names: Sequence[str],
    candidates: Sequence[Candidate],
    settings: Settings,
    *,
    blocks: Sequence[str | None] | None = None,
    parts: IntArray | PooledParts | None = None,
    gold_digest: str | None = None,
) -> dict[str, Json]:
    """Test all unordered pairs of systems on one score, from counts alone.

    p and `ci` of a pair do not depend on which other systems are compared; `p_adjusted` and `ci_adjusted` do.

    Args:
        score_name: the score's address (`parseval.labelled_f1`).
        score: its terms.
        count_names: names of the counts' columns.
        candidates: the systems; counts of all have the same n rows.
        settings: test, unit, correction and so on.
        blocks: the block (document) of each sentence, None for a sentence of none; needed where `settings.unit` is
            block.
        parts: stratum of each sentence, from 0: then the statistic is the macro average over parts, and swaps and
            resamples stay within a part. PooledParts where the score is over all of them together.
        gold_digest: for the signature.

    Raises:
        InputError: the counts do not have the requested unit or runs (pointers below the settings' object).
    """
    question = _question(score_name, score, count_names, candidates, settings, blocks, parts)
    units = Contributions(question.sample)
    sentences = question.sentences()
    laws, over_runs = _laws(question, units, sentences)
    tests, extras = _tests(question, laws)
    extras = [
        {**extra, **(over_runs[pair].document() if pair in over_runs else {})}
        for extra, pair in zip(extras, question.pairs, strict=True)
    ]
    tests = allowing_for_picking(question, _with_parts(question, tests, over_runs, sentences))
    answers = _decided(question, units, laws, tests)
    answers = answers._replace(extras=extras, margins=_margins(question, units, over_runs))
    document = assembly.document(question, answers, gold_digest)
    if question.terms.parts is not None:
        assembly.add_parts(document, question, _tests_by_part(question, over_runs))
    return assembly.with_notes(document)


def _question(
    score_name: str,
    score: Score,
    count_names: Sequence[str],
    candidates: Sequence[Candidate],
    settings: Settings,
    blocks: Sequence[str | None] | None,
    parts: IntArray | PooledParts | None,
) -> Question:
    runs.require_runs(candidates, settings)
    together = isinstance(parts, PooledParts)
    of_sentence = parts.of_sentence if isinstance(parts, PooledParts) else parts
    strata = None if of_sentence is None else np.asarray(of_sentence, np.int64)
    rows = pooled([candidate.runs for candidate in candidates])
    number = len(rows[0]) if rows else len(blocks or ())
    units = chosen_units(settings, blocks, strata, number, together=together)
    if units.name == "token":
        _check_tokens(candidates)
    terms = Terms(score, count_names, units, *((None, strata) if together else (strata, None)))
    sample = terms.sample(candidates, rows)
    values = sample.values()
    defined = [index for index in range(len(candidates)) if math.isfinite(values[index])]
    question = Question(
        score_name=score_name,
        settings=settings,
        terms=terms,
        candidates=candidates,
        rows=rows,
        sample=sample,
        values=values,
        pairs=list(combinations(defined, 2)),
    )
    silent = runs.with_undefined_run(question)
    usable = [pair for pair in question.pairs if not (silent.intersection(pair) and runs.vary(question, *pair))]
    return replace(question, pairs=usable)


def _check_tokens(candidates: Sequence[Candidate]) -> None:
    if any(len(candidate.runs) > 1 for candidate in candidates):
        detail = (
            'The unit "token" compares one output of each system, not several training runs. Use the unit sentence.'
        )
        raise InputError(Problem("no-token-bits", detail, pointer="/unit"))
    if any(candidate.tokens is None for candidate in candidates):
        detail = (
            'The unit is "token", but this score has no value for each token. '
            "Use the unit sentence, or a score that does (attachment.las, attachment.uas, ...)."
        )
        raise InputError(Problem("no-token-bits", detail, pointer="/unit"))


OverRuns = dict[tuple[int, int], runs.RunsTest]


def _laws(question: Question, units: Contributions, sentences: Sample | None) -> tuple[list[Test], OverRuns]:
    """Test each pair by its law, over training runs where these vary; also where something else is asked."""
    asked = asked_by(question.settings, question.unit)
    varying = runs.varying(question)
    scores = {system: runs.run_scores(question, system) for system in {each for pair in varying for each in pair}}
    over_runs = dict(zip(varying, runs.by_runs(units, varying, scores, asked, sentences), strict=True))
    rest = [pair for pair in question.pairs if pair not in over_runs]
    by_law = dict(zip(rest, law.by_law(units, rest, asked, sentences), strict=True))
    return [over_runs[pair].test if pair in over_runs else by_law[pair] for pair in question.pairs], over_runs


def _tests(question: Question, laws: Sequence[Test]) -> tuple[list[Test], list[dict[str, Json]]]:
    """Return the test that is asked for of each pair, and further members of the pairs' documents."""
    settings, pairs = question.settings, question.pairs
    if settings.by_law:
        return list(laws), [{} for _ in pairs]
    extras: list[dict[str, Json]] = [{} for _ in pairs]
    if settings.test == "bootstrap":
        tests = [Test(None, None) for _ in pairs]
    elif settings.test == "mcnemar":
        bits = [candidate.tokens for candidate in question.candidates] if question.unit == "token" else None
        tests, extras = other_tests.mcnemar_tests(question.sample, pairs, settings, bits)
    else:
        tests = other_tests.directed_tests(question.sample, pairs)
        brackets = other_tests.recall_and_precision(question.terms, question.rows, pairs)
        extras = [{"compare_pl": each} if each else {} for each in brackets]
    spreads = zip(tests, laws, strict=True)
    return [replace(test, se=of.se, df=of.df, units=of.units, sentences=of.sentences) for test, of in spreads], extras


def _with_parts(question: Question, tests: Sequence[Test], over_runs: OverRuns, sentences: Sample | None) -> list[Test]:
    """Return the tests with p for other parts like these: the law of the parts' differences, all of equal weight."""
    settings, of_parts = question.settings, question.terms.part_count
    if not settings.by_law or question.unit == "part" or of_parts < FEWEST_PARTS:
        return list(tests)
    asked = asked_by(replace(settings, shuffles=None), "part")
    pairs = [pair for pair in question.pairs if pair not in over_runs]
    found = law.by_law(Contributions(by_part(question.sample)), pairs, asked, sentences or question.sample)
    p_of = {pair: test.p for pair, test in zip(pairs, found, strict=True)}
    return [replace(test, parts=p_of.get(pair)) for test, pair in zip(tests, question.pairs, strict=True)]


def _decided(question: Question, units: Contributions, laws: Sequence[Test], tests: Sequence[Test]) -> Answers:
    """Decide which differences are significant, and make the intervals that say the same."""
    settings, pairs = question.settings, question.pairs
    p = np.array([math.nan if test.p is None else test.p for test in tests], np.float64)
    known = np.isfinite(p)
    significant = np.zeros(len(p), np.bool_)
    columns: dict[str, list[float | None]] = {}
    for method in assembly.CORRECTIONS:
        column = np.full(len(p), math.nan)
        column[known] = adjusted(p[known], method)
        columns[method] = [None if math.isnan(value) else float(value) for value in column]
        if method == settings.correction:
            significant[known] = column[known] <= settings.alpha
    divisor = np.ones(len(p))
    divisor[known] = divisors(p[known], significant[known], settings.correction)
    picking = np.array([test.picking for test in tests])
    divisor *= picking
    own, together = (1.0 - settings.own_level) / picking, settings.alpha / divisor
    of_systems: list[Interval | None] = [None] * len(question.candidates)
    of_pairs: list[Interval | None] = [None] * len(pairs)
    of_family: list[Interval | None] = [None] * len(pairs)
    if settings.interval == AUTO and question.sample.units:
        of_systems = system_intervals(question.sample, range(len(of_systems)), settings.own_level, units)
    if settings.interval != "none" and question.sample.units:
        of_pairs, of_family = law.difference_intervals(units, pairs, laws, [own, together])
        if settings.by_law and settings.alternative == "two-sided":
            differences = [_tested_difference(question, pair, test) for pair, test in zip(pairs, tests, strict=True)]
            alone = p <= 1.0 - settings.own_level
            of_pairs, of_family = (
                [
                    law.guarded(*each[:2], leaves_out=bool(each[2]))
                    for each in zip(found, differences, decision, strict=True)
                ]
                for found, decision in ((of_pairs, alone), (of_family, significant))
            )
        if math.isclose(settings.own_level, 1.0 - settings.alpha):
            of_family = [_holding(wide, narrow) for wide, narrow in zip(of_family, of_pairs, strict=True)]
    if settings.interval not in (AUTO, "none") and question.sample.units:
        of_systems, of_pairs = _by_bootstrap(question)
    if not settings.by_law:
        of_family = [None] * len(pairs)
    sides = 2 if settings.alternative == "two-sided" else 1
    least = law.detectable(laws, settings.alpha / divisor, settings.power, sides)
    return Answers(
        tests, columns, significant.tolist(), divisor.tolist(), of_systems, of_pairs, of_family, least.tolist()
    )


def _tested_difference(question: Question, pair: tuple[int, int], test: Test) -> float:
    if test.difference is not None:
        return test.difference
    return float(question.values[pair[0]] - question.values[pair[1]])


def _holding(wide: Interval | None, narrow: Interval | None) -> Interval | None:
    """Return an interval widened so that it holds another."""
    if wide is None or narrow is None:
        return wide
    return wide._replace(low=min(wide.low, narrow.low), high=max(wide.high, narrow.high))


def _by_bootstrap(question: Question) -> tuple[list[Interval | None], list[Interval | None]]:
    """Return the intervals of scores and of differences that are asked for by name."""
    settings, sample = question.settings, question.sample
    replicates, values = bootstrap.resampled(sample, settings.resamples, settings.seed), question.values
    left_out = bootstrap.jackknife_scores(sample) if settings.interval == "bca" else None

    def interval(drawn: FloatArray, observed: float, without: FloatArray | None) -> Interval | None:
        if not math.isfinite(observed):
            return None
        if without is None:
            return bootstrap.percentile_interval(drawn, settings.own_level)
        return bootstrap.bca_interval(drawn, observed, without, settings.own_level)

    of_systems = [
        interval(replicates[row], float(values[row]), None if left_out is None else left_out[row])
        for row in range(sample.systems)
    ]
    of_pairs = [
        interval(
            replicates[a] - replicates[b],
            float(values[a] - values[b]),
            None if left_out is None else left_out[a] - left_out[b],
        )
        for a, b in question.pairs
    ]
    return of_systems, of_pairs


def _margins(
    question: Question, units: Contributions, over_runs: OverRuns
) -> list[tuple[law.OneSide, law.OneSide]] | None:
    """Test both systems of all pairs against the margin; None where none is asked for."""
    settings = question.settings
    if settings.margin is None:
        return None
    asked = asked_by(settings, question.unit)
    sides = law.margin_tests(units, question.pairs, settings.margin, asked)
    for index, pair in enumerate(question.pairs):
        if pair in over_runs:
            n = over_runs[pair].test.units
            p = over_runs[pair].margin_p(settings.margin, question.sample.score.sign)
            first, second = (law.OneSide(max(each, 0.5 ** min(n, 1000)), n) for each in p)
            sides[index] = first, second
    return sides


def _tests_by_part(question: Question, over_runs: OverRuns) -> list[dict[str, list[float]]] | None:
    """Compute for each pair the p of each part in both directions; None where pairs times parts are too many.

    A part in which the score of one of the two is undefined, or that is one unit, has p = 1.
    """
    sample, settings, pairs = question.sample, question.settings, question.pairs
    if not pairs:
        return []
    if not settings.by_law or question.unit == "part" or len(pairs) * sample.part_count > PART_TESTS:
        return None
    found: list[dict[str, list[float]]] = [{name: [] for name in DIRECTIONS} for _ in pairs]
    by_sentence = question.sentences()
    for part in range(sample.part_count):
        units = Contributions(sample.part(part))
        sentences = None if by_sentence is None else by_sentence.part(part)
        scores = {
            system: runs.run_scores(question, system, part) for system in {each for pair in over_runs for each in pair}
        }
        usable = [pair for pair in pairs if np.isfinite(units.values[list(pair)]).all()]
        varying = [
            pair for pair in usable if pair in over_runs and all(np.isfinite(scores[each]).all() for each in pair)
        ]
        fixed = [pair for pair in usable if pair not in over_runs]
        for alternative in DIRECTIONS:
            asked = Asked(settings.test, alternative)
            tests = dict(zip(fixed, law.by_law(units, fixed, asked, sentences), strict=True))
            over = runs.by_runs(units, varying, scores, asked, sentences)
            tests.update({pair: each.test for pair, each in zip(varying, over, strict=True)})
            for index, pair in enumerate(pairs):
                p = tests[pair].p if pair in tests else None
                found[index][alternative].append(1.0 if p is None else p)
    return found
