"""Comparison of several systems on one score: its tests, the family's decision, and the intervals that belong to it.

The one-sided p of a part by itself, by the law of its units, serves the partial conjunction over parts.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from treescore.core.arrays import BoolArray, FloatArray, IntArray
from treescore.core.comparing import AUTO, CORRECTIONS, FEWEST_PARTS
from treescore.core.params import Json
from treescore.core.scores import Score
from treescore.significance import assembly, law, other_tests
from treescore.significance import question as questions
from treescore.significance.contributions import Contributions
from treescore.significance.families import adjusted, divisors
from treescore.significance.intervals import bootstrap_intervals, system_intervals
from treescore.significance.law import Asked, Interval, Test, asked_by
from treescore.significance.notes import notes
from treescore.significance.question import Candidate, PooledParts, Question, Terms, require_tokens
from treescore.significance.settings import ROUNDING, Settings
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
    if not sum(len(candidate.runs[0]) for candidate in candidates):  # nothing has units, nor parts
        settings, blocks, parts = replace(settings, unit=AUTO), None, None
    question = _question(score_name, score, count_names, candidates, settings, blocks, parts)
    units = Contributions(question.sample)
    sentences = question.sentences()
    laws, over_runs = _laws(question, units, sentences)
    tests, extras = _tests(question, laws)
    extras = [each | over_runs[pair].document() if pair in over_runs else each
              for each, pair in zip(extras, question.pairs, strict=True)]  # fmt: skip
    tests = allowing_for_picking(question, _with_parts(question, tests, over_runs, sentences))
    answers = _decided(question, units, laws, tests)
    answers = answers._replace(extras=extras, margins=_margins(question, units, over_runs))
    document = assembly.document(question, answers, gold_digest)
    if settings.by_law and 0 < len(question.pairs) * question.sample.part_count <= PART_TESTS:
        assembly.add_parts(document, question, _tests_by_part(question, over_runs))
    document["notes"] = notes(document)
    return document


def _question(
    score_name: str,
    score: Score,
    count_names: Sequence[str],
    candidates: Sequence[Candidate],
    settings: Settings,
    blocks: Sequence[str | None] | None,
    parts: IntArray | PooledParts | None,
) -> Question:
    questions.require_runs(candidates, settings)
    together = isinstance(parts, PooledParts)
    of_sentence = parts.of_sentence if isinstance(parts, PooledParts) else parts
    strata = None if of_sentence is None else np.asarray(of_sentence, np.int64)
    rows = pooled([candidate.runs for candidate in candidates])
    number = len(rows[0]) if rows else len(blocks or ())
    units = chosen_units(settings, blocks, strata, number, together=together)
    if units.name == "token":
        require_tokens(candidates)
    terms = Terms(score, count_names, units, *((None, strata) if together else (strata, None)))
    sample = terms.sample(candidates, rows)
    values = sample.values()
    defined = {index for index in range(len(candidates)) if math.isfinite(values[index])}
    pairs = [pair for pair in questions.asked_pairs(candidates, settings) if defined.issuperset(pair)]
    question = Question(score_name, settings, terms, candidates, rows, sample, values, pairs)
    silent = questions.with_undefined_run(question)
    usable = [pair for pair in question.pairs if not (silent.intersection(pair) and questions.vary(question, *pair))]
    return question._replace(pairs=usable)


OverRuns = dict[tuple[int, int], law.RunsTest]


def _laws(question: Question, units: Contributions, sentences: Sample | None) -> tuple[list[Test], OverRuns]:
    """Test each pair by its law, over training runs where these vary; also where something else is asked."""
    asked = asked_by(question.settings, question.unit)
    varying = questions.varying(question)
    scores = {system: questions.run_scores(question, system) for system in {each for pair in varying for each in pair}}
    over_runs = dict(zip(varying, law.by_runs(units, varying, scores, asked, sentences), strict=True))
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
    return [test._replace(se=of.se, df=of.df, units=of.units, sentences=of.sentences) for test, of in spreads], extras


def _with_parts(question: Question, tests: Sequence[Test], over_runs: OverRuns, sentences: Sample | None) -> list[Test]:
    """Return the tests with p for other parts like these: the law of the parts' differences, all of equal weight."""
    settings, of_parts = question.settings, question.terms.part_count
    if not settings.by_law or question.unit == "part" or of_parts < FEWEST_PARTS:
        return list(tests)
    asked = asked_by(replace(settings, shuffles=None), "part")
    pairs = [pair for pair in question.pairs if pair not in over_runs]
    found = law.by_law(Contributions(by_part(question.sample)), pairs, asked, sentences or question.sample)
    p_of = {pair: test.p for pair, test in zip(pairs, found, strict=True)}
    return [test._replace(parts=p_of.get(pair)) for test, pair in zip(tests, question.pairs, strict=True)]


def _decided(question: Question, units: Contributions, laws: Sequence[Test], tests: Sequence[Test]) -> assembly.Answers:
    """Decide which differences are significant, and make the intervals that say the same."""
    settings = question.settings
    p = np.array([math.nan if test.p is None else test.p for test in tests], np.float64)
    known = np.isfinite(p)
    columns = {method: np.full(len(p), math.nan) for method in CORRECTIONS}
    for method, column in columns.items():
        column[known] = adjusted(p[known], method)
    significant = columns[settings.correction] <= settings.alpha
    divisor, picking = np.ones(len(p)), np.array([test.picking for test in tests])
    divisor[known] = divisors(p[known], significant[known], settings.correction)
    divisor *= picking
    alone = p <= 1.0 - settings.own_level, (1.0 - settings.own_level) / picking
    intervals = _intervals(question, units, laws, alone, (significant, settings.alpha / divisor))
    least = law.detectable(laws, settings.alpha / divisor, settings.power, asked_by(settings, question.unit).sides)
    return assembly.Answers(tests, columns, significant, divisor, *intervals, least)


