"""Comparison of several systems on one score: its tests, part by part where asked, and answers that need no second run.

The one-sided p of a part by itself serves the partial conjunction over parts. It is exact as far as the budget allows.
Beyond, a part of one ratio is inverted or drawn under a tilted law, as a macro average of one part; a score that joins
several ratios is shuffled. What has a seed of its own is read back from earlier comparison documents, where they are
given: it need not be computed twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.params import Json
from treescore.core.scores import Score
from treescore.errors import InputError, Problem
from treescore.significance import assembly, other_tests, training_runs
from treescore.significance.bootstrap import Interval
from treescore.significance.intervals import PAIRED, Draws, own_intervals
from treescore.significance.kernels import THREADS
from treescore.significance.macro import Decision, Parts, formula_holds, parts_of, sure_answers
from treescore.significance.other_tests import mcnemar_tests
from treescore.significance.pair_figures import figures_of_all_pairs
from treescore.significance.permutation import ShufflePlan, Test, exact_tests, part_tests, permutation
from treescore.significance.picking import allowing_for_picking
from treescore.significance.question import Candidate, PooledParts, Question, SeedOf, Terms, signature
from treescore.significance.settings import SMALLEST, Settings
from treescore.significance.units import Sample, chosen_units, pooled

PART_TESTS = 4_000
"""Limit of pairs times parts; up to it each part is tested by itself."""
ALONE_PART_TESTS = 40
"""Limit of parts where pairs have seeds of their own, so that the other pairs do not decide."""
SAMPLED_BELOW = 30
"""Units below which p is sampled where no exact law is affordable: at 18 units an inverted p was 7 % off.
The limits above leave room for as many draws as are surer, 5,000, over so few units."""
DIRECTIONS = ("greater", "less")


def tests_by_part(question: Question) -> list[dict[str, list[float]]] | None:
    """Compute for each pair the p of each part in both directions; None where pairs times parts are too many.

    A part in which the score of one of the two is undefined has p = 1.
    """
    sample, settings = question.sample, question.settings
    if not question.pairs:
        return []
    most = PART_TESTS if question.seed_of is None else ALONE_PART_TESTS
    if settings.test != "permutation" or question.unit == "part" or len(question.pairs) * sample.part_count > most:
        return None
    tests_of_pairs: list[dict[str, list[float]]] = [{name: [] for name in DIRECTIONS} for _ in question.pairs]
    plan = replace(question.plan, family=1, law_budget=question.plan.law_budget / max(1, sample.part_count))
    parts = parts_of(sample) if formula_holds(sample) else None
    for part in range(sample.part_count):
        part_sample, only = sample.part(part), None if parts is None else parts.only(part)
        values = part_sample.values()
        usable = [
            index
            for index, pair in enumerate(question.pairs)
            if all(math.isfinite(values[system]) for system in pair) and not training_runs.vary(question, *pair)
        ]
        pairs = [question.pairs[index] for index in usable]
        for alternative in DIRECTIONS:
            found = _p(part_sample, only, pairs, alternative, plan)
            p = dict(zip(usable, found, strict=True))
            for index in range(len(question.pairs)):
                tests_of_pairs[index][alternative].append(p.get(index, 1.0))
    varying = training_runs.part_p(question)
    return [varying.get(pair, tests_of_pairs[index]) for index, pair in enumerate(question.pairs)]


def _p(
    sample: Sample, part: Parts | None, pairs: Sequence[tuple[int, int]], alternative: str, plan: ShufflePlan
) -> list[float]:
    """Return the p of each pair in one part, given as a sample and, of one ratio, as a macro average of it alone."""
    if part is None:
        return [_p_of(test) for test in permutation(sample, pairs, alternative, plan)]
    p = {index: _p_of(test) for index, test in exact_tests(sample, pairs, alternative, plan).items()}
    rest = [index for index in range(len(pairs)) if index not in p]
    decision = Decision(
        alternative, plan.alpha, plan.correction, plan.family, plan.seed, plan.share, sampled_below=SAMPLED_BELOW
    )
    answers = sure_answers(part, [pairs[index] for index in rest], decision)
    p.update((index, max(answer.tail.p, SMALLEST)) for index, answer in zip(rest, answers, strict=True))
    return [p[index] for index in range(len(pairs))]


def _p_of(test: Test) -> float:
    return 1.0 if test.p is None else test.p


class Answers(NamedTuple):
    """What is drawn or counted for a question; part tests are None where parts are not tested by themselves."""

    tests: Sequence[Test]
    extras: Sequence[dict[str, Json]]
    system_intervals: Mapping[int, Interval]
    pair_intervals: Sequence[Interval | None]
    part_tests: Sequence[dict[str, list[float]]] | None


def answers_in(
    documents: Sequence[Mapping[str, Json]], signature: Mapping[str, Json], seed_of: SeedOf
) -> dict[tuple[str, ...], Answers]:
    """Return the answers of documents for each system and each pair, by their names.

    Args:
        documents: of permutation tests with seeds by name, over the same counts and parts. A pair that has an interval
            but no p has answers without a test.
        signature: of the new comparison; nothing is known where a document's differs.
        seed_of: the seeds of the new comparison; what has another seed is not known.
    """
    known: dict[tuple[str, ...], Answers] = {}
    for document in documents:
        for names, answers in _answers_in(document, signature, seed_of).items():
            if names not in known or not known[names].tests:
                known[names] = answers
    return known


def _answers_in(
    document: Mapping[str, Json], signature: Mapping[str, Json], seed_of: SeedOf
) -> dict[tuple[str, ...], Answers]:
    if any(document["signature"].get(name) != value for name, value in signature.items() if name != "shuffles"):
        return {}
    known: dict[tuple[str, ...], Answers] = {}
    for system in document["systems"]:
        if system["ci"] is not None and True:
            known[system["name"],] = Answers((), (), {0: _read(system["ci"])}, (), None)
    for pair in document["pairs"]:
        names = (pair["a"], pair["b"])
        if "runs_test" in pair:
            continue  # a closed form, whose interval is the test's own: made again at no cost
        if not (_same_seed(pair, seed_of, names)):
            continue
        interval = None if pair["ci"] is None else _read(pair["ci"])
        if pair["p_kind"] is not None:
            known[names] = Answers((_earlier_test(pair),), ({},), {}, (interval,), _part_tests(pair))
        elif interval is not None:
            known[names] = Answers((), (), {}, (interval,), None)
    return known


def _same_seed(drawn: Mapping[str, Json] | None, seed_of: SeedOf, names: Sequence[str]) -> bool:
    """Tell whether something was drawn with the seed of these names, or with none."""
    return drawn is None or drawn["seed"] in (None, seed_of(names))


def _earlier_test(pair: Mapping[str, Json]) -> Test:
    return Test(
        p=pair["p"],
        kind=pair["p_kind"],
        how=pair["how"],
        log10_p=pair["log10_p"],
        shuffles=pair["shuffles"],
        differing=pair["null_swaps_log2"],
        smallest=pair["smallest_p"],
        error=pair["p_error"],
        parts=pair["p_parts"],
        unselected=pair["p_unselected"],
        difference=pair["difference_tested"],
    )


def _read(ci: Mapping[str, Json]) -> Interval:
    low, high = (math.nan if ci[end] is None else float(ci[end]) for end in ("low", "high"))
    return Interval(low, high, ci["method"].removeprefix(PAIRED))


def _part_tests(pair: Mapping[str, Json]) -> Sequence[dict[str, list[float]]] | None:
    if "parts" not in pair:
        return None
    return ({"greater": pair["parts"]["a_better"]["p"], "less": pair["parts"]["b_better"]["p"]},)


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
    seed_of: SeedOf | None = None,
    earlier: Sequence[Mapping[str, Json]] = (),
) -> dict[str, Json]:
    """Test all unordered pairs of systems on one score, from counts alone.

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
        seed_of: a seed for each pair by its names, and one of no names for all resamples, instead of the settings' one
            for all. Then each pair is tested by itself: p and intervals do not depend on which other systems are
            compared.
        earlier: documents of comparisons of the same counts with other systems too or without some: with seeds by
            name, their answers are taken and not computed again.

    Raises:
        InputError: the counts do not have the requested unit or runs (pointers below the settings' object).
    """
    question = replace(_question(score_name, score, count_names, candidates, settings, blocks, parts), seed_of=seed_of)
    draws = Draws(question)
    together = seed_of is None and not question.units_by_pair
    if together:
        answers = _answers(question, own_intervals(question, draws))._replace(part_tests=tests_by_part(question))
    else:
        answers = _each_alone(question, draws, gold_digest, earlier)
    figures = figures_of_all_pairs(question, answers.tests, draws)
    answers = answers._replace(
        extras=[{**extra, **further} for extra, further in zip(answers.extras, figures, strict=True)]
    )
    document = assembly.document(
        question, answers.tests, answers.extras, answers.system_intervals, answers.pair_intervals, gold_digest
    )
    if question.terms.parts is not None:
        assembly.add_parts(document, question, answers.part_tests)
    return document


def _answers(question: Question, intervals: tuple[Mapping[int, Interval], Sequence[Interval | None]]) -> Answers:
    """Answer for all systems together, not by part."""
    tests, extras = _tests_of_pairs(question)
    return Answers(allowing_for_picking(question, tests), extras, *intervals, None)


def _each_alone(
    question: Question, draws: Draws, gold_digest: str | None, earlier: Sequence[Mapping[str, Json]]
) -> Answers:
    """Answer for each system and each pair as if no other were there, from earlier documents where they know.

    Intervals are the same from the resamples of all, unless a pair has units or counts of its own.
    """
    known = {}
    if question.seed_of is not None:
        known = answers_in(earlier, signature(question, (), gold_digest), question.seed_of)
    shared = own_intervals(question, draws) if question.counted_alike else None
    defined = [] if shared is not None else draws.systems
    asked = [(index,) for index in defined] + list(question.pairs)

    def answer(systems: tuple[int, ...]) -> Answers:
        found = known.get(tuple(question.candidates[system].name for system in systems))
        if found is not None and len(found.tests) == len(systems) - 1:
            return found
        alone = question.alone(*systems)
        if shared is not None:
            return _answers(alone, ({}, (None,)))
        if found is not None:
            return _answers(alone, (found.system_intervals, found.pair_intervals))
        return _answers(alone, own_intervals(alone, Draws(alone, threads=1)))

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(answer, asked))
    own, of_pairs = found[: len(defined)], found[len(defined) :]
    system_intervals, pair_intervals = shared or (
        {index: each.system_intervals[0] for index, each in zip(defined, own, strict=True) if each.system_intervals},
        [interval for each in of_pairs for interval in each.pair_intervals],
    )
    return Answers(
        tests=[test for each in of_pairs for test in each.tests],
        extras=[extra for each in of_pairs for extra in each.extras],
        system_intervals=system_intervals,
        pair_intervals=pair_intervals,
        part_tests=_part_tests_alone(question, of_pairs),
    )


def _part_tests_alone(question: Question, of_pairs: Sequence[Answers]) -> list[dict[str, list[float]]] | None:
    """Test each pair by part, unless that is known: one after the other, for threads would wait for each other."""
    if question.terms.parts is None:
        return None
    result: list[dict[str, list[float]]] = []
    for pair, answers in zip(question.pairs, of_pairs, strict=True):
        found = answers.part_tests or tests_by_part(question.alone(*pair))
        if found is None:
            return None
        result += found
    return result


def _question(
    score_name: str,
    score: Score,
    count_names: Sequence[str],
    candidates: Sequence[Candidate],
    settings: Settings,
    blocks: Sequence[str | None] | None,
    parts: IntArray | PooledParts | None,
) -> Question:
    training_runs.require_runs(candidates, settings)
    together = isinstance(parts, PooledParts)
    of_sentence = parts.of_sentence if isinstance(parts, PooledParts) else parts
    strata = None if of_sentence is None else np.asarray(of_sentence, np.int64)
    rows = pooled([candidate.runs for candidate in candidates])
    sentences = len(rows[0]) if rows else len(blocks or ())
    units = chosen_units(settings, blocks, strata, sentences, together=together)
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
    silent = training_runs.with_undefined_run(question)
    usable = [
        pair for pair in question.pairs if not (silent.intersection(pair) and training_runs.vary(question, *pair))
    ]
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


def _tests_of_pairs(question: Question) -> tuple[list[Test], list[dict[str, Json]]]:
    """Run the test of each pair; return the tests and further members of the pairs' documents."""
    settings, sample, pairs = question.settings, question.sample, question.pairs
    no_extras: list[dict[str, Json]] = [{} for _ in pairs]
    if settings.test == "bootstrap":
        return [Test(None, None) for _ in pairs], no_extras
    if settings.test == "mcnemar":
        bits = [candidate.tokens for candidate in question.candidates] if question.unit == "token" else None
        return mcnemar_tests(sample, pairs, settings, bits)
    if settings.test == "compare_pl":
        brackets = other_tests.recall_and_precision(question.terms, question.rows, pairs, question.plan)
        tests = other_tests.directed_tests(sample, pairs, question.plan)
        return tests, [{"compare_pl": document} if document else {} for document in brackets]
    varying = training_runs.runs_tests(question)
    swapped = [pair for pair in pairs if pair not in varying]
    test_of = {pair: found.test for pair, found in varying.items()}
    if question.unit == "part":
        by_swaps = part_tests(sample, swapped, settings.alternative, settings.seed)
    else:
        by_swaps = permutation(sample, swapped, settings.alternative, question.plan)
    test_of |= zip(swapped, by_swaps, strict=True)
    return [test_of[pair] for pair in pairs], [varying[pair].document() if pair in varying else {} for pair in pairs]