Intervals = Sequence[Interval | None]


def _intervals(
    question: Question,
    units: Contributions,
    laws: Sequence[Test],
    alone: tuple[BoolArray, FloatArray],
    judged: tuple[BoolArray, FloatArray],
) -> tuple[Intervals, Intervals, Intervals]:
    """Return the intervals of the scores, of the differences by themselves, and at the levels of the family.

    Args:
        question: what is compared.
        units: of all systems.
        laws: of the pairs.
        alone: whether each pair by itself is significant, and the p up to which a difference is left out, (pairs,).
        judged: the same after the correction.
    """
    settings, pairs, sample = question.settings, question.pairs, question.sample
    nothing: Intervals = [None] * len(pairs)
    if settings.interval == "none" or not sample.units or not sample.systems:
        return [None] * sample.systems, nothing, nothing
    found = law.difference_intervals(units, pairs, laws, [alone[1], judged[1]])
    if settings.by_law and settings.alternative == "two-sided":
        found = [
            [law.guarded(each, leaves_out=bool(decided)) for each, decided in zip(of_level, decisions, strict=True)]
            for of_level, decisions in zip(found, (alone[0], judged[0]), strict=True)
        ]
    of_pairs, of_family = found
    if math.isclose(settings.own_level, 1.0 - settings.alpha):
        of_family = [wide and narrow and wide.holding(narrow) for wide, narrow in zip(of_family, of_pairs, strict=True)]
    if settings.interval == AUTO:
        of_systems = system_intervals(sample, range(sample.systems), settings.own_level, units)
    else:
        bca = settings.interval == "bca"
        drawn = bootstrap_intervals(units, pairs, settings.resamples, settings.seed, settings.own_level, bca=bca)
        of_systems, of_pairs = drawn
    return of_systems, of_pairs, of_family if settings.by_law else nothing


def _margins(question: Question, units: Contributions, over_runs: OverRuns) -> list[tuple[float, float]] | None:
    """Test both systems of all pairs against the margin; None where none is asked for."""
    settings = question.settings
    if settings.margin is None:
        return None
    sides = law.margin_tests(units, question.pairs, settings.margin, asked_by(settings, question.unit))
    for index, pair in enumerate(question.pairs):
        if pair in over_runs:
            sides[index] = over_runs[pair].margin_p(settings.margin, question.sample.score.sign)
    return sides


def _tests_by_part(question: Question, over_runs: OverRuns) -> list[dict[str, list[float]]]:
    """Compute for each pair the p of each part in both directions.

    A part in which the score of one of the two is undefined, or that is one unit, has p = 1.
    """
    pairs, by_sentence = question.pairs, question.sentences()
    found: list[dict[str, list[float]]] = [{name: [] for name in DIRECTIONS} for _ in pairs]
    several = {system for pair in over_runs for system in pair}
    for part in range(question.sample.part_count):
        units = Contributions(question.sample.part(part))
        sentences = None if by_sentence is None else by_sentence.part(part)
        scores = {system: questions.run_scores(question, system, part) for system in several}
        silent = {system for system, of_runs in scores.items() if not np.isfinite(of_runs).all()}
        usable = [pair for pair in pairs if np.isfinite(units.values[list(pair)]).all()]
        varying = [pair for pair in usable if pair in over_runs and not silent.intersection(pair)]
        fixed = [pair for pair in usable if pair not in over_runs]
        sides = [Asked(question.settings.test, alternative) for alternative in DIRECTIONS]
        of_sides = law.by_law_of_sides(units, fixed, sides, sentences)
        for asked, of_side in zip(sides, of_sides, strict=True):
            over = law.by_runs(units, varying, scores, asked, sentences)
            tests = dict(zip((*fixed, *varying), (*of_side, *(each.test for each in over)), strict=True))
            for of_pair, pair in zip(found, pairs, strict=True):
                p = tests[pair].p if pair in tests else None
                of_pair[asked.alternative].append(1.0 if p is None else p)
    return found


def allowing_for_picking(question: Question, tests: Sequence[Test]) -> list[Test]:
    """Return the two-sided tests of the scores' differences with p of the picked row ahead; others stay as they are.

    A team picks a row as the best of k submissions. Of twenty equal submissions the best one beats another team's row
    in more than a tenth of all cases at 5 %. p of the row ahead is at most k p of a row that was not picked
    (Bonferroni). Where A is ahead only A's picking is allowed for: that of B makes it harder for A.
    """
    settings = question.settings
    if not settings.by_law or settings.alternative != "two-sided":
        return list(tests)
    return [
        _picked(test, _submissions_ahead(question, pair, test))
        for pair, test in zip(question.pairs, tests, strict=True)
    ]


def _submissions_ahead(question: Question, pair: tuple[int, int], test: Test) -> int:
    """Return from how many submissions the better row of a pair was picked, by what was tested; 1 of equal ones."""
    first, second = pair
    difference = question.values[first] - question.values[second] if test.difference is None else test.difference
    if abs(difference) <= ROUNDING * float(np.abs(question.values[list(pair)]).max()):
        return 1
    ahead = first if question.sample.score.sign * difference > 0 else second
    return question.candidates[ahead].submissions


def _picked(test: Test, submissions: int) -> Test:
    if test.p is None or submissions < 2:
        return test
    log_p = None if test.log_p is None else min(0.0, test.log_p + math.log(submissions))
    how = f"{test.how}; times {submissions} for the picking"
    return test._replace(p=min(1.0, submissions * test.p), log_p=log_p, how=how, unselected=test.p)
